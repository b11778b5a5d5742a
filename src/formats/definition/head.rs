//! The head of a format: its properties as data, from its file in `assets/formats`. Formats with a decoder in Rust and
//! definitions have the same head.

use std::path::Path;

use super::kinds::Kinds;
use super::when::Conditions;
use crate::formats::fields::Fields;
use crate::formats::roots::Root;
use crate::model::record::Shape;
use crate::model::resume::Resume;
use crate::model::tool::work::Ends;

/// A format as data.
#[derive(Debug, Default)]
pub struct Head {
    /// As in JSON outputs.
    pub name: &'static str,
    /// The file of a decoder's head.
    pub(crate) text: &'static str,
    /// The agent, for people.
    pub agent: &'static str,
    /// What the agent does not record, for people; empty if unknown. The manual repeats it.
    pub omits: &'static str,
    /// Whether the agent records the end of work that continues after the result of its call.
    pub(crate) ends: Ends,
    /// The folders with sessions.
    pub(crate) roots: &'static [Root],
    /// Kinds that need no code.
    pub(crate) kinds: Kinds,
    /// Templates of files that belong to a session.
    pub(crate) companions: Vec<String>,
    /// A database of the agent with rows on all sessions.
    pub(crate) rows_beside: Option<RowsBeside>,
    /// Whether a database is an index of sessions in files: its rows count only if the file is gone.
    pub(crate) has_index: bool,
    /// Marks for detection.
    pub(crate) detect: Detect,
    /// Files of the agent that are no sessions.
    pub(crate) aside: Vec<Aside>,
    /// Commands that continue a session: the first rule for its file counts.
    pub(crate) resumes: Vec<ResumeRule>,
    /// A format from which this one inherits kinds, and companions and dependent records unless it has its own.
    pub(crate) like: Option<&'static str>,
    /// The quoted name of a member that holds a part of a text: no record holds all of such a text.
    pub(crate) deltas: Option<&'static str>,
    /// Records with titles, which may be anywhere in a file.
    pub(crate) titles: Vec<TitleMark>,
    /// Words in records whose meaning depends on other records. A search decodes any other record alone, with the records it
    /// is paired with. `None` if all records of the format depend on others.
    pub(crate) dependent: Option<Vec<&'static str>>,
    /// Whether a session may continue one in another file.
    pub(crate) is_continued: bool,
    /// A word in each record that names files of the session, for files that lie among sessions and do not name their
    /// own.
    pub(crate) files_word: Option<&'static str>,
    /// Fields that records are known to have.
    pub(crate) fields: Fields,
}

/// Marks of a format by confidence.
#[derive(Debug, Default)]
pub(crate) struct Detect {
    /// How sessions are stored.
    pub(super) shapes: Vec<Shape>,
    /// Any record looks so.
    pub(super) certain: Vec<DetectionMark>,
    /// Nearly all records look so.
    pub(super) likely: Vec<DetectionMark>,
    /// Nearly all records look so, but other formats may, too.
    pub(super) maybe: Vec<DetectionMark>,
    /// Any record looks so: it is another format.
    pub(super) never: Vec<DetectionMark>,
}

/// A file of an agent that is no session.
#[derive(Debug)]
pub(crate) struct Aside {
    /// The conditions on its records.
    pub(super) mark: DetectionMark,
    /// Whether one such record is enough; otherwise nearly all are.
    pub(super) is_any: bool,
    /// What the file is, and which one to open instead: half a sentence.
    pub(super) what: &'static str,
}

/// Conditions that identify records of a format.
#[derive(Debug)]
pub(super) struct DetectionMark {
    /// Whether it is about the header of a document.
    pub(super) is_header: bool,
    pub(super) when: Conditions,
    /// The conditions in words.
    pub(super) words: String,
}

/// Rows about sessions that are files, in a database beside them.
#[derive(Debug)]
pub(crate) struct RowsBeside {
    /// The template of its path.
    pub(crate) database: String,
    pub(super) table: &'static str,
    /// Its column with the name of the session.
    pub(super) session: &'static str,
}

/// Commands that continue sessions.
#[derive(Debug)]
pub(crate) struct ResumeRule {
    /// Only of files in a folder of this name, at any depth.
    pub(super) within: Option<&'static str>,
    /// Only of files whose names end so.
    pub(super) suffix: Option<&'static str>,
    pub(super) commands: &'static [Resume],
}

/// A record with a title.
#[derive(Clone, Copy, Debug)]
pub enum TitleMark {
    /// One with this text; of several the last one counts.
    Last(&'static str),
    /// One with the first text, followed by the id of another record, which has that behind the second text: it is a title
    /// of this session only if that record is in the file.
    Of(&'static str, &'static str),
}

impl Head {
    /// The commands for the session in the file or folder at `path`.
    pub(crate) fn resumes(&self, path: &Path) -> &'static [Resume] {
        let is_for = |rule: &&ResumeRule| {
            let is_within = |name: &str| path.iter().any(|folder| folder == name);
            let has_suffix =
                |suffix: &str| path.to_str().is_some_and(|path| path.ends_with(suffix));
            rule.within.is_none_or(is_within) && rule.suffix.is_none_or(has_suffix)
        };
        self.resumes
            .iter()
            .find(is_for)
            .map_or(&[], |rule| rule.commands)
    }
}
