//! The last column: landmarks of the whole session and the part that is in the window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::reader::Reader;
use crate::app::text::spine::Mark;
use crate::app::text::window::window_on_spine;

/// Paints the spine.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    if area.width == 0 {
        return;
    }
    let window = window_on_spine(&reader.text, usize::from(area.height));
    for (cell, y) in (area.y..area.bottom()).enumerate() {
        let mark = reader.text.spine.cells.get(cell).copied().unwrap_or_default();
        let is_in_window = window.is_some_and(|(first, last)| (first..=last).contains(&cell));
        let (glyph, style) = match (mark, is_in_window) {
            (Mark::Error, _) => ("E", reader.screen.theme.bad),
            (Mark::Alarm, _) => ("!", reader.screen.theme.bad),
            (Mark::Loop, _) => ("!", reader.screen.theme.warn),
            (Mark::Hit, _) => (reader.screen.theme.glyphs().hit, reader.screen.theme.warn),
            (Mark::Marked, _) => {
                (if reader.screen.theme.ascii { "'" } else { "◆" }, reader.screen.theme.focus)
            }
            (Mark::Compaction, _) => (reader.screen.theme.glyphs().compacted, reader.screen.theme.accent),
            (Mark::Prompt, false) => {
                (if reader.screen.theme.ascii { "+" } else { "┤" }, reader.screen.theme.voice.user)
            }
            (Mark::Prompt, true) => {
                (if reader.screen.theme.ascii { "#" } else { "▐" }, reader.screen.theme.voice.user)
            }
            (Mark::None, true) => {
                (if reader.screen.theme.ascii { "#" } else { "▐" }, reader.screen.theme.dim)
            }
            (Mark::None, false) => (reader.screen.theme.glyphs().line.bar, reader.screen.theme.dim),
        };
        buffer.set_stringn(area.x, y, glyph, 1, style);
    }
}
