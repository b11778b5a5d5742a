//! A state of a database as one file: its pages, and in their place those that wait in its log.
//!
//! Invariant: both files are opened to be read. What SQLite asks for is answered from them, so that it opens none itself.

use std::fs::File;
use std::io;
use std::path::Path;

use super::beside;
use super::log::Changes;
use crate::source::regular;
use crate::source::stamp::{Stamp, read_at};

/// An open database.
pub(crate) struct Image {
    base: File,
    log: Option<(File, Changes)>,
}

impl Image {
    /// Opens a database, and the log beside it as far as its changes were completed.
    pub(crate) fn open(path: &Path, has_log: bool) -> io::Result<Self> {
        // The log first: what is moved from now on was in it.
        let log = || {
            let file = regular::open(&beside(path, "-wal")).ok()?;
            let changes = Changes::of(&file)?;
            Some((file, changes))
        };
        let log = has_log.then(log).flatten();
        Ok(Self {
            base: regular::open(path)?,
            log,
        })
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> io::Result<u64> {
        match &self.log {
            Some((_, changes)) => Ok(u64::from(changes.pages) * changes.page as u64),
            None => Ok(Stamp::of_file(&self.base)?.len),
        }
    }

    /// Reads at a position until the buffer is full or the database ends. Returns how many bytes it read.
    pub(crate) fn read(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let Some((log, changes)) = &self.log else {
            return read_at(&self.base, buffer, at);
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
                None => read_at(&self.base, piece, at)?,
            };
            piece.get_mut(read..).unwrap_or_default().fill(0);
            rest = others;
            at += len as u64;
        }
        Ok(all)
    }
}
