//! Bodies that are on disk and must be read for what is in sight, each asked for once.
//!
//! Invariant: of an entry with thousands of blocks only those are asked for that stand in a portion in sight.

use std::collections::BTreeSet;

use crate::model::body::Body;
use crate::model::entry::{Block, Entry, EntryId};
use crate::model::record::Origin;

/// Blocks of a portion.
pub(crate) const BLOCKS: usize = 64;

/// What was asked for, until it comes: by entry and number of the portion.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    known: BTreeSet<(EntryId, usize)>,
}

impl Asked {
    /// Whether anything of an entry was asked for.
    pub(crate) fn has(&self, id: EntryId) -> bool {
        self.known
            .range((id, 0)..=(id, usize::MAX))
            .next()
            .is_some()
    }

    /// What was asked for of an entry may be asked for again.
    pub fn forget(&mut self, id: EntryId) {
        while let Some(known) = self.known.range((id, 0)..=(id, usize::MAX)).next().copied() {
            self.known.remove(&known);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.known.clear();
    }
}

/// What is to be asked for.
#[derive(Debug, Default)]
pub(crate) struct Paging {
    entries: Vec<EntryId>,
    origins: Vec<Origin>,
}

impl Paging {
    /// Asks for the bodies of a portion of an entry.
    pub fn portion(&mut self, asked: &mut Asked, (id, entry): (EntryId, &Entry), number: usize) {
        let first = number.saturating_mul(BLOCKS);
        self.add(
            asked,
            (id, number),
            away(entry.blocks.iter().skip(first).take(BLOCKS)),
        );
    }

    /// Asks for the bodies of an entry; of one with many blocks only for this one, or for all if none is named.
    pub fn other(
        &mut self,
        asked: &mut Asked,
        (id, entry): (EntryId, &Entry),
        body: Option<Origin>,
    ) {
        match body {
            _ if entry.blocks.len() <= BLOCKS => self.portion(asked, (id, entry), 0),
            Some(body) => self.add(asked, (id, usize::MAX), vec![body]),
            None => self.add(asked, (id, usize::MAX), away(entry.blocks.iter())),
        }
    }

    fn add(&mut self, asked: &mut Asked, key: (EntryId, usize), from: Vec<Origin>) {
        if !from.is_empty() && asked.known.insert(key) {
            self.entries.push(key.0);
            self.origins.extend(from);
        }
    }

    /// Another entry is laid out with what comes for these.
    pub(crate) fn needs_layout(&mut self, id: EntryId) {
        if !self.entries.is_empty() {
            self.entries.push(id);
        }
    }

    /// The entries that wait for bodies, and the records that these stand in, if there are any.
    pub(crate) fn wanted(mut self) -> Option<(Vec<EntryId>, Vec<Origin>)> {
        self.origins.sort_unstable();
        self.origins.dedup();
        (!self.entries.is_empty()).then_some((self.entries, self.origins))
    }
}

fn away<'b>(blocks: impl Iterator<Item = &'b Block>) -> Vec<Origin> {
    let bodies = blocks.flat_map(|block| block.kind.bodies());
    bodies
        .filter(|body: &&Body| body.is_away())
        .map(|body| body.from)
        .collect()
}
