//! Whose time it was: stretches of each lane, and their sums.
//!
//! Times are told by entries and by the results of calls. What lies between two of them is judged by who spoke before
//! and who spoke after; a call's own time is the tool's, from when it was made until its result was recorded. Time of
//! calls that ran side by side counts once. Stretches of a lane neither overlap nor run backwards, unless the
//! session's own clock was set back.

use std::ops::Range;

use super::Account;
use super::class::{Stretch, Sums};
use super::kept::Kept;
use super::pages::Books;
use crate::analysis::index::lanes::{PAGE, Track};
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// Stretches of a lane that were judged together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged<'a> {
    /// The lane; `None` is the main one.
    pub(crate) lane: Option<&'a Name>,
    /// Number of the page in its lane.
    pub(crate) page: usize,
    stretches: &'a Kept,
    ids: &'a [EntryId],
}

impl<'a> Judged<'a> {
    /// In the order of the file.
    pub(crate) fn stretches(&self) -> impl Iterator<Item = Stretch> + use<'a> {
        self.stretches.iter(self.ids).map(|(_, stretch)| stretch)
    }
}

impl Account {
    /// Time of a lane between two moments, stretches that reach beyond them in part.
    pub(crate) fn time_within(&self, lane: Option<&Name>, from: Timestamp, to: Timestamp) -> Sums {
        let mut sums = Sums::default();
        let Some(track) = self.lanes.track(lane) else { return sums };
        for (number, page) in track.pages().enumerate() {
            let Some((first, last)) = page.reach.filter(|(first, last)| *first < to && *last > from) else {
                continue;
            };
            if from <= first && last <= to {
                sums.join(&page.time());
                continue;
            }
            for (_, stretch) in stretches(track, number) {
                let (start, end) = (stretch.from.max(from), stretch.to.min(to));
                if start < end {
                    sums.spend(stretch.class, end.since(start));
                }
            }
            let held = page.held.iter().filter(|(_, at, _)| from < *at && *at <= to);
            held.for_each(|(.., ms)| sums.hold(*ms));
        }
        sums
    }

    /// What was judged, or judged anew, after the account had this revision.
    pub(crate) fn judged_since(&self, revision: u64) -> impl Iterator<Item = Judged<'_>> {
        let tracks = if revision < self.lanes.revision() { self.lanes.tracks() } else { &[] };
        let tracks = tracks.iter().filter(move |track| track.revision() > revision);
        tracks.flat_map(move |track| {
            track.judged_since(revision).map(|(page, kept)| Judged {
                lane: track.lane(),
                page,
                stretches: &kept.stretches,
                ids: track.ids_of(page),
            })
        })
    }

    /// The time before an entry, as the entry told it; not that of its calls.
    pub(crate) fn before(&self, id: EntryId) -> Option<Stretch> {
        let (track, place) = self.lanes.find(id)?;
        let page = track.page(place / PAGE)?;
        let mut own = page.stretches.of_entry(place % PAGE, track.ids_of(place / PAGE));
        own.find(|stretch| stretch.block.is_none())
    }

    /// Stretches that entries of one lane told, from the first one on and before the other one. Of long ones only
    /// those around an entry: at most `most` entries are looked at on each side of it.
    pub(crate) fn between(
        &self,
        first: EntryId,
        end: Option<EntryId>,
        around: EntryId,
        most: usize,
    ) -> Vec<Stretch> {
        let Some((track, range)) = self.range(first, end) else { return Vec::new() };
        let own = self.lanes.place_of(around).map_or(range.start, |(_, place)| place);
        let own = own.clamp(range.start, range.end);
        let range = range.start.max(own.saturating_sub(most))..range.end.min(own.saturating_add(most));
        let first = range.start / PAGE;
        let told = (first..first + range.len() / PAGE + 2).flat_map(|number| stretches(track, number));
        told.filter(|told| is_inside(told, &range)).map(|(_, stretch)| stretch).collect()
    }

    /// Places from the first entry on and before the other one.
    fn range(&self, first: EntryId, end: Option<EntryId>) -> Option<(&Track<Books>, Range<usize>)> {
        let (track, first) = self.lanes.find(first)?;
        let end = end.and_then(|id| self.lanes.find(id)).filter(|(other, _)| other.lane() == track.lane());
        let end = end.map_or(track.ids().len(), |(_, place)| place);
        Some((track, first..end.max(first + 1)))
    }
}

/// The stretches of a page, with the places in the lane of the entries that told them.
pub(super) fn stretches(track: &Track<Books>, page: usize) -> impl Iterator<Item = (usize, Stretch)> {
    let kept = track.page(page).map(|kept| &kept.stretches);
    let told = kept.into_iter().flat_map(move |kept| kept.iter(track.ids_of(page)));
    told.map(move |(place, stretch)| (page * PAGE + place, stretch))
}

/// Of the first entry only its calls count: the time before it belongs to what was before.
pub(super) fn is_inside((place, stretch): &(usize, Stretch), range: &Range<usize>) -> bool {
    range.contains(place) && (*place > range.start || stretch.block.is_some())
}
