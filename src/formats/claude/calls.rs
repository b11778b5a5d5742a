//! Open calls by lane. After an interruption they are lost.

use std::collections::{HashMap, HashSet};

use crate::formats::waiting::UnansweredCalls;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::Piece;
use crate::model::fingerprint::ByKey;
use crate::model::text::{Name, Text};
use crate::model::tool::ToolState;

/// The calls of all lanes. Calls of several lanes may have the same id.
#[derive(Debug, Default)]
pub struct LaneCalls {
    /// The lane and answer that had a call first.
    known: ByKey<Caller>,
    /// Calls of further lanes with an id that is in `known`.
    others: HashSet<(u32, Key)>,
    /// Answers that turned out to be copies of another lane's, by the lane that had them first.
    copied: HashSet<(u32, u32)>,
    /// Calls that so far are only in copies.
    only_copied: HashSet<Key>,
    open: HashMap<Option<Name>, UnansweredCalls>,
}

/// A lane and an answer in it, each as a hash.
#[derive(Clone, Copy, Debug, Default)]
struct Caller {
    lane: u32,
    answer: u32,
}

impl LaneCalls {
    /// Adds a call from an answer. If another lane had it in the same answer, that was a copy.
    pub(crate) fn begin(&mut self, lane: Option<&Name>, answer: &Key, call: &Key) {
        let caller = Caller {
            lane: number(lane),
            answer: number(Some(answer)),
        };
        match self.known.get(call).copied() {
            Some(first) if first.lane == caller.lane => return,
            Some(first) if first.answer != caller.answer => {
                if !self.others.insert((caller.lane, call.clone())) {
                    return;
                }
            }
            first => {
                if first.is_some() {
                    self.open.values_mut().for_each(|open| open.remove(call));
                }
                self.known.insert(call, caller);
            }
        }
        self.open
            .entry(lane.cloned())
            .or_default()
            .push(call.clone());
    }

    /// Marks the calls of an answer in this lane as copies: the answer belongs to another lane.
    pub(crate) fn mark_copied(&mut self, lane: Option<&Name>, answer: &Key) {
        self.copied.insert((number(lane), number(Some(answer))));
    }

    /// Adds a call of a copied answer.
    pub(crate) fn add_copied(&mut self, call: &str) {
        if !self.contains(call) {
            self.only_copied.insert(Text::clean(call));
        }
    }

    /// Whether a call is in the session, but not in this lane.
    pub(crate) fn is_of_others(&self, lane: Option<&Name>, call: &Key) -> bool {
        let lane = number(lane);
        let is_copy = match self.known.get(call).copied() {
            Some(first) => first.lane != lane || self.copied.contains(&(lane, first.answer)),
            None => self.only_copied.contains(call),
        };
        is_copy && !self.others.contains(&(lane, call.clone()))
    }

    pub(crate) fn is_in_other_lane(&self, lane: &Name, call: &Key) -> bool {
        let lane = number(Some(lane));
        let is_other = || {
            self.others
                .iter()
                .any(|(other, key)| *other != lane && key == call)
        };
        self.known
            .get(call)
            .is_some_and(|first| first.lane != lane || is_other())
    }

    /// Removes a call that has its result.
    pub(crate) fn end(&mut self, lane: Option<&Name>, call: &Key) {
        if let Some(open) = self.open.get_mut(&lane.cloned()) {
            open.remove(call);
        }
    }

    pub(crate) fn contains(&self, call: &str) -> bool {
        self.known.contains(call)
    }

    pub(crate) fn mark_lost(&mut self, lane: Option<&Name>, out: &mut Batch) {
        for call in self.open.remove(&lane.cloned()).unwrap_or_default() {
            out.state(call, ToolState::Lost);
        }
    }

    /// Drops the open calls of a lane, without a record that they were abandoned.
    pub(crate) fn remove_lane(&mut self, lane: Option<&Name>) {
        self.open.remove(&lane.cloned());
    }

    /// Marks a call as lost, if it is in the session.
    pub(crate) fn mark_call_lost(&self, call: &str, out: &mut Batch) {
        if self.contains(call) {
            out.state(Text::clean(call), ToolState::Lost);
        }
    }
}

/// Hash of a lane's or an answer's key; 0 for the main lane.
fn number(name: Option<&Text>) -> u32 {
    name.map_or(0, |name| {
        u32::try_from(Piece::of(name).0 >> 32).unwrap_or_default()
    })
}
