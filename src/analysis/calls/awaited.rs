//! Which calls may still get their results: the one judgement of it, for figures, findings, rows and time alike.
//!
//! A result may still come to a call of the newest answer of its lane, in the newest turn of a session that has
//! not ended, as long as the history was not shortened since and nobody interrupted the work. The model was asked again after all others; what
//! lies on a branch that the session left is asked of nobody.

use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::transcript::Transcript;

/// What the judgement of all calls leans on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Awaited {
    /// Place of the newest turn in the order, and when it began.
    turn: (usize, Option<Timestamp>),
    /// Whether the session has ended.
    has_ended: bool,
}

impl Awaited {
    /// Of a settled transcript.
    pub(crate) fn of(transcript: &Transcript) -> Self {
        let last = transcript.turns().len().checked_sub(1);
        Self {
            turn: newest(transcript, last),
            has_ended: transcript.has_ended(),
        }
    }

    /// Place of the newest turn in the order.
    pub(crate) fn newest_turn(&self) -> usize {
        self.turn.0
    }

    /// Whether the session has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Whether calls of an entry that have no result may still get one.
    pub(crate) fn has(&self, transcript: &Transcript, id: EntryId) -> bool {
        !self.has_ended
            && transcript.latest_answer(transcript.lane_at(id)) == Some(id)
            && !transcript.branches().abandoned.contains(&id)
            && self.is_in_turn(transcript, id)
    }

    /// Whether a call of a session that is at work still runs: its result may come, or its work goes on.
    pub(crate) fn runs(&self, transcript: &Transcript, id: EntryId, call: &ToolCall) -> bool {
        match call.state {
            ToolState::Acknowledged(_) => !self.has_ended,
            _ => call.state.is_open() && self.has(transcript, id),
        }
    }

    /// Sub-agents may have files of their own, which stand behind all else: time says more of them.
    fn is_in_turn(&self, transcript: &Transcript, id: EntryId) -> bool {
        let (first, began) = match transcript.session_of(id) {
            Some((session, _)) => newest(transcript, transcript.turns_of(session).last().copied()),
            None => self.turn,
        };
        let is_main = transcript.is_spoken_to(transcript.lane_at(id));
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

    /// Whether another turn began after an entry, or the session has ended: what was to be told until then is told.
    pub(crate) fn is_behind(&self, transcript: &Transcript, id: EntryId) -> bool {
        self.has_ended || !self.is_in_turn(transcript, id)
    }

    /// The word for a call's state in JSON outputs: a call without a result that none will come for is lost.
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

/// Where the newest turn stands in the order, and when it began.
fn newest(transcript: &Transcript, turn: Option<usize>) -> (usize, Option<Timestamp>) {
    let turn = turn.and_then(|turn| transcript.turns().get(turn));
    (
        turn.map_or(0, |turn| turn.first),
        turn.and_then(|turn| transcript.get(turn.prompt)?.at),
    )
}

#[cfg(test)]
mod tests;
