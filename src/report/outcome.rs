//! How a report ended, or why it could not begin.

use std::{fmt, io};

use crate::ingest::OpenError;
use crate::model::figures::count;
use crate::model::found::Found;

/// How a report ended. Failures to write are errors of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was reported.
    Complete,
    /// Everything was reported, and something is wrong with what was asked about.
    Found,
    /// Nothing was found of what was sought.
    Nothing,
    /// What was waited for did not come about, and will not: the reason.
    Missed(String),
    /// Some sessions could not be opened or not be read to the end; the others were reported.
    Failed(Vec<OpenError>),
    /// The reader asked to stop.
    Interrupted,
    /// Something is to be said besides.
    Saying(String, Box<Self>),
}

impl Outcome {
    /// Complete unless something failed.
    pub(crate) fn of(failures: Vec<OpenError>) -> Self {
        if failures.is_empty() {
            Self::Complete
        } else {
            Self::Failed(failures)
        }
    }

    /// How a report over many sessions ended that ends so otherwise: what was come by and cannot be read is said, and only
    /// who is strict calls that a failure; what was named and cannot be read is one.
    pub(crate) fn of_many(missed: Missed, is_strict: bool, otherwise: Self) -> Self {
        let Missed {
            refused,
            unreadable,
        } = missed;
        let lines = unreadable
            .iter()
            .map(|found| OpenError(found.unread_line()));
        if !refused.is_empty() || (is_strict && !unreadable.is_empty()) {
            return Self::Failed(refused.into_iter().chain(lines).collect());
        }
        let saying = |outcome, OpenError(why)| Self::Saying(why, Box::new(outcome));
        lines.rev().fold(otherwise, saying)
    }
}

/// What a report over many sessions could not read.
#[derive(Debug, Default)]
pub(crate) struct Missed {
    /// What was named.
    pub(crate) refused: Vec<OpenError>,
    /// What was come by.
    pub(crate) unreadable: Vec<Found>,
}

impl Missed {
    /// Nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.refused.is_empty() && self.unreadable.is_empty()
    }

    /// What was not missed before.
    pub(crate) fn add(&mut self, other: Self) {
        self.refused.extend(other.refused);
        for found in other.unreadable {
            if !self
                .unreadable
                .iter()
                .any(|known| known.is_at(&found.place()))
            {
                self.unreadable.push(found);
            }
        }
    }

    /// What is said instead of that there is nothing.
    pub(crate) fn words(&self) -> String {
        format!(
            "not known: {} cannot be read",
            count((self.refused.len() + self.unreadable.len()) as u64, "place")
        )
    }
}

/// Why nothing more can be written.
#[derive(Debug)]
pub enum ReportError {
    /// The session cannot be opened.
    Open(OpenError),
    /// Nobody takes the output.
    Write(io::Error),
}

impl From<OpenError> for ReportError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<io::Error> for ReportError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

impl From<serde_json::Error> for ReportError {
    fn from(error: serde_json::Error) -> Self {
        Self::Write(error.into())
    }
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Write(error) => write!(f, "cannot write: {error}"),
        }
    }
}

impl std::error::Error for ReportError {}
