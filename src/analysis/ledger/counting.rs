//! What whoever looks at sums asks for while they are counted, and is answered.

use super::{By, Ledger, Row, Within};
use crate::model::found::Found;
use crate::model::limit::Limit;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Sums that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// By what.
    pub by: By,
    /// Of what: of all that these have in common.
    pub within: Vec<Within>,
    /// Since when; all of it if nothing is said.
    pub since: Option<Timestamp>,
}

/// How far counting is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// How many sessions were looked at.
    pub done: usize,
    /// Of how many.
    pub all: usize,
    /// Whether that is the end.
    pub is_complete: bool,
    /// What could not be read.
    pub failures: Vec<Text>,
}

/// Sums as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Of what.
    pub question: Question,
    /// The rows, each with the session that it leads to if it is of one.
    pub rows: Vec<(Row, Option<Found>)>,
    /// The sum of all.
    pub total: Row,
    /// The same by days.
    pub days: Vec<Row>,
    /// What agents tell of their limits.
    pub limits: Vec<(&'static str, Limit)>,
    /// Requests that stand in another session, too.
    pub copies: u64,
    /// How far counting is.
    pub progress: Progress,
}

impl Ledger {
    /// Answers a question with what is known.
    pub fn answer(&mut self, question: &Question, progress: &Progress) -> Counted {
        self.count_from(question.since);
        let (rows, total) = self.rows(&[question.by], &question.within);
        let days = match question {
            Question { by: By::Day, .. } => rows.clone(),
            Question { within, .. } => self.rows(&[By::Day], within).0,
        };
        let is_of_one = question.by == By::Session;
        let with_session = |row: Row| {
            let found = row
                .newest()
                .filter(|_| is_of_one)
                .and_then(|number| self.session(number))
                .cloned();
            (row, found)
        };
        Counted {
            question: question.clone(),
            rows: rows.into_iter().map(with_session).collect(),
            total,
            days,
            limits: self.limits().collect(),
            copies: self.copies(),
            progress: progress.clone(),
        }
    }
}
