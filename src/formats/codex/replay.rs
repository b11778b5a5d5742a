//! Records that a thread inherited: a sub-agent that knows what its parent knew, and a fork, begin with a copy of the
//! other thread, its counts of tokens included, written anew with the times of the copy.

use super::line::Line;
use super::places::time_of;
use crate::model::figures::count;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// How far the copy goes.
#[derive(Debug, Default, PartialEq, Eq)]
enum Until {
    /// There is none, or it has ended.
    #[default]
    Nothing,
    /// The record with this number: exact.
    Ordinal(u64),
    /// The first turn that is younger than the thread: ids of turns begin with a time.
    OwnTurn(Timestamp),
}

/// Whether records are copies.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    until: Until,
    /// The thread that they are copies of.
    of: Option<Text>,
    records: u64,
}

impl Replay {
    /// The header says from which record on the thread is its own.
    pub(crate) fn until_ordinal(&mut self, ordinal: u64, of: Option<Text>) {
        (self.until, self.of) = (Until::Ordinal(ordinal), of);
    }

    /// A copy of another thread begins; without a time of its own it could not be told where it ends.
    pub(crate) fn until_own_turn(&mut self, began: Option<Timestamp>, of: Option<Text>) {
        if let (Until::Nothing, Some(began)) = (&self.until, began) {
            (self.until, self.of) = (Until::OwnTurn(began), of);
        }
    }

    /// Whether the copy goes on.
    pub(crate) fn is_on(&self) -> bool {
        self.until != Until::Nothing
    }

    /// Takes note of a record. Where the copy ends, says what it was.
    pub(crate) fn see(&mut self, line: &Line<'_>) -> Option<Text> {
        let is_own = match &self.until {
            Until::Nothing => return None,
            Until::Ordinal(first) => line.ordinal.is_some_and(|ordinal| ordinal >= *first),
            Until::OwnTurn(began) => {
                // The header may be written a little later than the first turn begins.
                line.turn().and_then(time_of).is_some_and(|turn| turn.0 + 1000 >= began.0)
            }
        };
        if !is_own {
            self.records += 1;
            return None;
        }
        self.until = Until::Nothing;
        let of = self.of.take().map(|of| format!(" from session {of}")).unwrap_or_default();
        let records = count(self.records, "record");
        (self.records > 0).then(|| Text::clean(&format!("{records} inherited{of}")))
    }
}
