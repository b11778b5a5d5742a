//! One state of a database as one file: its pages, replaced by those in its write-ahead log.
//!
//! Where a writer interferes again and again, the whole state is copied first, which is faster than
//! a query.
//!
//! Invariant: both files are opened for reading, and SQLite opens none itself.

use std::io;
use std::path::Path;

use super::log::Changes;
use super::sidecar;
use crate::source::fs::File;
use crate::source::read::read_at;
use crate::source::regular;

/// Largest database that is copied, in bytes: a copy takes memory, and the time in which a writer
/// makes a few changes.
const LARGEST_COPY: u64 = 64 << 20;

pub(crate) enum DatabaseImage {
    Files {
        base: File,
        /// The log beside it, if it holds a committed change.
        log: Option<(File, Changes)>,
    },
    Copy(Vec<u8>),
}

impl DatabaseImage {
    /// Opens a database with the committed changes in its log.
    pub(crate) fn open(path: &Path, has_log: bool) -> io::Result<Self> {
        // The log first: what is checkpointed from now on was in it.
        let log = || {
            let file = regular::open_current(&sidecar(path, "-wal")).ok()?;
            let changes = Changes::of(&file)?;
            Some((file, changes))
        };
        let log = has_log.then(log).flatten();
        Ok(Self::Files {
            base: regular::open_current(path)?,
            log,
        })
    }

    /// The same state in memory, unless it is too large: it does not change however fast somebody
    /// writes.
    pub(crate) fn copied(self) -> io::Result<Self> {
        let len = self.len()?;
        let Some(len) = usize::try_from(len).ok().filter(|_| len <= LARGEST_COPY) else {
            return Ok(self);
        };
        let mut bytes = vec![0; len];
        let read = self.read(&mut bytes, 0)?;
        bytes.truncate(read);
        Ok(Self::Copy(bytes))
    }

    /// Whether later writes cannot be seen in it.
    pub(crate) fn is_copy(&self) -> bool {
        matches!(self, Self::Copy(_))
    }

    /// Length in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        match self {
            Self::Files {
                log: Some((_, changes)),
                ..
            } => Ok(u64::from(changes.pages) * changes.page as u64),
            Self::Files { base, log: None } => Ok(base.metadata()?.len),
            Self::Copy(bytes) => Ok(bytes.len() as u64),
        }
    }

    /// Reads at an offset until the buffer is full or the database ends. Returns how many bytes it
    /// read.
    pub(crate) fn read(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let (base, log, changes) = match self {
            Self::Files {
                base,
                log: Some((log, changes)),
            } => (base, log, changes),
            Self::Files { base, log: None } => return read_at(base, buffer, at),
            Self::Copy(bytes) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                let rest = bytes.get(at..).unwrap_or_default();
                let len = rest.len().min(buffer.len());
                let (rest, room) = (rest.get(..len), buffer.get_mut(..len));
                if let (Some(rest), Some(room)) = (rest, room) {
                    room.copy_from_slice(rest);
                }
                return Ok(len);
            }
        };
        let left = usize::try_from(self.len()?.saturating_sub(at)).unwrap_or(usize::MAX);
        let all = buffer.len().min(left);
        let mut rest = buffer.get_mut(..all).unwrap_or_default();
        let mut at = at;
        while !rest.is_empty() {
            let (number, within) = (at / changes.page as u64, at % changes.page as u64);
            let len = changes
                .page
                .saturating_sub(usize::try_from(within).unwrap_or(0))
                .min(rest.len());
            let (piece, others) = std::mem::take(&mut rest).split_at_mut(len);
            let read = match u32::try_from(number + 1)
                .ok()
                .and_then(|number| changes.newest.get(&number))
            {
                Some(start) => read_at(log, piece, start + within)?,
                None => read_at(base, piece, at)?,
            };
            piece.get_mut(read..).unwrap_or_default().fill(0);
            rest = others;
            at += len as u64;
        }
        Ok(all)
    }
}
