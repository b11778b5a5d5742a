//! The turns of the main agent by the time of their prompts, and what has changed in them.

use std::collections::{BTreeSet, HashMap};

use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;

/// All turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    prompts: BTreeSet<(Timestamp, EntryId)>,
    /// Of each turn, by its beginning, a number that rises with what changes in it.
    stamps: HashMap<Timestamp, u64>,
    clock: u64,
}

impl Turns {
    /// None, as before the first entry; what was known of turns before counts no more.
    pub(super) fn begin_again(&self) -> Self {
        Self { clock: self.clock + 1, ..Self::default() }
    }

    /// Adds a prompt.
    pub(super) fn insert(&mut self, at: Timestamp, id: EntryId) {
        self.prompts.insert((at, id));
    }

    /// Takes a prompt out.
    pub(super) fn remove(&mut self, at: Timestamp, id: EntryId) {
        self.prompts.remove(&(at, id));
    }

    /// Prompts within a time, in order.
    pub(super) fn prompts(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = Timestamp> + '_ {
        self.prompts.range((from, EntryId(0))..).map(|(at, _)| *at).take_while(move |at| *at < to)
    }

    /// From when to before when the turn lasts that a timestamp belongs to.
    pub(super) fn at(&self, at: Timestamp) -> (Timestamp, Timestamp) {
        let after = EntryId(u32::MAX);
        let start = self.prompts.range(..=(at, after)).next_back().map(|(at, _)| *at);
        let end = self.prompts.range((at, after)..).find(|(next, _)| *next > at).map(|(at, _)| *at);
        (start.unwrap_or(Timestamp(i64::MIN)), end.unwrap_or(Timestamp(i64::MAX)))
    }

    /// Something has changed from then to then: what is known of paths there counts no more.
    pub(super) fn touch(&mut self, from: Timestamp, to: Option<Timestamp>) {
        let (start, _) = self.at(from);
        let to = to.unwrap_or(from).max(from);
        self.clock += 1;
        let later = self.prompts(Timestamp(start.0.saturating_add(1)), Timestamp(to.0.saturating_add(1)));
        let turns: Vec<Timestamp> = std::iter::once(start).chain(later).collect();
        for turn in turns {
            self.stamps.insert(turn, self.clock);
        }
    }

    /// A number that is another one when something has changed in the turn with this beginning.
    pub(super) fn stamp(&self, start: Timestamp) -> u64 {
        self.stamps.get(&start).copied().unwrap_or_default()
    }
}
