//! Where the parts of the ledger are.

use super::LedgerView;
use crate::app::screen::Screen;

/// Smaller screens leave out the heads of columns, the line of hints.
const HEADED: u16 = 6;
const HINTED: u16 = 10;
/// Screens with so many lines have bars, with so many more of them higher ones.
const BARS: [(u16, u16); 4] = [(40, 8), (24, 5), (16, 3), (0, 0)];

/// Where the parts of the screen are, from above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Whether the header is shown.
    pub header: bool,
    /// Lines of the bars, without the one that names their days.
    pub bars: u16,
    /// Lines of limits.
    pub limits: u16,
    /// Whether the heads of the columns are.
    pub heads: bool,
    /// Lines of the table.
    pub lines: u16,
    /// Whether the status line is shown.
    pub status: bool,
    /// Whether the line of hints is shown.
    pub hints: bool,
}

/// Divides the screen.
pub fn divide(ledger: &LedgerView, screen: &Screen) -> Division {
    let (_, lines) = screen.size;
    let (header, status, heads) = (lines >= 3, lines >= 2, lines >= HEADED);
    let hints = screen.shows_hints && lines >= HINTED;
    let bars = BARS
        .iter()
        .find(|(least, _)| lines >= *least)
        .map_or(0, |(_, bars)| *bars);
    let bars = if ledger.days.is_empty() { 0 } else { bars };
    let of_bars = if bars > 0 { bars + 2 } else { 0 };
    let count = u16::try_from(ledger.counted.limits.len()).unwrap_or(u16::MAX);
    let limits = if bars > 0 { count.min(bars) } else { 0 };
    let of_limits = if limits > 0 { limits + 1 } else { 0 };
    let taken: u16 = [header, status, heads, hints]
        .into_iter()
        .map(u16::from)
        .sum();
    let lines = lines.saturating_sub(taken + of_bars + of_limits);
    Division {
        header,
        bars,
        limits,
        heads,
        lines,
        status,
        hints,
    }
}
