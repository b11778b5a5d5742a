//! Outcomes of sub-agents: from the call that started them, or from their own end if that came
//! first.

use super::calls::asking::asks_user;
use crate::model::entry::{BlockKind, Break, Entry, Role, Stop};
use crate::model::meta::LaneFacts;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

/// State or outcome of a sub-agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentState {
    Done,
    Failed,
    /// Its call was refused.
    Refused,
    /// The agent recorded that it was interrupted.
    Interrupted,
    Running,
    /// It asked a human, who has not answered yet.
    Waiting,
    /// It has no end, and is no longer awaited.
    Open,
    /// Its records are in a file that is missing.
    Missing,
    /// Its outcome is not recorded.
    Unknown,
}

impl AgentState {
    /// The name on the screen.
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

/// Time in ms: a sub-agent that writes later than this after the result of its call runs in the
/// background.
const BEHIND_MS: u64 = 2_000;

/// The outcome of a sub-agent, or of a call that should have started one without a lane.
/// `is_awaited`: the agent is still working on it.
pub(crate) fn fate(
    transcript: &Transcript,
    lane: Option<&LaneFacts>,
    call: Option<&ToolCall>,
    is_awaited: bool,
) -> AgentState {
    match call.map(|call| &call.state) {
        Some(ToolState::Failed(_)) => return AgentState::Failed,
        Some(ToolState::Refused(_)) => return AgentState::Refused,
        Some(ToolState::Stopped(_) | ToolState::Lost) => return AgentState::Interrupted,
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
            _ if is_coming => AgentState::Running,
            Some(call) if lane.is_none() && goes_on(call) => AgentState::Unknown,
            _ => AgentState::Missing,
        };
    }
    let goes_on = || {
        let waits = || {
            entries()
                .rev()
                .take(1)
                .flat_map(Entry::calls)
                .any(|call| call.state.is_open() && asks_user(call))
        };
        match is_awaited {
            true if waits() => AgentState::Waiting,
            true => AgentState::Running,
            false => AgentState::Open,
        }
    };
    if lane.is_some_and(|lane| has_failed_in_the_end(transcript, lane)) {
        return AgentState::Failed;
    }
    let is_over = entries().next_back().is_some_and(has_ended);
    let last = entries().rev().find(|entry| has_worked(entry));
    match call.map(|call| &call.state) {
        Some(ToolState::Done(result)) if !result.body.flags.unrecorded => {
            let is_behind = last
                .and_then(Entry::end)
                .zip(result.at)
                .is_some_and(|(last, answered)| last.since(answered) > BEHIND_MS);
            // A call that starts a sub-agent in the background gets its result at once.
            if is_behind && !is_over && !last.is_some_and(is_end) {
                goes_on()
            } else {
                AgentState::Done
            }
        }
        Some(state) if !state.is_unrecorded() => goes_on(),
        _ if is_over || last.is_some_and(is_end) => AgentState::Done,
        _ if is_awaited => goes_on(),
        _ => AgentState::Unknown,
    }
}

/// Whether an entry is more than a note of the harness about a sub-agent.
fn has_worked(entry: &Entry) -> bool {
    entry.role != Role::Harness || entry.calls().next().is_some()
}

/// Whether the last entry of a sub-agent is the harness's error about it. This takes precedence
/// over the result of its call, which may have started several.
pub(crate) fn has_failed_in_the_end(transcript: &Transcript, lane: &LaneFacts) -> bool {
    lane.entries
        .iter()
        .rev()
        .find_map(|id| transcript.get(*id))
        .is_some_and(has_failed)
}

/// Whether an entry is an error of the harness about a sub-agent.
fn has_failed(entry: &Entry) -> bool {
    let fails = |kind: &BlockKind| matches!(kind, BlockKind::Break(Break::Error(_)));
    entry.role == Role::Harness && entry.has(fails)
}

/// Whether an entry records the end of the work.
fn has_ended(entry: &Entry) -> bool {
    entry.has(|kind| matches!(kind, BlockKind::Break(Break::Ended(_))))
}

/// Whether no further entries are expected after an entry.
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
