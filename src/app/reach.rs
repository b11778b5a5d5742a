//! Opens what keeps an item from being shown: folded branches, closed sub-agents, the level of prompts.

use super::branch_folds;
use super::reader::Reader;
use super::sequence::starter_of;
use super::viewport::Focus;
use crate::model::entry::{BlockKind, EntryId};
use crate::render::row::Level;

/// Opens all that hides an item, but for the filter and the bookkeeping's level.
pub fn reach(reader: &mut Reader, focus: Focus) {
    show_kind(reader, focus);
    branch_folds::uncover(reader, focus.entry);
    open_lanes_to(reader, focus.entry);
}

/// Thinking and level, if they leave out the item's kind.
fn show_kind(reader: &mut Reader, focus: Focus) {
    let Some(entry) = reader.session.transcript.get(focus.entry) else { return };
    let kind = entry.blocks.get(focus.block).map(|block| &block.kind);
    let is_thinking = matches!(kind, Some(BlockKind::Thinking(_)));
    let is_prompt = entry.marks.prompt && entry.lane.is_none() && matches!(kind, Some(BlockKind::Text(_)));
    if is_thinking && !reader.text.shows_thinking {
        reader.text.shows_thinking = true;
        reader.look_changed();
    }
    if reader.text.level == Level::Prompts && !is_prompt {
        reader.text.level = Level::Outline;
        reader.text.stale.sequence = true;
        reader.look_changed();
    }
}

fn open_lanes_to(reader: &mut Reader, id: EntryId) {
    let mut lane = reader.session.transcript.get(id).and_then(|entry| entry.lane.clone());
    while let Some(name) = lane {
        let starter = starter_of(&reader.session.transcript, &name);
        if !reader.text.open_lanes.insert(name) {
            return;
        }
        reader.text.stale.sequence = true;
        if let Some(starter) = starter {
            reader.text.cache.forget(starter);
        }
        lane = starter.and_then(|id| reader.session.transcript.get(id)).and_then(|entry| entry.lane.clone());
    }
}
