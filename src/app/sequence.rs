//! Which entries are shown, and in which order: the main lane in file order, sub-agents under the
//! calls that started them while those are open.

use std::collections::{HashMap, HashSet};

use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::pairing::calls_of;
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::render::row::Level;

/// Sub-agents inside sub-agents beyond this depth are shown flat.
const MAX_DEPTH: u16 = 8;

/// The visible entries and where each stands.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    order: Vec<EntryId>,
    places: HashMap<EntryId, usize>,
    attached: HashSet<Name>,
}

impl Sequence {
    /// Builds the sequence anew, without what is hidden in folded branches.
    pub fn rebuild(
        &mut self,
        transcript: &Transcript,
        open_lanes: &HashSet<Name>,
        level: Level,
        hidden: &HashSet<EntryId>,
    ) {
        self.order.clear();
        self.places.clear();
        self.attached = attached_lanes(transcript);
        for id in transcript.order() {
            let Some(entry) = transcript.get(*id).filter(|_| !hidden.contains(id)) else { continue };
            if self.is_shown_in_place(entry, level) {
                self.place(*id);
                self.place_lanes(transcript, entry, open_lanes, level, 0);
            }
        }
    }

    /// Adds a new entry at the end, if that is where it belongs. `false` if the sequence must be
    /// rebuilt.
    pub fn append(
        &mut self,
        transcript: &Transcript,
        id: EntryId,
        open_lanes: &HashSet<Name>,
        level: Level,
    ) -> bool {
        let Some(entry) = transcript.get(id) else { return true };
        if let Some(lane) = &entry.lane {
            let is_known = transcript.lanes().iter().any(|known| known.name == *lane && known.call.is_some());
            if is_known && !self.attached.contains(lane) {
                return false;
            }
            if self.attached.contains(lane) {
                return !open_lanes.contains(lane);
            }
        }
        if self.is_shown_in_place(entry, level) {
            self.place(id);
        }
        true
    }

    /// Entries of attached lanes stand under their calls, not in file order.
    fn is_shown_in_place(&self, entry: &Entry, level: Level) -> bool {
        let in_place = entry.lane.as_ref().is_none_or(|lane| !self.attached.contains(lane));
        in_place && shows(entry, level)
    }

    fn place(&mut self, id: EntryId) {
        if !self.places.contains_key(&id) {
            self.places.insert(id, self.order.len());
            self.order.push(id);
        }
    }

    fn place_lanes(
        &mut self,
        transcript: &Transcript,
        entry: &Entry,
        open: &HashSet<Name>,
        level: Level,
        depth: u16,
    ) {
        if depth >= MAX_DEPTH || open.is_empty() {
            return;
        }
        for lane in calls_of(entry).filter_map(|call| transcript.lane_of_call(&call.key)) {
            if !open.contains(&lane.name) {
                continue;
            }
            for id in &lane.entries {
                let Some(entry) = transcript.get(*id).filter(|_| !self.places.contains_key(id)) else {
                    continue;
                };
                if shows(entry, level) {
                    self.place(*id);
                    self.place_lanes(transcript, entry, open, level, depth + 1);
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
    let call = transcript.lanes().iter().find(|known| known.name == *lane)?.call.as_ref()?;
    transcript.entries_with_call(call).first().copied()
}

/// Where an entry stands in the file. Ids rise in file order unless a new telling changed the order; then
/// the quick search may miss, but what it finds is right.
pub fn place_in_file(transcript: &Transcript, id: EntryId) -> Option<usize> {
    let order = transcript.order();
    order.binary_search(&id).ok().or_else(|| order.iter().rposition(|other| *other == id))
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
