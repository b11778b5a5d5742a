//! Entries that are new since the user last viewed the session.

use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

/// The end of the session when the user last viewed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastView {
    /// Key of the last entry.
    pub key: Key,
    /// Timestamp of the last entry.
    pub at: Timestamp,
}

impl LastView {
    /// Entries after it, in file order. If its last entry no longer exists, timestamps decide, but
    /// not before everything was read.
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
