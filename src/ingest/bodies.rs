//! Which bodies are kept in memory while a session is read.

/// Of longer files only the last part keeps its bodies.
const LONG: u64 = 4 << 20;
/// The part that does.
const RECENT: u64 = 2 << 20;
/// Which bodies are kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bodies {
    /// None.
    Away,
    /// All.
    Kept,
    /// Those at the end of long files, all of others. So reads a viewer, who also waits for what is
    /// half written.
    Recent,
}

impl Bodies {
    /// Whether what is half written will be looked at again.
    pub(crate) fn is_live(self) -> bool {
        self == Self::Recent
    }

    /// Whether a record at a place of a file leaves its bodies on disk.
    pub(crate) fn away_at(self, at: u64, len: u64) -> bool {
        match self {
            Self::Away => true,
            Self::Kept => false,
            Self::Recent => len > LONG && at + RECENT < len,
        }
    }
}
