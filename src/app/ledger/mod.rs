//! The ledger: what all sessions came to, as bars by day and as a table by day, week, month, project, agent, model or
//! session.
//!
//! **What is counted is counted elsewhere.** A thread of its own reads the sessions and adds them up (as `tv usage`
//! does, with the same values); this asks for the sums by something, and shows the newest answer. So neither the
//! number of files nor that of requests costs a frame anything but the rows in sight.
//!
//! A row leads to its sessions, and a session to itself; each way back leads to the row that it began at.
//!
//! Invariant: what the reader has chosen stays chosen while rows come and change their places; until a key was pressed,
//! that is the first row.

pub mod actions;
pub mod layout;

use std::cmp::Reverse;

use crate::analysis::ledger::counting::{Counted, Question};
use crate::analysis::ledger::{By, Group, Row};
use crate::model::found::Found;
use crate::model::timestamp::Timestamp;

/// More days are not drawn, however wide the screen.
const MOST_DAYS: usize = 400;

/// What all sessions came to.
#[derive(Debug, Default)]
pub struct LedgerView {
    /// What is shown.
    pub question: Question,
    /// In which order.
    pub sort: Sort,
    /// Whether the last one comes first.
    pub is_reversed: bool,
    /// The newest answer, which may be one to an earlier question.
    pub counted: Counted,
    /// The days up to the last one on which anything was spent, also those without.
    pub days: Vec<Day>,
    /// First row in sight.
    pub top: usize,
    /// Where the reader came from row by row.
    trail: Vec<(By, Option<Group>)>,
    /// Rows of the answer, in their order.
    order: Vec<usize>,
    chosen: Option<Group>,
    has_moved: bool,
}

/// What was spent on a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Day {
    /// As in the rows.
    pub name: String,
    /// Its noon.
    pub at: Timestamp,
    /// Its sum; nothing was spent on the others.
    pub row: Option<Row>,
}

/// By what rows are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Spans of time by time, the last one first; all else by what it cost.
    #[default]
    Usual,
    /// What cost most.
    Cost,
    /// Where most was written.
    Output,
    /// What has most requests.
    Requests,
    /// The name.
    Name,
}

impl Sort {
    /// All of them, in their order.
    pub const ALL: [Self; 5] = [
        Self::Usual,
        Self::Cost,
        Self::Output,
        Self::Requests,
        Self::Name,
    ];

    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Cost => "cost",
            Self::Output => "output",
            Self::Requests => "requests",
            Self::Name => "name",
        }
    }
}

impl LedgerView {
    /// Whether what is known answers what is asked.
    pub fn is_answered(&self) -> bool {
        self.counted.question == self.question
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// The rows in sight, each with the session that it is of, and whether it is the chosen one.
    pub fn in_sight(&self, lines: usize) -> impl Iterator<Item = (&Row, Option<&Found>, bool)> {
        let rows = self.order.iter().skip(self.top).take(lines);
        rows.filter_map(|at| self.counted.rows.get(*at))
            .map(|(row, found)| {
                let is_chosen = Some(&row.group) == self.chosen.as_ref();
                (row, found.as_ref(), is_chosen)
            })
    }

    /// The row that is chosen, with its session if it is of one.
    pub fn chosen(&self) -> Option<&(Row, Option<Found>)> {
        self.counted.rows.get(*self.order.get(self.chosen_line()?)?)
    }

    /// Takes an answer; one to another question is late.
    pub(crate) fn take(&mut self, counted: Counted) {
        if counted.question != self.question {
            return;
        }
        self.days = all_days(&counted.days);
        self.counted = counted;
        self.arrange_rows();
    }

    /// Puts the rows in order.
    pub(crate) fn arrange_rows(&mut self) {
        let rows = &self.counted.rows;
        let is_of_time = self.question.by.is_period();
        let mut order: Vec<usize> = (0..rows.len()).collect();
        let key = |at: &usize| rows.get(*at).map(|(row, _)| row);
        match self.sort {
            // Others come sorted by what they cost.
            Sort::Usual if is_of_time => order.reverse(),
            Sort::Usual => {}
            Sort::Cost => {
                order.sort_by_key(|at| Reverse(key(at).map(|row| row.amount.money.picos())));
            }
            Sort::Output => {
                order.sort_by_key(|at| Reverse(key(at).map(|row| row.amount.output.total)));
            }
            Sort::Requests => {
                order.sort_by_key(|at| Reverse(key(at).map(|row| row.amount.requests)));
            }
            Sort::Name => {
                order.sort_by_cached_key(|at| key(at).map(|row| self.name(row).to_lowercase()));
            }
        }
        if self.is_reversed {
            order.reverse();
        }
        self.order = order;
        if !self.has_moved || self.chosen_line().is_none() {
            self.choose(0);
        }
    }

    /// What a row is of; a session is its title.
    pub fn name(&self, row: &Row) -> String {
        let title = row.group.title();
        if title.is_empty() {
            row.group.name(self.question.by)
        } else {
            title
        }
    }

    fn chosen_line(&self) -> Option<usize> {
        let chosen = self.chosen.as_ref()?;
        self.order.iter().position(|at| {
            self.counted
                .rows
                .get(*at)
                .is_some_and(|(row, _)| row.group == *chosen)
        })
    }

    fn choose(&mut self, line: usize) {
        let row = self
            .order
            .get(line)
            .and_then(|at| self.counted.rows.get(*at));
        self.chosen = row.map(|(row, _)| row.group.clone());
    }

    /// Goes so many rows on, or back.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.has_moved = true;
        let last = self.order.len().saturating_sub(1);
        self.choose(
            self.chosen_line()
                .unwrap_or(0)
                .saturating_add_signed(by)
                .min(last),
        );
    }

    /// Brings the chosen row into sight.
    pub(crate) fn scroll(&mut self, lines: usize) {
        let row = self.chosen_line().unwrap_or(0);
        let lowest = row.saturating_sub(lines.saturating_sub(1));
        self.top = self
            .top
            .clamp(lowest, row)
            .min(self.order.len().saturating_sub(lines));
    }

    /// Asks something else. What is known is of another question until it is answered.
    fn ask(&mut self, question: Question, chosen: Option<Group>) {
        self.question = question;
        self.has_moved = chosen.is_some();
        self.chosen = chosen;
        self.top = 0;
    }

    /// The sessions of the chosen row.
    pub(crate) fn enter(&mut self) -> bool {
        let Some(group) = self
            .chosen()
            .map(|(row, _)| row.group.clone())
            .filter(|_| self.is_answered())
        else {
            return false;
        };
        let by = self.question.by;
        self.trail.push((by, Some(group.clone())));
        let mut within = self.question.within.clone();
        within.push((by, group));
        self.ask(
            Question {
                by: By::Session,
                within,
            },
            None,
        );
        true
    }

    /// Back to the row that these are the sessions of. Says whether there is one.
    pub(crate) fn go_back(&mut self) -> bool {
        let Some((by, chosen)) = self.trail.pop() else {
            return false;
        };
        let mut within = self.question.within.clone();
        within.pop();
        self.ask(Question { by, within }, chosen);
        true
    }

    /// Sums by something else.
    pub(crate) fn group(&mut self, by: By) {
        self.ask(
            Question {
                by,
                ..self.question.clone()
            },
            None,
        );
    }
}

/// The days without a gap, up to the last of them.
fn all_days(rows: &[Row]) -> Vec<Day> {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let named = |row: &&Row| row.group.period.is_some();
    let mut rows = rows.iter().filter(named).rev().peekable();
    // At noon no change of the clock makes another day of it.
    let noon =
        |row: &&Row| Timestamp::parse_local(&format!("{} 12:00", row.group.period.as_deref()?));
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
        days.push(Day { name, at, row });
    }
    days.reverse();
    days
}
