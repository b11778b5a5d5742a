//! What entries contribute to the outline: calls, errors, compactions.
//!
//! Invariant: noting an entry again takes back what it contributed before, so the sums are those of the
//! session as it stands, and an appended entry costs what it holds.

use std::collections::BTreeSet;

use crate::model::entry::glance::Compaction;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId};
use crate::model::transcript::Transcript;

/// What one entry contributes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Note {
    calls: u16,
    paired: u16,
    errors: u16,
}

/// Sums of all entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    by_entry: Vec<Note>,
    /// Calls with ids of their own.
    pub(crate) calls: u64,
    /// Those that have their result.
    pub(crate) paired: u64,
    /// Failed calls, errors of the agent.
    pub(crate) errors: u64,
    /// Entries with errors.
    pub(crate) failed: BTreeSet<EntryId>,
    /// Entries with calls that have no result.
    pub(crate) open: BTreeSet<EntryId>,
    /// Entries of records that could not be read.
    pub(crate) broken: BTreeSet<EntryId>,
    /// Compactions of the main lane.
    pub(crate) compactions: BTreeSet<EntryId>,
}

impl Notes {
    /// Collects all entries of a session.
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let mut notes = Self::default();
        for id in transcript.order() {
            notes.note(transcript, *id);
        }
        notes
    }

    /// Notes an entry that is new or has changed.
    pub(crate) fn note(&mut self, transcript: &Transcript, id: EntryId) {
        self.take_back(id);
        let Some(glance) = transcript.glance(id) else {
            return;
        };
        let note = Note {
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
                glance.is_main && glance.compaction == Compaction::Whole,
            ),
        ];
        for (entries, _) in holds.into_iter().filter(|(_, holds)| *holds) {
            entries.insert(id);
        }
        self.calls += u64::from(note.calls);
        self.paired += u64::from(note.paired);
        self.errors += u64::from(note.errors);
        if self.by_entry.len() <= id.index() {
            self.by_entry.resize(id.index() + 1, Note::default());
        }
        if let Some(known) = self.by_entry.get_mut(id.index()) {
            *known = note;
        }
    }

    fn take_back(&mut self, id: EntryId) {
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

/// Whether a block is a compaction that dropped more than old outputs.
pub(crate) fn is_compaction(block: &Block) -> bool {
    matches!(
        block.kind,
        BlockKind::Break(Break::Compaction { partial: false, .. })
    )
}

/// The place of the first block of an entry for which this holds.
pub(crate) fn block_of(entry: &Entry, holds: impl Fn(&Block) -> bool) -> usize {
    entry.blocks.iter().position(holds).unwrap_or(0)
}
