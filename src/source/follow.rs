//! Follows a growing file by name: what was appended, and whether it is still the same text.
//!
//! Identity is device and inode, the first bytes, and the bytes just before the offset read so far:
//! each alone is fooled by inode reuse, equal headers or truncation between two polls.
//!
//! Invariant: a descriptor is read to its end before a new file of the same name is begun.

mod failure;
mod identity;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::failure::FollowFailure;
use self::identity::FollowIdentity;
use super::fs::{self, File, Metadata};
use super::read::read_at;
use super::regular::Fence;

/// The result of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowChange {
    Quiet,
    /// There are bytes to read.
    Grown,
    /// It is another text now, to be read from 0; says what happened.
    Replaced(&'static str),
    /// It was cut to nothing, and nothing was written since.
    Emptied,
    /// It was deleted; the open file can still be read.
    Deleted,
    /// It was moved, to this path if that is known; it is still read there.
    Moved(Option<PathBuf>),
    /// It exists again, or can be read again.
    Back,
    /// It cannot be read; says why.
    Unreadable(String),
}

/// A file that was cut and stays empty for so long is reported as emptied.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads bytes of a file at an offset.
type ReadAt = fn(&File, &mut [u8], u64) -> io::Result<usize>;

#[derive(Debug)]
pub(crate) struct Follower {
    path: PathBuf,
    fence: Fence,
    file: Option<File>,
    read_at: ReadAt,
    stamp: Metadata,
    pub(crate) offset: u64,
    identity: FollowIdentity,
    /// Length of the replaced file whose descriptor is still being read.
    drain_to: Option<u64>,
    was_cut: bool,
    /// Since when it has been empty, and whether that was reported.
    empty: Option<(Instant, bool)>,
    absence: Option<Away>,
    failure: Option<FollowFailure>,
    /// Reading works again, which is still to be reported.
    is_healed: bool,
}

/// Why the path is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Away {
    Deleted,
    Moved,
}

impl Follower {
    /// Opens a file that must lie within the fence; reading begins at 0.
    pub(crate) fn open(path: &Path, fence: Fence) -> io::Result<Self> {
        let file = fence.open(path)?;
        let stamp = file.metadata()?;
        Ok(Self {
            path: path.to_owned(),
            fence,
            file: Some(file),
            read_at,
            stamp,
            offset: 0,
            identity: FollowIdentity::default(),
            drain_to: None,
            was_cut: false,
            empty: None,
            absence: None,
            failure: None,
            is_healed: false,
        })
    }

    /// Continues at another offset of the same text.
    pub(crate) fn seek(&mut self, at: u64) -> io::Result<()> {
        self.identity = FollowIdentity::of(self.descriptor()?)?;
        self.offset = at;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the followed file is at another path now.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|stamp| stamp.is_same_file(&self.stamp))
    }

    /// The length of the file at the last poll, where reading ends.
    pub(crate) fn len(&self) -> u64 {
        self.stamp.len
    }

    /// When to poll without an event: for a file that cannot be read, or that may stay empty.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        let empty = self.empty.filter(|(_, is_said)| !is_said);
        let said_at = empty.and_then(|(since, _)| since.checked_add(PATIENCE));
        self.failure
            .as_ref()
            .map(|failure| failure.retry)
            .into_iter()
            .chain(said_at)
            .min()
    }

    /// Closes the descriptor until there is something to read: for files beside the session.
    pub(crate) fn close(&mut self) {
        self.file = None;
    }

    /// Reads on, up to the length at the last poll: a file may grow faster than it is decoded, and what
    /// has no end is never applied. Returns how many bytes it read; 0 at the end.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.file.is_none() {
            self.file = Some(self.fence.open(&self.path)?);
        }
        let left = usize::try_from(self.len().saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        let buffer = buffer.get_mut(..room).unwrap_or_default();
        let read = (self.read_at)(self.descriptor()?, buffer, self.offset)?;
        self.is_healed |= self.failure.take_if(|failure| failure.in_reading).is_some();
        self.identity
            .record(buffer.get(..read).unwrap_or_default(), self.offset);
        self.offset += read as u64;
        Ok(read)
    }

    /// Checks the file. To be called until it returns [`FollowChange::Quiet`].
    pub(crate) fn poll(&mut self, now: Instant) -> FollowChange {
        let waiting = self.failure.as_ref().filter(|failure| now < failure.retry);
        if let Some(in_reading) = waiting.map(|failure| failure.in_reading) {
            return if !in_reading && self.extend_to_end() {
                FollowChange::Grown
            } else {
                FollowChange::Quiet
            };
        }
        if std::mem::take(&mut self.is_healed) {
            return FollowChange::Back;
        }
        match self.check() {
            Ok(FollowChange::Quiet | FollowChange::Back) if self.failure.take().is_some() => {
                FollowChange::Back
            }
            Ok(FollowChange::Grown) => {
                // Whether it can be read again shows only when that is tried.
                self.is_healed = self
                    .failure
                    .take_if(|failure| !failure.in_reading)
                    .is_some();
                FollowChange::Grown
            }
            Ok(change) => {
                self.failure = None;
                if change == FollowChange::Quiet {
                    self.check_empty(now)
                } else {
                    change
                }
            }
            Err(error) => self.record_failure(&error, now, false),
        }
    }

    /// A file that was cut is usually filled again at once; only one that stays empty is reported.
    fn check_empty(&mut self, now: Instant) -> FollowChange {
        if !self.was_cut {
            self.empty = None;
            return FollowChange::Quiet;
        }
        let (since, is_said) = self.empty.get_or_insert((now, false));
        if *is_said || now.duration_since(*since) < PATIENCE {
            return FollowChange::Quiet;
        }
        *is_said = true;
        FollowChange::Emptied
    }

    /// Records that reading failed. Returns what to report.
    pub(crate) fn failed(&mut self, error: &io::Error, now: Instant) -> FollowChange {
        self.record_failure(error, now, true)
    }

    fn check(&mut self) -> io::Result<FollowChange> {
        let named = match fs::metadata(&self.path) {
            Ok(stamp) => stamp,
            Err(error) if is_absence(&error) => return Ok(self.check_gone()),
            Err(error) => return Err(error),
        };
        if !named.is_same_file(&self.stamp) {
            return self.check_successor();
        }
        self.drain_to = None;
        let was_gone = self.absence.take().is_some();
        let quiet = if was_gone {
            FollowChange::Back
        } else {
            FollowChange::Quiet
        };
        let is_touched = named != self.stamp;
        if !is_touched && !self.was_cut {
            let grown = named.len > self.offset && !was_gone;
            return Ok(if grown { FollowChange::Grown } else { quiet });
        }
        self.stamp = named;
        if named.len == 0 {
            // Most writers that cut a file fill it again at once; what was read stays until then.
            self.was_cut |= self.offset > 0;
            return Ok(quiet);
        }
        if self.was_cut || named.len < self.offset {
            self.restart();
            return Ok(FollowChange::Replaced("cut and written anew"));
        }
        if !self.is_same_text()? {
            self.restart();
            return Ok(FollowChange::Replaced("rewritten in place"));
        }
        Ok(if was_gone {
            FollowChange::Back
        } else if named.len > self.offset {
            FollowChange::Grown
        } else {
            FollowChange::Quiet
        })
    }

    fn check_gone(&mut self) -> FollowChange {
        if self.extend_to_end() {
            return FollowChange::Grown;
        }
        let links = self
            .file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .map_or(0, |it| it.links);
        let away = if links > 0 {
            Away::Moved
        } else {
            Away::Deleted
        };
        match (self.absence.replace(away) == Some(away), away) {
            (true, _) => FollowChange::Quiet,
            (false, Away::Deleted) => FollowChange::Deleted,
            (false, Away::Moved) => FollowChange::Moved(self.new_name()),
        }
    }

    /// The path of the open file now, where the system tells it.
    fn new_name(&self) -> Option<PathBuf> {
        let path = self.file.as_ref()?.current_path()?;
        self.is_at(&path).then_some(path)
    }

    /// Another file has the name now.
    fn check_successor(&mut self) -> io::Result<FollowChange> {
        if let Some(len) = self
            .file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .map(|stamp| stamp.len)
        {
            let end = *self.drain_to.get_or_insert(len);
            if self.offset < end.min(len) {
                self.stamp.len = end.min(len);
                return Ok(FollowChange::Grown);
            }
        }
        let file = self.fence.open(&self.path)?;
        let stamp = file.metadata()?;
        if stamp.len == 0 && self.offset > 0 {
            // Created but not written yet: what was read stays until there is something else.
            return Ok(FollowChange::Quiet);
        }
        self.file = Some(file);
        self.stamp = stamp;
        self.drain_to = None;
        self.absence = None;
        self.restart();
        Ok(FollowChange::Replaced("replaced by another file"))
    }

    fn restart(&mut self) {
        self.offset = 0;
        (self.was_cut, self.empty) = (false, None);
        self.identity = FollowIdentity::default();
    }

    fn is_same_text(&mut self) -> io::Result<bool> {
        if self.file.is_none() {
            self.file = Some(self.fence.open(&self.path)?);
        }
        self.identity.is_of(self.descriptor()?, self.offset)
    }

    /// Lets reading go on to the present end of the open file; false if all of that was read.
    fn extend_to_end(&mut self) -> bool {
        let len = self
            .file
            .as_ref()
            .and_then(|file| file.metadata().ok())
            .map_or(0, |stamp| stamp.len);
        let has_more = len > self.offset;
        if has_more {
            self.stamp.len = len;
        }
        has_more
    }

    fn record_failure(
        &mut self,
        error: &io::Error,
        now: Instant,
        in_reading: bool,
    ) -> FollowChange {
        // A handle of a network file system may be stale: only a new one can help.
        if error.raw_os_error() == Some(rustix::io::Errno::STALE.raw_os_error()) {
            self.file = None;
        }
        let last = self.failure.take();
        let failure = FollowFailure::after(last.as_ref(), why_unread(error), now, in_reading);
        let is_known = last.is_some_and(|last| last.what == failure.what);
        let what = self.failure.insert(failure).what.clone();
        if is_known {
            FollowChange::Quiet
        } else {
            FollowChange::Unreadable(what)
        }
    }

    fn descriptor(&self) -> io::Result<&File> {
        self.file
            .as_ref()
            .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

/// The reason in a few words.
pub(crate) fn why_unread(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        _ => error.to_string(),
    }
}

/// Whether the error means that there is no such file.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests;
