//! How a session will be read: its format, its shape, where it lies.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::probe::{self, HEAD};
use crate::formats::Detection;
use crate::formats::decoder::{Format, Verdict};
use crate::model::edit::Opened;
use crate::model::record::Shape;
use crate::model::text::Text;
use crate::source::stamp::{Stamp, read_range};

/// How a session will be read.
#[derive(Clone)]
pub struct Plan {
    /// Who wrote it.
    pub format: &'static dyn Format,
    /// How it lies on disk.
    pub shape: Shape,
    /// Where; `-` for standard input.
    pub path: PathBuf,
    /// Which session of a folder; else empty.
    pub session: String,
    /// Whether more of the file may show that it is something else.
    pub is_provisional: bool,
    /// What each format says of it.
    pub verdicts: Vec<(&'static str, Verdict)>,
    /// What to tell the reader.
    pub opened: Opened,
}

impl Plan {
    /// A plan after a detection.
    pub fn new(path: &Path, session: String, detection: Detection) -> Self {
        let opened = Opened {
            format: detection.format.name(),
            confidence: detection.verdict.confidence.word(),
            reason: Text::clean(&probe::reason(&detection)),
            path: path.to_owned(),
        };
        Self {
            format: detection.format,
            shape: detection.verdict.shape,
            path: path.to_owned(),
            session,
            is_provisional: detection.is_provisional,
            verdicts: detection.others,
            opened,
        }
    }

    /// The plan for the file as it is now. `None` if it cannot be read or is nothing that is known:
    /// then the old plan stays.
    pub fn again(&self) -> Option<Self> {
        if matches!(self.shape, Shape::Folder | Shape::Rows) {
            return None;
        }
        let (head, is_whole) = read_head(&self.path).ok()?;
        let detection = probe::detect_file(&self.path, &head, is_whole);
        if probe::is_unclaimed(&detection) || probe::foreign(&head).is_some() {
            return None;
        }
        let mut plan = Self::new(&self.path, self.session.clone(), detection);
        plan.opened.path.clone_from(&self.opened.path);
        Some(plan)
    }

    /// Whether both read a file in the same way.
    pub fn reads_like(&self, other: &Self) -> bool {
        self.format.name() == other.format.name() && self.shape == other.shape
    }
}

/// The beginning of a file, and whether that is all of it.
pub fn read_head(path: &Path) -> io::Result<(Vec<u8>, bool)> {
    let file = File::open(path)?;
    let head = read_range(&file, 0, HEAD)?;
    let is_whole = Stamp::of_file(&file)?.len <= head.len() as u64;
    Ok((head, is_whole))
}
