//! Options of `tv usage`.

use crate::analysis::by::By;
use crate::analysis::expression::When;
use crate::ingest::find::DiscoveryQuery;
use crate::report::listing::ListingForm;
use crate::report::rows::Paper;

/// Options of `tv usage`.
pub struct UsageOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// What the rows are grouped by.
    pub by: Vec<By>,
    /// Only from this time on.
    pub since: Option<When>,
    /// Only before this time.
    pub until: Option<When>,
    pub form: ListingForm,
    /// Whether to write the used share of limits instead of sums.
    pub limits: bool,
    /// Whether failed calls are counted: results are read, too.
    pub failures: bool,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
    /// Width and signs of a table.
    pub paper: Paper,
}

impl UsageOptions {
    /// Whether calls are read, and not only what was spent.
    pub(super) fn has_calls(&self) -> bool {
        self.failures || self.by.iter().any(|by| by.needs_calls())
    }
}
