//! Sums of abandoned branches, for their rows.
//!
//! The row of a branch is cached with its sum, since its entries are packed by then and the row
//! changes only with the sum.
//!
//! Invariant: entries of branches are summed when branches change, a limited number per frame, so a
//! frame costs no more in a long session that grows than in a short one.

use std::collections::HashMap;

use super::row::{self, OutlineRow};
use crate::analysis::account::Account;
use crate::model::branches::Branch;
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;

/// Entries summed per frame; unpacking this many takes a few milliseconds.
const A_FRAME: usize = 512;

/// The sums so far.
#[derive(Clone, Debug, Default)]
pub struct BranchSums {
    branches: HashMap<usize, LeftBranch>,
    /// Generation of the branches.
    branches_seen: u32,
    /// Number of entries that may still be summed in this frame.
    budget: usize,
    /// Sums requested in this frame that are incomplete.
    pub(super) incomplete: usize,
}

/// A partial sum, and how many entries are in it.
#[derive(Clone, Debug, Default)]
struct BranchSum {
    processed: usize,
    facts: TurnFacts,
}

#[derive(Clone, Debug, Default)]
struct LeftBranch {
    sum: BranchSum,
    /// The row, once the sum is complete.
    row: Option<OutlineRow>,
}

impl BranchSum {
    /// Adds as many entries as the budget of the frame allows.
    fn add_some(
        &mut self,
        transcript: &Transcript,
        account: &Account,
        entries: &[EntryId],
        left: &mut usize,
    ) {
        let new = entries.get(self.processed..).unwrap_or_default();
        self.processed += account.add_some(transcript, new, left, &mut self.facts);
    }
}

impl BranchSums {
    /// Resets the budget for a new frame.
    pub(crate) fn begin_frame(&mut self) {
        self.budget = A_FRAME;
        self.incomplete = 0;
    }

    /// Drops the sum of the branch that has a changed entry.
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if let Some(branch) = transcript.branches().of(id) {
            self.branches.remove(&branch.number);
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The row of a branch, without its sum until that is complete.
    pub(crate) fn row_of(
        &mut self,
        transcript: &Transcript,
        account: &Account,
        branch: &Branch,
    ) -> OutlineRow {
        if self.branches_seen != transcript.branches_changed() {
            self.branches_seen = transcript.branches_changed();
            self.branches.clear();
        }
        let LeftBranch { sum, row } = self.branches.entry(branch.number).or_default();
        if let Some(row) = row {
            return row.clone();
        }
        sum.add_some(transcript, account, &branch.entries, &mut self.budget);
        if sum.processed < branch.entries.len() {
            self.incomplete += 1;
            return row::of_branch(transcript, branch, None);
        }
        row.insert(row::of_branch(transcript, branch, Some(&sum.facts)))
            .clone()
    }
}
