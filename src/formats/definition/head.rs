//! The head of a format: its properties as data, parsed from its file in `assets/formats`. Formats
//! with a decoder in Rust and definitions have the same head.

use std::path::Path;

use super::kinds::Kinds;
use super::path::{PathScope, RecordPath};
use super::template::filled;
use super::when::Conditions;
use crate::formats::counting::CountingRules;
use crate::formats::fields::KnownFields;
use crate::formats::json::Json;
use crate::formats::roots::{FileRole, Pattern, Root};
use crate::model::record::Shape;
use crate::model::resume::Resume;
use crate::model::tool::work::EndRecording;

/// The properties of a format.
#[derive(Debug, Default)]
pub struct Head {
    /// The name of the format, as in JSON output.
    pub name: &'static str,
    /// The text of the head's file, if the format has a decoder in Rust.
    pub(crate) text: &'static str,
    /// The display name of the agent.
    pub agent: &'static str,
    /// What the agent does not record, as text for people; empty if unknown. The manual repeats it.
    pub omits: &'static str,
    /// Whether the agent records the end of background work.
    pub(crate) ends: EndRecording,
    /// The folders that contain sessions.
    pub(crate) roots: &'static [Root],
    /// Kinds of records that need no code.
    pub(crate) kinds: Kinds,
    /// Path templates of the companion files of a session.
    pub(crate) companions: Vec<&'static str>,
    /// Names of session files in any folder, with wildcards, if they have neither `.json` nor
    /// `.ndjson` in them.
    pub(crate) names: Vec<&'static str>,
    /// Patterns of files that belong to the agent in any folder, so that their names say which
    /// session they are.
    pub(crate) claims: Vec<&'static str>,
    /// A database of the agent with rows about all sessions.
    pub(crate) rows_beside: Option<RowsBeside>,
    /// Whether a database of the agent is an index of session files, so that its rows count only if
    /// the file is gone.
    pub(crate) has_index: bool,
    /// The marks by which the format is detected.
    pub(crate) detect: Detect,
    /// Files of the agent that are not sessions.
    pub(crate) aside: Vec<AsideFile>,
    /// Commands that resume a session; the first rule that matches the file counts.
    pub(crate) resumes: Vec<ResumeRule>,
    /// A format to inherit from: always its kinds, and its companions and dependent records unless
    /// the head has its own.
    pub(crate) inherits: Option<&'static str>,
    /// The quoted name of a member that holds a fragment of a streamed text. No single record holds
    /// all of such a text.
    pub(crate) deltas: Option<&'static str>,
    /// Records with titles, which may be anywhere in a file.
    pub(crate) titles: Vec<TitleMark>,
    /// Strings in records whose meaning depends on other records. A search decodes any other record
    /// alone, with the records it is paired with. `None` if all records of the format depend on
    /// others.
    pub(crate) dependent: Option<Vec<&'static str>>,
    /// How a session continues one in another file, if any does.
    pub(crate) continued: Option<Continued>,
    /// How records are read when only usage is counted.
    pub(crate) counting: Option<&'static CountingRules>,
    /// A string in each record that names files of the session, for files that are in the sessions'
    /// folder but do not name their own session.
    pub(crate) files_word: Option<&'static str>,
    /// Known fields of records.
    pub(crate) fields: KnownFields,
}

/// The marks of a format, by how much confidence they give.
#[derive(Debug, Default)]
pub(crate) struct Detect {
    /// How sessions are stored.
    pub(super) shapes: Vec<Shape>,
    /// Any record matches: certain.
    pub(super) certain: Vec<DetectionMark>,
    /// Nearly all records match.
    pub(super) likely: Vec<DetectionMark>,
    /// Nearly all records match, but other formats may match as well.
    pub(super) maybe: Vec<DetectionMark>,
    /// Any record matches: it is another format.
    pub(super) never: Vec<DetectionMark>,
}

/// A file of the agent that is not a session.
#[derive(Debug)]
pub(crate) struct AsideFile {
    /// The conditions on its records.
    pub(super) mark: DetectionMark,
    /// Whether one matching record is enough; otherwise nearly all must match.
    pub(super) is_any: bool,
    /// What the file is, and which one to open instead, as half a sentence.
    pub(super) what: &'static str,
}

/// Conditions that identify records of a format.
#[derive(Debug)]
pub(super) struct DetectionMark {
    /// Whether it applies to the header of a document.
    pub(super) is_header: bool,
    pub(super) when: Conditions,
    /// The conditions as text.
    pub(super) words: String,
}

/// A database beside session files with rows about these sessions.
#[derive(Debug)]
pub(crate) struct RowsBeside {
    /// The template of the database's path.
    pub(crate) database: String,
    pub(super) table: &'static str,
    /// The column with the name of the session.
    pub(super) session: &'static str,
}

/// How a session continues one in another file: paths in its first record.
#[derive(Debug)]
pub(crate) struct Continued {
    /// The id of the earlier session.
    pub(super) id: RecordPath,
    /// The length in bytes of that part of its file which is continued; what followed was rewound.
    pub(super) bytes: RecordPath,
    /// The number after that of the last record of the part.
    pub(super) end: RecordPath,
    /// The number of a record, in any record.
    pub(super) number: RecordPath,
}

/// The beginning of a session that continues in another file.
pub(crate) struct EarlierPart {
    /// The id of the session.
    pub(crate) id: String,
    /// The length of the part in bytes.
    pub(crate) bytes: u64,
    /// The number of its last record.
    pub(crate) last: u64,
}

impl Continued {
    /// The part that a session with this first record continues.
    pub(crate) fn earlier(&self, first: &Json<'_>) -> Option<EarlierPart> {
        let scope = PathScope::of(first);
        Some(EarlierPart {
            id: self.id.string(scope, str::to_owned)?,
            bytes: self.bytes.count(scope)?,
            last: self.end.count(scope)?.checked_sub(1)?,
        })
    }

    pub(crate) fn number(&self, record: &Json<'_>) -> Option<u64> {
        self.number.count(PathScope::of(record))
    }
}

/// Commands that resume sessions.
#[derive(Debug)]
pub(crate) struct ResumeRule {
    /// Only for files below a folder of this name, at any depth.
    pub(super) within: Option<&'static str>,
    /// Only for files whose names end in this suffix.
    pub(super) suffix: Option<&'static str>,
    pub(super) commands: &'static [Resume],
}

/// A record with a title.
#[derive(Clone, Copy, Debug)]
pub enum TitleMark {
    /// A record with this text; if there are several, the last one counts.
    Last(&'static str),
    /// A record with the first text, followed by the id of another record, which has that id behind
    /// the second text. The title belongs to this session only if that other record is in the file.
    Of(&'static str, &'static str),
}

impl Head {
    /// The files with a role for the session at `path`, as far as the head says so.
    pub(crate) fn files(&self, path: &Path, role: FileRole<'_>) -> Vec<Pattern> {
        match role {
            FileRole::Companion => {
                let files = self.companions.iter();
                files
                    .filter_map(|file| filled(file, path))
                    .map(Pattern)
                    .collect()
            }
            FileRole::Starter(_) => vec![Pattern(path.to_owned())],
            _ => Vec::new(),
        }
    }

    /// The commands that resume the session in the file or folder at `path`.
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
