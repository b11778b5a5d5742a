//! The last column: landmarks of the whole session and the part that is in the window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::reader::Reader;
use crate::app::text::spine::Mark;
use crate::app::text::window::window_on_spine;

/// Prompts are marked if no more than one cell in so many has one.
const CROWD: usize = 3;

/// Paints the spine: nothing where there is nothing to see.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    if area.width == 0 {
        return;
    }
    let theme = &reader.screen.theme;
    let cells = &reader.text.spine.cells;
    let view = &reader.text.view;
    // Where all is in sight there is nothing to say of where that is.
    let is_part = !view.is_at_end
        || view
            .lines
            .first()
            .is_some_and(|line| (line.place, line.row) != (0, 0));
    let window = window_on_spine(&reader.text, usize::from(area.height)).filter(|_| is_part);
    // Where prompts are everywhere their marks lead nowhere.
    let prompts = cells.iter().filter(|mark| **mark == Mark::Prompt).count();
    let has_prompts = prompts * CROWD <= usize::from(area.height);
    for (cell, y) in (area.y..area.bottom()).enumerate() {
        let mark = cells.get(cell).copied().unwrap_or_default();
        let mark = if mark == Mark::Prompt && !has_prompts {
            Mark::None
        } else {
            mark
        };
        let is_in_window = window.is_some_and(|(first, last)| (first..=last).contains(&cell));
        let (glyph, style) = match (mark, is_in_window) {
            (Mark::Error, _) => ("E", theme.bad),
            (Mark::Alarm, _) => ("!", theme.bad),
            (Mark::Loop, _) => ("!", theme.warn),
            (Mark::Hit, _) => (theme.glyphs().hit, theme.warn),
            (Mark::Marked, _) => (if theme.ascii { "'" } else { "◆" }, theme.focus),
            (Mark::Compaction, _) => (theme.glyphs().compacted, theme.accent),
            (Mark::Prompt, false) => (if theme.ascii { "+" } else { "╴" }, theme.voice.user),
            (Mark::Prompt, true) => (if theme.ascii { "#" } else { "▐" }, theme.voice.user),
            (Mark::None, true) => (if theme.ascii { "#" } else { "▐" }, theme.dim),
            (Mark::None, false) => continue,
        };
        buffer.set_stringn(area.x, y, glyph, 1, style);
    }
}
