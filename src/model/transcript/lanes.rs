//! Sub-agents: who started whom.
//!
//! Invariant: lanes may name each other in a circle if a file lies; each is told once.

use std::collections::HashSet;

use super::Transcript;
use crate::model::entry::EntryId;
use crate::model::meta::LaneFacts;
use crate::model::text::Name;

impl Transcript {
    /// The sub-agents.
    pub fn lanes(&self) -> &[LaneFacts] {
        &self.lanes
    }

    /// The sub-agent whose entries carry this name.
    pub fn lane(&self, name: &Name) -> Option<&LaneFacts> {
        self.lanes.iter().find(|lane| lane.name == *name)
    }

    /// The sub-agent that a call started.
    pub fn lane_of_call(&self, call: &crate::model::body::Key) -> Option<&LaneFacts> {
        self.lanes.iter().find(|lane| !call.is_empty() && lane.call.as_ref() == Some(call))
    }

    /// The entry with the call that started a sub-agent.
    pub fn caller(&self, lane: &LaneFacts) -> Option<EntryId> {
        self.entries_with_call(lane.call.as_ref()?).first().copied()
    }

    /// The sub-agent that started this one; none if the main agent did, or nobody knows.
    pub fn parent_lane(&self, lane: &LaneFacts) -> Option<&LaneFacts> {
        let name = self.get(self.caller(lane)?)?.lane.as_ref()?;
        self.lane(name).filter(|parent| parent.name != lane.name)
    }

    /// The entry of the main lane that a sub-agent goes back to, over all that lie between.
    pub fn root_caller(&self, lane: &LaneFacts) -> Option<EntryId> {
        let mut seen = HashSet::new();
        let mut at = lane;
        while seen.insert(&at.name) {
            match self.parent_lane(at) {
                Some(parent) => at = parent,
                None => return self.caller(at),
            }
        }
        None
    }

    /// A sub-agent and all that it started, and they.
    pub fn with_nested<'a>(&'a self, lane: &'a LaneFacts) -> Vec<&'a LaneFacts> {
        let mut found = vec![lane];
        let mut next = 0;
        while let Some(above) = found.get(next).copied() {
            let below = self.lanes.iter().filter(|lane| {
                self.parent_lane(lane).is_some_and(|parent| parent.name == above.name)
                    && found.iter().all(|known| known.name != lane.name)
            });
            let below: Vec<&LaneFacts> = below.collect();
            found.extend(below);
            next += 1;
        }
        found
    }
}
