//! What a pattern names, here or on another machine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::metadata::{Metadata, PathKind};

/// What a pattern names now: paths, or files with their metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion<F = PathBuf> {
    /// Sorted by path.
    pub(crate) files: Vec<F>,
    /// Directories that were listed or are missing: if one changes, so may the files.
    pub(crate) directories: Vec<PathBuf>,
    /// What is on the way and cannot be opened.
    pub(crate) closed: Vec<Closed>,
}

impl<F> Default for Expansion<F> {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            directories: Vec::new(),
            closed: Vec::new(),
        }
    }
}

impl<F> Expansion<F> {
    /// The same with other values for its files.
    pub(super) fn map<G>(self, map: impl FnMut(F) -> G) -> Expansion<G> {
        Expansion {
            files: self.files.into_iter().map(map).collect(),
            directories: self.directories,
            closed: self.closed,
        }
    }
}

/// Something that exists and cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    /// A file or folder that the system does not open, or a link that leads nowhere.
    pub(crate) path: PathBuf,
    pub(crate) why: ClosedReason,
    /// Whether it has the name of a file that was searched for; else it is on the way to such
    /// files.
    pub(crate) is_file: bool,
}

/// Why something cannot be opened. It is sent to other machines: a variant keeps its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ClosedReason {
    /// The error number of the system.
    System(i32),
    /// It is something else than a file.
    Kind(PathKind),
}

/// A file that a walk found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WalkedFile {
    pub(crate) path: PathBuf,
    /// `None` if the system does not say.
    pub(crate) metadata: Option<Metadata>,
}
