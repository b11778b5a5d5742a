//! What a turn, a lane or a session comes to.

use super::class::{Class, Sums};
use crate::analysis::money::cost::{self, Cost};
use crate::model::entry::Entry;
use crate::model::turn::TurnFacts;

/// What happened in some entries, and whose time that was.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Calls, errors, tokens.
    pub facts: TurnFacts,
    /// Time by what it was spent on.
    pub time: Sums,
    /// Whether a sub-agent had a part in it whose own records are not here.
    pub(crate) lacks_agents: bool,
    /// Whether the session records the prompts of all its requests as one sum.
    pub(crate) has_prompts: bool,
}

impl Figures {
    /// Adds what happened elsewhere; its time ran beside this one's.
    pub(crate) fn join_facts(&mut self, other: &Self) {
        self.facts.join(&other.facts);
    }

    /// Takes away what was joined before, but for the times of its beginning and its end.
    fn leave(&mut self, other: &Self) {
        self.facts.leave(&other.facts);
        self.time.leave(&other.time);
    }

    /// What it cost.
    pub fn cost(&self) -> Cost {
        let has_prompts = self.has_prompts || self.facts.totals.tells_prompts_as_sum();
        cost::of_part(&self.facts.totals, has_prompts).lacking(self.lacks_agents)
    }

    /// Time of the model, of tools and of requests that were made again, in ms; nothing if that is not recorded.
    pub fn work_ms(&self) -> Option<u64> {
        Some(self.time.work()).filter(|_| self.time.total() > self.time.of(Class::Unknown))
    }

    /// How long it took, in ms: the time of work; where it is not known whose time it was, all of it.
    pub(crate) fn took_ms(&self) -> Option<u64> {
        self.work_ms().or_else(|| self.span_ms())
    }

    /// From the first to the last sign of it, in ms.
    pub(crate) fn span_ms(&self) -> Option<u64> {
        Some(self.facts.ended?.since(self.facts.started?))
    }
}

/// What lies on a path through the session.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathFacts {
    /// Entries, copies of others left out.
    pub(crate) entries: usize,
    /// Turns of the main lane that begin on it.
    pub(crate) turns: usize,
    /// What happened on it.
    pub(crate) work: Figures,
}

impl PathFacts {
    /// Sums up entries; copies are counted where they come from. Whose time it was is not asked.
    pub(crate) fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let mut facts = Self::default();
        for entry in entries.filter(|entry| !entry.marks.copy) {
            facts.entries += 1;
            facts.turns += usize::from(entry.marks.prompt && entry.lane.is_none());
            facts.work.facts.add(entry);
        }
        facts
    }

    /// Adds what lies on another path.
    pub(crate) fn join(&mut self, other: &Self) {
        self.entries += other.entries;
        self.turns += other.turns;
        self.work.join_facts(&other.work);
    }

    /// Takes away what lies on a part of it.
    pub(crate) fn leave(&mut self, other: &Self) {
        self.entries = self.entries.saturating_sub(other.entries);
        self.turns = self.turns.saturating_sub(other.turns);
        self.work.leave(&other.work);
    }
}
