//! Pill, status line, typed line and hints.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use tui_input::Input;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::analysis::expression::parse::{MOMENTS, Mistake, moment, parse, parse_for_sessions};
use crate::analysis::ledger::By;
use crate::app::alarms::AlarmSpec;
use crate::app::input::action::View;
use crate::app::input::action::{Action, LandmarkKind, PaneChange, Way};
use crate::app::mode::{Mode, WallLine};
use crate::app::panes::Pane;
use crate::app::picker::texts::Progress;
use crate::app::pop_ups::help::ON_WALL;
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::app::text::window::percent;
use crate::app::views::page::Sheet;
use crate::model::edit::LinkState;
use crate::model::figures;
use crate::render::wrap;

/// Characters of a filter in the status line.
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

/// The status line: mode, search and level at the left, position and counts at the right.
pub(crate) fn paint_status(app: &App, area: Rect, buffer: &mut Buffer) {
    let theme = &app.reader.screen.theme;
    if let Some((sign, input, tail)) = typed(app) {
        return paint_typing(app, (sign, input, &tail), area, buffer);
    }
    let left = left_words(&app.reader);
    let is_said = app.reader.screen.message.is_some();
    let style = if is_said { theme.text } else { theme.dim };
    buffer.set_stringn(area.x, area.y, &left, usize::from(area.width), style);
    let room = usize::from(area.width).saturating_sub(left.width());
    let Some(right) = right_words(&app.reader)
        .into_iter()
        .find(|words| words.width() < room)
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

/// The status line of a list of sessions: what is typed, else a message, else what the list says of itself.
pub(crate) fn paint_status_of_list(app: &App, sheet: &Sheet, area: Rect, buffer: &mut Buffer) {
    let screen = &app.reader.screen;
    if let Some((sign, input, tail)) = typed(app) {
        return paint_typing(app, (sign, input, &tail), area, buffer);
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

/// The line that is being typed, with its prefix and the words after it.
fn typed(app: &App) -> Option<(&'static str, &Input, String)> {
    let (sign, input, tail) = line(app)?;
    let tail = match &app.reader.screen.message {
        Some(message) => format!("  {} {tail}", message.text),
        None => tail,
    };
    Some((sign, input, tail))
}

fn line(app: &App) -> Option<(&'static str, &Input, String)> {
    match &app.mode {
        Mode::Search { input } => {
            let literal = if app.reader.text.find.is_literal {
                "  literal"
            } else {
                ""
            };
            let mistake = app
                .reader
                .text
                .find
                .search
                .as_ref()
                .and_then(|search| search.mistake.as_ref());
            let mistake = mistake.map(|wrong| format!("  at {}: {}", wrong.at + 1, wrong.what));
            Some((
                "/",
                input,
                format!(
                    "{literal}{}  {} ",
                    mistake.unwrap_or_default(),
                    hits(&app.reader)
                ),
            ))
        }
        Mode::Filter { input } => {
            let mistake = mistake_in(input.value());
            Some((
                "&",
                input,
                mistake.map_or_else(String::new, |wrong| {
                    format!("  at {}: {} ", wrong.at + 1, wrong.what)
                }),
            ))
        }
        Mode::Palette(palette) => Some((":", &palette.input, String::new())),
        Mode::Pipe { input, origins } => {
            let records = figures::count(origins.len() as u64, "record");
            Some(("|", input, format!("  {records} ")))
        }
        Mode::Picker => Some((">", &app.picker.input, format!("  {} ", fitting(app)))),
        Mode::OnWall { line, input } => {
            let mistake = mistake_on_wall(*line, input.value());
            let sign = match line {
                WallLine::Filter => "&",
                WallLine::Watch => "!",
                WallLine::Command => ":",
                WallLine::Since => "since ",
            };
            Some((
                sign,
                input,
                mistake.map_or_else(String::new, |wrong| {
                    format!("  at {}: {} ", wrong.at + 1, wrong.what)
                }),
            ))
        }
        Mode::Normal
        | Mode::Wall
        | Mode::Ledger
        | Mode::Help { .. }
        | Mode::Raw { .. }
        | Mode::Resume(_) => None,
    }
}

/// The mistake in a filter.
fn mistake_in(typed: &str) -> Option<Mistake> {
    if typed.trim().is_empty() {
        None
    } else {
        parse(typed).err()
    }
}

/// The mistake in a line typed on the wall.
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
        WallLine::Command | WallLine::Since => None,
    }
}

/// The typed line, scrolled so that the cursor is in sight, and red from a mistake on.
fn paint_typing(
    app: &App,
    (sign, input, tail): (&str, &Input, &str),
    area: Rect,
    buffer: &mut Buffer,
) {
    let room = usize::from(area.width)
        .saturating_sub(tail.width() + sign.len())
        .max(1);
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
    let mistake = match app.mode {
        Mode::Filter { .. } => mistake_in(input.value()),
        Mode::OnWall { line, .. } => mistake_on_wall(line, input.value()),
        Mode::Search { .. } => app
            .reader
            .text
            .find
            .search
            .as_ref()
            .and_then(|search| search.mistake.clone()),
        _ => None,
    };
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

/// Position of the terminal's cursor in the typed line.
pub fn cursor(app: &App, area: Rect) -> Option<(u16, u16)> {
    let (sign, input, tail) = typed(app)?;
    let room = usize::from(area.width)
        .saturating_sub(tail.width() + sign.len())
        .max(1);
    let column = input
        .visual_cursor()
        .saturating_sub(input.visual_scroll(room));
    let column = u16::try_from(column + sign.len()).unwrap_or(u16::MAX);
    Some((area.x + column.min(area.width.saturating_sub(1)), area.y))
}

fn left_words(reader: &Reader) -> String {
    let mut parts = Vec::new();
    let following = match (&reader.session.file.link, reader.text.view.follows()) {
        // A pipe that ended, or a compressed file, which is read once: nothing is followed.
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

/// How many sessions match in the picker: `12 of 1234, 5 by text`, or how many there are.
fn fitting(app: &App) -> String {
    let (fitting, all) = app.picker.counts();
    let own = if fitting == all {
        figures::count(all as u64, "session")
    } else {
        format!("{fitting} of {all}")
    };
    let hits = app.picker.hits();
    let texts = match app.picker.progress() {
        Progress::Idle => String::new(),
        Progress::Underway => format!(
            ", {hits} by text{}",
            app.reader.screen.theme.glyphs().ellipsis
        ),
        Progress::Done { is_all, failures } => {
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
    let beside = focus.filter(|focus| search.is_beside(transcript, *focus));
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
    // The length of the session is not known yet.
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

/// The hints that fit. The last one, for the help, is always shown.
pub(crate) fn paint_hints(app: &App, area: Rect, buffer: &mut Buffer) {
    let mut hints = general(app);
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

/// A key and what it does.
pub fn hint(reader: &Reader, key: &str, doc: &str) -> [Span<'static>; 2] {
    [
        Span::styled(key.to_owned(), reader.screen.theme.accent),
        Span::styled(format!(" {doc}  "), reader.screen.theme.dim),
    ]
}

/// Hints of the current mode, with the user's keys.
fn general(app: &App) -> Vec<(String, &'static str)> {
    let fixed = |keys: &[(&str, &'static str)]| {
        keys.iter()
            .map(|(keys, doc)| ((*keys).to_owned(), *doc))
            .collect::<Vec<_>>()
    };
    match &app.mode {
        Mode::Search { .. } => fixed(TYPING_SEARCH),
        Mode::Filter { .. } => fixed(TYPING_FILTER),
        Mode::Pipe { .. } => fixed(TYPING_COMMAND),
        Mode::Palette(_) => fixed(CHOOSING),
        Mode::Picker => {
            let escape = match (app.picker.input.value().is_empty(), has_session_below(app)) {
                (false, _) => "clear",
                (true, true) => "back",
                (true, false) => "quit",
            };
            fixed(&[
                ("type", "title or text"),
                ("enter", "open"),
                ("F3", "wall"),
                ("F4", "usage"),
                ("space", "mark several"),
                ("up/down", "choose"),
                ("tab", "preview"),
                ("F1", "keys"),
                ("esc", escape),
            ])
        }
        Mode::Wall => on_wall(app),
        Mode::Ledger => in_ledger(app),
        Mode::OnWall {
            line: WallLine::Filter,
            ..
        } => fixed(TYPING_WHICH),
        Mode::OnWall {
            line: WallLine::Watch,
            ..
        } => fixed(TYPING_ALARM),
        Mode::OnWall {
            line: WallLine::Command,
            ..
        } => fixed(TYPING_FOR_ALL),
        Mode::OnWall {
            line: WallLine::Since,
            ..
        } => fixed(TYPING_SINCE),
        Mode::Help {
            is_typing: true, ..
        } => fixed(&[("enter", "keep"), ("esc", "clear")]),
        Mode::Help { .. } => fixed(&[
            ("j/k", "scroll"),
            ("space/b", "page"),
            ("/", "find a key"),
            ("q", "close"),
        ]),
        Mode::Raw(view) if view.is_list => {
            let copies = if view.page.is_some() {
                "copy the page"
            } else {
                "copy the list"
            };
            fixed(&[
                ("j/k", "move"),
                ("space/b", "page"),
                ("y", copies),
                ("q", "close"),
            ])
        }
        Mode::Raw(_) => fixed(RECORD),
        Mode::Resume(_) => fixed(&[
            ("enter", "run it"),
            ("y", "copy"),
            ("j/k", "choose"),
            ("q", "close"),
        ]),
        Mode::Normal if app.reader.focused() == Pane::Inspector => fixed(INSPECTOR),
        Mode::Normal if app.reader.text.view.selection.is_some() => fixed(SELECTING),
        Mode::Normal => of_pane(app),
    }
}

/// Hints of the pane that has the keys.
fn of_pane(app: &App) -> Vec<(String, &'static str)> {
    let actions = match app.reader.focused() {
        Pane::Outline => OUTLINE,
        Pane::View => &[PAGE, app.reader.views.hints(), AFTER_PAGE].concat(),
        Pane::Transcript | Pane::Inspector if app.reader.text.find.search.is_some() => SEARCHING,
        Pane::Transcript | Pane::Inspector => READING,
    };
    bound(app, actions)
}

/// Whether leaving a list leads to a session.
fn has_session_below(app: &App) -> bool {
    !app.below.is_empty()
}

/// Hints of the wall that are shown.
const HINTS_ON_WALL: usize = 8;

/// Hints on the wall. Where `q` leads depends on whether a session is open.
fn on_wall(app: &App) -> Vec<(String, &'static str)> {
    let back = if has_session_below(app) {
        "back"
    } else {
        "quit"
    };
    let first = ON_WALL.get(..HINTS_ON_WALL).unwrap_or(ON_WALL);
    bound(
        app,
        &[
            first,
            &[(&[Action::Quit], back), (&[Action::Help], "all keys")],
        ]
        .concat(),
    )
}

fn in_ledger(app: &App) -> Vec<(String, &'static str)> {
    let enter = if app.ledger.question.by == By::Session {
        "open"
    } else {
        "its sessions"
    };
    let mut hints = bound(
        app,
        &[
            (&[Action::Next, Action::Previous], "choose"),
            (&[Action::Unfold], enter),
        ],
    );
    hints.push(("1-7".to_owned(), "by what"));
    hints.extend(bound(
        app,
        &[
            (
                &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
                "time",
            ),
            (&[Action::Filter], "since"),
            (&[Action::SameId(Way::Next)], "sort"),
            (&[Action::Quit], "back"),
            (&[Action::Help], "all keys"),
        ],
    ));
    hints
}

/// The user's keys of actions.
fn bound(app: &App, actions: &[(&'static [Action], &'static str)]) -> Vec<(String, &'static str)> {
    let keys = |actions: &[Action]| {
        let keys = actions
            .iter()
            .filter_map(|action| app.keys.keymap.keys_of(*action).next());
        keys.map(|keys| keys.replace(' ', ""))
            .collect::<Vec<_>>()
            .join("/")
    };
    let all = actions.iter().map(|(actions, doc)| (keys(actions), *doc));
    all.filter(|(keys, _)| !keys.is_empty()).collect()
}

/// Keys that cannot be bound, and what they do.
type Hints = &'static [(&'static str, &'static str)];

/// While a search is typed.
const TYPING_SEARCH: Hints = &[
    ("enter", "keep"),
    ("esc", "give up"),
    ("ctrl-r", "literal"),
    ("up/down", "earlier ones"),
    (
        "u: t: e: b: k: s:",
        "prompts, tools, errors, answers, thinking, notes",
    ),
    ("ctrl-u", "clear"),
];

/// While a time is typed in the ledger.
const TYPING_SINCE: Hints = &[
    ("enter", "count from then on; nothing counts all"),
    ("esc", "give up"),
    ("today monday 7d 1w 2026-11", ""),
];

/// While a filter is typed.
const TYPING_FILTER: Hints = &[
    ("enter", "filter; nothing shows all"),
    ("esc", "give up"),
    ("up/down", "earlier ones"),
    (
        "err tool:X dur>10s cost>.1 since:10m role:user \"text\" /re/ -x or",
        "",
    ),
    ("ctrl-u", "clear"),
];

/// While a filter of the wall is typed.
const TYPING_WHICH: Hints = &[
    ("enter", "filter; nothing shows all"),
    ("esc", "give up"),
    (
        "waiting tool err loop agent:X project:X model:X cost>1 ctx>80% since:10m \"text\" /re/ -x or",
        "",
    ),
    ("ctrl-u", "clear"),
];

/// While an alarm for all sessions is typed.
const TYPING_ALARM: Hints = &[
    ("enter", "watch; nothing ends it"),
    ("esc", "give up"),
    (
        "waiting or err or silent>5m or loop or cost>5 | command",
        "",
    ),
    ("ctrl-u", "clear"),
];

/// While a command is typed on the wall.
const TYPING_FOR_ALL: Hints = &[
    ("enter", "do it"),
    ("esc", "give up"),
    (
        "usage, sessions, filter EXPR, watch EXPR, set NAME=VALUE, quit",
        "",
    ),
    ("ctrl-u", "clear"),
];

/// While a shell command for records is typed.
const TYPING_COMMAND: Hints = &[
    ("enter", "run"),
    ("esc", "give up"),
    ("up/down", "earlier ones"),
    ("ctrl-u", "clear"),
];

/// In the palette of commands.
const CHOOSING: Hints = &[
    ("enter", "do it"),
    ("tab", "complete"),
    ("up/down", "choose"),
    ("esc", "give up"),
];

/// In the raw pop-up.
const RECORD: Hints = &[
    ("j/k", "move"),
    ("space/b", "page"),
    ("yy", "copy the record"),
    ("yq", "copy the jq path"),
    ("q", "close"),
];

/// In the inspector.
const INSPECTOR: Hints = &[
    ("j/k", "row"),
    ("1-6", "tab"),
    ("enter", "go to what the row names"),
    ("yy", "copy"),
    ("tab", "next pane"),
    ("esc", "back to the text"),
    ("?", "all keys"),
];

/// While rows are selected.
const SELECTING: Hints = &[
    ("j/k { } G", "extend"),
    ("y", "copy"),
    ("|", "pipe"),
    ("o", "other end"),
    ("esc", "leave"),
];

/// Hints in the transcript.
const READING: &[(&[Action], &str)] = &[
    (&[Action::Next, Action::Previous], "move"),
    (
        &[
            Action::Seek(LandmarkKind::Prompt, Way::Previous),
            Action::Seek(LandmarkKind::Prompt, Way::Next),
        ],
        "prompt",
    ),
    (&[Action::Seek(LandmarkKind::Error, Way::Next)], "error"),
    (&[Action::Unfold], "open"),
    (&[Action::LevelUp, Action::LevelDown], "detail"),
    (&[Action::Search], "search"),
    (&[Action::Raw], "raw"),
    (&[Action::Panes(PaneChange::Inspector)], "inspect"),
    (&[Action::Panes(PaneChange::Focus(Way::Next))], "panes"),
    (&[Action::ToggleFollow], "follow"),
    (&[Action::Palette], "commands"),
    (&[Action::Help], "all keys"),
];

/// Hints in the outline.
const OUTLINE: &[(&[Action], &str)] = &[
    (&[Action::Next, Action::Previous], "move"),
    (
        &[
            Action::Seek(LandmarkKind::Prompt, Way::Previous),
            Action::Seek(LandmarkKind::Prompt, Way::Next),
        ],
        "section",
    ),
    (&[Action::Unfold], "go there"),
    (&[Action::Cancel], "back"),
    (&[Action::Panes(PaneChange::Focus(Way::Next))], "next pane"),
    (
        &[
            Action::Panes(PaneChange::DividerLeft),
            Action::Panes(PaneChange::DividerRight),
        ],
        "width",
    ),
    (&[Action::Panes(PaneChange::Outline)], "hide"),
    (&[Action::Help], "all keys"),
];

/// Hints in views.
const PAGE: &[(&[Action], &str)] = &[
    (&[Action::Next, Action::Previous], "choose"),
    (&[Action::Unfold], "go there"),
];

/// Hints in all views.
const AFTER_PAGE: &[(&[Action], &str)] = &[
    (&[Action::Panes(PaneChange::Inspector)], "inspect"),
    (&[Action::View(View::Transcript)], "text"),
    (&[Action::Quit], "back"),
    (&[Action::Help], "all keys"),
];

/// Hints while a search is set.
const SEARCHING: &[(&[Action], &str)] = &[
    (&[Action::NextHit, Action::PreviousHit], "hit"),
    (&[Action::Cancel], "end search"),
    (&[Action::Next, Action::Previous], "move"),
    (&[Action::Unfold], "open"),
    (&[Action::Bottom], "follow"),
    (&[Action::Help], "all keys"),
];
