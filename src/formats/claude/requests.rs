//! Requests: their system prompts and tools, and retries. A failed request has a line for each
//! attempt, merged into one entry. If the provider refused a request, the answers so far are
//! retracted.

use std::collections::HashMap;

use super::attachment::request::Snapshots;
use super::line::TranscriptLine;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Break, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};

#[derive(Debug, Default)]
pub(crate) struct RequestStates {
    /// Errors whose request is retried, by lane.
    open: HashMap<Option<Name>, Key>,
    /// System prompts and tools.
    pub(crate) snapshots: Snapshots,
    /// Answers by their lines, since the last prompt.
    answers: HashMap<Key, Key>,
}

impl RequestStates {
    /// Records the answer of a line.
    pub(crate) fn answer(&mut self, line: &Key, answer: &Key) {
        self.answers.insert(line.clone(), answer.clone());
    }

    /// The answer that a line belongs to, if it is of the current turn.
    pub(crate) fn answer_of(&self, line: &str) -> Option<&Key> {
        self.answers.get(line)
    }

    /// Begins a turn: earlier answers are no longer retracted.
    pub(crate) fn begin_turn(&mut self) {
        self.answers.clear();
    }

    /// Ends the retries of a lane: its next error is another request's.
    pub(crate) fn end(&mut self, lane: Option<&Name>) {
        if !self.open.is_empty() {
            self.open.remove(&lane.cloned());
        }
    }
}

/// Decodes an error with its attempt and the number of attempts. The error of the last attempt is
/// not quiet.
pub(crate) fn failed(
    line: &TranscriptLine<'_>,
    attempt: Option<(i64, i64)>,
    words: Text,
    requests: &mut RequestStates,
    out: &mut Batch,
) -> Fate {
    let open = &mut requests.open;
    if attempt.is_none_or(|(attempt, _)| attempt <= 1) {
        open.remove(&line.lane);
    }
    let is_first = !open.contains_key(&line.lane);
    let key = open
        .entry(line.lane.clone())
        .or_insert_with(|| line.id.clone())
        .clone();
    let mut entry = line.entry(key, Role::Harness, out);
    entry.marks.quiet = attempt.is_some_and(|(attempt, most)| attempt < most);
    entry.marks.retried = attempt.is_some();
    entry.push(Break::Error(words));
    out.entry(entry);
    if is_first { Fate::Shown } else { Fate::Merged }
}
