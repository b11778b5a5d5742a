//! Joins results with their calls, whichever of the two comes first.
//!
//! **A result is shown below its call.** A result without a call, or of a call that already has
//! one, is a stray with an entry of its own.

use std::cell::Cell;

use super::pages::loaded_bytes;
use super::pairing::Among;
use super::{Touched, Transcript, work};
use crate::model::body::{Body, Key};
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Piece, Role, StrayResult};
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolCall, ToolResult, ToolState, ended};

impl Transcript {
    pub(super) fn apply_result(
        &mut self,
        call: Key,
        mut result: ToolResult,
        lane: Option<Name>,
        touched: &mut Touched,
    ) {
        self.lanes.update_last_time(lane.as_ref(), result.at);
        let holder = self.pairs.holder(&call, &result.key).filter(|id| {
            let entry = self.entries.get(id.index());
            entry.is_some_and(|e| {
                self.large
                    .find_call(*id, &e.blocks, &call, &result.key)
                    .is_some()
            })
        });
        let (is_known, waiting) = self.waiting_for(&call, lane.as_ref());
        match holder.or(waiting) {
            Some(id) => {
                self.retire_stray(&stray_key(&result.key), touched);
                let of_call = self.get(id).and_then(|entry| entry.lane.as_ref());
                result.body.flags.elsewhere = lane.is_some() && lane.as_ref() != of_call;
                self.join_result(id, &call, result, touched);
            }
            None => self.add_stray(call, result, lane, is_known, touched),
        }
    }

    /// Whether there are calls of this id, and the entry with one that waits for its result. If an
    /// id is repeated, a result belongs to the latest call, in its own lane before any other.
    fn waiting_for(&mut self, call: &Key, lane: Option<&Name>) -> (bool, Option<EntryId>) {
        let (entries, large) = (&self.entries, &self.large);
        let looked = Cell::new(0);
        let waits_in = |id: EntryId| {
            looked.set(looked.get() + 1);
            let Some(entry) = entries.get(id.index()) else {
                return false;
            };
            let mut places = large.waiting(id, &entry.blocks, call);
            places.any(|place| {
                looked.set(looked.get() + 1);
                entry
                    .blocks
                    .get(place)
                    .and_then(Block::call)
                    .is_some_and(waits)
            })
        };
        let near = self.pairs.last_waiting(call, Among::Lane(lane), waits_in);
        let waiting = near.or_else(|| self.pairs.last_waiting(call, Among::All, waits_in));
        self.work += looked.get();
        (!self.pairs.entries_with(call).is_empty(), waiting)
    }

    /// Gives a result to a call of an entry: the one that already has it, or the first one that
    /// waits.
    fn join_result(
        &mut self,
        id: EntryId,
        key: &Key,
        mut result: ToolResult,
        touched: &mut Touched,
    ) {
        let Some(entry) = self.entries.get_mut(id.index()) else {
            return;
        };
        self.large.index(id, entry);
        let holding = self.large.find_call(id, &entry.blocks, key, &result.key);
        let waits_at = |place: &usize| {
            entry
                .blocks
                .get(*place)
                .and_then(Block::call)
                .is_some_and(waits)
        };
        let place = holding.or_else(|| self.large.waiting(id, &entry.blocks, key).find(waits_at));
        let Some((place, block)) = place.and_then(|at| Some((at, entry.blocks.get_mut(at)?)))
        else {
            return;
        };
        let before = loaded_bytes_of(block);
        let Some(call) = block.call_mut() else { return };
        let known = call.state.result().filter(|_| has(call, &result));
        result.body.flags.early |= known.is_some_and(|known| known.body.flags.early);
        self.large.record_result(id, key, &result.key, place);
        self.pairs.record_result(key, &result.key, id);
        let begun = result
            .work
            .as_ref()
            .map(|work| (key.clone(), work.handle.clone()));
        let mut state = ended(result);
        if known.is_some() {
            state.copy_updates_from(&call.state);
        }
        if call.state == state {
            // Equal content may have moved in its file.
            for (kept, newer) in call.state.result_mut().into_iter().zip(state.result()) {
                move_result(kept, newer);
            }
            touched.moved.push(id);
            return;
        }
        call.state = state;
        self.held_bytes = (self.held_bytes + loaded_bytes_of(block)).saturating_sub(before);
        entry.revision += 1;
        touched.changed.push(id);
        self.index_work(id, begun.into_iter().collect(), touched);
    }

    pub(super) fn add_stray(
        &mut self,
        call: Key,
        result: ToolResult,
        lane: Option<Name>,
        duplicate: bool,
        touched: &mut Touched,
    ) {
        let key = stray_key(&result.key);
        if let Some(other) = self.call_of_stray(&key).filter(|other| *other != call) {
            self.pairs.remove_stray(&other, &key);
        }
        if !duplicate && !call.is_empty() {
            self.pairs.add_stray(&call, key.clone());
        }
        let origin = result.body.from;
        let at = result.at;
        let stray = StrayResult {
            call,
            result,
            duplicate,
        };
        let mut entry = Batch::default().new_entry(key, Role::Harness, at);
        entry.origin = origin;
        entry.lane = lane;
        entry.blocks = vec![Block::new(Piece(0), BlockKind::Result(Box::new(stray)))];
        self.apply_entry(entry, touched);
    }

    /// Removes the entry of a stray result, which belongs to a call now.
    fn retire_stray(&mut self, key: &Key, touched: &mut Touched) {
        if let Some(call) = self.call_of_stray(key) {
            self.pairs.remove_stray(&call, key);
            self.retire(key, touched);
        }
    }

    fn call_of_stray(&self, key: &Key) -> Option<Key> {
        let entry = self.index.get(key).and_then(|id| self.get(*id))?;
        entry.blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Result(stray) => Some(stray.call.clone()),
            _ => None,
        })
    }

    /// Gives stray results to the calls of a new entry. Returns whether there were any.
    pub(super) fn join_strays(
        &mut self,
        id: EntryId,
        entry: &mut Entry,
        touched: &mut Touched,
    ) -> bool {
        let lane = entry.lane.as_ref();
        let waits =
            |call: &&ToolCall| call.state.is_open() && self.stray_for(&call.key, lane).is_some();
        let waiting: Vec<Key> = entry
            .calls()
            .filter(waits)
            .map(|call| call.key.clone())
            .collect();
        let mut has_adopted = false;
        for key in waiting {
            let Some(mut result) = self.take_stray(&key, entry.lane.as_ref(), touched) else {
                continue;
            };
            result.body.flags.early = true;
            self.pairs.record_result(&key, &result.key, id);
            let call = entry
                .calls_mut()
                .find(|call| call.key == key && call.state.is_open());
            if let Some(call) = call {
                call.state = ended(result);
                has_adopted = true;
            }
        }
        has_adopted
    }

    /// Like [`Self::join_strays`], for an existing entry.
    pub(super) fn join_strays_of(&mut self, id: EntryId, touched: &mut Touched) {
        let Some(entry) = self.get(id) else { return };
        let lane = entry.lane.as_ref();
        let waits =
            |call: &ToolCall| call.state.is_open() && self.stray_for(&call.key, lane).is_some();
        if !entry.calls().any(waits) {
            return;
        }
        let mut entry = entry.clone();
        let before = loaded_bytes(&entry.blocks);
        if !self.join_strays(id, &mut entry, touched) {
            return;
        }
        entry.revision += 1;
        self.large.remove(id);
        let begun = work::begun(&entry.blocks);
        self.held_bytes = (self.held_bytes + loaded_bytes(&entry.blocks)).saturating_sub(before);
        if let Some(place) = self.entries.get_mut(id.index()) {
            *place = entry;
        }
        touched.changed.push(id);
        self.index_work(id, begun, touched);
    }

    /// The first stray result for this call of a lane. A result in a sub-agent's file for a call of
    /// another agent is a copy, and does not belong to a main agent's call.
    fn stray_for(&self, call: &Key, lane: Option<&Name>) -> Option<&Key> {
        let is_for = |stray: &&Key| {
            let own = self.index.get(stray).map(|id| self.lane_at(*id));
            own.is_some_and(|own| own == lane || self.is_main_lane(own) || !self.is_main_lane(lane))
        };
        self.pairs.strays_of(call).find(is_for)
    }

    fn take_stray(
        &mut self,
        call: &Key,
        lane: Option<&Name>,
        touched: &mut Touched,
    ) -> Option<ToolResult> {
        let key = self.stray_for(call, lane)?.clone();
        let id = self.index.get(&key).copied()?;
        let block = self.entries.get_mut(id.index())?.blocks.pop()?;
        self.held_bytes = self
            .held_bytes
            .saturating_sub(loaded_bytes(std::slice::from_ref(&block)));
        self.pairs.remove_stray(call, &key);
        self.retire(&key, touched);
        match block.kind {
            BlockKind::Result(stray) => Some(stray.result),
            _ => None,
        }
    }

    /// Sets the state of a call: as for a result, of the latest entry that waits, and within it of
    /// the first call.
    pub(super) fn apply_state(&mut self, key: &Key, state: ToolState, touched: &mut Touched) {
        let callers: Vec<EntryId> = match self.pairs.waiting(key) {
            Some(waiting) => waiting
                .rev()
                .find(|id| self.open_place(*id, key).is_some())
                .into_iter()
                .collect(),
            None => self.pairs.entries_with(key).to_vec(),
        };
        let last = callers
            .into_iter()
            .rev()
            .find_map(|id| Some((id, self.open_place(id, key)?)));
        let Some((id, place)) = last else { return };
        let Some(entry) = self.entries.get_mut(id.index()) else {
            return;
        };
        let Some(call) = entry.blocks.get_mut(place).and_then(Block::call_mut) else {
            return;
        };
        if call.state != state && call.state.result().is_none() {
            let held = |state: &ToolState| state.live_output().map_or(0, Body::loaded_bytes);
            self.held_bytes = (self.held_bytes + held(&state)).saturating_sub(held(&call.state));
            call.state = state;
            entry.revision += 1;
            touched.changed.push(id);
        }
    }

    /// Block index of the first open call with this id in an entry.
    fn open_place(&self, id: EntryId, key: &Key) -> Option<usize> {
        let entry = self.get(id)?;
        let is_open = |place: &usize| {
            entry
                .blocks
                .get(*place)
                .and_then(Block::call)
                .is_some_and(|c| c.state.is_open())
        };
        self.large.waiting(id, &entry.blocks, key).find(is_open)
    }
}

/// Key of the entry of a stray result.
fn stray_key(result: &Key) -> Key {
    Text::clean(&format!("result:{result}"))
}

/// Bytes of bodies in memory in a block.
fn loaded_bytes_of(block: &Block) -> u64 {
    loaded_bytes(std::slice::from_ref(block))
}

fn has(call: &ToolCall, result: &ToolResult) -> bool {
    call.state
        .result()
        .is_some_and(|known| known.key == result.key)
}

fn waits(call: &ToolCall) -> bool {
    call.state.result().is_none()
}

fn move_result(kept: &mut ToolResult, newer: &ToolResult) {
    kept.body.move_to(&newer.body);
    for (kept, newer) in kept.patch.iter_mut().zip(&newer.patch) {
        kept.move_to(newer);
    }
}
