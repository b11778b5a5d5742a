//! Opens what keeps an item from being shown: folded branches, closed sub-agents, the level of prompts.

use super::branch_folds;
use super::sequence::starter_of;
use super::state::State;
use super::viewport::Focus;
use crate::model::entry::{BlockKind, EntryId};
use crate::render::row::Level;

/// Opens all that hides an item, but for the filter and the bookkeeping's level.
pub fn reach(state: &mut State, focus: Focus) {
    show_kind(state, focus);
    branch_folds::uncover(state, focus.entry);
    open_lanes_to(state, focus.entry);
}

/// Thinking and level, if they leave out the item's kind.
fn show_kind(state: &mut State, focus: Focus) {
    let Some(entry) = state.session.transcript.get(focus.entry) else { return };
    let kind = entry.blocks.get(focus.block).map(|block| &block.kind);
    let is_thinking = matches!(kind, Some(BlockKind::Thinking(_)));
    let is_prompt = entry.marks.prompt && entry.lane.is_none() && matches!(kind, Some(BlockKind::Text(_)));
    if is_thinking && !state.text.shows_thinking {
        state.text.shows_thinking = true;
        state.look_changed();
    }
    if state.text.level == Level::Prompts && !is_prompt {
        state.text.level = Level::Outline;
        state.text.stale.sequence = true;
        state.look_changed();
    }
}

fn open_lanes_to(state: &mut State, id: EntryId) {
    let mut lane = state.session.transcript.get(id).and_then(|entry| entry.lane.clone());
    while let Some(name) = lane {
        let starter = starter_of(&state.session.transcript, &name);
        if !state.text.open_lanes.insert(name) {
            return;
        }
        state.text.stale.sequence = true;
        if let Some(starter) = starter {
            state.text.cache.forget(starter);
        }
        lane = starter.and_then(|id| state.session.transcript.get(id)).and_then(|entry| entry.lane.clone());
    }
}
