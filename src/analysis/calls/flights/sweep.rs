//! Walks along the items of a lane, and tracks the calls in flight at the start of each.

use std::collections::HashMap;

use super::{Flight, Spot};
use crate::analysis::calls::Place;
use crate::analysis::derived::{Facts, Out};
use crate::model::entry::{Entry, EntryId};
use crate::model::record::{FileId, Origin};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// Limit of parallel calls that are tracked: no gutter shows more.
const MOST: usize = 64;

/// A call in flight.
#[derive(Clone, Copy, Debug)]
struct ActiveFlight {
    flight: Flight,
    /// The last item that began meanwhile.
    last: Spot,
    /// The record of the result, if it is not that of the call.
    record: Option<(FileId, u64)>,
    /// The timestamp of the result.
    at: Option<Timestamp>,
    /// The last timestamp of its sub-agent.
    heard: Option<Timestamp>,
}

/// Facts of an item: the position and time at which it began.
#[derive(Clone, Debug, PartialEq)]
pub struct FlightItem {
    record: u64,
    /// Valid if `is_timed`.
    at: Timestamp,
    file: FileId,
    /// The last of its blocks.
    block: u32,
    /// Hash of the call's id, to find it among those of its entry.
    call: u32,
    kind: FlightKind,
    is_prompt: bool,
    is_timed: bool,
    /// Whether `at` is that of the call rather than of the entry.
    is_started: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum FlightKind {
    /// Successive blocks of one record.
    Said,
    Call,
    /// The result of the call before.
    Result,
}

impl FlightItem {
    fn at(&self) -> Option<Timestamp> {
        Some(self.at).filter(|_| self.is_timed)
    }
}

/// Adds the items of an entry; a copy of an entry has none of its own.
pub(super) fn read(transcript: &Transcript, entry: &Entry, out: &mut Out<'_, FlightItem>) {
    let item = |kind: FlightKind,
                (file, record): (FileId, u64),
                block: u32,
                at: Option<Timestamp>| FlightItem {
        record,
        at: at.unwrap_or(Timestamp(0)),
        file,
        block,
        call: 0,
        kind,
        is_prompt: entry.marks.prompt,
        is_timed: at.is_some(),
        is_started: false,
    };
    let blocks = entry.blocks.iter().zip(0..).filter(|_| !entry.marks.copy);
    for (one, block) in blocks {
        let Origin {
            file, at: record, ..
        } = entry.origin_of(one);
        let is_same = |last: &&mut FlightItem| {
            last.kind == FlightKind::Said && (last.file, last.record) == (file, record)
        };
        if let Some(call) = one.call() {
            let made = item(
                FlightKind::Call,
                (file, record),
                block,
                call.started.or(entry.at),
            );
            let key = transcript.print_of(&call.key).short();
            out.push(FlightItem {
                call: key,
                is_started: call.started.is_some(),
                ..made
            });
            if let Some(result) = call.state.result() {
                let own = (result.body.from.file, result.body.from.at);
                match &result.work {
                    None => out.push(item(FlightKind::Result, own, block, result.at)),
                    // The result's record only acknowledges the start: the end of the work is known
                    // by timestamp alone.
                    Some(_) if result.ended().is_some() => {
                        out.push(item(
                            FlightKind::Result,
                            (file, record),
                            block,
                            result.ended(),
                        ));
                    }
                    Some(_) => {}
                }
            }
        } else if let Some(said) = out.last_mut().filter(is_same) {
            said.block = block;
        } else {
            out.push(item(FlightKind::Said, (file, record), block, entry.at));
        }
    }
}

/// The last timestamps of sub-agents, by the entry of their call and the hash of its id.
pub(super) type Agents = HashMap<(EntryId, u32), Option<Timestamp>>;

/// The sub-agents of all calls; if a call has several, the last one.
pub(super) fn agents(transcript: &Transcript, facts: &Facts<FlightItem>) -> Agents {
    let mut agents = Agents::new();
    for lane in transcript.lanes() {
        let Some(call) = lane.call.as_ref().filter(|call| !call.is_empty()) else {
            continue;
        };
        let heard = lane
            .entries
            .last()
            .and_then(|last| facts.get(*last).first()?.at());
        let callers = transcript.entries_with_call(call);
        agents.extend(
            callers
                .iter()
                .map(|id| ((*id, transcript.print_of(call).short()), heard)),
        );
    }
    agents
}

pub(super) fn of_lane(facts: &Facts<FlightItem>, agents: &Agents, ids: &[EntryId]) -> Vec<Flight> {
    let mut sweep = FlightSweep {
        agents,
        active: Vec::new(),
        done: Vec::new(),
    };
    for (place, id) in ids.iter().enumerate() {
        let rows = facts.get(*id);
        for (number, item) in rows.iter().enumerate() {
            let spot = (place, item.block as usize);
            if item.kind != FlightKind::Result {
                sweep.process(spot, item);
            }
            if item.kind == FlightKind::Call {
                let result = rows
                    .get(number + 1)
                    .filter(|next| next.kind == FlightKind::Result);
                sweep.begin(spot, *id, item, result);
            }
        }
    }
    for active in std::mem::take(&mut sweep.active) {
        sweep.push(&active, active.flight.is_answered.then_some(active.last));
    }
    sweep.done.sort_by_key(|flight| flight.from);
    sweep.done
}

/// The state of the walk along a lane.
struct FlightSweep<'a> {
    agents: &'a Agents,
    /// Calls in flight, sorted by column.
    active: Vec<ActiveFlight>,
    done: Vec<Flight>,
}

impl FlightSweep<'_> {
    /// Processes the start of an item.
    fn process(&mut self, spot: Spot, item: &FlightItem) {
        let mut active = std::mem::take(&mut self.active);
        active.retain_mut(|active| {
            // Of the blocks of one entry only calls have timestamps of their own.
            let is_own = active.flight.from.0 == spot.0 && !item.is_started;
            match active.is_in_flight(item, is_own) {
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

    fn begin(&mut self, spot: Spot, id: EntryId, item: &FlightItem, result: Option<&FlightItem>) {
        if self.active.len() >= MOST {
            return;
        }
        let taken = self
            .active
            .iter()
            .zip(0..)
            .take_while(|(active, column)| active.flight.column == *column);
        let column = taken.count();
        let record = result.map(|result| (result.file, result.record));
        let record = record.filter(|record| record.0 == item.file && record.1 != item.record);
        let agent = self.agents.get(&(id, item.call)).copied();
        let at = result.and_then(FlightItem::at);
        let rank = record.map_or(at.map_or(0, |at| at.0), |record| {
            i64::try_from(record.1).unwrap_or(0)
        });
        let flight = Flight {
            call: Place {
                entry: id,
                block: spot.1,
            },
            from: spot,
            until: None,
            column,
            rank,
            is_answered: result.is_some(),
            is_agent: agent.is_some(),
        };
        self.active.insert(
            column,
            ActiveFlight {
                flight,
                last: spot,
                record,
                at,
                heard: agent.flatten(),
            },
        );
    }

    /// Adds a flight, unless it is alone in the first column and covers only its own rows.
    fn push(&mut self, active: &ActiveFlight, until: Option<Spot>) {
        let flight = Flight {
            until,
            ..active.flight
        };
        if flight.column > 0 || until != Some(flight.from) || !flight.is_answered {
            self.done.push(flight);
        }
    }
}

impl ActiveFlight {
    /// Whether it is in flight at the start of an item; `None` if the item does not determine it.
    fn is_in_flight(&self, item: &FlightItem, is_own: bool) -> Option<bool> {
        let is_before =
            |end: Option<Timestamp>| item.at().zip(end).is_some_and(|(at, end)| at < end);
        if !is_own && is_before(self.heard) {
            return Some(true);
        }
        if !self.flight.is_answered {
            return Some(!item.is_prompt);
        }
        match self.record {
            Some((file, record)) if file == item.file => Some(item.record < record),
            _ if is_own => None,
            _ => Some(is_before(self.at)),
        }
    }
}
