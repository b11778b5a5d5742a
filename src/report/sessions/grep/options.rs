//! What `tv grep` is asked for.

use crate::analysis::expression::{Expr, When};
use crate::ingest::find::Search;
use crate::report::rows::Paper;

/// What to look for, where, and how to write it.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// What is sought.
    pub asked: Asked,
    /// Where.
    pub search: Search,
    /// How hits are written.
    pub form: Form,
    /// Whether it is a failure that something cannot be read.
    pub strict: bool,
    /// Columns and colours.
    pub paper: Paper,
}

/// How hits are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Under the title of each session.
    Headed,
    /// `path:line: …`
    Plain,
    /// One JSON object a line.
    Json,
    /// What opens each session that has some, and nothing else.
    Sessions,
}

/// What the reader asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What was typed, with the letter of a scope in front if it is narrowed so.
    pub pattern: String,
    /// Whether it means itself, although it may look like a regular expression.
    pub is_literal: bool,
    /// Whether case matters.
    pub case: Case,
    /// What must hold of the block besides.
    pub filter: Option<Expr>,
    /// Only from this time on.
    pub since: Option<When>,
}

/// Whether case matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// If there are capitals.
    #[default]
    Smart,
    /// Never.
    Ignored,
}
