//! How sub-agents fare: by the call that started them, and by their own end where that came first.

use super::calls::asking::asks;
use crate::model::entry::{BlockKind, Break, Entry, Role, Stop};
use crate::model::meta::LaneFacts;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

/// How a sub-agent fares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// Came to its end.
    Done,
    /// Its call failed.
    Failed,
    /// Its call was not allowed.
    Refused,
    /// It was stopped: the agent says so.
    Interrupted,
    /// Still at work.
    Running,
    /// Asked a human, who has not answered yet.
    Waiting,
    /// It has no end, and nobody waits for one.
    Open,
    /// What it did is recorded in a file that is not here.
    Missing,
    /// It is not recorded.
    Unknown,
}

impl Fate {
    /// In a word or two.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Interrupted => "stopped",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Open => "no result",
            Self::Missing => "not here",
            Self::Unknown => "no end told",
        }
    }
}

/// A sub-agent that writes so much later than its call was answered, in ms, goes on by itself.
const BEHIND_MS: u64 = 2_000;

/// The fate of a sub-agent, and of a call that should have started one but of which nothing else is known.
/// `is_awaited`: whether the agent is at work on it.
pub(crate) fn fate(
    transcript: &Transcript,
    lane: Option<&LaneFacts>,
    call: Option<&ToolCall>,
    is_awaited: bool,
) -> Fate {
    match call.map(|call| &call.state) {
        Some(ToolState::Failed(_)) => return Fate::Failed,
        Some(ToolState::Refused(_)) => return Fate::Refused,
        Some(ToolState::Stopped(_) | ToolState::Lost) => return Fate::Interrupted,
        _ => {}
    }
    let entries = || {
        lane.into_iter()
            .flat_map(|lane| &lane.entries)
            .filter_map(|id| transcript.get(*id))
    };
    if !entries().any(has_worked) {
        let goes_on = |call: &ToolCall| matches!(call.state, ToolState::Acknowledged(_));
        let is_coming =
            is_awaited && call.is_some_and(|call| call.state.is_open() || goes_on(call));
        return match call {
            _ if is_coming => Fate::Running,
            Some(call) if lane.is_none() && goes_on(call) => Fate::Unknown,
            _ => Fate::Missing,
        };
    }
    let goes_on = || {
        let waits = || {
            entries()
                .rev()
                .take(1)
                .flat_map(Entry::calls)
                .any(|call| call.state.is_open() && asks(call))
        };
        match is_awaited {
            true if waits() => Fate::Waiting,
            true => Fate::Running,
            false => Fate::Open,
        }
    };
    if lane.is_some_and(|lane| has_failed_in_the_end(transcript, lane)) {
        return Fate::Failed;
    }
    let is_over = entries().next_back().is_some_and(has_ended);
    let last = entries().rev().find(|entry| has_worked(entry));
    match call.map(|call| &call.state) {
        Some(ToolState::Done(result)) if !result.body.flags.unrecorded => {
            let is_behind = last
                .and_then(Entry::end)
                .zip(result.at)
                .is_some_and(|(last, answered)| last.since(answered) > BEHIND_MS);
            // A call that only starts its sub-agent is answered at once.
            if is_behind && !is_over && !last.is_some_and(is_end) {
                goes_on()
            } else {
                Fate::Done
            }
        }
        Some(state) if !state.is_unrecorded() => goes_on(),
        _ if is_over || last.is_some_and(is_end) => Fate::Done,
        _ if is_awaited => goes_on(),
        _ => Fate::Unknown,
    }
}

/// Whether an entry is more than a note about a sub-agent.
fn has_worked(entry: &Entry) -> bool {
    entry.role != Role::Harness || entry.calls().next().is_some()
}

/// Whether the last that the agent program says of a sub-agent is that it failed, however its call ended: that may have
/// started several.
pub(crate) fn has_failed_in_the_end(transcript: &Transcript, lane: &LaneFacts) -> bool {
    lane.entries
        .iter()
        .rev()
        .find_map(|id| transcript.get(*id))
        .is_some_and(has_failed)
}

/// Whether an entry is the word of the agent program that a sub-agent failed.
fn has_failed(entry: &Entry) -> bool {
    let fails = |kind: &BlockKind| matches!(kind, BlockKind::Break(Break::Error(_)));
    entry.role == Role::Harness && entry.has(fails)
}

/// Whether an entry says that the work came to its end.
fn has_ended(entry: &Entry) -> bool {
    entry.has(|kind| matches!(kind, BlockKind::Break(Break::Ended(_))))
}

/// Whether nothing is to be expected after an entry.
fn is_end(entry: &Entry) -> bool {
    let says = |kind: &BlockKind| matches!(kind, BlockKind::Text(_));
    entry.stop == Stop::Done
        || has_ended(entry)
        || (entry.role == Role::Assistant
            && entry.stop == Stop::Unrecorded
            && !entry.marks.open
            && entry.blocks.last().is_some_and(|block| says(&block.kind))
            && entry.calls().next().is_none())
}

#[cfg(test)]
mod tests;
