//! The pane of turns beside the transcript.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthChar;

use crate::app::outline::OutlineRow;
use crate::app::state::State;

/// Columns of the cost, the duration and the number of a turn, each with the blank before it.
const COST: usize = 7;
const DURATION: usize = 7;

/// Paints the pane and the divider at its right edge.
pub fn paint(state: &State, area: Rect, buffer: &mut Buffer) {
    let divider = area.right().saturating_sub(1);
    for y in area.y..area.bottom() {
        buffer.set_stringn(divider, y, state.theme.glyphs().bar, 1, state.theme.dim);
    }
    let inner = Rect { width: area.width.saturating_sub(2), ..area };
    let title = format!(
        " {:<width$}{:>COST$}{:>DURATION$}",
        "TURNS",
        "$",
        "t",
        width = usize::from(inner.width).saturating_sub(COST + DURATION + 1)
    );
    buffer.set_stringn(inner.x, inner.y, &title, usize::from(inner.width), state.theme.dim);
    for (row, y) in state.outline.rows.iter().zip(inner.y + 1..inner.bottom()) {
        paint_row(state, row, Rect { y, height: 1, ..inner }, buffer);
    }
}

fn paint_row(state: &State, row: &OutlineRow, line: Rect, buffer: &mut Buffer) {
    let is_current = state.outline.current == Some(row.number - 1);
    let style = match (is_current, row.is_abandoned) {
        (true, _) => state.theme.focus,
        (false, true) => state.theme.dim,
        (false, false) => state.theme.text,
    };
    let mark = if !is_current {
        " "
    } else if state.theme.ascii {
        ">"
    } else {
        "▌"
    };
    buffer.set_stringn(line.x, line.y, mark, 1, state.theme.focus);
    let error = if row.errors > 0 { format!("{} ", state.theme.glyphs().failed) } else { String::new() };
    let head = format!("{:>2} ", row.number);
    let room = usize::from(line.width).saturating_sub(1 + COST + DURATION);
    let x = put(buffer, line.x + 1, line.y, &head, room, state.theme.dim);
    let left = room.saturating_sub(usize::from(x.saturating_sub(line.x + 1)));
    let x_after = put(buffer, x, line.y, &error, left, state.theme.bad);
    let left = left.saturating_sub(usize::from(x_after - x));
    put(
        buffer,
        x_after,
        line.y,
        &fit(&row.title, left.saturating_sub(1), state.theme.glyphs().cut),
        left,
        style,
    );
    let facts = format!("{:>COST$}{:>DURATION$}", row.cost, row.duration);
    let facts_at = line.right().saturating_sub(u16::try_from(COST + DURATION).unwrap_or(0));
    put(buffer, facts_at.max(line.x), line.y, &facts, COST + DURATION, state.theme.dim);
}

fn put(buffer: &mut Buffer, x: u16, y: u16, text: &str, room: usize, style: Style) -> u16 {
    if room == 0 { x } else { buffer.set_stringn(x, y, text, room, style).0 }
}

/// As much as fits, with an ellipsis where something is missing.
fn fit(text: &str, room: usize, cut: &str) -> String {
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if used + width > room.saturating_sub(1) {
            out.push_str(cut);
            return out;
        }
        used += width;
        out.push(c);
    }
    out
}
