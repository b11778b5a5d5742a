//! The account as of an entry: the figures of a turn, a lane and the session when it was recorded.

use std::ops::Range;

use super::Account;
use super::figures::Figures;
use super::lanes::{PAGE, Track};
use super::time::{is_inside, spans};
use crate::analysis::money::cost::{self, Cost};
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::totals::Totals;
use crate::model::transcript::{Aside, Transcript};

/// Position of an entry in all lanes: in its own lane up to the entry, in each other lane up to the
/// first entry with a later timestamp.
#[derive(Clone, Debug, Default)]
pub struct AsOf {
    /// Per lane number, the end (exclusive) of the included entries.
    ends: Vec<usize>,
    pub(crate) turn: Option<usize>,
}

impl Account {
    /// The position of an entry in all lanes.
    pub fn as_of(&self, transcript: &Transcript, id: EntryId) -> AsOf {
        let own = self.lanes.place_of(id);
        let at = transcript.get(id).and_then(|entry| entry.at);
        let end = |(number, track): (usize, &Track)| match own {
            Some((lane, place)) if lane == number => place + 1,
            _ => at.map_or(0, |at| later(transcript, track, at)),
        };
        let ends = self.lanes.tracks.iter().enumerate().map(end).collect();
        AsOf {
            ends,
            turn: self.turn_of(transcript, id),
        }
    }

    /// The figures of a turn as of an entry.
    pub fn turn_as_of(&self, transcript: &Transcript, as_of: &AsOf, number: usize) -> Figures {
        let Some(turn) = transcript.turns().get(number) else {
            return Figures::default();
        };
        let next = transcript
            .turn_after(number)
            .and_then(|next| self.lanes.place_of(next.prompt));
        let Some((main, first)) = self.lanes.place_of(turn.prompt) else {
            return Figures::default();
        };
        let end = next.map_or(usize::MAX, |(_, place)| place);
        let mut figures = self.part_as_of(transcript, as_of, main, first..end);
        let is_own = |lane: Option<&Name>| {
            lane.and_then(|name| self.sums.homes.of_lane.get(name)) == Some(&turn.prompt)
        };
        for (lane, track) in self.lanes.tracks.iter().enumerate() {
            if is_own(track.lane.as_ref()) {
                figures.merge_facts(&self.part_as_of(transcript, as_of, lane, 0..usize::MAX));
            }
        }
        for ((lane, place), aside) in self.asides_as_of(transcript, as_of) {
            let is_in_turn = lane == main && (first..end).contains(&place);
            let track = self.lanes.tracks.get(lane);
            if is_in_turn || is_own(track.and_then(|track| track.lane.as_ref())) {
                figures.facts.totals.add(&aside.usage, aside.model.as_ref());
            }
        }
        figures
    }

    /// The figures of a sub-agent alone as of an entry.
    pub(crate) fn lane_as_of(&self, transcript: &Transcript, as_of: &AsOf, name: &Name) -> Figures {
        let number = self.lanes.track_of(Some(name)).map(|(number, _)| number);
        let Some(number) = number else {
            return Figures::default();
        };
        let mut figures = self.part_as_of(transcript, as_of, number, 0..usize::MAX);
        for ((lane, _), aside) in self.asides_as_of(transcript, as_of) {
            if lane == number {
                figures.facts.totals.add(&aside.usage, aside.model.as_ref());
            }
        }
        figures
    }

    /// The cost of the session as of an entry. What runs count beyond their requests is only known
    /// at the end.
    pub(crate) fn cost_as_of(&self, transcript: &Transcript, as_of: &AsOf) -> Cost {
        let tracks = &self.lanes.tracks;
        if tracks
            .iter()
            .zip(&as_of.ends)
            .all(|(track, end)| track.ids.len() <= *end)
        {
            return self.cost(transcript);
        }
        let mut totals = Totals::default();
        for lane in 0..tracks.len() {
            totals.merge(
                &self
                    .part_as_of(transcript, as_of, lane, 0..usize::MAX)
                    .facts
                    .totals,
            );
        }
        for (_, aside) in self.asides_as_of(transcript, as_of) {
            totals.add(&aside.usage, aside.model.as_ref());
        }
        cost::of(&totals)
    }

    /// Usage recorded beside the included entries, each with the lane number and the position in
    /// the lane of the entry before it.
    fn asides_as_of<'a>(
        &'a self,
        transcript: &'a Transcript,
        as_of: &'a AsOf,
    ) -> impl Iterator<Item = ((usize, usize), &'a Aside)> {
        let asides = transcript.asides().map(|(_, aside)| aside);
        asides
            .filter(|aside| aside.usage.scope.is_of_requests())
            .filter_map(|aside| Some((self.lanes.place_of(aside.after?)?, aside)))
            .filter(|((lane, place), _)| as_of.ends.get(*lane).is_some_and(|end| place < end))
    }

    /// The figures of the included entries in a range of a lane. Pages are added whole, except at
    /// the ends of the range.
    fn part_as_of(
        &self,
        transcript: &Transcript,
        as_of: &AsOf,
        lane: usize,
        places: Range<usize>,
    ) -> Figures {
        let mut figures = Figures::default();
        let Some(track) = self.lanes.tracks.get(lane) else {
            return figures;
        };
        let end = as_of
            .ends
            .get(lane)
            .map_or(0, |end| places.end.min(*end).min(track.ids.len()));
        let range = places.start..end;
        for number in range.start / PAGE..end.div_ceil(PAGE) {
            let Some(page) = track.pages.get(number) else {
                continue;
            };
            let ids = track.ids_of(number);
            let own = number * PAGE..number * PAGE + ids.len();
            if range.start <= own.start && own.end <= range.end {
                page.parts.iter().for_each(|part| part.add_to(&mut figures));
                continue;
            }
            let inside = own.zip(ids).filter(|(place, _)| range.contains(place));
            inside
                .filter_map(|(_, id)| transcript.get(*id))
                .for_each(|entry| figures.facts.add(entry));
            let spans = spans(track, number).filter(|span| is_inside(span, &range));
            spans.for_each(|(_, span)| figures.time.add(span.class, span.ms()));
            let said = page
                .corrections
                .iter()
                .filter(|(place, _)| range.contains(&(number * PAGE + place)));
            said.for_each(|(_, said)| said.add_to(&mut figures.time));
        }
        figures
    }
}

/// The index in the lane of the first entry that is later than `at`.
fn later(transcript: &Transcript, track: &Track, at: Timestamp) -> usize {
    let is_later = |id: &EntryId| {
        transcript
            .get(*id)
            .and_then(|entry| entry.at)
            .is_some_and(|then| then > at)
    };
    for (number, page) in track.pages.iter().enumerate() {
        if page
            .parts
            .iter()
            .all(|part| part.facts.ended.is_none_or(|ended| ended <= at))
        {
            continue;
        }
        if let Some(place) = track.ids_of(number).iter().position(is_later) {
            return number * PAGE + place;
        }
    }
    track.ids.len()
}
