//! The pane beside the transcript: turns with their sub-agents, and branches.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthChar;

use crate::app::outline::{LaneRow, OutlineRow, TurnRow};
use crate::app::state::State;

/// Columns of the cost, the duration and the number of a turn, each with the blank before it.
const COST: usize = 7;
const DURATION: usize = 7;

/// Paints the pane.
pub fn paint(state: &State, area: Rect, buffer: &mut Buffer) {
    let inner = Rect { width: area.width.saturating_sub(1), ..area };
    let title = format!(
        " {:<width$}{:>COST$}{:>DURATION$}",
        "TURNS",
        "$",
        "t",
        width = usize::from(inner.width).saturating_sub(COST + DURATION + 1)
    );
    buffer.set_stringn(inner.x, inner.y, &title, usize::from(inner.width), state.theme.dim);
    for (row, y) in state.outline.rows.iter().zip(inner.y + 1..inner.bottom()) {
        let line = Rect { y, height: 1, ..inner };
        match row {
            OutlineRow::Turn(row) => paint_turn(state, row, line, buffer),
            OutlineRow::Lane(row) => paint_lane(state, row, line, buffer),
        }
    }
    paint_branches(state, inner, buffer);
}

/// Branches stand at the foot of the pane, wherever the turns end.
fn paint_branches(state: &State, inner: Rect, buffer: &mut Buffer) {
    let branches = &state.outline.branches;
    let taken = u16::try_from(branches.len() + 1).unwrap_or(u16::MAX);
    if branches.is_empty() || taken >= inner.height {
        return;
    }
    let head = inner.bottom() - taken;
    buffer.set_stringn(inner.x, head, " BRANCHES", usize::from(inner.width), state.theme.dim);
    for (row, y) in branches.iter().zip(head + 1..inner.bottom()) {
        let style = if row.is_current { state.theme.focus } else { state.theme.dim };
        let words = Words {
            is_current: row.is_current,
            head: format!("{:>2} {} ", row.number, row.fate),
            error: false,
            title: &row.title,
            style,
        };
        paint_row(state, &words, &row.cost, &row.left, Rect { y, height: 1, ..inner }, buffer);
    }
}

fn paint_turn(state: &State, row: &TurnRow, line: Rect, buffer: &mut Buffer) {
    let is_current = state.outline.current == Some(row.number - 1);
    let style = match (is_current, row.is_abandoned) {
        (true, _) => state.theme.focus,
        (false, true) => state.theme.dim,
        (false, false) => state.theme.text,
    };
    let head = format!("{:>2} ", row.number);
    let words = Words { is_current, head, error: row.errors > 0, title: &row.title, style };
    paint_row(state, &words, &row.cost, &row.duration, line, buffer);
}

fn paint_lane(state: &State, row: &LaneRow, line: Rect, buffer: &mut Buffer) {
    let branch = match (state.theme.ascii, row.is_last) {
        (true, _) => "|",
        (false, true) => "└",
        (false, false) => "├",
    };
    let head = format!("   {}{branch} ", "  ".repeat(row.depth));
    let style = state.theme.dim;
    let words = Words { is_current: false, head, error: row.errors > 0, title: &row.label, style };
    paint_row(state, &words, &row.cost, &row.duration, line, buffer);
}

/// The left part of a row.
struct Words<'a> {
    is_current: bool,
    head: String,
    error: bool,
    title: &'a str,
    style: Style,
}

fn paint_row(state: &State, words: &Words<'_>, cost: &str, time: &str, line: Rect, buffer: &mut Buffer) {
    let mark = match (words.is_current, state.theme.ascii) {
        (false, _) => " ",
        (true, true) => ">",
        (true, false) => "▌",
    };
    buffer.set_stringn(line.x, line.y, mark, 1, state.theme.focus);
    let glyphs = state.theme.glyphs();
    let error = if words.error { format!("{} ", glyphs.failed) } else { String::new() };
    let room = usize::from(line.width).saturating_sub(1 + COST + DURATION);
    let x = put(buffer, line.x + 1, line.y, &words.head, room, state.theme.dim);
    let left = room.saturating_sub(usize::from(x.saturating_sub(line.x + 1)));
    let x_after = put(buffer, x, line.y, &error, left, state.theme.bad);
    let left = left.saturating_sub(usize::from(x_after - x));
    let title = fit(words.title, left.saturating_sub(1), glyphs.cut);
    put(buffer, x_after, line.y, &title, left, words.style);
    let facts = format!("{cost:>COST$}{time:>DURATION$}");
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
