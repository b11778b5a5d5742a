//! Where the parts of the wall are.

use super::Wall;
use crate::app::screen::Screen;

/// Screens from this width on have room for the preview beside the list.
const WIDE: u16 = 190;
/// Screens from this height on have room for it below the list.
const TALL: u16 = 30;
/// Smaller ones leave out the heads of columns, the line of hints, the header.
const HEADED: u16 = 8;
const HINTED: u16 = 10;

/// Where the preview is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// Nowhere.
    Hidden,
    /// Right of the list, with so many columns.
    Beside(u16),
    /// Below the list, with so many lines.
    Below(u16),
}

/// Where the parts of the screen are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Whether the header is shown.
    pub header: bool,
    /// Whether the heads of the columns are.
    pub heads: bool,
    /// Lines of the list.
    pub lines: u16,
    /// Columns of the list.
    pub columns: u16,
    /// Where the preview is.
    pub pane: Pane,
    /// Whether the status line is shown.
    pub status: bool,
    /// Whether the line of hints is shown.
    pub hints: bool,
}

/// Divides the screen.
pub fn divide(wall: &Wall, screen: &Screen) -> Division {
    let (columns, lines) = screen.size;
    let (header, status, heads) = (lines >= 3, lines >= 2, lines >= HEADED);
    let hints = screen.shows_hints && lines >= HINTED;
    let taken = [header, status, heads, hints]
        .into_iter()
        .map(u16::from)
        .sum();
    let rest = lines.saturating_sub(taken);
    let (lines, columns, pane) = match (wall.hides_preview, columns >= WIDE, lines >= TALL) {
        (false, true, _) => (
            rest,
            columns - columns * 3 / 10,
            Pane::Beside(columns * 3 / 10),
        ),
        (false, false, true) => (rest - rest * 2 / 5, columns, Pane::Below(rest * 2 / 5)),
        (true, _, _) | (false, false, false) => (rest, columns, Pane::Hidden),
    };
    Division {
        header,
        heads,
        lines,
        columns,
        pane,
        status,
        hints,
    }
}

/// Shows or hides the preview.
pub(crate) fn toggle_preview(wall: &mut Wall, screen: &mut Screen) {
    wall.hides_preview = !wall.hides_preview;
    if !wall.hides_preview && divide(wall, screen).pane == Pane::Hidden {
        screen.say(format!("a preview needs {WIDE} columns or {TALL} lines"));
    }
}
