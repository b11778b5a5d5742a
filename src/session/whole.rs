//! A session that is read in the background while its end is shown.
//!
//! What is known of it is taken in batch by batch, while the entries are at hand: later they are packed, and to
//! unpack each of them costs more than to read them. What must begin at the beginning again, because something
//! before the end moved, waits until the session is twice as long: so all of it together costs no more than
//! twice the session.

use crate::analysis::lint::Findings;
use crate::model::edit::Batch;
use crate::model::transcript::ToPack;
use crate::model::transcript::Transcript;
use crate::session::indexes::Indexes;

/// Entries that the lint takes in for one batch: a batch brings far fewer, and to judge them unpacks them.
const A_BATCH: usize = 1_024;

/// What is known of a session as far as it is read.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// Its entries.
    pub transcript: Transcript,
    /// The indexes that are in use for what is shown.
    indexes: Indexes,
    /// What the lint finds, if that is in use.
    findings: Findings,
    turning: Pace,
    indexing: Pace,
    judging: Pace,
}

/// How often something begins at the beginning again.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    is_owed: bool,
    /// Entries there were the last time.
    began_at: usize,
}

impl Pace {
    /// Whether it goes on now, with so many entries there.
    fn goes_on(&mut self, begins_again: bool, entries: usize) -> bool {
        self.is_owed |= begins_again;
        if self.is_owed && entries < self.began_at * 2 {
            return false;
        }
        if std::mem::take(&mut self.is_owed) {
            self.began_at = entries;
        }
        true
    }
}

impl Whole {
    /// Takes a batch. What is in use is told by what is known of what is shown. Answers which entries are to be
    /// packed: it is the larger part of the work, and the screen must not wait for it.
    pub fn take(&mut self, batch: Batch, shown: &Indexes) -> Vec<ToPack> {
        let touched = self.transcript.apply(batch);
        let entries = self.transcript.order().len();
        self.indexes.note(&self.transcript, &touched);
        if self.turning.goes_on(self.transcript.settles_anew(), entries) {
            self.transcript.settle();
        } else if !self.transcript.turns_settle_anew() {
            self.transcript.settle_turns();
        }
        if self.indexing.goes_on(touched.reordered, entries) {
            self.indexes.follow_as(shown, &self.transcript);
        }
        if shown.wants_findings() {
            self.findings.note(&touched);
            let begins_again =
                self.transcript.turns_settle_anew() || self.findings.begins_again(&self.transcript);
            if self.judging.goes_on(begins_again, entries) {
                self.findings.follow(&self.transcript, A_BATCH);
            }
        } else {
            self.findings.reset();
        }
        self.transcript.hand_out()
    }

    /// All is read: the transcript, with what is known of it in the place of what was shown before.
    pub fn replace(self, indexes: &mut Indexes, findings: &mut Findings) -> Transcript {
        indexes.become_other(self.indexes);
        findings.become_other(self.findings);
        self.transcript
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn what_begins_again_with_each_batch_goes_over_twice_the_session_at_most() {
        let mut pace = Pace::default();
        let gone_over: usize = (1..=10_000).filter(|entries| pace.goes_on(true, *entries)).sum();
        assert!(gone_over < 2 * 10_000, "{gone_over} entries");
    }

    #[test]
    fn what_never_begins_again_always_goes_on() {
        let mut pace = Pace::default();
        assert!((1..100).all(|entries| pace.goes_on(false, entries)));
        assert!(pace.goes_on(true, 100) && pace.goes_on(false, 101));
        assert!(!pace.goes_on(true, 102) && !pace.goes_on(false, 199), "until there are twice as many");
        assert!(pace.goes_on(false, 200));
    }
}
