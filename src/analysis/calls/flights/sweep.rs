//! One item after the other along a lane: which calls are in flight where it begins.

use super::{Flight, Spot};
use crate::analysis::calls::Place;
use crate::analysis::derived::Facts;
use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::record::{FileId, Origin};
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolResult;
use crate::model::transcript::Transcript;

/// More calls at a time are not followed: no gutter shows so many.
const MOST: usize = 64;

/// A call in flight.
#[derive(Clone, Copy, Debug)]
struct Active {
    flight: Flight,
    /// The last item that began meanwhile.
    last: Spot,
    /// The record of the result, if that is another one than the call's.
    record: Option<(FileId, u64)>,
    /// When the result came.
    at: Option<Timestamp>,
    /// When its sub-agent was heard of last.
    heard: Option<Timestamp>,
}

/// The items of an entry: what says which calls were in flight where they began.
#[derive(Clone, Debug, Default)]
pub struct Items {
    at: Option<Timestamp>,
    is_prompt: bool,
    list: Box<[Item]>,
}

/// Blocks of one record that follow one another, or a call.
#[derive(Clone, Debug)]
struct Item {
    file: FileId,
    record: u64,
    /// The last of them.
    block: u32,
    call: Option<Box<Called>>,
}

/// A call as it was made.
#[derive(Clone, Debug)]
struct Called {
    key: Key,
    at: Option<Timestamp>,
    /// The record of the result, and when it came.
    result: Option<((FileId, u64), Option<Timestamp>)>,
}

impl Items {
    /// A copy of an entry has none of its own.
    pub(super) fn of(entry: &Entry) -> Self {
        let blocks = entry.blocks.iter().zip(0..).filter(|_| !entry.marks.copy);
        let mut list: Vec<Item> = Vec::new();
        for (one, block) in blocks {
            let Origin { file, at: record, .. } = entry.origin_of(one);
            let call = one.call().map(|call| {
                let came = |result: &ToolResult| ((result.body.from.file, result.body.from.at), result.at);
                let result = call.state.result().map(came);
                Box::new(Called { key: call.key.clone(), at: call.started, result })
            });
            match list.last_mut().filter(|last| last.call.is_none() && call.is_none()) {
                Some(last) if (last.file, last.record) == (file, record) => last.block = block,
                _ => list.push(Item { file, record, block, call }),
            }
        }
        Self { at: entry.at, is_prompt: entry.marks.prompt, list: list.into() }
    }
}

/// What is known of when an item began.
struct Begun {
    file: FileId,
    record: u64,
    at: Option<Timestamp>,
}

/// The flights of a lane.
pub(super) fn of_lane(transcript: &Transcript, facts: &Facts<Items>, ids: &[EntryId]) -> Vec<Flight> {
    let mut sweep = Sweep { transcript, facts, active: Vec::new(), done: Vec::new() };
    for (place, id) in ids.iter().enumerate() {
        let Some(items) = facts.get(*id) else { continue };
        for item in &items.list {
            let spot = (place, usize::try_from(item.block).unwrap_or(usize::MAX));
            sweep.pass(spot, items, item);
            if let Some(call) = &item.call {
                sweep.begin(spot, *id, call, item);
            }
        }
    }
    for active in std::mem::take(&mut sweep.active) {
        sweep.push(&active, active.flight.is_answered.then_some(active.last));
    }
    sweep.done.sort_by_key(|flight| flight.from);
    sweep.done
}

/// The way along a lane.
struct Sweep<'a> {
    transcript: &'a Transcript,
    facts: &'a Facts<Items>,
    /// Calls in flight, in the order of their columns.
    active: Vec<Active>,
    done: Vec<Flight>,
}

impl Sweep<'_> {
    /// An item begins.
    fn pass(&mut self, spot: Spot, items: &Items, item: &Item) {
        let called = item.call.as_ref().and_then(|call| call.at);
        let begun = Begun { file: item.file, record: item.record, at: called.or(items.at) };
        let mut active = std::mem::take(&mut self.active);
        active.retain_mut(|active| {
            // Of blocks of one entry only calls have times of their own.
            let is_own = active.flight.from.0 == spot.0 && called.is_none();
            match active.is_in_flight(&begun, items.is_prompt, is_own) {
                Some(true) => {
                    active.last = spot;
                    true
                }
                Some(false) => {
                    self.push(active, Some(active.last));
                    false
                }
                None => true,
            }
        });
        self.active = active;
    }

    fn begin(&mut self, spot: Spot, id: EntryId, call: &Called, item: &Item) {
        if self.active.len() >= MOST {
            return;
        }
        let taken =
            self.active.iter().zip(0..).take_while(|(active, column)| active.flight.column == *column);
        let column = taken.count();
        let record = call.result.map(|(record, _)| record);
        let record = record.filter(|record| record.0 == item.file && record.1 != item.record);
        let agent = self.transcript.lanes_of_call(&call.key).last();
        let heard = agent.and_then(|lane| self.facts.get(*lane.entries.last()?)?.at);
        let at = call.result.and_then(|(_, at)| at);
        let rank = record.map_or(at.map_or(0, |at| at.0), |record| i64::try_from(record.1).unwrap_or(0));
        let flight = Flight {
            call: Place { entry: id, block: spot.1 },
            from: spot,
            until: None,
            column,
            rank,
            is_answered: call.result.is_some(),
            is_agent: agent.is_some(),
        };
        self.active.insert(column, Active { flight, last: spot, record, at, heard });
    }

    /// Notes a flight, unless it has the first column for itself, and only its own rows.
    fn push(&mut self, active: &Active, until: Option<Spot>) {
        let flight = Flight { until, ..active.flight };
        if flight.column > 0 || until != Some(flight.from) || !flight.is_answered {
            self.done.push(flight);
        }
    }
}

impl Active {
    /// Whether it is in flight where an item begins; nothing if that item does not say.
    fn is_in_flight(&self, begun: &Begun, is_prompt: bool, is_own: bool) -> Option<bool> {
        let is_before = |end: Option<Timestamp>| begun.at.zip(end).is_some_and(|(at, end)| at < end);
        if !is_own && is_before(self.heard) {
            return Some(true);
        }
        if !self.flight.is_answered {
            return Some(!is_prompt);
        }
        match self.record {
            Some((file, record)) if file == begun.file => Some(begun.record < record),
            _ if is_own => None,
            _ => Some(is_before(self.at)),
        }
    }
}
