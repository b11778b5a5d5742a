//! The time strip: the turn around the cursor, or a short session, as stretches of time on one line.
//!
//! Invariant: columns stand for time that the account tells, one stretch after the other, so that a clock
//! that was set back breaks nothing. Work depends on the columns and on the entries around the cursor.

use super::layout::Frame;
use super::reader::Reader;
use super::viewport::Focus;
use crate::analysis::account::{Class, Stretch};
use crate::analysis::activity::Activity;
use crate::analysis::calls::call_at;
use crate::model::entry::EntryId;
use crate::model::figures;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolState;

/// A session that took no longer, in ms, is shown as a whole.
const SHORT_MS: u64 = 5 * 60_000;
/// Of a long turn so many entries on each side of the cursor.
const AROUND: usize = 1_500;
/// What stands before the columns.
pub const TITLE: &str = " time ";
/// Narrower strips say nothing besides.
const LEAST: usize = 12;

/// Time that a column may stand for, in ms.
const SCALES: [u64; 24] = [
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    15_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    14_400_000,
    43_200_000,
    86_400_000,
    604_800_000,
];

/// A run of columns that one thing took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How many columns.
    pub columns: usize,
    /// What it was.
    pub class: Class,
    /// What to call it.
    pub label: String,
    /// Whether it is a call that failed.
    pub has_failed: bool,
    /// Whether it goes on.
    pub goes_on: bool,
}

/// The strip.
#[derive(Clone, Debug, Default)]
pub struct Strip {
    /// From left to right.
    pub runs: Vec<Run>,
    /// The column of the focused item.
    pub cursor: Option<usize>,
    /// What the strip shows and what a column stands for.
    pub legend: String,
    made: Option<Made>,
}

/// What the strip was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    focus: Option<Focus>,
    width: u16,
    generation: u64,
    second: i64,
}

/// A stretch on the line.
struct Part {
    ms: u64,
    class: Class,
    tool: Option<Name>,
    has_failed: bool,
    goes_on: bool,
}

impl Part {
    fn work_ms(&self) -> u64 {
        if self.class.is_work() { self.ms } else { 0 }
    }
}

impl Strip {
    /// Another transcript has taken the place of this one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

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

/// `2s`, `100ms`, `15m`: what one column stands for.
fn column(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}s", ms / 1_000),
        60_000..3_600_000 => format!("{}m", ms / 60_000),
        _ => format!("{}h", ms / 3_600_000),
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

/// Each column belongs to what took most of it; columns of one thing are a run.
fn runs(parts: &[Part], scale: u64) -> Vec<Run> {
    let mut runs: Vec<(usize, Run)> = Vec::new();
    let mut column: Vec<(usize, u64)> = Vec::new();
    let mut left = scale;
    let mut close = |column: &mut Vec<(usize, u64)>| {
        let most = column.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        column.clear();
        let Some((number, part)) = most.and_then(|(number, _)| Some((number, parts.get(number)?))) else {
            return;
        };
        match runs.last_mut() {
            Some((before, run)) if *before == number || is_same(parts.get(*before), part) => {
                run.columns += 1;
                run.goes_on |= part.goes_on;
                *before = number;
            }
            _ => runs.push((number, run_of(part))),
        }
    };
    for (number, part) in parts.iter().enumerate() {
        let mut ms = part.ms;
        while ms > 0 {
            let taken = ms.min(left);
            column.push((number, taken));
            ms -= taken;
            left -= taken;
            if left == 0 {
                close(&mut column);
                left = scale;
            }
        }
    }
    close(&mut column);
    runs.into_iter().map(|(_, run)| run).collect()
}

/// Calls stay apart; all else that follows its like is one.
fn is_same(before: Option<&Part>, part: &Part) -> bool {
    before.is_some_and(|before| before.class == part.class && before.tool.is_none() && part.tool.is_none())
}

fn run_of(part: &Part) -> Run {
    Run {
        columns: 1,
        class: part.class,
        label: part.tool.as_ref().map_or_else(|| part.class.word().to_owned(), ToString::to_string),
        has_failed: part.has_failed,
        goes_on: part.goes_on,
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, column, runs};
    use crate::analysis::account::Class;
    use crate::model::text::Text;

    fn part(ms: u64, class: Class, tool: Option<&str>) -> Part {
        Part { ms, class, tool: tool.map(Text::from), has_failed: false, goes_on: false }
    }

    fn words(parts: &[Part], scale: u64) -> Vec<String> {
        runs(parts, scale).iter().map(|run| format!("{} {}", run.label, run.columns)).collect()
    }

    #[test]
    fn columns_belong_to_what_took_most_of_them() {
        let parts = [
            part(2_000, Class::Model, None),
            part(400, Class::Model, None),
            part(900, Class::Tool, Some("read")),
            part(5_000, Class::Tool, Some("bash")),
            part(2_000, Class::Tool, Some("bash")),
            part(100, Class::Model, None),
        ];
        assert_eq!(words(&parts, 1_000), ["model 2", "read 1", "bash 5", "bash 3"]);
        assert_eq!(words(&parts, 10_000), ["bash 1", "bash 1"]);
        assert!(words(&[], 10).is_empty());
    }

    #[test]
    fn no_time_is_lost_or_added() {
        for scale in [1, 7, 100, 1_000] {
            let parts: Vec<Part> = (1..60)
                .map(|n| part(n * 13 % 97 + 1, Class::ALL[usize::try_from(n % 6).unwrap()], None))
                .collect();
            let total: u64 = parts.iter().map(|part| part.ms).sum();
            let columns: usize = runs(&parts, scale).iter().map(|run| run.columns).sum();
            assert_eq!(columns as u64, total.div_ceil(scale));
        }
    }

    #[test]
    fn scales_have_short_names() {
        assert_eq!([100, 2_000, 900_000, 7_200_000].map(column), ["100ms", "2s", "15m", "2h"]);
    }
}
