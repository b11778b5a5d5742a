//! Records to edits: one room for each agent's way to write sessions.
//!
//! **A stream is shown as it stands at the end of a reading.** Deltas build the message in the decoder; what is emitted
//! of it on the way has the key of the final message, which takes its place. No record holds a text that is made of
//! deltas, so it stays in its stub and is never left on disk. Summaries of turns and runs name messages again: the
//! n-th of one identity is the n-th that was emitted.
//!
//! Invariant: pure functions of bytes. No file, no clock, no terminal. The only wing that knows JSON
//! when reading.

pub(crate) mod anthropic;
pub mod claude;
pub mod claude_stream;
pub mod cline;
pub mod decoder;
pub mod details;
pub mod emitted;
pub mod fields;
pub(crate) mod generic;
pub(crate) mod inline;
pub mod json;
pub mod openclaw;
pub(crate) mod opencode;
pub mod pi;
pub mod roots;
pub(crate) mod survey;
pub mod tables;
pub(crate) mod tools;

use decoder::{Confidence, Format, Probe, Verdict};
use tables::{Queries, Tables};

/// All formats. Of equally confident ones the earlier wins; the last one takes anything.
pub static REGISTRY: &[&dyn Format] = &[
    &openclaw::Openclaw,
    &pi::Pi,
    &claude::Claude,
    &claude_stream::ClaudeStream,
    &cline::Cline,
    &opencode::Opencode,
    &generic::Generic,
];

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
}

/// Finds the format of a file by its content.
pub fn detect(probe: &Probe<'_>) -> Detection {
    let verdicts: Vec<(&'static dyn Format, Verdict)> =
        REGISTRY.iter().map(|format| (*format, format.sniff(probe))).collect();
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
    Detection { format, verdict, others, is_provisional }
}

/// Finds the format of a database by its tables, and how its sessions are read.
pub(crate) fn detect_database(tables: &Tables) -> Option<(Detection, Queries)> {
    let mut found = None;
    let mut others = Vec::new();
    for format in REGISTRY {
        let queries = format.queries(tables);
        let verdict = queries.as_ref().map_or_else(
            || Verdict::no("other tables"),
            |queries| Verdict::yes(Confidence::Certain, Shape::Rows, queries.reason.as_str()),
        );
        others.push((format.name(), verdict.clone()));
        if let (None, Some(queries)) = (&found, queries) {
            found = Some((*format, verdict, queries));
        }
    }
    let (format, verdict, queries) = found?;
    Some((Detection { format, verdict, others, is_provisional: false }, queries))
}
