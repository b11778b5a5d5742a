//! An open file of another machine. It is read by parts, and opened again after a cut.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Host;
use super::seen::{Asked, SeenFile};
use crate::source::metadata::Metadata;
use crate::source::wire::{PORTION, Reply, WireAnswer, WireRequest, malformed, path_of};

/// An open file of another machine.
#[derive(Clone, Debug)]
pub struct FarFile {
    opened: Arc<RemoteFile>,
    /// Where it is read on.
    at: Arc<AtomicU64>,
    /// Whether what was read a moment ago is used again.
    is_kept: bool,
}

#[derive(Debug)]
struct RemoteFile {
    host: Arc<Host>,
    path: PathBuf,
    /// The connection in which it is open, and its number there; `None` as long as its beginning
    /// was enough.
    open: Mutex<Option<(u64, u32)>>,
    seen: Arc<SeenFile>,
}

impl FarFile {
    /// A file of which the beginning was seen.
    pub(super) fn new(host: Arc<Host>, path: PathBuf, seen: Arc<SeenFile>) -> Self {
        let opened = RemoteFile {
            path,
            open: Mutex::default(),
            seen,
            host,
        };
        Self {
            opened: Arc::new(opened),
            at: Arc::default(),
            is_kept: true,
        }
    }

    /// The same file, each part of which is asked for anew.
    pub(in crate::source) fn current(self) -> Self {
        Self {
            is_kept: false,
            ..self
        }
    }

    pub(in crate::source) fn metadata(&self) -> io::Result<Metadata> {
        let opened = &self.opened;
        if self.is_kept && opened.seen.is_new(opened.host.events()) {
            return Ok(opened.seen.metadata);
        }
        match opened.host.request(&WireRequest::Facts(opened.number()?))? {
            Reply::Answer(WireAnswer::Metadata(metadata)) => Ok(opened.host.marked(metadata)),
            _ => Err(malformed()),
        }
    }

    pub(in crate::source) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        let RemoteFile { host, seen, .. } = &*self.opened;
        let seen = Some(seen).filter(|_| self.is_kept);
        let asked = Asked::now(host.events());
        if let Some(read) = seen.and_then(|seen| seen.read(buffer, at, asked)) {
            return Ok(read);
        }
        // Who reads on reads to the end.
        let most = match seen {
            Some(seen) if seen.goes_on(at) => PORTION,
            _ => buffer.len().min(PORTION),
        };
        let len = u32::try_from(most).unwrap_or(0);
        let file = self.opened.number()?;
        let Reply::Content(bytes) = host.request(&WireRequest::Read { file, at, len })? else {
            return Err(malformed());
        };
        let read = bytes.len().min(buffer.len());
        let room = buffer.get_mut(..read).filter(|_| bytes.len() <= most);
        let part = bytes.get(..read).zip(room);
        let (part, room) = part.ok_or_else(malformed)?;
        room.copy_from_slice(part);
        if let Some(seen) = seen {
            seen.keep(at, bytes, most, asked);
        }
        Ok(read)
    }

    pub(in crate::source) fn current_path(&self) -> Option<PathBuf> {
        let opened = &self.opened;
        let asked = WireRequest::PathNow(opened.number().ok()?);
        match opened.host.request(&asked).ok()? {
            Reply::Answer(WireAnswer::Path(path)) => Some(opened.host.path(&path_of(path?).ok()?)),
            _ => None,
        }
    }

    /// Its real path when it was opened.
    pub(in crate::source) fn opened_path(&self) -> Option<&Path> {
        self.opened.seen.real.as_deref()
    }

    pub(in crate::source) fn is_locked(&self, start: u64, length: u64) -> bool {
        let file = self.opened.number();
        file.and_then(|file| {
            self.opened.host.flag(&WireRequest::Locked {
                file,
                start,
                length,
            })
        })
        .unwrap_or(false)
    }

    pub(in crate::source) fn position(&self) -> u64 {
        self.at.load(Ordering::Relaxed)
    }
}

impl RemoteFile {
    /// Its number in this connection: it is opened when its beginning is not enough, and again
    /// after a cut.
    fn number(&self) -> io::Result<u32> {
        let Self {
            host,
            path,
            open,
            seen,
        } = self;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, number)) = *open
            && generation == host.lock().generation
        {
            return Ok(number);
        }
        let (generation, number, metadata) = host.open_there(path)?;
        let seen = &seen.metadata;
        if (metadata.device, metadata.inode) != (seen.device, seen.inode) {
            host.send(&WireRequest::Close(number));
            // A new handle alone can help.
            return Err(rustix::io::Errno::STALE.into());
        }
        *open = Some((generation, number));
        Ok(number)
    }
}

impl Read for FarFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.read_at(buffer, self.position())?;
        self.at.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Drop for RemoteFile {
    fn drop(&mut self) {
        self.seen.trim();
        let open = *self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let here = self.host.lock().generation;
        if let Some((_, number)) = open.filter(|(generation, _)| *generation == here) {
            self.host.send(&WireRequest::Close(number));
        }
    }
}
