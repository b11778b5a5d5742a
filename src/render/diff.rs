//! Changes of files as rows: line number, sign, text, with the changed words marked.
//!
//! A change comes as a unified diff, as a patch with `*** Update File:` heads, as numbered lines, or as
//! old and new strings of an edit; all become the same [`DiffLine`]s first.

mod compare;
mod lay;
mod patch;

use ratatui::text::Span;

use super::excerpt::Extent;
use super::row::{Look, Row};
use super::wrap::Piece;
use crate::model::body::Tree;
use crate::model::text::Text;
use crate::model::tool;
pub use compare::compare;

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Unchanged, shown for orientation.
    Same,
    /// Added.
    Added,
    /// Removed.
    Removed,
    /// The name of a file, and what became of it.
    File,
    /// Not a line of a file: a gap, a remark.
    Note,
}

/// One line of a change: parts with `true` are what differs within it.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffLine {
    /// What happened to it.
    pub sign: Sign,
    /// Its number in the file before, if known.
    pub(crate) old: Option<u32>,
    /// Its number in the file after, if known.
    pub(crate) new: Option<u32>,
    /// Its text.
    pub parts: Vec<(bool, String)>,
}

impl DiffLine {
    fn plain(sign: Sign, text: &str) -> Self {
        Self { sign, old: None, new: None, parts: vec![(false, text.to_owned())] }
    }
}

/// The lines of a recorded patch.
pub fn of_patch(text: &str) -> Vec<DiffLine> {
    patch::lines(text)
}

/// Whether a text looks like a patch.
pub(crate) fn is_patch(text: &str) -> bool {
    patch::is_patch(text)
}

/// The lines of the edits that a tool's input asks for: pairs of old and new strings, or a patch.
pub(crate) fn of_input(input: &Tree) -> Option<Vec<DiffLine>> {
    let mut lines = Vec::new();
    for (old, new) in tool::replacements_of(input) {
        if !lines.is_empty() {
            lines.push(DiffLine::plain(Sign::Note, ""));
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

/// Added and removed lines.
pub fn counts(lines: &[DiffLine]) -> (usize, usize) {
    let count = |sign| lines.iter().filter(|line| line.sign == sign).count();
    (count(Sign::Added), count(Sign::Removed))
}

/// `+4 −1`, in the colours of the two.
pub(crate) fn summary((added, removed): (usize, usize), look: &Look<'_>) -> Vec<Piece> {
    let theme = look.theme;
    let mut spans = Vec::new();
    if added > 0 || removed == 0 {
        spans.push(Span::styled(format!("+{added}"), theme.diff.added));
    }
    if removed > 0 {
        let space = if spans.is_empty() { "" } else { " " };
        spans.push(Span::styled(format!("{space}{}{removed}", theme.glyphs().minus), theme.diff.removed));
    }
    spans
}

/// The lines of a change as a patch has them, with their signs.
pub fn text(lines: &[DiffLine]) -> Text {
    lay::text_of_lines(&lines.iter().collect::<Vec<_>>())
}

/// The rows of a change to a file in a language: all of it, or its beginning around the first changes.
pub fn rows(lines: &[DiffLine], language: &str, extent: Extent, width: usize, look: &Look<'_>) -> Vec<Row> {
    lay::rows(lines, language, extent, width, look)
}

#[cfg(test)]
mod tests {
    use super::{counts, of_input};
    use crate::model::body::Tree;
    use crate::model::text::Text;

    #[test]
    fn knows_the_names_of_agents() {
        let edit = |old: &str, new: &str| {
            Tree::Map(vec![
                (Text::from(old), Tree::Text("a\n".into())),
                (Text::from(new), Tree::Text("b\n".into())),
            ])
        };
        for (old, new) in [("old_string", "new_string"), ("oldText", "newText"), ("old_str", "new_str")] {
            assert_eq!(counts(&of_input(&edit(old, new)).unwrap()), (1, 1));
            let several = Tree::Map(vec![("edits".into(), Tree::List(vec![edit(old, new), edit(old, new)]))]);
            assert_eq!(counts(&of_input(&several).unwrap()), (2, 2));
        }
        assert!(of_input(&edit("path", "text")).is_none());
    }
}
