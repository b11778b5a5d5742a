//! The time strip: who had the time of the turn, on one line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::analysis::account::Class;
use crate::app::reader::Reader;
use crate::app::strip::{Run, TITLE};
use crate::render::theme::Theme;

/// Paints the line. Signs distinguish the classes, colours only help.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    let theme = &reader.screen.theme;
    let right = area.right();
    let put = |buffer: &mut Buffer, x: u16, text: &str, style: Style| {
        let room = usize::from(right.saturating_sub(x));
        if room == 0 { x } else { buffer.set_stringn(x, area.y, text, room, style).0 }
    };
    let start = put(buffer, area.x, TITLE, theme.dim);
    let mut x = start;
    for run in &reader.strip.runs {
        x = put(buffer, x, &words(run, theme), style(run, theme));
    }
    put(buffer, x, &reader.strip.legend, theme.dim);
    let cursor = reader.strip.cursor.and_then(|column| u16::try_from(column).ok());
    if let Some(at) = cursor.and_then(|column| start.checked_add(column)).filter(|at| *at < right.min(x)) {
        let mark = if theme.ascii { "^" } else { "┃" };
        buffer.set_string(at, area.y, mark, theme.focus);
    }
}

/// A run in as many columns as it has: `▂▂▂✗`.
fn words(run: &Run, theme: &Theme) -> String {
    let end = match (run.goes_on, run.has_failed, theme.ascii) {
        (true, _, true) => ">",
        (true, _, false) => "▶",
        (false, true, _) => theme.glyphs().outcome.failed,
        (false, false, _) => return fill(run.class, theme.ascii).repeat(run.columns),
    };
    fill(run.class, theme.ascii).repeat(run.columns.saturating_sub(1)) + end
}

fn fill(class: Class, ascii: bool) -> &'static str {
    match (class, ascii) {
        (Class::Model, false) => "▄",
        (Class::Model, true) => "#",
        (Class::Tool, false) => "▂",
        (Class::Tool, true) => "=",
        (Class::Human, false) => "·",
        (Class::Human, true) => ".",
        (Class::Retry, _) => "!",
        (Class::Idle | Class::Unknown, _) => " ",
    }
}

fn style(run: &Run, theme: &Theme) -> Style {
    match run.class {
        _ if run.has_failed => theme.bad,
        Class::Model => theme.voice.assistant,
        Class::Tool => theme.tool,
        Class::Retry => theme.warn,
        Class::Human | Class::Idle | Class::Unknown => theme.dim,
    }
}
