//! The plan that an agent had before it wrote the next one.
//!
//! Invariant: goes back from the plan, and no further than `FARTHEST` entries.

use std::ops::Range;

use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind, EntryId};
use crate::model::tool::{ToolCall, ToolKind};
use crate::model::transcript::Transcript;

/// Entries that are looked at.
const FARTHEST: usize = 20_000;

/// The call that wrote a plan, if a block is one.
fn plan_of(block: &Block) -> Option<&ToolCall> {
    match &block.kind {
        BlockKind::Call(call) if call.kind == ToolKind::Plan => Some(call),
        _ => None,
    }
}

/// The inputs of the earlier plans of an entry's lane that the plans of the entry took the place of: by
/// the place of the block, with the entry that holds each.
pub(crate) fn earlier(transcript: &Transcript, id: EntryId) -> Vec<(usize, EntryId, &Body)> {
    earlier_than(transcript, id, 0..usize::MAX)
}

/// As [`earlier`], of the plans in some of the entry's blocks.
pub(crate) fn earlier_than(
    transcript: &Transcript,
    id: EntryId,
    blocks: Range<usize>,
) -> Vec<(usize, EntryId, &Body)> {
    let Some(entry) = transcript.get(id) else { return Vec::new() };
    let within = || entry.blocks.iter().enumerate().skip(blocks.start).take(blocks.len());
    if !within().any(|(_, block)| plan_of(block).is_some()) {
        return Vec::new();
    }
    let order = match &entry.lane {
        Some(lane) => transcript.lane(lane).map(|lane| lane.entries.as_slice()).unwrap_or_default(),
        None => transcript.order(),
    };
    let here = order.iter().rposition(|other| *other == id).unwrap_or(0);
    let mut found = Vec::new();
    for (place, block) in within() {
        let Some(call) = plan_of(block) else { continue };
        let own = entry.blocks.iter().take(place).rev().map(|block| (id, block));
        let before = order.iter().take(here).rev().take(FARTHEST);
        let others = before
            .filter_map(|id| Some((*id, transcript.get(*id)?)))
            .filter(|(_, other)| other.lane == entry.lane)
            .flat_map(|(id, other)| other.blocks.iter().rev().map(move |block| (id, block)));
        let same = own.chain(others).find_map(|(id, block)| {
            let earlier = plan_of(block).filter(|earlier| earlier.name == call.name)?;
            Some((id, &earlier.input))
        });
        found.extend(same.map(|(id, input)| (place, id, input)));
    }
    found
}
