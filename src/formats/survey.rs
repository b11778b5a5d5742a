//! Coverage of a format: which strings of the records its decoder emits.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::decoder::{BESIDE, Decoder, DecoderWrapper, Input};
use super::details::{self, is_opaque, shortened};
use super::emitted::{Emitted, print};
use super::fields::KnownFields;
use super::json::{self, Json};
use crate::model::body::Tree;
use crate::model::coverage::Coverage;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::details::Details;
use crate::model::record::Origin;
use crate::model::tally::Fate;
use crate::model::text::Text;

/// Limit of the segments of a path.
const DEEPEST: usize = 8;
/// Keys longer than this are data, in bytes.
const LONGEST_KEY: usize = 32;

/// Limit of the lines of pending strings.
const PENDING: usize = 1 << 20;
/// Strings shorter than this occur in other records by chance, in bytes.
const SHORT: usize = 24;

/// The survey, shared with the decoding thread.
pub(crate) type SharedSurvey = Arc<Mutex<Survey>>;

/// Emitted strings, and pending ones that another record may emit: a stream emits its texts when
/// they are complete.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    coverage: Coverage,
    /// Hashes of all lines that were emitted.
    lines: HashSet<u64>,
    pending: Vec<PendingStrings>,
    pending_lines: usize,
}

#[derive(Debug)]
struct PendingStrings {
    path: String,
    bytes: usize,
    shown: (usize, usize),
    origin: Origin,
    lines: Vec<(u64, usize)>,
}

impl Survey {
    /// Ends the survey: the pending strings are counted too.
    pub(crate) fn finish(&mut self) -> Coverage {
        for string in std::mem::take(&mut self.pending) {
            let all: usize = string.lines.iter().map(|(_, bytes)| bytes).sum();
            let known = string
                .lines
                .iter()
                .filter(|(line, _)| self.lines.contains(line));
            let emitted = string.bytes * known.map(|(_, bytes)| bytes).sum::<usize>() / all.max(1);
            let (known, details) = string.shown;
            let emitted = emitted.max(known - details);
            let shown = emitted.max(known);
            self.coverage.add(
                &string.path,
                string.bytes,
                (shown, shown - emitted),
                string.origin,
            );
        }
        std::mem::take(&mut self.coverage)
    }

    fn add(&mut self, path: &str, text: &str, shown: (usize, usize), origin: Origin) {
        if shown == (text.len(), 0) || text.len() < SHORT || self.pending_lines > PENDING {
            return self.coverage.add(path, text.len(), shown, origin);
        }
        let lines: Vec<(u64, usize)> = text
            .lines()
            .map(|line| (print(line), line.len() + 1))
            .collect();
        self.pending_lines += lines.len();
        self.pending.push(PendingStrings {
            path: path.to_owned(),
            bytes: text.len(),
            shown,
            origin,
            lines,
        });
    }
}

/// A decoder that surveys its records.
pub(crate) struct Surveyed {
    decoder: Box<dyn Decoder>,
    sums: SharedSurvey,
}

impl Surveyed {
    /// Clears the survey: a new decoder reads all records again.
    pub(crate) fn new(decoder: Box<dyn Decoder>, sums: SharedSurvey) -> Self {
        *sums.lock().unwrap_or_else(PoisonError::into_inner) = Survey::default();
        Self { decoder, sums }
    }
}

impl DecoderWrapper for Surveyed {
    fn inner(&self) -> &dyn Decoder {
        &*self.decoder
    }

    fn inner_mut(&mut self) -> &mut dyn Decoder {
        &mut *self.decoder
    }

    /// Emits whole bodies for the survey, then releases those that would have been stubs.
    fn emit(&mut self, input: Option<Input<'_>>, out: &mut Batch) -> Option<Fate> {
        let origin = out.origin();
        let (edits, notices) = (out.edits.len(), out.notices.len());
        let stubs_only = std::mem::replace(&mut out.stubs_only, false);
        let fate = self.emit_inner(input, out);
        out.stubs_only = stubs_only;
        let edits = out.edits.get_mut(edits..).unwrap_or_default();
        let emitted = Emitted::of(edits, out.notices.get(notices..).unwrap_or_default());
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(input) = input.filter(|_| fate != Some(BESIDE)) {
            let fields = &self.decoder.head().fields;
            let details = edits
                .iter()
                .any(has_details)
                .then(|| details::of(input.json, fields, &emitted));
            let details = details.map(|details| prints(&details)).unwrap_or_default();
            let path = Vec::new();
            let mut walk = StringWalk {
                emitted: &emitted,
                details: &details,
                fields,
                origin,
                path,
                sums: &mut sums,
            };
            walk.value(input.json, input.place.is_text());
        }
        sums.lines.extend(emitted.into_lines());
        if stubs_only {
            edits.iter_mut().for_each(release);
        }
        fate
    }
}

/// Whether details of the record are shown with this edit, below one of its blocks.
fn has_details(edit: &Edit) -> bool {
    match edit {
        Edit::Entry(entry) => !entry.blocks.is_empty(),
        Edit::Result { .. } => true,
        _ => false,
    }
}

fn prints(details: &Details) -> HashSet<u64> {
    fn add(tree: &Tree, all: &mut HashSet<u64>) {
        match tree {
            Tree::Text(text) => drop(all.insert(print(text))),
            Tree::List(items) => items.iter().for_each(|item| add(item, all)),
            Tree::Map(members) => members.iter().for_each(|(_, value)| add(value, all)),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }
    let mut all = HashSet::new();
    details
        .fields
        .iter()
        .for_each(|(_, value)| add(value, &mut all));
    all
}

/// Releases bodies that were loaded for the survey.
fn release(edit: &mut Edit) {
    let bodies = match edit {
        Edit::Entry(entry) => entry
            .blocks
            .iter_mut()
            .flat_map(|block| block.kind.bodies_mut())
            .collect(),
        Edit::Result { result, .. } => std::iter::once(&mut result.body)
            .chain(result.patch.as_mut())
            .collect(),
        _ => Vec::new(),
    };
    for body in bodies {
        body.release();
    }
}

struct StringWalk<'a> {
    emitted: &'a Emitted,
    details: &'a HashSet<u64>,
    fields: &'static KnownFields,
    origin: Origin,
    path: Vec<&'a str>,
    sums: &'a mut Survey,
}

impl<'a> StringWalk<'a> {
    fn value(&mut self, json: &'a Json<'_>, is_used: bool) {
        match json {
            Json::Str(text) => self.string(text, is_used),
            Json::Deep(source) => self.string(source, is_used),
            Json::Array(items) => {
                self.path.push("[]");
                for item in items {
                    self.value(item, is_used);
                }
                self.path.pop();
            }
            Json::Object(members) => {
                for (key, value) in members {
                    let is_used =
                        is_used || details::is_used(key, self.path.is_empty(), self.fields);
                    self.path.push(segment(key));
                    self.value(value, is_used);
                    self.path.pop();
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Integer(_) => {}
        }
    }

    fn string(&mut self, text: &str, is_used: bool) {
        let emitted = if is_used || is_opaque(text) {
            text.len()
        } else {
            self.emitted.bytes_of(text)
        };
        // JSON within a string is emitted by its content.
        if emitted * 10 < text.len() * 9
            && text.starts_with(['{', '['])
            && let Some(inner) = json::read(text)
        {
            return self.inner(&inner);
        }
        let short = shortened(text);
        let is_detail = emitted < text.len() && self.details.contains(&print(&Text::clean(&short)));
        let shown = if is_detail {
            emitted.max(short.len())
        } else {
            emitted
        };
        self.sums.add(
            &path_of(&self.path),
            text,
            (shown, shown - emitted),
            self.origin,
        );
    }

    fn inner(&mut self, json: &Json<'_>) {
        let mut path = self.path.clone();
        path.push("{}");
        let StringWalk {
            emitted,
            details,
            fields,
            origin,
            ..
        } = *self;
        StringWalk {
            emitted,
            details,
            fields,
            origin,
            path,
            sums: self.sums,
        }
        .value(json, false);
    }
}

/// `message.content[].text`; `arguments{}.path` within a string that is JSON itself.
fn path_of(segments: &[&str]) -> String {
    let mut path = String::new();
    for segment in segments.iter().take(DEEPEST) {
        if !path.is_empty() && !matches!(*segment, "[]" | "{}") {
            path.push('.');
        }
        path.push_str(segment);
    }
    if segments.len() > DEEPEST {
        path.push_str(".…");
    }
    path
}

/// The name of a field, or `*` for a key that is data.
fn segment(key: &str) -> &str {
    let is_name = key.len() <= LONGEST_KEY
        && key
            .bytes()
            .all(|c| c.is_ascii_alphanumeric() || b"_-$@".contains(&c));
    if is_name { key } else { "*" }
}

#[cfg(test)]
mod tests {
    use super::{SharedSurvey, Surveyed};
    use crate::formats::decoder::{Decoder, Format, RecordPlace, feed};
    use crate::formats::pi::Pi;
    use crate::model::edit::{Batch, Edit};
    use crate::model::record::{Origin, Record};

    #[test]
    fn strings_that_no_entry_holds_are_found_with_their_paths() {
        let sums = SharedSurvey::default();
        let mut decoder = Surveyed::new(Pi.decoder(None), SharedSurvey::clone(&sums));
        let mut out = Batch::default();
        out.stubs_only = true;
        let text = "a long answer that is long ".repeat(20);
        let record = format!(
            r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-02T03:04:05Z","message":{{"role":"assistant","content":[{{"type":"text","text":"{text}","hidden":[{{"a mood":"nobody knows"}}]}}],"model":"m-1"}}}}"#
        );
        let record = Record {
            origin: Origin {
                line: 7,
                ..Origin::default()
            },
            bytes: record.as_bytes(),
        };
        feed(
            &mut decoder as &mut dyn Decoder,
            record,
            RecordPlace::Line,
            &mut out,
        );
        let coverage = sums.lock().unwrap().finish();
        assert_eq!(coverage.total().details, 12, "no block holds it");
        assert!(coverage.missing().is_empty(), "{:?}", coverage.missing());
        assert_eq!(
            super::path_of(&["message", "[]", super::segment("a mood")]),
            "message[].*"
        );
        assert!(coverage.total().shown > text.len() as u64);
        let is_away = |edit: &Edit| match edit {
            Edit::Entry(entry) => entry
                .blocks
                .iter()
                .flat_map(|block| block.kind.bodies())
                .all(crate::model::body::Body::is_on_disk),
            _ => true,
        };
        assert!(out.edits.iter().all(is_away), "bodies stay on disk");
    }
}
