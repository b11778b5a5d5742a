//! Paints pop-ups: help, records, resume commands.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::app::mode::Mode;
use crate::app::pop_ups::help::{self, HelpCell, HelpLine, HelpScene};
use crate::app::pop_ups::resume::{ResumeCommand, ResumeDialog};
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::model::text::Text;
use crate::render::wrap::{self, LineFrame};

/// Paints the pop-up of the mode over the whole screen, except for the last line, which has the
/// hints.
pub fn paint(app: &App, screen: Rect, buffer: &mut Buffer) {
    let area = Rect {
        height: screen.height.saturating_sub(u16::from(screen.height > 3)),
        ..screen
    };
    let (title, lines, top) = match &app.mode {
        Mode::Help {
            top,
            filter: wanted,
            is_typing,
            below,
            here,
        } => {
            let typed = wanted.value();
            let title = match (is_typing, typed.is_empty()) {
                (false, true) => " Keys and signs".to_owned(),
                (true, _) => format!(" Keys and signs with /{typed}_"),
                (false, false) => format!(" Keys and signs with /{typed}"),
            };
            let scene = HelpScene {
                keymap: &app.keys.keymap,
                here,
                below: *below,
                screen: &app.reader.screen,
            };
            (title, help(app, typed, scene), *top)
        }
        Mode::Raw(view) => (
            format!(" {}", view.title),
            view.rows.iter().map(|row| row.line.clone()).collect(),
            view.top,
        ),
        Mode::Resume(view) => (
            " Go on in the session's own agent".to_owned(),
            resuming(app, view),
            0,
        ),
        Mode::Normal
        | Mode::Search { .. }
        | Mode::Filter { .. }
        | Mode::Palette(_)
        | Mode::Pipe { .. }
        | Mode::Picker
        | Mode::Wall
        | Mode::Ledger
        | Mode::OnWall { .. } => return,
    };
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
    let height = usize::from(area.height.saturating_sub(1));
    let top = top.min(lines.len().saturating_sub(height));
    buffer.set_stringn(
        area.x,
        area.y,
        &title,
        usize::from(area.width),
        app.reader.screen.theme.bar,
    );
    buffer.set_style(Rect { height: 1, ..area }, app.reader.screen.theme.bar);
    let dash = if app.reader.screen.theme.ascii {
        "-"
    } else {
        "–"
    };
    let first = (top + 1).min(lines.len());
    let place = format!(
        "{first}{dash}{} of {} ",
        (top + height).min(lines.len()),
        lines.len()
    );
    let width = u16::try_from(place.chars().count())
        .unwrap_or(0)
        .min(area.width);
    buffer.set_stringn(
        area.right() - width,
        area.y,
        &place,
        usize::from(width),
        app.reader.screen.theme.bar,
    );
    for (line, y) in lines.iter().skip(top).zip(area.y + 1..area.bottom()) {
        buffer.set_line(area.x + 1, y, line, area.width.saturating_sub(2));
    }
    let at = match &app.mode {
        Mode::Raw(view) => Some(view.at),
        Mode::Resume(view) => Some(view.at),
        _ => None,
    };
    if let Some(line) = at
        .and_then(|at| at.checked_sub(top))
        .filter(|line| *line < height)
    {
        let y = area.y + 1 + u16::try_from(line).unwrap_or(0);
        let mark = if app.reader.screen.theme.ascii {
            ">"
        } else {
            "▶"
        };
        buffer.set_stringn(area.x, y, mark, 1, app.reader.screen.theme.focus);
    }
    paint_message(
        &app.reader,
        Rect {
            y: area.bottom(),
            height: screen.height - area.height,
            ..area
        },
        buffer,
    );
}

/// A message, in the line of the hints, since the pop-up covers the status line.
fn paint_message(reader: &Reader, foot: Rect, buffer: &mut Buffer) {
    let Some(message) = reader.screen.message.as_ref().filter(|_| foot.height > 0) else {
        return;
    };
    let words = format!(" {:<width$}", message.text, width = usize::from(foot.width));
    buffer.set_stringn(
        foot.x,
        foot.y,
        words,
        usize::from(foot.width),
        reader.screen.theme.bar,
    );
}

/// The resume commands, and how to return to the entry.
fn resuming(app: &App, view: &ResumeDialog) -> Vec<Line<'static>> {
    let theme = &app.reader.screen.theme;
    let command = |choice: &ResumeCommand| {
        let does = Span::styled(format!(" {:<10}", choice.does), theme.accent);
        Line::from(vec![does, Span::styled(choice.command.clone(), theme.text)])
    };
    let mut lines: Vec<Line<'static>> = view.choices.iter().map(command).collect();
    let room = usize::from(app.reader.screen.size.0).saturating_sub(3);
    let frame = LineFrame::of(room.max(1));
    let mut say = |words: String| {
        let wrapped = wrap::wrap(&[Span::styled(words, theme.dim)], &frame).into_iter();
        lines.extend(wrapped.map(|mut line| {
            line.spans.insert(0, Span::raw(" "));
            line
        }));
    };
    say(String::new());
    if let Some(folder) = &view.folder {
        say(format!("in {}", Text::clean(folder)));
    }
    say("It begins where the session ends.".to_owned());
    if !view.back.is_empty() {
        say(format!("To begin earlier: {}.", view.back));
    }
    say(String::new());
    say("The command is on the clipboard; enter runs it, and tv is back when it ends.".to_owned());
    lines
}

/// The page of keys and signs, or the results of a search.
fn help(app: &App, wanted: &str, scene: HelpScene<'_>) -> Vec<Line<'static>> {
    let theme = &app.reader.screen.theme;
    let lines = help::lines(scene, wanted);
    let keys_of = |line: &HelpLine| match line {
        HelpLine::Found { keys, .. } => keys.width(),
        HelpLine::Heading(_) | HelpLine::Cells(_) => 0,
    };
    let width = lines
        .iter()
        .flatten()
        .map(keys_of)
        .max()
        .unwrap_or(0)
        .min(24)
        + 1;
    let columns = usize::from(app.reader.screen.size.0).saturating_sub(2);
    let share = columns / help::parts(columns);
    let spans = |line: HelpLine| match line {
        HelpLine::Heading(title) => vec![Span::styled(title, theme.heading)],
        HelpLine::Cells(cells) => {
            let cell = |cell: HelpCell| {
                let words = [
                    Span::styled(format!("{} ", cell.keys), theme.accent),
                    Span::raw(cell.words),
                ];
                let room = cell.columns.saturating_sub(1);
                let mut words = wrap::fit(&words, room, theme.glyphs().cut);
                let blank = cell.columns.saturating_sub(wrap::width_of(&words));
                words.push(Span::raw(" ".repeat(blank)));
                words
            };
            cells.into_iter().flat_map(cell).collect()
        }
        HelpLine::Found { keys, doc, action } => {
            let words = [
                Span::styled(format!("{keys:<width$} "), theme.accent),
                Span::raw(doc),
                Span::styled(format!("  {action}"), theme.dim),
            ];
            wrap::fit(&words, columns, theme.glyphs().cut)
        }
    };
    let line = |beside: Vec<HelpLine>| {
        let mut line: Vec<Span<'static>> = Vec::new();
        for (place, part) in beside.into_iter().enumerate() {
            let blank = (place * share).saturating_sub(wrap::width_of(&line));
            line.push(Span::raw(" ".repeat(blank)));
            line.extend(spans(part));
        }
        Line::from(line)
    };
    lines.into_iter().map(line).collect()
}
