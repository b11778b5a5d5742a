//! The pane of the focused item.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::state::State;

/// Paints what is known of the focused item.
pub fn paint(state: &State, area: Rect, buffer: &mut Buffer) {
    let room = usize::from(area.width.saturating_sub(1));
    for (fact, y) in state.inspector.facts.iter().zip(area.y..area.bottom()) {
        buffer.set_stringn(area.x + area.width.min(1), y, fact, room, state.theme.text);
    }
}
