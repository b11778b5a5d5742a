//! Calls in flight: from the place in the reading order at which a call was made to the place at which
//! its result came, in columns as of a graph of branches.
//!
//! A result stands under its call, so what is told here is what was said or asked meanwhile. That is known
//! by the order of records, where call and result have records of their own in one file, else by times.
//! A call that was never answered is in flight until the next prompt; one that started a sub-agent is as
//! long as that works.
//!
//! Invariant: a call has the lowest column that is free when it is made, and keeps it; so what is appended
//! changes no column. An entry that comes or changes costs a page of its lane, a late result the pages
//! since its call.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::calls::Place;
use super::places::Places;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::transcript::Transcript;

mod sweep;

use sweep::{Active, Sweep};

/// A place in a lane: which entry of it, and the block.
pub type Spot = (usize, usize);

/// Entries that are judged together.
const PAGE: usize = 256;

/// A call in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flight {
    /// The call.
    pub call: Place,
    /// Where in its lane it was made.
    pub from: Spot,
    /// The last item that began before the flight was over; `None` if it goes on beyond the page that was
    /// asked, or to the end of the lane.
    pub until: Option<Spot>,
    /// Its column, from 0 on, among the flights of its lane.
    pub column: usize,
    /// In which order those end that end at the same place.
    pub rank: i64,
    /// Whether a result came.
    pub is_answered: bool,
    /// Whether a sub-agent works in it.
    pub is_agent: bool,
}

impl Flight {
    /// Whether it is in flight where an item begins.
    pub fn covers(&self, spot: Spot) -> bool {
        self.from <= spot && self.until.is_none_or(|until| spot <= until)
    }
}

#[derive(Clone, Debug, Default)]
struct Page {
    exit: Vec<Active>,
    flights: Vec<Flight>,
}

/// The entries of a lane.
#[derive(Clone, Debug, Default)]
struct Track {
    ids: Vec<EntryId>,
    pages: Vec<Page>,
    stale: BTreeSet<usize>,
}

/// The flights of all lanes.
#[derive(Clone, Debug, Default)]
pub struct Flights {
    read: usize,
    /// Track of each entry, and its place there.
    places: Places,
    numbers: HashMap<Option<Name>, usize>,
    tracks: Vec<Track>,
    /// Lanes with something to be judged anew.
    stale: BTreeSet<usize>,
}

impl Flights {
    /// Takes in what was changed since the last time, and what was appended, but no more than so many
    /// entries. Says whether that was all.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        let mut grown: HashSet<&Name> = HashSet::new();
        for id in transcript.portion(self.read, most) {
            self.read += 1;
            let Some(entry) = transcript.get(*id) else { continue };
            let number = self.track_of(entry.lane.as_ref());
            grown.extend(&entry.lane);
            let Some(track) = self.tracks.get_mut(number) else { continue };
            let place = track.ids.len();
            track.ids.push(*id);
            track.look_again_at(place);
            self.stale.insert(number);
            self.places.insert(*id, number, place);
        }
        self.look_again_at_callers(transcript, &grown);
        while let Some(number) = self.stale.pop_first() {
            if let Some(track) = self.tracks.get_mut(number) {
                track.settle(transcript);
            }
        }
        self.read >= transcript.order().len()
    }

    /// The calls whose sub-agents went on are in flight longer.
    fn look_again_at_callers(&mut self, transcript: &Transcript, grown: &HashSet<&Name>) {
        let lanes = grown.iter().filter_map(|name| transcript.lane(name));
        for caller in lanes.filter_map(|lane| transcript.caller(lane)) {
            self.change(caller);
        }
    }

    fn track_of(&mut self, lane: Option<&Name>) -> usize {
        let lane = lane.cloned();
        if let Some(number) = self.numbers.get(&lane) {
            return *number;
        }
        self.tracks.push(Track::default());
        self.numbers.insert(lane, self.tracks.len() - 1);
        self.tracks.len() - 1
    }

    /// An entry has changed; takes effect with [`Flights::follow`].
    pub fn change(&mut self, id: EntryId) {
        if let Some((number, place)) = self.place_of(id)
            && let Some(track) = self.tracks.get_mut(number)
        {
            track.look_again_at(place);
            self.stale.insert(number);
        }
    }

    /// Forgets everything: the order is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn place_of(&self, id: EntryId) -> Option<(usize, usize)> {
        self.places.get(id)
    }

    // === questions ===

    /// Where an item stands in its lane.
    pub fn spot(&self, id: EntryId, block: usize) -> Option<Spot> {
        self.place_of(id).map(|(_, place)| (place, block))
    }

    /// Whether two entries are of one lane.
    pub fn is_one_lane(&self, id: EntryId, other: EntryId) -> bool {
        let number = |id| self.place_of(id).map(|(number, _)| number);
        number(id).is_some() && number(id) == number(other)
    }

    /// Entries of the same lane behind this one.
    pub fn behind(&self, id: EntryId) -> &[EntryId] {
        let track = self.place_of(id).and_then(|(number, place)| Some((self.tracks.get(number)?, place)));
        track.and_then(|(track, place)| track.ids.get(place + 1..)).unwrap_or_default()
    }

    /// Calls of its lane that are in flight anywhere in an entry. What is not told of its own calls has the
    /// first column, which is free there, and ends with its own rows.
    pub fn beside(&self, id: EntryId) -> impl Iterator<Item = &Flight> {
        let place = self.place_of(id);
        let track = place.and_then(|(number, _)| self.tracks.get(number));
        let (_, place) = place.unwrap_or_default();
        let page = track.and_then(|track| track.pages.get(place / PAGE));
        let flights = page.map_or(&[][..], |page| page.flights.as_slice());
        flights.iter().filter(move |flight| {
            flight.from.0 <= place && flight.until.is_none_or(|(until, _)| place <= until)
        })
    }
}

impl Track {
    /// What comes first on a page decides where the flights of the page before end.
    fn look_again_at(&mut self, place: usize) {
        self.stale.insert(place / PAGE);
        if place.is_multiple_of(PAGE)
            && let Some(before) = (place / PAGE).checked_sub(1)
        {
            self.stale.insert(before);
        }
    }

    fn settle(&mut self, transcript: &Transcript) {
        while let Some(number) = self.stale.pop_first() {
            let enter = match number.checked_sub(1).and_then(|before| self.pages.get(before)) {
                Some(before) => before.exit.clone(),
                None => Vec::new(),
            };
            let page = self.judge(transcript, number, enter);
            if self.pages.len() <= number {
                self.pages.resize_with(number + 1, Page::default);
            }
            if let Some(place) = self.pages.get_mut(number) {
                let is_other = place.exit != page.exit;
                *place = page;
                let next = self.pages.get(number + 1);
                if is_other && next.is_some() {
                    self.stale.insert(number + 1);
                }
            }
        }
    }

    fn judge(&self, transcript: &Transcript, number: usize, enter: Vec<Active>) -> Page {
        let mut sweep = Sweep::new(transcript, enter);
        let first = number * PAGE;
        let entries = |from: usize| {
            self.ids.iter().enumerate().skip(from).filter_map(|(place, id)| {
                Some((place, *id, transcript.get(*id).filter(|entry| !entry.marks.copy)?))
            })
        };
        for (place, id, entry) in entries(first).take_while(|(place, ..)| *place < first + PAGE) {
            sweep.entry(place, id, entry);
        }
        let exit = sweep.active.clone();
        let next = entries(first + PAGE).next();
        if let Some((place, _, entry)) = next {
            sweep.look_ahead(place, entry);
        }
        Page { exit, flights: sweep.finish(next.is_none()) }
    }
}

#[cfg(test)]
mod tests;
