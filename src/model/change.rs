//! Changes of files: lines that a call changed or asks to change.
//!
//! A change may be recorded as a unified diff, a patch with `*** Update File:` headers, numbered
//! lines, or old and new strings of an edit; all are parsed to [`DiffLine`]s.

mod compare;
mod patch;

use std::cmp::Reverse;

use itertools::Itertools as _;

use super::body::{Body, Tree};
use super::text::Text;
use super::tool::{self, ToolCall, ToolKind};
pub use compare::compare;
pub(crate) use compare::{differences, groups};
pub(crate) use patch::is_patch;
pub use patch::of_patch;

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSign {
    Same,
    Added,
    Removed,
    /// A file header: the path, and whether it was added, deleted or moved.
    File,
    /// Not a line of a file: a gap or a remark.
    Note,
}

/// One line of a change; parts with `true` differ from the other side.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffLine {
    /// What happened to the line.
    pub sign: LineSign,
    /// Line number in the old file; `None` if unknown.
    pub(crate) old: Option<u32>,
    /// Line number in the new file; `None` if unknown.
    pub(crate) new: Option<u32>,
    /// The text in parts, with whether each part differs.
    pub parts: Vec<(bool, String)>,
}

impl DiffLine {
    pub(crate) fn plain(sign: LineSign, text: &str) -> Self {
        Self {
            sign,
            old: None,
            new: None,
            parts: vec![(false, text.to_owned())],
        }
    }

    /// The changed line with all its parts.
    pub(crate) fn text(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// The lines of the edits in a tool's input: pairs of old and new strings, or a patch.
pub(crate) fn of_input(input: &Tree) -> Option<Vec<DiffLine>> {
    let mut lines = Vec::new();
    for (old, new) in tool::replacements_of(input) {
        if !lines.is_empty() {
            lines.push(DiffLine::plain(LineSign::Note, ""));
        }
        lines.extend(compare(old, new));
    }
    if lines.is_empty() {
        let text = tool::patch_of(input)?;
        if is_patch(text) {
            lines = of_patch(text);
        }
    }
    (!lines.is_empty()).then_some(lines)
}

/// Numbers of added and removed lines.
pub fn counts(lines: &[DiffLine]) -> (usize, usize) {
    let count = |sign| lines.iter().filter(|line| line.sign == sign).count();
    (count(LineSign::Added), count(LineSign::Removed))
}

/// Formats lines as in a patch, with their signs.
pub fn text<'a>(lines: impl Iterator<Item = &'a DiffLine>) -> Text {
    let signed = |line: &DiffLine| {
        let sign = match line.sign {
            LineSign::Same => " ",
            LineSign::Added => "+",
            LineSign::Removed => "-",
            LineSign::File | LineSign::Note => "",
        };
        format!("{sign}{}", line.text())
    };
    Text::output(&lines.map(signed).join("\n"))
}

/// Lines that a call added to a file and removed from it; of a written file, all of them. `None`
/// while the content is on disk.
pub(crate) fn changed_lines(call: &ToolCall, path: &str) -> Option<(usize, usize)> {
    let of_change = of_call(call).map(|lines| counts(of_file(&lines, path)));
    of_change.or_else(|| written(call).map(|text| (text.lines().count(), 0)))
}

/// The lines of one file in a change of several files. Paths in the change may be relative to
/// another folder.
pub(crate) fn of_file<'a>(lines: &'a [DiffLine], path: &str) -> &'a [DiffLine] {
    let is_head = |(_, line): &(usize, &DiffLine)| line.sign == LineSign::File;
    let heads: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(is_head)
        .map(|(at, _)| at)
        .collect();
    if heads.len() < 2 {
        return lines;
    }
    let is_below = |one: &str, other: &str| {
        one.strip_suffix(other)
            .is_some_and(|rest| rest.ends_with('/'))
    };
    let fits = |name: &str| name == path || is_below(name, path) || is_below(path, name);
    // Prefers the path with the longest common suffix, then the shortest path.
    let fit = |at: &usize| {
        let head = lines.get(*at).map(DiffLine::text).unwrap_or_default();
        let names = FATES
            .iter()
            .find_map(|fate| head.strip_suffix(fate))
            .unwrap_or(&head);
        let names = names.split(MOVED).filter(|name| fits(name));
        names
            .map(|name| (Reverse(name.len().min(path.len())), name.len()))
            .min()
    };
    let fitting = heads.iter().filter_map(|at| Some((fit(at)?, *at)));
    let Some((_, from)) = fitting.min_by_key(|(fit, _)| *fit) else {
        return &[];
    };
    let end = heads
        .iter()
        .copied()
        .find(|at| *at > from)
        .unwrap_or(lines.len());
    lines.get(from..end).unwrap_or_default()
}

/// What a file header says besides the path, and the separator of the two paths of a moved file.
const FATES: [&str; 2] = [NEW, DELETED];
pub(crate) const NEW: &str = " (new)";
pub(crate) const DELETED: &str = " (deleted)";
const MOVED: &str = " \u{2192} ";

/// The change that a call made, or else the one that it asks for.
pub(crate) fn of_call(call: &ToolCall) -> Option<Vec<DiffLine>> {
    recorded(call).or_else(|| requested(call))
}

/// The change that the agent recorded with the result.
pub(crate) fn recorded(call: &ToolCall) -> Option<Vec<DiffLine>> {
    let patch = call
        .state
        .result()
        .and_then(|result| result.patch.as_ref())
        .and_then(Body::text);
    patch
        .filter(|patch| !patch.is_blank())
        .map(|patch| of_patch(patch))
        .filter(|lines| !lines.is_empty())
}

/// The change that the input of a call asks for.
pub(crate) fn requested(call: &ToolCall) -> Option<Vec<DiffLine>> {
    match call.input.tree() {
        Some(input) => of_input(input),
        None => call
            .input
            .text()
            .filter(|text| is_patch(text))
            .map(|text| of_patch(text)),
    }
    .filter(|lines| !lines.is_empty())
}

/// The path of the file that a call writes.
pub(crate) fn written(call: &ToolCall) -> Option<&Text> {
    if call.kind != ToolKind::Write {
        return None;
    }
    tool::content_of(call.input.tree()?)
}

#[cfg(test)]
mod tests {
    use super::{counts, of_file, of_input, of_patch};
    use crate::model::body::Tree;
    use crate::model::text::Text;

    #[test]
    fn each_file_of_a_patch_has_its_own_lines() {
        let lines = of_patch(
            "*** Begin Patch\n*** Add File: src/a.rs\n+one\n+two\n*** Update File: a.rs\n@@\n-old\n+new\n\
             *** Update File: b.rs\n*** Move to: c.rs\n@@\n-b\n*** End Patch",
        );
        let of = |path: &str| counts(of_file(&lines, path));
        assert_eq!(
            (of("src/a.rs"), of("a.rs"), of("b.rs"), of("c.rs")),
            ((2, 0), (1, 1), (0, 1), (0, 1))
        );
        assert_eq!((of("/home/mira/src/a.rs"), of("d.rs")), ((2, 0), (0, 0)));
        let only = of_patch("*** Begin Patch\n*** Add File: a.rs\n+one\n*** End Patch");
        assert_eq!(counts(of_file(&only, "under/another/name")), (1, 0));
    }

    #[test]
    fn knows_the_names_of_agents() {
        let edit = |old: &str, new: &str| {
            Tree::Map(vec![
                (Text::from(old), Tree::Text("a\n".into())),
                (Text::from(new), Tree::Text("b\n".into())),
            ])
        };
        for (old, new) in [
            ("old_string", "new_string"),
            ("oldText", "newText"),
            ("old_str", "new_str"),
            ("TargetContent", "ReplacementContent"),
        ] {
            assert_eq!(counts(&of_input(&edit(old, new)).unwrap()), (1, 1));
            let several = Tree::Map(vec![(
                "edits".into(),
                Tree::List(vec![edit(old, new), edit(old, new)]),
            )]);
            assert_eq!(counts(&of_input(&several).unwrap()), (2, 2));
        }
        let only = Tree::Map(vec![("edit".into(), edit("old", "new"))]);
        assert_eq!(
            counts(&of_input(&only).unwrap()),
            (1, 1),
            "one edit without its list"
        );
        let blocks = "<<<<<<< SEARCH\na\n=======\nb\nc\n>>>>>>> REPLACE";
        let blocks = Tree::Map(vec![("content".into(), Tree::Text(blocks.into()))]);
        assert_eq!(counts(&of_input(&blocks).unwrap()), (2, 1));
        assert!(of_input(&edit("path", "text")).is_none());
    }
}
