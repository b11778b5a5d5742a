//! The header: folder and title at the left, agent, activity, context and cost at the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::analysis::activity::Activity;
use crate::analysis::phrases;
use crate::app::reader::Reader;
use crate::listing::sessions::activity_style;
use crate::model::edit::LinkState;
use crate::model::figures;
use crate::model::found::agent_name;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;

/// Columns of the context gauge.
const BAR: usize = 4;
/// Least width of the left part; agent and model are dropped to keep it.
const LEFT: u16 = 40;
/// Least width of the screen that shows the context.
const NARROW: u16 = 60;
/// Least width of the screen that shows whom a session waits for.
const ROOMY: u16 = 72;
/// Least width of the screen with the longer phrases.
const WIDE: u16 = 100;
/// Least width of the title, and greatest width of the folder.
const TITLE: usize = 20;
const FOLDER_MOST: usize = 24;
/// Paints the header. If space is short, agent and model are dropped before the title is truncated.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    let is_wide = area.width >= WIDE;
    let ways = [
        AgentFacts {
            agent: true,
            model: true,
            date: true,
            gauge: true,
        },
        AgentFacts {
            agent: false,
            model: true,
            date: true,
            gauge: true,
        },
        AgentFacts {
            agent: false,
            model: false,
            date: true,
            gauge: true,
        },
        AgentFacts {
            agent: false,
            model: false,
            date: is_wide,
            gauge: false,
        },
        AgentFacts {
            agent: false,
            model: false,
            date: false,
            gauge: false,
        },
    ];
    let least = || {
        right(
            reader,
            area.width,
            AgentFacts {
                agent: false,
                model: false,
                date: false,
                gauge: false,
            },
        )
    };
    let rights = ways
        .into_iter()
        .map(|about| right(reader, area.width, about));
    let leaves_a_title =
        |right: &Line<'_>| right.width() + usize::from(LEFT) <= usize::from(area.width);
    let right = rights
        .into_iter()
        .find(leaves_a_title)
        .unwrap_or_else(least);
    let right_width = u16::try_from(right.width())
        .unwrap_or(u16::MAX)
        .min(area.width);
    let room = usize::from(area.width.saturating_sub(right_width + 2));
    let left = left(reader, room);
    buffer.set_line(area.x, area.y, &Line::from(left), area.width);
    buffer.set_line(area.right() - right_width, area.y, &right, right_width);
}

/// ` app › Fix the flaky watcher test`
fn left(reader: &Reader, room: usize) -> Vec<Span<'static>> {
    let theme = &reader.screen.theme;
    let meta = reader.session.transcript.meta();
    let title = meta
        .title()
        .map(ToString::to_string)
        .or_else(|| file_name(reader))
        .unwrap_or_default();
    let arrow = if theme.ascii { " > " } else { " › " };
    let folder = folder(reader).unwrap_or_default();
    let folder = format!(" {folder}");
    let front = if title.is_empty()
        || folder.trim().is_empty()
        || wrap::width(&folder) + wrap::width(arrow) + TITLE > room
    {
        String::from(" ")
    } else {
        format!("{folder}{arrow}")
    };
    let title = Span::styled(title, theme.heading);
    wrap::fit(
        &[Span::styled(front, theme.dim), title],
        room,
        theme.glyphs().cut,
    )
}

/// The name of the session's folder, or of its format; `None` for joined sessions, whose title says
/// what they are.
fn folder(reader: &Reader) -> Option<String> {
    if reader.session.transcript.is_joined() {
        return None;
    }
    let meta = reader.session.transcript.meta();
    let name = |path: &str| {
        path.rsplit(['/', '\\'])
            .find(|part| !part.is_empty())
            .map(str::to_owned)
    };
    let name = meta.cwd.as_ref().and_then(|cwd| name(cwd));
    let name = name.or_else(|| Some(reader.session.file.opened.as_ref()?.format.to_owned()))?;
    let cut = wrap::fit(
        &[name.into()],
        FOLDER_MOST,
        reader.screen.theme.glyphs().cut,
    );
    Some(cut.iter().map(|span| span.content.as_ref()).collect())
}

fn file_name(reader: &Reader) -> Option<String> {
    let path = &reader.session.file.opened.as_ref()?.path;
    Some(crate::model::text::Text::clean(&path.file_name()?.to_string_lossy()).to_string())
}

/// Facts about the agent besides its activity.
#[derive(Clone, Copy)]
struct AgentFacts {
    agent: bool,
    model: bool,
    date: bool,
    gauge: bool,
}

/// `Thu 29 Jan 2026 UTC   claude-code   opus-4-5   ○ idle 3h   ctx ▮▮▯▯ 53%   $1.84 `
fn right(reader: &Reader, width: u16, about: AgentFacts) -> Line<'static> {
    let theme = &reader.screen.theme;
    let mut parts: Vec<Span<'static>> = Vec::new();
    let mut say = |words: Option<String>, style: Style| {
        parts.extend(
            words
                .filter(|words| !words.is_empty())
                .map(|words| Span::styled(words, style)),
        );
    };
    let meta = reader.session.transcript.meta();
    let day = day(reader).filter(|_| about.date);
    say(
        day.map(|at| format!("{} {}", at.date(), at.zone())),
        theme.dim,
    );
    let format = reader
        .session
        .file
        .opened
        .as_ref()
        .map(|opened| opened.format)
        // Joined sessions may be of several agents.
        .filter(|_| about.agent && !reader.session.transcript.is_joined());
    let agent = meta.agent.as_deref();
    say(format.map(|format| agent_name(format, agent)), theme.dim);
    say(
        meta.model
            .as_ref()
            .filter(|_| about.model)
            .map(|model| phrases::model(model)),
        theme.dim,
    );
    say(problem(reader), theme.warn);
    say(Some(state_words(reader, width)), state_style(reader));
    let then = reader.text.as_of.totals();
    let as_of = then.map(|then| match then.at.filter(|_| width >= NARROW) {
        Some(at) => format!("as of {}", at.clock()),
        None => "as of".to_owned(),
    });
    say(as_of, theme.warn);
    let context = then.map_or(reader.session.status.context, |then| then.context);
    let context = context.filter(|_| width >= NARROW).map(|context| {
        match context.window.filter(|window| *window > 0) {
            Some(window) => {
                let percent = context.tokens * 100 / window;
                let gauge = if about.gauge {
                    gauge(percent, theme.ascii)
                } else {
                    String::new()
                };
                format!("ctx {gauge}{percent}%")
            }
            None => format!("ctx {}", figures::tokens(context.tokens)),
        }
    });
    say(context, theme.dim);
    let cost = match then {
        Some(then) => phrases::cost(&then.cost).unwrap_or_default(),
        None => reader.session.status.cost.clone(),
    };
    say(Some(cost), theme.dim);
    let gap = if width >= WIDE { "   " } else { "  " };
    let mut spans = Vec::with_capacity(parts.len() * 2);
    for part in parts {
        if !spans.is_empty() {
            spans.push(Span::raw(gap));
        }
        spans.push(part);
    }
    spans.push(Span::raw(" "));
    Line::from(spans)
}

/// The time of the focused entry, or of the last write.
fn day(reader: &Reader) -> Option<Timestamp> {
    let idle = match reader.session.status.activity {
        Activity::Idle { since } | Activity::Waiting { since, .. } => since,
        Activity::Tool { .. }
        | Activity::Model { .. }
        | Activity::Retry { .. }
        | Activity::Ended
        | Activity::Unclean
        | Activity::Unknown => None,
    };
    let focus = reader
        .text
        .view
        .focus
        .and_then(|focus| reader.session.transcript.get(focus.entry));
    focus.and_then(|entry| entry.at).or(idle)
}

fn gauge(percent: u64, ascii: bool) -> String {
    let filled = usize::try_from(percent).unwrap_or(100).min(100) * BAR / 100;
    let (full, empty) = if ascii { ("#", ".") } else { ("▮", "▯") };
    format!("{}{} ", full.repeat(filled), empty.repeat(BAR - filled))
}

/// The current problem: an unreadable joined session, a loop, or a long silence while the agent is
/// at work.
fn problem(reader: &Reader) -> Option<String> {
    let times = reader.screen.theme.glyphs().times;
    let loops = reader.session.current_loop();
    let run = loops.map(|run| format!("! loop {times}{} {}", run.count(), run.tool));
    let silence = || {
        let ms = reader.session.long_silence(reader.screen.now)?;
        Some(format!("silent {}", figures::duration(ms / 1_000 * 1_000)))
    };
    let lost = match &reader.session.file.link {
        LinkState::InPart(words) => Some(words.to_string()),
        _ => None,
    };
    lost.or(run).or_else(silence)
}

/// The style of the activity: coloured only if the agent works, waits or failed.
fn state_style(reader: &Reader) -> Style {
    let theme = &reader.screen.theme;
    if reader.session.file.problem().is_some() {
        return theme.warn;
    }
    activity_style(&reader.session.status.activity, theme)
}

/// The activity and its duration in words, since colour must not be the only sign.
fn state_words(reader: &Reader, width: u16) -> String {
    if let Some(words) = reader.session.file.problem() {
        return words;
    }
    let ended = if reader.screen.theme.ascii {
        "o"
    } else {
        "○"
    };
    let activity = &reader.session.status.activity;
    let archived = reader.session.transcript.meta().fact("archived");
    if let Some(how) = archived.filter(|_| *activity == Activity::Ended) {
        return format!("{ended} archived: {how}");
    }
    let (now, ascii) = (reader.screen.now, reader.screen.theme.ascii);
    match reader.session.status.in_background {
        0 => phrases::activity(activity, now, ascii),
        running => phrases::activity_with_running(activity, running, now, ascii, width >= ROOMY),
    }
}
