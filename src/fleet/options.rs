//! Options of following many sessions.

use crate::analysis::expression::Expr;
use crate::ingest::WatchMode;
use crate::ingest::find::DiscoveryQuery;
use crate::model::timestamp::Timestamp;

/// Default limit of followed sessions.
pub const MOST: usize = 500;

/// Which sessions are followed, and how.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// Search for the sessions.
    pub search: DiscoveryQuery,
    /// Only sessions written to within this time, in ms.
    pub recent_ms: u64,
    /// Limit of followed sessions; the newest are followed, the others counted.
    pub most: usize,
    /// How changes of files are detected.
    pub watch: WatchMode,
    /// Alarms for all sessions.
    pub alarms: Vec<Expr>,
    /// Returns the current time.
    pub clock: fn() -> Timestamp,
}
