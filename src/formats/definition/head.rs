//! The head of a format: its properties as data, from its file in `assets/formats`. Formats with a decoder in Rust and
//! definitions have the same head.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

use super::kinds::{self, Kinds};
use super::read::{self, Overlay};
use super::rule::{DetectionMark, RowsBeside};
use crate::formats::fields::Fields;
use crate::formats::roots::Root;
use crate::formats::{CHOICE, DECODERS, DEFINITIONS};
use crate::model::body::Key;
use crate::model::resume::Resume;
use crate::model::tool::work::{Ends, Work};

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
    /// Parses the head of a format with a decoder in Rust. A test ensures that these have no mistakes.
    pub(crate) fn built_in(text: &'static str) -> Self {
        let head = Self {
            text,
            ..read::head(text).unwrap_or_default()
        };
        match head.like.and_then(of) {
            Some(other) => Self {
                kinds: other.kinds.with(&head.kinds),
                companions: if head.companions.is_empty() {
                    other.companions.clone()
                } else {
                    head.companions
                },
                dependent: head.dependent.or_else(|| other.dependent.clone()),
                ..head
            },
            None => head,
        }
    }

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

/// Implements `name` and `head` for a format with a decoder in Rust, from the file of its name.
macro_rules! head {
    ($name:literal) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn head(&self) -> &'static $crate::formats::definition::head::Head {
            static HEAD: std::sync::LazyLock<$crate::formats::definition::head::Head> =
                std::sync::LazyLock::new(|| {
                    $crate::formats::definition::head::Head::built_in(include_str!(concat!(
                        env!("CARGO_MANIFEST_DIR"),
                        "/assets/formats/",
                        $name,
                        ".toml"
                    )))
                });
            &HEAD
        }
    };
}
pub(crate) use head;

/// The head of a format with a decoder in Rust.
pub(crate) fn of(format: &str) -> Option<&'static Head> {
    let decoder = DECODERS.iter().find(|known| known.name() == format)?;
    Some(decoder.head())
}

/// The overlays of a format.
pub(crate) fn overlays(format: &str) -> impl Iterator<Item = &'static Overlay> {
    let all = CHOICE
        .get()
        .into_iter()
        .flat_map(|choice| &choice.overlays)
        .copied();
    all.filter(move |overlay| overlay.extends == format)
}

/// The kinds of formats with overlays: of several overlays the first takes precedence.
static ADDED: LazyLock<HashMap<&'static str, Kinds>> = LazyLock::new(|| {
    let mut added: HashMap<&'static str, Kinds> = HashMap::new();
    for overlay in CHOICE
        .get()
        .into_iter()
        .flat_map(|choice| choice.overlays.iter().rev())
    {
        let before = added
            .get(overlay.extends)
            .unwrap_or_else(|| own_kinds(overlay.extends));
        let kinds = before.with(&overlay.kinds);
        added.insert(overlay.extends, kinds);
    }
    added
});

/// The kinds of a format and its overlays.
pub(crate) fn kinds_of(format: &str) -> &'static Kinds {
    ADDED.get(format).unwrap_or_else(|| own_kinds(format))
}

/// The kinds of a format without its overlays.
pub(crate) fn own_kinds(format: &str) -> &'static Kinds {
    named(format).map_or(&kinds::NONE, |head| &head.kinds)
}

/// Background work of this format, by its handle.
pub(crate) fn work(format: &str, handle: Key) -> Work {
    Work::begun(
        handle,
        named(format).map(|head| head.ends).unwrap_or_default(),
    )
}

/// The head of a format. A definition of the user replaces a decoder with its name.
fn named(format: &str) -> Option<&'static Head> {
    let mut own = CHOICE.get().into_iter().flat_map(|choice| &choice.own);
    let own = own.find(|known| known.head.name == format);
    let defined = || DEFINITIONS.iter().find(|known| known.head.name == format);
    own.map(|known| &known.head)
        .or_else(|| of(format))
        .or_else(|| Some(&defined()?.head))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::read;
    use crate::formats::DECODERS;

    #[test]
    fn all_heads_are_without_mistakes() {
        for format in DECODERS {
            let head = read::head(format.head().text);
            assert_eq!(head.unwrap().name, format.name());
        }
    }

    #[test]
    fn commands_are_for_files_of_sessions() {
        let resumes = |format: &str, path: &str| {
            let commands = super::of(format).unwrap().resumes(Path::new(path));
            let words = commands.first().and_then(|command| command.words("s1"));
            words.unwrap_or_default().join(" ")
        };
        assert_eq!(
            resumes("pi", "/h/.pi/agent/sessions/a/s1.jsonl"),
            "pi --session s1"
        );
        assert_eq!(
            resumes("pi", "/h/.omp/agent/sessions/a/s1.jsonl"),
            "omp --resume s1"
        );
        assert_eq!(resumes("cline", "/s/s1/s1.messages.json"), "cline --id s1");
        assert_eq!(resumes("cline", "/tasks/s1/ui_messages.json"), "");
    }
}
