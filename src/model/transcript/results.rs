//! Results find their calls, whichever of the two comes first.

use super::{Touched, Transcript};
use crate::model::body::{Body, Key};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Entry, EntryId, Piece, Role, StrayResult};
use crate::model::pages::held_bytes;
use crate::model::pairing::{calls_of, calls_of_mut};
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolResult, ToolState, ended};

impl Transcript {
    pub(super) fn apply_result(
        &mut self,
        call: Key,
        mut result: ToolResult,
        lane: Option<Name>,
        touched: &mut Touched,
    ) {
        self.retell_result(&result.key);
        let entries = self.pairs.entries_with(&call).to_vec();
        let told_before = entries.iter().copied().find(|id| {
            self.get(*id).is_some_and(|entry| {
                calls_of(entry).any(|c| c.key == call && has_result(c.state.result(), &result))
            })
        });
        // Where ids come again, a result answers what was asked last, in its own lane before any other.
        let waits = |id: &EntryId| {
            self.get(*id).is_some_and(|e| calls_of(e).any(|c| c.key == call && c.state.result().is_none()))
        };
        let is_near = |id: &EntryId| self.get(*id).is_some_and(|entry| entry.lane == lane);
        let near = entries.iter().rev().copied().find(|id| is_near(id) && waits(id));
        let waiting = near.or_else(|| entries.iter().rev().copied().find(|id| waits(id)));
        match told_before.or(waiting) {
            Some(id) => {
                let of_call = self.get(id).and_then(|entry| entry.lane.as_ref());
                result.body.signs.elsewhere = lane.is_some() && lane.as_ref() != of_call;
                self.join_result(id, &call, result, touched);
            }
            None => self.add_stray(call, result, lane, !entries.is_empty(), touched),
        }
    }

    pub(super) fn join_result(
        &mut self,
        id: EntryId,
        key: &Key,
        mut result: ToolResult,
        touched: &mut Touched,
    ) {
        let Some(entry) = self.entries.get_mut(id.index()) else { return };
        let before = held_bytes(&entry.blocks);
        let same = |state: &ToolState| has_result(state.result(), &result);
        let told = calls_of(entry).any(|call| call.key == *key && same(&call.state));
        let fits = |state: &ToolState| if told { same(state) } else { state.result().is_none() };
        let Some(call) = calls_of_mut(entry).find(|call| call.key == *key && fits(&call.state)) else {
            return;
        };
        result.body.signs.early |= call.state.result().is_some_and(|known| known.body.signs.early);
        let state = ended(result);
        if call.state == state {
            // Equal content may have moved in its file.
            for (kept, told) in call.state.result_mut().into_iter().zip(state.result()) {
                move_result(kept, told);
            }
            touched.moved.push(id);
            return;
        }
        call.state = state;
        entry.revision += 1;
        self.held_bytes = (self.held_bytes + held_bytes(&entry.blocks)).saturating_sub(before);
        touched.changed.push(id);
    }

    pub(super) fn add_stray(
        &mut self,
        call: Key,
        result: ToolResult,
        lane: Option<Name>,
        duplicate: bool,
        touched: &mut Touched,
    ) {
        let key = Text::clean(&format!("result:{}", result.key));
        if !duplicate && !call.is_empty() {
            self.pairs.add_stray(&call, key.clone());
        }
        let origin = result.body.from;
        let at = result.at;
        let stray = StrayResult { call, result, duplicate };
        let mut entry = Batch::default().new_entry(key, Role::Harness, at);
        entry.origin = origin;
        entry.lane = lane;
        entry.blocks = vec![Batch::block(Piece(0), BlockKind::Result(Box::new(stray)))];
        self.apply_entry(entry, touched);
    }

    /// Gives results that came before their calls to the calls of a new entry.
    pub(super) fn adopt_strays(&mut self, new: &mut Entry, touched: &mut Touched) {
        let waiting: Vec<Key> = calls_of(new)
            .filter(|call| call.state.is_open() && self.pairs.has_stray(&call.key))
            .map(|c| c.key.clone())
            .collect();
        for key in waiting {
            let Some(mut result) = self.take_stray(&key, touched) else { continue };
            result.body.signs.early = true;
            if let Some(call) = calls_of_mut(new).find(|call| call.key == key && call.state.is_open()) {
                call.state = ended(result);
            }
        }
    }

    pub(super) fn adopt_strays_of(&mut self, id: EntryId, touched: &mut Touched) {
        let Some(entry) = self.get(id) else { return };
        if !calls_of(entry).any(|call| call.state.is_open() && self.pairs.has_stray(&call.key)) {
            return;
        }
        let mut entry = entry.clone();
        self.adopt_strays(&mut entry, touched);
        if let Some(place) = self.entries.get_mut(id.index()) {
            *place = entry;
        }
    }

    pub(super) fn take_stray(&mut self, call: &Key, touched: &mut Touched) -> Option<ToolResult> {
        let key = self.pairs.take_stray(call)?;
        let id = self.index.get(&key).copied()?;
        let block = self.entries.get_mut(id.index())?.blocks.pop()?;
        self.retire(&key, touched);
        match block.kind {
            BlockKind::Result(stray) => Some(stray.result),
            _ => None,
        }
    }

    pub(super) fn apply_state(&mut self, key: &Key, state: ToolState, touched: &mut Touched) {
        for id in self.pairs.entries_with(key).to_vec() {
            let Some(entry) = self.entries.get_mut(id.index()) else { continue };
            let open = calls_of_mut(entry)
                .find(|call| call.key == *key && call.state.is_open() && call.state != state);
            if let Some(call) = open {
                let held = |state: &ToolState| state.live().map_or(0, Body::held_bytes);
                self.held_bytes = (self.held_bytes + held(&state)).saturating_sub(held(&call.state));
                call.state = state;
                entry.revision += 1;
                touched.changed.push(id);
                return;
            }
        }
    }
}

fn has_result(result: Option<&ToolResult>, other: &ToolResult) -> bool {
    result.is_some_and(|result| result.key == other.key)
}

fn move_result(kept: &mut ToolResult, told: &ToolResult) {
    kept.body.move_to(&told.body);
    for (kept, told) in kept.patch.iter_mut().zip(&told.patch) {
        kept.move_to(told);
    }
}
