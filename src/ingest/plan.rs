//! How a session will be read: its format, its shape, where it lies.

use std::io;
use std::path::{Path, PathBuf};

use super::emitter::Outlet;
use super::probe::{self, HEAD};
use crate::formats::counting::Counting;
use crate::formats::decoder::{Decoder, Format, Pattern, Place, Verdict};
use crate::formats::survey::{SharedSurvey, Surveyed};
use crate::formats::{self, Detection};
use crate::model::edit::{Feed, Opened, Polled};
use crate::model::record::{FileId, Shape};
use crate::model::text::Text;
use crate::source::packed::{self, Packing};
use crate::source::pattern::{expand, from_root, named_like};
use crate::source::regular;
use crate::source::stamp::{Stamp, read_range};
use crate::source::watch::Watcher;

/// How a session will be read.
#[derive(Clone)]
pub(crate) struct Plan {
    /// Who wrote it.
    pub(crate) format: &'static dyn Format,
    /// How it lies on disk.
    pub(crate) shape: Shape,
    /// Where; `-` for standard input.
    pub(crate) path: PathBuf,
    /// Which session of a folder; else empty.
    pub(crate) session: String,
    /// Whether more of the file may show that it is something else.
    pub(crate) is_provisional: bool,
    /// How the file is compressed, if it is, and how what is in it lies.
    pub(crate) packed: Option<(Packing, Shape)>,
    /// What to tell the reader.
    pub(crate) opened: Opened,
    /// Where it is found out what of the records is shown, if somebody asks.
    pub(crate) survey: Option<SharedSurvey>,
    /// Whether only what counts is asked for.
    pub(crate) is_counted: bool,
    /// Whether somebody may ask for records.
    pub(crate) is_paged: bool,
}

/// What the formats that were asked say of a file, by their names.
pub(crate) type Verdicts = Vec<(&'static str, Verdict)>;

impl Plan {
    /// What waits for changes of the file. Says why it looks at it a few times a second, if it does.
    pub(crate) fn watcher(&self, native: bool, outlet: Outlet<'_>) -> Watcher {
        let mut watcher = Watcher::new(native);
        let kind = watcher.distrust(&self.path);
        if let Some(why) = if native {
            kind.map(Polled::Unsure)
        } else {
            Some(Polled::Asked)
        } {
            outlet(Feed::Polled(why));
        }
        watcher
    }

    /// Says what was opened.
    pub(crate) fn say_opened(&self, outlet: Outlet<'_>) {
        outlet(Feed::Opened(Box::new(self.opened.clone())));
        outlet(Feed::File {
            id: FileId(0),
            path: (*self.path).into(),
        });
    }

    /// A plan after a detection, and what the formats that were asked said.
    pub(crate) fn of(path: &Path, session: String, mut detection: Detection) -> (Self, Verdicts) {
        let verdicts = std::mem::take(&mut detection.others);
        (Self::new(path, session, detection), verdicts)
    }

    /// A plan after a detection.
    pub(crate) fn new(path: &Path, session: String, detection: Detection) -> Self {
        let opened = Opened {
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

    /// The plan for a file of which this is in a compressed one: it cannot be read again in the middle, nor will it grow.
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

    /// A decoder that begins with the first record.
    pub(crate) fn decoder(&self) -> Box<dyn Decoder> {
        let decoder = self.format.decoder_of(&from_root(&self.path));
        match &self.survey {
            Some(sums) => Box::new(Surveyed::new(decoder, SharedSurvey::clone(sums))),
            None => decoder,
        }
    }

    /// Whether it comes through a pipe.
    pub(crate) fn is_pipe(&self) -> bool {
        self.shape == Shape::Stream && self.packed.is_none()
    }

    /// Whether its records are lines, be they compressed.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(self.packed, Some((_, Shape::Lines))) || self.shape == Shape::Lines
    }

    /// The files that belong to the session besides the opened one, now or later.
    pub(crate) fn companions(&self) -> Vec<Pattern> {
        self.as_named(self.format.companions(&from_root(&self.path)))
    }

    /// Files that a decoder asked for, beside a link and beside the file that it leads to.
    pub(crate) fn follow_up(&self, wanted: &str) -> Vec<Pattern> {
        let path = from_root(&self.path);
        let mut patterns = self.as_named(self.format.follow_up(&path, wanted));
        let real = path
            .canonicalize()
            .ok()
            .filter(|real| *real != path && !patterns.is_empty());
        let Some(real) = real else { return patterns };
        let place = |Pattern(pattern): &Pattern| {
            Some((
                pattern.parent()?.canonicalize().ok()?,
                pattern.file_name()?.to_owned(),
            ))
        };
        let known: Vec<_> = patterns.iter().filter_map(place).collect();
        let others = self.format.follow_up(&real, wanted).into_iter();
        patterns.extend(others.filter(|other| place(other).is_some_and(|at| !known.contains(&at))));
        patterns
    }

    fn as_named(&self, patterns: Vec<Pattern>) -> Vec<Pattern> {
        patterns
            .into_iter()
            .map(|Pattern(pattern)| Pattern(named_like(pattern, &self.path)))
            .collect()
    }

    /// Which records of a file are needed, if only what counts is asked for.
    pub(crate) fn counting(&self, place: Place<'_>) -> Option<Counting> {
        self.format
            .counting(place)
            .filter(|_| self.is_counted && self.packed.is_none())
    }

    /// The plan for the file as it is now. `None` if it cannot be read or is nothing that is known:
    /// then the old plan stays.
    pub(crate) fn again(&self) -> Option<Self> {
        if matches!(self.shape, Shape::Folder | Shape::Rows) {
            return None;
        }
        let Head {
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

    /// Whether both read a file in the same way.
    pub(crate) fn reads_like(&self, other: &Self) -> bool {
        self.format.name() == other.format.name()
            && (self.shape, self.packed) == (other.shape, other.packed)
    }
}

/// The files that patterns name.
pub(crate) fn files_of(patterns: &[Pattern]) -> Vec<PathBuf> {
    patterns
        .iter()
        .flat_map(|Pattern(pattern)| expand(pattern).files)
        .collect()
}

/// The beginning of a file, decompressed if need be.
pub(crate) struct Head {
    /// The first bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether that is all of it.
    pub(crate) is_whole: bool,
    /// How it is compressed.
    pub(crate) packing: Option<Packing>,
}

/// Reads the beginning of a file.
pub(crate) fn read_head(path: &Path) -> io::Result<Head> {
    let file = regular::open(path)?;
    let bytes = read_range(&file, 0, HEAD)?;
    if let Some(packing) = Packing::of(&bytes) {
        let (bytes, is_whole) = packed::read_head(file, packing, HEAD)?;
        return Ok(Head {
            bytes,
            is_whole,
            packing: Some(packing),
        });
    }
    let len = Stamp::of_file(&file)?.len;
    Ok(Head {
        is_whole: len <= bytes.len() as u64,
        bytes,
        packing: None,
    })
}
