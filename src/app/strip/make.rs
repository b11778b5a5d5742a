//! The strip of the focused turn.

use super::Made;
use super::Part;
use super::SCALES;
use super::Strip;
use super::TITLE;
use super::column;
use super::runs;
use crate::analysis::account::{Class, Stretch};
use crate::analysis::activity::Activity;
use crate::analysis::calls::call_at;
use crate::app::layout::Frame;
use crate::app::reader::Reader;
use crate::model::entry::EntryId;
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolState;

/// A session that took no longer, in ms, is shown as a whole.
const SHORT_MS: u64 = 5 * 60_000;

/// Narrower strips say nothing besides.
const LEAST: usize = 12;

/// Of a long turn so many entries on each side of the cursor.
const AROUND: usize = 1_500;

/// Makes the strip, if it is in sight and anything has changed.
pub fn arrange(reader: &mut Reader, frame: &Frame) {
    if frame.strip.height == 0 {
        return;
    }
    let is_live = reader.session.is_at_work(reader.screen.now);
    let made = Made {
        focus: reader.text.view.focus,
        width: frame.strip.width,
        generation: reader.session.indexes.generation,
        second: if is_live { reader.screen.now.0 / 1_000 } else { 0 },
    };
    if reader.strip.made != Some(made) {
        let strip = make(reader, usize::from(frame.strip.width));
        reader.strip = Strip { made: Some(made), ..strip };
    }
}

fn make(reader: &Reader, width: usize) -> Strip {
    let turns = reader.session.transcript.turns();
    let all = reader.session.indexes.account.time(None).total();
    let focused = reader.text.view.focus.map(|focus| focus.entry);
    let last = turns.len().checked_sub(1);
    // What stands before the first prompt belongs to what it leads to.
    let turn = focused.map_or(last, |id| {
        Some(reader.session.indexes.account.turn_of(&reader.session.transcript, id).unwrap_or(0))
    });
    let is_whole = all <= SHORT_MS || turns.is_empty();
    let shown = turn.filter(|_| !is_whole);
    let first_of_all =
        || reader.session.transcript.order().iter().find(|id| is_of_main_lane(reader, **id)).copied();
    let first = shown.and_then(|turn| turns.get(turn)).map(|turn| turn.prompt).or_else(first_of_all);
    let Some(first) = first else {
        return Strip { legend: "no times to tell".to_owned(), ..Strip::default() };
    };
    let end = shown.and_then(|turn| turns.get(turn + 1)).map(|turn| turn.prompt);
    let holder = focused.map_or(first, |id| holder_of(reader, id));
    let stretches = reader.session.indexes.account.between(first, end, holder, AROUND);
    let mut parts: Vec<Part> = stretches.iter().map(|stretch| part(reader, stretch)).collect();
    if end.is_none() {
        parts.extend(going_on(reader, &stretches));
    }
    let total: u64 = parts.iter().map(|part| part.ms).sum();
    let what = match shown {
        Some(turn) => format!("turn {}", turn + 1),
        None => "session".to_owned(),
    };
    if total == 0 {
        return Strip { legend: format!("{what}: no times to tell"), ..Strip::default() };
    }
    let work = work_ms(reader, shown) + parts.last().filter(|part| part.goes_on).map_or(0, Part::work_ms);
    let took = match work {
        0 => figures::duration(total),
        work if work == total => figures::duration(total),
        work => format!("{} of {}", figures::duration(work), figures::duration(total)),
    };
    let legend = |scale: u64| format!("  {what} {took}  1 col = {}", column(scale));
    // The legend's own length hardly depends on the scale.
    let room = width.saturating_sub(TITLE.len() + legend(SCALES.last().copied().unwrap_or(1)).len() + 1);
    let (room, is_bare) =
        if room < LEAST { (width.saturating_sub(TITLE.len() + 1), true) } else { (room, false) };
    let scale = SCALES.into_iter().find(|scale| total.div_ceil(*scale) <= room as u64);
    let Some(scale) = scale else { return Strip { legend: what, ..Strip::default() } };
    let cursor = focused.and_then(|id| {
        let at = offset(reader, &stretches, id)?;
        usize::try_from(at.min(total - 1) / scale).ok()
    });
    Strip {
        runs: runs(&parts, scale),
        cursor,
        legend: if is_bare { String::new() } else { legend(scale) },
        made: None,
    }
}

/// What the turn, or the session, took without the time of the human, in ms.
fn work_ms(reader: &Reader, turn: Option<usize>) -> u64 {
    let account = &reader.session.indexes.account;
    match turn {
        Some(turn) => account.turn(&reader.session.transcript, turn).time.work(),
        None => account.time(None).work(),
    }
}

fn is_of_main_lane(reader: &Reader, id: EntryId) -> bool {
    reader.session.transcript.get(id).is_some_and(|entry| entry.lane.is_none())
}

/// The entry of the main lane that an item belongs to.
fn holder_of(reader: &Reader, id: EntryId) -> EntryId {
    let lane = reader.session.transcript.get(id).and_then(|entry| entry.lane.as_ref());
    let lane = lane.and_then(|name| reader.session.transcript.lane(name));
    lane.and_then(|lane| reader.session.transcript.root_caller(lane)).unwrap_or(id)
}

fn part(reader: &Reader, stretch: &Stretch) -> Part {
    let entry = reader.session.transcript.get(stretch.entry);
    let call = entry.zip(stretch.block).and_then(|(entry, block)| call_at(entry, block));
    Part {
        ms: stretch.ms(),
        class: stretch.class,
        tool: stretch.tool.clone(),
        has_failed: call.is_some_and(|call| matches!(call.state, ToolState::Failed(_))),
        goes_on: false,
    }
}

/// What the agent has been doing since the last sign.
fn going_on(reader: &Reader, stretches: &[Stretch]) -> Option<Part> {
    let last = stretches.last().filter(|_| !reader.session.ends.is_beginning())?.to;
    let (class, tool) = match &reader.session.status.activity {
        Activity::Tool { name, .. } => (Class::Tool, Some(name.clone())),
        Activity::Model { .. } => (Class::Model, None),
        Activity::Retry { .. } => (Class::Retry, None),
        Activity::Waiting { .. } if reader.session.is_at_work(reader.screen.now) => (Class::Human, None),
        _ => return None,
    };
    let ms = reader.screen.now.since(last);
    (ms > 0).then_some(Part { ms, class, tool, has_failed: false, goes_on: true })
}

/// Where an item lies on the line, in ms from its beginning.
fn offset(reader: &Reader, stretches: &[Stretch], id: EntryId) -> Option<u64> {
    let block = reader.text.view.focus.map(|focus| focus.block);
    let own = stretches.iter().position(|one| one.entry == id && one.block.is_some() && one.block == block);
    let before = |place: usize| stretches.iter().take(place).map(Stretch::ms).sum::<u64>();
    if let Some(place) = own {
        return Some(before(place));
    }
    let at: Timestamp = reader.session.transcript.get(id)?.at?;
    let place = stretches.iter().position(|one| one.from <= at && at <= one.to)?;
    Some(before(place) + at.since(stretches.get(place)?.from))
}
