//! Which entries are shown, and in which order: the main lane in file order, sub-agents under the
//! calls that started them while those are open.

use std::collections::{HashMap, HashSet};

use super::filter::Filter;
use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::pairing::calls_of;
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::render::row::Level;

/// Sub-agents inside sub-agents beyond this depth are shown flat.
const MAX_DEPTH: u16 = 8;

/// What is to be shown.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Sub-agents whose entries are shown under their calls.
    pub open_lanes: &'a HashSet<Name>,
    /// The level of detail.
    pub level: Level,
    /// What folded branches hide.
    pub folded: &'a HashSet<EntryId>,
    /// A filter looks into closed sub-agents and folded branches, too.
    pub filter: Option<&'a Filter>,
}

/// The visible entries and where each stands.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    order: Vec<EntryId>,
    places: HashMap<EntryId, usize>,
    attached: HashSet<Name>,
    /// Entries that were looked at while the sequence is made: lanes may lie in a circle.
    visited: HashSet<EntryId>,
}

impl Sequence {
    /// Builds the sequence anew.
    pub fn rebuild(&mut self, transcript: &Transcript, wanted: &Wanted<'_>) {
        self.order.clear();
        self.places.clear();
        self.visited.clear();
        self.attached = attached_lanes(transcript);
        for id in transcript.order() {
            let is_folded = wanted.filter.is_none() && wanted.folded.contains(id);
            let Some(entry) = transcript.get(*id).filter(|_| !is_folded) else { continue };
            if self.is_in_place(entry) {
                self.place_with_lanes(transcript, (*id, entry), wanted, 0);
            }
        }
    }

    /// Adds a new entry at the end, if that is where it belongs. `false` if the sequence must be
    /// rebuilt.
    pub fn append(&mut self, transcript: &Transcript, id: EntryId, wanted: &Wanted<'_>) -> bool {
        let Some(entry) = transcript.get(id) else { return true };
        if let Some(lane) = &entry.lane {
            let is_known = transcript.lane(lane).is_some_and(|known| known.call.is_some());
            if is_known && !self.attached.contains(lane) {
                return false;
            }
            if self.attached.contains(lane) {
                return !wanted.opens(lane) || !wanted.shows(id, entry);
            }
        }
        if self.is_in_place(entry) && wanted.shows(id, entry) {
            self.place(id);
        }
        true
    }

    /// Entries of attached lanes stand under their calls, not in file order.
    fn is_in_place(&self, entry: &Entry) -> bool {
        entry.lane.as_ref().is_none_or(|lane| !self.attached.contains(lane))
    }

    fn place(&mut self, id: EntryId) {
        if !self.places.contains_key(&id) {
            self.places.insert(id, self.order.len());
            self.order.push(id);
        }
    }

    /// An entry, and below it those of the sub-agents that it started. A filter may show these without it.
    fn place_with_lanes(
        &mut self,
        transcript: &Transcript,
        (id, entry): (EntryId, &Entry),
        wanted: &Wanted<'_>,
        depth: u16,
    ) {
        let is_shown = wanted.shows(id, entry);
        if is_shown {
            self.place(id);
        }
        if depth >= MAX_DEPTH || !(is_shown || wanted.filter.is_some()) {
            return;
        }
        for lane in calls_of(entry).filter_map(|call| transcript.lane_of_call(&call.key)) {
            if !wanted.opens(&lane.name) {
                continue;
            }
            for id in &lane.entries {
                let below = transcript.get(*id).filter(|_| self.visited.insert(*id));
                if let Some(below) = below {
                    self.place_with_lanes(transcript, (*id, below), wanted, depth + 1);
                }
            }
        }
    }

    /// The visible entries.
    pub fn order(&self) -> &[EntryId] {
        &self.order
    }

    /// Where an entry stands.
    pub fn place_of(&self, id: EntryId) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// The entry at a place.
    pub fn at(&self, place: usize) -> Option<EntryId> {
        self.order.get(place).copied()
    }

    /// The nearest entry before a place, else behind it, that another sequence shows too.
    pub fn nearest_shown(&self, place: usize, other: &Self) -> Option<EntryId> {
        let (before, behind) = self.order.split_at_checked(place)?;
        before.iter().rev().chain(behind).copied().find(|id| other.place_of(*id).is_some())
    }

    /// Number of visible entries.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether nothing is visible.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Wanted<'_> {
    fn opens(&self, lane: &Name) -> bool {
        self.filter.is_some() || self.open_lanes.contains(lane)
    }

    fn shows(&self, id: EntryId, entry: &Entry) -> bool {
        let is_filtered = self.filter.is_some_and(|filter| filter.blocks(id).is_empty());
        !is_filtered && shows(entry, self.level)
    }
}

/// Lanes whose calls are in the transcript. All others are shown in file order: nothing hides.
fn attached_lanes(transcript: &Transcript) -> HashSet<Name> {
    let has_call = |call: &Key| !transcript.entries_with_call(call).is_empty();
    let attached = transcript.lanes().iter().filter(|lane| lane.call.as_ref().is_some_and(has_call));
    attached.map(|lane| lane.name.clone()).collect()
}

/// Whether an entry has rows at a level.
fn shows(entry: &Entry, level: Level) -> bool {
    match level {
        Level::Prompts => entry.marks.prompt,
        Level::Outline | Level::Preview => !entry.marks.trace,
        Level::Full | Level::Raw => true,
    }
}

/// The entry whose call started a lane.
pub fn starter_of(transcript: &Transcript, lane: &Name) -> Option<EntryId> {
    let call = transcript.lane(lane)?.call.as_ref()?;
    transcript.entries_with_call(call).first().copied()
}

/// Where an entry stands in the file. Ids rise in file order unless a new telling changed the order; then
/// the quick search may miss, but what it finds is right.
pub fn place_in_file(transcript: &Transcript, id: EntryId) -> Option<usize> {
    transcript.place_of(id)
}

/// The turn of an entry. Entries of sub-agents belong to the turn of the call that started them.
pub fn turn_of(transcript: &Transcript, id: EntryId) -> Option<usize> {
    let mut holder = id;
    for _ in 0..MAX_DEPTH {
        let lane = transcript.get(holder)?.lane.as_ref();
        let Some(starter) = lane.and_then(|lane| starter_of(transcript, lane)) else { break };
        holder = starter;
    }
    transcript.turn_at(place_in_file(transcript, holder)?)
}

/// How deep an entry lies in sub-agents.
pub fn depth_of(transcript: &Transcript, entry: &Entry) -> u16 {
    let mut depth = 0;
    let mut lane = entry.lane.clone();
    while let Some(name) = lane {
        depth += 1;
        if depth >= MAX_DEPTH {
            break;
        }
        lane = starter_of(transcript, &name)
            .and_then(|id| transcript.get(id))
            .and_then(|starter| starter.lane.clone());
    }
    depth
}
