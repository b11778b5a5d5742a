//! The time strip: one line that tells when the session happened.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::state::State;
use crate::model::figures;

/// Paints the line: the time of the session, and of the focused turn.
pub fn paint(state: &State, area: Rect, buffer: &mut Buffer) {
    let order = state.transcript.order();
    let at = |id| state.transcript.get(id).and_then(|entry| entry.at);
    let first = order.iter().find_map(|id| at(*id));
    let last = order.iter().rev().find_map(|id| at(*id));
    let (Some(first), Some(last)) = (first, last) else { return };
    let turn = state.focused_turn().and_then(|turn| {
        let took = state.transcript.turn_facts(turn).duration_ms()?;
        Some(format!("  turn {} {}", turn + 1, figures::duration(took)))
    });
    let arrow = state.theme.glyphs().arrow;
    let words = format!(
        " time {} {arrow} {}  {}{}",
        first.date_and_clock(),
        last.date_and_clock(),
        figures::duration(last.since(first)),
        turn.unwrap_or_default()
    );
    buffer.set_stringn(area.x, area.y, &words, usize::from(area.width), state.theme.dim);
}
