//! Reads a database without touching it.
//!
//! No lock is taken, so no writer ever waits for tv or is kept from truncating its log. Instead the
//! state is checked before and after: if the database was changed in between, the rows of a
//! statement are discarded and read again, after some tries from a copy, which nobody changes.
//!
//! SQLite gets the pages of the database and of its log from files that are opened here for
//! reading, and has no other VFS: nothing beside a database can be created, written or removed, on
//! any system. In addition, SQLite runs on a thread that the kernel, where it can, keeps from
//! changing files.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::image::DatabaseImage;
use super::marks::DatabaseMarks;
use super::reader::{ResultRows, RowReader};
use super::{DatabaseFailure, SqlValue};

/// How long a statement is retried while a writer interferes; then it fails as busy.
const PATIENCE: Duration = Duration::from_millis(20);
/// Least number of tries, however long they take.
const TRIES: u32 = 4;
/// Pause between two tries, doubled each time up to the limit.
const PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// After so many tries the database is copied if it is small enough: copying is faster than querying.
const TRIES_IN_PLACE: u32 = 2;

pub(crate) struct Database {
    path: PathBuf,
    state: RefCell<OpenState>,
    patience: Duration,
}

/// A state of the database, with the thread that reads it.
struct OpenState {
    marks: DatabaseMarks,
    /// Whether later writes cannot be seen in it.
    is_copy: bool,
    reader: RowReader,
}

impl OpenState {
    /// Starts reading the database as it is now.
    fn begin(path: &Path, tries: u32) -> Result<Self, DatabaseFailure> {
        let unreadable = |error| DatabaseFailure::of(&error);
        let marks = DatabaseMarks::of(path)?;
        let mut image = DatabaseImage::open(path, marks.has_log()).map_err(unreadable)?;
        if tries > TRIES_IN_PLACE {
            image = image.copied().map_err(unreadable)?;
        }
        let is_copy = image.is_copy();
        if is_copy && !marks.is_consistent() {
            return Err(DatabaseFailure::Busy);
        }
        Ok(Self {
            marks,
            is_copy,
            reader: RowReader::start(image)?,
        })
    }

    /// Whether everything read so far belongs to one state.
    fn is_consistent(&self) -> bool {
        self.is_copy || self.marks.is_consistent()
    }
}

impl Database {
    pub(crate) fn open(path: &Path) -> Result<Self, DatabaseFailure> {
        Self::open_patiently(path, PATIENCE)
    }

    /// Opens a database; this and every statement waits up to `patience` for a writer.
    pub(crate) fn open_patiently(path: &Path, patience: Duration) -> Result<Self, DatabaseFailure> {
        let look = tried(patience, |tries| OpenState::begin(path, tries))?;
        Ok(Self {
            path: path.to_owned(),
            state: RefCell::new(look),
            patience,
        })
    }

    /// Whether nothing was committed since it was opened.
    pub(crate) fn is_current(&self) -> bool {
        DatabaseMarks::of(&self.path).is_ok_and(|now| now == self.state.borrow().marks)
    }

    /// What is wrong with the files beside it. Reads all of them.
    pub(crate) fn anomaly(&self) -> Option<&'static str> {
        let is_broken = self.state.borrow().marks.has_broken_log();
        is_broken.then_some(
            "the log beside this database (-wal) is damaged; changes that were only in it are missing",
        )
    }

    /// The tables with their columns. Views are left out, because the maker of the database decides what they do, and
    /// virtual tables, because their modules may be missing here (`vec0` of OpenClaw's memory).
    pub(crate) fn tables(&self) -> Result<Vec<(String, Vec<String>)>, DatabaseFailure> {
        let mut tables: Vec<(String, Vec<String>)> = Vec::new();
        let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY t.rowid, c.cid";
        self.each(sql, &[], &mut |row| {
            let mut names = row.iter().filter_map(SqlValue::text);
            let (Some(table), Some(column)) = (names.next(), names.next()) else {
                return;
            };
            match tables.last_mut() {
                Some((last, columns)) if *last == table => columns.push(column),
                _ => tables.push((table, vec![column])),
            }
        })?;
        Ok(tables)
    }

    /// A number that changes with the schema, and when rows were moved.
    pub(crate) fn schema(&self) -> Result<i64, DatabaseFailure> {
        Ok(self
            .value("PRAGMA schema_version", &[])?
            .and_then(|cell| cell.int())
            .unwrap_or(0))
    }

    /// Runs a query. All rows belong to one state of the database.
    pub(crate) fn each(
        &self,
        sql: &str,
        parameters: &[SqlValue],
        each: &mut dyn FnMut(Vec<SqlValue>),
    ) -> Result<(), DatabaseFailure> {
        let answers = self.query(&mut std::iter::once((sql, parameters.to_vec())))?;
        for rows in answers {
            rows?.into_iter().for_each(&mut *each);
        }
        Ok(())
    }

    /// The first value of each query; a query may fail by itself. The first query is always
    /// answered, the others as long as the answers stay small. All belong to one state.
    pub(crate) fn values(
        &self,
        questions: &mut dyn Iterator<Item = (&str, Vec<SqlValue>)>,
    ) -> Result<Vec<Result<Option<SqlValue>, DatabaseFailure>>, DatabaseFailure> {
        let first = |rows: Vec<Vec<SqlValue>>| rows.into_iter().flatten().next();
        Ok(self
            .query(questions)?
            .into_iter()
            .map(|rows| rows.map(first))
            .collect())
    }

    fn query(
        &self,
        questions: &mut dyn Iterator<Item = (&str, Vec<SqlValue>)>,
    ) -> Result<Vec<Result<ResultRows, DatabaseFailure>>, DatabaseFailure> {
        let questions: Vec<_> = questions
            .map(|(sql, parameters)| (sql.to_owned(), parameters))
            .collect();
        let mut look = self.state.borrow_mut();
        tried(self.patience, |tries| {
            if tries > 1 {
                *look = OpenState::begin(&self.path, tries)?;
            }
            let answers = look.reader.query(questions.clone());
            if look.is_consistent() {
                Ok(answers)
            } else {
                Err(DatabaseFailure::Busy)
            }
        })
    }

    /// The first value of a query.
    pub(crate) fn value(
        &self,
        sql: &str,
        parameters: &[SqlValue],
    ) -> Result<Option<SqlValue>, DatabaseFailure> {
        let mut first = None;
        self.each(sql, parameters, &mut |row| {
            first = first.take().or_else(|| row.into_iter().next());
        })?;
        Ok(first)
    }
}

/// Retries for a while if a writer interferes.
fn tried<T>(
    patience: Duration,
    mut attempt: impl FnMut(u32) -> Result<T, DatabaseFailure>,
) -> Result<T, DatabaseFailure> {
    let begun = Instant::now();
    let (mut tries, mut pause) = (1, PAUSE);
    loop {
        match attempt(tries) {
            Err(DatabaseFailure::Busy) if tries < TRIES || begun.elapsed() < patience => {}
            // The change may have been finished between two statements; else waiting is of no use.
            Err(DatabaseFailure::Unfinished) if tries < TRIES => {}
            done => return done,
        }
        std::thread::sleep(pause);
        tries += 1;
        // A copy takes little time: it is tried at once between two changes, and seldom beside a
        // change that takes long.
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use rusqlite::Connection;

    use super::{Database, DatabaseFailure};

    /// Commits every few ms, and moves its log into the database each time: because it is closed, or as it was told to.
    fn write(path: &Path, is_closed: bool, is_over: &AtomicBool) {
        let open = || {
            let writer = Connection::open(path).unwrap();
            writer
                .execute_batch("PRAGMA wal_autocheckpoint = 1;")
                .unwrap();
            writer
        };
        let mut writer = open();
        while !is_over.load(Ordering::Relaxed) {
            writer
                .execute_batch(
                    "BEGIN; UPDATE t SET n = n + 1; INSERT INTO s VALUES (zeroblob(900)); COMMIT;",
                )
                .unwrap();
            thread::sleep(Duration::from_millis(2));
            if is_closed {
                drop(writer);
                writer = open();
            }
        }
    }

    /// The least and the greatest of numbers that are the same in each state.
    fn ends(database: &Database) -> Result<(i64, i64), DatabaseFailure> {
        let mut found = (0, 0);
        let sql = "SELECT min(n), max(n) FROM t";
        database.each(sql, &[], &mut |row| {
            let mut numbers = row.iter().filter_map(super::SqlValue::int);
            found = numbers.next().zip(numbers.next()).unwrap_or_default();
        })?;
        Ok(found)
    }

    #[test]
    fn beside_a_writer_that_never_rests_each_question_is_answered_from_one_state() {
        for is_closed in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("busy.db");
            let writer = Connection::open(&path).unwrap();
            writer
                .execute_batch(
                    "PRAGMA journal_mode = wal; CREATE TABLE t (n, x); CREATE TABLE s (x);
                     WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 400)
                     INSERT INTO t SELECT 0, zeroblob(900) FROM c;",
                )
                .unwrap();
            drop(writer);
            let is_over = AtomicBool::new(false);
            let mut states = Vec::new();
            let read = thread::scope(|scope| {
                scope.spawn(|| write(&path, is_closed, &is_over));
                let read = (0..20).try_for_each(|_| {
                    let database = Database::open_patiently(&path, Duration::from_secs(1))?;
                    let four = [(); 4].map(|()| ends(&database));
                    states.extend(
                        four.into_iter()
                            .collect::<Result<Vec<_>, DatabaseFailure>>()?,
                    );
                    Ok::<_, DatabaseFailure>(())
                });
                is_over.store(true, Ordering::Relaxed);
                read
            });
            assert_eq!(read, Ok(()), "{is_closed}");
            assert!(states.iter().all(|(least, greatest)| least == greatest));
            assert!(states.is_sorted() && states.last().is_some_and(|(least, _)| *least > 0));
        }
    }
}
