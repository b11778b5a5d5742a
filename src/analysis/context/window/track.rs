//! The requests of one lane, in the order of the file.

use std::collections::HashMap;

use super::sweep::{Carry, Spot};
use super::{ContextRow, Sums, TokenCount, shares};
use crate::analysis::context::seen::Path;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::transcript::Transcript;

/// Entries between two states that are kept.
const STRIDE: usize = 512;

/// A lane.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    lane: Option<Name>,
    ids: Vec<EntryId>,
    /// Entries that are taken in.
    swept: usize,
    /// The place in the lane of the entry of each row.
    at: Vec<usize>,
    rows: Vec<ContextRow>,
    sums: Sums,
    carry: Carry,
    /// The branch that the carry stands on; none is the active path.
    branch: Option<usize>,
    kept: Vec<Kept>,
    ways: Ways,
    /// Entries of ways that were walked again.
    #[cfg(test)]
    pub(crate) walked: usize,
}

/// Which entries of a lane lie on which way: a session may have thousands of branches, and the way to one of them must
/// not cost a look at all the others.
#[derive(Clone, Debug, Default)]
struct Ways {
    /// The branch of each entry that is taken in; none is the active path.
    branches: Vec<Option<usize>>,
    places: HashMap<Option<usize>, Vec<usize>>,
}

impl Ways {
    fn push(&mut self, branch: Option<usize>) {
        self.places.entry(branch).or_default().push(self.branches.len());
        self.branches.push(branch);
    }

    fn truncate(&mut self, len: usize) {
        for branch in self.branches.drain(len.min(self.branches.len())..) {
            self.places.get_mut(&branch).and_then(Vec::pop);
        }
    }

    /// The places on a way from a place on, in their order. `is_beyond` tells which are behind where the way leaves
    /// their branch.
    fn places(&self, path: &Path, first: usize, is_beyond: impl Fn(usize, usize) -> bool) -> Vec<usize> {
        let mut places = Vec::new();
        for (branch, limit) in path.limits() {
            let Some(list) = self.places.get(&branch) else { continue };
            let behind = list.iter().skip(list.partition_point(|place| *place < first)).copied();
            places.extend(behind.take_while(|place| !is_beyond(*place, limit)));
        }
        places.sort_unstable();
        places
    }
}

/// A state that can be gone back to.
#[derive(Clone, Debug)]
struct Kept {
    swept: usize,
    rows: usize,
    sums: Sums,
    carry: Carry,
    branch: Option<usize>,
}

impl Track {
    /// A lane without entries.
    pub(crate) fn new(lane: Option<Name>) -> Self {
        Self { lane, ..Self::default() }
    }

    /// Its name.
    pub(crate) fn lane(&self) -> Option<&Name> {
        self.lane.as_ref()
    }

    /// How many entries it has.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> &[ContextRow] {
        &self.rows
    }

    /// What is true of all its requests.
    pub(crate) fn sums(&self) -> Sums {
        self.sums
    }

    /// Bytes of its texts that made a token.
    pub(crate) fn density(&self) -> f64 {
        shares::density(self.carry.growth.0, self.carry.growth.1)
    }

    /// The row of an entry: its own, else the last one before it, else the first.
    pub(crate) fn row_at(&self, place: usize) -> Option<usize> {
        let row = self.at.partition_point(|at| *at <= place).saturating_sub(1);
        (row < self.rows.len()).then_some(row)
    }

    /// Adds an entry at the end.
    pub(crate) fn push(&mut self, id: EntryId) {
        self.ids.push(id);
    }

    /// The entry at this place has changed: what follows from it must be found anew.
    pub(crate) fn roll_back(&mut self, place: usize) {
        if place >= self.swept {
            return;
        }
        while self.kept.last().is_some_and(|kept| kept.swept > place) {
            self.kept.pop();
        }
        let kept = self.kept.last().cloned();
        let Some(Kept { swept, rows, sums, carry, branch }) = kept else {
            let (lane, ids) = (self.lane.take(), std::mem::take(&mut self.ids));
            *self = Self { lane, ids, ..Self::default() };
            return;
        };
        for row in self.rows.split_off(rows) {
            // What the first request after a compaction said of it is gone with it.
            if let Some(compaction) = row.request().and_then(|request| request.compacted) {
                self.set_after(compaction, None);
            }
        }
        self.at.truncate(rows);
        self.ways.truncate(swept);
        (self.swept, self.sums, self.carry, self.branch) = (swept, sums, carry, branch);
    }

    /// Takes in all that is new. Says whether anything was.
    pub(crate) fn settle(&mut self, transcript: &Transcript) -> bool {
        let first = self.swept;
        while let Some(id) = self.ids.get(self.swept).copied() {
            if self.swept.is_multiple_of(STRIDE)
                && self.kept.last().is_none_or(|kept| kept.swept < self.swept)
            {
                self.kept.push(Kept {
                    swept: self.swept,
                    rows: self.rows.len(),
                    sums: self.sums,
                    carry: self.carry.clone(),
                    branch: self.branch,
                });
            }
            self.step(transcript, id);
            self.ways.push(branch_of(transcript, id));
            self.swept += 1;
        }
        self.swept > first
    }

    fn step(&mut self, transcript: &Transcript, id: EntryId) {
        let Some(entry) = transcript.get(id) else { return };
        let branch = branch_of(transcript, id);
        if branch != self.branch && !entry.marks.copy {
            self.branch = branch;
            let path = Path::to(transcript, id);
            if !self.leads_on(transcript, &path) {
                let (kept, way) = self.way_to(transcript, &path);
                #[cfg(test)]
                {
                    self.walked += way.len();
                }
                self.carry = self.walk(transcript, kept, &way);
            }
        }
        let spot = Spot { transcript, ids: &self.ids, place: self.swept };
        let mut rows = Vec::new();
        self.carry.step(&spot, id, entry, &mut |row| rows.push(row));
        for row in rows {
            self.push_row(row);
        }
    }

    /// Whether the way goes on from the entry before in the file: a branch begins where it was left later.
    fn leads_on(&self, transcript: &Transcript, path: &Path) -> bool {
        let before = self.ids.iter().take(self.swept).rev().find(|id| {
            let entry = transcript.get(**id);
            entry.is_some_and(|entry| !entry.marks.copy)
        });
        before
            .is_none_or(|id| transcript.place_of(*id).is_some_and(|place| path.holds(transcript, *id, place)))
    }

    /// A state on a way, and the places that come after it on the way.
    fn way_to(&self, transcript: &Transcript, path: &Path) -> (Carry, Vec<usize>) {
        let place_of = |place: usize| self.ids.get(place).and_then(|id| transcript.place_of(*id));
        let is_within = |kept: &Kept| {
            let last = kept.swept.checked_sub(1).and_then(place_of);
            last.is_none_or(|last| path.active().is_some_and(|active| last <= active))
        };
        // A state on the active path holds as far as the path follows that.
        let within = self.kept.get(..self.kept.partition_point(is_within)).unwrap_or_default();
        let kept = within.iter().rev().find(|kept| kept.branch.is_none());
        let (first, carry) = kept.map_or((0, Carry::default()), |kept| (kept.swept, kept.carry.clone()));
        let is_beyond = |place, limit| place_of(place).is_some_and(|at| at > limit);
        (carry, self.ways.places(path, first, is_beyond))
    }

    /// What is known before an entry that does not go on from the one before it in the file: its way is walked again.
    fn walk(&self, transcript: &Transcript, mut carry: Carry, way: &[usize]) -> Carry {
        for place in way.iter().copied() {
            let id = self.ids.get(place).copied();
            let Some((id, entry)) = id.and_then(|id| Some((id, transcript.get(id)?))) else { continue };
            carry.step(&Spot { transcript, ids: &self.ids, place }, id, entry, &mut |_| {});
        }
        carry.rewind();
        carry
    }

    fn push_row(&mut self, row: ContextRow) {
        match &row {
            ContextRow::Request(request) => {
                self.sums.add(request);
                if let Some(compaction) = request.compacted {
                    self.set_after(compaction, Some(request.prompt));
                }
            }
            ContextRow::Compaction(compaction) => {
                self.sums.compactions += usize::from(!compaction.is_partial);
            }
        }
        self.rows.push(row);
        self.at.push(self.swept);
    }

    /// Where an agent does not say what a compaction left, the next request does.
    fn set_after(&mut self, compaction: EntryId, prompt: Option<u64>) {
        for row in self.rows.iter_mut().rev() {
            if let ContextRow::Compaction(row) = row
                && row.entry == compaction
            {
                if row.after.is_none_or(|after| !after.is_recorded) {
                    row.after = prompt.map(|tokens| TokenCount { tokens, is_recorded: false });
                }
                return;
            }
        }
    }
}

impl Sums {
    fn add(&mut self, request: &super::Request) {
        let is_first = self.requests == 0;
        self.requests += 1;
        if let Some(read) = request.read {
            self.prompts = self.prompts.saturating_add(request.prompt);
            self.read = self.read.saturating_add(read);
            if request.opens_turn && !is_first && !request.is_summary {
                self.first_prompts = self.first_prompts.saturating_add(request.prompt);
                self.first_read = self.first_read.saturating_add(read);
            }
        }
        if let Some(found) = &request.cache_break {
            self.breaks += 1;
            self.usd += found.usd.unwrap_or(0.0);
            self.unpriced += usize::from(found.usd.is_none());
        }
        if request.prompt > self.largest {
            self.largest = request.prompt;
            self.limit = request.limit;
        }
    }
}

/// The branch that an entry was left on.
fn branch_of(transcript: &Transcript, id: EntryId) -> Option<usize> {
    let branches = transcript.branches();
    let branch = branches.of(id).filter(|_| branches.abandoned.contains(&id));
    branch.map(|branch| branch.number)
}
