//! What an event of the feed changed.

use crate::model::transcript::{Touched, Transcript};

/// A change of the session; several are in order.
#[derive(Debug)]
pub enum SessionChange {
    /// Entries of the shown transcript changed.
    Touched(Touched),
    /// Another transcript replaced the shown one; its entries have other ids
    /// ([`Lookup`](crate::analysis::calls::lookup::Lookup)).
    Replaced {
        /// The previous transcript.
        before: Box<Transcript>,
        /// New and changed entries, if the session was read to its end before.
        touched: Touched,
    },
    /// The session is read to its end: later entries are new.
    CaughtUp,
    /// A message for the user.
    Message(String),
}
