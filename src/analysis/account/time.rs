//! Time by class: spans of each lane, and their sums.
//!
//! Entries and results of calls have timestamps. The time between two of them is classified by the
//! speaker before and the speaker after; the time of a call, from request to result, is the tool's.
//! Time of parallel calls counts once. Spans of a lane neither overlap nor run backwards, unless
//! the session's own clock was set back.

use std::ops::Range;

use super::Account;
use super::class::{Sums, TimeSpan};
use super::lanes::{PAGE, Track};
use super::sweep::WorkCorrection;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

impl Account {
    /// The timestamp up to which the time of the main lane is classified.
    pub(crate) fn last_sign(&self) -> Option<Timestamp> {
        let pages = &self.lanes.track(None)?.pages;
        let (_, last) = pages.iter().rev().find_map(|page| page.reach)?;
        Some(last)
    }

    /// Time by class of a lane between two timestamps; spans that extend beyond them count in part.
    pub(crate) fn time_within(&self, lane: Option<&Name>, from: Timestamp, to: Timestamp) -> Sums {
        let mut sums = Sums::default();
        let Some(track) = self.lanes.track(lane) else {
            return sums;
        };
        for (number, page) in track.pages.iter().enumerate() {
            let Some((first, last)) = page
                .reach
                .filter(|(first, last)| *first < to && *last > from)
            else {
                continue;
            };
            if from <= first && last <= to {
                sums.merge(&page.time());
                continue;
            }
            for (_, span) in spans(track, number) {
                let (start, end) = (span.from.max(from), span.to.min(to));
                if start < end {
                    sums.add(span.class, end.since(start));
                }
            }
            let is_within = |said: &&WorkCorrection| matches!(said, WorkCorrection::Less(at, _) if from < *at && *at <= to);
            page.corrections
                .iter()
                .map(|(_, said)| said)
                .filter(is_within)
                .for_each(|said| said.add_to(&mut sums));
        }
        sums
    }

    /// Spans of all lanes, each with its lane, in file order; `None` is the main one.
    pub(crate) fn spans(&self) -> impl Iterator<Item = (Option<&Name>, TimeSpan)> {
        let tracks = self.lanes.tracks.iter();
        tracks.flat_map(|track| {
            let pages = 0..track.ids.len().div_ceil(PAGE);
            let all = pages.flat_map(move |page| spans(track, page));
            all.map(|(_, span)| (track.lane.as_ref(), span))
        })
    }

    /// The span that ends with an entry, not those of its calls.
    pub(crate) fn before(&self, id: EntryId) -> Option<TimeSpan> {
        let (track, place) = self.lanes.find(id)?;
        let mut spans = spans(track, place / PAGE).map(|(_, span)| span);
        spans.find(|span| span.entry == id && span.block.is_none())
    }
}

/// The spans of a page, with the index of their entries in the lane.
pub(super) fn spans(track: &Track, page: usize) -> impl Iterator<Item = (usize, TimeSpan)> {
    let ids = track.ids_of(page);
    let spans = track.pages.get(page).into_iter();
    spans
        .flat_map(|times| times.spans(ids))
        .map(move |(at, span)| (page * PAGE + at, span))
}

/// Whether a span belongs to a range. Of the first entry only its calls do: the time before it
/// belongs to what precedes it.
pub(super) fn is_inside((place, span): &(usize, TimeSpan), range: &Range<usize>) -> bool {
    range.contains(place) && (*place > range.start || span.block.is_some())
}
