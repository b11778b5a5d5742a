//! Links sub-agents to the calls that started them. Agents record the link in several places, early
//! or late: the claim with the strongest evidence is used, among equal ones the first. No edit for
//! a lane is emitted before it is announced, mostly with its first entry.

use std::collections::HashMap;

use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text};

/// The lanes of a session, with the calls that may have started them.
#[derive(Debug, Default)]
pub(crate) struct LaneLinker {
    lanes: HashMap<Name, LinkedLane>,
}

#[derive(Debug, Default)]
struct LinkedLane {
    /// The label with its rank.
    label: Option<(u8, Text)>,
    claims: Vec<Claim>,
    is_announced: bool,
}

/// A call that may have started a lane.
#[derive(Debug)]
struct Claim {
    call: Key,
    /// Strength of the evidence, greater is stronger.
    evidence: u8,
    /// Whether the call is in the session, outside the lane.
    is_there: bool,
}

impl LinkedLane {
    /// The call of the strongest claim. Confirmed claims win, as a small file may name a call that
    /// does not exist.
    fn call(&self) -> Option<&Key> {
        let surest = self.claims.iter().rev();
        let surest = surest.max_by_key(|claim| (claim.is_there, claim.evidence));
        surest.map(|claim| &claim.call)
    }
}

impl LaneLinker {
    pub(crate) fn contains(&self, lane: &str) -> bool {
        self.lanes.contains_key(lane)
    }

    pub(crate) fn is_announced(&self, lane: &str) -> bool {
        self.lanes.get(lane).is_some_and(|lane| lane.is_announced)
    }

    pub(crate) fn label(&self, lane: &str) -> Option<&Text> {
        let (_, label) = self.lanes.get(lane)?.label.as_ref()?;
        Some(label)
    }

    pub(crate) fn call(&self, lane: &str) -> Option<&Key> {
        self.lanes.get(lane)?.call()
    }

    /// Adds a claim that a call started a lane. Returns whether it is the first with this strength
    /// of evidence.
    pub(crate) fn claim(&mut self, lane: &Name, call: Key, evidence: u8, out: &mut Batch) -> bool {
        let known = self.lanes.get(lane);
        let is_new = known.is_none_or(|lane| lane.claims.iter().all(|c| c.evidence != evidence));
        self.change(lane, out, |lane| {
            if is_new {
                lane.claims.push(Claim {
                    call,
                    evidence,
                    is_there: false,
                });
            }
        });
        is_new
    }

    /// Confirms that a claimed call is in the session.
    pub(crate) fn confirm(&mut self, lane: &Name, call: &Key, out: &mut Batch) {
        self.change(lane, out, |lane| {
            let named = lane.claims.iter_mut().filter(|claim| claim.call == *call);
            named.for_each(|claim| claim.is_there = true);
        });
    }

    /// Labels a lane; a label of a higher rank, or a later one of the same rank, replaces the
    /// earlier one.
    pub(crate) fn name(&mut self, lane: &Name, rank: u8, label: Text, out: &mut Batch) {
        self.change(lane, out, |lane| {
            if lane.label.as_ref().is_none_or(|(known, _)| *known <= rank) {
                lane.label = Some((rank, label));
            }
        });
    }

    /// Announces a lane: from now on its label and call are emitted.
    pub(crate) fn announce(&mut self, lane: &Name, out: &mut Batch) {
        if !self.is_announced(lane) {
            self.change(lane, out, |lane| lane.is_announced = true);
        }
    }

    fn change(&mut self, name: &Name, out: &mut Batch, change: impl FnOnce(&mut LinkedLane)) {
        let lane = self.lanes.entry(name.clone()).or_default();
        let facts = |lane: &LinkedLane| {
            let label = lane.label.as_ref().map(|(_, label)| label.clone());
            let call = lane.call().cloned();
            (lane.is_announced, label, call)
        };
        let before = facts(lane);
        change(lane);
        let now = facts(lane);
        if now.0 && now != before && (now.1.is_some() || now.2.is_some()) {
            out.lane(name.clone(), now.1, now.2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LaneLinker;
    use crate::model::edit::{Batch, Edit, MetaEdit};

    #[test]
    fn the_surest_claim_that_is_true_counts() {
        let (mut linker, mut out) = (LaneLinker::default(), Batch::default());
        let lane = "a1".into();
        linker.claim(&lane, "early".into(), 1, &mut out);
        linker.claim(&lane, "other".into(), 1, &mut out);
        assert_eq!(linker.call("a1").unwrap().as_str(), "early");
        linker.claim(&lane, "named".into(), 3, &mut out);
        assert_eq!(linker.call("a1").unwrap().as_str(), "named");
        linker.confirm(&lane, &"early".into(), &mut out);
        assert!(out.edits.is_empty(), "a lane that is not announced");
        linker.announce(&lane, &mut out);
        let [Edit::Meta(MetaEdit::Lane { call, .. })] = &out.edits[..] else {
            panic!("{:?}", out.edits);
        };
        assert_eq!(call.as_deref(), Some("early"));
    }
}
