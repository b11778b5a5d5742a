//! Calls in flight: from the place in the reading order at which a call was made to the place at which
//! its result came, in columns as of a graph of branches.
//!
//! A result stands under its call, so what is shown here is what was said or asked meanwhile. That is known
//! by the order of records, where call and result have records of their own in one file, else by times.
//! A call that was never answered is in flight until the next prompt; one that started a sub-agent is as
//! long as that works.
//!
//! Invariant: a call has the lowest column that is free when it is made, and keeps it; so what is appended
//! changes no column. An entry that comes or changes costs a page of its lane, a late result the pages
//! since its call.

use std::collections::HashSet;

use super::Place;
use crate::analysis::index::Index;
use crate::analysis::index::lanes::{Fold, Lanes, PAGE, Page};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::transcript::{Touched, Transcript};

mod sweep;

use sweep::{Active, Sweep};

/// A place in a lane: which entry of it, and the block.
pub(crate) type Spot = (usize, usize);

/// A call in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    /// The call.
    pub(crate) call: Place,
    /// Where in its lane it was made.
    pub(crate) from: Spot,
    /// The last item that began before the flight was over; `None` if it goes on beyond the page that was
    /// asked, or to the end of the lane.
    pub(crate) until: Option<Spot>,
    /// Its column, from 0 on, among the flights of its lane.
    pub(crate) column: usize,
    /// In which order those end that end at the same place.
    pub(crate) rank: i64,
    /// Whether a result came.
    pub(crate) is_answered: bool,
    /// Whether a sub-agent works in it.
    pub(crate) is_agent: bool,
}

impl Flight {
    /// Whether it is in flight where an item begins.
    pub(crate) fn covers(&self, spot: Spot) -> bool {
        self.from <= spot && self.until.is_none_or(|until| spot <= until)
    }
}

/// How calls of a lane are followed.
#[derive(Clone, Copy, Debug)]
struct InFlight;

impl Fold for InFlight {
    type Carry = Vec<Active>;
    type Kept = Vec<Flight>;

    const LOOKS_AHEAD: bool = true;

    fn judge(transcript: &Transcript, page: &Page<'_>, carry: &mut Vec<Active>) -> Vec<Flight> {
        let mut sweep = Sweep::new(transcript, std::mem::take(carry));
        let entries = |from: usize| {
            page.lane.iter().enumerate().skip(from).filter_map(|(place, id)| {
                Some((place, *id, transcript.get(*id).filter(|entry| !entry.marks.copy)?))
            })
        };
        for (place, id, entry) in entries(page.own.start).take_while(|(place, ..)| *place < page.own.end) {
            sweep.entry(place, id, entry);
        }
        carry.clone_from(&sweep.active);
        let next = entries(page.own.end).next();
        if let Some((place, _, entry)) = next {
            sweep.look_ahead(place, entry);
        }
        sweep.finish(next.is_none())
    }
}

/// The flights of all lanes.
#[derive(Clone, Debug, Default)]
pub struct Flights {
    lanes: Lanes<InFlight>,
    /// Sub-agents that went on since the last look.
    grown: HashSet<Name>,
    /// Calls that started sub-agents, when sub-agents were last seen.
    calls: HashSet<Key>,
    /// Entries whose records stand elsewhere in the file now: where its result stands ranks a call.
    moved: HashSet<EntryId>,
    has_other_lanes: bool,
}

impl Index for Flights {
    type Reads = ();

    fn add(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        // Read from the start again: sub-agents that were seen before may be gone.
        self.has_other_lanes |= place == 0;
        self.grown.extend(transcript.lane_at(id).filter(|lane| !self.grown.contains(*lane)).cloned());
        self.lanes.add(transcript, id);
    }

    fn change(&mut self, transcript: &Transcript, _place: usize, id: EntryId) -> bool {
        self.lanes.change(transcript, id)
    }

    fn note(&mut self, touched: &Touched) {
        self.has_other_lanes |= touched.lanes;
        self.moved.extend(&touched.moved);
    }

    fn settle(&mut self, transcript: &Transcript, _reads: &(), most: usize) -> bool {
        // The calls whose sub-agents went on are in flight longer.
        let grown = std::mem::take(&mut self.grown);
        let mut callers: HashSet<EntryId> =
            grown.iter().filter_map(|name| transcript.caller(transcript.lane(name)?)).collect();
        if std::mem::take(&mut self.has_other_lanes) {
            let named = transcript.lanes().iter().filter_map(|lane| lane.call.clone()).collect();
            let before = std::mem::replace(&mut self.calls, named);
            let calls = before.iter().chain(&self.calls);
            callers.extend(calls.flat_map(|call| transcript.entries_with_call(call)));
        }
        for id in callers.into_iter().chain(std::mem::take(&mut self.moved)) {
            let _ = self.lanes.change(transcript, id);
        }
        self.lanes.settle(transcript, most, &mut |_, _, _| {})
    }
}

impl Flights {
    // === questions ===

    /// Where an item stands in its lane.
    pub(crate) fn spot(&self, id: EntryId, block: usize) -> Option<Spot> {
        self.lanes.place_of(id).map(|(_, place)| (place, block))
    }

    /// Entries of the same lane behind this one.
    pub(crate) fn behind(&self, id: EntryId) -> &[EntryId] {
        let found = self.lanes.find(id);
        found.and_then(|(track, place)| track.ids().get(place + 1..)).unwrap_or_default()
    }

    /// Whether another call of its lane is in flight at the same time, as far as the page of an entry tells.
    pub(crate) fn overlaps(&self, id: EntryId, flight: &Flight) -> bool {
        let found = self.lanes.find(id);
        let page = found.and_then(|(track, place)| track.page(place / PAGE));
        let reaches = |from: Spot, until: Option<Spot>| until.is_none_or(|until| from <= until);
        page.into_iter().flatten().any(|other| {
            other.call != flight.call
                && reaches(other.from, flight.until)
                && reaches(flight.from, other.until)
        })
    }

    /// Calls of its lane that are in flight anywhere in an entry. Its own calls that are not among them have the
    /// first column, which is free there, and ends with its own rows.
    pub(crate) fn beside(&self, id: EntryId) -> impl Iterator<Item = &Flight> {
        let found = self.lanes.find(id);
        let place = found.map_or(0, |(_, place)| place);
        let page = found.and_then(|(track, place)| track.page(place / PAGE));
        page.into_iter().flatten().filter(move |flight| {
            flight.from.0 <= place && flight.until.is_none_or(|(until, _)| place <= until)
        })
    }
}

#[cfg(test)]
mod tests;
