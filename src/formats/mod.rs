//! Decodes records into edits: a module for each agent whose sessions need code, definitions for the rest.
//!
//! **A stream is shown as it stands at the end of a reading.** Deltas build the message in the decoder; what is emitted
//! of it on the way has the key of the final message, which takes its place. No record holds a text that is made of
//! deltas, so it stays in its stub and is never left on disk. Summaries of turns and runs name messages again: the
//! n-th of one identity is the n-th that was emitted.
//!
//! Invariant: pure functions of bytes. No file, no clock, no terminal. The only layer that parses JSON
//! records.

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
pub mod openclaw;
pub(crate) mod opencode;
pub mod pi;
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

use std::sync::{LazyLock, OnceLock};

use decoder::{Confidence, Format, Probe, Verdict};
use definition::read::Overlay;
use definition::rule::Definition;
use definition::{BUILT_IN, head, read};
use roots::Root;
use tables::{Queries, Tables};

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

/// All formats. Of equally confident ones the earlier wins; the last one takes anything. A reader's own come first,
/// and take the place of those with their names. The definitions that come with the program are read when they are
/// come to: that takes longer than all else before the first frame.
pub fn registry() -> impl Iterator<Item = &'static dyn Format> {
    let data =
        std::iter::once(()).flat_map(|()| DEFINITIONS.iter().filter(|known| known.file.is_none()));
    let data = data
        .map(|known| -> &dyn Format { known })
        .filter(|format| !is_replaced(*format));
    own()
        .map(|known| -> &dyn Format { known })
        .chain(decoders())
        .chain(data)
        .chain([&generic::Generic as &dyn Format])
}

/// The names of all formats, in the same order. No definition is read for them: one that comes with the program has the
/// name of its file.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let data = BUILT_IN
        .iter()
        .filter_map(|(file, _)| file.strip_suffix(".toml"));
    let data = data.filter(|name| !own().any(|known| known.name == *name));
    own()
        .map(|known| known.name)
        .chain(decoders().map(Format::name))
        .chain(data)
        .chain([generic::Generic.name()])
}

/// The reader's own definitions.
pub(crate) fn own() -> impl Iterator<Item = &'static &'static Definition> {
    CHOICE.get().into_iter().flat_map(|choice| &choice.own)
}

/// Whether the reader has a definition of the same name.
fn is_replaced(format: &dyn Format) -> bool {
    own().any(|known| known.name == format.name())
}

/// The formats with a decoder in Rust that the reader did not replace.
fn decoders() -> impl Iterator<Item = &'static dyn Format> {
    DECODERS
        .iter()
        .copied()
        .filter(|format| !is_replaced(*format))
}

/// Where an agent keeps sessions, and where else its reader says they lie.
pub(crate) fn roots(format: &dyn Format) -> impl Iterator<Item = &'static Root> {
    format
        .roots()
        .iter()
        .chain(head::overlays(format.name()).flat_map(|overlay| overlay.roots))
}

/// The format with this name.
pub fn named(name: &str) -> Option<&'static dyn Format> {
    registry().find(|format| format.name() == name)
}

/// All definitions: the reader's own, then those that come with the program.
pub static DEFINITIONS: LazyLock<Vec<&'static Definition>> = LazyLock::new(|| {
    let built_in = BUILT_IN
        .iter()
        .filter_map(|(_, text)| read::read(text, None).ok());
    own()
        .copied()
        .chain(built_in.map(|definition| &*Box::leak(Box::new(definition))))
        .collect()
});

/// What the reader chose.
pub(crate) static CHOICE: OnceLock<Choice> = OnceLock::new();

/// A reader's own definitions, and the format that alone is to be tried.
#[derive(Debug, Default)]
pub struct Choice {
    /// The definitions. Of several with one name the first counts.
    pub own: Vec<&'static Definition>,
    /// What is added to formats that are there.
    pub overlays: Vec<&'static Overlay>,
    /// The name of a format.
    pub only: Option<String>,
}

/// Takes the reader's choice, before any format is used. A second one is none.
pub fn choose(choice: Choice) {
    // A program has one reader.
    let _ = CHOICE.set(choice);
}

/// Whether the program itself has a format with this name.
pub(crate) fn is_built_in(name: &str) -> bool {
    let is_data = || {
        BUILT_IN
            .iter()
            .any(|(file, _)| file.strip_suffix(".toml") == Some(name))
    };
    DECODERS.iter().any(|format| format.name() == name) || is_data()
}

/// The formats that are tried: all, or the one that was asked for.
pub(crate) fn tried() -> impl Iterator<Item = &'static dyn Format> {
    registry().filter(is_tried)
}

fn is_tried(format: &&'static dyn Format) -> bool {
    CHOICE
        .get()
        .and_then(|choice| choice.only.as_deref())
        .is_none_or(|only| format.name() == only)
}

use crate::model::record::Shape;

/// What a file is, and what each other format says of it.
pub struct Detection {
    /// The format that reads it.
    pub format: &'static dyn Format,
    /// Its verdict.
    pub verdict: Verdict,
    /// The verdicts of the formats that were asked, in the order of the registry.
    pub others: Vec<(&'static str, Verdict)>,
    /// Whether more of the file may change the answer.
    pub(crate) is_provisional: bool,
    /// What the file is, if an agent wrote it and it is no session.
    pub aside: Option<&'static str>,
}

/// Who is asked what a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Each until one is certain: none after it could win.
    UntilCertain,
    /// All, for a reader who wants to know what each one says.
    All,
}

/// Finds the format of a file by its content.
pub fn detect(probe: &Probe<'_>, asked: Asked) -> Detection {
    let mut verdicts: Vec<(&'static dyn Format, Verdict)> = Vec::new();
    for format in tried() {
        let verdict = asked_for(format.sniff(probe), probe);
        let is_certain = verdict.confidence == Confidence::Certain;
        verdicts.push((format, verdict));
        if is_certain && asked == Asked::UntilCertain {
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
    let first_best = |a: &(usize, (&'static dyn Format, Verdict)),
                      b: &(usize, (&'static dyn Format, Verdict))| {
        a.1.1.confidence.cmp(&b.1.1.confidence).then(b.0.cmp(&a.0))
    };
    let best = verdicts
        .into_iter()
        .enumerate()
        .filter(|(_, (_, v))| v.confidence != Confidence::NeedMore)
        .max_by(first_best);
    let (format, verdict): (&'static dyn Format, Verdict) = match best {
        Some((_, best)) => best,
        None => (&generic::Generic, generic::Generic.sniff(probe)),
    };
    let is_asked_for = CHOICE.get().is_some_and(|choice| choice.only.is_some());
    let is_unknown = verdict.confidence <= Confidence::Maybe && !is_asked_for;
    let aside = is_unknown
        .then(|| tried().find_map(|format| format.aside(probe)))
        .flatten();
    Detection {
        format,
        verdict,
        others,
        is_provisional,
        aside,
    }
}

/// Finds the format of a text that is no JSON, by its beginning.
pub(crate) fn detect_text(text: &str, asked: Asked) -> Option<Detection> {
    let mut readers = tried();
    let (format, verdict) = readers.find_map(|format| Some((format, format.sniff_text(text)?)))?;
    let verdict_of = |other: &'static dyn Format| {
        let is_found = other.name() == format.name();
        (
            other.name(),
            if is_found {
                verdict.clone()
            } else {
                Verdict::no("a text that is no JSON")
            },
        )
    };
    let others = if asked == Asked::All {
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

/// The only format that is tried reads the file, whatever it says of it.
fn asked_for(verdict: Verdict, probe: &Probe<'_>) -> Verdict {
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
    Verdict::yes(
        Confidence::Maybe,
        shape,
        format!("it was asked for{reason}"),
    )
}

/// Finds the format of a database by its tables, and how its sessions are read.
pub(crate) fn detect_database(tables: &Tables, asked: Asked) -> Option<(Detection, Queries)> {
    let mut found = None;
    let mut others = Vec::new();
    for format in tried() {
        let queries = format.queries(tables);
        let verdict = queries.as_ref().map_or_else(
            || Verdict::no("other tables"),
            |queries| Verdict::yes(Confidence::Certain, Shape::Rows, queries.reason.as_str()),
        );
        others.push((format.name(), verdict.clone()));
        if let (None, Some(queries)) = (&found, queries) {
            found = Some((format, verdict, queries));
            if asked == Asked::UntilCertain {
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
    fn a_format_with_a_decoder_has_a_head() {
        for format in super::DECODERS {
            assert!(
                super::head::of(format.name()).is_some(),
                "{}",
                format.name()
            );
        }
    }

    #[test]
    fn a_definition_has_the_name_of_its_file() {
        let read: Vec<&str> = registry().map(Format::name).collect();
        assert_eq!(names().collect::<Vec<_>>(), read);
    }
}
