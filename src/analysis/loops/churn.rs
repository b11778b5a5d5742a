//! Edits that a later one turns back: what was put in is taken out again, and what was taken out is back.
//!
//! Only replacements that name the old and the new text are known, and only those that were in memory once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashMap;

use crate::analysis::calls::Place;
use crate::model::body::Tree;
use crate::model::text::Text;
use crate::model::tool::ToolCall;

/// An edit that was turned back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Undone {
    /// The edit.
    pub(crate) edit: Place,
    /// The one that turned it back.
    pub(crate) by: Place,
    /// The file.
    pub(crate) path: Text,
}

/// A replacement in a file, by what it takes out and what it puts in.
#[derive(Clone, Debug)]
pub(super) struct Hunk {
    path: Text,
    /// Stands for the path.
    file: u64,
    old: u64,
    new: u64,
}

/// Edits that a later one turns back, in the order in which that happened. Each replacement comes with its call.
pub(super) fn undone<'a>(hunks: impl Iterator<Item = (Place, &'a Hunk)>) -> Vec<Undone> {
    // Replacements that stand, with the newest edit that made each.
    let mut stand: HashMap<(u64, u64, u64), Place> = HashMap::new();
    let mut found = BTreeMap::new();
    for (by, hunk) in hunks {
        let back = (hunk.file, hunk.new, hunk.old);
        let edit = stand.get(&back).copied().filter(|edit| super::rank(*edit) < super::rank(by));
        stand.insert((hunk.file, hunk.old, hunk.new), by);
        if let Some(edit) = edit {
            stand.remove(&back);
            found.insert(super::rank(by), Undone { edit, by, path: hunk.path.clone() });
        }
    }
    found.into_values().collect()
}

const PATHS: [&str; 5] = ["file_path", "path", "filePath", "file", "absolutePath"];
const OLD: [&str; 5] = ["old_string", "oldText", "oldString", "old_str", "old_text"];
const NEW: [&str; 5] = ["new_string", "newText", "newString", "new_str", "new_text"];

/// The replacements that an edit asks for.
pub(super) fn hunks_of(call: &ToolCall, tree: &Tree) -> Vec<Hunk> {
    let text = |tree: &Tree, names: &[&str]| names.iter().find_map(|name| tree.get(name)?.as_text().cloned());
    let path = text(tree, &PATHS).unwrap_or_else(|| call.headline.clone());
    let file = number(&path);
    let hunk = |tree: &Tree| {
        let (old, new) = (text(tree, &OLD)?, text(tree, &NEW)?);
        let is_said = old != new && !old.is_blank() && !new.is_blank();
        let (old, new) = (number(&old), number(&new));
        is_said.then(|| Hunk { path: path.clone(), file, old, new })
    };
    let edits = tree.get("edits").map(Tree::items).unwrap_or_default();
    std::iter::once(tree).chain(edits).filter_map(hunk).collect()
}

fn number(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
