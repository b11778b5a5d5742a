//! What happened in a turn.
//!
//! Invariant: a sub-agent belongs to the turn of the call that started it, wherever its entries were written;
//! only where nobody knows that call, each of its entries belongs to the turn in which it stands.

use std::borrow::Cow;

use super::Transcript;
use crate::model::entry::EntryId;
use crate::model::meta::LaneFacts;
use crate::model::turn::TurnFacts;

impl Transcript {
    /// What happened in a turn, with all that its sub-agents did. Costs what changed of it, a little for each
    /// page of entries, and for each sub-agent.
    pub fn turn_facts(&self, turn: usize) -> TurnFacts {
        let Some(first) = self.turns.get(turn).map(|turn| turn.first) else { return TurnFacts::default() };
        let end = self.turns.get(turn + 1).map_or(self.order.len(), |next| next.first);
        let within = self.order.get(first..end).unwrap_or_default();
        if self.lanes().is_empty() {
            return self.sum_up(within.into());
        }
        let is_begun_here = |lane: &&LaneFacts| {
            let root = self.root_caller(lane).filter(|id| self.lane_at(*id).is_none());
            root.and_then(|id| self.place_of(id)).is_some_and(|place| (first..end).contains(&place))
        };
        let stands_here = |id: &EntryId| {
            let lane = self.lane_at(*id).and_then(|name| self.lane(name));
            lane.is_none_or(|lane| self.root_caller(lane).is_none())
        };
        let here = within.iter().filter(|id| stands_here(id));
        let of_lanes = self.lanes().iter().filter(is_begun_here).flat_map(|lane| &lane.entries);
        let mut ids: Vec<EntryId> = here.chain(of_lanes).copied().collect();
        // Side by side, as they are on their pages, which are summed up already.
        ids.sort_unstable();
        let facts = self.sum_up(ids.into());
        let started = within.first().and_then(|prompt| self.get(*prompt)?.at);
        TurnFacts { started: started.or(facts.started), ..facts }
    }

    /// What happened in a sub-agent, without those that it started.
    pub fn lane_facts(&self, lane: &LaneFacts) -> TurnFacts {
        self.sum_up(lane.entries.as_slice().into())
    }

    fn sum_up(&self, ids: Cow<'_, [EntryId]>) -> TurnFacts {
        let (mut facts, mut most) = (TurnFacts::default(), usize::MAX);
        self.sum_some(&ids, &mut most, &mut facts);
        facts
    }

    /// Adds what happened in entries, until so many were taken one by one, from their pages; those of a page that
    /// all belong to them come without it. Answers how many were added.
    pub fn sum_some(&self, ids: &[EntryId], most: &mut usize, facts: &mut TurnFacts) -> usize {
        let mut passing = self.entries.passing();
        let mut rest = ids;
        while let Some((id, others)) = rest.split_first() {
            if let Some((of_page, len)) = self.entries.facts_of_first(rest) {
                facts.join(of_page);
                rest = rest.get(len..).unwrap_or_default();
                continue;
            }
            let Some(left) = most.checked_sub(1) else { break };
            *most = left;
            passing.get(*id).into_iter().for_each(|entry| facts.add(entry));
            rest = others;
        }
        ids.len() - rest.len()
    }
}
