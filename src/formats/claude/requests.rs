//! Requests: what they began with, and those that the program makes again. Of one that failed there is a line for each
//! attempt, and one entry for all of them; of one that the provider refused the answers so far are taken back.

use std::collections::HashMap;

use super::attachment::request::Snapshots;
use super::line::Line;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Break, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};

/// What is known of requests.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// Errors after which one is tried again, by lane.
    open: HashMap<Option<Name>, Key>,
    /// What they began with.
    pub(crate) snapshots: Snapshots,
    /// To which answers lines belong, since the last prompt.
    answers: HashMap<Key, Key>,
}

impl Requests {
    /// Notes to which answer a line belongs.
    pub(crate) fn answer(&mut self, line: &Key, answer: &Key) {
        self.answers.insert(line.clone(), answer.clone());
    }

    /// The answer that a line belongs to, if that was given since the last prompt.
    pub(crate) fn answer_of(&self, line: &str) -> Option<&Key> {
        self.answers.get(line)
    }

    /// Its user asked for something else: what was answered before is not taken back any more.
    pub(crate) fn begin_turn(&mut self) {
        self.answers.clear();
    }

    /// The lane goes on: its next error is another one.
    pub(crate) fn end(&mut self, lane: Option<&Name>) {
        if !self.open.is_empty() {
            self.open.remove(&lane.cloned());
        }
    }
}

/// An error with the number of its attempt and how many there will be. The last one is loud.
pub(crate) fn failed(
    line: &Line<'_>,
    attempt: Option<(i64, i64)>,
    words: Text,
    requests: &mut Requests,
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
