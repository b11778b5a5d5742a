//! Counts of entries for the checks: calls, errors, compactions.
//!
//! Invariant: adding an entry again subtracts its earlier counts, so the sums always match the
//! current session, and an update costs O(log n).

use std::collections::BTreeSet;

use crate::model::entry::glance::CompactionKind;
use crate::model::entry::{Block, Entry, EntryId};
use crate::model::transcript::Transcript;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct EntryCounts {
    calls: u16,
    paired: u16,
    errors: u16,
}

/// Sums of all entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckCounts {
    by_entry: Vec<EntryCounts>,
    /// Calls with ids of their own.
    pub(crate) calls: u64,
    /// Those of `calls` that have a result.
    pub(crate) paired: u64,
    /// Failed calls, and errors of the agent.
    pub(crate) errors: u64,
    pub(crate) failed: BTreeSet<EntryId>,
    /// Entries with calls that have no result.
    pub(crate) open: BTreeSet<EntryId>,
    /// Entries whose records could not be read.
    pub(crate) broken: BTreeSet<EntryId>,
    /// Compactions of the main lane.
    pub(crate) compactions: BTreeSet<EntryId>,
}

impl CheckCounts {
    /// Counts all entries of a session.
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let mut notes = Self::default();
        for id in transcript.order() {
            notes.add(transcript, *id);
        }
        notes
    }

    /// Adds an entry, or updates its counts.
    pub(crate) fn add(&mut self, transcript: &Transcript, id: EntryId) {
        self.remove(id);
        let Some(glance) = transcript.glance(id) else {
            return;
        };
        let note = EntryCounts {
            calls: glance.calls,
            paired: glance.calls.saturating_sub(glance.open),
            errors: glance.errors,
        };
        let holds = [
            (&mut self.failed, glance.errors > 0),
            (&mut self.open, glance.open > 0),
            (&mut self.broken, glance.is_broken),
            (
                &mut self.compactions,
                glance.is_main && glance.compaction == CompactionKind::Whole,
            ),
        ];
        for (entries, _) in holds.into_iter().filter(|(_, holds)| *holds) {
            entries.insert(id);
        }
        self.calls += u64::from(note.calls);
        self.paired += u64::from(note.paired);
        self.errors += u64::from(note.errors);
        if self.by_entry.len() <= id.index() {
            self.by_entry.resize(id.index() + 1, EntryCounts::default());
        }
        if let Some(known) = self.by_entry.get_mut(id.index()) {
            *known = note;
        }
    }

    fn remove(&mut self, id: EntryId) {
        if id.index() >= self.by_entry.len() {
            return;
        }
        self.failed.remove(&id);
        self.open.remove(&id);
        self.broken.remove(&id);
        self.compactions.remove(&id);
        let Some(note) = self.by_entry.get_mut(id.index()).map(std::mem::take) else {
            return;
        };
        self.calls -= u64::from(note.calls);
        self.paired -= u64::from(note.paired);
        self.errors -= u64::from(note.errors);
    }
}

/// The index of the first block that satisfies a condition; 0 if none does.
pub(crate) fn block_of(entry: &Entry, holds: impl Fn(&Block) -> bool) -> usize {
    entry.blocks.iter().position(holds).unwrap_or(0)
}
