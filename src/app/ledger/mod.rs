//! The ledger: what all sessions came to in a time, as bars by day and as a table by day, week, month, project, agent,
//! model or session.
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
mod sheet;

use std::collections::HashMap;

use crate::analysis::expression::parse::moment;
use crate::analysis::ledger::counting::{Counted, Question};
use crate::analysis::ledger::{By, Group, Row};
use crate::app::views::list::List;
use crate::app::views::page::Sheet;
use crate::listing::usage::{UsageRows, ends};
use crate::model::found::Found;
use crate::model::timestamp::Timestamp;

/// More days are not drawn, however wide the screen.
const MOST_DAYS: usize = 400;

/// Spans of time that keys step through: what each begins with, as `--since` has it.
const SINCE: [&str; 6] = ["today", "7d", "30d", "90d", "365d", ""];

/// What all sessions came to.
#[derive(Debug)]
pub struct LedgerView {
    /// What is shown.
    pub question: Question,
    /// Since when, as it is typed; nothing for all that there is.
    pub since: String,
    /// The newest answer, which may be one to an earlier question.
    pub counted: Counted,
    /// The days up to the last one on which anything was spent, also those without.
    pub days: Vec<Day>,
    /// What the screen shows of it.
    pub sheet: Sheet,
    /// Where the reader came from row by row.
    trail: Vec<(By, Option<Group>)>,
    rows: UsageRows,
    ends: HashMap<String, String>,
    list: List<Group>,
    /// The row that is gone back to, once it is there.
    wanted: Option<Group>,
}

impl Default for LedgerView {
    fn default() -> Self {
        Self {
            question: Question::default(),
            since: "30d".to_owned(),
            counted: Counted::default(),
            days: Vec::new(),
            sheet: Sheet::default(),
            trail: Vec::new(),
            rows: UsageRows::new(),
            ends: HashMap::new(),
            list: new_list(By::Day),
            wanted: None,
        }
    }
}

fn new_list(by: By) -> List<Group> {
    List::default().sorted(by.order()).kept_on_top()
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

impl LedgerView {
    /// Whether what is known answers what is asked.
    pub fn is_answered(&self) -> bool {
        self.counted.question == self.question
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.list.keys().len()
    }

    /// The rows in their order.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        let keys = self.list.keys().iter();
        keys.filter_map(|group| self.rows.get(group).map(|(row, _)| row))
    }

    /// The name of the column by which they are sorted.
    pub fn sorted_by(&self) -> &'static str {
        self.list.sort().map_or("", |sort| sort.by)
    }

    /// The row that is chosen, with its session if it is of one.
    pub fn chosen(&self) -> Option<&(Row, Option<Found>)> {
        self.rows.get(self.list.chosen()?)
    }

    /// Takes an answer; one to another question is late.
    pub(crate) fn take(&mut self, mut counted: Counted) {
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
        self.ends = ends(folders);
        self.rows = rows
            .into_iter()
            .map(|(row, found)| (row.group.clone(), (row, found)))
            .collect();
        self.counted = counted;
        self.fill(keys);
        if self
            .wanted
            .as_ref()
            .is_some_and(|wanted| self.list.choose_key(wanted))
        {
            self.wanted = None;
        }
    }

    /// Puts rows in order.
    fn fill(&mut self, keys: Vec<Group>) {
        let mut list = std::mem::take(&mut self.list);
        list.fill(&self.listing(), keys, false);
        self.list = list;
    }

    /// Asks something else. What is known is of another question until it is answered.
    fn ask(&mut self, question: Question, wanted: Option<Group>) {
        self.question = question;
        self.wanted = wanted;
    }

    /// The sessions of the chosen row.
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
        self.ask(question, None);
        true
    }

    /// Back to the row that these are the sessions of. Says whether there is one.
    fn go_back(&mut self) -> bool {
        let Some((by, chosen)) = self.trail.pop() else {
            return false;
        };
        let mut question = self.question.clone();
        question.within.pop();
        question.by = by;
        self.ask(question, chosen);
        true
    }

    /// Sums by something else.
    fn group(&mut self, by: By) {
        let question = Question {
            by,
            ..self.question.clone()
        };
        self.ask(question, None);
    }

    /// Counts what was spent since then. Says whether that is a time.
    pub(crate) fn count_from(&mut self, typed: &str, now: Timestamp) -> bool {
        let when = moment(typed);
        if when.is_none() && !typed.is_empty() {
            return false;
        }
        typed.clone_into(&mut self.since);
        let question = Question {
            since: when.and_then(|when| when.resolve(Some(now))),
            ..self.question.clone()
        };
        self.ask(question, None);
        true
    }

    /// Goes so many rows on, or back.
    pub(crate) fn move_by(&mut self, by: isize) {
        self.list.step(by);
    }
}

/// The days without a gap, up to the last of them.
fn all_days(rows: &[Row]) -> Vec<Day> {
    const DAY: i64 = 24 * 60 * 60 * 1_000;
    let named = |row: &&Row| row.group.period.is_some();
    let mut rows = rows.iter().filter(named).peekable();
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
