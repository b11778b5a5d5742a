//! What was spent on branches, for their rows.
//!
//! The row of a branch is kept with its sum: what it shows lies in entries that are packed by then, and changes
//! when the sum does.
//!
//! Invariant: what a branch holds is gone over when branches change, some of it for each frame. So a long session that
//! grows costs no more than a short one.

use std::collections::HashMap;

use super::row::{self, OutlineRow};
use crate::analysis::account::Account;
use crate::model::branches::Branch;
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;

/// Entries that are taken in for one frame: to unpack as many takes a few milliseconds, and with fewer the sums of a
/// long session would be long in coming.
const A_FRAME: usize = 512;

/// The sums so far.
#[derive(Clone, Debug, Default)]
pub struct Sums {
    /// By number.
    branches: HashMap<usize, Left>,
    /// How often branches had changed.
    branches_seen: u32,
    /// Entries that may still be taken in for this frame.
    left: usize,
    /// Sums that were asked for in this frame and are not whole.
    lacking: usize,
}

/// What some entries come to, of which so many are taken in.
#[derive(Clone, Debug, Default)]
struct Sum {
    known: usize,
    facts: TurnFacts,
}

/// A branch that was left.
#[derive(Clone, Debug, Default)]
struct Left {
    sum: Sum,
    /// Made when the sum was whole.
    row: Option<OutlineRow>,
}

impl Sum {
    /// Takes in as many more as may be.
    fn take(
        &mut self,
        transcript: &Transcript,
        account: &Account,
        entries: &[EntryId],
        left: &mut usize,
    ) {
        let new = entries.get(self.known..).unwrap_or_default();
        self.known += account.add_some(transcript, new, left, &mut self.facts);
    }
}

impl Sums {
    /// A new frame begins.
    pub(crate) fn begin_frame(&mut self) {
        self.left = A_FRAME;
        self.lacking = 0;
    }

    /// How many sums that were asked for in this frame need more entries.
    pub(crate) fn lacking(&self) -> usize {
        self.lacking
    }

    /// An entry that was there before is another one now.
    pub(crate) fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if let Some(branch) = transcript.branches().of(id) {
            self.branches.remove(&branch.number);
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The row of a branch, without its sum until all of it is taken in.
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
        let Left { sum, row } = self.branches.entry(branch.number).or_default();
        if let Some(row) = row {
            return row.clone();
        }
        sum.take(transcript, account, &branch.entries, &mut self.left);
        if sum.known < branch.entries.len() {
            self.lacking += 1;
            return row::of_branch(transcript, branch, None);
        }
        row.insert(row::of_branch(transcript, branch, Some(&sum.facts)))
            .clone()
    }
}
