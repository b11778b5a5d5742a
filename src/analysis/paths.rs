//! How much lies on each path of a session: on the active one, and in each sub-agent.
//!
//! Invariant: once all is taken in, sums are those of the entries as they are now, whatever came in whatever order.
//! An entry that comes or changes costs a page of its path; branches that are drawn anew cost the main lane once,
//! some pages at a time.

use std::collections::{BTreeSet, HashMap};

use super::places::Places;
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;

/// What lies on a path.
#[derive(Clone, Debug, Default)]
pub struct PathFacts {
    /// Entries, copies of others left out.
    pub entries: usize,
    /// Turns of the main lane that begin on it.
    pub turns: usize,
    /// What happened on it.
    pub work: TurnFacts,
}

impl PathFacts {
    /// Sums up entries; copies are counted where they come from.
    pub fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let mut facts = Self::default();
        let own = entries.filter(|entry| !entry.marks.copy).inspect(|entry| {
            facts.entries += 1;
            facts.turns += usize::from(entry.marks.prompt && entry.lane.is_none());
        });
        facts.work = TurnFacts::of(own);
        facts
    }

    /// Adds what lies on another path, or farther along this one.
    pub fn join(&mut self, other: &Self) {
        self.entries += other.entries;
        self.turns += other.turns;
        self.work.join(&other.work);
    }
}

/// Entries that are summed up together.
const PAGE: usize = 256;

/// Entries of a lane in the order of the file, with sums of them.
#[derive(Clone, Debug, Default)]
struct Track {
    ids: Vec<EntryId>,
    pages: Vec<PathFacts>,
    stale: BTreeSet<usize>,
}

/// The index.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    read: usize,
    /// Path and place on it, by entry.
    places: Places,
    /// The main lane has no name.
    numbers: HashMap<Option<Name>, usize>,
    tracks: Vec<Track>,
    branches_seen: u32,
}

impl Paths {
    /// Takes in what was changed since the last time, and what was appended, but no more than so many
    /// entries. Says whether that was all.
    pub fn follow(&mut self, transcript: &Transcript, most: usize) -> bool {
        for id in transcript.portion(self.read, most) {
            self.read += 1;
            if let Some(entry) = transcript.get(*id) {
                self.add(*id, entry);
            }
        }
        let branches = transcript.branches_changed();
        if std::mem::replace(&mut self.branches_seen, branches) != branches
            && let Some(main) = self.numbers.get(&None).and_then(|number| self.tracks.get_mut(*number))
        {
            main.stale.extend(0..main.pages.len());
        }
        let mut room = most;
        for track in &mut self.tracks {
            track.settle(transcript, &mut room);
        }
        self.read >= transcript.order().len() && self.tracks.iter().all(|track| track.stale.is_empty())
    }

    fn add(&mut self, id: EntryId, entry: &Entry) {
        let known = self.numbers.get(&entry.lane).copied();
        let number = known.unwrap_or_else(|| {
            self.tracks.push(Track::default());
            self.numbers.insert(entry.lane.clone(), self.tracks.len() - 1);
            self.tracks.len() - 1
        });
        if let Some(track) = self.tracks.get_mut(number) {
            self.places.insert(id, number, track.ids.len());
            track.stale.insert(track.ids.len() / PAGE);
            track.ids.push(id);
        }
    }

    /// An entry has changed; takes effect with [`Paths::follow`].
    pub fn change(&mut self, id: EntryId) {
        if let Some((number, place)) = self.places.get(id)
            && let Some(track) = self.tracks.get_mut(number)
        {
            track.stale.insert(place / PAGE);
        }
    }

    /// Forgets everything: the order is another one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What lies on the active path.
    pub fn active(&self) -> PathFacts {
        self.track(None)
    }

    /// What a sub-agent did by itself.
    pub fn lane(&self, name: &Name) -> PathFacts {
        self.track(Some(name))
    }

    fn track(&self, name: Option<&Name>) -> PathFacts {
        let mut sum = PathFacts::default();
        let track = self.numbers.get(&name.cloned()).and_then(|number| self.tracks.get(*number));
        for page in track.into_iter().flat_map(|track| &track.pages) {
            sum.join(page);
        }
        sum
    }
}

impl Track {
    /// Sums pages up anew, as long as there is room for an entry.
    fn settle(&mut self, transcript: &Transcript, room: &mut usize) {
        let abandoned = &transcript.branches().abandoned;
        while *room > 0
            && let Some(number) = self.stale.pop_first()
        {
            *room = room.saturating_sub(PAGE);
            let ids = self.ids.iter().skip(number * PAGE).take(PAGE);
            let page =
                PathFacts::of(ids.filter(|id| !abandoned.contains(id)).filter_map(|id| transcript.get(*id)));
            if self.pages.len() <= number {
                self.pages.resize_with(number + 1, PathFacts::default);
            }
            if let Some(place) = self.pages.get_mut(number) {
                *place = page;
            }
        }
    }
}

#[cfg(test)]
mod tests;
