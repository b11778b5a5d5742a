//! Changes of files as rows: line number, sign, text, with the changed words marked.
//!
//! A change comes as a unified diff, as a patch with `*** Update File:` heads, as numbered lines, or as
//! old and new strings of an edit; all become the same [`DiffLine`]s first.

mod patch;

use std::time::Duration;

use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use similar::{Change, ChangeTag, InlineChange, TextDiff};

use super::excerpt::Extent;
use super::row::{Look, Row};
use super::sheet::mark_hidden;
use super::wrap::{self, Frame, Piece};
use crate::model::body::Tree;
use crate::model::figures;
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
    /// Not a line of the file: a file's name, a gap.
    Note,
}

/// One line of a change: parts with `true` are what differs within it.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffLine {
    /// What happened to it.
    pub sign: Sign,
    /// Its number in the file, if known.
    pub number: Option<u32>,
    /// Its text.
    pub parts: Vec<(bool, String)>,
}

impl DiffLine {
    fn plain(sign: Sign, number: Option<u32>, text: &str) -> Self {
        Self { sign, number, parts: vec![(false, text.to_owned())] }
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
    if let Some((old, new)) = pair_of(input) {
        lines.extend(compare(old, new));
    }
    for name in ["edits", "changes", "replacements", "diffs"] {
        for edit in input.get(name).map(Tree::items).unwrap_or_default() {
            if let Some((old, new)) = pair_of(edit) {
                if !lines.is_empty() {
                    lines.push(DiffLine::plain(Sign::Note, None, ""));
                }
                lines.extend(compare(old, new));
            }
        }
    }
    if lines.is_empty() {
        let texts = ["patch", "diff", "patchText", "input", "patch_text"];
        let text =
            texts.iter().find_map(|name| input.get(name).and_then(Tree::as_text)).or(input.as_text())?;
        if is_patch(text) {
            lines = of_patch(text);
        }
    }
    (!lines.is_empty()).then_some(lines)
}

/// The old and the new string of an edit, by the names that agents use.
fn pair_of(edit: &Tree) -> Option<(&str, &str)> {
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
    NAMES.iter().find_map(|(old, new)| {
        let text = |name: &str| edit.get(name).and_then(Tree::as_text).map(Text::as_str);
        match (text(old), text(new)) {
            (Some(old), new) => Some((old, new.unwrap_or_default())),
            (None, Some(new)) if edit.get(old).is_some() => Some(("", new)),
            (None, _) => None,
        }
    })
}

/// Compares two texts; shows the changes with some lines around them.
pub fn compare(old: &str, new: &str) -> Vec<DiffLine> {
    if old.len() + new.len() > MAX_COMPARED {
        let all =
            |sign, text: &str| text.lines().map(|line| DiffLine::plain(sign, None, line)).collect::<Vec<_>>();
        return [all(Sign::Removed, old), all(Sign::Added, new)].concat();
    }
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push(DiffLine::plain(Sign::Note, None, ""));
        }
        for op in group {
            let is_small = op.old_range().len() + op.new_range().len() <= MAX_REFINED;
            if is_small {
                lines.extend(diff.iter_inline_changes(op).map(|change| refined(&change)));
            } else {
                let plain = |change: Change<&str>| {
                    DiffLine::plain(
                        sign_of(change.tag()),
                        None,
                        change.value().trim_end_matches(['\n', '\r']),
                    )
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
    DiffLine { sign: sign_of(change.tag()), number: None, parts }
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

/// The rows of a change: all of it, or its beginning around the first changes.
pub fn rows(lines: &[DiffLine], extent: Extent, width: usize, look: &Look<'_>) -> Vec<Row> {
    let most = extent.head + extent.tail;
    // A preview begins one line before the first change, not with all of the lines around it.
    let first = lines.iter().position(|line| !matches!(line.sign, Sign::Same | Sign::Note)).unwrap_or(0);
    let skipped = if lines.len() > most && extent.rows_per_line > 0 { first.saturating_sub(1) } else { 0 };
    let shown = if lines.len().saturating_sub(skipped) <= most + 1 { lines.len() } else { most };
    let column =
        lines.iter().filter_map(|line| line.number).max().map_or(0, |number| number.to_string().len());
    let mut rows = Vec::new();
    for line in lines.iter().skip(skipped).take(shown) {
        rows.extend(row(line, column, extent, width, look));
    }
    let hidden = lines.len().saturating_sub(skipped + shown);
    if hidden > 0 {
        let what = format!("+{}", figures::count(u64::try_from(hidden).unwrap_or(0), "line"));
        mark_hidden(&mut rows, &what, hidden, width, look);
    }
    rows
}

fn row(line: &DiffLine, column: usize, extent: Extent, width: usize, look: &Look<'_>) -> Vec<Row> {
    let theme = look.theme;
    let (sign, style) = match line.sign {
        Sign::Same => (" ", theme.dim),
        Sign::Added => ("+", theme.added),
        Sign::Removed => ("-", theme.removed),
        Sign::Note => return note(line, width, look),
    };
    let number = line.number.map(|number| number.to_string()).unwrap_or_default();
    let number = if column == 0 { String::new() } else { format!("{number:>column$} ") };
    let first = vec![Span::styled(number, theme.dim), Span::styled(format!("{sign} "), style)];
    let rest = vec![Span::raw(" ".repeat(wrap::width_of(&first)))];
    let text_style = if line.sign == Sign::Same { theme.text } else { style };
    let part = |(differs, text): &(bool, String)| Span::styled(text.clone(), emphasis(text_style, *differs));
    let spans: Vec<Piece> = line.parts.iter().map(part).collect();
    let frame = Frame { width, first, rest, limit: extent.rows_per_line, cut: theme.glyphs().cut };
    wrap::wrap(&spans, &frame).into_iter().map(|line| Row { line, ..Row::default() }).collect()
}

fn note(line: &DiffLine, width: usize, look: &Look<'_>) -> Vec<Row> {
    let glyphs = look.theme.glyphs();
    let text: String = line.parts.iter().map(|(_, text)| text.as_str()).collect();
    let text = if text.is_empty() { glyphs.ellipsis.to_owned() } else { text };
    let line = wrap::fit(&[Span::styled(text, look.theme.dim)], width, glyphs.cut);
    vec![Row { line: line.into(), ..Row::default() }]
}

fn emphasis(style: Style, differs: bool) -> Style {
    if differs { style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED) } else { style }
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
