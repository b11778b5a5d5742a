//! Index of calls and results by id. It stores facts only; other modules decide which result joins
//! which call.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::model::body::Key;
use crate::model::entry::{Block, Entry, EntryId};
use crate::model::fingerprint::ByKey;
use crate::model::text::Name;
use crate::model::tool::ToolCall;

/// Calls and stray results by the agent's ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairIndex {
    /// The entry with a call: nearly always one.
    calls: ByKey<EntryId>,
    /// All entries with a call, if there are several or were once.
    several: HashMap<Key, Callers>,
    strays: HashMap<Key, Strays>,
}

/// Entries with calls of one id; adding and removing costs the same for thousands of them as for
/// two.
#[derive(Clone, Debug, Default)]
struct Callers {
    /// In file order.
    all: Vec<EntryId>,
    by_lane: HashMap<Option<Name>, InLane>,
    /// Entries with a call that may wait for its result. May include others, but never misses one.
    waiting: BTreeSet<EntryId>,
    /// The entry that got a result last, by key of the result.
    results: HashMap<Key, EntryId>,
}

/// Entries of one lane.
#[derive(Clone, Debug, Default)]
struct InLane {
    all: Vec<EntryId>,
    waiting: BTreeSet<EntryId>,
}

impl Callers {
    fn add(&mut self, call: &ToolCall, id: EntryId, lane: Option<&Name>) {
        let in_lane = self.by_lane.entry(lane.cloned()).or_default();
        for list in [&mut self.all, &mut in_lane.all] {
            if let Err(place) = list.binary_search(&id) {
                list.insert(place, id);
            }
        }
        match call.state.result() {
            Some(result) => drop(self.results.insert(result.key.clone(), id)),
            None => drop((self.waiting.insert(id), in_lane.waiting.insert(id))),
        }
    }

    fn remove(&mut self, id: EntryId, lane: Option<&Name>) {
        let in_lane = self.by_lane.entry(lane.cloned()).or_default();
        for list in [&mut self.all, &mut in_lane.all] {
            if let Ok(place) = list.binary_search(&id) {
                list.remove(place);
            }
        }
        self.waiting.remove(&id);
        in_lane.waiting.remove(&id);
    }
}

/// Entries to search for a call.
#[derive(Clone, Copy)]
pub(crate) enum Among<'a> {
    /// Those of a lane.
    Lane(Option<&'a Name>),
    All,
}

/// Stray results of one call.
#[derive(Clone, Debug, Default)]
struct Strays {
    /// Keys of their entries in the order of arrival.
    order: VecDeque<Key>,
    there: HashSet<Key>,
}

impl PairIndex {
    /// Indexes calls of an entry: all of them, or those that it has gained. `known` are entries
    /// that were indexed before.
    pub(crate) fn add_calls<'a>(
        &mut self,
        id: EntryId,
        entry: &Entry,
        blocks: &[Block],
        known: &dyn Fn(EntryId) -> Option<&'a Entry>,
    ) {
        for call in blocks
            .iter()
            .filter_map(Block::call)
            .filter(|call| !call.key.is_empty())
        {
            if !self.has_several(&call.key) {
                match self.calls.get(&call.key).copied() {
                    Some(first) if first != id => {
                        self.begin_several(&call.key, first, known(first));
                    }
                    Some(_) => continue,
                    None => {
                        self.calls.insert(&call.key, id);
                        continue;
                    }
                }
            }
            if let Some(callers) = self.several.get_mut(&call.key) {
                callers.add(call, id, entry.lane.as_ref());
            }
        }
    }

    fn begin_several(&mut self, key: &Key, first: EntryId, entry: Option<&Entry>) {
        let callers = self.several.entry(key.clone()).or_default();
        let Some(entry) = entry else { return };
        for call in entry.calls().filter(|call| call.key == *key) {
            callers.add(call, first, entry.lane.as_ref());
        }
    }

    pub(crate) fn remove_calls(&mut self, id: EntryId, entry: &Entry) {
        for call in entry.calls() {
            if let Some(callers) = self.several.get_mut(&call.key) {
                callers.remove(id, entry.lane.as_ref());
            } else if self.calls.get(&call.key) == Some(&id) {
                self.calls.remove(&call.key);
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn clear_calls(&mut self) {
        (self.calls, self.several) = Default::default();
    }

    /// Whether calls of several entries have this id, or had it once.
    pub(crate) fn has_several(&self, call: &Key) -> bool {
        !self.several.is_empty() && self.several.contains_key(call)
    }

    /// Entries with calls of this id, in file order; empty for an empty id.
    pub(crate) fn entries_with(&self, call: &Key) -> &[EntryId] {
        if call.is_empty() {
            return &[];
        }
        let several = if self.several.is_empty() {
            None
        } else {
            self.several.get(call)
        };
        let one = || {
            self.calls
                .get(call)
                .map(std::slice::from_ref)
                .unwrap_or_default()
        };
        several.map_or_else(one, |callers| &callers.all)
    }

    /// Those of one lane, if several entries have such calls.
    pub(crate) fn several_in(&self, call: &Key, lane: Option<&Name>) -> &[EntryId] {
        let callers = if call.is_empty() {
            None
        } else {
            self.several.get(call)
        };
        callers
            .and_then(|callers| callers.by_lane.get(&lane.cloned()))
            .map_or(&[], |in_lane| &in_lane.all)
    }

    /// The last entry with a call of this id for which `waits` returns true. Entries for which it
    /// returns false are not checked again.
    pub(crate) fn last_waiting(
        &mut self,
        call: &Key,
        among: Among<'_>,
        waits: impl Fn(EntryId) -> bool,
    ) -> Option<EntryId> {
        let Some(callers) = self.several.get_mut(call) else {
            return self
                .entries_with(call)
                .first()
                .copied()
                .filter(|id| waits(*id));
        };
        let waiting = match among {
            Among::Lane(lane) => &mut callers.by_lane.get_mut(&lane.cloned())?.waiting,
            Among::All => &mut callers.waiting,
        };
        while let Some(last) = waiting.last().copied() {
            if waits(last) {
                return Some(last);
            }
            waiting.pop_last();
        }
        None
    }

    /// Entries with calls of this id that may wait, possibly with others; `None` unless several
    /// entries have such calls.
    pub(crate) fn waiting(&self, call: &Key) -> Option<impl DoubleEndedIterator<Item = EntryId>> {
        let callers = if self.several.is_empty() {
            None
        } else {
            self.several.get(call)
        };
        callers.map(|callers| callers.waiting.iter().copied())
    }

    /// Records the entry whose call got a result.
    pub(crate) fn record_result(&mut self, call: &Key, result: &Key, id: EntryId) {
        if let Some(callers) = self.several.get_mut(call) {
            callers.results.insert(result.clone(), id);
        }
    }

    /// The only entry that may have this result.
    pub(crate) fn holder(&self, call: &Key, result: &Key) -> Option<EntryId> {
        match self.several.get(call) {
            Some(callers) => callers.results.get(result).copied(),
            None => self.entries_with(call).first().copied(),
        }
    }

    /// Adds the entry of a stray result for this call.
    pub(crate) fn add_stray(&mut self, call: &Key, stray: Key) {
        let strays = self.strays.entry(call.clone()).or_default();
        if strays.there.insert(stray.clone()) {
            strays.order.push_back(stray);
        }
    }

    /// Keys of the entries with stray results for this call, in the order of arrival; empty for an
    /// empty id.
    pub(crate) fn strays_of(&self, call: &Key) -> impl Iterator<Item = &Key> {
        self.strays
            .get(call)
            .filter(|_| !call.is_empty())
            .into_iter()
            .flat_map(|strays| &strays.order)
    }

    /// Removes the entry of a stray result.
    pub(crate) fn remove_stray(&mut self, call: &Key, stray: &Key) {
        let Some(strays) = self
            .strays
            .get_mut(call)
            .filter(|strays| strays.there.contains(stray))
        else {
            return;
        };
        strays.there.remove(stray);
        // Usually the first result finds its call.
        if strays.order.front() == Some(stray) {
            strays.order.pop_front();
        } else {
            strays.order.retain(|known| known != stray);
        }
        if strays.order.is_empty() {
            self.strays.remove(call);
        }
    }
}
