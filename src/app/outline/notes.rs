//! What entries contribute to the outline: calls, errors, compactions.
//!
//! Invariant: noting an entry again takes back what it contributed before, so the sums are those of the
//! session as it stands, and an appended entry costs what it holds.

use std::collections::{BTreeSet, HashMap};

use crate::app::seek::is_error;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId};
use crate::model::pairing::is_textual;
use crate::model::transcript::Transcript;

/// What one entry contributes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Note {
    calls: u64,
    paired: u64,
    errors: u64,
}

/// Sums of all entries.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    by_entry: HashMap<EntryId, Note>,
    /// Calls with ids of their own.
    pub calls: u64,
    /// Those that have their result.
    pub paired: u64,
    /// Failed calls, errors of the agent.
    pub errors: u64,
    /// Entries with errors.
    pub failed: BTreeSet<EntryId>,
    /// Entries with calls that have no result.
    pub open: BTreeSet<EntryId>,
    /// Entries of records that could not be read.
    pub broken: BTreeSet<EntryId>,
    /// Compactions of the main lane.
    pub compactions: BTreeSet<EntryId>,
}

impl Notes {
    /// Collects all entries of a session.
    pub fn of(transcript: &Transcript) -> Self {
        let mut notes = Self::default();
        for id in transcript.order() {
            notes.note(transcript, *id);
        }
        notes
    }

    /// Notes an entry that is new or has changed.
    pub fn note(&mut self, transcript: &Transcript, id: EntryId) {
        self.take_back(id);
        let Some(entry) = transcript.get(id) else { return };
        let mut note = Note::default();
        for block in &entry.blocks {
            self.see(id, block, &mut note);
        }
        if entry.lane.is_none() && entry.blocks.iter().any(is_compaction) {
            self.compactions.insert(id);
        }
        self.calls += note.calls;
        self.paired += note.paired;
        self.errors += note.errors;
        if note != Note::default() {
            self.by_entry.insert(id, note);
        }
    }

    fn see(&mut self, id: EntryId, block: &Block, note: &mut Note) {
        match &block.kind {
            BlockKind::Call(call) if !is_textual(&call.key) => {
                note.calls += 1;
                note.paired += u64::from(call.state.result().is_some());
                if call.state.result().is_none() {
                    self.open.insert(id);
                }
            }
            BlockKind::Raw(_) if is_error(block) => drop(self.broken.insert(id)),
            _ => {}
        }
        if counts_as_error(block) {
            note.errors += 1;
            self.failed.insert(id);
        }
    }

    fn take_back(&mut self, id: EntryId) {
        self.failed.remove(&id);
        self.open.remove(&id);
        self.broken.remove(&id);
        self.compactions.remove(&id);
        let Some(note) = self.by_entry.remove(&id) else { return };
        self.calls -= note.calls;
        self.paired -= note.paired;
        self.errors -= note.errors;
    }
}

/// Broken records are counted by the tally, results without their calls by the lint.
pub fn counts_as_error(block: &Block) -> bool {
    is_error(block) && !matches!(block.kind, BlockKind::Result(_) | BlockKind::Raw(_))
}

/// Whether a block is a compaction that dropped more than old outputs.
pub fn is_compaction(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Break(Break::Compaction { partial: false, .. }))
}

/// The place of the first block of an entry for which this holds.
pub fn block_of(entry: &Entry, holds: impl Fn(&Block) -> bool) -> usize {
    entry.blocks.iter().position(holds).unwrap_or(0)
}
