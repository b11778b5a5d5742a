//! Index of the calls in large entries: one answer may hold ten thousand calls, brought by as many
//! records, and none of them or of their results may cost a pass over all.
//!
//! Invariant: the index of an entry matches its current blocks; code that moves blocks drops the
//! index.

use std::collections::{HashMap, HashSet};

use crate::model::body::Key;
use crate::model::entry::{Block, Entry, EntryId, Piece};

/// Block count above which an entry is indexed; most entries have far fewer.
const SMALL: usize = 64;

/// Block indexes of large entries.
#[derive(Clone, Debug)]
pub(super) struct Large {
    entries: HashMap<EntryId, BlockIndex>,
    /// Entries with at most this number of blocks are searched linearly.
    small: usize,
}

impl Default for Large {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            small: SMALL,
        }
    }
}

/// Index of the blocks of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockIndex {
    /// Number of indexed blocks.
    len: usize,
    pieces: HashSet<Piece>,
    calls: HashMap<Key, CallsOfId>,
}

#[derive(Clone, Debug, Default)]
struct CallsOfId {
    blocks: Vec<usize>,
    /// Length of the prefix of `blocks` whose calls are known to have results.
    answered: usize,
    /// Block by the key of its call's result.
    results: HashMap<Key, usize>,
}

impl Large {
    /// An index with another threshold.
    #[cfg(test)]
    pub(super) fn with_threshold(small: usize) -> Self {
        Self {
            small,
            ..Self::default()
        }
    }

    /// Indexes the new blocks of an entry, if it is large.
    pub(super) fn index(&mut self, id: EntryId, entry: &Entry) {
        if entry.blocks.len() > self.small {
            self.entries.entry(id).or_default().index(&entry.blocks);
        }
    }

    /// Drops the index of an entry after its blocks changed.
    pub(super) fn remove(&mut self, id: EntryId) {
        if !self.entries.is_empty() {
            self.entries.remove(&id);
        }
    }

    pub(super) fn get(&self, id: EntryId) -> Option<&BlockIndex> {
        if self.entries.is_empty() {
            None
        } else {
            self.entries.get(&id)
        }
    }

    /// Block indexes of the calls with this id, if the entry is indexed.
    pub(super) fn of_call(&self, id: EntryId, key: &Key) -> Option<&[usize]> {
        let places = self.get(id)?;
        Some(
            places
                .calls
                .get(key)
                .map(|asked| asked.blocks.as_slice())
                .unwrap_or_default(),
        )
    }

    /// Block indexes of the calls with this id that may wait for a result; may include others.
    pub(super) fn waiting<'a>(
        &'a self,
        id: EntryId,
        blocks: &'a [Block],
        key: &'a Key,
    ) -> impl Iterator<Item = usize> + 'a {
        let noted = self.get(id);
        let asked = noted.and_then(|places| places.calls.get(key));
        let listed = asked.map_or(&[][..], |asked| {
            asked.blocks.get(asked.answered..).unwrap_or_default()
        });
        let all = if noted.is_some() { &[] } else { blocks };
        let is_such = |block: &Block| block.call().is_some_and(|call| call.key == *key);
        let found = all
            .iter()
            .enumerate()
            .filter(move |(_, block)| is_such(block))
            .map(|(place, _)| place);
        listed.iter().copied().chain(found)
    }

    /// Block index of the call with this id and this result.
    pub(super) fn find_call(
        &self,
        id: EntryId,
        blocks: &[Block],
        key: &Key,
        result: &Key,
    ) -> Option<usize> {
        let has = |block: &Block| {
            let call = block.call().filter(|call| call.key == *key);
            call.is_some_and(|call| {
                call.state
                    .result()
                    .is_some_and(|known| known.key == *result)
            })
        };
        match self.get(id) {
            Some(places) => {
                let place = places
                    .calls
                    .get(key)
                    .and_then(|asked| asked.results.get(result))
                    .copied();
                place.filter(|place| blocks.get(*place).is_some_and(has))
            }
            None => blocks.iter().position(has),
        }
    }

    /// Updates the index after a call got a result.
    pub(super) fn record_result(&mut self, id: EntryId, key: &Key, result: &Key, place: usize) {
        let asked = self
            .entries
            .get_mut(&id)
            .and_then(|places| places.calls.get_mut(key));
        let Some(asked) = asked else { return };
        asked.results.insert(result.clone(), place);
        asked.answered += usize::from(asked.blocks.get(asked.answered) == Some(&place));
    }
}

impl BlockIndex {
    fn index(&mut self, blocks: &[Block]) {
        for (place, block) in blocks.iter().enumerate().skip(self.len) {
            self.pieces.insert(block.piece);
            let Some(call) = block.call() else { continue };
            let asked = self.calls.entry(call.key.clone()).or_default();
            asked.blocks.push(place);
            if let Some(result) = call.state.result() {
                asked.results.insert(result.key.clone(), place);
            }
        }
        self.len = blocks.len();
    }

    /// Whether blocks are only further ones of the entry.
    pub(super) fn is_further(&self, blocks: &[Block]) -> bool {
        !blocks
            .iter()
            .any(|block| self.pieces.contains(&block.piece))
    }

    /// Whether the entry has a call of this id.
    pub(super) fn has_call(&self, key: &Key) -> bool {
        self.calls.contains_key(key)
    }
}
