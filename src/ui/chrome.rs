//! Pill, status line, typed line and hints.

use itertools::Itertools as _;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use tui_input::Input;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::analysis::expression::parse::{MOMENTS, Mistake, moment, parse, parse_for_sessions};
use crate::app::alarms::AlarmSpec;
use crate::app::hints;
use crate::app::input::action::{Action, View};
use crate::app::mode::{Mode, WallLine};
use crate::app::picker::texts::TextProgress;
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::app::text::window::percent;
use crate::app::views::page::Sheet;
use crate::model::edit::LinkState;
use crate::model::figures;
use crate::render::wrap;

/// Limit of a filter in the status line, in columns.
const FILTER_COLUMNS: usize = 32;

/// The pill under the transcript: the number of new entries below.
pub(crate) fn paint_pill(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    let words = format!(
        " {} new below {} G to follow ",
        reader.text.unseen,
        reader.screen.theme.glyphs().dot
    );
    let width = usize::from(area.width).saturating_sub(words.chars().count());
    let rule = reader.screen.theme.glyphs().line.rule;
    let line = Line::from(vec![
        Span::styled(rule.repeat(width / 2), reader.screen.theme.dim),
        Span::styled(words, reader.screen.theme.warn),
        Span::styled(rule.repeat(width - width / 2), reader.screen.theme.dim),
    ]);
    buffer.set_line(area.x, area.y, &line, area.width);
}

/// Least columns between the two sides of the status line.
const GAP: usize = 2;

/// The status line: mode, search and level at the left, position and counts at the right.
pub(crate) fn paint_status(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.reader.screen.theme;
    if let Some(typed) = typed(app) {
        return paint_typing(app, &typed, area, buffer);
    }
    let left = left_words(&app.reader);
    let is_said = app.reader.screen.message.is_some();
    let style = if is_said { theme.text } else { theme.dim };
    let cut = theme.glyphs().cut;
    let words = wrap::fit(
        &[Span::styled(left.clone(), style)],
        usize::from(area.width),
        cut,
    );
    buffer.set_line(area.x, area.y, &Line::from(words), area.width);
    let room = usize::from(area.width).saturating_sub(left.width());
    let Some(right) = right_words(&app.reader)
        .into_iter()
        .find(|words| words.width() + GAP <= room)
    else {
        return;
    };
    let width = u16::try_from(right.width())
        .unwrap_or(u16::MAX)
        .min(area.width);
    buffer.set_stringn(
        area.right() - width,
        area.y,
        &right,
        usize::from(width),
        theme.dim,
    );
}

/// The status line of a list of sessions: the typed text, a message, or the status of the list.
pub(crate) fn paint_status_of_list(app: &App, sheet: &Sheet, area: Rect, buffer: &mut Buffer) {
    let screen = &app.reader.screen;
    if let Some(typed) = typed(app) {
        return paint_typing(app, &typed, area, buffer);
    }
    let (words, style) = match &screen.message {
        Some(message) => (&message.text, screen.theme.text),
        None => (&sheet.status, screen.theme.dim),
    };
    let words = Span::styled(format!(" {words}"), style);
    let cut = screen.theme.glyphs().cut;
    let words = wrap::fit(&[words], usize::from(area.width), cut);
    buffer.set_line(area.x, area.y, &Line::from(words), area.width);
}

/// A line that is being typed.
struct TypedLine<'a> {
    /// The sign in front of it.
    sign: &'static str,
    input: &'a Input,
    /// What is wrong in it, and where.
    mistake: Option<Mistake>,
    /// The text after it.
    tail: String,
}

/// The line that is being typed; `None` in modes without one.
fn typed(app: &App) -> Option<TypedLine<'_>> {
    let search = app.reader.text.find.search.as_ref();
    let (sign, input, mistake, state) = match &app.mode {
        Mode::Search { input } => {
            let literal = app.reader.text.find.is_literal.then_some("literal");
            let hits = hits(&app.reader);
            let state = literal.into_iter().chain([hits.as_str()]).join("  ");
            (
                "/",
                input,
                search.and_then(|search| search.mistake.clone()),
                state,
            )
        }
        Mode::Filter { input } => ("&", input, mistake_in(input.value()), String::new()),
        Mode::Palette(palette) => (":", &palette.input, None, String::new()),
        Mode::Pipe { input, origins } => {
            let records = figures::count(origins.len() as u64, "record");
            ("|", input, None, records)
        }
        Mode::Picker => (">", &app.picker.input, None, fitting(app)),
        Mode::OnWall { line, input } => {
            let sign = match line {
                WallLine::Filter => "&",
                WallLine::Watch => "!",
                WallLine::Since => "since ",
            };
            (
                sign,
                input,
                mistake_on_wall(*line, input.value()),
                String::new(),
            )
        }
        Mode::Normal
        | Mode::Wall
        | Mode::Ledger
        | Mode::Help { .. }
        | Mode::Raw { .. }
        | Mode::Resume(_) => return None,
    };
    let message = app.reader.screen.message.as_ref();
    let wrong = mistake
        .as_ref()
        .map(|mistake| format!("at {}: {}", mistake.at + 1, mistake.what));
    let parts = [
        message.map(|message| message.text.clone()),
        wrong,
        Some(state),
    ];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    let words = parts.map(|part| format!("  {part}")).join("");
    let gap = if words.is_empty() { "" } else { " " };
    Some(TypedLine {
        sign,
        input,
        mistake,
        tail: words + gap,
    })
}

/// The error in a filter.
fn mistake_in(typed: &str) -> Option<Mistake> {
    if typed.trim().is_empty() {
        None
    } else {
        parse(typed).err()
    }
}

/// The error in a line typed on the wall.
fn mistake_on_wall(line: WallLine, typed: &str) -> Option<Mistake> {
    let typed = typed.trim();
    match line {
        _ if typed.is_empty() => None,
        WallLine::Filter => parse_for_sessions(typed).err(),
        WallLine::Watch => typed.parse::<AlarmSpec>().err(),
        WallLine::Since if moment(typed).is_none() => Some(Mistake {
            at: 0,
            what: format!("a time is written like {MOMENTS}"),
        }),
        WallLine::Since => None,
    }
}

/// The typed line, scrolled so that the cursor is visible, and red from an error on.
fn paint_typing(app: &App, line: &TypedLine<'_>, area: Rect, buffer: &mut Buffer) {
    let TypedLine {
        sign,
        input,
        mistake,
        ..
    } = line;
    let (room, tail) = divide(app, line, area);
    let scroll = input.visual_scroll(room);
    let mut skipped = 0;
    let typed = input.value().chars().skip_while(|c| {
        skipped += c.width().unwrap_or(0);
        skipped <= scroll
    });
    let typed: String = typed.collect();
    let theme = &app.reader.screen.theme;
    let (x, _) = buffer.set_stringn(area.x, area.y, sign, sign.len(), theme.accent);
    let start = x;
    let (x, _) = buffer.set_stringn(x, area.y, &typed, room, theme.text);
    if let Some(mistake) = mistake {
        let before: usize = input
            .value()
            .chars()
            .take(mistake.at)
            .map(|c| c.width().unwrap_or(0))
            .sum();
        let before = u16::try_from(before.saturating_sub(scroll)).unwrap_or(u16::MAX);
        let from = start.saturating_add(before).min(x);
        buffer.set_style(
            Rect {
                x: from,
                y: area.y,
                width: x - from,
                height: 1,
            },
            app.reader.screen.theme.bad,
        );
    }
    buffer.set_stringn(x, area.y, tail, usize::from(area.right() - x), theme.dim);
}

/// The columns for a typed line, and what is said of it, cut to the rest: up to a half of the
/// line is for what is typed.
fn divide(app: &App, line: &TypedLine<'_>, area: Rect) -> (usize, String) {
    let width = usize::from(area.width).saturating_sub(line.sign.len());
    let rest = width.saturating_sub(line.input.value().width() + 1);
    let cut = app.reader.screen.theme.glyphs().cut;
    let tail = wrap::fit(&[Span::raw(line.tail.clone())], rest.max(width / 2), cut);
    let tail = Line::from(tail).to_string();
    (width.saturating_sub(tail.width()).max(1), tail)
}

/// Position of the terminal's cursor in the typed line.
pub fn cursor(app: &App, area: Rect) -> Option<(u16, u16)> {
    let line = typed(app)?;
    let (room, _) = divide(app, &line, area);
    let column = line
        .input
        .visual_cursor()
        .saturating_sub(line.input.visual_scroll(room));
    let column = u16::try_from(column + line.sign.len()).unwrap_or(u16::MAX);
    Some((area.x + column.min(area.width.saturating_sub(1)), area.y))
}

fn left_words(reader: &Reader) -> String {
    let mut parts = Vec::new();
    let following = match (&reader.session.file.link, reader.text.view.follows()) {
        // A pipe that ended, or a compressed file, which is read once: neither is followed.
        (LinkState::Closed, _) => " CLOSED",
        (_, true) => " FOLLOW",
        (_, false) => " PAUSED",
    };
    parts.push(following.to_owned());
    if reader.session.file.polled.is_some() {
        parts.push("poll".to_owned());
    }
    if let Some(filter) = &reader.text.find.filter {
        parts.push(format!(
            "&{} {} hidden",
            shortened(&filter.typed, reader.screen.theme.glyphs().cut),
            filter.hidden
        ));
    }
    if let Some(message) = &reader.screen.message {
        parts.push(message.text.clone());
        return parts.join("  ");
    }
    if let Some((done, total)) = reader.session.file.progress {
        let end = if reader.session.is_part() {
            "end only, "
        } else {
            ""
        };
        parts.push(format!(
            "{end}reading {}%",
            (done * 100).checked_div(total).unwrap_or(0)
        ));
    }
    if reader.text.places.wants_beginning {
        parts.push("then to the beginning".to_owned());
    }
    if let Some(filter) = &reader.text.find.next_filter {
        parts.push(format!("filtering {}% (esc stops)", filter.percent));
    }
    if let Some(search) = &reader.text.find.search {
        parts.push(format!("/{} {}", search.typed, hits(reader)));
    }
    parts.push(format!("level {}", reader.text.level.number()));
    let turns = reader.session.transcript.turns().len();
    if turns > 0 {
        let turn = reader
            .text
            .focused_turn(&reader.session)
            .map_or(0, |turn| turn + 1);
        parts.push(format!("turn {turn} of {turns}"));
    }
    if !reader.text.shows.thinking {
        parts.push("thinking hidden".to_owned());
    }
    if reader.text.as_of.is_on {
        parts.push("as of cursor".to_owned());
    }
    parts.join("  ")
}

/// Number of sessions that match in the picker: `12 of 1234, 5 by text`, or the number of all sessions.
fn fitting(app: &App) -> String {
    let (fitting, all) = app.picker.counts();
    let own = if fitting == all {
        figures::count(all as u64, "session")
    } else {
        format!("{fitting} of {all}")
    };
    let hits = app.picker.hits;
    let texts = match app.picker.texts.progress {
        TextProgress::Idle => String::new(),
        TextProgress::Underway => format!(
            ", {hits} by text{}",
            app.reader.screen.theme.glyphs().ellipsis
        ),
        TextProgress::Done { is_all, failures } => {
            let more = if is_all { "" } else { "+" };
            let unread = if failures > 0 {
                format!(", {failures} not read")
            } else {
                String::new()
            };
            format!(", {hits}{more} by text{unread}")
        }
    };
    own + &texts
}

fn hits(reader: &Reader) -> String {
    let Some(search) = &reader.text.find.search else {
        return String::new();
    };
    let percent = format!(
        "{} {}%",
        reader.screen.theme.glyphs().ellipsis,
        search.percent
    );
    let open = if search.is_complete { "" } else { &percent };
    let count = search.total();
    let mut within = search
        .scope
        .map(|scope| format!(" in {}", scope.word()))
        .unwrap_or_default();
    if search.mistake.is_some() {
        within += " taken literally";
    }
    let focus = reader.text.view.focus;
    let transcript = &reader.session.transcript;
    let beside = focus.filter(|focus| search.is_in_other_lane(transcript, *focus));
    if let Some(focus) = beside {
        let lane = transcript.lane_at(focus.entry);
        let label = lane.and_then(|lane| transcript.lane(lane)).map_or_else(
            || "the main lane".to_owned(),
            |lane| shortened(&lane.label, reader.screen.theme.glyphs().cut),
        );
        within += &format!(" in {label}");
    }
    match focus.and_then(|focus| reader.text.find.number(focus)) {
        Some(number) => format!("{number}/{count}{within}{open}"),
        None if count == 0 && search.is_complete => format!("no hits{within}"),
        None if count == 1 => format!("1 hit{within}{open}"),
        None => format!("{count} hits{within}{open}"),
    }
}

/// A filter, shortened for the status line.
fn shortened(typed: &str, cut: &str) -> String {
    let short: String = typed.chars().take(FILTER_COLUMNS).collect();
    if short.len() < typed.len() {
        format!("{short}{cut}")
    } else {
        short
    }
}

/// The right side: `line 4812 · 96% · 0 bad · 75 records`, and shorter forms for narrow screens, the longest first.
fn right_words(reader: &Reader) -> Vec<String> {
    let tally = reader.session.transcript.tally();
    let origin = reader.text.view.focus.and_then(|focus| {
        let entry = reader.session.transcript.get(focus.entry)?;
        Some(
            entry
                .blocks
                .get(focus.block)
                .map_or(entry.origin, |block| entry.origin_of(block)),
        )
    });
    let line = origin
        .filter(|origin| origin.line > 0)
        .map(|origin| format!("line {}", origin.line));
    // The length of the session is not known until all of it is read.
    let share = (!reader.session.is_part()).then(|| format!("{}%", percent(&reader.text)));
    let (mut bad, mut records) = (None, None);
    if reader.session.file.progress.is_none() {
        let unknown = tally.loud();
        let unknown = if unknown > 0 {
            format!(", {unknown} unknown")
        } else {
            String::new()
        };
        bad = Some(format!("{} bad{unknown}", tally.faulty));
        records = Some(figures::count(tally.records(), "record"));
    }
    let dot = format!(" {} ", reader.screen.theme.glyphs().dot);
    let join = |parts: &[&Option<String>]| {
        let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
        format!("{} ", parts.join(&dot))
    };
    vec![
        join(&[&line, &share, &bad, &records]),
        join(&[&line, &share, &bad]),
        join(&[&share, &bad]),
        join(&[&share]),
    ]
}

/// The bar of views; the open view is highlighted.
pub(crate) fn paint_bar(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.reader.screen.theme;
    let open = app.reader.views.open().unwrap_or(View::Transcript);
    let counts = app.reader.checks.failures_and_errors();
    for cell in hints::bar(&app.keys.keymap, area.width, counts) {
        let (keys, name) = if cell.action == Action::View(open) {
            (theme.focus, theme.focus)
        } else {
            (theme.accent, theme.dim)
        };
        let spans = vec![
            Span::styled(format!("{} ", cell.keys), keys),
            Span::styled(cell.name, name),
        ];
        buffer.set_line(
            area.x + cell.column,
            area.y,
            &Line::from(spans),
            area.width - cell.column,
        );
    }
}

/// The hints that fit. The last one, for the help, is always shown.
pub(crate) fn paint_hints(app: &App, area: Rect, buffer: &mut Buffer) {
    let mut hints = hints::of(app);
    let width = |hints: &[(String, &str)]| {
        hints
            .iter()
            .map(|(key, doc)| key.len() + doc.len() + 3)
            .sum::<usize>()
    };
    while hints.len() > 1 && width(&hints) > usize::from(area.width) + 1 {
        hints.remove(hints.len() - 2);
    }
    let mut spans = vec![Span::raw(" ")];
    spans.extend(
        hints
            .into_iter()
            .flat_map(|(keys, doc)| hint(&app.reader, &keys, doc)),
    );
    buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
}

/// A key and its description.
pub fn hint(reader: &Reader, key: &str, doc: &str) -> [Span<'static>; 2] {
    [
        Span::styled(key.to_owned(), reader.screen.theme.accent),
        Span::styled(format!(" {doc}  "), reader.screen.theme.dim),
    ]
}
