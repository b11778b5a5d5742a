//! One connection to a SQLite database, read-only in the way that the files beside it allow.
//!
//! A reader may not create `-wal` or `-shm`, and must see what is in the log:
//!
//! | beside it | opened with | because |
//! | --- | --- | --- |
//! | no log | `immutable=1` | else SQLite would create both; the state of the file is looked at each time |
//! | log and index | `readonly_shm=1` | shared locks alone; if its writer crashed, SQLite reads the log itself |
//! | log without index | no locks, index in memory | a copy of a live database, or one whose writer crashed |
//!
//! A database without a log of this kind (journal mode `delete`) is opened with `mode=ro`, which creates
//! nothing there and is kept out while its writer commits.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, ToSql};

use super::{Cell, State, Trouble, beside};
use crate::source::regular;
use crate::source::stamp::read_range;

/// How long a statement waits for a writer; then it is tried again later.
const PATIENCE: Duration = Duration::from_millis(20);
/// Where the header says whether changes go to a log (2) or to a journal (1).
const JOURNAL_MODE: (u64, u8) = (18, 2);

/// How a database is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Still,
    Shared,
    Alone,
    Journal,
}

impl Mode {
    fn of(path: &Path) -> Result<Self, Trouble> {
        let unreadable = |error: std::io::Error| Trouble::of(&error);
        let state = State::of(path).map_err(unreadable)?;
        let (at, logged) = JOURNAL_MODE;
        // Closing the file lets go of what another connection of this process has locked. A log needs no
        // such locks; without one that connection looks again.
        let file = regular::open(path).map_err(unreadable)?;
        if read_range(&file, at, 1).map_err(unreadable)?.first() != Some(&logged) {
            return Ok(Self::Journal);
        }
        Ok(match state.log {
            None => Self::Still,
            Some(_) if beside(path, "-shm").exists() => Self::Shared,
            Some(_) => Self::Alone,
        })
    }

    fn query(self) -> &'static str {
        match self {
            Self::Still => "mode=ro&immutable=1",
            Self::Shared => "mode=ro&readonly_shm=1",
            Self::Alone => "mode=ro&vfs=unix-none",
            Self::Journal => "mode=ro",
        }
    }
}

/// An open database.
pub struct Database {
    connection: Connection,
    mode: Mode,
}

impl Database {
    /// Opens a database for a look.
    pub fn open(path: &Path) -> Result<Self, Trouble> {
        let mode = Mode::of(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let connection = Connection::open_with_flags(uri(path, mode), flags).map_err(|e| trouble(&e))?;
        let database = Self { connection, mode };
        database.restrict().map_err(|error| trouble(&error))?;
        Ok(database)
    }

    /// Whether it may stay open between looks: nobody can notice it.
    pub fn may_stay(&self) -> bool {
        self.mode == Mode::Still
    }

    /// The tables with their columns. Views are none: what they do is up to who made the database. Nor are
    /// virtual tables: their modules may be missing here (`vec0` of OpenClaw's memory).
    pub fn tables(&self) -> Result<Vec<(String, Vec<String>)>, Trouble> {
        let mut tables: Vec<(String, Vec<String>)> = Vec::new();
        let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c \
                   WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY t.rowid, c.cid";
        self.each(sql, &[], &mut |row| {
            let mut names = row.iter().filter_map(Cell::text);
            let (Some(table), Some(column)) = (names.next(), names.next()) else { return };
            match tables.last_mut() {
                Some((last, columns)) if *last == table => columns.push(column),
                _ => tables.push((table, vec![column])),
            }
        })?;
        Ok(tables)
    }

    /// A number that changes with the tables, and when their rows were moved.
    pub fn schema(&self) -> Result<i64, Trouble> {
        Ok(self.value("PRAGMA schema_version", &[])?.and_then(|cell| cell.int()).unwrap_or(0))
    }

    /// Runs a query.
    pub fn each(
        &self,
        sql: &str,
        parameters: &[Cell],
        each: &mut dyn FnMut(Vec<Cell>),
    ) -> Result<(), Trouble> {
        let mut statement = self.connection.prepare_cached(sql).map_err(|error| trouble(&error))?;
        let mut run = || -> rusqlite::Result<()> {
            let columns = statement.column_count();
            let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
            while let Some(row) = rows.next()? {
                let cells = (0..columns).map(|column| row.get_ref(column).map(cell));
                each(cells.collect::<rusqlite::Result<_>>()?);
            }
            Ok(())
        };
        run().map_err(|error| match error.sqlite_error_code() {
            // The statement is sound, so it is a value: JSON holds no bytes, and no text is endless.
            Some(ErrorCode::Unknown | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
                Trouble::Damaged(words(&error))
            }
            _ => trouble(&error),
        })
    }

    /// The first value of a query.
    pub fn value(&self, sql: &str, parameters: &[Cell]) -> Result<Option<Cell>, Trouble> {
        let mut first = None;
        self.each(sql, parameters, &mut |row| {
            first = first.take().or_else(|| row.into_iter().next());
        })?;
        Ok(first)
    }

    /// The database is another's and may be hostile.
    fn restrict(&self) -> rusqlite::Result<()> {
        let connection = &self.connection;
        connection.busy_timeout(PATIENCE)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        // Closing would try for the lock that a checkpoint needs.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        if self.mode == Mode::Alone {
            // Before anything is read: keeps the index of the log in memory. There are no locks, so it
            // excludes nobody.
            connection.pragma_update(None, "locking_mode", "exclusive")?;
        }
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "cache_size", -4096)?;
        Ok(())
    }
}

/// The path as a URI, so that nothing in it is taken for a parameter.
fn uri(path: &Path, mode: Mode) -> String {
    use std::os::unix::ffi::OsStrExt;
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = "file://".to_owned();
    for byte in absolute.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    format!("{uri}?{}", mode.query())
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(n) => Cell::Int(n),
        ValueRef::Real(n) => Cell::Real(n),
        ValueRef::Text(bytes) => Cell::Text(bytes.to_vec()),
        ValueRef::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Owned(Value::Null),
            Self::Int(n) => ToSqlOutput::Owned(Value::Integer(*n)),
            Self::Real(n) => ToSqlOutput::Owned(Value::Real(*n)),
            Self::Text(bytes) => ToSqlOutput::Borrowed(ValueRef::Text(bytes)),
            Self::Blob(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}

fn words(error: &Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    }
}

fn trouble(error: &Error) -> Trouble {
    let what = words(error);
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            Trouble::Busy
        }
        Some(ErrorCode::DatabaseCorrupt) => Trouble::Damaged(what),
        Some(ErrorCode::NotADatabase) => {
            Trouble::Unreadable("not a database, or only a piece of one".to_owned())
        }
        _ => Trouble::Unreadable(what),
    }
}
