//! Turns: a prompt and everything that answers it, derived from the order of the main lane, or of
//! that of each joined session.

use super::entry::{BlockKind, Entry, EntryId};
use super::timestamp::Timestamp;
use super::tool::{ToolState, is_textual};
use super::totals::Totals;

/// A prompt with all entries until the next prompt of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub prompt: EntryId,
    /// Position of the prompt in the order of the transcript.
    pub(crate) first: usize,
    /// Number of the joined session it belongs to, from 0.
    pub(crate) session: u32,
}

/// Figures of a turn.
#[derive(Clone, Debug, Default)]
pub struct TurnFacts {
    pub(crate) calls: u32,
    pub(crate) failed: u32,
    /// Failed calls and errors.
    pub(crate) errors: u32,
    /// Calls without a result, except calls written as text, for which no results are recorded.
    pub(crate) open: u32,
    /// Calls that started a sub-agent.
    pub(crate) delegated: u32,
    /// First timestamp: that of the prompt, if it has one.
    pub(crate) started: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub totals: Totals,
}

impl TurnFacts {
    /// The figures of several entries.
    pub(crate) fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let mut facts = Self::default();
        entries.for_each(|entry| facts.add(entry));
        facts
    }

    /// Adds a later entry.
    pub(crate) fn add(&mut self, entry: &Entry) {
        if let Some(usage) = entry
            .usage
            .as_ref()
            .filter(|usage| usage.scope.is_of_requests())
        {
            self.totals.add(usage, entry.model.as_ref());
        }
        // A copy is counted at its original.
        if entry.marks.copy {
            return;
        }
        // Bookkeeping may belong to the next turn: a snapshot is recorded before the prompt that it
        // was made for.
        if !entry.marks.trace && !entry.is_aside() {
            self.started = self.started.or(entry.at);
            self.ended = self.ended.max(entry.end());
        }
        for block in &entry.blocks {
            self.errors += u32::from(entry.has_failed(&block.kind));
            self.count_block(&block.kind);
        }
    }

    /// Adds the figures of later entries.
    pub(crate) fn merge(&mut self, later: &Self) {
        self.calls += later.calls;
        self.failed += later.failed;
        self.errors += later.errors;
        self.open += later.open;
        self.delegated += later.delegated;
        self.started = self.started.or(later.started);
        self.ended = self.ended.max(later.ended);
        self.totals.merge(&later.totals);
    }

    /// Subtracts figures that were added, except start and end.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.calls = self.calls.saturating_sub(other.calls);
        self.failed = self.failed.saturating_sub(other.failed);
        self.errors = self.errors.saturating_sub(other.errors);
        self.open = self.open.saturating_sub(other.open);
        self.delegated = self.delegated.saturating_sub(other.delegated);
        self.totals.subtract(&other.totals);
    }

    fn count_block(&mut self, block: &BlockKind) {
        if let BlockKind::Call(call) = block {
            self.calls += 1;
            self.failed += u32::from(matches!(call.state, ToolState::Failed(_)));
            self.open += u32::from(call.state.result().is_none() && !is_textual(&call.key));
            self.delegated += u32::from(call.has_started_agent());
            let at = call
                .state
                .result()
                .and_then(|result| result.ended().or(result.at));
            self.started = self.started.or(at);
            self.ended = self.ended.max(at);
        }
    }
}
