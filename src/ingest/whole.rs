//! Records of files that are rewritten whole: documents, and small files of one record.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::bodies::Bodies;
use super::counted::Counted;
use super::emitter::Emitter;
use super::files::Kind;
use crate::formats::json;
use crate::model::edit::saturating_u32;
use crate::model::record::{FileId, Origin, Record, Shape};
use crate::source::document::{Split, split, split_values};
use crate::source::lines::{Line, LineBuffer};
use crate::source::regular::Fence;
use crate::source::rewritten::Rewritten;

/// A file that is one record.
pub(crate) struct Small {
    id: FileId,
    is_text: bool,
    /// Where it is read.
    pub(crate) file: Rewritten,
    /// What it counted, and how many bytes it had then.
    counted: Option<(u32, Counted)>,
}

impl Small {
    /// A file that has not been read yet.
    pub(crate) fn new(path: impl Into<Arc<Path>>, id: FileId, kind: Kind, fence: Fence) -> Self {
        Self { id, is_text: kind == Kind::Text, file: Rewritten::new(path, fence), counted: None }
    }

    /// The file's number.
    pub(crate) fn id(&self) -> FileId {
        self.id
    }

    /// Whether bytes are all of it, as far as they tell.
    pub(crate) fn is_whole(kind: Kind) -> fn(&[u8]) -> bool {
        if kind == Kind::Text { |_| true } else { is_whole_value }
    }

    /// What it holds.
    pub(crate) fn kind(&self) -> Kind {
        if self.is_text { Kind::Text } else { Kind::Small }
    }

    fn origin(&self, len: u32) -> Origin {
        Origin { file: self.id, at: 0, len, line: self.id.0 }
    }

    /// Emits its content, in place of what was sent before.
    pub(crate) fn emit(&mut self, emitter: &mut Emitter<'_>, bytes: &[u8]) {
        if let Some((len, counted)) = self.counted.take() {
            emitter.take_back(&counted.tally(self.id), self.origin(len));
        }
        let origin = self.origin(saturating_u32(bytes.len()));
        let place = self.kind().place(self.file.path(), origin.line);
        let tally = emitter.emit_apart(Record { origin, bytes }, place);
        self.counted = Some((origin.len, Counted::of(tally, self.id)));
    }
}

/// Whether bytes are one JSON value, as far as its brackets tell.
pub(crate) fn is_whole_value(bytes: &[u8]) -> bool {
    match bytes.trim_ascii().last() {
        Some(b'}' | b']') => json::parse(&String::from_utf8_lossy(bytes.trim_ascii())).is_ok(),
        _ => false,
    }
}

/// Whether bytes are a document with its closing bracket.
pub(crate) fn is_whole_document(bytes: &[u8]) -> bool {
    split(bytes).is_some_and(|split| split.is_complete())
}

/// Whether bytes are all of a file of this shape, as far as they tell.
pub(crate) fn is_whole_of(shape: Shape) -> fn(&[u8]) -> bool {
    if shape == Shape::Text { |_| true } else { is_whole_document }
}

/// What the records are of a file of this shape that is read whole.
pub(crate) fn kind_of(shape: Shape) -> Kind {
    match shape {
        Shape::Values => Kind::Values,
        Shape::Text => Kind::Passages,
        _ => Kind::Document,
    }
}

/// Emits the records of a file that is read whole.
pub(crate) fn emit_whole(emitter: &mut Emitter<'_>, kind: Kind, id: FileId, bytes: &[u8], bodies: Bodies) {
    if kind == Kind::Passages {
        return emit_passages(emitter, id, bytes, bodies);
    }
    if kind == Kind::Values {
        emit_values(emitter, id, bytes, bodies);
    } else {
        emit_document(emitter, id, bytes, bodies);
    }
}

/// Emits values that follow one another. What stands between them is sent as faults.
fn emit_values(emitter: &mut Emitter<'_>, id: FileId, bytes: &[u8], bodies: Bodies) {
    let Some(Split { root, elements, cut, .. }) = split_values(bytes) else {
        return emit_stray_lines(emitter, id, bytes, 0, 1);
    };
    let is_array = bytes.get(root.start) == Some(&b'[');
    let slice = |range: Range<usize>| bytes.get(range).unwrap_or_default();
    emit_stray_lines(emitter, id, slice(0..root.start), 0, 1);
    let (mut end, mut number) = (root.start, 0);
    for value in elements {
        number += 1;
        if !is_array {
            emit_stray_lines(emitter, id, slice(end..value.start), end, number);
        }
        end = value.end;
        emitter.leave_bodies(bodies.away_at(value.start as u64, bytes.len() as u64));
        let (at, len) = (value.start as u64, saturating_u32(value.len()));
        let origin = Origin { file: id, at, len, line: number };
        emitter.emit(Record { origin, bytes: slice(value) }, Kind::Values.place(Path::new(""), number));
    }
    if let Some(cut) = cut {
        let (at, len) = (cut.start as u64, saturating_u32(cut.len()));
        let origin = Origin { file: id, at, len, line: number + 1 };
        return emitter.fault(Record { origin, bytes: slice(cut) }, "the last value breaks off here");
    }
    emit_stray_lines(emitter, id, slice(root.end..bytes.len()), root.end, number + 1);
}

/// Emits the parts of a text. Its bytes are measured, so what is no UTF-8 is replaced in each part.
fn emit_passages(emitter: &mut Emitter<'_>, id: FileId, bytes: &[u8], bodies: Bodies) {
    let text = marked(bytes);
    let (mut line, mut number) = (1, 0);
    for range in emitter.passages(&text) {
        let part = bytes.get(range.clone()).unwrap_or_default();
        emitter.leave_bodies(bodies.away_at(range.start as u64, bytes.len() as u64));
        let origin = Origin { file: id, at: range.start as u64, len: saturating_u32(range.len()), line };
        emitter.emit(Record { origin, bytes: part }, Kind::Passages.place(Path::new(""), number));
        number += 1;
        line += saturating_u32(memchr::memchr_iter(b'\n', part).count());
    }
}

/// Bytes as a text of the same length: a byte that is no UTF-8 is a question mark.
fn marked(bytes: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(bytes).map_or_else(
        |_| {
            let chunks = bytes.utf8_chunks();
            Cow::Owned(
                chunks
                    .flat_map(|chunk| [chunk.valid().to_owned(), "?".repeat(chunk.invalid().len())])
                    .collect(),
            )
        },
        Cow::Borrowed,
    )
}

/// Emits the records of a document. What is no part of it is sent as faults, so that nothing is lost.
fn emit_document(emitter: &mut Emitter<'_>, id: FileId, bytes: &[u8], bodies: Bodies) {
    let Some(split) = split(bytes) else { return emit_stray_lines(emitter, id, bytes, 0, 1) };
    let Split { root, header, elements, cut } = split;
    emit_stray_lines(emitter, id, bytes.get(..root.start).unwrap_or_default(), 0, 1);
    if let Some(header) = header {
        let origin = Origin { file: id, at: root.start as u64, len: saturating_u32(header.len()), line: 0 };
        emitter.leave_bodies(bodies == Bodies::Away);
        emitter.emit(Record { origin, bytes: &header }, Kind::Document.place(Path::new(""), 0));
    }
    let first = elements.first().zip(elements.last());
    let within = first.map_or(0, |(first, last)| last.end - first.start);
    let frame = cut.as_ref().map_or(0, |cut| cut.start.saturating_sub(root.start + within)) as u64;
    let mut number = 0;
    for element in elements {
        number += 1;
        let (at, len) = (element.start as u64, saturating_u32(element.len()));
        let origin = Origin { file: id, at, len, line: number };
        emitter.leave_bodies(bodies.away_at(at, bytes.len() as u64));
        let bytes = bytes.get(element).unwrap_or_default();
        emitter.emit(Record { origin, bytes }, Kind::Document.place(Path::new(""), number));
    }
    if let Some(cut) = cut {
        let origin =
            Origin { file: id, at: cut.start as u64, len: saturating_u32(cut.len()), line: number + 1 };
        let bytes = bytes.get(cut).unwrap_or_default();
        emitter.fault(Record { origin, bytes }, "the document breaks off here");
        // What stands around its elements is a part of what is broken.
        emitter.weigh_fault(id, frame);
    }
    emit_stray_lines(emitter, id, bytes.get(root.end..).unwrap_or_default(), root.end, number + 1);
}

/// Lines before and after a document: messages of the program that wrote it, or another document.
fn emit_stray_lines(emitter: &mut Emitter<'_>, id: FileId, bytes: &[u8], start: usize, number: u32) {
    let mut buffer = LineBuffer::in_the_middle(id, start as u64);
    let mut emit = |line: Line<'_>| {
        let (Line::Whole(record) | Line::TooLong(record)) = line;
        let origin = Origin { line: number, ..record.origin };
        emitter.emit(Record { origin, ..record }, Kind::Document.place(Path::new(""), number));
    };
    buffer.feed(bytes, &mut emit);
    buffer.unfinished().into_iter().for_each(emit);
}
