//! The last column: landmarks of the whole session and the part that is in the window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::arrange::window_on_spine;
use crate::app::spine::Mark;
use crate::app::state::State;

/// Paints the spine.
pub fn paint(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.width == 0 {
        return;
    }
    let window = window_on_spine(state, usize::from(area.height));
    for (cell, y) in (area.y..area.bottom()).enumerate() {
        let mark = state.text.spine.cells.get(cell).copied().unwrap_or_default();
        let is_in_window = window.is_some_and(|(first, last)| (first..=last).contains(&cell));
        let (glyph, style) = match (mark, is_in_window) {
            (Mark::Error, _) => ("E", state.screen.theme.bad),
            (Mark::Alarm, _) => ("!", state.screen.theme.bad),
            (Mark::Trouble, _) => ("!", state.screen.theme.warn),
            (Mark::Hit, _) => (if state.screen.theme.ascii { "=" } else { "▪" }, state.screen.theme.warn),
            (Mark::Marked, _) => (if state.screen.theme.ascii { "'" } else { "◆" }, state.screen.theme.focus),
            (Mark::Compaction, _) => (state.screen.theme.glyphs().compacted, state.screen.theme.accent),
            (Mark::Prompt, false) => {
                (if state.screen.theme.ascii { "+" } else { "┤" }, state.screen.theme.user)
            }
            (Mark::Prompt, true) => {
                (if state.screen.theme.ascii { "#" } else { "▐" }, state.screen.theme.user)
            }
            (Mark::None, true) => (if state.screen.theme.ascii { "#" } else { "▐" }, state.screen.theme.dim),
            (Mark::None, false) => (state.screen.theme.glyphs().bar, state.screen.theme.dim),
        };
        buffer.set_stringn(area.x, y, glyph, 1, style);
    }
}
