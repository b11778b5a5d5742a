//! What records hold that no block shows, at level 5 all of it: read again for what is in sight, and kept for a while.
//!
//! Invariant: memory depends on the screen; a session's entries hold none of it.

pub mod ask;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::model::entry::Entry;
use crate::model::entry::details::{Details, records_below};
use crate::model::record::Origin;

/// Details by record.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    known: HashMap<Origin, Arc<Details>>,
    order: VecDeque<Origin>,
    asked: HashSet<Origin>,
    /// Whether they are whole records.
    is_whole: bool,
    bytes: u64,
}

impl Shown {
    /// Records were read anew: they may be others by now.
    pub fn clear(&mut self) {
        *self = Self { is_whole: self.is_whole, ..Self::default() };
    }

    /// What is known of these blocks of an entry.
    pub fn of(&self, entry: &Entry, blocks: std::ops::Range<usize>) -> Vec<(usize, Arc<Details>)> {
        let blocks = blocks.start..blocks.end.min(entry.blocks.len());
        let below = |block| records_below(entry, block).into_iter().map(move |(_, origin)| (block, origin));
        let known = blocks.flat_map(below).filter_map(|(block, origin)| {
            let details = self.known.get(&origin).filter(|details| !details.is_empty())?;
            Some((block, Arc::clone(details)))
        });
        known.collect()
    }
}
