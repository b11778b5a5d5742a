//! The sequence of shown entries: the main lane in file order, with open sub-agents under the calls
//! that started them.

use std::collections::HashSet;

use super::portions::Portions;
use super::runs::{self, FoldedRuns};
use crate::analysis::reading::{Displaced, helper_headed_by};
use crate::model::entry::{Entry, EntryId, Marks};
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::render::row::Level;
use crate::session::filter::Filter;

/// Depth limit: sub-agents nested deeper are shown flat.
const MAX_DEPTH: u16 = 8;
/// The index of an entry that is not shown.
const NOWHERE: u32 = u32::MAX;

/// Settings that decide which entries are shown.
#[derive(Clone, Copy)]
pub(crate) struct Visibility<'a> {
    /// Sub-agents whose entries are shown under their calls.
    pub(crate) open_lanes: &'a HashSet<Name>,
    /// The level of detail.
    pub(crate) level: Level,
    /// Entries hidden by folded branches.
    pub(crate) folded: &'a HashSet<EntryId>,
    /// Entries hidden by folded runs.
    pub(crate) runs: &'a FoldedRuns,
    /// The filter; it also shows entries of closed sub-agents and folded branches.
    pub(crate) filter: Option<&'a Filter>,
}

/// The shown entries in order, and the index of each.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    order: Vec<EntryId>,
    /// Indexes by the number of the entry; [`NOWHERE`] for hidden ones.
    places: Vec<u32>,
    attached: HashSet<Name>,
    /// The portions in which they are laid out.
    portions: Portions,
    displaced: Displaced,
    /// Entries that the rebuild has visited; lanes may form a cycle.
    visited: HashSet<EntryId>,
}

impl Sequence {
    pub(crate) fn rebuild(&mut self, transcript: &Transcript, visibility: &Visibility<'_>) {
        self.order.clear();
        self.places.clear();
        self.visited.clear();
        self.portions.clear();
        self.attached = attached_lanes(transcript);
        let are_all = self.attached.len() == transcript.lanes().len();
        self.displaced = Displaced::of(transcript, |lane| {
            are_all || self.attached.contains(&lane.name)
        });
        let starters = starters(transcript, visibility);
        self.place_displaced(transcript, None, visibility, &starters);
        for id in transcript.order() {
            let is_folded = visibility.filter.is_none() && visibility.folded.contains(id);
            if !is_folded && self.is_in_place(transcript, *id) {
                self.place_with_lanes(transcript, *id, visibility, &starters, 0);
            }
            self.place_displaced(transcript, Some(*id), visibility, &starters);
        }
    }

    /// Inserts lanes that belong after an entry but were read from elsewhere.
    fn place_displaced(
        &mut self,
        transcript: &Transcript,
        behind: Option<EntryId>,
        visibility: &Visibility<'_>,
        starters: &HashSet<EntryId>,
    ) {
        let names = self.displaced.following(behind).to_vec();
        for lane in names.iter().filter_map(|name| transcript.lane(name)) {
            for id in &lane.entries {
                self.place_with_lanes(transcript, *id, visibility, starters, 1);
            }
        }
    }

    /// Appends a new entry. Returns `false` if it does not belong at the end, so that the sequence
    /// must be rebuilt.
    pub(crate) fn append(
        &mut self,
        transcript: &Transcript,
        id: EntryId,
        visibility: &Visibility<'_>,
    ) -> bool {
        if let Some(lane) = transcript.lane_at(id) {
            let is_known = transcript
                .lane(lane)
                .is_some_and(|known| known.call.is_some());
            if is_known && !self.attached.contains(lane) {
                return false;
            }
            if self.attached.contains(lane) {
                return !visibility.opens(lane) || !visibility.shows(transcript, id);
            }
            if self.displaced.contains(lane) || is_in_other_file(transcript, id) {
                return !visibility.shows(transcript, id);
            }
        }
        if self.is_in_place(transcript, id) && visibility.shows(transcript, id) {
            self.place(transcript, id);
        }
        true
    }

    /// Updates the number of blocks of a shown entry.
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if let Some(place) = self.place_of(id) {
            self.portions.set(place, transcript.blocks_of(id));
        }
    }

    /// Whether an entry is shown in file order; entries of attached lanes are shown under their
    /// calls.
    fn is_in_place(&self, transcript: &Transcript, id: EntryId) -> bool {
        transcript
            .lane_at(id)
            .is_none_or(|lane| !self.attached.contains(lane) && !self.displaced.contains(lane))
    }

    fn place(&mut self, transcript: &Transcript, id: EntryId) {
        let Ok(place) = u32::try_from(self.order.len()) else {
            return;
        };
        if self.places.len() <= id.index() {
            self.places.resize(id.index() + 1, NOWHERE);
        }
        if let Some(known) = self
            .places
            .get_mut(id.index())
            .filter(|known| **known == NOWHERE)
        {
            *known = place;
            self.portions
                .set(self.order.len(), transcript.blocks_of(id));
            self.order.push(id);
        }
    }

    /// Adds an entry and, below it, the entries of the sub-agents that it started. A filter may
    /// show these without it.
    fn place_with_lanes(
        &mut self,
        transcript: &Transcript,
        id: EntryId,
        visibility: &Visibility<'_>,
        starters: &HashSet<EntryId>,
        depth: u16,
    ) {
        let is_shown = visibility.shows(transcript, id);
        if is_shown {
            self.place(transcript, id);
        }
        if depth >= MAX_DEPTH
            || !starters.contains(&id)
            || !(is_shown || visibility.filter.is_some())
        {
            return;
        }
        let Some(entry) = transcript.get(id) else {
            return;
        };
        for lane in entry
            .calls()
            .flat_map(|call| transcript.lanes_begun(id, &call.key))
        {
            if !visibility.opens(&lane.name) {
                continue;
            }
            for id in &lane.entries {
                if self.visited.insert(*id) {
                    self.place_with_lanes(transcript, *id, visibility, starters, depth + 1);
                }
            }
        }
    }

    pub fn order(&self) -> &[EntryId] {
        &self.order
    }

    /// The index of an entry.
    pub fn place_of(&self, id: EntryId) -> Option<usize> {
        let place = self
            .places
            .get(id.index())
            .copied()
            .filter(|place| *place != NOWHERE)?;
        usize::try_from(place).ok()
    }

    /// The entry at an index.
    pub(crate) fn at(&self, place: usize) -> Option<EntryId> {
        self.order.get(place).copied()
    }

    /// The nearest entry before an index that another sequence shows too; without one, the nearest
    /// after it.
    pub(crate) fn nearest_shown(&self, place: usize, other: &Self) -> Option<EntryId> {
        let (before, behind) = self.order.split_at_checked(place)?;
        before
            .iter()
            .rev()
            .chain(behind)
            .copied()
            .find(|id| other.place_of(*id).is_some())
    }

    /// The portions of the visible entries.
    pub(crate) fn portions(&self) -> &Portions {
        &self.portions
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

impl Visibility<'_> {
    fn opens(&self, lane: &Name) -> bool {
        self.filter.is_some() || self.open_lanes.contains(lane)
    }

    /// Whether an entry is in a folded helper and is not its first entry.
    fn folds_helper(&self, transcript: &Transcript, id: EntryId) -> bool {
        let lane = transcript
            .lane_at(id)
            .and_then(|lane| transcript.lane(lane));
        let folded = lane.filter(|lane| lane.is_helper && !self.open_lanes.contains(&lane.name));
        folded.is_some_and(|lane| {
            transcript.caller(lane).is_none() && helper_headed_by(transcript, id).is_none()
        })
    }

    fn shows(&self, transcript: &Transcript, id: EntryId) -> bool {
        let is_filtered = self
            .filter
            .is_some_and(|filter| filter.blocks(id).is_empty());
        let is_said =
            self.level != Level::Prompts || transcript.is_main_lane(transcript.lane_at(id));
        let is_in_run = runs::fold_at(self.level) && self.runs.hides(id);
        let is_folded = self.filter.is_none() && (is_in_run || self.folds_helper(transcript, id));
        !is_filtered
            && !is_folded
            && is_said
            && transcript
                .marks(id)
                .is_some_and(|marks| shows(marks, self.level))
    }
}

/// Whether an entry is from another file than the first entry of the session.
fn is_in_other_file(transcript: &Transcript, id: EntryId) -> bool {
    let file = |id: EntryId| transcript.get(id).map(|entry| entry.origin.file);
    transcript
        .order()
        .first()
        .is_some_and(|first| file(*first) != file(id))
}

/// Lanes whose calls are in the transcript. Other lanes are shown in file order, so that nothing is
/// hidden.
fn attached_lanes(transcript: &Transcript) -> HashSet<Name> {
    let attached = transcript
        .lanes()
        .iter()
        .filter(|lane| transcript.caller(lane).is_some());
    attached.map(|lane| lane.name.clone()).collect()
}

/// Entries with calls that started sub-agents which are shown under them.
fn starters(transcript: &Transcript, visibility: &Visibility<'_>) -> HashSet<EntryId> {
    let shown = transcript
        .lanes()
        .iter()
        .filter(|lane| visibility.opens(&lane.name));
    shown.filter_map(|lane| transcript.caller(lane)).collect()
}

/// Whether an entry has rows at a level.
fn shows(marks: Marks, level: Level) -> bool {
    match level {
        Level::Prompts => marks.prompt,
        Level::Outline | Level::Preview => !marks.is_hidden(),
        Level::Full | Level::Raw => true,
    }
}

/// The entry whose call started a lane.
pub(crate) fn starter_of(transcript: &Transcript, lane: &Name) -> Option<EntryId> {
    transcript.caller(transcript.lane(lane)?)
}

/// Depth of an entry in sub-agents.
pub(crate) fn depth_of(transcript: &Transcript, entry: &Entry) -> u16 {
    let mut depth = 0;
    let mut lane = entry.lane.clone();
    while let Some(name) = lane.filter(|lane| !transcript.is_main_lane(Some(lane))) {
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
