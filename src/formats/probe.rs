//! Detection of formats by content: the beginning of a file, and the verdict of a format on it.

use std::path::Path;

use super::json::Json;
use crate::model::record::Shape;

/// The beginning of a file or folder, for detection.
#[derive(Debug)]
pub struct Probe<'a> {
    /// The path; `-` for standard input.
    pub path: &'a Path,
    /// The beginning of the text, if only that was read.
    pub text: Option<&'a str>,
    /// Names in the folder, if it is one.
    pub children: &'a [String],
    /// The first objects of the file read as lines (about 50; lines that do not parse are left out).
    pub lines: &'a [Json<'a>],
    /// The file read as one JSON value: the root object with its longest array of objects emptied.
    pub header: Option<&'a Json<'a>>,
    /// The first elements of that array, or of the root array.
    pub elements: &'a [Json<'a>],
    /// Whether the file is one JSON value over several lines, or an array.
    pub is_document: bool,
    /// Whether the probe covers the whole file.
    pub is_whole: bool,
}

impl<'a> Probe<'a> {
    /// A probe without content.
    pub(crate) fn at(path: &'a Path) -> Self {
        Self {
            path,
            text: None,
            children: &[],
            lines: &[],
            header: None,
            elements: &[],
            is_document: false,
            is_whole: false,
        }
    }
}

/// The result of detection by one format.
#[derive(Clone, Debug)]
pub struct ProbeResult {
    /// How certain the format is.
    pub confidence: Confidence,
    /// The reason, as a sentence for the reader without a full stop.
    pub reason: String,
    /// How the session is stored.
    pub shape: Shape,
}

/// Whether nearly all values match: up to a quarter may be damaged or written by another program
/// without a change of format.
pub(crate) fn nearly_all<'a, 'j: 'a>(
    values: impl IntoIterator<Item = &'a Json<'j>>,
    mut is_such: impl FnMut(&'a Json<'j>) -> bool,
) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for value in values {
        all += 1;
        odd += usize::from(!is_such(value));
    }
    all > 0 && odd * 4 <= all + usize::from(all > 1)
}

/// How certain a format is that a file is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is another format.
    No,
    /// The file is too short to decide.
    NeedMore,
    /// Readable in this format, without evidence for it.
    Maybe,
    /// Several marks match.
    Likely,
    /// A decisive mark matches.
    Certain,
}

impl Confidence {
    /// The word used in JSON outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::NeedMore => "need-more",
            Self::Maybe => "maybe",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

impl ProbeResult {
    /// The verdict that a file is not of this format.
    pub(crate) fn no(reason: &str) -> Self {
        Self {
            confidence: Confidence::No,
            reason: reason.to_owned(),
            shape: Shape::Lines,
        }
    }

    /// The verdict that a file is of this format.
    pub(crate) fn yes(confidence: Confidence, shape: Shape, reason: impl Into<String>) -> Self {
        Self {
            confidence,
            reason: reason.into(),
            shape,
        }
    }
}
