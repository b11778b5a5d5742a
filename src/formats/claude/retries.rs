//! Requests that the program tries again: a line for each attempt, one entry for all of them.

use std::collections::HashMap;

use super::line::Line;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};

/// Errors after which a request is tried again, by lane.
#[derive(Debug, Default)]
pub(crate) struct Retries {
    open: HashMap<Option<Name>, Key>,
}

impl Retries {
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
    retries: &mut Retries,
    out: &mut Batch,
) -> Fate {
    let open = &mut retries.open;
    if attempt.is_none_or(|(attempt, _)| attempt <= 1) {
        open.remove(&line.lane);
    }
    let is_first = !open.contains_key(&line.lane);
    let key = open.entry(line.lane.clone()).or_insert_with(|| line.id.clone()).clone();
    let mut entry = line.entry(key, Role::Harness, out);
    entry.marks.quiet = attempt.is_some_and(|(attempt, most)| attempt < most);
    entry.marks.retried = attempt.is_some();
    entry.blocks.push(Batch::block(Piece(0), BlockKind::Break(Break::Error(words))));
    out.entry(entry);
    if is_first { Fate::Shown } else { Fate::Merged }
}
