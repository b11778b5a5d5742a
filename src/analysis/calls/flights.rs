//! Calls in flight: each spans the items from its request to its result in the reading order, and
//! has a column as in a graph of branches.
//!
//! A result is shown under its call, so the items in between happened meanwhile. That is determined
//! by the order of records, where call and result have records of their own in one file, otherwise
//! by timestamps. A call without a result is in flight until the next prompt; one that started a
//! sub-agent as long as that works, and one with work that continues after its result until the
//! work has ended.
//!
//! Invariant: a call gets the lowest free column at its start, and keeps it; so appended entries
//! change no column.

use super::Place;
use crate::analysis::derived::lanes::LaneEntries;
use crate::analysis::derived::{Derived, Facts, Out};
use crate::model::entry::{Entry, EntryId};
use crate::model::transcript::Transcript;

mod sweep;

use sweep::FlightItem;

/// Entries per page of the index by entry.
const PAGE: usize = 64;

/// Position in a lane: the index of the entry, and of the block.
pub(crate) type Spot = (usize, usize);

/// A call in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    pub(crate) call: Place,
    /// Position of the call in its lane.
    pub(crate) from: Spot,
    /// The last item that began before the flight ended; `None` if it extends to the end of the
    /// lane.
    pub(crate) until: Option<Spot>,
    /// Its column among the flights of its lane, from 0.
    pub(crate) column: usize,
    /// Order of flights that end at the same position.
    pub(crate) rank: i64,
    /// Whether it has a result.
    pub(crate) is_answered: bool,
    /// Whether it started a sub-agent.
    pub(crate) is_agent: bool,
}

impl Flight {
    /// Whether it is in flight at the start of an item.
    pub(crate) fn covers(&self, spot: Spot) -> bool {
        self.from <= spot && self.until.is_none_or(|until| spot <= until)
    }
}

/// The flights of all lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flights {
    lanes: LaneEntries,
    /// By lane number.
    of_lane: Vec<OfLane>,
}

/// The flights of a lane.
#[derive(Clone, Debug, Default, PartialEq)]
struct OfLane {
    flights: Vec<Flight>,
    /// Indexes of the flights that overlap each page.
    in_pages: Vec<Vec<usize>>,
}

impl OfLane {
    fn of(flights: Vec<Flight>, entries: usize) -> Self {
        let mut in_pages = vec![Vec::new(); entries.div_ceil(PAGE)];
        for (number, flight) in flights.iter().enumerate() {
            let until = flight.until.map_or(entries, |(place, _)| place + 1);
            let pages = in_pages.get_mut(flight.from.0 / PAGE..until.div_ceil(PAGE));
            pages
                .into_iter()
                .flatten()
                .for_each(|page| page.push(number));
        }
        Self { flights, in_pages }
    }
}

impl Derived for Flights {
    type Row = FlightItem;
    type Reads = ();

    fn rows(
        transcript: &Transcript,
        (_, entry): (EntryId, &Entry),
        _before: &[FlightItem],
        out: &mut Out<'_, FlightItem>,
    ) {
        sweep::read(transcript, entry, out);
    }

    fn of(transcript: &Transcript, facts: &Facts<FlightItem>, _reads: &()) -> Self {
        let lanes = LaneEntries::of(transcript, facts.in_order(transcript).map(|(_, id, _)| id));
        let agents = sweep::agents(transcript, facts);
        let of_lane = lanes
            .iter()
            .map(|ids| OfLane::of(sweep::of_lane(facts, &agents, ids), ids.len()));
        Self {
            of_lane: of_lane.collect(),
            lanes,
        }
    }
}

impl Flights {
    // === queries ===

    /// Position of an item in its lane.
    pub(crate) fn position(&self, id: EntryId, block: usize) -> Option<Spot> {
        self.lanes.place_of(id).map(|(_, place)| (place, block))
    }

    /// The following entries of the same lane.
    pub(crate) fn following(&self, id: EntryId) -> &[EntryId] {
        self.lanes.following(id)
    }

    /// Flights that overlap the page of an entry.
    fn in_page_of(&self, id: EntryId) -> impl Iterator<Item = &Flight> {
        let found = self.lanes.place_of(id);
        let lane = found.and_then(|(number, place)| Some((self.of_lane.get(number)?, place)));
        lane.into_iter().flat_map(|(lane, place)| {
            let numbers = lane.in_pages.get(place / PAGE).into_iter().flatten();
            numbers.filter_map(|number| lane.flights.get(*number))
        })
    }

    /// Whether another call of its lane is in flight at the same time, among those around an entry.
    pub(crate) fn overlaps(&self, id: EntryId, flight: &Flight) -> bool {
        let reaches = |from: Spot, until: Option<Spot>| until.is_none_or(|until| from <= until);
        self.in_page_of(id).any(|other| {
            other.call != flight.call
                && reaches(other.from, flight.until)
                && reaches(flight.from, other.until)
        })
    }

    /// Flights that overlap an entry. Its own calls that are not among them have the first column,
    /// which is free there, and end with their own rows.
    pub(crate) fn overlapping(&self, id: EntryId) -> impl Iterator<Item = &Flight> {
        let place = self.lanes.place_of(id).map_or(0, |(_, place)| place);
        self.in_page_of(id).filter(move |flight| {
            flight.from.0 <= place && flight.until.is_none_or(|(until, _)| place <= until)
        })
    }
}

#[cfg(test)]
mod tests;
