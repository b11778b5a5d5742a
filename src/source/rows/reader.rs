//! SQLite on a thread of its own that can change no file.

use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, ToSql};

use super::image::DatabaseImage;
use super::{DatabaseFailure, SqlValue, vfs};

pub(crate) type ResultRows = Vec<Vec<SqlValue>>;

pub(crate) type SqlQuery = (String, Vec<SqlValue>);

/// Further queries asked at once are not answered after so many bytes.
const ENOUGH: usize = 1 << 20;

/// Answers queries about one state of a database.
pub struct RowReader {
    /// Dropped to end the thread.
    questions: Option<Sender<Vec<SqlQuery>>>,
    answers: Receiver<Vec<Result<ResultRows, DatabaseFailure>>>,
    thread: Option<JoinHandle<()>>,
}

impl RowReader {
    /// Starts the thread on an open database.
    pub(crate) fn start(image: DatabaseImage) -> Result<Self, DatabaseFailure> {
        let (questions, asked) = bounded(1);
        let (answer, answers) = bounded(1);
        let serve = move || serve(image, &asked, &answer);
        let thread = thread::Builder::new()
            .name("database".to_owned())
            .spawn(serve);
        let thread = thread.map_err(|error| DatabaseFailure::Unreadable(error.to_string()))?;
        Ok(Self {
            questions: Some(questions),
            answers,
            thread: Some(thread),
        })
    }

    /// The results of queries, of the first one at least.
    pub(crate) fn query(
        &self,
        questions: Vec<SqlQuery>,
    ) -> Vec<Result<ResultRows, DatabaseFailure>> {
        let asked = self
            .questions
            .as_ref()
            .is_some_and(|all| all.send(questions).is_ok());
        let answers = if asked {
            self.answers.recv().ok()
        } else {
            None
        };
        answers.unwrap_or_else(|| {
            vec![Err(DatabaseFailure::Unreadable(
                "its reader has ended".to_owned(),
            ))]
        })
    }
}

impl Drop for RowReader {
    fn drop(&mut self) {
        self.questions = None;
        // It has answered, so it ends at once; its files are closed then.
        let ended = self.thread.take().map(JoinHandle::join);
        drop(ended);
    }
}

fn serve(
    image: DatabaseImage,
    asked: &Receiver<Vec<SqlQuery>>,
    answer: &Sender<Vec<Result<ResultRows, DatabaseFailure>>>,
) {
    #[cfg(target_os = "linux")]
    super::guard::bind_this_thread();
    let connection = connect(image).map_err(|error| failure(&error));
    for questions in asked {
        let (mut answers, mut bytes) = (Vec::new(), 0);
        for (sql, parameters) in questions {
            let rows = match &connection {
                Ok(connection) => rows(connection, &sql, &parameters),
                Err(failure) => Err(failure.clone()),
            };
            bytes += rows
                .iter()
                .flatten()
                .flatten()
                .filter_map(SqlValue::bytes)
                .map(<[u8]>::len)
                .sum::<usize>();
            answers.push(rows);
            if bytes > ENOUGH {
                break;
            }
        }
        if answer.send(answers).is_err() {
            return;
        }
    }
}

/// The database is another program's and may be hostile.
fn connect(image: DatabaseImage) -> rusqlite::Result<Connection> {
    let connection = vfs::connect(image)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "cache_size", -4096)?;
    Ok(connection)
}

fn rows(
    connection: &Connection,
    sql: &str,
    parameters: &[SqlValue],
) -> Result<ResultRows, DatabaseFailure> {
    let mut statement = connection
        .prepare_cached(sql)
        .map_err(|error| failure(&error))?;
    let columns = statement.column_count();
    let mut run = || -> rusqlite::Result<ResultRows> {
        let mut all = Vec::new();
        let mut rows = statement.query(rusqlite::params_from_iter(parameters))?;
        while let Some(row) = rows.next()? {
            let cells = (0..columns).map(|column| row.get_ref(column).map(cell));
            all.push(cells.collect::<rusqlite::Result<_>>()?);
        }
        Ok(all)
    };
    run().map_err(|error| match error.sqlite_error_code() {
        // The statement is valid, so the value is the problem: JSON holds no bytes, and no text is
        // endless.
        Some(ErrorCode::Unknown | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
            DatabaseFailure::Damaged(words(&error))
        }
        _ => failure(&error),
    })
}

fn cell(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(n) => SqlValue::Int(n),
        ValueRef::Real(n) => SqlValue::Real(n),
        ValueRef::Text(bytes) => SqlValue::Text(bytes.to_vec()),
        ValueRef::Blob(bytes) => SqlValue::Blob(bytes.to_vec()),
    }
}

impl ToSql for SqlValue {
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

fn failure(error: &Error) -> DatabaseFailure {
    let what = words(error);
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::FileLockingProtocolFailed,
        ) => DatabaseFailure::Busy,
        Some(ErrorCode::DatabaseCorrupt) => DatabaseFailure::Damaged(what),
        Some(ErrorCode::NotADatabase) => {
            DatabaseFailure::Unreadable("not a database, or only a piece of one".to_owned())
        }
        _ => DatabaseFailure::Unreadable(what),
    }
}
