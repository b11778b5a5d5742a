//! What `tv usage` is asked for.

use crate::analysis::expression::When;
use crate::analysis::ledger::By;
use crate::ingest::find::Search;
use crate::report::listing::Form;
use crate::report::rows::Paper;

/// What to sum up, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Where.
    pub search: Search,
    /// What has a row of its own.
    pub by: Vec<By>,
    /// Only from this time on.
    pub since: Option<When>,
    /// Only before this time.
    pub until: Option<When>,
    /// How rows are written.
    pub form: Form,
    /// Whether what is used up of limits is wanted, and no sums.
    pub limits: bool,
    /// Whether it is a failure that something cannot be read.
    pub strict: bool,
    /// Columns and signs of a table.
    pub paper: Paper,
}
