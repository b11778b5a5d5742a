//! Options of `tv grep`.

use crate::analysis::expression::{Expr, When};
use crate::ingest::find::DiscoveryQuery;
use crate::report::rows::Paper;

/// Options of `tv grep`.
#[derive(Clone, Debug, PartialEq)]
pub struct GrepOptions {
    /// The query.
    pub query: GrepQuery,
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// Output format.
    pub form: GrepForm,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
    /// Width and colours.
    pub paper: Paper,
}

/// Output format.
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

/// The query.
#[derive(Clone, Debug, PartialEq)]
pub struct GrepQuery {
    /// The pattern as typed, with the letter of a scope in front if it is restricted to one. If it is
    /// empty, the filter alone decides, and the first line of each block that it fits is shown.
    pub pattern: String,
    /// Whether the pattern is a literal, even if it is a valid regular expression.
    pub is_literal: bool,
    /// Whether case matters.
    pub case: Case,
    /// A condition on the block.
    pub filter: Option<Expr>,
    /// Only from this time on.
    pub since: Option<When>,
}

/// Whether case matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// If the pattern has capitals.
    #[default]
    Smart,
    /// Never.
    Ignored,
}
