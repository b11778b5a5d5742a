//! What records hold that no block shows, at level 5 all of it: read again for what is in sight, and kept for a while.
//!
//! Invariant: memory depends on the screen; a session's entries hold none of it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::model::entry::Entry;
use crate::model::entry::details::{Details, records_below};
use crate::model::record::Origin;

/// Bytes of whole records that are kept.
const KEPT_BYTES: u64 = 32 << 20;

/// Records whose details are kept.
const KEPT: usize = 1_000;

/// Details by record.
#[derive(Clone, Debug, Default)]
pub struct KnownDetails {
    known: HashMap<Origin, Arc<Details>>,
    order: VecDeque<Origin>,
    asked: HashSet<Origin>,
    /// Whether they are whole records.
    is_whole: bool,
    bytes: u64,
}

impl KnownDetails {
    /// All records were read anew: they may be others by now.
    pub(crate) fn clear(&mut self) {
        *self = Self {
            is_whole: self.is_whole,
            ..Self::default()
        };
    }

    /// These entries were read anew, and what was known at the places of their records may be of others. All others
    /// stay: rows that go for a moment would move what is read.
    pub(crate) fn forget(&mut self, anew: &[&Entry]) {
        if anew.len() > KEPT {
            return self.clear();
        }
        for (_, origin) in anew
            .iter()
            .flat_map(|entry| (0..entry.blocks.len()).flat_map(|block| records_below(entry, block)))
        {
            self.asked.remove(&origin);
            if self.known.remove(&origin).is_some() {
                self.order.retain(|known| *known != origin);
                self.bytes = self.bytes.saturating_sub(u64::from(origin.len));
            }
        }
    }

    /// What is known of these blocks of an entry, but for a record that was told of before.
    pub fn of(
        &self,
        entry: &Entry,
        blocks: std::ops::Range<usize>,
        above: Option<Origin>,
    ) -> Vec<(usize, Arc<Details>)> {
        let blocks = blocks.start..blocks.end.min(entry.blocks.len());
        let below = |block| {
            records_below(entry, block)
                .into_iter()
                .map(move |(_, origin)| (block, origin))
        };
        let below = blocks
            .flat_map(below)
            .filter(|(_, origin)| Some(*origin) != above);
        let known = below.filter_map(|(block, origin)| {
            let details = self
                .known
                .get(&origin)
                .filter(|details| !details.is_empty())?;
            Some((block, Arc::clone(details)))
        });
        known.collect()
    }

    /// From now on only whole records are wanted, or only what of them no block shows.
    pub(crate) fn want_whole(&mut self, is_whole: bool) {
        if self.is_whole != is_whole {
            *self = Self {
                is_whole,
                ..Self::default()
            };
        }
    }

    /// Records of these blocks of an entry that are not known and were not asked for; they are from now on.
    pub(crate) fn unasked(&mut self, entry: &Entry, blocks: std::ops::Range<usize>) -> Vec<Origin> {
        let blocks = blocks.start..blocks.end.min(entry.blocks.len());
        let records = blocks
            .flat_map(|block| records_below(entry, block))
            .map(|(_, origin)| origin);
        records
            .filter(|origin| !self.known.contains_key(origin) && self.asked.insert(*origin))
            .collect()
    }

    /// Whether an answer is still to come.
    pub(crate) fn awaits_any(&self) -> bool {
        !self.asked.is_empty()
    }

    /// Takes what was asked for. Answers whether there is more to be seen.
    pub(crate) fn take(&mut self, is_whole: bool, found: Vec<(Origin, Details)>) -> bool {
        let mut is_seen = false;
        for (origin, details) in found {
            // What was asked for before records were read anew may be of others.
            if self.is_whole == is_whole && self.asked.remove(&origin) {
                self.bytes += u64::from(origin.len);
                is_seen |= !details.is_empty();
                self.known.insert(origin, Arc::new(details));
                self.order.push_back(origin);
            }
        }
        let is_much = |known: &Self| known.order.len() > 1 && is_whole && known.bytes > KEPT_BYTES;
        while self.order.len() > KEPT || is_much(self) {
            if let Some(oldest) = self.order.pop_front() {
                self.bytes = self.bytes.saturating_sub(u64::from(oldest.len));
                self.known.remove(&oldest);
            }
        }
        is_seen
    }
}
