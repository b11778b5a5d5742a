//! How a reader without locks sees that a database was changed.
//!
//! A write-ahead log may grow: the reader knows how far it read. In a checkpoint, though, its
//! content moves into the database, whose pages then differ from those that the reader began with.
//! The index beside the log says how far a checkpoint goes, before it goes there: a reader that
//! began with more of the log has read valid pages. Without a log a change shows in the change
//! counter of the database, and a running one in the locks of its writer and in its journal.

use std::io;
use std::path::{Path, PathBuf};

use super::log::{HEADER, Header, first_lost};
use super::{DatabaseFailure, sidecar};
use crate::source::fs::{self, File, Metadata};
use crate::source::read::read_range;
use crate::source::regular;

/// Offset and length of the change counter in the database.
const COUNTER: (u64, usize) = (24, 16);
/// Length of the header of the log's index: size, frames, salts, frames being checkpointed.
const INDEX: usize = 136;
const WRITTEN: usize = 16;
const SALTS: usize = 32;
const MOVED: usize = 128;
/// Bytes that a writer locks: one while it prepares a change, many while it makes it.
const RESERVED: (u64, u64) = (0x4000_0001, 1);
const SHARED: (u64, u64) = (0x4000_0002, 510);

/// The state of a database when a reader began.
#[derive(PartialEq, Eq)]
pub struct DatabaseMarks {
    path: PathBuf,
    base: Metadata,
    counter: Vec<u8>,
    log: Option<Log>,
}

#[derive(PartialEq, Eq)]
struct Log {
    stamp: Metadata,
    header: Vec<u8>,
    index: Option<LogIndex>,
}

#[derive(PartialEq, Eq)]
struct LogIndex {
    salts: [u8; 8],
    written: u32,
    moved: u32,
}

impl DatabaseMarks {
    /// The state now, if no change is being made.
    pub(crate) fn of(path: &Path) -> Result<Self, DatabaseFailure> {
        let unreadable = |error: io::Error| DatabaseFailure::of(&error);
        // The log first: what is checkpointed from now on was in it.
        let log = Log::of(path);
        let file = regular::open_current(path).map_err(unreadable)?;
        let base = file.metadata().map_err(unreadable)?;
        let counter = counter(&file).map_err(unreadable)?;
        if log.is_none() {
            check_no_writer(&file, path)?;
        }
        Ok(Self {
            path: path.to_owned(),
            base,
            counter,
            log,
        })
    }

    /// Whether everything read since belongs to one state.
    pub(crate) fn is_consistent(&self) -> bool {
        let log = Log::of(&self.path);
        match (&self.log, &log) {
            (None, None) => self.is_unchanged().unwrap_or(false),
            (Some(before), Some(now))
                if before.stamp.is_same_file(&now.stamp) && before.header == now.header =>
            {
                match (&before.index, &now.index) {
                    (Some(before), Some(now)) => {
                        before.salts == now.salts && now.moved <= before.written.max(before.moved)
                    }
                    (None, None) => self.is_unwritten(),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether there are changes in a log.
    pub(crate) fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Whether there is a log that SQLite does not accept, or not all of it.
    pub(crate) fn has_broken_log(&self) -> bool {
        self.log
            .as_ref()
            .is_some_and(|log| log.is_broken(&sidecar(&self.path, "-wal")))
    }

    fn is_unwritten(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|now| now == self.base)
    }

    fn is_unchanged(&self) -> Result<bool, DatabaseFailure> {
        let file =
            regular::open_current(&self.path).map_err(|error| DatabaseFailure::of(&error))?;
        // A writer that is not seen here has increased the counter.
        check_no_writer(&file, &self.path)?;
        Ok(self.is_unwritten() && counter(&file).is_ok_and(|now| now == self.counter))
    }
}

impl Log {
    fn of(base: &Path) -> Option<Self> {
        let path = sidecar(base, "-wal");
        fs::metadata(&path).ok().filter(|stamp| stamp.len > 0)?;
        // The index is read before the log: what it counts is in the log.
        let index = LogIndex::of(&sidecar(base, "-shm"));
        let file = regular::open_current(&path).ok()?;
        let stamp = file.metadata().ok().filter(|stamp| stamp.len > 0)?;
        Some(Self {
            stamp,
            header: read_range(&file, 0, HEADER).ok()?,
            index,
        })
    }

    fn is_broken(&self, path: &Path) -> bool {
        let Some(header) = Header::of(&self.header) else {
            return true;
        };
        let index = self
            .index
            .as_ref()
            .filter(|index| header.has_salts(index.salts));
        let frames = index.map_or(0, |index| u64::from(index.written));
        let lost = || first_lost(&regular::open_current(path).ok()?);
        // A frame that was being written is valid the second time.
        self.stamp.len < HEADER as u64 + frames * header.frame as u64
            || lost().is_some_and(|number| lost() == Some(number))
    }
}

impl LogIndex {
    fn of(path: &Path) -> Option<Self> {
        let bytes = read_range(&regular::open_current(path).ok()?, 0, INDEX).ok()?;
        let word = |at: usize| {
            let word = bytes.get(at..at + 4).and_then(|word| word.try_into().ok());
            word.map_or(0, u32::from_ne_bytes)
        };
        let salts = bytes
            .get(SALTS..SALTS + 8)
            .and_then(|salts| salts.try_into().ok())
            .unwrap_or_default();
        Some(Self {
            salts,
            written: word(WRITTEN),
            moved: word(MOVED),
        })
    }
}

fn counter(file: &File) -> io::Result<Vec<u8>> {
    read_range(file, COUNTER.0, COUNTER.1)
}

/// Fails if a change is being made to the pages of a database without a log.
fn check_no_writer(file: &File, base: &Path) -> Result<(), DatabaseFailure> {
    if is_locked(file, SHARED) {
        return Err(DatabaseFailure::Busy);
    }
    let journal = sidecar(base, "-journal");
    let first = fs::metadata(&journal)
        .ok()
        .filter(|stamp| stamp.len > 0)
        .and_then(|_| read_range(&regular::open_current(&journal).ok()?, 0, 1).ok());
    match first.as_deref() {
        // A journal that is no longer used is deleted, cut, or begins with zeros.
        None | Some([] | [0]) => Ok(()),
        // It has saved the pages that it will change, and has not begun.
        Some(_) if is_locked(file, RESERVED) => Ok(()),
        Some(_) => Err(DatabaseFailure::Unfinished),
    }
}

/// Whether another process holds a lock on these bytes. It does not notice the query.
fn is_locked(file: &File, (start, length): (u64, u64)) -> bool {
    file.is_locked(start, length)
}
