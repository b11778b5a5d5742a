//! Rows of branches that were left. What they tell lies in entries that are packed by then, and hardly changes.

use std::collections::HashMap;

use super::row::Row;
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;

/// The rows made so far, by number of the branch.
#[derive(Clone, Debug, Default)]
pub struct LeftRows {
    rows: HashMap<usize, Row>,
    /// How often branches had changed.
    branches_seen: u32,
}

impl LeftRows {
    /// The row of a branch, if it was made and is true.
    pub fn get(&mut self, transcript: &Transcript, number: usize) -> Option<&Row> {
        if self.branches_seen != transcript.branches_changed() {
            self.branches_seen = transcript.branches_changed();
            self.rows.clear();
        }
        self.rows.get(&number)
    }

    /// Keeps a row that was made just now.
    pub fn keep(&mut self, number: usize, row: Row) {
        self.rows.insert(number, row);
    }

    /// An entry is another one now.
    pub fn change(&mut self, transcript: &Transcript, id: EntryId) {
        if let Some(branch) = transcript.branches().of(id) {
            self.rows.remove(&branch.number);
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.rows.clear();
    }
}
