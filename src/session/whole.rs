//! A session that is read in the background while another transcript of it is shown.
//!
//! What is known of it is taken in batch by batch, while the entries are at hand: later they are packed, and to
//! unpack each of them costs more than to read them. What must begin at the beginning again, because something
//! before the end moved, waits until the session is twice as long: so all of it together costs no more than
//! twice the session.

use super::indexes::{Indexes, Pace};
use crate::model::edit::Batch;
use crate::model::transcript::{ToPack, Transcript};

/// What is known of a session as far as it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    /// Its entries.
    pub(crate) transcript: Transcript,
    /// The indexes that are in use for what is shown.
    indexes: Indexes,
    turning: Pace,
}

impl Whole {
    /// Takes a batch. What is in use is judged by what is known of what is shown. Answers which entries are to be
    /// packed: it is the larger part of the work, and the screen must not wait for it.
    pub(crate) fn take(&mut self, batch: Batch, shown: &Indexes) -> Vec<ToPack> {
        let touched = self.transcript.apply(batch);
        let entries = self.transcript.order().len();
        self.indexes.note(&self.transcript, &touched);
        if self.turning.goes_on(self.transcript.settles_anew(), entries) {
            self.transcript.settle();
        } else if !self.transcript.turns_settle_anew() {
            self.transcript.settle_turns();
        }
        self.indexes.keep_up_as(shown, &self.transcript);
        self.transcript.hand_out()
    }

    /// All is read: the transcript, with what is known of it in the place of what was shown before.
    pub(crate) fn replace(self, indexes: &mut Indexes) -> Transcript {
        indexes.become_other(self.indexes);
        self.transcript
    }
}
