//! The view that lies over the transcript: its title, heads, rows, and the details of the chosen one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

use crate::app::panes::Pane;
use crate::app::reader::Reader;
use crate::render::wrap;

/// Columns before rows: the mark of the chosen one, and a column of air.
const LEFT: u16 = 2;

/// What stands at the right end of the title is short if it fits so often into the line.
const OF_TITLE: usize = 4;
/// Columns between both, and behind them.
const GAP: usize = 3;

/// Paints the page.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    Clear.render(area, buffer);
    let sheet = &reader.views.sheet;
    let mut lines = area.rows();
    let Some(first) = lines.next() else { return };
    paint_title(reader, first, buffer);
    for (head, line) in sheet.heads.iter().zip(lines.by_ref()) {
        paint_line(head, line, buffer);
    }
    let has_keys = reader.focused() == Pane::View;
    for (row, line) in sheet.rows.iter().zip(lines) {
        paint_line(&row.line, line, buffer);
        if row.is_chosen {
            let style = if has_keys {
                reader.screen.theme.focus
            } else {
                reader.screen.theme.dim
            };
            buffer.set_stringn(
                line.x,
                line.y,
                reader.screen.theme.glyphs().closed,
                1,
                style,
            );
        }
    }
    let foot = u16::try_from(sheet.foot.len()).unwrap_or(u16::MAX);
    if foot > 0 && foot < area.height {
        let y = area.bottom() - foot - 1;
        let rule = reader
            .screen
            .theme
            .glyphs()
            .line
            .rule
            .repeat(usize::from(area.width));
        buffer.set_stringn(
            area.x,
            y,
            rule,
            usize::from(area.width),
            reader.screen.theme.dim,
        );
        for (line, y) in sheet.foot.iter().zip(y + 1..) {
            paint_line(
                line,
                Rect {
                    y,
                    height: 1,
                    ..area
                },
                buffer,
            );
        }
    }
}

fn paint_line(line: &Line<'static>, area: Rect, buffer: &mut Buffer) {
    let room = area.width.saturating_sub(LEFT);
    buffer.set_line(area.x + LEFT.min(area.width), area.y, line, room);
}

/// The title; what stands at its right end has what room is left, or the title yields to it where it is short.
fn paint_title(reader: &Reader, line: Rect, buffer: &mut Buffer) {
    let sheet = &reader.views.sheet;
    let style = if reader.focused() == Pane::View {
        reader.screen.theme.focus
    } else {
        reader.screen.theme.heading
    };
    let mut title = sheet.title.clone();
    if let Some(name) = title.first_mut() {
        name.style = style;
    }
    let room = usize::from(line.width.saturating_sub(LEFT));
    let right = wrap::width_of(&sheet.right);
    let kept = if right > 0 && right * OF_TITLE <= room {
        right + GAP
    } else {
        0
    };
    let title = wrap::fit(
        &title,
        room.saturating_sub(kept),
        reader.screen.theme.glyphs().cut,
    );
    let used = wrap::width_of(&title);
    paint_line(&Line::from(title), line, buffer);
    if right > 0 && used + right + GAP <= room {
        let width = u16::try_from(right).unwrap_or(u16::MAX);
        let x = line.right().saturating_sub(width + 1);
        buffer.set_line(x, line.y, &Line::from(sheet.right.clone()), width);
    }
}
