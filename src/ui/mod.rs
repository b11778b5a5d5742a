//! Paints the state: one painter for each part of the screen.
//!
//! ```text
//! header      session › turn            state · context · cost
//! views       1 text  2 time  3 tools
//! outline │ transcript                     │ spine │ inspector
//!         │ pill ── 7 new below · G to follow ──── │
//! status      FOLLOW  /word 2/5  level 3/5      line 12 · 96%
//! hints
//! ```
//!
//! Invariant: painters only read the state; layout and decisions are made in the app.

pub mod chrome;
pub mod header;
pub mod inspector;
pub mod outline;
mod panel;
pub mod pictures;
mod popup;
pub mod spine;
pub mod transcript;
mod views;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Clear, Widget};
use unicode_width::UnicodeWidthStr;

use crate::app::mode::Mode;
use crate::app::panes::Pane;
use crate::app::pop_ups::palette::Palette;
use crate::app::reader::Reader;
use crate::app::screens::AppScreen;
use crate::app::state::App;
use crate::model::text::ascii;

/// Limit of combining characters in a cell: the longest emoji have ten.
const MOST_JOINED: usize = 12;

/// Paints the whole screen.
pub fn view(app: &App, frame: &mut Frame<'_>) {
    if frame.area().is_empty() {
        return;
    }
    let list = match app.mode.screen() {
        AppScreen::Picker => Some(&app.picker.sheet),
        AppScreen::Wall => Some(&app.wall.sheet),
        AppScreen::Ledger => Some(&app.ledger.sheet),
        AppScreen::Session => None,
    };
    // Pop-ups cover the whole screen.
    let covers = matches!(app.mode, Mode::Help { .. } | Mode::Raw(_));
    match list.filter(|_| !covers) {
        Some(sheet) => views::paint_list(app, sheet, frame),
        None => paint(app, frame),
    }
    if let Mode::Palette(palette) = &app.mode
        && list.is_some()
    {
        paint_palette(app, palette, frame);
    }
    drop_combining(frame.buffer_mut());
    if app.reader.screen.theme.ascii {
        replace_non_ascii(frame.buffer_mut());
    }
}

/// Replaces all characters outside of ASCII, for terminals that may interpret such bytes as control
/// codes. Text of entries was converted before layout; this handles names and titles.
fn replace_non_ascii(buffer: &mut Buffer) {
    for cell in buffer
        .content
        .iter_mut()
        .filter(|cell| !cell.symbol().is_ascii())
    {
        let symbol = cell.symbol();
        let plain: String = if symbol.contains('\u{1b}') {
            symbol
                .chars()
                .map(|c| if c.is_ascii() { c } else { '?' })
                .collect()
        } else {
            let like = ascii(symbol);
            if like.width() == symbol.width() {
                like.into_owned()
            } else {
                "?".repeat(symbol.width())
            }
        };
        cell.set_symbol(&plain);
    }
}

/// Drops combining characters beyond [`MOST_JOINED`] in a cell, since terminals draw them over
/// adjacent rows.
fn drop_combining(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        let symbol = cell.symbol();
        // The cells of a link contain its target.
        let is_heap = symbol.len() > MOST_JOINED && !symbol.contains('\u{1b}');
        if let Some((end, _)) = symbol.char_indices().nth(MOST_JOINED).filter(|_| is_heap) {
            let kept = symbol.get(..end).unwrap_or_default().to_owned();
            cell.set_symbol(&kept);
        }
    }
}

/// Paints the panes of a session: everything except the status line and the hints.
pub fn paint_reader(reader: &Reader, buffer: &mut Buffer) {
    let parts = reader.frame();
    let painters: [(Rect, Painter); 8] = [
        (parts.header, header::paint),
        (parts.outline, outline::paint),
        (parts.outline_divider, paint_outline_divider),
        (parts.transcript, transcript::paint),
        (parts.spine, spine::paint),
        (parts.inspector_divider, paint_inspector_divider),
        (parts.pill, chrome::paint_pill),
        (parts.view, views::paint),
    ];
    for (area, paint) in painters {
        if !area.is_empty() {
            paint(reader, area, buffer);
        }
    }
    if !parts.inspector.is_empty() {
        Clear.render(parts.inspector, buffer);
        inspector::paint(reader, parts.inspector, buffer);
    }
}

fn paint(app: &App, frame: &mut Frame<'_>) {
    let screen = frame.area();
    let parts = app.reader.frame();
    let buffer = frame.buffer_mut();
    paint_reader(&app.reader, buffer);
    if !parts.bar.is_empty() {
        chrome::paint_bar(app, parts.bar, buffer);
    }
    if !parts.status.is_empty() {
        chrome::paint_status(app, parts.status, buffer);
    }
    if !parts.hints.is_empty() {
        chrome::paint_hints(app, parts.hints, buffer);
    }
    match app.mode {
        Mode::Normal => panel::paint_chord(app, screen, buffer),
        Mode::Palette(ref palette) => {
            panel::paint_choices(
                &app.reader,
                palette,
                area_above(parts.status, screen),
                buffer,
            );
        }
        Mode::Search { .. }
        | Mode::Filter { .. }
        | Mode::Pipe { .. }
        | Mode::Picker
        | Mode::Wall
        | Mode::Ledger
        | Mode::OnWall { .. } => {}
        Mode::Help { .. } | Mode::Raw { .. } | Mode::Resume(_) => popup::paint(app, screen, buffer),
    }
    if !parts.status.is_empty()
        && let Some((x, y)) = chrome::cursor(app, parts.status)
    {
        frame.set_cursor_position((x, y));
    }
}

/// The area above the status line.
fn area_above(status: Rect, screen: Rect) -> Rect {
    Rect {
        height: status.y.max(1).min(screen.height),
        ..screen
    }
}

/// Over a list, paints the matching commands, and the typed line as its status line.
fn paint_palette(app: &App, palette: &Palette, frame: &mut Frame<'_>) {
    let screen = frame.area();
    let foot = 1 + u16::from(app.reader.screen.shows_hints && screen.height >= 10);
    let status = Rect {
        y: screen.bottom().saturating_sub(foot),
        height: 1,
        ..screen
    };
    panel::paint_choices(
        &app.reader,
        palette,
        area_above(status, screen),
        frame.buffer_mut(),
    );
}

type Painter = fn(&Reader, Rect, &mut Buffer);

fn paint_outline_divider(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    paint_divider(reader, Pane::Outline, area, buffer);
}

fn paint_inspector_divider(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    paint_divider(reader, Pane::Inspector, area, buffer);
}

/// Paints a divider; that of the focused pane is highlighted.
fn paint_divider(reader: &Reader, of: Pane, area: Rect, buffer: &mut Buffer) {
    let style = if reader.focused() == of {
        reader.screen.theme.focus
    } else {
        reader.screen.theme.dim
    };
    for y in area.y..area.bottom() {
        buffer.set_stringn(area.x, y, reader.screen.theme.glyphs().line.bar, 1, style);
    }
}
