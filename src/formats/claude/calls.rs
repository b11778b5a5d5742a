//! Calls that wait for their results. An interruption says of them that nothing will come.

use std::collections::{HashMap, HashSet};

use crate::formats::waiting::Waiting;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::Piece;
use crate::model::fingerprint::ByKey;
use crate::model::text::{Name, Text};
use crate::model::tool::ToolState;

/// Calls of all lanes. Those of several may have the same id.
#[derive(Debug, Default)]
pub struct Calls {
    /// Who had a call first.
    known: ByKey<Caller>,
    /// Others who have a call with an id that is known.
    others: HashSet<(u32, Key)>,
    /// Answers that turned out to be copies of another lane's, by the lane that had them first.
    copied: HashSet<(u32, u32)>,
    /// Calls that only copies have so far.
    only_copied: HashSet<Key>,
    open: HashMap<Option<Name>, Waiting>,
}

/// A lane and an answer of its, each by a number that stands for it.
#[derive(Clone, Copy, Debug, Default)]
struct Caller {
    lane: u32,
    answer: u32,
}

impl Calls {
    /// The model asks for a tool in an answer. If another lane did so in the same one, that was a copy.
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

    /// An answer is of another lane than this one, which said it first: its calls were copies.
    pub(crate) fn take_back(&mut self, lane: Option<&Name>, answer: &Key) {
        self.copied.insert((number(lane), number(Some(answer))));
    }

    /// A copy of an answer has this call.
    pub(crate) fn note_copy(&mut self, call: &str) {
        if !self.knows(call) {
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

    /// Whether a call is in another lane than this one.
    pub(crate) fn is_beside(&self, lane: &Name, call: &Key) -> bool {
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

    /// A call has its result.
    pub(crate) fn end(&mut self, lane: Option<&Name>, call: &Key) {
        if let Some(open) = self.open.get_mut(&lane.cloned()) {
            open.remove(call);
        }
    }

    /// Whether a call is in the session.
    pub(crate) fn knows(&self, call: &str) -> bool {
        self.known.contains(call)
    }

    /// What a lane waits for will not come.
    pub(crate) fn lose(&mut self, lane: Option<&Name>, out: &mut Batch) {
        for call in self.open.remove(&lane.cloned()).unwrap_or_default() {
            out.state(call, ToolState::Lost);
        }
    }

    /// A lane waits for nothing more, though nobody says that its calls were given up.
    pub(crate) fn forget(&mut self, lane: Option<&Name>) {
        self.open.remove(&lane.cloned());
    }

    /// A call was given up, if it is in the session.
    pub(crate) fn give_up(&self, call: &str, out: &mut Batch) {
        if self.knows(call) {
            out.state(Text::clean(call), ToolState::Lost);
        }
    }
}

/// Stands for a lane or an answer; 0 for the main lane.
fn number(name: Option<&Text>) -> u32 {
    name.map_or(0, |name| {
        u32::try_from(Piece::of(name).0 >> 32).unwrap_or_default()
    })
}
