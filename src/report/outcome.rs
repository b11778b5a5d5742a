//! How a report ended, or why it could not start.

use std::{fmt, io};

use crate::ingest::OpenError;
use crate::ingest::find::{DiscoveryQuery, Unread};
use crate::model::figures::count;
use crate::model::found::FoundSession;

/// How a report ended. Write errors are a [`ReportError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportOutcome {
    Complete,
    /// Everything was reported, and problems were found.
    Found,
    /// There were no matches.
    Nothing,
    /// The awaited condition did not come true and will not: the reason.
    Missed(String),
    /// Some sessions could not be opened, or not be read to the end; the others were reported.
    Failed(Vec<OpenError>),
    Interrupted,
    /// An outcome with a further message.
    Saying(String, Box<Self>),
}

impl ReportOutcome {
    /// `Complete` if there are no failures, else `Failed`.
    pub(crate) fn of(failures: Vec<OpenError>) -> Self {
        if failures.is_empty() {
            Self::Complete
        } else {
            Self::Failed(failures)
        }
    }

    /// The outcome of a report over many sessions, which is `otherwise` if nothing was missed.
    /// Named sessions that cannot be read are a failure. Others that were found in a search are
    /// reported, and are a failure only if `is_strict`.
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

/// Why a session cannot be read, or not to its end.
#[derive(Debug)]
pub enum ReadFailure {
    /// For a path or session that the user named.
    Named(OpenError),
    /// For a session that was found in a search.
    CameBy(Box<FoundSession>),
}

impl ReadFailure {
    pub(crate) fn of(session: &Unread, search: &DiscoveryQuery, why: OpenError) -> Self {
        let mut named = search.targets.iter();
        if named.any(|target| target.path == session.path()) {
            return Self::Named(why);
        }
        Self::CameBy(Box::new(session.unreadable(why.about(session.path()))))
    }
}

/// What a report over many sessions could not read.
#[derive(Debug, Default)]
pub(crate) struct Missed {
    /// Sessions that were named by the user.
    pub(crate) refused: Vec<OpenError>,
    /// Sessions that were found in a search.
    pub(crate) unreadable: Vec<FoundSession>,
}

impl Missed {
    pub(crate) fn is_empty(&self) -> bool {
        self.refused.is_empty() && self.unreadable.is_empty()
    }

    pub(crate) fn push(&mut self, failure: ReadFailure) {
        match failure {
            ReadFailure::Named(failure) => self.refused.push(failure),
            ReadFailure::CameBy(found) => self.unreadable.push(*found),
        }
    }

    /// Adds what `other` missed, without duplicates.
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

    /// The message in place of an empty result.
    pub(crate) fn words(&self) -> String {
        format!(
            "not known: {} cannot be read",
            count((self.refused.len() + self.unreadable.len()) as u64, "place")
        )
    }
}

/// Why a report cannot go on.
#[derive(Debug)]
pub enum ReportError {
    /// The session cannot be opened.
    Open(OpenError),
    /// The output cannot be written.
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
