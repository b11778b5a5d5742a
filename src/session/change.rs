//! What a message of the feed changed.

use crate::model::body::Held;
use crate::model::record::Origin;
use crate::model::transcript::{Touched, Transcript};

/// Something that changed, in the order in which it did.
#[derive(Debug)]
pub enum Change {
    /// Entries of the transcript that is shown.
    Touched(Touched),
    /// Another transcript is shown in place of this one: its entries have other ids ([`Lookup`](crate::analysis::calls::lookup::Lookup)).
    Replaced {
        /// The one that was shown.
        before: Box<Transcript>,
        /// What in the other one is news, if the session was known to its end.
        touched: Touched,
    },
    /// The session is known to its end: what comes from here on is new.
    CaughtUp,
    /// Bodies that were read again without being asked for.
    Bodies(Vec<(Origin, Vec<Held>)>),
    /// The reader is to know this.
    Said(String),
}
