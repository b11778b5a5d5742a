//! What `tv usage` is asked for.

use crate::analysis::expression::When;
use crate::ingest::find::Search;
use crate::ingest::{OpenError, Target};

/// What to sum up, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Where.
    pub search: Search,
    /// The places that were named, each with its session if one was.
    pub targets: Vec<Target>,
    /// Sessions that were named and are none.
    pub refused: Vec<OpenError>,
    /// What has a row of its own.
    pub by: Vec<By>,
    /// Only from this time on.
    pub since: Option<When>,
    /// Only before this time.
    pub until: Option<When>,
    /// How rows are written.
    pub form: Form,
    /// Whether only ASCII is written.
    pub ascii: bool,
}

/// What rows are summed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A day of the reader's calendar.
    Day,
    /// A week of it, from Monday.
    Week,
    /// A month of it.
    Month,
    /// The folder in which the agent worked.
    Project,
    /// The format, which tells the agent.
    Agent,
    /// The model.
    Model,
    /// The session.
    Session,
}

impl By {
    /// All of them, with their words.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Day, "day"),
        (Self::Week, "week"),
        (Self::Month, "month"),
        (Self::Project, "project"),
        (Self::Agent, "agent"),
        (Self::Model, "model"),
        (Self::Session, "session"),
    ];

    /// Its word.
    pub(super) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(by, _)| *by == self).map_or("", |(_, word)| word)
    }

    /// Whether it is a span of time.
    pub fn is_period(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month)
    }
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
