//! Changes of files as rows: line number, sign, text, with the changed words marked.
//!
//! A change comes as a unified diff, as a patch with `*** Update File:` heads, as numbered lines, or as
//! old and new strings of an edit; all become the same [`DiffLine`]s first.

mod lay;
mod patch;

use std::borrow::Cow;
use std::time::Duration;

use ratatui::text::Span;
use similar::{Change, ChangeTag, InlineChange, TextDiff};

use super::excerpt::Extent;
use super::row::{Look, Row};
use super::wrap::Piece;
use crate::model::body::Tree;
use crate::model::change;
use crate::model::text::Text;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// Larger texts are shown as removed and added without being compared.
const MAX_COMPARED: usize = 256 * 1024;
/// Larger changes are rewrites: marks within their lines would say nothing.
const MAX_REFINED: usize = 60;
/// A comparison that takes longer gives a coarser result.
const PATIENCE: Duration = Duration::from_millis(20);

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
    pub old: Option<u32>,
    /// Its number in the file after, if known.
    pub new: Option<u32>,
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
pub fn is_patch(text: &str) -> bool {
    patch::is_patch(text)
}

/// The lines of the edits that a tool's input asks for: pairs of old and new strings, or a patch.
pub fn of_input(input: &Tree) -> Option<Vec<DiffLine>> {
    let mut lines = Vec::new();
    for (old, new) in change::pairs_of(input) {
        if !lines.is_empty() {
            lines.push(DiffLine::plain(Sign::Note, ""));
        }
        lines.extend(compare(old, new));
    }
    if lines.is_empty() {
        let text = change::patch_of(input)?;
        if is_patch(text) {
            lines = of_patch(text);
        }
    }
    (!lines.is_empty()).then_some(lines)
}

/// A text whose last line has an end.
fn ended(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.ends_with('\n') { text.into() } else { format!("{text}\n").into() }
}

/// Compares two texts; shows the changes with some lines around them.
pub fn compare(old: &str, new: &str) -> Vec<DiffLine> {
    if old.len() + new.len() > MAX_COMPARED {
        let all = |sign, text: &str| text.lines().map(|line| DiffLine::plain(sign, line)).collect::<Vec<_>>();
        return [all(Sign::Removed, old), all(Sign::Added, new)].concat();
    }
    // A last line without its end is the same line.
    let (whole_old, whole_new) = (ended(old), ended(new));
    let (old, new) = if whole_old == whole_new { (old, new) } else { (&*whole_old, &*whole_new) };
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push(DiffLine::plain(Sign::Note, ""));
        }
        for op in group {
            let is_small = op.old_range().len() + op.new_range().len() <= MAX_REFINED;
            if is_small {
                lines.extend(diff.iter_inline_changes(op).map(|change| refined(&change)));
            } else {
                let plain = |change: Change<&str>| {
                    DiffLine::plain(sign_of(change.tag()), change.value().trim_end_matches(['\n', '\r']))
                };
                lines.extend(diff.iter_changes(op).map(plain));
            }
        }
    }
    lines
}

/// A line with the parts that differ within it.
fn refined(change: &InlineChange<'_, str>) -> DiffLine {
    let mut parts: Vec<(bool, String)> = change
        .iter_strings_lossy()
        .map(|(differs, text)| (differs, text.trim_end_matches(['\n', '\r']).to_owned()))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    // A line that differs as a whole needs no marks.
    if parts.iter().all(|(differs, _)| *differs) {
        for (differs, _) in &mut parts {
            *differs = false;
        }
    }
    DiffLine { sign: sign_of(change.tag()), old: None, new: None, parts }
}

fn sign_of(tag: ChangeTag) -> Sign {
    match tag {
        ChangeTag::Equal => Sign::Same,
        ChangeTag::Delete => Sign::Removed,
        ChangeTag::Insert => Sign::Added,
    }
}

/// Added and removed lines.
pub fn counts(lines: &[DiffLine]) -> (usize, usize) {
    let count = |sign| lines.iter().filter(|line| line.sign == sign).count();
    (count(Sign::Added), count(Sign::Removed))
}

/// `+4 −1`, in the colours of the two.
pub fn summary((added, removed): (usize, usize), look: &Look<'_>) -> Vec<Piece> {
    let theme = look.theme;
    let mut spans = Vec::new();
    if added > 0 || removed == 0 {
        spans.push(Span::styled(format!("+{added}"), theme.added));
    }
    if removed > 0 {
        let space = if spans.is_empty() { "" } else { " " };
        spans.push(Span::styled(format!("{space}{}{removed}", theme.glyphs().minus), theme.removed));
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
    use super::{Sign, compare, counts, of_input};
    use crate::model::body::Tree;
    use crate::model::text::Text;

    #[test]
    fn compares_with_lines_around() {
        let old = (0..20).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
        let lines = compare(&old, &old.replace("line 10\n", "line ten\n"));
        assert_eq!(counts(&lines), (1, 1));
        assert_eq!(lines.len(), 8);
        let removed = lines.iter().find(|line| line.sign == Sign::Removed).unwrap();
        assert!(removed.parts.iter().any(|(differs, text)| *differs && text == "10"), "{removed:?}");
    }

    #[test]
    fn a_last_line_without_an_end_is_the_same_line() {
        assert_eq!(counts(&compare("let x = 1;\nlet y = 2;", "let x = 10;\nlet y = 2;\nlet z = 3;")), (2, 1));
        assert_eq!(counts(&compare("x", "x\n")), (1, 1));
        assert_eq!(counts(&compare("", "x")), (1, 0));
    }

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
