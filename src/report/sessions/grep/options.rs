//! Options of `tv grep`.

use crate::analysis::expression::{Expr, When};
use crate::ingest::find::DiscoveryQuery;
use crate::report::rows::Paper;

/// Options of `tv grep`.
pub struct GrepOptions {
    pub query: GrepQuery,
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    pub form: GrepForm,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
    pub paper: Paper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrepForm {
    /// Hits under the title of their session.
    Headed,
    /// `path:line: …`
    Plain,
    /// One JSON object per line.
    Json,
    /// Only the names that open the sessions with hits.
    Sessions,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GrepQuery {
    /// The pattern as typed, with the letter of a scope in front if it is restricted to one. If it is
    /// empty, the filter alone decides, and the first line of each block that it fits is shown.
    pub pattern: String,
    /// Whether the pattern is a literal, even if it is a valid regular expression.
    pub is_literal: bool,
    pub case: Case,
    /// A condition on the block.
    pub filter: Option<Expr>,
    /// Only from this time on.
    pub since: Option<When>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// If the pattern has capitals.
    #[default]
    Smart,
    Ignored,
}
