//! Databases whose rows are sessions: opened for one look each, read in short statements, closed again.
//!
//! Invariant: nothing is created, written or checkpointed, and no lock is taken that keeps a writer from
//! anything. A connection that stayed would keep the writer's own last one from putting its log away, so
//! none stays; what has changed is seen by the state of the files.

#[cfg(feature = "sqlite")]
mod connection;
#[cfg(not(feature = "sqlite"))]
mod without;

use std::io;
use std::path::{Path, PathBuf};

use super::follow::is_absence;
use super::stamp::Stamp;

#[cfg(feature = "sqlite")]
pub use self::connection::Database;
#[cfg(not(feature = "sqlite"))]
pub use self::without::Database;

/// The first bytes of each SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// A whole number.
    Int(i64),
    /// Another number.
    Real(f64),
    /// A text, mostly UTF-8, or bytes.
    Bytes(Vec<u8>),
}

impl Cell {
    /// The whole number, if it is one.
    pub fn int(&self) -> Option<i64> {
        match self {
            Self::Int(n) => Some(*n),
            Self::Null | Self::Real(_) | Self::Bytes(_) => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Self::Null | Self::Int(_) | Self::Real(_) => None,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }
}

/// Why a database could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A writer keeps readers out just now.
    Busy,
    /// What lies there cannot be understood; says why.
    Damaged(String),
    /// It cannot be opened or read; says why.
    Unreadable(String),
    /// It is gone.
    Gone,
}

impl Trouble {
    /// Why the files of a database cannot be read.
    pub fn of(error: &io::Error) -> Self {
        if is_absence(error) { Self::Gone } else { Self::Unreadable(error.to_string()) }
    }

    /// What it is, in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Busy => "the database is busy".to_owned(),
            Self::Damaged(what) => format!("the database is damaged ({what})"),
            Self::Unreadable(what) => what.clone(),
            Self::Gone => "no such file".to_owned(),
        }
    }
}

impl From<Trouble> for io::Error {
    fn from(trouble: Trouble) -> Self {
        let kind = if trouble == Trouble::Gone { io::ErrorKind::NotFound } else { io::ErrorKind::Other };
        Self::new(kind, trouble.words())
    }
}

/// What tells one state of a database from another: the files that a writer changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The database itself.
    pub base: Stamp,
    /// Its log of changes, if there is one that is not empty.
    pub log: Option<Stamp>,
}

impl State {
    /// The state of a database now.
    pub fn of(path: &Path) -> io::Result<Self> {
        let base = Stamp::of(path)?;
        let log = Stamp::of(&beside(path, "-wal")).ok().filter(|stamp| stamp.len > 0);
        Ok(Self { base, log })
    }
}

/// Whether a file that begins so is a database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// A file that SQLite keeps beside a database. Links are followed, as SQLite does.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(ending);
    PathBuf::from(name)
}
