//! What `tv usage` is asked for.

use crate::analysis::expression::When;
use crate::analysis::ledger::By;
use crate::ingest::find::Search;

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
    /// Columns of a table.
    pub width: u16,
    /// Whether only ASCII is written.
    pub ascii: bool,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A table to read.
    Table,
    /// Comma-separated values.
    Csv,
    /// One JSON object a line.
    Json,
}
