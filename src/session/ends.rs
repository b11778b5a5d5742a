//! The two ends of a large session while it is read: its last entries are shown at once, its first ones as soon as
//! the reader goes there, and what lies between follows. The whole takes the place of either when it is complete.
//!
//! **Two transcripts while a large file is read.** The last mebibyte is shown at once, and goes on growing; a second
//! transcript is read from the start and takes its place, by key, when it is complete. Who goes to the top before
//! sees its first entries, which are kept apart for that (`session::ends`): a jump costs the same however much is
//! read, and each end is marked as the only one that is shown. A large file that is cut or replaced while it is shown
//! is read in the same way: as another transcript beside the one that is shown, which goes when the new one is
//! complete.
//!
//! **The whole keeps its ids, and the reader's places move.** What is read anew in the place of the same session takes
//! over the ids of before ([`Transcript::apply`] with a replacement), and touches only what differs: right for a
//! document that its agent writes anew with each answer, since rows and indexes of the rest stay true. Done here, it
//! would unpack every page of a whole of a million entries to give them the ids of an end of some hundred. What hangs on
//! an end is little, so that moves instead: every owner of places carries them over by one map
//! ([`Session::moved`](super::Session::moved)).
//!
//! Invariant: each end is a transcript of its own, in which nothing is left out between two entries; what is known
//! of one never goes to the other.

use super::whole::Whole;
use crate::model::edit::{Batch, Mode};
use crate::model::transcript::Transcript;

/// So many entries from the first on can be read before all are known.
pub(super) const FIRST: usize = 2_000;

/// Entries of a session that is not read anew in its place when its file was cut or replaced, but beside it: to take
/// each of them back takes too long, and unpacks all of them.
pub(super) const LARGE: usize = 4_000;

/// What there is of a session besides what is shown, until the whole is.
#[derive(Debug, Default)]
pub struct Ends {
    /// The whole session while only an end of it is shown.
    pub(super) whole: Option<Whole>,
    /// The end that is not shown.
    pub(super) other: Transcript,
    /// Whether the beginning is shown, and the other one is the end of the session.
    pub(super) is_beginning: bool,
    /// Whether the reader asked for the beginning before anything of it was read.
    pub(super) is_awaited: bool,
    /// Whether what is shown is all that there was before the file was cut or replaced.
    pub(super) is_renewed: bool,
}

impl Ends {
    /// Whether only an end of the session is shown, while the whole is read.
    pub(crate) fn is_part(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether the first entries are shown, and the last ones are not.
    pub(crate) fn is_beginning(&self) -> bool {
        self.is_beginning
    }

    /// Whether the first entries are to be shown as soon as there are any.
    pub fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    /// The reader wants something else.
    pub(crate) fn forget_wish(&mut self) {
        self.is_awaited = false;
    }

    /// Takes a batch of the end that is not shown.
    pub(super) fn take_other(&mut self, batch: Batch) {
        self.other.apply(batch);
        self.other.settle();
    }

    /// Whether a batch of the whole is one of the beginning, which has room for it, too.
    pub(super) fn belongs_to_beginning(&self, shown: &Transcript, batch: &Batch) -> bool {
        let first = if self.is_beginning { shown } else { &self.other };
        !self.is_renewed && first.order().len() < FIRST && batch.mode == Mode::Append
    }
}
