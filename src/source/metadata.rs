//! What is known of a file or folder without opening it.

use std::os::unix::fs::{FileTypeExt, MetadataExt};

use serde::{Deserialize, Serialize};

use crate::model::timestamp::Timestamp;

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathKind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    /// A terminal, or something else that is read byte by byte.
    CharDevice,
    /// A disk.
    BlockDevice,
    Other,
}

/// Facts about a file or folder. Equal while nothing is written: the number of links, which a backup
/// changes, does not count.
#[derive(Clone, Copy, Debug, Eq, Serialize, Deserialize)]
pub struct Metadata {
    pub kind: PathKind,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) links: u64,
    pub(crate) len: u64,
    /// When it was last written.
    pub(crate) seconds: i64,
    pub(crate) nanoseconds: i64,
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        let state = |of: &Self| {
            let written = (of.seconds, of.nanoseconds);
            (of.kind, of.device, of.inode, of.len, written)
        };
        state(self) == state(other)
    }
}

impl From<std::fs::FileType> for PathKind {
    fn from(kind: std::fs::FileType) -> Self {
        match kind {
            _ if kind.is_file() => Self::File,
            _ if kind.is_dir() => Self::Folder,
            _ if kind.is_symlink() => Self::Link,
            _ if kind.is_fifo() => Self::Pipe,
            _ if kind.is_socket() => Self::Socket,
            _ if kind.is_char_device() => Self::CharDevice,
            _ if kind.is_block_device() => Self::BlockDevice,
            _ => Self::Other,
        }
    }
}

impl Metadata {
    /// A folder of which nothing else is known.
    pub(crate) const FOLDER: Self = Self {
        kind: PathKind::Folder,
        device: 0,
        inode: 0,
        links: 1,
        len: 0,
        seconds: 0,
        nanoseconds: 0,
    };

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.kind == PathKind::File
    }

    /// Whether it is a folder.
    pub fn is_dir(&self) -> bool {
        self.kind == PathKind::Folder
    }

    /// Whether it is the same file, perhaps in another state.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// Device and inode: the same for all names of the file.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// When it was last written, in seconds and ns: orders files, says nothing about the clock.
    pub(crate) fn modified(&self) -> (i64, i64) {
        (self.seconds, self.nanoseconds)
    }

    /// When it was last written, as a point in time.
    pub(crate) fn moment(&self) -> Timestamp {
        let ms = self.seconds.saturating_mul(1_000);
        Timestamp(ms.saturating_add(self.nanoseconds / 1_000_000))
    }

    /// When it was last written, in ns since 1970.
    pub(crate) fn nanoseconds_since_epoch(&self) -> Option<u128> {
        let seconds = u128::try_from(self.seconds).ok()?;
        Some(seconds * 1_000_000_000 + u128::try_from(self.nanoseconds).ok()?)
    }
}

impl From<std::fs::Metadata> for Metadata {
    fn from(metadata: std::fs::Metadata) -> Self {
        Self {
            kind: metadata.file_type().into(),
            device: metadata.dev(),
            inode: metadata.ino(),
            links: metadata.nlink(),
            len: metadata.len(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        }
    }
}
