//! The ledger: usage and cost of all sessions in a span of time, as bars by day and as a table by
//! day, week, month, project, agent, model or session.
//!
//! **The counting is done elsewhere.** A thread reads the sessions and sums their requests, with
//! the same values as `tv usage`; this module queries the sums by a grouping, and shows the newest
//! answer. So the cost of a frame depends on the visible rows only, not on the number of files or
//! requests.
//!
//! Enter on a row opens its sessions, and on a session the session itself; going back returns to
//! the row.
//!
//! Invariant: the chosen row stays chosen while rows are added and reordered; before the first key
//! press, the first row is chosen.

pub mod actions;
pub(crate) mod sheet;

use std::collections::HashMap;

use crate::analysis::by::By;
use crate::analysis::expression::When;
use crate::analysis::expression::parse::moment;
use crate::analysis::ledger::counting::{CountedUsage, Question};
use crate::analysis::ledger::{UsageGroup, UsageSum};
use crate::app::views::list::List;
use crate::app::views::page::Sheet;
use crate::listing::usage::{UsageRows, distinguishing_ends, models};
use crate::model::found::FoundSession;
use crate::model::timestamp::Timestamp;

/// Limit of the days in the chart, however wide the screen.
const MOST_DAYS: usize = 400;

/// Spans of time that keys step through, in the syntax of `--since`.
const SINCE: [&str; 6] = ["today", "7d", "30d", "90d", "365d", ""];

/// State of the ledger.
#[derive(Debug)]
pub struct LedgerView {
    pub question: Question,
    /// Start of the span of time, as typed; empty for all time.
    pub since: String,
    /// The newest answer; it may be for an earlier query.
    pub counted: CountedUsage,
    /// The days up to the last one with usage, including days without.
    pub days: Vec<DayUsage>,
    /// The page as written for the screen.
    pub sheet: Sheet,
    /// Groupings and rows from which the user went into the current table.
    trail: Vec<(By, Option<UsageGroup>)>,
    rows: UsageRows,
    short: HashMap<String, String>,
    list: List<UsageGroup>,
    /// The row to choose after going back, as soon as it is in the table.
    pending_choice: Option<UsageGroup>,
}

impl Default for LedgerView {
    fn default() -> Self {
        Self {
            question: Question::default(),
            since: "30d".to_owned(),
            counted: CountedUsage::default(),
            days: Vec::new(),
            sheet: Sheet::default(),
            trail: Vec::new(),
            rows: UsageRows::new(),
            short: HashMap::new(),
            list: new_list(By::Day),
            pending_choice: None,
        }
    }
}

fn new_list(by: By) -> List<UsageGroup> {
    List::default().sorted(by.order()).kept_on_top()
}

#[derive(Clone, Debug, PartialEq)]
pub struct DayUsage {
    /// Name of the day, as in the rows.
    pub name: String,
    /// Noon of the day.
    pub at: Timestamp,
    /// The sum; `None` for a day without usage.
    pub row: Option<UsageSum>,
}

impl LedgerView {
    /// Whether the newest answer is for the current query.
    pub fn is_answered(&self) -> bool {
        self.counted.question == self.question
    }

    pub fn count(&self) -> usize {
        self.list.keys().len()
    }

    /// The rows in sort order.
    pub fn rows(&self) -> impl Iterator<Item = &UsageSum> {
        let keys = self.list.keys().iter();
        keys.filter_map(|group| self.rows.get(group).map(|(row, _)| row))
    }

    /// The name of the column that the rows are sorted by.
    pub fn sorted_by(&self) -> &'static str {
        self.list.sort().map_or("", |sort| sort.by)
    }

    /// The chosen row, with its session if the row is a session.
    pub fn chosen(&self) -> Option<&(UsageSum, Option<FoundSession>)> {
        self.rows.get(self.list.chosen()?)
    }

    /// Stores an answer; drops one for another query.
    pub(crate) fn apply(&mut self, mut counted: CountedUsage) {
        if counted.question != self.question {
            return;
        }
        self.days = all_days(&counted.days);
        let before = &self.counted.question;
        if (before.by, &before.within) != (counted.question.by, &counted.question.within) {
            self.list = new_list(counted.question.by);
        }
        let rows = std::mem::take(&mut counted.rows);
        let keys = rows.iter().map(|(row, _)| row.group.clone()).collect();
        let folders = rows
            .iter()
            .filter_map(|(row, _)| row.group.project.as_deref());
        let named = rows
            .iter()
            .filter_map(|(row, _)| row.group.model.as_deref());
        self.short = distinguishing_ends(folders);
        self.short.extend(models(named));
        self.rows = rows
            .into_iter()
            .map(|(row, found)| (row.group.clone(), (row, found)))
            .collect();
        self.counted = counted;
        self.fill(keys);
        if self
            .pending_choice
            .as_ref()
            .is_some_and(|wanted| self.list.choose_key(wanted))
        {
            self.pending_choice = None;
        }
    }

    fn fill(&mut self, keys: Vec<UsageGroup>) {
        let mut list = std::mem::take(&mut self.list);
        list.fill(&self.listing(), keys, false);
        self.list = list;
    }

    /// Starts another query. Until it is answered, the rows are those of the previous one.
    fn query(&mut self, question: Question, wanted: Option<UsageGroup>) {
        self.question = question;
        self.pending_choice = wanted;
    }

    /// Opens the sessions of the chosen row. Returns `false` if no row is chosen.
    fn enter(&mut self) -> bool {
        let chosen = self.list.chosen().cloned().filter(|_| self.is_answered());
        let Some(group) = chosen else {
            return false;
        };
        let by = self.question.by;
        self.trail.push((by, Some(group.clone())));
        let mut question = self.question.clone();
        question.within.push((by, group));
        question.by = By::Session;
        self.query(question, None);
        true
    }

    /// Goes back to the row whose sessions are shown. Returns `false` if there is none.
    fn go_back(&mut self) -> bool {
        let Some((by, chosen)) = self.trail.pop() else {
            return false;
        };
        let mut question = self.question.clone();
        question.within.pop();
        question.by = by;
        self.query(question, chosen);
        true
    }

    fn group(&mut self, by: By) {
        let question = Question {
            by,
            ..self.question.clone()
        };
        self.query(question, None);
    }

    /// Sets the start of the span of time. Returns `false` if the text is not a time.
    pub(crate) fn count_from(&mut self, typed: &str, now: Timestamp) -> bool {
        let when = moment(typed);
        if when.is_none() && !typed.is_empty() {
            return false;
        }
        typed.clone_into(&mut self.since);
        let question = Question {
            since: When::option(when, now),
            ..self.question.clone()
        };
        self.query(question, None);
        true
    }

    /// Moves the cursor by rows.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.list.step(by);
    }
}

/// All days without gaps, up to the last one with usage.
fn all_days(rows: &[UsageSum]) -> Vec<DayUsage> {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let named = |row: &&UsageSum| row.group.period.is_some();
    let mut rows = rows.iter().filter(named).peekable();
    // Noon is in the same day whatever a change to or from summer time does.
    let noon = |row: &&UsageSum| {
        Timestamp::parse_local(&format!("{} 12:00", row.group.period.as_deref()?))
    };
    let Some(last) = rows.peek().and_then(noon) else {
        return Vec::new();
    };
    let mut days = Vec::new();
    for number in 0..MOST_DAYS {
        if rows.peek().is_none() {
            break;
        }
        let back = i64::try_from(number)
            .unwrap_or(i64::MAX)
            .saturating_mul(DAY);
        let at = Timestamp(last.0.saturating_sub(back));
        let name = at.calendar_day();
        let row = rows
            .next_if(|row| row.group.period.as_deref() == Some(&name))
            .cloned();
        days.push(DayUsage { name, at, row });
    }
    days.reverse();
    days
}
