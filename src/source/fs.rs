//! Files and folders of this machine, and of those that [`remote`] reaches: the one place that
//! tells them apart.
//!
//! A path of another machine begins with the host's name and a colon (`host:/home/u/a.jsonl`), and
//! is a path like any other to whoever joins, compares or shows it. Only names that the reader gave
//! for a host count: a file here that is called so is `./host:`.

use std::ffi::OsString;
use std::io::{self, Read, Seek};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

pub use super::metadata::{Metadata, PathKind};
use super::remote::{self, FarFile};
use crate::model::timestamp::Timestamp;

#[derive(Debug)]
pub enum File {
    /// On this machine.
    Here(std::fs::File),
    /// On another one.
    Far(FarFile),
}

/// Facts about what a path names, links followed.
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    match remote::split(path) {
        Some((host, path)) => host.metadata(&path, true),
        None => std::fs::metadata(path).map(Metadata::from),
    }
}

/// Facts about what a path names, be it a link.
pub(crate) fn symlink_metadata(path: &Path) -> io::Result<Metadata> {
    match remote::split(path) {
        Some((host, path)) => host.metadata(&path, false),
        None => std::fs::symlink_metadata(path).map(Metadata::from),
    }
}

/// When the file of a path was last written.
pub(crate) fn written(path: &Path) -> Option<Timestamp> {
    metadata(path).ok().map(|metadata| metadata.moment())
}

/// Whether a path names something that can be reached.
pub(crate) fn exists(path: &Path) -> bool {
    metadata(path).is_ok()
}

/// Whether a path names a regular file.
pub fn is_file(path: &Path) -> bool {
    metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// Whether a path names a folder.
pub fn is_dir(path: &Path) -> bool {
    metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// The path without links.
pub(crate) fn canonicalize(path: &Path) -> io::Result<PathBuf> {
    match remote::split(path) {
        Some((host, path)) => host.real(&path),
        None => std::fs::canonicalize(path),
    }
}

/// The folder that a path names: an empty one names the working directory.
pub(crate) fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    }
}

/// The entries of a folder in any order, each with what it is itself.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<(OsString, PathKind)>> {
    if let Some((host, folder)) = remote::split(folder) {
        return host.entries(&folder);
    }
    let entry =
        |entry: std::fs::DirEntry| Some((entry.file_name(), entry.file_type().ok()?.into()));
    Ok(std::fs::read_dir(or_here(folder))?
        .flatten()
        .filter_map(entry)
        .collect())
}

/// Opens a file for reading, without waiting for the writer of a pipe.
pub(super) fn open(path: &Path) -> io::Result<(Metadata, File)> {
    if let Some((host, path)) = remote::split(path) {
        let (metadata, file) = host.open(path)?;
        return Ok((metadata, File::Far(file)));
    }
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    Ok((file.metadata()?.into(), File::Here(file)))
}

impl File {
    /// The same file, each part of which is read anew: parts of a database must be of one moment.
    pub(super) fn current(self) -> Self {
        match self {
            Self::Here(file) => Self::Here(file),
            Self::Far(file) => Self::Far(file.current()),
        }
    }

    /// Facts about the open file, whatever its name is now.
    pub fn metadata(&self) -> io::Result<Metadata> {
        match self {
            Self::Here(file) => file.metadata().map(Metadata::from),
            Self::Far(file) => file.metadata(),
        }
    }

    /// The same open file, which is read on from where the other was.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Here(file) => Self::Here(file.try_clone()?),
            Self::Far(file) => Self::Far(file.clone()),
        })
    }

    /// Where it is read on.
    pub(crate) fn position(&self) -> io::Result<u64> {
        match self {
            Self::Here(file) => (&*file).stream_position(),
            Self::Far(file) => Ok(file.position()),
        }
    }

    /// Reads at an offset. Returns how many bytes it read.
    pub(crate) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            Self::Here(file) => file.read_at(buffer, at),
            Self::Far(file) => file.read_at(buffer, at),
        }
    }

    /// The real path of the open file now, where the system tells it.
    pub(crate) fn current_path(&self) -> Option<PathBuf> {
        match self {
            Self::Here(file) => {
                std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
            }
            Self::Far(file) => file.current_path(),
        }
    }

    /// Whether another process holds a lock on these bytes. It does not notice the query.
    pub(crate) fn is_locked(&self, start: u64, length: u64) -> bool {
        let file = match self {
            Self::Here(file) => file,
            Self::Far(file) => return file.is_locked(start, length),
        };
        let asked = Flock {
            start,
            length,
            pid: None,
            typ: FlockType::ReadLock,
            offset_type: FlockOffsetType::Set,
        };
        fcntl_getlk(file, &asked).is_ok_and(|lock| lock.is_some())
    }
}

impl From<std::fs::File> for File {
    fn from(file: std::fs::File) -> Self {
        Self::Here(file)
    }
}

impl Read for File {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Here(file) => file.read(buffer),
            Self::Far(file) => file.read(buffer),
        }
    }
}
