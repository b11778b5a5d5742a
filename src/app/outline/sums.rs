//! What was spent by sub-agents and on branches, for their rows.
//!
//! Invariant: an entry that is appended to a sub-agent costs itself; what a branch holds is gone over when
//! branches change. So a long session that grows costs no more than a short one.

use std::collections::HashMap;

use crate::model::branch::Branch;
use crate::model::entry::EntryId;
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;

/// The sums so far.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// By sub-agent: how many of its entries are taken in, and their sum.
    lanes: HashMap<Name, (usize, TurnFacts)>,
    /// By number.
    branches: HashMap<usize, TurnFacts>,
    /// How often branches had changed.
    branches_seen: u32,
}

impl Sums {
    /// An entry that was there before is another one now.
    pub fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if let Some(name) = transcript.lane_at(id) {
            self.lanes.remove(name);
        }
        if let Some(branch) = transcript.branches().of(id) {
            self.branches.remove(&branch.number);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The sum of a sub-agent.
    pub fn of_lane(&mut self, transcript: &Transcript, lane: &LaneFacts) -> &TurnFacts {
        let (known, sum) = self.lanes.entry(lane.name.clone()).or_default();
        transcript.pass(lane.entries.iter().skip(*known).copied(), |entry| sum.add(entry));
        *known = lane.entries.len();
        sum
    }

    /// The sum of a branch.
    pub fn of_branch(&mut self, transcript: &Transcript, branch: &Branch) -> &TurnFacts {
        if self.branches_seen != transcript.branches_changed() {
            self.branches_seen = transcript.branches_changed();
            self.branches.clear();
        }
        self.branches.entry(branch.number).or_insert_with(|| {
            let mut sum = TurnFacts::default();
            transcript.pass(branch.entries.iter().copied(), |entry| sum.add(entry));
            sum
        })
    }
}
