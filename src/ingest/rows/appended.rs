//! Rows that are only added: what a look finds to be new, and how far they were read.
//!
//! Invariant: rows are read in the order of their places; one that went, or that was put in between, makes the agent's
//! session another one, and all is read again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::known::Known;
use super::look::{Look, News, Todo};
use crate::formats::tables::Growth;
use crate::source::rows::{Cell, Database, Failure};

/// Appended rows that are read at once.
const CHUNK: i64 = 64;
/// Counting all rows takes no more than this share of the time between two looks.
const PACE: u32 = 20;

/// The place of an appended row, and the row if it was read.
pub(crate) type Appended = (i64, Option<Vec<u8>>);

/// How far the appended rows of a session were read.
pub(crate) struct Tail {
    /// How many rows there were at the first look.
    expected: u64,
    /// The place of the last row that was read, and how many were.
    last: i64,
    appended: u64,
    abandoned: BTreeSet<i64>,
    /// How many rows have no place that could be shown.
    unplaced: i64,
    /// When all rows were counted, and how long that took.
    counted: Option<(Instant, Duration)>,
    was_looked_at: bool,
}

impl Default for Tail {
    fn default() -> Self {
        Self {
            expected: 0,
            last: i64::MIN,
            appended: 0,
            abandoned: BTreeSet::new(),
            unplaced: 0,
            counted: None,
            was_looked_at: false,
        }
    }
}

impl Tail {
    /// How many rows there were at the first look.
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// Asks what is new.
    pub(crate) fn look(&mut self, look: Look<'_>, known: &mut Known) -> Result<News, Failure> {
        let Look { number, database, queries, is_settling, .. } = look;
        let Growth::Appended { count, last, abandoned, unplaced, .. } = &queries.growth else {
            return Ok(News::More(Vec::new()));
        };
        let number_of = |sql: &str, at: i64| -> Result<Option<i64>, Failure> {
            Ok(database.value(sql, &[look.key(), Cell::Int(at)])?.and_then(|cell| cell.int()))
        };
        let up_to = |at: i64| {
            Ok::<_, Failure>(number_of(count, at)?.and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
        };
        let is_due = is_settling
            || self.counted.is_none_or(|(when, cost)| when.elapsed() >= cost.saturating_mul(PACE));
        let begun = Instant::now();
        let was_cut = self.appended > 0
            && match database.value(last, &[look.key()])?.and_then(|cell| cell.int()) {
                Some(at) if at >= self.last => is_due && up_to(self.last)? != self.appended,
                _ => true,
            };
        if was_cut {
            return Ok(News::Anew("rows were removed"));
        }
        let is_first = !self.was_looked_at;
        self.expected = if is_first { up_to(i64::MAX)? } else { self.expected };
        let mut unplaced_now = self.unplaced;
        if is_first || is_due {
            unplaced_now = database.value(unplaced, &[look.key()])?.and_then(|cell| cell.int()).unwrap_or(0);
            if unplaced_now < self.unplaced {
                return Ok(News::Anew("rows were removed"));
            }
        }
        let mut todo = Vec::new();
        if let Some(sql) = abandoned.as_ref().filter(|_| is_due) {
            todo = self.abandon(look, sql, known)?;
        }
        // Nothing fails from here, so nothing that is noted as found gets lost.
        self.was_looked_at = true;
        todo.extend((self.unplaced..unplaced_now).map(|nth| Todo::Unplaced { session: number, nth }));
        self.unplaced = unplaced_now;
        if is_due {
            self.counted = Some((Instant::now(), begun.elapsed()));
        }
        todo.push(Todo::More(number));
        if is_first && self.expected == 0 && self.unplaced == 0 && queries.archive.is_some() {
            todo.push(Todo::Archive(number));
        }
        Ok(News::More(todo))
    }

    /// Asks which rows the agent has abandoned. Those of which that is news are read again.
    fn abandon(&mut self, look: Look<'_>, sql: &str, known: &mut Known) -> Result<Vec<Todo>, Failure> {
        let mut now = BTreeSet::new();
        look.database.each(sql, &[look.key()], &mut |row| now.extend(row.first().and_then(Cell::int)))?;
        let changed = self.abandoned.symmetric_difference(&now).filter(|at| **at <= self.last);
        let changed: Vec<i64> = changed.copied().collect();
        self.abandoned = now;
        for at in &changed {
            known.forget_content(0, *at);
        }
        Ok(changed.into_iter().map(|at| Todo::Row { session: look.number, table: 0, at }).collect())
    }

    /// The next appended rows; of a damaged table only their places.
    pub(crate) fn read_on(
        &mut self,
        database: &Database,
        key: Cell,
        (beyond, places): (&str, &str),
    ) -> Result<Vec<Appended>, Failure> {
        let last = if self.appended == 0 { Cell::FIRST } else { Cell::Int(self.last) };
        let next = [key, last, Cell::Int(CHUNK)];
        let read = |sql: &str| {
            let mut rows = Vec::new();
            database.each(sql, &next, &mut |row| {
                let mut cells = row.into_iter();
                let Some(at) = cells.next().and_then(|cell| cell.int()) else { return };
                rows.push((at, cells.next().map(Cell::content)));
            })?;
            Ok(rows)
        };
        let rows = match read(beyond) {
            Err(Failure::Damaged(_)) => read(places)?,
            rows => rows?,
        };
        self.appended += rows.len() as u64;
        self.last = rows.last().map_or(self.last, |(at, _)| *at);
        Ok(rows)
    }

    /// Whether the agent has abandoned the row.
    pub(crate) fn is_abandoned(&self, at: i64) -> bool {
        self.abandoned.contains(&at)
    }
}
