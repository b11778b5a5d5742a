//! Panels above the last line: completions of an unfinished chord, and matching commands of the palette.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};
use unicode_width::UnicodeWidthStr;

use super::chrome::hint;
use crate::app::input::action::Action;
use crate::app::pop_ups::palette::{CommandChoice, Palette};
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::app::text::places::marks;
use crate::model::figures;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Limit of the title of a mark, in columns.
const MARK_COLUMNS: usize = 60;
/// Number of choices shown at once.
const CHOICES: usize = 12;
/// Least columns of a command's name, and those of its keys.
const NAME_COLUMNS: usize = 20;
const KEY_COLUMNS: usize = 5;

/// The completions of an unfinished chord, until the next key.
pub(crate) fn paint_chord(app: &App, screen: Rect, buffer: &mut Buffer) {
    let pressed: String = app.keys.pressed.iter().map(ToString::to_string).collect();
    if pressed.is_empty() {
        return;
    }
    let next = continuations(app);
    let longest = usize::from(screen.width.saturating_sub(2));
    let cell = next
        .iter()
        .map(|(keys, doc)| keys.width() + doc.width() + 4)
        .max()
        .unwrap_or(1)
        .min(longest);
    let cell = cell.max(1);
    let across = (usize::from(screen.width.saturating_sub(1)) / cell).clamp(1, 3);
    let lines = next.len().div_ceil(across);
    let rows = u16::try_from(lines + 1)
        .unwrap_or(u16::MAX)
        .min(screen.height);
    let panel = Rect {
        y: screen.bottom() - rows,
        height: rows,
        ..screen
    };
    Clear.render(panel, buffer);
    let title = format!(" {pressed}{} ", app.reader.screen.theme.glyphs().cut);
    let theme = &app.reader.screen.theme;
    paint_title(&title, theme.accent, panel, theme, buffer);
    for (place, (keys, doc)) in next.iter().enumerate() {
        let (column, line) = (place / lines.max(1), place % lines.max(1));
        let x = panel.x
            + u16::try_from(1 + column * cell)
                .unwrap_or(u16::MAX)
                .min(panel.width);
        let y = panel.y + 1 + u16::try_from(line).unwrap_or(u16::MAX).min(panel.height);
        if y < panel.bottom() && x < panel.right() {
            let line = Line::from(hint(&app.reader, keys, doc).to_vec());
            let room = panel.right() - x;
            buffer.set_line(x, y, &line, u16::try_from(cell).unwrap_or(room).min(room));
        }
    }
}

/// The title of a panel, and a rule behind it.
fn paint_title(title: &str, style: Style, panel: Rect, theme: &Theme, buffer: &mut Buffer) {
    let left = usize::from(panel.width).saturating_sub(title.width());
    let title = Line::from(vec![
        Span::styled(title, style),
        Span::styled(theme.glyphs().line.rule.repeat(left), theme.dim),
    ]);
    buffer.set_line(panel.x, panel.y, &title, panel.width);
}

/// Keys that can follow, with their descriptions; for the letter of a mark, all marks.
fn continuations(app: &App) -> Vec<(String, String)> {
    if app.keys.pressed.is_empty() {
        return Vec::new();
    }
    let next = app.keys.keymap.continuations(&app.keys.pressed);
    let goes_to_mark = next
        .iter()
        .any(|(_, binding)| binding.action == Action::ToMark);
    let keys = next
        .into_iter()
        .map(|(keys, binding)| (keys, binding.doc.to_owned()));
    let marks = if goes_to_mark {
        marks::listed(&app.reader.text, &app.reader.session.transcript)
    } else {
        Vec::new()
    };
    let marks = marks
        .into_iter()
        .map(|(letter, at)| (letter.to_string(), at.chars().take(MARK_COLUMNS).collect()));
    keys.chain(marks).collect()
}

/// The matching commands, above the typed line.
pub(crate) fn paint_choices(reader: &Reader, palette: &Palette, above: Rect, buffer: &mut Buffer) {
    let lines = palette
        .choices
        .len()
        .min(CHOICES)
        .min(usize::from(above.height.saturating_sub(1)));
    let rows = u16::try_from(lines + 1)
        .unwrap_or(u16::MAX)
        .min(above.height);
    let panel = Rect {
        y: above.bottom() - rows,
        height: rows,
        ..above
    };
    Clear.render(panel, buffer);
    let count = palette.choices.len();
    let title = match count {
        0 if palette.is_complete() => " enter runs it ".to_owned(),
        0 => " no such command; F1 / searches keys and commands ".to_owned(),
        _ => format!(" {} ", figures::count(count as u64, "command")),
    };
    let theme = &reader.screen.theme;
    paint_title(&title, theme.dim, panel, theme, buffer);
    let first = palette.selected.saturating_sub(lines.saturating_sub(1));
    let shown = palette.choices.iter().skip(first).take(lines);
    let names = shown.map(|choice| usage(choice).width()).max();
    let most = usize::from(panel.width) / 2;
    let names = names.unwrap_or(0).clamp(NAME_COLUMNS.min(most), most);
    for ((place, choice), y) in palette
        .choices
        .iter()
        .enumerate()
        .skip(first)
        .zip(panel.y + 1..panel.bottom())
    {
        let is_selected = place == palette.selected;
        buffer.set_line(
            panel.x,
            y,
            &choice_line(reader, choice, is_selected, names, panel.width),
            panel.width,
        );
    }
}

/// The name of a command with its argument.
fn usage(choice: &CommandChoice) -> String {
    choice.before_argument() + &choice.argument
}

fn choice_line(
    reader: &Reader,
    choice: &CommandChoice,
    is_selected: bool,
    names: usize,
    width: u16,
) -> Line<'static> {
    let theme = &reader.screen.theme;
    let mark = if is_selected {
        theme.glyphs().closed
    } else {
        " "
    };
    let name = usage(choice);
    let style = if is_selected { theme.focus } else { theme.text };
    let spans = [
        Span::styled(format!("{mark} "), theme.focus),
        Span::styled(format!("{name:<names$} "), style),
        Span::styled(format!("{:<KEY_COLUMNS$} ", choice.keys), theme.accent),
        Span::styled(choice.doc.clone(), theme.dim),
    ];
    Line::from(wrap::fit(&spans, usize::from(width), theme.glyphs().cut))
}
