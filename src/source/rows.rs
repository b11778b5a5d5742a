//! Databases whose rows are sessions: opened for one reading, queried in short statements, closed
//! again. Which rows are read is decided in `ingest::rows`.
//!
//! Invariant: nothing is created, written or checkpointed, and no lock is taken. A change is seen
//! by the stamps of the files, and what changes while it is read is read again.

#[cfg(feature = "sqlite")]
mod connection;
#[cfg(all(feature = "sqlite", target_os = "linux"))]
mod guard;
#[cfg(feature = "sqlite")]
mod image;
#[cfg(feature = "sqlite")]
mod log;
#[cfg(feature = "sqlite")]
mod marks;
#[cfg(feature = "sqlite")]
mod reader;
#[cfg(feature = "sqlite")]
mod vfs;
#[cfg(not(feature = "sqlite"))]
mod without;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::follow::{is_absence, why_unread};
use super::fs::{self, Metadata};

#[cfg(feature = "sqlite")]
pub(crate) use self::connection::Database;
#[cfg(not(feature = "sqlite"))]
pub(crate) use self::without::Database;

/// Refuses to this thread, and to those that it starts, to change files; where the kernel can do so.
pub(super) fn refuse_to_write() {
    #[cfg(all(feature = "sqlite", target_os = "linux"))]
    guard::bind_this_thread();
}

/// The first bytes of each SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// A value of a row as it is stored, which can be a parameter of the next query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SqlValue {
    Null,
    Int(i64),
    Real(f64),
    /// Mostly UTF-8.
    Text(Vec<u8>),
    #[cfg_attr(
        not(feature = "sqlite"),
        expect(dead_code, reason = "only databases hold such values")
    )]
    Blob(Vec<u8>),
}

impl SqlValue {
    /// Sorts before every number.
    pub(crate) const FIRST: Self = Self::Real(f64::NEG_INFINITY);

    /// The value of an integer.
    pub(crate) fn int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            Self::Null | Self::Real(_) | Self::Text(_) | Self::Blob(_) => None,
        }
    }

    /// The value of a text, with invalid UTF-8 replaced: such a value finds nothing in a query.
    pub(crate) fn text(&self) -> Option<String> {
        self.bytes()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The bytes of a text or a blob.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Text(bytes) | Self::Blob(bytes) => Some(bytes),
            Self::Null | Self::Int(_) | Self::Real(_) => None,
        }
    }

    /// The bytes of a record: as stored, numbers in decimal.
    pub(crate) fn content(self) -> Vec<u8> {
        match self {
            Self::Text(bytes) | Self::Blob(bytes) => bytes,
            Self::Null => Vec::new(),
            Self::Int(n) => n.to_string().into_bytes(),
            Self::Real(n) => n.to_string().into_bytes(),
        }
    }

    /// The order of values in SQLite: null, numbers, texts, blobs.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let rank = |cell: &Self| match cell {
            Self::Null => 0,
            Self::Int(_) | Self::Real(_) => 1,
            Self::Text(_) => 2,
            Self::Blob(_) => 3,
        };
        let number = |cell: &Self| match cell {
            Self::Int(n) => *n as f64,
            Self::Real(n) => *n,
            Self::Null | Self::Text(_) | Self::Blob(_) => 0.0,
        };
        let numbers = match (self, other) {
            (Self::Int(one), Self::Int(other)) => one.cmp(other),
            _ => number(self).total_cmp(&number(other)),
        };
        rank(self)
            .cmp(&rank(other))
            .then(numbers)
            .then_with(|| self.bytes().cmp(&other.bytes()))
    }
}

impl From<&str> for SqlValue {
    fn from(text: &str) -> Self {
        Self::Text(text.as_bytes().to_vec())
    }
}

/// Why a database could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabaseFailure {
    /// A writer is changing it now.
    Busy,
    /// A change was begun, and no process is left to end it.
    Unfinished,
    /// Its content is damaged; says how.
    Damaged(String),
    /// It cannot be opened or read; says why.
    Unreadable(String),
    /// The file does not exist any more.
    Deleted,
}

impl DatabaseFailure {
    /// The failure for an error of the file system.
    pub(crate) fn of(error: &io::Error) -> Self {
        match error.kind() {
            _ if is_absence(error) => Self::Deleted,
            _ => Self::Unreadable(why_unread(error)),
        }
    }

    /// The failure in a few words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Busy => "the database is busy".to_owned(),
            Self::Unfinished => {
                "a change to the database was not finished (its -journal is still there); its agent can undo it"
                    .to_owned()
            }
            Self::Damaged(what) => format!("the database is damaged ({what})"),
            Self::Unreadable(what) => what.clone(),
            Self::Deleted => "no such file".to_owned(),
        }
    }
}

impl From<DatabaseFailure> for io::Error {
    fn from(failure: DatabaseFailure) -> Self {
        let kind = match failure {
            DatabaseFailure::Deleted => io::ErrorKind::NotFound,
            DatabaseFailure::Busy => io::ErrorKind::ResourceBusy,
            DatabaseFailure::Unfinished
            | DatabaseFailure::Damaged(_)
            | DatabaseFailure::Unreadable(_) => io::ErrorKind::Other,
        };
        Self::new(kind, failure.words())
    }
}

/// Distinguishes states of a database by the files that a writer changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseState {
    pub(crate) base: Metadata,
    /// The write-ahead log, if there is one that is not empty.
    pub(crate) log: Option<Metadata>,
}

impl DatabaseState {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let base = fs::metadata(path)?;
        let log = fs::metadata(&sidecar(path, "-wal"))
            .ok()
            .filter(|stamp| stamp.len > 0);
        Ok(Self { base, log })
    }
}

/// Whether a file with this beginning is a database.
pub(crate) fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// The database that a file belongs to: the file itself, unless it is a log.
pub(crate) fn written_with(path: &Path) -> Cow<'_, Path> {
    match path.as_os_str().as_encoded_bytes().strip_suffix(b"-wal") {
        Some(base) => Cow::Owned(PathBuf::from(OsString::from_vec(base.to_vec()))),
        None => Cow::Borrowed(path),
    }
}

/// A file that SQLite keeps beside a database. Links are followed, as SQLite does.
fn sidecar(path: &Path, ending: &str) -> PathBuf {
    let mut name = fs::canonicalize(path)
        .unwrap_or_else(|_| path.to_owned())
        .into_os_string();
    name.push(ending);
    PathBuf::from(name)
}
