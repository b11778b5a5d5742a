//! Calls in flight: from the place in the reading order at which a call was made to the place at which
//! its result came, in columns as of a graph of branches.
//!
//! A result stands under its call, so what is shown here is what was said or asked meanwhile. That is known
//! by the order of records, where call and result have records of their own in one file, else by times.
//! A call that was never answered is in flight until the next prompt; one that started a sub-agent is as
//! long as that works, and one whose work goes on after its result until that has ended.
//!
//! Invariant: a call has the lowest column that is free when it is made, and keeps it; so what is appended
//! changes no column.

use super::Place;
use crate::analysis::derived::lanes::Lanes;
use crate::analysis::derived::{Derived, Facts, Out};
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;

mod sweep;

use sweep::Item;

/// Flights are found by so many entries together, for a look at one entry.
const PAGE: usize = 64;

/// A place in a lane: which entry of it, and the block.
pub(crate) type Spot = (usize, usize);

/// A call in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flight {
    /// The call.
    pub(crate) call: Place,
    /// Where in its lane it was made.
    pub(crate) from: Spot,
    /// The last item that began before the flight was over; `None` if it goes on to the end of the lane.
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

/// The flights of all lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flights {
    lanes: Lanes,
    /// By the number of the lane.
    of_lane: Vec<OfLane>,
}

/// The flights of a lane.
#[derive(Clone, Debug, Default, PartialEq)]
struct OfLane {
    flights: Vec<Flight>,
    /// Which of them there are in so many entries each.
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
    type Row = Item;
    type Reads = ();

    fn rows(transcript: &Transcript, id: EntryId, _before: &[Item], out: &mut Out<'_, Item>) {
        if let Some(entry) = transcript.get(id) {
            sweep::read(transcript, entry, out);
        }
    }

    fn of(transcript: &Transcript, facts: &Facts<Item>, _reads: &()) -> Self {
        let lanes = Lanes::of(transcript, facts.in_order(transcript).map(|(_, id, _)| id));
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
    // === questions ===

    /// Where an item stands in its lane.
    pub(crate) fn spot(&self, id: EntryId, block: usize) -> Option<Spot> {
        self.lanes.place_of(id).map(|(_, place)| (place, block))
    }

    /// Entries of the same lane behind this one.
    pub(crate) fn behind(&self, id: EntryId) -> &[EntryId] {
        self.lanes.behind(id)
    }

    /// Flights around an entry.
    fn around(&self, id: EntryId) -> impl Iterator<Item = &Flight> {
        let found = self.lanes.place_of(id);
        let lane = found.and_then(|(number, place)| Some((self.of_lane.get(number)?, place)));
        lane.into_iter().flat_map(|(lane, place)| {
            let numbers = lane.in_pages.get(place / PAGE).into_iter().flatten();
            numbers.filter_map(|number| lane.flights.get(*number))
        })
    }

    /// Whether another call of its lane is in flight at the same time, as far as what is around an entry tells.
    pub(crate) fn overlaps(&self, id: EntryId, flight: &Flight) -> bool {
        let reaches = |from: Spot, until: Option<Spot>| until.is_none_or(|until| from <= until);
        self.around(id).any(|other| {
            other.call != flight.call
                && reaches(other.from, flight.until)
                && reaches(flight.from, other.until)
        })
    }

    /// Calls of its lane that are in flight anywhere in an entry. Its own calls that are not among them have the
    /// first column, which is free there, and ends with its own rows.
    pub(crate) fn beside(&self, id: EntryId) -> impl Iterator<Item = &Flight> {
        let place = self.lanes.place_of(id).map_or(0, |(_, place)| place);
        self.around(id).filter(move |flight| {
            flight.from.0 <= place && flight.until.is_none_or(|(until, _)| place <= until)
        })
    }
}

#[cfg(test)]
mod tests;
