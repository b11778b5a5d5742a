//! What an edit asks for: pairs of old and new strings, by the names that agents use.

use super::body::Tree;
use super::text::Text;

/// Names of an old and a new string.
const NAMES: [(&str, &str); 8] = [
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_text", "new_text"),
    ("oldText", "newText"),
    ("old_str", "new_str"),
    ("old", "new"),
    ("search", "replace"),
    ("find", "replace"),
];
/// Lists of edits.
const LISTS: [&str; 4] = ["edits", "changes", "replacements", "diffs"];
/// Texts that may be patches.
const PATCHES: [&str; 5] = ["patch", "diff", "patchText", "input", "patch_text"];

/// The pairs of old and new strings that a tool's input asks for, in order.
pub fn pairs_of(input: &Tree) -> Vec<(&str, &str)> {
    let lists = LISTS.iter().flat_map(|name| input.get(name).map(Tree::items).unwrap_or_default());
    pair_of(input).into_iter().chain(lists.filter_map(pair_of)).collect()
}

/// The old and the new string of one edit.
fn pair_of(edit: &Tree) -> Option<(&str, &str)> {
    NAMES.iter().find_map(|(old, new)| {
        let text = |name: &str| edit.get(name).and_then(Tree::as_text).map(Text::as_str);
        match (text(old), text(new)) {
            (Some(old), new) => Some((old, new.unwrap_or_default())),
            (None, Some(new)) if edit.get(old).is_some() => Some(("", new)),
            (None, _) => None,
        }
    })
}

/// The text of a tool's input that is a patch, if any of it is.
pub fn patch_of(input: &Tree) -> Option<&Text> {
    PATCHES.iter().find_map(|name| input.get(name).and_then(Tree::as_text)).or(input.as_text())
}
