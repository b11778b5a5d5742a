//! Fields of records that no block shows, or whole records at level 5: read again for what is on
//! the screen, and cached.
//!
//! Invariant: memory depends on the screen; entries hold none of these fields.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::model::entry::Entry;
use crate::model::entry::details::{Details, records_below};
use crate::model::record::Origin;

/// Limit of cached whole records, in bytes.
const KEPT_BYTES: u64 = 32 << 20;

/// Limit of cached records.
const KEPT: usize = 1_000;

#[derive(Clone, Debug, Default)]
pub struct KnownDetails {
    cached: HashMap<Origin, Arc<Details>>,
    order: VecDeque<Origin>,
    requested: HashSet<Origin>,
    /// Whether they are whole records.
    is_whole: bool,
    bytes: u64,
}

impl KnownDetails {
    /// Drops everything, because all records were read again and may be different.
    pub(crate) fn clear(&mut self) {
        *self = Self {
            is_whole: self.is_whole,
            ..Self::default()
        };
    }

    /// Drops the details of these entries, which were read again: the records at those positions
    /// may be different. All others stay, because rows that vanish for a moment would move what is
    /// being read.
    pub(crate) fn invalidate(&mut self, anew: &[&Entry]) {
        if anew.len() > KEPT {
            return self.clear();
        }
        for (_, origin) in anew
            .iter()
            .flat_map(|entry| (0..entry.blocks.len()).flat_map(|block| records_below(entry, block)))
        {
            self.requested.remove(&origin);
            if self.cached.remove(&origin).is_some() {
                self.order.retain(|known| *known != origin);
                self.bytes = self.bytes.saturating_sub(u64::from(origin.len));
            }
        }
    }

    /// Cached details of these blocks of an entry, without records shown before.
    pub fn cached(
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
                .cached
                .get(&origin)
                .filter(|details| !details.is_empty())?;
            Some((block, Arc::clone(details)))
        });
        known.collect()
    }

    /// Switches between whole records and fields that no block shows.
    pub(crate) fn set_whole(&mut self, is_whole: bool) {
        if self.is_whole != is_whole {
            *self = Self {
                is_whole,
                ..Self::default()
            };
        }
    }

    /// Records of these blocks of an entry that are neither cached nor requested; marks them as
    /// requested.
    pub(crate) fn request_missing(
        &mut self,
        entry: &Entry,
        blocks: std::ops::Range<usize>,
    ) -> Vec<Origin> {
        let blocks = blocks.start..blocks.end.min(entry.blocks.len());
        let records = blocks
            .flat_map(|block| records_below(entry, block))
            .map(|(_, origin)| origin);
        records
            .filter(|origin| !self.cached.contains_key(origin) && self.requested.insert(*origin))
            .collect()
    }

    pub(crate) fn is_pending(&self) -> bool {
        !self.requested.is_empty()
    }

    /// Adds details that were requested. Returns whether there is more to show.
    pub(crate) fn insert(&mut self, is_whole: bool, found: Vec<(Origin, Details)>) -> bool {
        let mut is_seen = false;
        for (origin, details) in found {
            // A request from before records were read again may have another record.
            if self.is_whole == is_whole && self.requested.remove(&origin) {
                self.bytes += u64::from(origin.len);
                is_seen |= !details.is_empty();
                self.cached.insert(origin, Arc::new(details));
                self.order.push_back(origin);
            }
        }
        let is_much = |known: &Self| known.order.len() > 1 && is_whole && known.bytes > KEPT_BYTES;
        while self.order.len() > KEPT || is_much(self) {
            if let Some(oldest) = self.order.pop_front() {
                self.bytes = self.bytes.saturating_sub(u64::from(oldest.len));
                self.cached.remove(&oldest);
            }
        }
        is_seen
    }
}
