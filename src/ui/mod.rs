//! The state as cells: one small painter for each part of the screen.
//!
//! ```text
//! header      session › turn            state · context · cost
//! outline │ transcript                     │ spine │ inspector
//!         │ pill ── 7 new below · G to follow ──── │
//! strip       time
//! status      FOLLOW  /word 2 of 5  level 3/5      line 12 · 96%
//! hints
//! ```
//!
//! Invariant: painters get the state read-only; nothing is laid out or decided here.

pub mod chrome;
pub mod header;
pub mod inspector;
pub mod outline;
mod panel;
mod picker;
pub mod pictures;
mod popup;
pub mod spine;
pub mod strip;
pub mod transcript;
mod views;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};
use unicode_width::UnicodeWidthStr;

use crate::app::mode::Mode;
use crate::app::panes::{Pane, divide, focused};
use crate::app::state::State;

/// A character may have so many that join it: the longest emoji have ten.
const MOST_JOINED: usize = 12;

/// Paints the whole screen.
pub fn view(state: &State, frame: &mut Frame<'_>) {
    if frame.area().is_empty() {
        return;
    }
    if matches!(state.mode, Mode::Picker) {
        picker::paint(state, frame);
    } else {
        paint(state, frame);
    }
    thin_out(frame.buffer_mut());
    if state.screen.theme.ascii {
        leave_ascii(frame.buffer_mut());
    }
}

/// Puts a sign in the place of all that is not ASCII: where a terminal knows nothing else, such bytes may be orders.
/// The text of entries was told in ASCII before it was laid out; what is left are names and titles.
fn leave_ascii(buffer: &mut Buffer) {
    for cell in buffer.content.iter_mut().filter(|cell| !cell.symbol().is_ascii()) {
        let symbol = cell.symbol();
        let plain: String = if symbol.contains('\u{1b}') {
            symbol.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect()
        } else {
            "?".repeat(symbol.width())
        };
        cell.set_symbol(&plain);
    }
}

/// Leaves marks out that are heaped upon one character by the hundred: terminals draw them over the rows around.
fn thin_out(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        // Where a link leads stands in its cells.
        let is_heap = symbol.len() > MOST_JOINED && !symbol.contains('\u{1b}');
        if let Some((end, _)) = symbol.char_indices().nth(MOST_JOINED).filter(|_| is_heap) {
            let kept = symbol.get(..end).unwrap_or_default().to_owned();
            cell.set_symbol(&kept);
        }
    }
}

fn paint(state: &State, frame: &mut Frame<'_>) {
    let screen = frame.area();
    let parts = divide(state);
    let buffer = frame.buffer_mut();
    let painters: [(Rect, Painter); 10] = [
        (parts.header, header::paint),
        (parts.outline, outline::paint),
        (parts.outline_divider, paint_outline_divider),
        (parts.transcript, transcript::paint),
        (parts.spine, spine::paint),
        (parts.inspector_divider, paint_inspector_divider),
        (parts.pill, chrome::paint_pill),
        (parts.strip, strip::paint),
        (parts.status, chrome::paint_status),
        (parts.hints, chrome::paint_hints),
    ];
    for (area, paint) in painters {
        if !area.is_empty() {
            paint(state, area, buffer);
        }
    }
    if !parts.view.is_empty() {
        views::paint(state, parts.view, buffer);
    }
    if !parts.inspector.is_empty() {
        Clear.render(parts.inspector, buffer);
        inspector::paint(state, parts.inspector, buffer);
    }
    match state.mode {
        Mode::Normal => panel::paint_chord(state, screen, buffer),
        Mode::Palette(ref palette) => {
            let above = Rect { height: parts.status.y.max(1).min(screen.height), ..screen };
            panel::paint_choices(state, palette, above, buffer);
        }
        Mode::Search { .. } | Mode::Filter { .. } | Mode::Pipe { .. } | Mode::Picker => {}
        Mode::Help { .. } | Mode::Raw { .. } => popup::paint(state, screen, buffer),
    }
    if !parts.status.is_empty()
        && let Some((x, y)) = chrome::cursor(state, parts.status)
    {
        frame.set_cursor_position((x, y));
    }
}

type Painter = fn(&State, Rect, &mut Buffer);

fn paint_outline_divider(state: &State, area: Rect, buffer: &mut Buffer) {
    paint_divider(state, Pane::Outline, area, buffer);
}

fn paint_inspector_divider(state: &State, area: Rect, buffer: &mut Buffer) {
    paint_divider(state, Pane::Inspector, area, buffer);
}

/// The edge of the pane that has the keys stands out.
fn paint_divider(state: &State, of: Pane, area: Rect, buffer: &mut Buffer) {
    let style = if focused(state) == of { state.screen.theme.focus } else { state.screen.theme.dim };
    for y in area.y..area.bottom() {
        buffer.set_stringn(area.x, y, state.screen.theme.glyphs().bar, 1, style);
    }
}
