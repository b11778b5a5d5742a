//! Figures of a turn, a lane or a session.

use super::class::{Class, Sums};
use crate::analysis::money::cost::{self, Cost};
use crate::model::entry::Entry;
use crate::model::turn::TurnFacts;

/// Facts of some entries, and their time by class.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub facts: TurnFacts,
    pub time: Sums,
    /// Whether sub-agents took part whose records are missing.
    pub(crate) lacks_agents: bool,
    /// Whether the session records the prompts of all its requests as one sum.
    pub(crate) has_prompts: bool,
}

impl Figures {
    /// Adds the facts of others, without their time, which ran in parallel.
    pub(crate) fn merge_facts(&mut self, other: &Self) {
        self.facts.merge(&other.facts);
    }

    /// The cost of the tokens.
    pub fn cost(&self) -> Cost {
        let has_prompts = self.has_prompts || self.facts.totals.has_summed_prompts();
        cost::of_part(&self.facts.totals, has_prompts).partial_if(self.lacks_agents)
    }

    /// Time in ms of the model, of tools and of retries; `None` if not recorded.
    pub fn work_ms(&self) -> Option<u64> {
        Some(self.time.work()).filter(|_| self.time.total() > self.time.of(Class::Unknown))
    }

    /// Duration in ms: the work time, or the whole span if no work time is recorded.
    pub(crate) fn duration_ms(&self) -> Option<u64> {
        self.work_ms().or_else(|| self.span_ms())
    }

    /// From the first to the last timestamp, in ms.
    pub(crate) fn span_ms(&self) -> Option<u64> {
        Some(self.facts.ended?.since(self.facts.started?))
    }
}

/// Figures of a path through the session.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathFacts {
    /// Copies that forks made of entries are not counted.
    pub(crate) entries: usize,
    /// Turns of the main lane that begin on the path.
    pub(crate) turns: usize,
    pub(crate) work: Figures,
}

impl PathFacts {
    /// Sums over entries; copies count where their originals are. Time by class is not computed.
    pub(crate) fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let mut facts = Self::default();
        for entry in entries.filter(|entry| !entry.marks.copy) {
            facts.entries += 1;
            facts.turns += usize::from(entry.marks.prompt && entry.lane.is_none());
            facts.work.facts.add(entry);
        }
        facts
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.entries += other.entries;
        self.turns += other.turns;
        self.work.merge_facts(&other.work);
    }

    /// Subtracts a part of the path, whose time is not known.
    pub(crate) fn leave(&mut self, other: &Self) {
        self.entries = self.entries.saturating_sub(other.entries);
        self.turns = self.turns.saturating_sub(other.turns);
        self.work.facts.subtract(&other.work.facts);
    }
}
