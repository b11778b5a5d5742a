//! Records that a thread inherited: a sub-agent that knows what its parent knew, and a fork, begin with a copy of the
//! other thread, its counts of tokens included, written anew with the times of the copy.

use super::line::{Class, Line};
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
    /// The first turn of its own.
    OwnTurn,
}

/// A copy is written at once; whoever begins a turn of their own takes longer.
const PAUSE_MS: i64 = 1000;

/// Whether records are copies.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    until: Until,
    /// The thread that they are copies of.
    of: Option<Text>,
    records: u64,
    /// When the thread began, if its id tells.
    began: Option<Timestamp>,
    /// Whether ids of copied turns begin with a time.
    has_times: bool,
    /// When the last record was written.
    last: Option<Timestamp>,
}

impl Replay {
    /// The header says from which record on the thread is its own.
    pub(crate) fn until_ordinal(&mut self, ordinal: u64, of: Option<Text>) {
        (self.until, self.of) = (Until::Ordinal(ordinal), of);
    }

    /// A copy of another thread begins.
    pub(crate) fn until_own_turn(&mut self, began: Option<Timestamp>, of: Option<Text>) {
        if self.until == Until::Nothing {
            (self.until, self.began, self.of) = (Until::OwnTurn, began, of);
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
            Until::OwnTurn => self.begins_own_turn(line),
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

    /// Turns that are younger than the thread are its own. Where ids do not tell, a pause ends the copy.
    fn begins_own_turn(&mut self, line: &Line<'_>) -> bool {
        if let Some((turn, began)) = line.turn().and_then(time_of).zip(self.began) {
            self.has_times = true;
            // The header may be written a little later than the first turn begins.
            return turn.0 + PAUSE_MS >= began.0;
        }
        if self.has_times || line.class == Class::Meta {
            return false;
        }
        let before = std::mem::replace(&mut self.last, line.at);
        before.zip(line.at).is_some_and(|(before, at)| at.0 - before.0 >= PAUSE_MS)
    }
}
