//! The lanes of a timeline: their numbers, and which calls started them.

use std::collections::{BTreeSet, HashMap};

use super::SpanId;
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// The main agent, or a sub-agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lane {
    /// The name that its entries carry; none for the main agent.
    pub(crate) name: Option<Name>,
    /// Its rows, in the order in which they were needed.
    pub(crate) rows: Vec<usize>,
    /// From when to when its spans reach.
    pub(crate) reach: Option<(Timestamp, Timestamp)>,
    /// The lane and the call that started it.
    pub(crate) caller: Option<(usize, SpanId)>,
    /// Entries with calls whose results may still come.
    pub(super) open: BTreeSet<(u32, EntryId)>,
}

/// All lanes.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// The main agent first.
    list: Vec<Lane>,
    numbers: HashMap<Name, usize>,
    /// Lanes by the call that started them, and how many lanes were known then.
    callers: HashMap<Key, Name>,
    known: Option<usize>,
}

impl Default for Lanes {
    fn default() -> Self {
        let list = vec![Lane::default()];
        Self { list, numbers: HashMap::new(), callers: HashMap::new(), known: None }
    }
}

impl Lanes {
    /// The main agent first, then sub-agents in the order of the file.
    pub(super) fn list(&self) -> &[Lane] {
        &self.list
    }

    /// The lane of a number.
    pub(super) fn get(&self, number: usize) -> Option<&Lane> {
        self.list.get(number)
    }

    /// As [`Lanes::get`], to change it.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Lane> {
        self.list.get_mut(number)
    }

    /// The number of a name, if there is such a lane.
    pub(super) fn find(&self, name: Option<&Name>) -> Option<usize> {
        name.map_or(Some(0), |name| self.numbers.get(name).copied())
    }

    /// The number of a name; a new lane if there was none.
    pub(super) fn number(&mut self, name: Option<&Name>) -> usize {
        if let Some(number) = self.find(name) {
            return number;
        }
        let number = self.list.len();
        self.numbers.extend(name.map(|name| (name.clone(), number)));
        self.list.push(Lane { name: name.cloned(), ..Lane::default() });
        number
    }

    /// The lane that a call started, as far as that is known.
    pub(super) fn started_by(&self, call: &Key) -> Option<&Name> {
        self.callers.get(call)
    }

    /// Which calls started which lanes may have changed.
    pub(super) fn look_again(&mut self) {
        self.known = None;
    }

    /// Learns which calls started which lanes. Answers the entries with calls of which that was not known before, or
    /// is no longer true.
    pub(super) fn know(&mut self, transcript: &Transcript) -> Vec<EntryId> {
        let lanes = transcript.lanes();
        if self.known == Some(lanes.len()) {
            return Vec::new();
        }
        self.known = Some(lanes.len());
        let named = lanes.iter().filter_map(|lane| Some((lane.call.clone()?, lane.name.clone())));
        let callers = named.filter(|(call, _)| !call.is_empty()).collect();
        let before = std::mem::replace(&mut self.callers, callers);
        let has_changed = |call: &&Key| before.get(*call) != self.callers.get(*call);
        let changed = before.keys().chain(self.callers.keys()).filter(has_changed);
        changed.flat_map(|call| transcript.entries_with_call(call)).copied().collect()
    }
}
