//! A session that is read anew: another transcript is read beside this one, and takes its place when it is complete.
//!
//! What was there before keeps its ids, by key, and stays on the screen until then; so nothing that goes by ids must be
//! carried over, and what is the same once more is no change. All else is what the replacement says.
//!
//! **A transcript, not a mark on each thing.** Read into the same transcript, each call, result and piece would have to
//! be known as one of the old reading or of the new one. Two transcripts need the room of both for that moment; pages of
//! both are packed meanwhile.
//!
//! Invariant: what has succeeded is what a transcript is that was read so from the beginning, but for ids and revisions.

use std::collections::HashSet;

use super::order::Order;
use super::pages::held_bytes;
use super::{Touched, Transcript};
use crate::model::body::Body;
use crate::model::entry::glance::Boundary;
use crate::model::entry::{Block, Entry, EntryId};

/// The ids that entries have from now on, by those that they had.
pub(super) struct Renumbering(Vec<Option<EntryId>>);

impl Renumbering {
    /// The new id of an entry.
    pub(super) fn get(&self, id: EntryId) -> Option<EntryId> {
        self.0.get(id.index()).copied().flatten()
    }

    /// The new ids of entries, in order.
    pub(super) fn sorted(&self, ids: &[EntryId]) -> Vec<EntryId> {
        let mut ids: Vec<EntryId> = ids.iter().filter_map(|id| self.get(*id)).collect();
        ids.sort_unstable();
        ids
    }
}

impl Transcript {
    /// An empty one that can take the place of this one.
    pub(super) fn begin_anew(&self) -> Self {
        Self { index: self.index.emptied(), large: self.large.emptied(), ..Self::default() }
    }

    /// Takes the place of the transcript that was there before.
    pub(super) fn succeed(&mut self, mut old: Self) -> Touched {
        let ids = self.ids_after(&old);
        let mut touched = Touched {
            meta: self.meta != old.meta,
            lanes: !self.lanes.are_same(&old.lanes),
            ..Touched::default()
        };
        self.index.values_mut().for_each(|id| *id = ids.get(*id).unwrap_or(*id));
        self.lanes.renumber(&ids);
        self.pairs.renumber(&ids);
        self.ledger.renumber(&ids);
        touched.meta |= !self.ledger.has_same_asides(&old.ledger);
        let is_taken_back = self.take_places(&mut old, &ids, &mut touched);
        // What goes by the links of entries must begin again, though none of them changed.
        touched.reordered |= self.is_linked_tree() != old.is_linked_tree();
        self.large = old.large.emptied();
        self.lineage.succeed(old.lineage);
        self.turns.succeed(old.turns, is_taken_back);
        self.is_piped |= old.is_piped;
        self.changes = old.changes;
        self.work += old.work;
        touched
    }

    /// Entries that were there keep their ids, the others get new ones.
    fn ids_after(&self, old: &Self) -> Renumbering {
        let mut ids = vec![None; self.entries.len()];
        let mut known = vec![None; self.entries.len()];
        for (print, id) in self.index.iter() {
            if let Some(place) = known.get_mut(id.index()) {
                *place = old.index.get_print(print).copied();
            }
        }
        let mut next = old.entries.len();
        for id in self.order.iter() {
            let new = known.get(id.index()).copied().flatten().or_else(|| {
                next += 1;
                Some(EntryId(u32::try_from(next - 1).ok()?))
            });
            ids.get_mut(id.index()).into_iter().for_each(|id| *id = new);
        }
        Renumbering(ids)
    }

    /// Puts the entries where those of before were. Answers whether an answer or a compaction is none any more.
    fn take_places(&mut self, old: &mut Self, ids: &Renumbering, touched: &mut Touched) -> bool {
        let mut is_taken_back = false;
        let (mut newer, mut known) = (self.entries.passing(), old.entries.passing());
        let (mut order, mut put) = (Vec::with_capacity(self.order.len()), Vec::new());
        self.held_bytes = 0;
        for number in self.order.iter() {
            let (Some(id), Some(now)) = (ids.get(*number), newer.get(*number)) else { continue };
            order.push(id);
            let Some(before) = known.get(id) else {
                self.held_bytes += held_bytes(&now.blocks);
                put.push((id, now.clone()));
                touched.added.push(id);
                continue;
            };
            let mut now = Entry { revision: before.revision, ..now.clone() };
            let is_same = now == *before;
            if is_same {
                keep_bodies(&mut now.blocks, &before.blocks);
            } else {
                now.revision += 1;
                touched.changed.push(id);
                touched.reordered |= now.marks.trace != before.marks.trace || now.lane != before.lane;
                let (was, is) = (Boundary::of(before), Boundary::of(&now));
                is_taken_back |= was != Boundary::None && was != is;
            }
            let is_moved = now.origin != before.origin || are_elsewhere(&now.blocks, &before.blocks);
            if is_moved {
                touched.moved.push(id);
            }
            self.held_bytes += held_bytes(&now.blocks);
            if is_moved || !is_same {
                put.push((id, now));
            }
        }
        let mut entries = std::mem::take(&mut old.entries);
        for (id, entry) in put {
            match entries.get_mut(id.index()) {
                Some(place) => *place = entry,
                None => entries.push(entry),
            }
        }
        let there: HashSet<EntryId> = order.iter().copied().collect();
        for id in old.order.iter().filter(|id| !there.contains(id)) {
            if let Some(gone) = entries.get_mut(id.index()) {
                gone.blocks.clear();
                gone.usage = None;
            }
        }
        touched.reordered |= !order.starts_with(&old.order);
        self.entries = entries;
        self.order = Order::of(order);
        is_taken_back
    }
}

/// Bodies of equal blocks that are in memory stay there.
fn keep_bodies(now: &mut [Block], before: &[Block]) {
    for (now, before) in now.iter_mut().zip(before) {
        for (now, before) in now.kind.bodies_mut().into_iter().zip(before.kind.bodies()) {
            if now.is_away() {
                now.held.clone_from(&before.held);
            }
        }
    }
}

/// Whether bodies of equal blocks lie elsewhere now, or are in memory for the first time.
fn are_elsewhere(now: &[Block], before: &[Block]) -> bool {
    let of = |blocks: &[Block]| -> Vec<_> {
        let place = |body: &Body| (body.from, body.slot, body.flags, body.is_away());
        blocks.iter().flat_map(|block| block.kind.bodies()).map(place).collect()
    };
    of(now) != of(before)
}
