//! Which calls may still get their results; used by figures, findings, rows and time alike.
//!
//! A call may still get a result if it is in the newest answer of its lane, in the newest turn of a
//! session that has not ended, and neither a compaction nor an interruption followed. After every
//! other answer the model got a further request; calls on abandoned branches get no results.

use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

/// The state of a session that determines which calls are awaited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// Position of the newest turn in the order, and its start.
    pub(crate) turn: (usize, Option<Timestamp>),
    pub(crate) has_ended: bool,
}

impl Awaited {
    /// Computes it from a settled transcript.
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let last = transcript.turns().len().checked_sub(1);
        Self {
            turn: newest(transcript, last),
            has_ended: transcript.has_ended(),
        }
    }

    /// Whether calls without results in an entry may still get one.
    pub(crate) fn has(&self, transcript: &Transcript, id: EntryId) -> bool {
        !self.has_ended
            && transcript.latest_answer(transcript.lane_at(id)) == Some(id)
            && !transcript.branches().abandoned.contains(&id)
            && self.is_in_turn(transcript, id)
    }

    /// Whether a call of a live session is still running: its result may come, or its work
    /// continues.
    pub(crate) fn is_running(&self, transcript: &Transcript, id: EntryId, call: &ToolCall) -> bool {
        match call.state {
            ToolState::Acknowledged(_) => !self.has_ended,
            _ => call.state.is_open() && self.has(transcript, id),
        }
    }

    /// Whether an entry is in the newest turn. Sub-agents may have files of their own, which are
    /// last in the order, so timestamps take precedence for them.
    fn is_in_turn(&self, transcript: &Transcript, id: EntryId) -> bool {
        let (first, began) = match transcript.session_of(id) {
            Some((session, _)) => newest(transcript, transcript.turns_of(session).last().copied()),
            None => self.turn,
        };
        let is_main = transcript.is_main_lane(transcript.lane_at(id));
        let said = if is_main {
            None
        } else {
            transcript.get(id).and_then(|entry| entry.at)
        };
        match said.zip(began) {
            Some((said, began)) => said >= began,
            None => transcript.place_of(id).is_some_and(|place| place >= first),
        }
    }

    /// Whether another turn began after an entry, or the session has ended, so that its notices
    /// have been delivered.
    pub(crate) fn is_past(&self, transcript: &Transcript, id: EntryId) -> bool {
        self.has_ended || !self.is_in_turn(transcript, id)
    }

    /// The state of a call in JSON outputs: a call without a result that is not awaited is `lost`.
    pub(crate) fn word(
        &self,
        transcript: &Transcript,
        id: EntryId,
        call: &ToolCall,
    ) -> &'static str {
        if call.state.is_open() && !self.has(transcript, id) {
            "lost"
        } else {
            call.state.word()
        }
    }
}

/// Position of a turn in the order, and its start.
fn newest(transcript: &Transcript, turn: Option<usize>) -> (usize, Option<Timestamp>) {
    let turn = turn.and_then(|turn| transcript.turns().get(turn));
    (
        turn.map_or(0, |turn| turn.first),
        turn.and_then(|turn| transcript.get(turn.prompt)?.at),
    )
}

#[cfg(test)]
mod tests;
