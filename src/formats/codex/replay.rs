//! Inherited records: a fork, and a sub-agent with the history of its parent, begin with a copy of
//! the other thread, including its token counts, rewritten with the timestamps of the copy.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use memchr::memmem::find_iter;

use super::line::{LineClass, RolloutLine};
use super::places::time_of;
use crate::formats::json::Json;
use crate::model::figures::count;
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;

/// Hashes of the turn ids of threads: the turns of a copy are among those of the original.
#[derive(Debug, Default)]
pub(crate) struct TurnHashes {
    /// Turns of the thread that the session's own was copied from.
    of_original: HashSet<u64>,
    /// Turns of the threads that were read.
    of_threads: HashMap<Text, HashSet<u64>>,
}

/// The member with which a record names its turn. Within texts the quotes would be escaped.
const TURN: &str = "\"turn_id\":\"";

impl TurnHashes {
    /// Records the turn that a record of a thread names.
    pub(crate) fn record(&mut self, thread: Option<&Text>, line: &RolloutLine<'_>) {
        let names_turn = matches!(line.class, LineClass::Turn | LineClass::Event);
        if let (true, Some(thread), Some(turn)) = (names_turn, thread, line.turn()) {
            self.of_threads
                .entry(thread.clone())
                .or_default()
                .insert(print_of(turn.as_bytes()));
        }
    }

    /// Records the turns in a record of the thread that the session was copied from.
    pub(crate) fn add_original(&mut self, record: &[u8]) {
        for at in find_iter(record, TURN.as_bytes()) {
            let id = record
                .get(at + TURN.len()..)
                .and_then(|rest| rest.split(|byte| *byte == b'"').next());
            self.of_original.extend(id.map(print_of));
        }
    }

    fn of(&self, thread: &Text, is_session: bool) -> Option<&HashSet<u64>> {
        let turns = if is_session {
            Some(&self.of_original)
        } else {
            self.of_threads.get(thread)
        };
        turns.filter(|turns| !turns.is_empty())
    }
}

/// Whether turn ids show which turns are older than the thread, so that the original is not needed.
pub(crate) fn has_own_times(head: &str, first: &[Json<'_>]) -> bool {
    let own = first
        .first()
        .and_then(|header| header.at("payload.id").str());
    let turn = head
        .split_once(TURN)
        .and_then(|(_, rest)| rest.split('"').next());
    own.and_then(time_of).and(turn.and_then(time_of)).is_some()
}

fn print_of(turn: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    turn.hash(&mut hasher);
    hasher.finish()
}

/// The end of the copy.
#[derive(Debug, Default, PartialEq, Eq)]
enum Until {
    /// There is no copy, or it has ended.
    #[default]
    Nothing,
    /// The first record that is not copied, by its number.
    Ordinal(u64),
    /// The first turn of the thread's own.
    OwnTurn,
}

/// Minimum pause before the first turn of the thread's own, as a copy is written at once, in ms.
const PAUSE_MS: i64 = 1000;

/// Determines which records are copies.
#[derive(Debug, Default)]
pub(crate) struct CopyDetector {
    until: Until,
    /// The thread that was copied.
    of: Option<Text>,
    records: u64,
    /// When the thread began, if its id has the time.
    began: Option<Timestamp>,
    /// Whether ids of copied turns begin with a time.
    has_times: bool,
    /// The timestamp of the last record.
    last: Option<Timestamp>,
}

impl CopyDetector {
    /// Begins a copy that ends before the record with this number, as the header says.
    pub(crate) fn until_ordinal(
        &mut self,
        ordinal: u64,
        began: Option<Timestamp>,
        of: Option<Text>,
    ) {
        (self.until, self.began, self.of) = (Until::Ordinal(ordinal), began, of);
    }

    /// Begins a copy of another thread that ends before the first turn of the thread's own.
    pub(crate) fn until_own_turn(&mut self, began: Option<Timestamp>, of: Option<Text>) {
        if self.until == Until::Nothing {
            (self.until, self.began, self.of) = (Until::OwnTurn, began, of);
        }
    }

    /// Whether records are still copies.
    pub(crate) fn is_active(&self) -> bool {
        self.until != Until::Nothing
    }

    /// Checks whether a record ends the copy. If it does, returns a text about the copied records.
    pub(crate) fn check(
        &mut self,
        line: &RolloutLine<'_>,
        turns: &TurnHashes,
        is_session: bool,
    ) -> Option<Text> {
        let is_own = match (&self.until, line.ordinal) {
            (Until::Nothing, _) => return None,
            (Until::Ordinal(first), Some(ordinal)) => ordinal >= *first && !self.is_older(line),
            // Without record numbers the turns decide.
            (Until::Ordinal(_), None) | (Until::OwnTurn, _) => {
                let known = self.of.as_ref().and_then(|of| turns.of(of, is_session));
                self.begins_own_turn(line, known)
            }
        };
        if !is_own {
            self.records += 1;
            return None;
        }
        self.until = Until::Nothing;
        let of = self
            .of
            .take()
            .map(|of| format!(" from session {of}"))
            .unwrap_or_default();
        let records = count(self.records, "record");
        (self.records > 0).then(|| text!("{records} inherited{of}"))
    }

    /// Whether a record is of a turn that began before the thread did.
    fn is_older(&self, line: &RolloutLine<'_>) -> bool {
        let turn = line.turn().and_then(time_of).zip(self.began);
        turn.is_some_and(|(turn, began)| turn.0 + PAUSE_MS < began.0)
    }

    /// Whether a record begins a turn of the thread's own: one that is younger than the thread.
    /// Without times in ids, one that the original does not have; without the original, one after a
    /// pause.
    fn begins_own_turn(&mut self, line: &RolloutLine<'_>, known: Option<&HashSet<u64>>) -> bool {
        if let Some((turn, began)) = line.turn().and_then(time_of).zip(self.began) {
            self.has_times = true;
            // The header may be written slightly later than the first turn begins.
            return turn.0 + PAUSE_MS >= began.0;
        }
        if self.has_times || line.class == LineClass::Meta {
            return false;
        }
        if let Some(known) = known {
            return line
                .turn()
                .is_some_and(|turn| !known.contains(&print_of(turn.as_bytes())));
        }
        let before = std::mem::replace(&mut self.last, line.at);
        before
            .zip(line.at)
            .is_some_and(|(before, at)| at.0 - before.0 >= PAUSE_MS)
    }
}
