//! Records to edits: one room for each agent's way to write sessions.
//!
//! **A stream is shown as it stands at the end of a reading.** Deltas build the message in the decoder; what is emitted
//! of it on the way has the key of the final message, which takes its place. No record holds a text that is made of
//! deltas, so it stays in its stub and is never left on disk. Summaries of turns and runs name messages again: the
//! n-th of one identity is the n-th that was emitted.
//!
//! Invariant: pure functions of bytes. No file, no clock, no terminal. The only wing that knows JSON
//! when reading.

pub(crate) mod aider;
pub(crate) mod anthropic;
pub mod claude;
pub mod claude_stream;
pub mod cline;
pub(crate) mod codex;
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
pub mod roots;
pub(crate) mod survey;
pub mod tables;
pub(crate) mod tools;

use std::sync::{LazyLock, OnceLock};

use decoder::{Confidence, Format, Probe, Verdict};
use definition::rule::Definition;
use definition::{BUILT_IN, read};
use tables::{Queries, Tables};

/// Formats with a decoder in Rust: those with a protocol of their own.
static DECODERS: &[&dyn Format] = &[
    &aider::Aider,
    &openclaw::Openclaw,
    &pi::Pi,
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
/// and take the place of those with their names.
pub static REGISTRY: LazyLock<Vec<&'static dyn Format>> = LazyLock::new(|| {
    let mut all: Vec<&'static dyn Format> = DEFINITIONS
        .iter()
        .filter(|known| known.file.is_some())
        .map(|known| -> &dyn Format { known })
        .collect();
    let own: Vec<&str> = all.iter().map(|format| format.name()).collect();
    let others: Vec<&'static dyn Format> = DECODERS
        .iter()
        .copied()
        .chain(DEFINITIONS.iter().filter(|known| known.file.is_none()).map(|known| -> &dyn Format { known }))
        .chain([&generic::Generic as &dyn Format])
        .filter(|format| !own.contains(&format.name()))
        .collect();
    all.extend(others);
    all
});

/// All definitions: the reader's own, then those that come with the program.
pub static DEFINITIONS: LazyLock<Vec<&'static Definition>> = LazyLock::new(|| {
    let own = CHOICE.get().into_iter().flat_map(|choice| choice.own.iter().copied());
    let built_in = BUILT_IN.iter().filter_map(|(_, text)| read::read(text, None).ok());
    own.chain(built_in.map(|definition| &*Box::leak(Box::new(definition)))).collect()
});

/// What the reader chose.
static CHOICE: OnceLock<Choice> = OnceLock::new();

/// A reader's own definitions, and the format that alone is to be tried.
#[derive(Debug, Default)]
pub struct Choice {
    /// The definitions. Of several with one name the first counts.
    pub own: Vec<&'static Definition>,
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
    let is_data = || BUILT_IN.iter().any(|(file, _)| file.strip_suffix(".toml") == Some(name));
    DECODERS.iter().any(|format| format.name() == name) || is_data()
}

/// The formats that are tried: all, or the one that was asked for.
fn tried() -> impl Iterator<Item = &'static dyn Format> {
    let only = CHOICE.get().and_then(|choice| choice.only.as_deref());
    REGISTRY.iter().copied().filter(move |format| only.is_none_or(|only| format.name() == only))
}

use crate::model::record::Shape;

/// What a file is, and what each other format says of it.
pub struct Detection {
    /// The format that reads it.
    pub format: &'static dyn Format,
    /// Its verdict.
    pub verdict: Verdict,
    /// The verdicts of all formats, in the order of the registry.
    pub others: Vec<(&'static str, Verdict)>,
    /// Whether more of the file may change the answer.
    pub(crate) is_provisional: bool,
    /// What the file is, if an agent wrote it and it is no session.
    pub aside: Option<&'static str>,
}

/// Finds the format of a file by its content.
pub fn detect(probe: &Probe<'_>) -> Detection {
    let verdicts: Vec<(&'static dyn Format, Verdict)> =
        tried().map(|format| (format, asked_for(format.sniff(probe), probe))).collect();
    let is_provisional = verdicts.iter().any(|(_, verdict)| verdict.confidence == Confidence::NeedMore);
    let others = verdicts.iter().map(|(format, verdict)| (format.name(), verdict.clone())).collect();
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
    let aside = is_unknown.then(|| tried().find_map(|format| format.aside(probe))).flatten();
    Detection { format, verdict, others, is_provisional, aside }
}

/// Finds the format of a text that is no JSON, by its beginning.
pub(crate) fn detect_text(text: &str) -> Option<Detection> {
    let (format, verdict) = tried().find_map(|format| Some((format, format.sniff_text(text)?)))?;
    let verdict_of = |other: &'static dyn Format| {
        let is_found = other.name() == format.name();
        (other.name(), if is_found { verdict.clone() } else { Verdict::no("a text that is no JSON") })
    };
    let others = tried().map(verdict_of).collect();
    Some(Detection { format, verdict, others, is_provisional: false, aside: None })
}

/// The only format that is tried reads the file, whatever it says of it.
fn asked_for(verdict: Verdict, probe: &Probe<'_>) -> Verdict {
    let is_only = CHOICE.get().is_some_and(|choice| choice.only.is_some());
    if !is_only || verdict.confidence >= Confidence::Maybe || !probe.children.is_empty() {
        return verdict;
    }
    let shape = if probe.is_document { Shape::Document } else { Shape::Lines };
    let reason =
        if verdict.reason.is_empty() { String::new() } else { format!(", though: {}", verdict.reason) };
    Verdict::yes(Confidence::Maybe, shape, format!("it was asked for{reason}"))
}

/// Finds the format of a database by its tables, and how its sessions are read.
pub(crate) fn detect_database(tables: &Tables) -> Option<(Detection, Queries)> {
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
        }
    }
    let (format, verdict, queries) = found?;
    Some((Detection { format, verdict, others, is_provisional: false, aside: None }, queries))
}
