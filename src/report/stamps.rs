//! States of a session's files, to tell whether it changed since it was read.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ingest::fs;
use crate::model::found::FoundSession;
use crate::model::record::Shape;
use crate::model::timestamp::Timestamp;

/// The state of a session's files, to detect changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stamps {
    /// Path, length in bytes, and modification time in ns.
    files: Vec<(PathBuf, u64, u128)>,
    /// For a row of a database, its modification time in ms.
    row: Option<i64>,
}

impl Stamps {
    /// The current stamps of these files.
    pub(super) fn of<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Option<Self> {
        let stamp = |path: &'p Path| {
            let file = fs::metadata(path).ok()?;
            path.to_str()?;
            let written = file.nanoseconds_since_epoch()?;
            Some((path.to_path_buf(), file.len, written))
        };
        let files: Option<Vec<_>> = paths.into_iter().map(stamp).collect();
        Some(Self {
            files: files?,
            row: None,
        })
    }

    /// The stamps of a session. For a session in a database the time of its row is used, because
    /// other sessions change the file.
    pub(super) fn of_session(
        files: &[PathBuf],
        found: &FoundSession,
        shape: Shape,
    ) -> Option<Self> {
        if shape == Shape::Rows {
            return found.modified.map(|at| Self {
                files: Vec::new(),
                row: Some(at.0),
            });
        }
        Self::of(
            [found.path.as_path()]
                .into_iter()
                .chain(files.iter().map(PathBuf::as_path)),
        )
    }

    /// Whether nothing has changed since; `modified` is the time of its row.
    pub(super) fn are_current(&self, modified: Option<Timestamp>) -> bool {
        match self.row {
            Some(row) => modified.is_some_and(|at| at.0 == row),
            None => {
                Self::of(self.files.iter().map(|(path, ..)| path.as_path())).as_ref() == Some(self)
            }
        }
    }

    /// The paths of the session's files.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.files.iter().map(|(path, ..)| path.clone()).collect()
    }
}
