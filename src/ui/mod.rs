//! The state as cells: one small painter for each part of the screen.
//!
//! ```text
//! header      session › turn            state · context · cost
//! outline │ transcript                                 │ spine
//! pill        ──── 7 new below · G to follow ────
//! status      FOLLOW  /word 2 of 5  level 3/5      line 12 · 96%
//! hints
//! ```
//!
//! Invariant: painters get the state read-only; nothing is laid out or decided here.

mod checks;
pub mod chrome;
pub mod header;
pub mod outline;
mod panel;
mod picker;
mod popup;
pub mod spine;
pub mod transcript;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::app::arrange::{LEFT, RIGHT, divide};
use crate::app::state::{Mode, State};

/// Paints the whole screen.
pub fn view(state: &State, frame: &mut Frame<'_>) {
    if matches!(state.mode, Mode::Picker) {
        return picker::paint(state, frame);
    }
    let screen = frame.area();
    let parts = divide(state);
    let mut rest = screen;
    if parts.header {
        header::paint(state, take_top(&mut rest), frame.buffer_mut());
    }
    if parts.hints {
        chrome::paint_hints(state, take_bottom(&mut rest), frame.buffer_mut());
    }
    if parts.status {
        let area = take_bottom(&mut rest);
        chrome::paint_status(state, area, frame.buffer_mut());
        if let Some((x, y)) = chrome::cursor(state, area) {
            frame.set_cursor_position((x, y));
        }
    }
    if parts.pill {
        chrome::paint_pill(state, take_bottom(&mut rest), frame.buffer_mut());
    }
    let columns = columns(rest, parts.outline);
    if parts.outline > 0 {
        outline::paint(state, columns.outline, frame.buffer_mut());
    }
    transcript::paint(state, columns.text, frame.buffer_mut());
    spine::paint(state, columns.spine, frame.buffer_mut());
    match state.mode {
        Mode::Normal => panel::paint_chord(state, screen, frame.buffer_mut()),
        Mode::Palette(ref palette) => {
            let foot = u16::from(parts.hints) + u16::from(parts.status);
            let above = Rect { height: screen.height.saturating_sub(foot), ..screen };
            panel::paint_choices(state, palette, above, frame.buffer_mut());
        }
        Mode::Search { .. } | Mode::Filter { .. } | Mode::Picker => {}
        Mode::Checks(ref found) => checks::paint(state, found, screen, frame.buffer_mut()),
        Mode::Help { .. } | Mode::Raw { .. } => popup::paint(state, screen, frame.buffer_mut()),
    }
}

struct Columns {
    outline: Rect,
    text: Rect,
    spine: Rect,
}

fn columns(area: Rect, outline: u16) -> Columns {
    let width = area.width.saturating_sub(outline + RIGHT - 1).max(LEFT.min(area.width));
    let text = Rect { x: area.x + outline, width: width.min(area.width.saturating_sub(outline)), ..area };
    let spine_at = area.right().saturating_sub(1);
    Columns {
        outline: Rect { width: outline.min(area.width), ..area },
        text,
        spine: Rect { x: spine_at, width: area.width.min(1), ..area },
    }
}

fn take_top(area: &mut Rect) -> Rect {
    let height = area.height.min(1);
    let taken = Rect { height, ..*area };
    area.y += height;
    area.height -= height;
    taken
}

fn take_bottom(area: &mut Rect) -> Rect {
    let height = area.height.min(1);
    area.height -= height;
    Rect { y: area.y + area.height, height, ..*area }
}
