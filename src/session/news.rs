//! What of a session its reader has seen, and what came after that.

use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// The end of the session when the reader last looked at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The key of its last entry.
    pub key: Key,
    /// When that was.
    pub at: Timestamp,
}

impl Seen {
    /// Entries that came after it, in the order of the file. If its last entry is not in the session any more, times
    /// decide; but not before all of it was read.
    pub(crate) fn after<'t>(&self, transcript: &'t Transcript, is_all_read: bool) -> &'t [EntryId] {
        let order = transcript.order();
        let from = match transcript
            .find(&self.key)
            .and_then(|id| transcript.place_of(id))
        {
            Some(last) => last + 1,
            None if !is_all_read => order.len(),
            None => {
                let is_older = |entry: &Entry| entry.at.is_some_and(|written| written <= self.at);
                transcript
                    .last_such(order, is_older)
                    .map_or(0, |last| last + 1)
            }
        };
        order.get(from..).unwrap_or_default()
    }
}
