//! The transcript: takes batches, keeps entries by key, and derives pairing, turns, branches and
//! totals from them. [`Transcript::apply`] is the only way to change it.
//!
//! Invariant: entry ids stay the same while the session is open; telling a batch twice changes
//! nothing; no entry disappears but by [`Edit::Retire`] or a new telling that leaves it out.

mod bodies;
mod branching;
mod facts;
mod lanes;
mod results;
mod retelling;
mod turns;

use std::collections::HashMap;

use super::body::Key;
use super::edit::{Batch, Edit, Mode, Notice};
use super::entry::{BlockKind, Entry, EntryId, Piece, Role};
use super::fingerprint::{ByKey, ByPrint, Print};
use super::forest::Departure;
use super::glance::Glance;
use super::merge::{merge_blocks, merge_head, move_bodies};
use super::meta::Meta;
use super::pages::{Pages, Passing, ToPack, WasPacked, held_bytes};
use super::pairing::PairIndex;
use super::tally::Tally;
use super::text::Name;
use super::totals::Totals;
use super::tree::Branches;
use super::turn::Turn;
use super::usage::{Aside, Scope, Usage};
use lanes::Lanes;
use retelling::Retelling;

/// What a batch touched.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// New entries, in order.
    pub added: Vec<EntryId>,
    /// Entries with changed content.
    pub changed: Vec<EntryId>,
    /// Entries that stand at another place of the file now.
    pub moved: Vec<EntryId>,
    /// Entries disappeared or changed places.
    pub reordered: bool,
    /// Facts about the session or its lanes changed.
    pub meta: bool,
    /// A sub-agent has another name or another call.
    pub lanes: bool,
}

impl Touched {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && !self.reordered && !self.meta
    }
}

/// Everything known of a session.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    entries: Pages,
    index: ByKey<EntryId>,
    order: Vec<EntryId>,
    retelling: Option<Retelling>,
    pairs: PairIndex,
    lanes: Lanes,
    beside: HashMap<Key, Aside>,
    totals: Totals,
    /// Parents of records that are links without being entries.
    links: ByPrint<Option<Print>>,
    leaf: Option<Key>,
    departures: Vec<Departure>,
    is_linked_tree: bool,
    branches: Branches,
    branches_changed: u32,
    turns: Vec<Turn>,
    meta: Meta,
    tally: Tally,
    notices: Vec<Notice>,
    /// The first record that a compaction kept, by the entry of the compaction.
    kept: HashMap<Key, Key>,
    held_bytes: u64,
    /// Its bodies cannot be read again.
    is_piped: bool,
    /// Entries of the order whose turns are known.
    turns_known: usize,
    branches_are_stale: bool,
}

impl Transcript {
    /// An empty transcript.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a batch and says what it touched.
    pub fn apply(&mut self, batch: Batch) -> Touched {
        let mut touched = Touched::default();
        let mode = batch.mode;
        if matches!(mode, Mode::Replace | Mode::ReplaceStart) {
            self.retelling = Some(Retelling::default());
            // Another session may be told in its place.
            self.meta.root = None;
            self.notices.clear();
            self.forget_links();
        }
        for edit in batch.edits {
            self.apply_edit(edit, &mut touched);
        }
        if matches!(mode, Mode::Replace | Mode::ReplaceEnd) {
            self.end_retelling(&mut touched);
        }
        self.is_piped |= batch.is_piped;
        self.tally = batch.tally;
        self.notices.extend(batch.notices);
        touched
    }

    /// Something in the middle is different: turns and branches must be found anew.
    fn unsettle(&mut self) {
        self.turns.clear();
        self.turns_known = 0;
        self.branches_are_stale = true;
    }

    fn apply_edit(&mut self, edit: Edit, touched: &mut Touched) {
        match edit {
            Edit::Entry(entry) => self.apply_entry(*entry, touched),
            Edit::Result { call, result, lane } => self.apply_result(call, *result, lane, touched),
            Edit::State { call, state } => self.apply_state(&call, state, touched),
            Edit::Usage { of, usage, model } => self.apply_usage(of, *usage, model, touched),
            Edit::Link { key, parent } => self.apply_link(key, parent),
            Edit::Meta(edit) => {
                touched.lanes |= self.apply_meta(edit);
                touched.meta = true;
            }
            Edit::Retire(key) => self.retire(&key, touched),
            Edit::RetirePiece { of, piece } => self.retire_piece(&of, piece, touched),
        }
    }

    // === entries ===

    fn apply_entry(&mut self, new: Entry, touched: &mut Touched) {
        // A record without a link, such as a damaged line, and a copy, which hangs beside the path, say
        // nothing of where the branch ends.
        let leads = self.is_linked_tree && new.lane.is_none() && new.parent.is_some() && !new.marks.copy;
        let is_known = self.index.contains(&new.key);
        if is_known {
            self.branches_are_stale |= leads && self.leaf.as_ref() != Some(&new.key);
        } else if new.lane.is_none() {
            let is_prompt = new.marks.prompt && !new.marks.copy;
            self.grow_branches(&new.key, new.parent.as_ref(), leads, is_prompt);
        }
        if leads {
            self.lead(&new.key, new.parent.as_ref());
        }
        if let Some(id) = self.index.get(&new.key).copied() {
            self.update_entry(id, new, touched);
        } else {
            self.add_entry(new, touched);
        }
    }

    fn add_entry(&mut self, mut new: Entry, touched: &mut Touched) {
        let Ok(number) = u32::try_from(self.entries.len()) else { return };
        let retired = self.retelling.as_mut().and_then(|told| told.take_retired(&new.key));
        let id = retired.unwrap_or(EntryId(number));
        new.revision = self.get(id).map_or(1, |before| before.revision + 1);
        self.retell(id, &new);
        self.adopt_strays(id, &mut new, touched);
        self.pairs.add_calls(id, &new);
        if let Some(usage) = &new.usage {
            self.totals.add(usage, new.model.as_ref());
        }
        self.see_model(&new);
        self.held_bytes += held_bytes(&new.blocks);
        self.index.insert(&new.key, id);
        let in_lane = new.lane.clone();
        self.branches_are_stale |= new.marks.undone;
        match self.entries.get_mut(id.index()) {
            Some(place) => *place = new,
            None => self.entries.push(new),
        }
        if self.retelling.is_none() {
            self.order.push(id);
        }
        if let Some(name) = in_lane {
            self.lanes.of(&name).entries.push(id);
        }
        touched.added.push(id);
    }

    fn update_entry(&mut self, id: EntryId, new: Entry, touched: &mut Touched) {
        let (known, told) = (self.pieces_so_far(id), self.told_pieces(id));
        self.retell(id, &new);
        let Some(old) = self.entries.get_mut(id.index()) else { return };
        let mut entry = old.clone();
        let was_trace = entry.marks.trace;
        let is_moved = entry.marks != new.marks || (entry.parent.is_none() && new.parent.is_some());
        let had_model = entry.model.clone();
        let had_usage = entry.usage.clone();
        merge_head(&mut entry, &new, &known);
        merge_blocks(&mut entry, new.blocks, &told);
        if entry == *old {
            // Equal content may have moved in its file.
            let held_before = held_bytes(&old.blocks);
            for (kept, told) in old.blocks.iter_mut().zip(entry.blocks) {
                move_bodies(&mut kept.kind, told.kind);
            }
            self.held_bytes = (self.held_bytes + held_bytes(&old.blocks)).saturating_sub(held_before);
            touched.moved.push(id);
            self.adopt_strays_of(id, touched);
            return;
        }
        entry.revision += 1;
        let held_before = held_bytes(&old.blocks);
        let previous = std::mem::replace(old, entry.clone());
        if previous.origin != entry.origin {
            touched.moved.push(id);
        }
        self.held_bytes = (self.held_bytes + held_bytes(&entry.blocks)).saturating_sub(held_before);
        self.pairs.remove_calls(id, &previous);
        self.pairs.add_calls(id, &entry);
        if had_usage != entry.usage || had_model != entry.model {
            if let Some(usage) = &had_usage {
                self.totals.remove(usage, had_model.as_ref());
            }
            if let Some(usage) = &entry.usage {
                self.totals.add(usage, entry.model.as_ref());
            }
        }
        touched.reordered |= was_trace != entry.marks.trace;
        self.see_model(&entry);
        self.adopt_strays_of(id, touched);
        if is_moved {
            self.unsettle();
        }
        touched.changed.push(id);
    }

    fn see_model(&mut self, entry: &Entry) {
        let Some(model) = &entry.model else { return };
        if entry.lane.is_none() && entry.role == Role::Assistant && self.meta.model.as_ref() != Some(model) {
            self.meta.model = Some(model.clone());
        }
        if !self.meta.models.contains(model) {
            self.meta.models.push(model.clone());
        }
    }

    fn retire(&mut self, key: &Key, touched: &mut Touched) {
        let Some(id) = self.index.remove(key) else { return };
        self.order.retain(|other| *other != id);
        if let Some(told) = &mut self.retelling {
            told.retire(key, id);
        }
        self.forget(id);
        touched.reordered = true;
        self.unsettle();
    }

    fn retire_piece(&mut self, of: &Key, piece: Piece, touched: &mut Touched) {
        let Some(id) = self.index.get(of).copied() else { return };
        if self.retelling.is_some() {
            self.untell(id, piece, touched);
            return;
        }
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        if !entry.blocks.iter().any(|block| block.piece == piece) {
            return;
        }
        let previous = entry.clone();
        entry.blocks.retain(|block| block.piece != piece);
        entry.revision += 1;
        let entry = entry.clone();
        self.held_bytes =
            (self.held_bytes + held_bytes(&entry.blocks)).saturating_sub(held_bytes(&previous.blocks));
        self.pairs.remove_calls(id, &previous);
        self.pairs.add_calls(id, &entry);
        touched.changed.push(id);
    }

    /// Undoes what a retired entry contributed; its place in the arena stays empty.
    fn forget(&mut self, id: EntryId) {
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let blocks = std::mem::take(&mut entry.blocks);
        self.held_bytes = self.held_bytes.saturating_sub(held_bytes(&blocks));
        if let Some(usage) = entry.usage.take() {
            self.totals.remove(&usage, entry.model.as_ref());
        }
        let gone = Entry { blocks, ..entry.clone() };
        self.pairs.remove_calls(id, &gone);
        for block in &gone.blocks {
            if let BlockKind::Result(stray) = &block.kind {
                self.pairs.remove_stray(&stray.call, &gone.key);
            }
        }
        if let Some(name) = &gone.lane {
            self.lanes.of(name).entries.retain(|other| *other != id);
        }
    }

    // === reading ===

    /// The entry with this id.
    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(id.index())
    }

    /// A look at one entry after the other, which leaves packed what is packed.
    pub fn passing(&self) -> Passing<'_> {
        self.entries.passing()
    }

    /// The place of the last of these entries that is such a one; packed ones stay packed.
    pub fn last_such(&self, ids: &[EntryId], mut is_it: impl FnMut(&Entry) -> bool) -> Option<usize> {
        let mut passing = self.passing();
        ids.iter().rposition(|id| passing.get(*id).is_some_and(&mut is_it))
    }

    /// What a glance at the entry tells; it costs little, whatever was done with the entry.
    pub fn glance(&self, id: EntryId) -> Option<Glance> {
        self.entries.glance(id.index())
    }

    /// The sub-agent that the entry belongs to; it costs little, too.
    pub fn lane_at(&self, id: EntryId) -> Option<&Name> {
        self.entries.lane(id.index())
    }

    /// Packs entries that nobody looked at for a while. To be called now and then, while no entry is being
    /// looked at: what is looked at is unpacked, and takes several times the room.
    pub fn tidy(&mut self) {
        self.entries.tidy(&|key| self.index.print(key));
    }

    /// As [`Transcript::tidy`], but somebody else may do the work: [`ToPack::pack`], and what comes of it is for
    /// [`Transcript::take_back`].
    pub fn hand_out(&mut self) -> Vec<ToPack> {
        self.entries.hand_out(&|key| self.index.print(key))
    }

    /// Takes what was packed. Gives back what is none of its pages, or no longer the same.
    pub fn take_back(&mut self, page: WasPacked) -> Option<WasPacked> {
        self.entries.take_back(page)
    }

    /// Packs all entries that can be packed: nothing will be looked at for a while.
    pub fn pack(&mut self) {
        self.entries.pack(&|key| self.index.print(key));
    }

    /// The entry with this key.
    pub fn find(&self, key: &str) -> Option<EntryId> {
        self.index.get(key).copied()
    }

    /// Entries of all lanes in file order.
    pub fn order(&self) -> &[EntryId] {
        &self.order
    }

    /// Entries of all lanes in file order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.order.iter().filter_map(|id| self.get(*id))
    }

    /// The place of an entry in the order.
    pub fn place_of(&self, id: EntryId) -> Option<usize> {
        self.order.binary_search(&id).ok().or_else(|| self.order.iter().rposition(|other| *other == id))
    }

    /// Entries with calls of this id.
    pub fn entries_with_call(&self, call: &Key) -> &[EntryId] {
        self.pairs.entries_with(call)
    }

    /// Id of the first record that the model still sees after a compaction, as recorded.
    pub fn kept_by(&self, compaction: &Key) -> Option<&Key> {
        self.kept.get(compaction)
    }

    /// Facts about the session.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// What became of the records.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What was odd.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// What was spent.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Usage that was told beside the entries, in no order.
    pub fn asides(&self) -> impl Iterator<Item = (&Key, &Aside)> {
        self.beside.iter()
    }

    /// Turns of the main lane; see [`Transcript::settle`].
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The turn that the entry at this place of the order belongs to.
    pub fn turn_at(&self, place: usize) -> Option<usize> {
        self.turns.partition_point(|turn| turn.first <= place).checked_sub(1)
    }

    /// Usage of the last request of the main lane: its prompt is the size of the context.
    pub fn last_request(&self) -> Option<(&Entry, &Usage)> {
        self.order.iter().rev().filter_map(|id| self.get(*id)).find_map(|entry| {
            let usage = entry.usage.as_deref()?;
            (entry.lane.is_none() && usage.scope == Scope::Request && usage.prompt() > 0)
                .then_some((entry, usage))
        })
    }
}

#[cfg(test)]
mod tests;
