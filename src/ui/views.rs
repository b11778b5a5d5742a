//! Paints pages: the views that cover the transcript, and the lists of sessions that fill the
//! screen. A page has a title, headings, rows, and details of the chosen row below or beside them.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::chrome;
use crate::app::list_page::Room;
use crate::app::panes::Pane;
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::app::views::page::Sheet;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Columns before rows: the mark of the chosen row, and a blank.
const LEFT: u16 = 2;

/// The facts at the right end of the title have priority over it if they take at most this fraction
/// of the line (one in `OF_TITLE`).
const OF_TITLE: usize = 4;
/// Columns between title and facts, and after the facts.
const GAP: usize = 3;

/// Paints the page that covers the transcript.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    let has_keys = reader.focused() == Pane::View;
    paint_sheet(
        &reader.views.sheet,
        &reader.screen.theme,
        has_keys,
        area,
        buffer,
    );
}

/// Paints a list of sessions, with its status line and the hints.
pub fn paint_list(app: &App, sheet: &Sheet, frame: &mut Frame<'_>) {
    let screen = frame.area();
    let room = Room::of(&app.reader.screen);
    let buffer = frame.buffer_mut();
    let line = |y: u16| Rect {
        y: y.min(screen.bottom().saturating_sub(1)),
        height: 1,
        ..screen
    };
    let page = Rect {
        height: room.height.min(screen.height),
        ..screen
    };
    paint_sheet(sheet, &app.reader.screen.theme, true, page, buffer);
    if room.has_hints {
        chrome::paint_hints(app, line(page.bottom() + 1), buffer);
    }
    if room.has_status {
        let status = line(page.bottom());
        chrome::paint_status_of_list(app, sheet, status, buffer);
        if let Some((x, y)) = chrome::cursor(app, status) {
            frame.set_cursor_position((x, y));
        }
    }
}

fn paint_sheet(sheet: &Sheet, theme: &Theme, has_keys: bool, area: Rect, buffer: &mut Buffer) {
    Clear.render(area, buffer);
    let (title, below) = (Rect { height: 1, ..area }, area.height.saturating_sub(1));
    if area.height == 0 {
        return;
    }
    paint_title(sheet, theme, has_keys, title, buffer);
    let below = Rect {
        y: area.y + 1,
        height: below,
        ..area
    };
    let side = sheet.side.as_ref();
    let side_width = side.map_or(0, |(width, _)| (*width).min(area.width));
    let page = Rect {
        width: area.width - side_width,
        ..below
    };
    if let Some((_, lines)) = side {
        let beside = Rect {
            x: page.right(),
            width: side_width,
            ..below
        };
        for (number, line) in beside.rows().enumerate() {
            let bar = theme.glyphs().line.bar;
            buffer.set_stringn(line.x, line.y, bar, usize::from(line.width), theme.dim);
            if let Some(text) = lines.get(number) {
                paint_line(text, line, buffer);
            }
        }
    }
    let mut lines = page.rows();
    for (head, line) in sheet.heads.iter().zip(lines.by_ref()) {
        paint_line(head, line, buffer);
    }
    for (row, line) in sheet.rows.iter().zip(lines) {
        paint_line(&row.line, line, buffer);
        if row.is_chosen {
            let style = if has_keys { theme.focus } else { theme.dim };
            buffer.set_stringn(line.x, line.y, theme.glyphs().closed, 1, style);
        }
    }
    let foot = u16::try_from(sheet.foot.len()).unwrap_or(u16::MAX);
    if foot > 0 && foot < area.height {
        let y = area.bottom() - foot - 1;
        let rule = theme.glyphs().line.rule.repeat(usize::from(page.width));
        buffer.set_stringn(area.x, y, rule, usize::from(page.width), theme.dim);
        for (line, y) in sheet.foot.iter().zip(y + 1..) {
            let area = Rect {
                y,
                height: 1,
                ..page
            };
            paint_line(line, area, buffer);
        }
    }
}

fn paint_line(line: &Line<'static>, area: Rect, buffer: &mut Buffer) {
    let room = area.width.saturating_sub(LEFT);
    buffer.set_line(area.x + LEFT.min(area.width), area.y, line, room);
}

/// Paints the title and the facts at its right end. Short facts are always shown, and the title is
/// truncated; long ones are shown only if they fit.
fn paint_title(sheet: &Sheet, theme: &Theme, has_keys: bool, line: Rect, buffer: &mut Buffer) {
    let style = if has_keys { theme.focus } else { theme.heading };
    let mut title = sheet.title.clone();
    if let Some(name) = title.first_mut() {
        name.style = style;
    }
    let cut = theme.glyphs().cut;
    let room = usize::from(line.width.saturating_sub(LEFT));
    let right = wrap::width_of(&sheet.right);
    let kept = if right > 0 && right * OF_TITLE <= room {
        right + GAP
    } else {
        0
    };
    let title: Vec<Span<'static>> = wrap::fit(&title, room.saturating_sub(kept), cut);
    let used = wrap::width_of(&title);
    paint_line(&Line::from(title), line, buffer);
    if right > 0 && used + right + GAP <= room {
        let width = u16::try_from(right).unwrap_or(u16::MAX);
        let x = line.right().saturating_sub(width + 1);
        buffer.set_line(x, line.y, &Line::from(sheet.right.clone()), width);
    }
}
