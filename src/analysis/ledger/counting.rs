//! Queries of the ledger while sessions are counted, and their answers.

use super::{Ledger, UsageSum, Within};
use crate::analysis::by::By;
use crate::model::found::FoundSession;
use crate::model::limit::Limit;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The grouping of the rows.
    pub by: By,
    /// Only usage in all of these groups.
    pub within: Vec<Within>,
    /// Only usage since then; `None` for all.
    pub since: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountingProgress {
    /// Sessions read so far.
    pub done: usize,
    pub all: usize,
    /// Whether counting has finished.
    pub is_complete: bool,
    /// Errors of sessions that could not be read.
    pub failures: Vec<Text>,
}

/// The answer to a query, from the sessions counted so far.
#[derive(Clone, Debug, Default)]
pub struct CountedUsage {
    pub question: Question,
    /// The rows, each with its session if the grouping is by session.
    pub rows: Vec<(UsageSum, Option<FoundSession>)>,
    pub total: UsageSum,
    /// The same usage by day.
    pub days: Vec<UsageSum>,
    /// Recorded rate limits by agent.
    pub limits: Vec<(&'static str, Limit)>,
    /// Requests that are in another session as well.
    pub copies: u64,
    pub progress: CountingProgress,
}

impl Ledger {
    /// Answers a query from the sessions counted so far.
    pub fn answer(&mut self, question: &Question, progress: &CountingProgress) -> CountedUsage {
        self.count_from(question.since);
        let (rows, total) = self.rows(&[question.by], &question.within);
        let days = match question {
            Question { by: By::Day, .. } => rows.clone(),
            Question { within, .. } => self.rows(&[By::Day], within).0,
        };
        let is_of_one = question.by == By::Session;
        let with_session = |row: UsageSum| {
            let found = row
                .newest()
                .filter(|_| is_of_one)
                .and_then(|number| self.session(number))
                .cloned();
            (row, found)
        };
        CountedUsage {
            question: question.clone(),
            rows: rows.into_iter().map(with_session).collect(),
            total,
            days,
            limits: self.limits().collect(),
            copies: self.copies,
            progress: progress.clone(),
        }
    }
}
