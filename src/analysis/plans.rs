//! The plan that precedes a plan, and the step of a plan that was in progress at a call.
//!
//! Invariant: searches backwards, at most `FARTHEST` entries.

use std::ops::Range;

use crate::analysis::calls::Place;
use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Role};
use crate::model::tool::{ToolCall, ToolKind};
use crate::model::transcript::Transcript;

/// Limit of entries that are searched.
const FARTHEST: usize = 20_000;

/// The call of a block, if it writes a plan.
fn plan_of(block: &Block) -> Option<&ToolCall> {
    match &block.kind {
        BlockKind::Call(call) if call.kind == ToolKind::Plan => Some(call),
        _ => None,
    }
}

/// The entries before an entry in its lane, the nearest first.
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

/// The step in progress at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanStep<'a> {
    /// Position of the plan.
    pub(crate) written: Place,
    /// Description of the step by the agent.
    pub(crate) words: &'a str,
    /// Number of completed steps out of all: `2/5`.
    pub(crate) done: &'a str,
}

/// The step in progress at a call, by the last plan of its lane since the last prompt. It describes
/// the time rather than the call, so a description of the call itself takes precedence.
pub(crate) fn step_at(transcript: &Transcript, place: Place) -> Option<PlanStep<'_>> {
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
    (is_count && !words.trim().is_empty()).then_some(PlanStep {
        written: Place { entry, block },
        words,
        done,
    })
}

/// For plans in a range of an entry's blocks, the inputs of the plans before them in its lane: each
/// with the index of the block, and the entry of the earlier plan.
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
