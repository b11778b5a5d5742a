//! Bodies that must be read from disk for what is on the screen; each is requested once.
//!
//! Invariant: of an entry with thousands of blocks only the visible portions are requested.

use std::collections::BTreeSet;

use crate::model::body::Body;
use crate::model::entry::{Block, Entry, EntryId};
use crate::model::record::Origin;

/// Blocks of a portion.
pub(crate) const BLOCKS: usize = 64;

/// Pending requests, by entry and number of the portion.
#[derive(Clone, Debug, Default)]
pub struct PendingPages {
    known: BTreeSet<(EntryId, usize)>,
}

impl PendingPages {
    /// Whether anything of an entry was requested.
    pub(crate) fn has(&self, id: EntryId) -> bool {
        self.known
            .range((id, 0)..=(id, usize::MAX))
            .next()
            .is_some()
    }

    /// Allows the bodies of an entry to be requested again.
    pub fn remove(&mut self, id: EntryId) {
        while let Some(known) = self.known.range((id, 0)..=(id, usize::MAX)).next().copied() {
            self.known.remove(&known);
        }
    }

    pub fn clear(&mut self) {
        self.known.clear();
    }
}

/// Bodies to request.
#[derive(Debug, Default)]
pub(crate) struct Paging {
    entries: Vec<EntryId>,
    origins: Vec<Origin>,
}

impl Paging {
    /// Requests the bodies of a portion of an entry.
    pub fn portion(
        &mut self,
        asked: &mut PendingPages,
        (id, entry): (EntryId, &Entry),
        number: usize,
    ) {
        let first = number.saturating_mul(BLOCKS);
        self.add(
            asked,
            (id, number),
            away_origins(entry.blocks.iter().skip(first).take(BLOCKS)),
        );
    }

    /// Requests the bodies of an entry; of one with many blocks only those of the record `body`, or
    /// all if that is `None`.
    pub fn other(
        &mut self,
        asked: &mut PendingPages,
        (id, entry): (EntryId, &Entry),
        body: Option<Origin>,
    ) {
        match body {
            _ if entry.blocks.len() <= BLOCKS => self.portion(asked, (id, entry), 0),
            Some(body) => self.add(asked, (id, usize::MAX), vec![body]),
            None => self.add(asked, (id, usize::MAX), away_origins(entry.blocks.iter())),
        }
    }

    fn add(&mut self, asked: &mut PendingPages, key: (EntryId, usize), from: Vec<Origin>) {
        if !from.is_empty() && asked.known.insert(key) {
            self.entries.push(key.0);
            self.origins.extend(from);
        }
    }

    /// Marks an entry for layout when the bodies come.
    pub(crate) fn needs_layout(&mut self, id: EntryId) {
        if !self.entries.is_empty() {
            self.entries.push(id);
        }
    }

    /// The entries that wait for bodies, and the records of those, if there are any.
    pub(crate) fn into_request(mut self) -> Option<(Vec<EntryId>, Vec<Origin>)> {
        self.origins.sort_unstable();
        self.origins.dedup();
        (!self.entries.is_empty()).then_some((self.entries, self.origins))
    }
}

fn away_origins<'b>(blocks: impl Iterator<Item = &'b Block>) -> Vec<Origin> {
    let bodies = blocks.flat_map(|block| block.kind.bodies());
    bodies
        .filter(|body: &&Body| body.is_on_disk())
        .map(|body| body.from)
        .collect()
}
