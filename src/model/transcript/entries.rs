//! Adds, updates and removes entries.

use super::merge::{RecordExtent, merge_blocks, merge_head, move_bodies};
use super::pages::loaded_bytes;
use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::entry::glance::Boundary;
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Piece, Role};
use crate::model::tool::ToolCall;
use crate::model::tool::identifies;

impl Transcript {
    pub(super) fn apply_entry(&mut self, new: Entry, touched: &mut Touched) {
        // A record without a link, such as a damaged line, and a copy, which branches off the path,
        // do not move the leaf.
        let leads = self.lineage.is_linked_tree
            && new.lane.is_none()
            && new.parent.is_some()
            && !new.marks.copy;
        self.lineage.has_links |= new.parent.is_some();
        let key = self.index.print(&new.key);
        let known = self.index.values.get(key).copied();
        if known.is_some() && leads {
            self.lineage.restore_leaf(&new.key);
        } else if known.is_none() && new.lane.is_none() {
            let parent = new.parent.as_ref().map(|parent| self.index.print(parent));
            self.grow_branches(key, parent, leads, Some(new.marks));
        }
        if leads {
            self.set_leaf(&new.key, new.parent.as_ref());
        }
        if let Some(id) = known {
            self.update_entry(id, new, touched);
        } else {
            self.add_entry(new, touched);
        }
    }

    fn add_entry(&mut self, mut new: Entry, touched: &mut Touched) {
        let Ok(number) = u32::try_from(self.entries.len()) else {
            return;
        };
        let id = EntryId(number);
        new.revision = 1;
        new.end_at(None);
        // Most entries have one block, for which a growing list allocates memory for four.
        new.blocks.shrink_to_fit();
        self.join_strays(id, &mut new, touched);
        self.attach_usage(&mut new, touched);
        self.apply_copies(&mut new, touched);
        self.index_calls(id, &new, &new.blocks);
        self.update_model(&new);
        // Shares the allocation of the model's name: a few models have thousands of answers, and
        // sums of usage hold the names.
        let models = self.meta.models.iter();
        new.model = models
            .clone()
            .find(|known| Some(*known) == new.model.as_ref())
            .cloned();
        self.ledger.add(&new);
        self.held_bytes += loaded_bytes(&new.blocks);
        self.index.insert(&new.key, id);
        let in_lane = new
            .lane
            .clone()
            .map(|lane| (lane, new.last_time().filter(|_| !new.is_aside())));
        self.lineage.is_stale |= new.marks.undone;
        let begun = super::work::begun(&new.blocks);
        self.set_report_marks(&mut new);
        self.entries.push(new);
        self.order.push(id);
        if let Some((name, heard)) = in_lane {
            self.lanes.of(&name).entries.push(id);
            self.lanes.update_last_time(Some(&name), heard);
        }
        touched.added.push(id);
        self.index_work(id, begun, touched);
    }

    pub(super) fn index_calls(&mut self, id: EntryId, entry: &Entry, blocks: &[Block]) {
        let entries = &self.entries;
        self.pairs
            .add_calls(id, entry, blocks, &|known| entries.get(known.index()));
    }

    /// Indexes the calls of an entry again after a change.
    pub(super) fn change_calls(&mut self, id: EntryId, before: &Entry, entry: &Entry) {
        self.large.remove(id);
        self.pairs.remove_calls(id, before);
        self.index_calls(id, entry, &entry.blocks);
    }

    fn update_entry(&mut self, id: EntryId, new: Entry, touched: &mut Touched) {
        let Some(new) = self.extend_large(id, new, touched) else {
            return;
        };
        let Some(old) = self.entries.get_mut(id.index()) else {
            return;
        };
        self.work += 1 + old.blocks.len() as u64;
        let mut entry = old.clone();
        let before = entry.marks;
        let is_rooted = entry.parent.is_none() && new.parent.is_some();
        let part = RecordExtent::of(&old.blocks, &new.blocks);
        merge_head(&mut entry, &new, part);
        merge_blocks(&mut entry, new.blocks);
        if entry == *old {
            // Equal content may have moved in its file.
            let held_before = loaded_bytes(&old.blocks);
            for (kept, newer) in old.blocks.iter_mut().zip(entry.blocks) {
                move_bodies(&mut kept.kind, newer.kind);
            }
            self.held_bytes =
                (self.held_bytes + loaded_bytes(&old.blocks)).saturating_sub(held_before);
            touched.moved.push(id);
            self.join_strays_of(id, touched);
            return;
        }
        entry.revision += 1;
        let held_before = loaded_bytes(&old.blocks);
        let begun = super::work::begun(&entry.blocks);
        let previous = std::mem::replace(old, entry.clone());
        if previous.origin != entry.origin {
            touched.moved.push(id);
        }
        self.held_bytes =
            (self.held_bytes + loaded_bytes(&entry.blocks)).saturating_sub(held_before);
        self.change_calls(id, &previous, &entry);
        self.ledger.change(&previous, &entry);
        touched.reordered |= before.is_hidden() != entry.marks.is_hidden();
        self.change_lane(id, &previous, &entry, touched);
        self.update_model(&entry);
        self.update_boundary(id, &previous, &entry);
        self.join_strays_of(id, touched);
        if before != entry.marks || is_rooted {
            self.invalidate();
        }
        touched.changed.push(id);
        self.index_work(id, begun, touched);
    }

    /// Appends further blocks to a large entry without visiting its existing blocks. Returns the
    /// entry if it is another kind of update.
    fn extend_large(
        &mut self,
        id: EntryId,
        mut new: Entry,
        touched: &mut Touched,
    ) -> Option<Entry> {
        let Some(entry) = self.entries.get_mut(id.index()) else {
            return Some(new);
        };
        self.large.index(id, entry);
        let Some(places) = self
            .large
            .get(id)
            .filter(|places| places.is_further(&new.blocks))
        else {
            return Some(new);
        };
        let is_cut = Boundary::of(&new) == Boundary::Cut;
        let repeats = |call: &ToolCall| identifies(&call.key) && places.has_call(&call.key);
        new.blocks
            .retain(|block| block.call().is_none_or(|call| !repeats(call)));
        let mut blocks = std::mem::take(&mut entry.blocks);
        let before = entry.clone();
        merge_head(entry, &new, RecordExtent::FURTHER);
        let head = entry.clone();
        let is_same = head == before && new.blocks.is_empty();
        self.join_strays(id, &mut new, touched);
        self.held_bytes += loaded_bytes(&new.blocks);
        self.index_calls(id, &head, &new.blocks);
        let begun = super::work::begun(&new.blocks);
        blocks.append(&mut new.blocks);
        let entry = self.entries.get_mut(id.index())?;
        entry.blocks = blocks;
        if is_same {
            touched.moved.push(id);
            return None;
        }
        entry.revision += 1;
        self.large.index(id, entry);
        self.ledger.change(&before, &head);
        touched.reordered |= before.marks.is_hidden() != head.marks.is_hidden();
        self.change_lane(id, &before, &head, touched);
        self.update_model(&head);
        let is_moved = before.marks != head.marks || before.parent != head.parent;
        if is_moved || is_cut || (before.role, &before.lane) != (head.role, &head.lane) {
            self.invalidate();
        }
        touched.changed.push(id);
        self.index_work(id, begun, touched);
        None
    }

    /// Updates all indexes by lane after an entry changed its lane.
    fn change_lane(&mut self, id: EntryId, before: &Entry, now: &Entry, touched: &mut Touched) {
        self.lanes.update_last_time(now.lane.as_ref(), now.end());
        if before.lane == now.lane {
            return;
        }
        if let Some(name) = &before.lane {
            self.lanes.of(name).entries.retain(|known| *known != id);
        }
        if let Some(name) = &now.lane {
            let entries = &mut self.lanes.of(name).entries;
            entries.insert(entries.partition_point(|known| *known < id), id);
        }
        touched.reordered = true;
        self.invalidate();
    }

    /// Updates the latest answers after an entry changed.
    fn update_boundary(&mut self, id: EntryId, before: &Entry, now: &Entry) {
        if let Some(place) = self.place_of(id) {
            self.turns.update_boundary((place, id), before, now);
        }
    }

    pub(super) fn update_model(&mut self, entry: &Entry) {
        let Some(model) = &entry.model else { return };
        if entry.lane.is_none()
            && entry.role == Role::Assistant
            && self.meta.model.as_ref() != Some(model)
        {
            self.meta.model = Some(model.clone());
        }
        if !self.meta.models.contains(model) {
            self.meta.models.push(model.clone());
        }
    }

    pub(super) fn retire(&mut self, key: &Key, touched: &mut Touched) {
        let Some(id) = self.index.remove(key) else {
            return;
        };
        self.order.retire(id);
        self.remove(id);
        touched.reordered = true;
        self.invalidate();
    }

    pub(super) fn retire_piece(&mut self, of: &Key, piece: Piece, touched: &mut Touched) {
        let Some(id) = self.index.get(of).copied() else {
            return;
        };
        let Some(entry) = self.entries.get_mut(id.index()) else {
            return;
        };
        if !entry.blocks.iter().any(|block| block.piece == piece) {
            return;
        }
        let previous = entry.clone();
        entry.blocks.retain(|block| block.piece != piece);
        entry.revision += 1;
        let entry = entry.clone();
        self.held_bytes = (self.held_bytes + loaded_bytes(&entry.blocks))
            .saturating_sub(loaded_bytes(&previous.blocks));
        self.change_calls(id, &previous, &entry);
        self.update_boundary(id, &previous, &entry);
        touched.changed.push(id);
    }

    /// Removes a retired entry from all indexes and sums; its slot in the arena stays empty.
    pub(super) fn remove(&mut self, id: EntryId) {
        let Some(entry) = self.entries.get_mut(id.index()) else {
            return;
        };
        let blocks = std::mem::take(&mut entry.blocks);
        self.held_bytes = self.held_bytes.saturating_sub(loaded_bytes(&blocks));
        self.ledger.remove(entry);
        entry.usage = None;
        let gone = Entry {
            blocks,
            ..entry.clone()
        };
        self.large.remove(id);
        self.pairs.remove_calls(id, &gone);
        for block in &gone.blocks {
            if let BlockKind::Result(stray) = &block.kind {
                self.pairs.remove_stray(&stray.call, &gone.key);
            }
        }
        if let Some(name) = &gone.lane {
            let entries = &mut self.lanes.of(name).entries;
            let place = entries.binary_search(&id).ok();
            if let Some(place) = place.or_else(|| entries.iter().rposition(|other| *other == id)) {
                entries.remove(place);
            }
        }
    }
}
