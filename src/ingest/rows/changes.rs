//! Which sessions a write to a database concerns: one look for all of its sessions that are followed on a thread.
//!
//! Agents keep all of their sessions in one database, and one of them writes at a time. New rows have the greatest
//! numbers of their tables and name their session; rows of sessions have a time of change. To ask each session instead
//! costs as much as all of them have messages.
//!
//! Invariant: a session that nothing new names is looked at all the same after [`LONGEST`]: rows may be edited without a
//! trace in any of this. One that was changed lately is looked at with each write.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Rows;
use crate::formats::tables::{Added, Growth, Queries};
use crate::source::rows::{Cell, Database, Failure, State};

/// Of fewer sessions each is looked at.
const MANY: usize = 8;
/// Nothing is taken on trust for longer than this.
const LONGEST: Duration = Duration::from_secs(30);
/// Between two looks whether a session still rests.
const PAUSE: Duration = Duration::from_secs(2);
/// The rows of a session that was changed in so many ms may be edited.
const WARM_MS: i64 = 5 * 60 * 1_000;

/// What was changed in a database since somebody began to follow sessions in it.
#[derive(Default)]
pub(super) struct Changes {
    /// How many sessions in it are followed.
    readers: usize,
    state: Option<State>,
    /// The number of the last change, …
    last: u64,
    /// … of the last one that may concern any session, …
    of_all: u64,
    /// … and of the last one of each session that has some.
    of_session: HashMap<String, u64>,
    /// By table: the greatest number of a row, the latest time of a change, and how many rows there are.
    ends: Vec<[i64; 3]>,
}

thread_local! {
    static CHANGES: RefCell<HashMap<PathBuf, Changes>> = RefCell::default();
}

/// What one session knows of the changes of its database.
pub(super) struct Rest {
    path: PathBuf,
    /// The last change that it was looked at after.
    seen: u64,
    /// When its rows were changed last, as its agent's clock shows it, in ms.
    changed: Option<i64>,
    since: Option<Instant>,
}

impl Rest {
    /// A session of this database is followed from now on.
    pub(super) fn new(path: &Path) -> Self {
        CHANGES.with_borrow_mut(|all| all.entry(path.to_owned()).or_default().readers += 1);
        Self { path: path.to_owned(), seen: 0, changed: None, since: None }
    }

    /// The session was looked at in this state of the database, in which something of it was new.
    pub(super) fn looked(&mut self, state: State, has_news: bool) {
        self.since = None;
        self.seen = CHANGES.with_borrow(|all| all.get(&self.path).map_or(0, |changes| changes.last));
        if has_news {
            self.changed = Some(moment(state));
        }
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        CHANGES.with_borrow_mut(|all| {
            let Some(changes) = all.get_mut(&self.path) else { return };
            changes.readers = changes.readers.saturating_sub(1);
            if changes.readers == 0 {
                all.remove(&self.path);
            }
        });
    }
}

impl Rows {
    /// Whether what was written to the database concerns other sessions than this one.
    pub(super) fn rests(&mut self, state: State, now: Instant) -> bool {
        let is_many =
            || CHANGES.with_borrow(|all| all.get(&self.path).is_some_and(|changes| changes.readers >= MANY));
        let is_written = self.state.is_some_and(|known| known != state);
        let may_rest = self.bodies.is_live() && is_written && self.queue.is_empty() && is_many();
        let is_over = self.rest.since.is_some_and(|since| now.duration_since(since) >= LONGEST);
        if !may_rest || is_over || self.has_news(state).unwrap_or(true) {
            return false;
        }
        self.rest.since.get_or_insert(now);
        self.schedule.wait_until(now + PAUSE);
        // The state that it was opened in is past.
        self.database = None;
        true
    }

    fn has_news(&mut self, state: State) -> Result<bool, Failure> {
        let is_known = CHANGES
            .with_borrow(|all| all.get(&self.path).is_some_and(|changes| changes.state == Some(state)));
        if !is_known || self.rest.changed.is_none() {
            self.database = self.database.take().filter(|database| database.is_current());
            self.database()?;
        }
        let Some(changed) = self.last_change()? else { return Ok(true) };
        if moment(state).saturating_sub(changed) <= WARM_MS {
            return Ok(true);
        }
        let Self { path, database, queries, sessions, rest, .. } = self;
        CHANGES.with_borrow_mut(|all| {
            let changes = all.entry(path.clone()).or_default();
            if let Some(database) = database {
                changes.follow(state, database, queries)?;
            }
            let of_session = |id: &String| changes.of_session.get(id).copied();
            let last = sessions.iter().filter_map(|session| of_session(&session.id)).max();
            Ok(last.unwrap_or(0).max(changes.of_all) > rest.seen)
        })
    }

    /// When rows of the session were changed last. Nothing if its rows do not tell.
    fn last_change(&mut self) -> Result<Option<i64>, Failure> {
        if matches!(self.queries.growth, Growth::Appended { .. }) {
            // What is only added is never edited.
            self.rest.changed = self.rest.changed.or(Some(i64::MIN));
        }
        if self.rest.changed.is_none()
            && let Growth::Edited(edited) = &self.queries.growth
            && let (Some(database), Some(session)) = (&self.database, self.sessions.first())
        {
            let mut last = None;
            database.each(&edited.recent, &[session.key(), Cell::Int(1)], &mut |row| {
                last = last.max(row.get(2).and_then(Cell::int));
            })?;
            self.rest.changed = last;
        }
        Ok(self.rest.changed)
    }
}

impl Changes {
    /// Takes in what is new in this state of the database.
    fn follow(&mut self, state: State, database: &Database, queries: &Queries) -> Result<(), Failure> {
        if self.state == Some(state) {
            return Ok(());
        }
        let last = self.last + 1;
        let mut ends = Vec::with_capacity(queries.added.len());
        let mut touched = Vec::new();
        let is_other = self.state.is_none_or(|known| !known.base.is_same_file(&state.base));
        let mut is_of_all = is_other || self.ends.len() != queries.added.len() || queries.added.is_empty();
        for (place, added) in queries.added.iter().enumerate() {
            let end = end_of(added, database)?;
            ends.push(end);
            let Some(before) = self.ends.get(place).filter(|before| **before != end) else { continue };
            database.each(&added.beyond, &[Cell::Int(before[0]), Cell::Int(before[1])], &mut |row| {
                touched.push((row.first().and_then(Cell::text), row.get(1).and_then(Cell::text)));
            })?;
            // Rows that are gone name nobody.
            is_of_all |= end[0] < before[0] || end[2] < before[2];
        }
        self.of_all = if is_of_all { last } else { self.of_all };
        let names = touched.into_iter().flat_map(|(session, parent)| [session, parent]).flatten();
        self.of_session.extend(names.map(|name| (name, last)));
        (self.state, self.last, self.ends) = (Some(state), last, ends);
        Ok(())
    }
}

fn end_of(added: &Added, database: &Database) -> Result<[i64; 3], Failure> {
    let mut end = [0; 3];
    database.each(&added.end, &[], &mut |row| {
        for (number, cell) in end.iter_mut().zip(&row) {
            *number = cell.int().unwrap_or(0);
        }
    })?;
    Ok(end)
}

/// When something was written, as the system's clock shows it, in ms.
fn moment(state: State) -> i64 {
    state.log.map_or(i64::MIN, |log| log.moment().0).max(state.base.moment().0)
}

#[cfg(test)]
#[cfg(feature = "sqlite")]
mod tests;
