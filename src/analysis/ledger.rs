//! The wall-clock ledger: what each stretch of a session's time was spent on, lane by lane.
//!
//! Times are told by entries and by the results of calls. What lies between two of them is judged by
//! who spoke before and who spoke after; a call's own time is the tool's, from when it was made until its
//! result was recorded. Time of calls that ran side by side counts once.
//!
//! Invariant: stretches of a lane neither overlap nor run backwards, unless the session's own clock was
//! set back. An entry that comes or changes costs a page of its lane; a result that comes late costs
//! more only where it changes what follows.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::places::Places;
use crate::model::entry::EntryId;
use crate::model::moment::Moment;
use crate::model::text::Name;
use crate::model::transcript::Transcript;

mod kept;
mod sweep;

use kept::Kept;
use sweep::{Carry, sweep};

/// What time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The model was answering.
    Model,
    /// Tools ran.
    Tool,
    /// A human was waited for: the next prompt, an answer, a permission.
    Human,
    /// A request had failed, and was made again.
    Retry,
    /// Nobody came back for long.
    Idle,
    /// The file does not tell.
    Unknown,
}

impl Class {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 6] = [Self::Model, Self::Tool, Self::Human, Self::Retry, Self::Idle, Self::Unknown];

    /// A word for readers.
    pub fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tools",
            Self::Human => "waiting",
            Self::Retry => "retry",
            Self::Idle => "idle",
            Self::Unknown => "unknown",
        }
    }
}

/// A stretch of time in a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// When it began.
    pub from: Moment,
    /// When it ended.
    pub to: Moment,
    /// What it was spent on.
    pub class: Class,
    /// The tool that ran.
    pub tool: Option<Name>,
    /// The entry that ended it, or whose call ran.
    pub entry: EntryId,
    /// The block of the call that ran.
    pub block: Option<usize>,
}

impl Stretch {
    /// Its length in ms.
    pub fn ms(&self) -> u64 {
        self.to.since(self.from)
    }
}

/// Time by class, in ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums([u64; 6]);

impl Sums {
    fn slot(&mut self, class: Class) -> Option<&mut u64> {
        let at = Class::ALL.iter().position(|one| *one == class)?;
        self.0.get_mut(at)
    }

    fn add(&mut self, stretch: &Stretch) {
        if let Some(sum) = self.slot(stretch.class) {
            *sum = sum.saturating_add(stretch.ms());
        }
    }

    fn join(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum = sum.saturating_add(more);
        }
    }

    /// Time of a class.
    pub fn of(&self, class: Class) -> u64 {
        Class::ALL.iter().zip(self.0).find(|(one, _)| **one == class).map_or(0, |(_, ms)| ms)
    }

    /// All time.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, ms| sum.saturating_add(*ms))
    }
}

/// Entries that are judged together.
const PAGE: usize = 256;

#[derive(Clone, Debug, Default)]
struct Page {
    enter: Carry,
    exit: Carry,
    stretches: Kept,
    sums: Sums,
    /// From when to when its stretches reach.
    reach: Option<(Moment, Moment)>,
    revision: u64,
}

/// A lane's time.
#[derive(Clone, Debug, Default)]
struct Track {
    lane: Option<Name>,
    revision: u64,
    ids: Vec<EntryId>,
    pages: Vec<Page>,
    stale: BTreeSet<usize>,
    sums: Sums,
}

/// The time of all lanes.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    read: usize,
    places: Places,
    numbers: HashMap<Option<Name>, usize>,
    tracks: Vec<Track>,
    /// Lanes with something to be judged anew.
    stale: BTreeSet<usize>,
    revision: u64,
}

/// Stretches of a lane that were judged together.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The lane; `None` is the main one.
    pub lane: Option<&'a Name>,
    /// Number of the page in its lane.
    pub page: usize,
    stretches: &'a Kept,
    ids: &'a [EntryId],
}

impl<'a> Judged<'a> {
    /// In the order of the file.
    pub fn stretches(&self) -> impl Iterator<Item = Stretch> + use<'a> {
        self.stretches.iter(self.ids).map(|(_, stretch)| stretch)
    }
}

impl Ledger {
    /// Takes in what was changed since the last time, and what was appended, but no more than so many
    /// entries. Says whether that was all.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        for id in transcript.portion(self.read, most) {
            self.read += 1;
            let Some(entry) = transcript.get(*id) else { continue };
            let number = if let Some(number) = self.numbers.get(&entry.lane) {
                *number
            } else {
                self.tracks.push(Track { lane: entry.lane.clone(), ..Track::default() });
                self.numbers.insert(entry.lane.clone(), self.tracks.len() - 1);
                self.tracks.len() - 1
            };
            if let Some(track) = self.tracks.get_mut(number) {
                self.places.insert(*id, number, track.ids.len());
                track.stale.insert(track.ids.len() / PAGE);
                track.ids.push(*id);
                self.stale.insert(number);
            }
        }
        self.revision += u64::from(!self.stale.is_empty());
        while let Some(number) = self.stale.pop_first() {
            if let Some(track) = self.tracks.get_mut(number) {
                track.settle(transcript, self.revision);
            }
        }
        self.read >= transcript.order().len()
    }

    /// An entry has changed; takes effect with [`Ledger::follow`].
    pub fn change(&mut self, id: EntryId) {
        if let Some((number, place)) = self.places.get(id)
            && let Some(track) = self.tracks.get_mut(number)
        {
            track.stale.insert(place / PAGE);
            self.stale.insert(number);
        }
    }

    /// Forgets everything: the order is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn track(&self, lane: Option<&Name>) -> Option<&Track> {
        self.tracks.get(*self.numbers.get(&lane.cloned())?)
    }

    /// All time of a lane; `None` is the main one.
    pub fn sums(&self, lane: Option<&Name>) -> Sums {
        self.track(lane).map(|track| track.sums).unwrap_or_default()
    }

    /// Time that entries of one lane told, from the first one on and before the other one: what lies
    /// before the first is not counted.
    pub fn sums_between(&self, first: EntryId, end: Option<EntryId>) -> Sums {
        let mut sums = Sums::default();
        let Some((track, range)) = self.range(first, end) else { return sums };
        for (number, page) in track.pages.iter().enumerate().skip(range.start / PAGE) {
            let from = number * PAGE;
            if from >= range.end {
                break;
            }
            if from > range.start && from + PAGE <= range.end {
                sums.join(&page.sums);
            } else {
                let inside = track.stretches(number).filter(|told| is_inside(told, &range));
                inside.for_each(|(_, stretch)| sums.add(&stretch));
            }
        }
        sums
    }

    /// Time of a lane between two moments, stretches that reach beyond them in part.
    pub fn sums_within(&self, lane: Option<&Name>, from: Moment, to: Moment) -> Sums {
        let mut sums = Sums::default();
        let Some(track) = self.track(lane) else { return sums };
        for (number, page) in track.pages.iter().enumerate() {
            let Some((first, last)) = page.reach.filter(|(first, last)| *first < to && *last > from) else {
                continue;
            };
            if from <= first && last <= to {
                sums.join(&page.sums);
                continue;
            }
            for (_, stretch) in track.stretches(number) {
                let (start, end) = (stretch.from.max(from), stretch.to.min(to));
                if start < end
                    && let Some(sum) = sums.slot(stretch.class)
                {
                    *sum = sum.saturating_add(end.since(start));
                }
            }
        }
        sums
    }

    /// A number that rises whenever time is judged.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What was judged, or judged anew, after the ledger had this revision.
    pub fn judged_since(&self, revision: u64) -> impl Iterator<Item = Judged<'_>> {
        let tracks = if revision < self.revision { self.tracks.as_slice() } else { &[] };
        let tracks = tracks.iter().filter(move |track| track.revision > revision);
        tracks.flat_map(move |track| {
            let pages = track.pages.iter().enumerate().filter(move |(_, page)| page.revision > revision);
            pages.map(|(number, page)| Judged {
                lane: track.lane.as_ref(),
                page: number,
                stretches: &page.stretches,
                ids: track.ids_of(number),
            })
        })
    }

    /// The time before an entry, as the entry told it; not that of its calls.
    pub fn before(&self, id: EntryId) -> Option<Stretch> {
        let (number, place) = self.places.get(id)?;
        let track = self.tracks.get(number)?;
        let page = track.pages.get(place / PAGE)?;
        let mut own = page.stretches.of_entry(place % PAGE, track.ids_of(place / PAGE));
        own.find(|stretch| stretch.block.is_none())
    }

    /// Stretches that entries of one lane told, from the first one on and before the other one. Of
    /// long ones only those around an entry: at most `most` entries are looked at on each side of it.
    pub fn between(
        &self,
        first: EntryId,
        end: Option<EntryId>,
        around: EntryId,
        most: usize,
    ) -> Vec<Stretch> {
        let Some((track, range)) = self.range(first, end) else { return Vec::new() };
        let own = self.places.get(around).map_or(range.start, |(_, place)| place);
        let own = own.clamp(range.start, range.end);
        let range = range.start.max(own.saturating_sub(most))..range.end.min(own.saturating_add(most));
        let first = range.start / PAGE;
        let stretches = (first..first + range.len() / PAGE + 2).flat_map(|number| track.stretches(number));
        stretches.filter(|told| is_inside(told, &range)).map(|(_, stretch)| stretch).collect()
    }

    /// Places from the first entry on and before the other one.
    fn range(&self, first: EntryId, end: Option<EntryId>) -> Option<(&Track, Range<usize>)> {
        let (number, first) = self.places.get(first)?;
        let track = self.tracks.get(number)?;
        let end = end.and_then(|id| self.places.get(id)).filter(|(other, _)| *other == number);
        let end = end.map_or(track.ids.len(), |(_, place)| place);
        Some((track, first..end.max(first + 1)))
    }
}

/// Of the first entry only its calls count: the time before it belongs to what was before.
fn is_inside((place, stretch): &(usize, Stretch), range: &Range<usize>) -> bool {
    range.contains(place) && (*place > range.start || stretch.block.is_some())
}

impl Track {
    /// The entries of a page.
    fn ids_of(&self, page: usize) -> &[EntryId] {
        let first = (page * PAGE).min(self.ids.len());
        self.ids.get(first..self.ids.len().min(first + PAGE)).unwrap_or_default()
    }

    /// The stretches of a page, with the places in the lane of the entries that told them.
    fn stretches(&self, page: usize) -> impl Iterator<Item = (usize, Stretch)> {
        let told =
            self.pages.get(page).into_iter().flat_map(move |one| one.stretches.iter(self.ids_of(page)));
        told.map(move |(place, stretch)| (page * PAGE + place, stretch))
    }

    fn settle(&mut self, transcript: &Transcript, revision: u64) {
        let is_stale = !self.stale.is_empty();
        while let Some(number) = self.stale.pop_first() {
            let enter = match number.checked_sub(1).and_then(|before| self.pages.get(before)) {
                Some(before) => before.exit,
                None => Carry::default(),
            };
            let page = self.judge(transcript, number, enter);
            if self.pages.len() <= number {
                self.pages.resize_with(number + 1, Page::default);
            }
            if let Some(place) = self.pages.get_mut(number) {
                let exit = page.exit;
                *place = Page { revision, ..page };
                let next = self.pages.get(number + 1);
                if next.is_some_and(|next| next.enter != exit) {
                    self.stale.insert(number + 1);
                }
            }
        }
        if is_stale {
            self.revision = revision;
            self.sums = Sums::default();
            for page in &self.pages {
                self.sums.join(&page.sums);
            }
        }
    }

    fn judge(&self, transcript: &Transcript, number: usize, enter: Carry) -> Page {
        let mut page = Page { enter, exit: enter, ..Page::default() };
        for (id, place) in self.ids_of(number).iter().zip(0..=u8::MAX) {
            let Some(entry) = transcript.get(*id) else { continue };
            sweep(&mut page.exit, *id, entry, &mut |stretch| {
                page.sums.add(&stretch);
                let (from, to) = page.reach.unwrap_or((stretch.from, stretch.to));
                page.reach = Some((from.min(stretch.from), to.max(stretch.to)));
                page.stretches.push(place, &stretch);
            });
        }
        page.stretches.fit();
        page
    }
}

#[cfg(test)]
mod tests;
