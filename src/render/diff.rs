//! Changes of files as rows: line number, sign, text, with the changed words marked.

mod lay;

use ratatui::text::Span;

use super::excerpt::ExcerptLimits;
use super::row::{Look, Row};
use super::wrap::Piece;
use crate::model::change::DiffLine;

/// `+4 −1`, in the colours of the two.
pub(crate) fn summary((added, removed): (usize, usize), look: &Look<'_>) -> Vec<Piece> {
    let theme = look.theme;
    let mut spans = Vec::new();
    if added > 0 || removed == 0 {
        spans.push(Span::styled(format!("+{added}"), theme.diff.added));
    }
    if removed > 0 {
        let space = if spans.is_empty() { "" } else { " " };
        spans.push(Span::styled(
            format!("{space}{}{removed}", theme.glyphs().minus),
            theme.diff.removed,
        ));
    }
    spans
}

/// The rows of a change to a file: all of it, or the beginning around the first changes.
pub fn rows(
    lines: &[DiffLine],
    language: &str,
    extent: ExcerptLimits,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    lay::rows(lines, language, extent, width, look)
}
