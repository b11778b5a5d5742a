//! Paints the spine: marks of the whole session, and the range that the window shows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::reader::Reader;
use crate::app::text::spine::SpineMark;
use crate::app::text::window::window_on_spine;

/// Prompts are marked only if at most one cell in this many has one.
const CROWD: usize = 3;

/// Paints the spine, if the session is longer than the window.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    if area.width == 0 {
        return;
    }
    let theme = &reader.screen.theme;
    let spine = &theme.glyphs().spine;
    let cells = &reader.text.spine.cells;
    let view = &reader.text.view;
    // Nothing to show: the whole session is visible.
    let is_part = !view.is_at_end
        || view
            .lines
            .first()
            .is_some_and(|line| (line.place, line.row) != (0, 0));
    let window = window_on_spine(&reader.text, usize::from(area.height)).filter(|_| is_part);
    // Marks of prompts carry no information if they are everywhere.
    let prompts = cells
        .iter()
        .filter(|mark| **mark == SpineMark::Prompt)
        .count();
    let has_prompts = prompts * CROWD <= usize::from(area.height);
    for (cell, y) in (area.y..area.bottom()).enumerate() {
        let mark = cells.get(cell).copied().unwrap_or_default();
        let mark = if mark == SpineMark::Prompt && !has_prompts {
            SpineMark::None
        } else {
            mark
        };
        let is_in_window = window.is_some_and(|(first, last)| (first..=last).contains(&cell));
        let (glyph, style) = match (mark, is_in_window) {
            (SpineMark::Error, _) => (spine.failure, theme.bad),
            (SpineMark::Alarm, _) => ("!", theme.bad),
            (SpineMark::Loop, _) => ("!", theme.warn),
            (SpineMark::Hit, _) => (theme.glyphs().hit, theme.warn),
            (SpineMark::Marked, _) => (spine.mark, theme.focus),
            (SpineMark::Compaction, _) => (theme.glyphs().compacted, theme.accent),
            (SpineMark::Prompt, false) => (spine.prompt, theme.voice.user),
            (SpineMark::Prompt, true) => (spine.window, theme.voice.user),
            (SpineMark::None, true) => (spine.window, theme.dim),
            (SpineMark::None, false) => continue,
        };
        buffer.set_stringn(area.x, y, glyph, 1, style);
    }
}
