//! The picker: sessions one a row, and what the chosen one is about.
//!
//! ```text
//! tv  sessions                                      12 of 1234
//! ▌● title                     agent        cwd        model  age   size │ preview
//! > what is typed
//! hints
//! ```

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::chrome;
use crate::analysis::phrases;
use crate::app::picker::Row;
use crate::app::picker::actions::divide;
use crate::app::picker::texts::Progress;
use crate::app::picker::{Pane, Picker};
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::model::figures;
use crate::model::found::{Found, Preview};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::render::wrap::{self, Frame as Measure};

/// Columns of an age and of a size.
const AGE: usize = 10;
const SIZE: usize = 6;
/// What stands between columns.
const GAP: usize = 2;

/// Paints the whole screen.
pub fn paint(app: &App, frame: &mut Frame<'_>) {
    let screen = frame.area();
    let parts = divide(&app.picker, &app.reader.screen);
    let buffer = frame.buffer_mut();
    let top = u16::from(parts.header);
    if parts.header {
        paint_header(
            app,
            Rect {
                height: 1,
                ..screen
            },
            buffer,
        );
    }
    let list = Rect {
        y: screen.y + top,
        height: parts.lines,
        width: parts.columns,
        ..screen
    };
    let columns = Wrapping::of(usize::from(list.width));
    let rows = app.picker.in_sight(usize::from(list.height));
    for ((row, is_chosen), y) in rows.zip(list.y..list.bottom()) {
        buffer.set_line(
            list.x,
            y,
            &columns.row(&app.reader, row, is_chosen),
            list.width,
        );
    }
    if app.picker.counts().0 + app.picker.hits() == 0 {
        paint_nothing(app, list, buffer);
    }
    match parts.pane {
        Pane::Hidden => {}
        Pane::Beside(width) => {
            let pane = Rect {
                x: list.right(),
                width,
                ..list
            };
            for y in pane.y..pane.bottom() {
                buffer.set_stringn(
                    pane.x,
                    y,
                    app.reader.screen.theme.glyphs().line.bar,
                    1,
                    app.reader.screen.theme.dim,
                );
            }
            let inner = Rect {
                x: pane.x + 2,
                width: pane.width.saturating_sub(3),
                ..pane
            };
            paint_preview(app, inner, buffer);
        }
        Pane::Below(height) => {
            let pane = Rect {
                y: list.bottom(),
                height,
                ..screen
            };
            let rule = app
                .reader
                .screen
                .theme
                .glyphs()
                .line
                .rule
                .repeat(usize::from(pane.width));
            buffer.set_stringn(
                pane.x,
                pane.y,
                rule,
                usize::from(pane.width),
                app.reader.screen.theme.dim,
            );
            let inner = Rect {
                x: pane.x + 2,
                y: pane.y + 1,
                width: pane.width.saturating_sub(3),
                height: height.saturating_sub(1),
            };
            paint_preview(app, inner, buffer);
        }
    }
    let below = screen.bottom().saturating_sub(u16::from(parts.hints));
    if parts.hints {
        chrome::paint_hints(
            app,
            Rect {
                y: below,
                height: 1,
                ..screen
            },
            buffer,
        );
    }
    if parts.status {
        let line = Rect {
            y: below.saturating_sub(1),
            height: 1,
            ..screen
        };
        chrome::paint_status(app, line, buffer);
        if let Some((x, y)) = chrome::cursor(app, line) {
            frame.set_cursor_position((x, y));
        }
    }
}

fn paint_header(app: &App, area: Rect, buffer: &mut Buffer) {
    let picker = &app.picker;
    let right = match (&app.reader.screen.message, picker.is_complete) {
        (Some(message), _) => format!(" {} ", message.text),
        (None, true) => {
            phrases::unread(&picker.refused).map_or_else(String::new, |why| format!(" {why} "))
        }
        (None, false) => format!(" looking{} ", app.reader.screen.theme.glyphs().ellipsis),
    };
    let room = usize::from(area.width);
    buffer.set_stringn(
        area.x,
        area.y,
        " tv  sessions",
        room,
        app.reader.screen.theme.heading,
    );
    let right = wrap::fit(
        &[Span::styled(right, app.reader.screen.theme.dim)],
        room.saturating_sub(14),
        app.reader.screen.theme.glyphs().cut,
    );
    let width = u16::try_from(wrap::width_of(&right))
        .unwrap_or(0)
        .min(area.width);
    buffer.set_line(area.right() - width, area.y, &Line::from(right), width);
}

/// Why the list is empty.
fn paint_nothing(app: &App, area: Rect, buffer: &mut Buffer) {
    let picker = &app.picker;
    let (_, all) = picker.counts();
    let inner = Rect {
        x: area.x + 2.min(area.width),
        width: area.width.saturating_sub(4),
        ..area
    };
    let words = match (phrases::unread(&picker.refused), all, picker.is_complete) {
        (Some(why), 0, _) => why,
        (_, 0, true) => nowhere(picker, inner),
        (_, 0, false) => format!(
            "Looking for sessions{}",
            app.reader.screen.theme.glyphs().ellipsis
        ),
        (_, _, _) if picker.is_at_work() => String::new(),
        (_, _, _) if picker.progress() == Progress::Underway => {
            format!(
                "Looking through their texts{}",
                app.reader.screen.theme.glyphs().ellipsis
            )
        }
        (_, _, _) => format!("No session fits \"{}\".", picker.input.value()),
    };
    paint_text(
        &words,
        app.reader.screen.theme.text,
        inner.y + u16::from(area.height > 3),
        inner,
        buffer,
    );
}

/// What to do first, then as many of the places as there is room for: there are more of them with each format.
fn nowhere(picker: &Picker, area: Rect) -> String {
    const TRY: &str = "No session is there yet. To see what they look like, try: tv demo";
    let measure = Measure::of(usize::from(area.width.max(1)));
    let rows = |text: &str| -> usize {
        text.lines()
            .map(|line| {
                wrap::wrap(&[Span::raw(line.to_owned())], &measure)
                    .len()
                    .max(1)
            })
            .sum()
    };
    let words = |some: usize| {
        let more = match picker.places.len() - some {
            0 => String::new(),
            more => format!(", and {more} more that `tv formats` lists"),
        };
        format!(
            "{TRY}\n\nLooked for under {}{more}.",
            picker.places.get(..some).unwrap_or_default().join(", ")
        )
    };
    if picker.places.is_empty() {
        return format!("{TRY}\n\nLooked for nowhere: $HOME is not set.");
    }
    // The first row is left free.
    let room: usize = usize::from(area.height.saturating_sub(1));
    let some = (1..=picker.places.len())
        .rev()
        .find(|some| rows(&words(*some)) <= room);
    some.map_or_else(|| TRY.to_owned(), words)
}

/// Widths of the columns; 0 leaves one out. The title has what the others leave.
struct Wrapping {
    title: usize,
    agent: usize,
    cwd: usize,
    model: usize,
    size: usize,
    /// All of them, with the gaps between.
    all: usize,
}

impl Wrapping {
    fn of(width: usize) -> Self {
        let [agent, cwd, model, size] = match width {
            0..56 => [0, 0, 0, 0],
            56..70 => [11, 0, 0, 0],
            70..96 => [11, 16, 0, 0],
            96..120 => [11, 22, 0, SIZE],
            120..150 => [14, 26, 14, SIZE],
            _ => [18, 36, 18, SIZE],
        };
        let taken = [agent, cwd, model, size, AGE]
            .into_iter()
            .filter(|column| *column > 0);
        let taken: usize = taken.map(|column| column + GAP).sum();
        // The mark, the dot and the blank behind them; one column of air at the right.
        let all = width.saturating_sub(4);
        Self {
            title: all.saturating_sub(taken).max(1),
            agent,
            cwd,
            model,
            size,
            all,
        }
    }

    /// Of a row that shows a hit.
    fn title_of_hit(&self) -> usize {
        self.all / 3
    }

    fn row(&self, reader: &Reader, Row { found, hit }: Row<'_>, is_chosen: bool) -> Line<'static> {
        let theme = &reader.screen.theme;
        let glyphs = theme.glyphs();
        let (mark, dot) = (
            if theme.ascii { ">" } else { "▌" },
            if theme.ascii { "*" } else { "●" },
        );
        let cut = glyphs.cut;
        let style = if is_chosen { theme.focus } else { theme.text };
        let width = hit.map_or(self.title, |_| self.title_of_hit());
        let title = match &found.title {
            Some(title) => fit(title, width, cut, style),
            None => fit(
                "(no title)",
                width,
                cut,
                if is_chosen { theme.focus } else { theme.dim },
            ),
        };
        let agent = match &found.agent {
            Some(agent) => format!("{}/{agent}", found.format),
            None => found.format.to_owned(),
        };
        let cwd = wrap::fit_path(found.cwd.as_deref().unwrap_or_default(), self.cwd, cut);
        let model = found
            .model
            .as_deref()
            .map(phrases::model)
            .unwrap_or_default();
        let size = found.size.map(figures::bytes).unwrap_or_default();
        let mut spans = vec![
            Span::styled(if is_chosen { mark } else { " " }, theme.focus),
            Span::styled(if found.live == Some(true) { dot } else { " " }, theme.good),
            Span::raw(" "),
        ];
        let agent = (fit(&agent, self.agent, cut, theme.tool), self.agent);
        let age = (
            fit(
                &format!("{:>AGE$}", age(reader, found)),
                AGE,
                cut,
                theme.dim,
            ),
            AGE,
        );
        if let Some(fault) = found.fault() {
            let taken = [agent.1, age.1]
                .into_iter()
                .filter(|width| *width > 0)
                .map(|width| width + GAP);
            let room = self.all.saturating_sub(taken.sum());
            let words = format!("{fault} ({})", Text::clean(&found.path.to_string_lossy()));
            spans.extend(fit(
                &words,
                room,
                cut,
                if is_chosen { theme.focus } else { theme.bad },
            ));
            return with_facts(spans, [agent, age]);
        }
        spans.extend(title);
        if let Some(hit) = hit {
            let room = self.all.saturating_sub(self.title_of_hit() + AGE + GAP * 2);
            let styles = [theme.dim, theme.dim.patch(theme.hit.any)];
            let text = wrap::fit_match(&hit.line, hit.at.clone(), room, styles, cut);
            let rest = room - wrap::width_of(&text).min(room);
            spans.push(Span::raw(" ".repeat(GAP)));
            spans.extend(text);
            spans.push(Span::raw(" ".repeat(rest + GAP)));
            spans.extend(age.0);
            return Line::from(spans);
        }
        let facts = [
            agent,
            (fit(&cwd, self.cwd, cut, theme.dim), self.cwd),
            (fit(&model, self.model, cut, theme.dim), self.model),
            age,
            (
                fit(
                    &format!("{:>width$}", size, width = self.size),
                    self.size,
                    cut,
                    theme.dim,
                ),
                self.size,
            ),
        ];
        with_facts(spans, facts)
    }
}

/// A row with facts behind it, in columns that are not left out.
fn with_facts(
    mut spans: Vec<Span<'static>>,
    facts: impl IntoIterator<Item = (Vec<Span<'static>>, usize)>,
) -> Line<'static> {
    for (cell, _) in facts.into_iter().filter(|(_, width)| *width > 0) {
        spans.push(Span::raw(" ".repeat(GAP)));
        spans.extend(cell);
    }
    Line::from(spans)
}

/// How old a session that runs is; when one that rests was written last.
fn age(reader: &Reader, found: &Found) -> String {
    let now = reader.screen.now;
    let words = |at: Timestamp| match found.live {
        Some(true) => figures::age(now.since(at)),
        Some(false) | None => at.day_or_minute(now),
    };
    found.modified.map(words).unwrap_or_default()
}

/// A text on one line in a column of this width: its beginning, and blanks.
fn fit(text: &str, width: usize, cut: &'static str, style: Style) -> Vec<Span<'static>> {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Figures stand at the right edge of their column.
    let indent = text.chars().take_while(|c| *c == ' ').count();
    let line = format!("{}{line}", " ".repeat(indent.min(width)));
    let mut spans = wrap::fit(&[Span::styled(line, style)], width, cut);
    let rest = width.saturating_sub(wrap::width_of(&spans));
    spans.push(Span::raw(" ".repeat(rest)));
    spans
}

/// Facts, first prompt and last answer of the chosen session.
fn paint_preview(app: &App, area: Rect, buffer: &mut Buffer) {
    let Some(Row { found, hit }) = app.picker.chosen() else {
        return;
    };
    let place = found.place();
    let known = app
        .picker
        .previewed
        .as_ref()
        .filter(|known| known.place == place);
    let preview = known.and_then(|known| known.preview.as_ref());
    let theme = &app.reader.screen.theme;
    let fault = found.fault();
    let title = fault
        .as_ref()
        .or(found.title.as_ref())
        .map_or("(no title)", Text::as_str);
    let head = Rect {
        height: area.height.min(2),
        ..area
    };
    let mut y = paint_text(title, theme.heading, area.y, head, buffer);
    for line in facts(&app.reader, found, preview)
        .into_iter()
        .take(usize::from(area.bottom() - y))
    {
        let line = wrap::fit(
            &[Span::styled(line, theme.dim)],
            usize::from(area.width),
            theme.glyphs().cut,
        );
        buffer.set_line(area.x, y, &Line::from(line), area.width);
        y += 1;
    }
    if let Some(hit) = hit.filter(|_| y + 2 < area.bottom()) {
        buffer.set_stringn(
            area.x,
            y + 1,
            "has it in this line",
            usize::from(area.width),
            theme.hit.any,
        );
        let third = Rect {
            height: (y + 2 - area.y) + (area.bottom() - y) / 3,
            ..area
        };
        y = paint_text(&hit.line, theme.text, y + 2, third, buffer);
    }
    let Some(Preview { prompt, answer, .. }) = preview else {
        return;
    };
    // Where both are long, each has its half.
    let half = y + (area.bottom() - y) / 2;
    let prompt_end = if answer.is_some() {
        half
    } else {
        area.bottom()
    };
    let parts = [
        ("first prompt", prompt, theme.voice.user, prompt_end),
        ("last answer", answer, theme.voice.assistant, area.bottom()),
    ];
    for (name, text, style, end) in parts {
        let Some(text) = text.as_ref().filter(|_| y + 2 < end) else {
            continue;
        };
        buffer.set_stringn(area.x, y + 1, name, usize::from(area.width), style);
        y = paint_text(
            text,
            theme.text,
            y + 2,
            Rect {
                height: end - area.y,
                ..area
            },
            buffer,
        );
    }
}

/// `claude-code · opus-4-6 · 12 KB · 3d ago`, where, and its id.
fn facts(reader: &Reader, found: &Found, preview: Option<&Preview>) -> Vec<String> {
    let dot = format!(" {} ", reader.screen.theme.glyphs().dot);
    let age = found.modified.map(|at| match found.live {
        Some(true) => format!("written {}", figures::ago(reader.screen.now.since(at))),
        Some(false) | None => format!("{} {} {}", at.date(), at.minute(), at.zone()),
    });
    let counts = preview.and_then(|preview| preview.counts);
    let counts = counts.map(|(prompts, calls)| {
        format!(
            "{}, {}",
            figures::count(prompts, "prompt"),
            figures::count(calls, "call")
        )
    });
    let what = [
        Some(found.format.to_owned()),
        found.agent.as_ref().map(ToString::to_string),
        found.model.as_deref().map(phrases::model),
        counts,
        found.size.map(figures::bytes),
        age,
        (found.live == Some(true)).then(|| "running".to_owned()),
    ];
    let what: Vec<String> = what.into_iter().flatten().collect();
    let cwd = found.cwd.as_ref().map(ToString::to_string);
    [Some(what.join(&dot)), cwd, Some(found.id.to_string())]
        .into_iter()
        .flatten()
        .collect()
}

/// Paints wrapped text from line `y` on within an area. Answers which line comes next.
fn paint_text(text: &str, style: Style, mut y: u16, area: Rect, buffer: &mut Buffer) -> u16 {
    let measure = Measure::of(usize::from(area.width.max(1)));
    for line in text.lines() {
        if y >= area.bottom() {
            return y;
        }
        let line = line.replace('\t', "    ");
        let head = wrap::head(
            &line,
            usize::from(area.width) * usize::from(area.height) * 4,
        );
        for row in wrap::wrap(&[Span::styled(head.to_owned(), style)], &measure) {
            if y >= area.bottom() {
                return y;
            }
            buffer.set_line(area.x, y, &row, area.width);
            y += 1;
        }
    }
    y
}
