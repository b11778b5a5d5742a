//! Decodes records into edits: a module for each agent whose sessions need code, definitions for
//! the rest.
//!
//! **A stream is shown as far as it has been read.** The decoder assembles a message from its
//! deltas and emits partial versions under the key of the final message, which replaces them. No
//! record contains a text that is assembled from deltas, so its body is kept in memory and cannot
//! be read from disk. Summaries of turns and runs repeat messages: the n-th with one key repeats
//! the n-th that was emitted.
//!
//! Invariant: pure functions of bytes. No file, no clock, no terminal. The only layer that parses
//! JSON records.

pub(crate) mod aider;
pub(crate) mod anthropic;
mod attached;
pub mod claude;
pub mod claude_stream;
pub mod cline;
pub(crate) mod codex;
pub(crate) mod counting;
pub mod decoder;
pub mod definition;
pub mod details;
pub mod emitted;
#[cfg(test)]
pub(crate) mod fed;
pub mod fields;
pub(crate) mod generic;
pub(crate) mod inline;
pub(crate) mod inspect;
pub mod json;
pub(crate) mod kimi;
pub(crate) mod lanes;
pub mod openclaw;
pub(crate) mod opencode;
pub mod pi;
pub mod probe;
pub(crate) mod remarks;
pub mod roots;
pub(crate) mod survey;
pub mod tables;
pub(crate) mod tools;
pub(crate) mod turns;
pub(crate) mod unknown;
pub(crate) mod waiting;
pub(crate) mod yaml;
mod zeros;

use std::path::Path;
use std::sync::{LazyLock, OnceLock};

use decoder::Format;

use definition::read::Overlay;
use definition::rule::Definition;
use definition::{BUILT_IN, heads, read, sniff};
use probe::{Confidence, Probe, ProbeResult};
use roots::Root;
use tables::{Queries, Tables};

use crate::model::record::Shape;
use crate::model::resume::Resume;

/// Formats with a decoder in Rust: those with a protocol of their own.
static DECODERS: &[&dyn Format] = &[
    &aider::Aider,
    &openclaw::Openclaw,
    &pi::Pi,
    &claude::qoder::Qoder,
    &claude::Claude,
    &claude_stream::ClaudeStream,
    &cline::Cline,
    &codex::Codex,
    &inspect::Inspect,
    &kimi::KimiCli,
    &kimi::KimiCode,
    &opencode::Opencode,
];

/// All formats in the order of detection: of equally confident ones the earlier wins, and the last one reads anything. The
/// user's own definitions come first and replace formats of the same name. Built-in definitions are parsed only when the
/// iterator reaches them: parsing them takes longer than everything else before the first frame.
pub fn registry() -> impl Iterator<Item = &'static dyn Format> {
    let data =
        std::iter::once(()).flat_map(|()| DEFINITIONS.iter().filter(|known| known.file.is_none()));
    let data = data
        .map(|known| -> &dyn Format { known })
        .filter(|format| !is_replaced(*format));
    user_definitions()
        .map(|known| -> &dyn Format { known })
        .chain(decoders())
        .chain(data)
        .chain([&generic::Generic as &dyn Format])
}

/// The names of all formats, in the same order. No definition is parsed for them: a built-in one has the name of its
/// file.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let data = BUILT_IN.iter().map(|(name, _)| *name);
    let data = data.filter(|name| !user_definitions().any(|known| known.head.name == *name));
    user_definitions()
        .map(|known| known.head.name)
        .chain(decoders().map(Format::name))
        .chain(data)
        .chain([generic::Generic.name()])
}

pub(crate) fn user_definitions() -> impl Iterator<Item = &'static &'static Definition> {
    CHOICE
        .get()
        .into_iter()
        .flat_map(|choice| &choice.definitions)
}

/// Whether the user has a definition of the same name.
fn is_replaced(format: &dyn Format) -> bool {
    user_definitions().any(|known| known.head.name == format.name())
}

/// The formats with a decoder in Rust, except for those that a definition of the user replaces.
fn decoders() -> impl Iterator<Item = &'static dyn Format> {
    DECODERS
        .iter()
        .copied()
        .filter(|format| !is_replaced(*format))
}

/// The roots of a format, including those that the user added.
pub(crate) fn roots(format: &dyn Format) -> impl Iterator<Item = &'static Root> {
    format
        .head()
        .roots
        .iter()
        .chain(heads::overlays(format.name()).flat_map(|overlay| overlay.roots))
}

/// The commands with which the agent continues the session in the file or folder at `path`; none if
/// the file is not a session of its own.
pub(crate) fn resumes(format: &dyn Format, path: &Path) -> &'static [Resume] {
    let is_session = format.session_name(path).is_some();
    if is_session {
        format.head().resumes(path)
    } else {
        &[]
    }
}

/// Finds the format with this name.
pub fn named(name: &str) -> Option<&'static dyn Format> {
    registry().find(|format| format.name() == name)
}

/// All definitions: the user's, then the built-in ones.
pub static DEFINITIONS: LazyLock<Vec<&'static Definition>> = LazyLock::new(|| {
    let built_in = BUILT_IN
        .iter()
        .filter_map(|(_, text)| read::read(text, None).ok());
    user_definitions()
        .copied()
        .chain(built_in.map(|definition| &*Box::leak(Box::new(definition))))
        .collect()
});

/// The user's choice of formats. Set once, before any format is used.
pub(crate) static CHOICE: OnceLock<FormatChoice> = OnceLock::new();

/// The definitions of the user, and the only format to try.
#[derive(Debug, Default)]
pub struct FormatChoice {
    /// Definitions; among several with one name the first is used.
    pub definitions: Vec<&'static Definition>,
    /// Roots and kinds to add to other formats.
    pub overlays: Vec<&'static Overlay>,
    /// The name of the only format to try.
    pub only: Option<String>,
}

/// Sets the user's choice. Only the first call has an effect.
pub fn choose(choice: FormatChoice) {
    let _ = CHOICE.set(choice);
}

/// Whether a format with this name is built in.
pub(crate) fn is_built_in(name: &str) -> bool {
    let is_decoder = DECODERS.iter().any(|format| format.name() == name);
    is_decoder || BUILT_IN.iter().any(|(known, _)| *known == name)
}

/// The formats to try: all, or the only one that the user chose.
pub(crate) fn tried() -> impl Iterator<Item = &'static dyn Format> {
    registry().filter(is_tried)
}

fn is_tried(format: &&'static dyn Format) -> bool {
    CHOICE
        .get()
        .and_then(|choice| choice.only.as_deref())
        .is_none_or(|only| format.name() == only)
}

/// The format of a file, and the verdicts of the others.
pub struct Detection {
    /// The format to read the file with.
    pub format: &'static dyn Format,
    pub verdict: ProbeResult,
    /// The verdicts of all formats that were tried, in the order of the registry.
    pub others: Vec<(&'static str, ProbeResult)>,
    /// Whether more of the file may change the result.
    pub(crate) is_provisional: bool,
    /// What the file is, if an agent wrote it but it is not a session.
    pub aside: Option<&'static str>,
}

/// Which formats to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectMode {
    /// Formats in order until one is certain, as no later one can win.
    UntilCertain,
    /// All formats, to list their verdicts.
    All,
}

/// Detects the format of a file by its content.
pub fn detect(probe: &Probe<'_>, mode: DetectMode) -> Detection {
    let mut verdicts: Vec<(&'static dyn Format, ProbeResult)> = Vec::new();
    for format in tried() {
        let verdict = force_only_format(format.sniff(probe), probe);
        let is_certain = verdict.confidence == Confidence::Certain;
        verdicts.push((format, verdict));
        if is_certain && mode == DetectMode::UntilCertain {
            break;
        }
    }
    let is_provisional = verdicts
        .iter()
        .any(|(_, verdict)| verdict.confidence == Confidence::NeedMore);
    let others = verdicts
        .iter()
        .map(|(format, verdict)| (format.name(), verdict.clone()))
        .collect();
    let first_best = |a: &(usize, (&'static dyn Format, ProbeResult)),
                      b: &(usize, (&'static dyn Format, ProbeResult))| {
        a.1.1.confidence.cmp(&b.1.1.confidence).then(b.0.cmp(&a.0))
    };
    let best = verdicts
        .into_iter()
        .enumerate()
        .filter(|(_, (_, v))| v.confidence != Confidence::NeedMore)
        .max_by(first_best);
    let (format, verdict): (&'static dyn Format, ProbeResult) = match best {
        Some((_, best)) => best,
        None => (&generic::Generic, generic::Generic.sniff(probe)),
    };
    let is_asked_for = CHOICE.get().is_some_and(|choice| choice.only.is_some());
    let is_unknown = verdict.confidence <= Confidence::Maybe && !is_asked_for;
    let aside = is_unknown
        .then(|| tried().find_map(|format| sniff::aside(format.head(), probe)))
        .flatten();
    Detection {
        format,
        verdict,
        others,
        is_provisional,
        aside,
    }
}

/// Detects the format of a text that is not JSON by its beginning.
pub(crate) fn detect_text(text: &str, mode: DetectMode) -> Option<Detection> {
    let probe = Probe {
        text: Some(text),
        ..Probe::at(Path::new("-"))
    };
    let of_text = |format: &'static dyn Format| {
        let verdict = format.sniff(&probe);
        (verdict.shape == Shape::Text).then_some((format, verdict))
    };
    let (format, verdict) = tried().find_map(of_text)?;
    let verdict_of = |other: &'static dyn Format| {
        let is_found = other.name() == format.name();
        (
            other.name(),
            if is_found {
                verdict.clone()
            } else {
                ProbeResult::no("a text that is no JSON")
            },
        )
    };
    let others = if mode == DetectMode::All {
        tried().map(verdict_of).collect()
    } else {
        Vec::new()
    };
    Some(Detection {
        format,
        verdict,
        others,
        is_provisional: false,
        aside: None,
    })
}

/// Makes the only format to try read the file, whatever its verdict.
fn force_only_format(verdict: ProbeResult, probe: &Probe<'_>) -> ProbeResult {
    let is_only = CHOICE.get().is_some_and(|choice| choice.only.is_some());
    if !is_only || verdict.confidence >= Confidence::Maybe || !probe.children.is_empty() {
        return verdict;
    }
    let shape = if probe.is_document {
        Shape::Document
    } else {
        Shape::Lines
    };
    let reason = if verdict.reason.is_empty() {
        String::new()
    } else {
        format!(", though: {}", verdict.reason)
    };
    ProbeResult::yes(
        Confidence::Maybe,
        shape,
        format!("it was asked for{reason}"),
    )
}

/// Detects the format of a database by its tables. Returns it with the queries for its sessions.
pub(crate) fn detect_database(tables: &Tables, mode: DetectMode) -> Option<(Detection, Queries)> {
    let mut found = None;
    let mut others = Vec::new();
    for format in tried() {
        let queries = format.queries(tables);
        let verdict = queries.as_ref().map_or_else(
            || ProbeResult::no("other tables"),
            |queries| ProbeResult::yes(Confidence::Certain, Shape::Rows, queries.reason.as_str()),
        );
        others.push((format.name(), verdict.clone()));
        if let (None, Some(queries)) = (&found, queries) {
            found = Some((format, verdict, queries));
            if mode == DetectMode::UntilCertain {
                break;
            }
        }
    }
    let (format, verdict, queries) = found?;
    Some((
        Detection {
            format,
            verdict,
            others,
            is_provisional: false,
            aside: None,
        },
        queries,
    ))
}

#[cfg(test)]
mod tests {
    use super::decoder::Format;
    use super::{names, registry};

    #[test]
    fn a_definition_has_the_name_of_its_file() {
        let read: Vec<&str> = registry().map(Format::name).collect();
        assert_eq!(names().collect::<Vec<_>>(), read);
    }
}
