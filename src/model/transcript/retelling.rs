//! A session told anew: what is told again keeps its identity, what is not told again goes.

use std::collections::{HashMap, HashSet};

use super::order::Order;
use super::pages::held_bytes;
use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::entry::{BlockKind, Entry, EntryId, Piece};
use crate::model::tool::ToolState;

/// What has been told again so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Retelling {
    order: Vec<EntryId>,
    entries: HashSet<EntryId>,
    pieces: HashSet<(EntryId, Piece)>,
    /// Results with the calls that they were told of: their ids may come again.
    results: HashSet<(Key, Key)>,
    /// Calls that were told to be lost: by the place of the block, or by the entry itself.
    lost: HashSet<(EntryId, Key, Option<usize>)>,
    usages: HashSet<Key>,
    retired: HashMap<Key, EntryId>,
}

impl Retelling {
    fn entry(&mut self, id: EntryId) {
        if self.entries.insert(id) {
            self.order.push(id);
        }
    }

    /// Entries told so far.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The last entry told so far.
    pub(super) fn last(&self) -> Option<EntryId> {
        self.order.last().copied()
    }

    /// Whether an entry was told.
    pub(super) fn has_entry(&self, id: EntryId) -> bool {
        self.entries.contains(&id)
    }

    /// Whether a piece of an entry was told.
    pub(super) fn has_piece(&self, id: EntryId, piece: Piece) -> bool {
        self.pieces.contains(&(id, piece))
    }

    /// Whether a result was told of a call.
    pub(super) fn has_result(&self, result: &Key, call: &Key) -> bool {
        self.results.contains(&(result.clone(), call.clone()))
    }

    /// Notes that a result was told of a call.
    pub(super) fn result(&mut self, result: &Key, call: &Key) {
        self.results.insert((result.clone(), call.clone()));
    }

    /// Whether a call was told to be lost.
    pub(super) fn has_lost(&self, id: EntryId, call: &Key, place: usize) -> bool {
        [None, Some(place)].into_iter().any(|place| self.lost.contains(&(id, call.clone(), place)))
    }

    /// Notes that a call was told to be lost.
    pub(super) fn lost(&mut self, id: EntryId, call: &Key, place: Option<usize>) {
        self.lost.insert((id, call.clone(), place));
    }

    /// An entry that was retired on the way. It may be told once more, and is the same one then: a result
    /// that stands alone joins its call while that is told again, and leaves it when the call goes.
    pub(super) fn retire(&mut self, key: &Key, id: EntryId) {
        self.retired.insert(key.clone(), id);
        if self.entries.remove(&id) {
            self.order.retain(|other| *other != id);
        }
    }

    /// The place of an entry that was retired on the way.
    pub(super) fn take_retired(&mut self, key: &Key) -> Option<EntryId> {
        self.retired.remove(key)
    }
}

impl Transcript {
    /// Notes that an entry was told, with what its blocks are.
    pub(super) fn retell(&mut self, id: EntryId, entry: &Entry) {
        let Some(told) = &mut self.retelling else { return };
        told.entry(id);
        told.pieces.extend(entry.blocks.iter().map(|block| (id, block.piece)));
        for call in entry.calls() {
            if call.state == ToolState::Lost {
                told.lost(id, &call.key, None);
            }
            call.state.result().into_iter().for_each(|result| told.result(&result.key, &call.key));
        }
    }

    /// A piece goes in a new telling: at its end, unless it is told once more, and keeps its place then. Its calls
    /// begin anew in that case.
    pub(super) fn untell(&mut self, id: EntryId, piece: Piece, touched: &mut Touched) {
        let Some(told) = &mut self.retelling else { return };
        let Some(entry) = self.entries.get_mut(id.index()).filter(|_| told.pieces.remove(&(id, piece)))
        else {
            return;
        };
        let before = held_bytes(&entry.blocks);
        for block in entry.blocks.iter_mut().filter(|block| block.piece == piece) {
            if let BlockKind::Call(call) = &mut block.kind {
                call.state = ToolState::Pending;
            }
        }
        entry.revision += 1;
        self.large.forget(id);
        self.held_bytes = (self.held_bytes + held_bytes(&entry.blocks)).saturating_sub(before);
        touched.changed.push(id);
    }

    /// Pieces of an entry that were told; before a new telling comes to it, those of the telling before.
    pub(super) fn pieces_so_far(&self, id: EntryId) -> Vec<Piece> {
        self.pieces_of(id, self.retelling.as_ref().filter(|told| told.has_entry(id)))
    }

    /// Pieces of an entry that were told, in a new telling by itself.
    pub(super) fn told_pieces(&self, id: EntryId) -> Vec<Piece> {
        self.pieces_of(id, self.retelling.as_ref())
    }

    fn pieces_of(&self, id: EntryId, told: Option<&Retelling>) -> Vec<Piece> {
        let pieces = self.get(id).into_iter().flat_map(|entry| &entry.blocks).map(|block| block.piece);
        pieces.filter(|piece| told.is_none_or(|told| told.has_piece(id, *piece))).collect()
    }

    /// Notes that a result was told of a call.
    pub(super) fn retell_result(&mut self, result: &Key, call: &Key) {
        if let Some(told) = &mut self.retelling {
            told.result(result, call);
        }
    }

    /// Notes that usage beside the entries was told.
    pub(super) fn retell_usage(&mut self, of: &Key) {
        if let Some(told) = &mut self.retelling {
            told.usages.insert(of.clone());
        }
    }

    /// Everything that was not told again goes.
    pub(super) fn end_retelling(&mut self, touched: &mut Touched) {
        let Some(told) = self.retelling.take() else { return };
        let gone: Vec<EntryId> = self.order.iter().copied().filter(|id| !told.entries.contains(id)).collect();
        for id in gone {
            if let Some(key) = self.get(id).map(|entry| entry.key.clone()) {
                self.index.remove(&key);
            }
            self.forget(id);
            touched.reordered = true;
        }
        for id in &told.order {
            self.drop_untold(*id, &told, touched);
        }
        self.drop_untold_usage(&told);
        touched.reordered |= !told.order.starts_with(&self.order);
        for lane in self.lanes.iter_mut() {
            let members: HashSet<EntryId> = lane.entries.iter().copied().collect();
            lane.entries = told.order.iter().copied().filter(|id| members.contains(id)).collect();
        }
        self.order = Order::of(told.order);
        self.unsettle();
    }

    /// Blocks and results of an entry that its new telling does not name.
    fn drop_untold(&mut self, id: EntryId, told: &Retelling, touched: &mut Touched) {
        let Some(entry) = self.entries.get(id.index()).filter(|entry| is_outdated(id, entry, told)) else {
            return;
        };
        let mut entry = entry.clone();
        let before = held_bytes(&entry.blocks);
        entry.blocks.retain(|block| told.pieces.contains(&(id, block.piece)));
        for call in entry.calls_mut() {
            if call.state.result().is_some_and(|result| !told.has_result(&result.key, &call.key)) {
                call.state = ToolState::Pending;
            }
        }
        entry.revision += 1;
        self.held_bytes = (self.held_bytes + held_bytes(&entry.blocks)).saturating_sub(before);
        if let Some(place) = self.entries.get_mut(id.index()) {
            let previous = std::mem::replace(place, entry.clone());
            self.change_calls(id, &previous, &entry);
        }
        touched.changed.push(id);
    }

    fn drop_untold_usage(&mut self, told: &Retelling) {
        let totals = &mut self.totals;
        self.beside.retain(|of, aside| {
            let is_told = told.usages.contains(of);
            if !is_told {
                totals.remove(&aside.usage, aside.model.as_ref());
            }
            is_told
        });
    }
}

fn is_outdated(id: EntryId, entry: &Entry, told: &Retelling) -> bool {
    let has_untold_piece = entry.blocks.iter().any(|block| !told.pieces.contains(&(id, block.piece)));
    has_untold_piece
        || entry
            .calls()
            .any(|call| call.state.result().is_some_and(|result| !told.has_result(&result.key, &call.key)))
}
