//! What happened in a turn.
//!
//! Invariant: a sub-agent belongs to the turn of the call that started it, wherever its entries were written;
//! only where nobody knows that call, each of its entries belongs to the turn in which it stands.

use std::collections::HashSet;

use super::Transcript;
use crate::model::entry::{Entry, EntryId};
use crate::model::meta::LaneFacts;
use crate::model::pairing::calls_of;
use crate::model::text::Name;
use crate::model::turn::TurnFacts;

impl Transcript {
    /// What happened in a turn, with all that its sub-agents did.
    pub fn turn_facts(&self, turn: usize) -> TurnFacts {
        let Some(first) = self.turns.get(turn).map(|turn| turn.first) else { return TurnFacts::default() };
        let end = self.turns.get(turn + 1).map_or(self.order.len(), |next| next.first);
        let within = self.order.get(first..end).unwrap_or_default();
        let lanes = self.lanes_begun_in(within);
        let begun: HashSet<&Name> = lanes.iter().map(|lane| &lane.name).collect();
        let stands_here = |entry: &&Entry| match &entry.lane {
            None => true,
            Some(name) if begun.contains(name) => false,
            Some(name) => self.lane(name).is_none_or(|lane| self.root_caller(lane).is_none()),
        };
        let here = within.iter().filter_map(|id| self.get(*id)).filter(stands_here);
        let of_lanes = lanes.iter().flat_map(|lane| &lane.entries).filter_map(|id| self.get(*id));
        TurnFacts::of(here.chain(of_lanes))
    }

    /// Sub-agents that calls of the main lane started, and all that these started.
    fn lanes_begun_in(&self, entries: &[EntryId]) -> Vec<&LaneFacts> {
        let is_main = |id: &EntryId| self.get(*id).is_some_and(|entry| entry.lane.is_none());
        let mut callers: Vec<EntryId> = entries.iter().copied().filter(is_main).collect();
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        while let Some(id) = callers.pop() {
            for call in self.get(id).into_iter().flat_map(calls_of) {
                // An id that repeats belongs to the first call that has it.
                let begun = self.lanes_of_call(&call.key).filter(|lane| self.caller(lane) == Some(id));
                for lane in begun.filter(|lane| seen.insert(&lane.name)) {
                    callers.extend(&lane.entries);
                    found.push(lane);
                }
            }
        }
        found
    }
}
