//! How a session is read: its format, shape and path.

use std::io;
use std::path::{Path, PathBuf};

use super::emitter::Outlet;
use super::probe::{self, HEAD};
use crate::formats::counting::Counting;
use crate::formats::decoder::{Decoder, Format, RecordPlace};
use crate::formats::probe::ProbeResult;
use crate::formats::roots::{FileRole, Pattern};
use crate::formats::survey::{SharedSurvey, Surveyed};
use crate::formats::{self, Detection};
use crate::model::edit::{Feed, OpenedSession, Polled};
use crate::model::record::{FileId, Shape};
use crate::model::text::Text;
use crate::source::fs;
use crate::source::packed::{self, Packing};
use crate::source::pattern::{expand, from_root, named_like};
use crate::source::read::read_range;
use crate::source::regular;
use crate::source::watch::Watcher;

/// How a session is read.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) format: &'static dyn Format,
    pub(crate) shape: Shape,
    /// Path; `-` for standard input.
    pub(crate) path: PathBuf,
    /// Session within a folder; else empty.
    pub(crate) session: String,
    /// Whether more data may show another format.
    pub(crate) is_provisional: bool,
    /// Compression of the file, if any, and the shape of its content.
    pub(crate) packed: Option<(Packing, Shape)>,
    /// The event that reports what was opened.
    pub(crate) opened: OpenedSession,
    /// Collects how much of the records is shown, if that is requested.
    pub(crate) survey: Option<SharedSurvey>,
    /// Whether only figures are requested.
    pub(crate) is_counted: bool,
    /// Whether records may be requested again.
    pub(crate) is_paged: bool,
}

/// Verdicts of the queried formats on a file, by name.
pub(crate) type Verdicts = Vec<(&'static str, ProbeResult)>;

impl Plan {
    /// The watcher for changes of the file. Reports the reason if it polls frequently.
    pub(crate) fn watcher(&self, native: bool, outlet: Outlet<'_>) -> Watcher {
        let mut watcher = Watcher::new(native);
        let kind = watcher.check_file_system(&self.path);
        if let Some(why) = if native {
            kind.map(Polled::Eventless)
        } else {
            Some(Polled::Requested)
        } {
            outlet(Feed::Polled(why));
        }
        watcher
    }

    /// Sends the event that reports what was opened.
    pub(crate) fn send_opened(&self, outlet: Outlet<'_>) {
        outlet(Feed::Opened(Box::new(self.opened.clone())));
        outlet(Feed::File {
            id: FileId(0),
            path: (*self.path).into(),
        });
    }

    /// The plan after a detection, and the verdicts of the queried formats.
    pub(crate) fn of(path: &Path, session: String, mut detection: Detection) -> (Self, Verdicts) {
        let verdicts = std::mem::take(&mut detection.others);
        (Self::new(path, session, detection), verdicts)
    }

    /// The plan after a detection.
    pub(crate) fn new(path: &Path, session: String, detection: Detection) -> Self {
        let opened = OpenedSession {
            format: detection.format.name(),
            confidence: detection.verdict.confidence.word(),
            reason: Text::clean(&probe::reason(&detection)),
            path: path.to_owned(),
            resumes: formats::resumes(detection.format, path),
            written: None,
            joined: Vec::new(),
        };
        Self {
            format: detection.format,
            shape: detection.verdict.shape,
            path: path.to_owned(),
            session,
            is_provisional: detection.is_provisional,
            packed: None,
            opened,
            survey: None,
            is_counted: false,
            is_paged: true,
        }
    }

    /// The plan for a compressed file with this content: it cannot be read again by position, nor
    /// will it grow.
    pub(crate) fn packed(mut self, packing: Packing) -> Self {
        let reason = format!(
            "{}, decompressed from {}",
            self.opened.reason,
            packing.name()
        );
        self.opened.reason = Text::clean(&reason);
        self.packed = Some((packing, std::mem::replace(&mut self.shape, Shape::Stream)));
        self
    }

    /// A decoder for a reading from the first record.
    pub(crate) fn decoder(&self) -> Box<dyn Decoder> {
        let decoder = self.format.decoder(Some(&from_root(&self.path)));
        match &self.survey {
            Some(sums) => Box::new(Surveyed::new(decoder, SharedSurvey::clone(sums))),
            None => decoder,
        }
    }

    /// Whether the source is a pipe.
    pub(crate) fn is_pipe(&self) -> bool {
        self.shape == Shape::Stream && self.packed.is_none()
    }

    /// Whether its records are lines, compressed or not.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(self.packed, Some((_, Shape::Lines))) || self.shape == Shape::Lines
    }

    /// The companions of the session, existing or not.
    pub(crate) fn companions(&self) -> Vec<Pattern> {
        self.as_named(
            self.format
                .files(&from_root(&self.path), FileRole::Companion),
        )
    }

    /// Files that a decoder requested, beside a link and beside its target.
    pub(crate) fn requested_files(&self, wanted: &str) -> Vec<Pattern> {
        let path = from_root(&self.path);
        let mut patterns = self.as_named(self.format.files(&path, FileRole::Requested(wanted)));
        let real = fs::canonicalize(&path)
            .ok()
            .filter(|real| *real != path && !patterns.is_empty());
        let Some(real) = real else { return patterns };
        let place = |Pattern(pattern): &Pattern| {
            Some((
                fs::canonicalize(pattern.parent()?).ok()?,
                pattern.file_name()?.to_owned(),
            ))
        };
        let known: Vec<_> = patterns.iter().filter_map(place).collect();
        let others = self
            .format
            .files(&real, FileRole::Requested(wanted))
            .into_iter();
        patterns.extend(others.filter(|other| place(other).is_some_and(|at| !known.contains(&at))));
        patterns
    }

    fn as_named(&self, patterns: Vec<Pattern>) -> Vec<Pattern> {
        patterns
            .into_iter()
            .map(|Pattern(pattern)| Pattern(named_like(pattern, &self.path)))
            .collect()
    }

    /// Which records of a file are needed, if only figures are requested.
    pub(crate) fn counting(&self, place: RecordPlace<'_>) -> Option<Counting> {
        let is_companion = matches!(place, RecordPlace::CompanionLine(_));
        let rules = self.format.head().counting;
        let rules = rules.filter(|_| self.is_counted && self.packed.is_none());
        rules.map(|rules| Counting::new(rules, is_companion))
    }

    /// The plan for the current file. `None` if it cannot be read or is not recognized: then the
    /// old plan stays.
    pub(crate) fn detect_again(&self) -> Option<Self> {
        if matches!(self.shape, Shape::Folder | Shape::Rows) {
            return None;
        }
        let FileHead {
            bytes: head,
            is_whole,
            packing,
        } = read_head(&self.path).ok()?;
        let detection = probe::detect_file(&self.path, &head, is_whole);
        if probe::is_unclaimed(&detection) || probe::foreign(&head).is_some() {
            return None;
        }
        let mut plan = Self::new(&self.path, self.session.clone(), detection);
        plan.opened.path.clone_from(&self.opened.path);
        plan.survey.clone_from(&self.survey);
        plan.is_paged = self.is_paged;
        Some(match packing {
            Some(packing) => plan.packed(packing),
            None => plan,
        })
    }

    /// Whether both plans read a file in the same way.
    pub(crate) fn reads_like(&self, other: &Self) -> bool {
        self.format.name() == other.format.name()
            && (self.shape, self.packed) == (other.shape, other.packed)
    }
}

/// The files that match patterns.
pub(crate) fn files_of(patterns: &[Pattern]) -> Vec<PathBuf> {
    patterns
        .iter()
        .flat_map(|Pattern(pattern)| expand(pattern).files)
        .collect()
}

/// The beginning of a file, decompressed if necessary.
pub(crate) struct FileHead {
    /// The beginning of the file, as the formats are asked about it.
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_whole: bool,
    /// Compression of the file.
    pub(crate) packing: Option<Packing>,
}

/// Reads the beginning of a file.
pub(crate) fn read_head(path: &Path) -> io::Result<FileHead> {
    let file = regular::open(path)?;
    let bytes = read_range(&file, 0, HEAD)?;
    if let Some(packing) = Packing::of(&bytes) {
        let (bytes, is_whole) = packed::read_head(file, packing, HEAD)?;
        return Ok(FileHead {
            bytes,
            is_whole,
            packing: Some(packing),
        });
    }
    let len = file.metadata()?.len;
    Ok(FileHead {
        is_whole: len <= bytes.len() as u64,
        bytes,
        packing: None,
    })
}
