//! The account as of an entry: what a turn, a lane and the session had come to when it was recorded.

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

/// How far a session had come with an entry: its own lane up to it, each other one up to what is later.
#[derive(Clone, Debug, Default)]
pub struct AsOf {
    /// The first place of each lane that was still to come, by the number of the lane.
    ends: Vec<usize>,
    /// The turn of the entry.
    pub(crate) turn: Option<usize>,
}

impl Account {
    /// How far the session had come with an entry.
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

    /// What a turn had come to.
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
                figures.join_facts(&self.part_as_of(transcript, as_of, lane, 0..usize::MAX));
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

    /// What a sub-agent had done by itself.
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

    /// What the session had cost. What runs count beyond their requests is known only in the end.
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
            totals.join(
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

    /// What was spent beside entries by then, each with its lane and with the place of the entry before it.
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

    /// What the entries of a lane came to that were there by then. Pages count as a whole, but for the outermost ones.
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
            let Some(page) = track.page(number) else {
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
            spans.for_each(|(_, span)| figures.time.spend(span.class, span.ms()));
            let said = page
                .said
                .iter()
                .filter(|(place, _)| range.contains(&(number * PAGE + place)));
            said.for_each(|(_, said)| said.add_to(&mut figures.time));
        }
        figures
    }
}

/// The place of the first entry of a lane that is later than a timestamp.
fn later(transcript: &Transcript, track: &Track, at: Timestamp) -> usize {
    let is_later = |id: &EntryId| {
        transcript
            .get(*id)
            .and_then(|entry| entry.at)
            .is_some_and(|then| then > at)
    };
    for (number, page) in track.pages().enumerate() {
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
