//! Policy for the bodies that stay in memory while a session is read.

/// Files above this size in bytes keep only the bodies at their end in memory.
const LONG: u64 = 4 << 20;
/// Size of that end in bytes.
const RECENT: u64 = 2 << 20;
/// Which bodies stay in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bodies {
    /// No body is kept in memory.
    OnDisk,
    /// Every body is kept in memory.
    InMemory,
    /// Those at the end of long files, and all of shorter ones: for the viewer, which also waits
    /// for incomplete lines.
    Recent,
}

impl Bodies {
    /// Whether incomplete lines will be read again later.
    pub(crate) fn is_live(self) -> bool {
        self == Self::Recent
    }

    /// Whether the bodies of a record at an offset stay on disk.
    pub(crate) fn is_away_at(self, at: u64, len: u64) -> bool {
        match self {
            Self::OnDisk => true,
            Self::InMemory => false,
            Self::Recent => len > LONG && at + RECENT < len,
        }
    }
}
