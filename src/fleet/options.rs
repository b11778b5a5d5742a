//! Which sessions are followed, and how.

use crate::analysis::expression::Expr;
use crate::ingest::WatchMode;
use crate::ingest::find::Search;
use crate::model::timestamp::Timestamp;

/// What is followed, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the sessions are.
    pub search: Search,
    /// Those that were written to in so many ms.
    pub recent_ms: u64,
    /// How changes of files are noticed.
    pub watch: WatchMode,
    /// Alarms of all sessions.
    pub alarms: Vec<Expr>,
    /// What the time is.
    pub clock: fn() -> Timestamp,
}
