//! Which sessions are followed, and how.

use crate::analysis::expression::Expr;
use crate::ingest::WatchMode;
use crate::ingest::find::Search;
use crate::model::timestamp::Timestamp;

/// So many sessions are followed where nobody says otherwise.
pub const MOST: usize = 500;

/// What is followed, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the sessions are.
    pub search: Search,
    /// Those that were written to in so many ms.
    pub recent_ms: u64,
    /// At most so many, the newest; the others are counted.
    pub most: usize,
    /// How changes of files are noticed.
    pub watch: WatchMode,
    /// Alarms of all sessions.
    pub alarms: Vec<Expr>,
    /// What the time is.
    pub clock: fn() -> Timestamp,
}
