//! What something that was opened over it goes back to.

/// What lies below the help, a page of the manual or the ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Below {
    /// The session.
    #[default]
    Text,
    /// The sessions to choose from.
    Picker,
    /// The wall.
    Wall,
    /// The ledger.
    Ledger,
}
