//! Where the calls of large entries stand: one answer may hold ten thousand calls, brought by as many records, and each
//! of them and of their results must not cost a look at all.
//!
//! Invariant: what is noted of an entry holds for its blocks as they are; whoever moves blocks forgets it.

use std::collections::{HashMap, HashSet};

use crate::model::body::Key;
use crate::model::entry::{Block, Entry, EntryId, Piece};

/// Most entries have fewer blocks by far.
const SMALL: usize = 64;

/// Places of the blocks of large entries.
#[derive(Clone, Debug)]
pub(super) struct Large {
    entries: HashMap<EntryId, Places>,
    /// Entries of no more blocks are gone over each time.
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

/// Places of the blocks of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Blocks that are noted.
    len: usize,
    pieces: HashSet<Piece>,
    calls: HashMap<Key, Asked>,
}

/// Calls of one id.
#[derive(Clone, Debug, Default)]
struct Asked {
    blocks: Vec<usize>,
    /// So many of them have their results.
    answered: usize,
    /// Blocks by the key of the result that their call has.
    results: HashMap<Key, usize>,
}

impl Large {
    /// With another limit.
    #[cfg(test)]
    pub(super) fn above(small: usize) -> Self {
        Self {
            small,
            ..Self::default()
        }
    }

    /// Notes the blocks of an entry, if it is large. Those that it had before are known.
    pub(super) fn note(&mut self, id: EntryId, entry: &Entry) {
        if entry.blocks.len() > self.small {
            self.entries.entry(id).or_default().note(&entry.blocks);
        }
    }

    /// The blocks of an entry are others now.
    pub(super) fn forget(&mut self, id: EntryId) {
        if !self.entries.is_empty() {
            self.entries.remove(&id);
        }
    }

    /// What is noted of an entry.
    pub(super) fn get(&self, id: EntryId) -> Option<&Places> {
        if self.entries.is_empty() {
            None
        } else {
            self.entries.get(&id)
        }
    }

    /// Places of the calls with this id, if they are noted.
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

    /// Places of the calls with this id that may wait for their results, and of others.
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

    /// The place of the call with this id that has this result.
    pub(super) fn holding(
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

    /// A call has a result now.
    pub(super) fn answered(&mut self, id: EntryId, key: &Key, result: &Key, place: usize) {
        let asked = self
            .entries
            .get_mut(&id)
            .and_then(|places| places.calls.get_mut(key));
        let Some(asked) = asked else { return };
        asked.results.insert(result.clone(), place);
        asked.answered += usize::from(asked.blocks.get(asked.answered) == Some(&place));
    }
}

impl Places {
    fn note(&mut self, blocks: &[Block]) {
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

    /// Whether a record brings nothing but further blocks of the entry.
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
