//! Changes of files as rows: line number, sign, text, with the changed words marked.

mod lay;

pub use lay::rows;

use ratatui::text::Span;

use super::row::Look;
use super::wrap::Piece;

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
