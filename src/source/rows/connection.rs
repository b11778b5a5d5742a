//! A database that is looked into without being touched.
//!
//! No lock is taken, so no writer ever waits for a reader, and none is kept from putting its log away. What is
//! read is looked at twice instead: if the database was changed meanwhile, the rows of a statement are thrown away and
//! asked for again, in a new look.
//!
//! SQLite is given the pages of the database and those of its log, opened here to be read, and has no other VFS:
//! nothing beside a database can be made, written or removed, on any system. Besides, it runs in a thread that can change no
//! file where the kernel knows such a thing.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::marks::Marks;
use super::reader::{Reader, Rows};
use super::{Cell, Failure};

/// How long a statement is tried while a writer comes between; then it is left for later.
const PATIENCE: Duration = Duration::from_millis(20);
/// It is tried so often at least, whatever it takes.
const TRIES: u32 = 4;
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(1);

/// An open database.
pub(crate) struct Database {
    path: PathBuf,
    look: RefCell<Look>,
    patience: Duration,
}

/// A state of the database, and who reads it.
struct Look {
    marks: Marks,
    reader: Reader,
}

impl Look {
    fn begin(path: &Path) -> Result<Self, Failure> {
        let marks = Marks::of(path)?;
        let reader = Reader::start(path, marks.has_log())?;
        Ok(Self { marks, reader })
    }
}

impl Database {
    /// Opens a database for a look.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        Self::open_patiently(path, PATIENCE)
    }

    /// Opens a database; it and every statement waits so long for a writer.
    pub(crate) fn open_patiently(path: &Path, patience: Duration) -> Result<Self, Failure> {
        let look = tried(patience, || Look::begin(path))?;
        Ok(Self {
            path: path.to_owned(),
            look: RefCell::new(look),
            patience,
        })
    }

    /// Whether nothing was committed since it was opened.
    pub(crate) fn is_current(&self) -> bool {
        Marks::of(&self.path).is_ok_and(|now| now == self.look.borrow().marks)
    }

    /// What is to be said of the files beside it. Reads all of them.
    pub(crate) fn anomaly(&self) -> Option<&'static str> {
        let is_broken = self.look.borrow().marks.has_broken_log();
        is_broken.then_some(
            "the log beside this database (-wal) is damaged; changes that were only in it are missing",
        )
    }

    /// The tables with their columns. Views are none: what they do is up to who made the database. Nor are
    /// virtual tables: their modules may be missing here (`vec0` of OpenClaw's memory).
    pub(crate) fn tables(&self) -> Result<Vec<(String, Vec<String>)>, Failure> {
        let mut tables: Vec<(String, Vec<String>)> = Vec::new();
        let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY t.rowid, c.cid";
        self.each(sql, &[], &mut |row| {
            let mut names = row.iter().filter_map(Cell::text);
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

    /// A number that changes with the tables, and when their rows were moved.
    pub(crate) fn schema(&self) -> Result<i64, Failure> {
        Ok(self
            .value("PRAGMA schema_version", &[])?
            .and_then(|cell| cell.int())
            .unwrap_or(0))
    }

    /// Runs a query. Its rows are all of one state of the database.
    pub(crate) fn each(
        &self,
        sql: &str,
        parameters: &[Cell],
        each: &mut dyn FnMut(Vec<Cell>),
    ) -> Result<(), Failure> {
        let answers = self.ask(&mut std::iter::once((sql, parameters.to_vec())))?;
        for rows in answers {
            rows?.into_iter().for_each(&mut *each);
        }
        Ok(())
    }

    /// The first values of queries that may fail one by one: of the first of them, and of more as long as they are
    /// small. All are of one state of the database.
    pub(crate) fn values(
        &self,
        questions: &mut dyn Iterator<Item = (&str, Vec<Cell>)>,
    ) -> Result<Vec<Result<Option<Cell>, Failure>>, Failure> {
        let first = |rows: Vec<Vec<Cell>>| rows.into_iter().flatten().next();
        Ok(self
            .ask(questions)?
            .into_iter()
            .map(|rows| rows.map(first))
            .collect())
    }

    fn ask(
        &self,
        questions: &mut dyn Iterator<Item = (&str, Vec<Cell>)>,
    ) -> Result<Vec<Result<Rows, Failure>>, Failure> {
        let questions: Vec<_> = questions
            .map(|(sql, parameters)| (sql.to_owned(), parameters))
            .collect();
        let mut look = self.look.borrow_mut();
        let mut is_first = true;
        tried(self.patience, || {
            if !std::mem::take(&mut is_first) {
                *look = Look::begin(&self.path)?;
            }
            let answers = look.reader.ask(questions.clone());
            if look.marks.hold() {
                Ok(answers)
            } else {
                Err(Failure::Busy)
            }
        })
    }

    /// The first value of a query.
    pub(crate) fn value(&self, sql: &str, parameters: &[Cell]) -> Result<Option<Cell>, Failure> {
        let mut first = None;
        self.each(sql, parameters, &mut |row| {
            first = first.take().or_else(|| row.into_iter().next());
        })?;
        Ok(first)
    }
}

/// Tries again for a while if a writer came between.
fn tried<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let begun = Instant::now();
    let mut tries = 1;
    loop {
        match attempt() {
            Err(Failure::Busy) if tries < TRIES || begun.elapsed() < patience => {}
            // It may have been finished between two questions; else waiting is of no use.
            Err(Failure::Unfinished) if tries < TRIES => {}
            done => return done,
        }
        std::thread::sleep(PAUSE);
        tries += 1;
    }
}
