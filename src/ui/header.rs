//! The header: where the reader is at the left, how the agent fares at the right.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::analysis::activity::Activity;
use crate::analysis::phrases;
use crate::app::reader::Reader;
use crate::model::edit::LinkState;
use crate::model::entry::{BlockKind, Role};
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;

/// Columns of the context bar.
const BAR: usize = 8;
/// Screens from this width on have room for the item and for more about the agent.
const WIDE: u16 = 100;
/// Columns that the left part keeps: what the agent is made of gives way to the title.
const LEFT: u16 = 48;
/// Narrower screens leave the context out, so that the title can be read.
const NARROW: u16 = 60;
/// Wider ones have room for the folder.
const VERY_WIDE: u16 = 160;
/// Columns of the folder.
const CWD: usize = 32;
/// Columns of the title, at least and at most.
const TITLE: usize = 20;
const TITLE_MOST: usize = 60;
/// For so long, in ms, nobody wonders why nothing is written; tools often write nothing until they end.
const SILENT: u64 = 60_000;
const SILENT_TOOL: u64 = 300_000;
/// Longer ago, in ms, the day is shown.
const DAY: u64 = 24 * 3_600_000;
/// Characters of a tool's name.
const ITEM_MOST: usize = 20;

/// Paints the header line. Where room is short the title gives way first, then the path to the item.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    buffer.set_style(area, reader.screen.theme.bar);
    let is_wide = area.width >= WIDE;
    let ways = [
        About { folder: area.width >= VERY_WIDE, model: is_wide, gauge: is_wide },
        About { folder: false, model: is_wide, gauge: is_wide },
        About { folder: false, model: is_wide, gauge: false },
    ];
    let least = || right(reader, area.width, About { folder: false, model: false, gauge: false });
    let rights = ways.into_iter().map(|about| right(reader, area.width, about));
    let leaves_a_title = |right: &Line<'_>| right.width() + usize::from(LEFT) <= usize::from(area.width);
    let right = rights.into_iter().find(leaves_a_title).unwrap_or_else(least);
    let right_width = u16::try_from(right.width()).unwrap_or(u16::MAX).min(area.width);
    let room = usize::from(area.width.saturating_sub(right_width + 2));
    let left = Line::from(wrap::fit(
        &[left(reader, area.width, room).into()],
        room,
        reader.screen.theme.glyphs().cut,
    ));
    buffer.set_line(area.x, area.y, &left, area.width);
    buffer.set_line(area.right() - right_width, area.y, &right, right_width);
    buffer.set_style(area, reader.screen.theme.bar);
}

/// ` tv  claude-code › fix the watcher › turn 3/14 › bash`
fn left(reader: &Reader, width: u16, room: usize) -> String {
    let meta = reader.session.transcript.meta();
    let format = reader.session.file.opened.as_ref().map_or("", |opened| opened.format);
    let agent = meta.agent.as_ref().map(|agent| format!("/{agent}")).unwrap_or_default();
    let name = meta.title().map(ToString::to_string).or_else(|| file_name(reader)).unwrap_or_default();
    let turns = reader.session.transcript.turns().len();
    let turn = (turns > 0).then(|| {
        let turn = reader.text.focused_turn(&reader.session).map_or(0, |turn| turn + 1);
        format!("turn {turn}/{turns}")
    });
    let arrow = if reader.screen.theme.ascii { " > " } else { " › " };
    let head = format!(" tv  {format}{agent}");
    let item = item(reader).filter(|_| width >= WIDE);
    let crumb = |crumb: Option<String>| crumb.map(|crumb| format!("{arrow}{crumb}")).unwrap_or_default();
    let (turn, item) = (crumb(turn), crumb(item));
    let taken = wrap::width(&head) + wrap::width(arrow);
    let ways = [format!("{turn}{item}"), turn, String::new()];
    let leaves_a_title = |behind: &&String| taken + wrap::width(behind) + TITLE <= room;
    let behind = ways.iter().find(leaves_a_title).map_or("", String::as_str);
    let left = room.saturating_sub(taken + wrap::width(behind)).min(TITLE_MOST);
    let name = wrap::fit(&[name.into()], left, reader.screen.theme.glyphs().cut);
    let name: String = name.iter().map(|span| span.content.as_ref()).collect();
    if name.is_empty() { format!("{head}{behind}") } else { format!("{head}{arrow}{name}{behind}") }
}

/// The focused item in a word: the tool, or who speaks.
fn item(reader: &Reader) -> Option<String> {
    let focus = reader.text.view.focus?;
    let entry = reader.session.transcript.get(focus.entry)?;
    let word = match &entry.blocks.get(focus.block)?.kind {
        BlockKind::Call(call) => call.name.chars().take(ITEM_MOST).collect(),
        BlockKind::Thinking(_) => "thinking".to_owned(),
        BlockKind::Result(_) => "result".to_owned(),
        BlockKind::Image(_) => "image".to_owned(),
        BlockKind::Break(_) | BlockKind::Raw(_) => "note".to_owned(),
        BlockKind::Text(_) => match entry.role {
            Role::User => "prompt".to_owned(),
            Role::Assistant => "answer".to_owned(),
            Role::System => "system".to_owned(),
            Role::Harness => "note".to_owned(),
        },
    };
    Some(word).filter(|word| !word.is_empty())
}

fn file_name(reader: &Reader) -> Option<String> {
    let path = &reader.session.file.opened.as_ref()?.path;
    Some(crate::model::text::Text::clean(&path.file_name()?.to_string_lossy()).to_string())
}

/// What is said of the agent besides its state.
#[derive(Clone, Copy)]
struct About {
    folder: bool,
    model: bool,
    gauge: bool,
}

/// `● bash 0:42  ctx 122k 61%  $1.84 `
fn right(reader: &Reader, width: u16, about: About) -> Line<'static> {
    let mut parts: Vec<String> = Vec::new();
    let meta = reader.session.transcript.meta();
    let cwd = meta.cwd.as_ref().filter(|_| about.folder);
    parts.extend(cwd.map(|cwd| wrap::fit_path(cwd, CWD, reader.screen.theme.glyphs().cut)));
    parts.extend(meta.model.as_ref().filter(|_| about.model).map(|model| short_model(model)));
    parts.extend(problem(reader));
    parts.push(state_words(reader, about.model));
    let then = reader.text.as_of.then();
    parts.extend(then.map(|then| match then.at.filter(|_| width >= NARROW) {
        Some(at) => format!("as of {}", at.clock()),
        None => "as of".to_owned(),
    }));
    let context = then.map_or(reader.session.status.context, |then| then.context);
    if let Some(context) = context.filter(|_| width >= NARROW) {
        let mut words = String::from("ctx ");
        if let Some(window) = context.window.filter(|window| *window > 0) {
            let percent = context.tokens * 100 / window;
            if about.gauge {
                words.push_str(&gauge(percent, reader.screen.theme.ascii));
                words.push_str(&format!(
                    "{}/{} {percent}%",
                    figures::tokens(context.tokens),
                    figures::tokens(window)
                ));
            } else {
                words.push_str(&format!("{} {percent}%", figures::tokens(context.tokens)));
            }
        } else {
            words.push_str(&figures::tokens(context.tokens));
        }
        parts.push(words);
    }
    parts.push(match then {
        Some(then) => phrases::cost(&then.cost).unwrap_or_default(),
        None => reader.session.status.cost.clone(),
    });
    parts.retain(|part| !part.is_empty());
    Line::from(Span::raw(format!("{} ", parts.join("  "))))
}

/// Model names without the provider and the date.
pub(crate) fn short_model(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("claude-").unwrap_or(name);
    let is_date = |part: &str| part.len() == 8 && part.bytes().all(|b| b.is_ascii_digit());
    name.split('-').filter(|part| !is_date(part)).collect::<Vec<_>>().join("-").chars().take(24).collect()
}

fn gauge(percent: u64, ascii: bool) -> String {
    let filled = usize::try_from(percent).unwrap_or(100).min(100) * BAR / 100;
    let (full, empty) = if ascii { ("#", ".") } else { ("█", "░") };
    format!("{}{} ", full.repeat(filled), empty.repeat(BAR - filled))
}

/// What is wrong just now: a loop, or silence at work that lasts.
fn problem(reader: &Reader) -> Option<String> {
    let times = reader.screen.theme.glyphs().times;
    let run =
        reader.session.current_loop().map(|run| format!("! loop {times}{} {}", run.count(), run.tool()));
    let silence = || {
        // Of work that was given up the end is shown, with its age.
        let ms =
            reader.session.silence(reader.screen.now).filter(|_| reader.session.status.activity.is_work())?;
        let bearable = if matches!(reader.session.status.activity, Activity::Tool { .. }) {
            SILENT_TOOL
        } else {
            SILENT
        };
        (ms >= bearable).then(|| format!("silent {}", figures::duration(ms / 1_000 * 1_000)))
    };
    run.or_else(silence)
}

/// What the agent does, with the time it has been doing so. Colour never says it alone.
fn state_words(reader: &Reader, is_wide: bool) -> String {
    if let Some(words) = link_words(reader) {
        return words;
    }
    let (running, waiting, ended, broken) =
        if reader.screen.theme.ascii { ("*", "?", "o", "x") } else { ("●", "◔", "○", "✗") };
    let ticking = |since: Option<Timestamp>| {
        since
            .map(|since| format!(" {}", figures::elapsed(reader.screen.now.since(since))))
            .unwrap_or_default()
    };
    match &reader.session.status.activity {
        Activity::Tool { name, since } => format!("{running} {name}{}", ticking(*since)),
        Activity::Model { since } => format!("{running} model{}", ticking(*since)),
        Activity::Retry { since, .. } => format!("{running} retry{}", ticking(*since)),
        Activity::Waiting { since, .. } => format!("{waiting} waiting{}", ticking(*since)),
        Activity::Idle { since: Some(since) } if reader.screen.now.since(*since) > DAY => {
            let since = since.spoken(reader.screen.now);
            let day = since.split_whitespace().next().unwrap_or_default();
            if is_wide { format!("{ended} idle since {since}") } else { format!("{ended} idle {day}") }
        }
        Activity::Idle { since } => format!("{ended} idle{}", ticking(*since)),
        Activity::Ended => match reader.session.transcript.meta().fact("archived") {
            Some(how) => format!("{ended} archived: {how}"),
            None => format!("{ended} ended"),
        },
        Activity::Unclean => format!("{broken} unclean end"),
        Activity::Unknown => String::new(),
    }
}

fn link_words(reader: &Reader) -> Option<String> {
    if reader.session.file.fault.is_some() {
        return Some("reading stopped".to_owned());
    }
    match &reader.session.file.link {
        LinkState::Live | LinkState::Reread(_) | LinkState::Closed => None,
        LinkState::Gone => Some("file gone".to_owned()),
        LinkState::Moved(None) => Some("file moved".to_owned()),
        LinkState::Moved(Some(name)) => Some(format!("moved to {name}")),
        LinkState::Archived(name) => Some(format!("archived as {name}")),
        LinkState::Unreadable(why) => Some(format!("unreadable: {why}")),
    }
}
