//! The ends of several sessions as one, to be shown at once while all of each is read.
//!
//! Of a long session its last entries come first, of a short one all that it has. They reach back to different times:
//! what is older than the youngest of the beginnings is left out, so that between two entries none is missing.
//!
//! Invariant: nothing is shown of it before each of the sessions has said where it stands, and nothing at all if none of
//! them is long.

use super::merge::Merge;
use crate::model::edit::Batch;

/// The ends.
pub(super) struct Ends {
    merge: Merge,
    /// Which of the sessions are shown by their last entries.
    is_end: Vec<bool>,
}

impl Ends {
    /// Of sessions with these names and formats.
    pub(super) fn new(names: &[(String, &'static str)]) -> Self {
        Self { merge: Merge::new(names), is_end: vec![false; names.len()] }
    }

    /// Takes a batch of the last entries of a session. Answers what is to be shown.
    pub(super) fn take_end(&mut self, number: usize, batch: Batch) -> Vec<Batch> {
        self.is_end.get_mut(number).into_iter().for_each(|is_end| *is_end = true);
        self.merge.cut(number);
        self.merge.take(number, batch)
    }

    /// Takes a batch of all of it.
    pub(super) fn take_whole(&mut self, number: usize, batch: &Batch) -> Vec<Batch> {
        match self.is_end.get(number) {
            Some(false) => self.merge.take(number, batch.clone()),
            _ => self.go_on(number),
        }
    }

    /// The session goes on with what is older than its last entries.
    pub(super) fn go_on(&mut self, number: usize) -> Vec<Batch> {
        if self.is_end.get(number) == Some(&true) { self.finish(number) } else { Vec::new() }
    }

    /// All of the session is read, or nothing of it can be.
    pub(super) fn finish(&mut self, number: usize) -> Vec<Batch> {
        let batches = self.merge.finish(number).unwrap_or_default();
        if self.is_end.contains(&true) { batches } else { Vec::new() }
    }
}
