//! What entries contribute to the outline: calls, errors, compactions, uses of files.
//!
//! Invariant: noting an entry again takes back what it contributed before, so the sums are those of the
//! session as it stands, and an appended entry costs what it holds.

use std::collections::{BTreeSet, HashMap};

use crate::app::seek::is_error;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId};
use crate::model::pairing::is_textual;
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;

/// How a file was used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Calls that read it.
    pub reads: u32,
    /// Calls that changed it.
    pub edits: u32,
    /// Calls that wrote all of it.
    pub writes: u32,
    /// Entries and blocks of these calls.
    pub at: BTreeSet<(EntryId, usize)>,
}

impl Uses {
    /// Takes in the uses of the same file under another name.
    pub fn absorb(&mut self, other: &Self) {
        self.reads += other.reads;
        self.edits += other.edits;
        self.writes += other.writes;
        self.at.extend(&other.at);
    }

    fn sum(&mut self, kind: ToolKind) -> &mut u32 {
        match kind {
            ToolKind::Write => &mut self.writes,
            ToolKind::Edit => &mut self.edits,
            _ => &mut self.reads,
        }
    }
}

/// What one entry contributes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Note {
    calls: u64,
    paired: u64,
    errors: u64,
    files: Vec<(Text, ToolKind, usize)>,
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
    /// Files by the path that calls gave.
    pub files: HashMap<Text, Uses>,
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
        for (place, block) in entry.blocks.iter().enumerate() {
            self.see(id, place, block, &mut note);
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

    fn see(&mut self, id: EntryId, place: usize, block: &Block, note: &mut Note) {
        match &block.kind {
            BlockKind::Call(call) => {
                if !is_textual(&call.key) {
                    note.calls += 1;
                    note.paired += u64::from(call.state.result().is_some());
                    if call.state.result().is_none() {
                        self.open.insert(id);
                    }
                }
                for path in used_by(call) {
                    let uses = self.files.entry(path.clone()).or_default();
                    *uses.sum(call.kind) += 1;
                    uses.at.insert((id, place));
                    note.files.push((path, call.kind, place));
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
        for (path, kind, place) in note.files {
            let Some(uses) = self.files.get_mut(&path) else { continue };
            let sum = uses.sum(kind);
            *sum = sum.saturating_sub(1);
            uses.at.remove(&(id, place));
            if uses.at.is_empty() {
                self.files.remove(&path);
            }
        }
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

/// The files that a call read or changed; what failed or was not allowed touched none.
fn used_by(call: &ToolCall) -> Vec<Text> {
    let is_of_file = matches!(call.kind, ToolKind::Read | ToolKind::Edit | ToolKind::Write);
    if !is_of_file || matches!(call.state, ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Lost) {
        return Vec::new();
    }
    let told = call.headline.trim();
    // Several paths stand side by side; a single one may have blanks.
    let words: Vec<&str> = told.split(' ').collect();
    let is_list = words.len() > 1 && words.iter().all(|word| word.contains(['/', '.']));
    let paths = if is_list { words } else { vec![told] };
    let paths = paths.into_iter().map(without_lines).filter(|path| !path.is_empty() && !path.contains('\n'));
    let mut paths: Vec<Text> = paths.map(Text::from).collect();
    paths.dedup();
    paths
}

/// `src/watch.rs:120-180` without the lines.
fn without_lines(path: &str) -> &str {
    let is_lines = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '-') && !rest.is_empty();
    path.rsplit_once(':').filter(|(_, rest)| is_lines(rest)).map_or(path, |(path, _)| path)
}

/// The place of the first block of an entry for which this holds.
pub fn block_of(entry: &Entry, holds: impl Fn(&Block) -> bool) -> usize {
    entry.blocks.iter().position(holds).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::without_lines;

    #[test]
    fn paths_lose_their_lines() {
        for (told, path) in
            [("a/b.rs:120-180", "a/b.rs"), ("a/b.rs:7", "a/b.rs"), ("C:", "C:"), ("C:/x", "C:/x")]
        {
            assert_eq!(without_lines(told), path);
        }
    }
}
