//! The plan that an agent had before it wrote the next one, and the step of it that was in work when it made a call.
//!
//! Invariant: goes back from the plan, and no further than `FARTHEST` entries.

use std::ops::Range;

use crate::analysis::calls::Place;
use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Role};
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

/// The entries of an entry's lane before it, the nearest one first.
fn before<'t>(
    transcript: &'t Transcript,
    id: EntryId,
    entry: &'t Entry,
) -> impl Iterator<Item = (EntryId, &'t Entry)> {
    let (order, here) = match &entry.lane {
        Some(lane) => {
            let entries = transcript
                .lane(lane)
                .map(|lane| lane.entries.as_slice())
                .unwrap_or_default();
            (entries, entries.binary_search(&id).ok())
        }
        None => (transcript.order(), transcript.place_of(id)),
    };
    let here = here
        .or_else(|| order.iter().rposition(|other| *other == id))
        .unwrap_or(0);
    let before = order.iter().take(here).rev().take(FARTHEST);
    let known = before.filter_map(|id| Some((*id, transcript.get(*id)?)));
    known.filter(|(_, other)| other.lane == entry.lane)
}

/// The step that was in work when a call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step<'a> {
    /// Where the plan was written.
    pub(crate) written: Place,
    /// What is done, in the agent's words.
    pub(crate) words: &'a str,
    /// How many of how many steps were done: `2/5`.
    pub(crate) done: &'a str,
}

/// The step that the plan says is in work at a call: by the last plan of its lane, if nobody has asked for anything
/// since. The agent says so of the time, not of the call: where the call says itself what it is for, that counts.
pub(crate) fn step_at(transcript: &Transcript, place: Place) -> Option<Step<'_>> {
    let entry = transcript.get(place.entry)?;
    entry
        .blocks
        .get(place.block)
        .filter(|block| plan_of(block).is_none())?
        .call()?;
    let own = entry
        .blocks
        .iter()
        .take(place.block)
        .enumerate()
        .rev()
        .map(|at| (place.entry, at));
    let is_asked = |(_, other): &(EntryId, &Entry)| other.marks.prompt && other.role == Role::User;
    let others = before(transcript, place.entry, entry)
        .take_while(|other| !is_asked(other))
        .flat_map(|(id, other)| {
            other
                .blocks
                .iter()
                .enumerate()
                .rev()
                .map(move |at| (id, at))
        });
    let (entry, (block, plan)) = own
        .chain(others)
        .find_map(|(id, (at, block))| Some((id, (at, plan_of(block)?))))?;
    let (done, words) = plan.headline.as_str().split_once(' ')?;
    let is_count = done.split_once('/').is_some_and(|(some, all)| {
        [some, all]
            .iter()
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    });
    (is_count && !words.trim().is_empty()).then_some(Step {
        written: Place { entry, block },
        words,
        done,
    })
}

/// The inputs of the earlier plans of an entry's lane that the plans in some of its blocks took the place of: by
/// the place of the block, with the entry that holds each.
pub(crate) fn earlier(
    transcript: &Transcript,
    id: EntryId,
    blocks: Range<usize>,
) -> Vec<(usize, EntryId, &Body)> {
    let Some(entry) = transcript.get(id) else {
        return Vec::new();
    };
    let within = || {
        entry
            .blocks
            .iter()
            .enumerate()
            .skip(blocks.start)
            .take(blocks.len())
    };
    if !within().any(|(_, block)| plan_of(block).is_some()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (place, block) in within() {
        let Some(call) = plan_of(block) else { continue };
        let own = entry
            .blocks
            .iter()
            .take(place)
            .rev()
            .map(|block| (id, block));
        let others = before(transcript, id, entry)
            .flat_map(|(id, other)| other.blocks.iter().rev().map(move |block| (id, block)));
        let same = own.chain(others).find_map(|(id, block)| {
            let earlier = plan_of(block).filter(|earlier| earlier.name == call.name)?;
            Some((id, &earlier.input))
        });
        found.extend(same.map(|(id, input)| (place, id, input)));
    }
    found
}
