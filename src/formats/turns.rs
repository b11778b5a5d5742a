//! The entries of each turn, for agents that undo their last turns.

use std::collections::VecDeque;

use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Entry, Marks, Role};
use crate::model::text::Name;

/// Limit of the entries between an entry and a further part of it.
const NEWEST: usize = 32;

/// The entries of all turns.
#[derive(Debug, Default)]
pub(crate) struct TurnEntries {
    /// Entries per turn, packed because a long session has hundreds of thousands of them. The first
    /// item has the entries before any turn.
    turns: Vec<Vec<u8>>,
    newest: VecDeque<Key>,
}

impl TurnEntries {
    pub(crate) fn begin(&mut self) {
        if self.turns.is_empty() {
            self.turns.push(Vec::new());
        }
        self.turns.push(Vec::new());
    }

    /// Adds an entry, or a part of one. Returns whether the entry was added before.
    pub(crate) fn push(&mut self, entry: &Entry) -> bool {
        if self.turns.is_empty() {
            self.turns.push(Vec::new());
        }
        let is_known = self.newest.contains(&entry.key);
        if let Some(turn) = self.turns.last_mut().filter(|_| !is_known) {
            let packed =
                postcard::to_extend(&(&entry.key, entry.role, entry.marks), std::mem::take(turn));
            *turn = packed.unwrap_or_default();
            if self.newest.len() == NEWEST {
                self.newest.pop_front();
            }
            self.newest.push_back(entry.key.clone());
        }
        is_known
    }

    /// Removes the last turns, and emits their entries as undone.
    pub(crate) fn undo_last(&mut self, turns: u64, lane: Option<&Name>, out: &mut Batch) {
        let count = usize::try_from(turns)
            .unwrap_or(usize::MAX)
            .min(self.turns.len().saturating_sub(1));
        let from = self.turns.len() - count;
        for turn in self.turns.drain(from..) {
            let mut rest = turn.as_slice();
            while let Ok(((key, role, marks), behind)) =
                postcard::take_from_bytes::<(Key, Role, Marks)>(rest)
            {
                rest = behind;
                self.newest.retain(|known| *known != key);
                let mut entry = out.new_entry(key, role, None);
                entry.lane = lane.cloned();
                entry.marks = Marks {
                    undone: true,
                    ..marks
                };
                out.entry(entry);
            }
        }
    }
}
