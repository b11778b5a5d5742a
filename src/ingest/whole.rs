//! Records of files that are rewritten as a whole: documents, and small files of one record.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::bodies::Bodies;
use super::emitter::Emitter;
use super::files::FileKind;
use crate::formats::decoder::RecordPlace;
use crate::formats::json;
use crate::model::edit::saturating_u32;
use crate::model::record::{FileId, Origin, Record, Shape};
use crate::model::tally::{Fate, Tally};
use crate::source::document::{Split, split, split_values};
use crate::source::lines::{Line, LineBuffer};
use crate::source::regular::Fence;
use crate::source::rewritten::{RewriteCheck, Rewritten};

/// A file that is one record.
pub(crate) struct Small {
    pub(crate) id: FileId,
    is_text: bool,
    pub(crate) file: Rewritten,
    /// Its tally and its size in bytes when it was read.
    counted: Option<(u32, CompactTally)>,
}

impl Small {
    /// A file that has not been read yet.
    pub(crate) fn new(
        path: impl Into<Arc<Path>>,
        id: FileId,
        kind: FileKind,
        fence: Fence,
    ) -> Self {
        Self {
            id,
            is_text: kind == FileKind::Text,
            file: Rewritten::new(path, fence),
            counted: None,
        }
    }

    fn kind(&self) -> FileKind {
        if self.is_text {
            FileKind::Text
        } else {
            FileKind::Small
        }
    }

    /// Polls the file, and reads it if it may have changed.
    pub(crate) fn poll(&mut self, now: Instant) -> RewriteCheck {
        let kind = self.kind();
        self.file.poll(now, |bytes| is_complete(kind, bytes))
    }

    fn origin(&self, len: u32) -> Origin {
        Origin {
            file: self.id,
            at: 0,
            len,
            line: self.id.0,
        }
    }

    /// Emits its content, in place of what was sent before.
    pub(crate) fn emit(&mut self, emitter: &mut Emitter<'_>, bytes: &[u8]) {
        if let Some((len, counted)) = self.counted.take() {
            emitter.retract(&counted.tally(self.id), self.origin(len));
        }
        let origin = self.origin(saturating_u32(bytes.len()));
        let place = self.kind().place(self.file.path(), origin.line);
        let tally = emitter.emit_provisional(Record { origin, bytes }, place, false);
        self.counted = Some((origin.len, CompactTally::of(tally, self.id)));
    }
}

/// Compact tally of one record: most records count one fate and nothing else.
#[derive(Debug, PartialEq)]
pub(crate) enum CompactTally {
    /// Shown, with its bytes.
    Shown(u64),
    /// Merged, with its bytes.
    Merged(u64),
    Other(Box<Tally>),
}

impl CompactTally {
    /// The compact form of a record's tally.
    pub(crate) fn of(tally: Tally, file: FileId) -> Self {
        let bytes = tally.bytes.total();
        let plain = [Self::Shown(bytes), Self::Merged(bytes)];
        plain
            .into_iter()
            .find(|plain| plain.tally(file) == tally)
            .unwrap_or_else(|| Self::Other(Box::new(tally)))
    }

    pub(crate) fn tally(&self, file: FileId) -> Tally {
        let mut tally = Tally::default();
        match self {
            Self::Shown(bytes) => tally.count(Fate::Shown, file, *bytes),
            Self::Merged(bytes) => tally.count(Fate::Merged, file, *bytes),
            Self::Other(other) => tally.clone_from(other),
        }
        tally
    }
}

/// Whether bytes are one complete JSON value, by their brackets.
pub(crate) fn is_whole_value(bytes: &[u8]) -> bool {
    match bytes.trim_ascii().last() {
        Some(b'}' | b']') => json::parse(&String::from_utf8_lossy(bytes.trim_ascii())).is_ok(),
        _ => false,
    }
}

/// Whether bytes are a complete file of this kind, as far as they show it.
pub(crate) fn is_complete(kind: FileKind, bytes: &[u8]) -> bool {
    match kind {
        FileKind::Text | FileKind::Passages => true,
        FileKind::Small => is_whole_value(bytes),
        _ => split(bytes).is_some_and(|split| split.is_complete()),
    }
}

/// Kind of the records in a file of this shape that is read as a whole.
pub(crate) fn kind_of(shape: Shape) -> FileKind {
    match shape {
        Shape::Values => FileKind::Values,
        Shape::Text => FileKind::Passages,
        _ => FileKind::Document,
    }
}

/// Emits the records of a file that is read as a whole. Bytes outside records are sent as faults,
/// so that nothing is lost.
pub(crate) fn emit_whole(
    emitter: &mut Emitter<'_>,
    kind: FileKind,
    id: FileId,
    bytes: &[u8],
    bodies: Bodies,
) {
    let (is_values, slice) = (kind == FileKind::Values, |range: Range<usize>| {
        bytes.get(range).unwrap_or_default()
    });
    let origin = |range: &Range<usize>, line| Origin {
        file: id,
        at: range.start as u64,
        len: saturating_u32(range.len()),
        line,
    };
    let split = match kind {
        FileKind::Passages => return emit_passages(emitter, id, bytes, bodies),
        FileKind::Values => split_values(bytes),
        _ => split(bytes),
    };
    let Some(Split {
        root,
        header,
        elements,
        cut,
    }) = split
    else {
        return emit_stray_lines(emitter, id, bytes, 0, 1);
    };
    emit_stray_lines(emitter, id, slice(0..root.start), 0, 1);
    if let Some(header) = header {
        emitter.set_stubs_only(bodies == Bodies::OnDisk);
        let origin = Origin {
            at: root.start as u64,
            ..origin(&(0..header.len()), 0)
        };
        emitter.emit(
            Record {
                origin,
                bytes: &header,
            },
            RecordPlace::Header,
        );
    }
    let is_lone = is_values && bytes.get(root.start) != Some(&b'[');
    let within = elements
        .first()
        .zip(elements.last())
        .map_or(0, |(first, last)| last.end - first.start);
    let (mut end, mut number) = (root.start, 0);
    for element in elements {
        number += 1;
        if is_lone {
            emit_stray_lines(emitter, id, slice(end..element.start), end, number);
        }
        end = element.end;
        emitter.set_stubs_only(bodies.is_away_at(element.start as u64, bytes.len() as u64));
        let record = Record {
            origin: origin(&element, number),
            bytes: slice(element),
        };
        emitter.emit(record, kind.place(Path::new(""), number));
    }
    number += 1;
    if let Some(cut) = cut {
        let frame = cut.start.saturating_sub(root.start + within) as u64;
        let what = if is_values {
            "the last value breaks off here"
        } else {
            "the document breaks off here"
        };
        emitter.fault(
            Record {
                origin: origin(&cut, number),
                bytes: slice(cut),
            },
            what,
        );
        // Bytes around the elements belong to the fault.
        emitter.weigh_fault(id, if is_values { 0 } else { frame });
    }
    emit_stray_lines(emitter, id, slice(root.end..bytes.len()), root.end, number);
}

/// Emits the passages of a text. Ranges are in bytes, so invalid UTF-8 is replaced in each passage.
fn emit_passages(emitter: &mut Emitter<'_>, id: FileId, bytes: &[u8], bodies: Bodies) {
    let text = marked(bytes);
    let mut line = 1;
    for range in emitter.passages(&text) {
        let part = bytes.get(range.clone()).unwrap_or_default();
        emitter.set_stubs_only(bodies.is_away_at(range.start as u64, bytes.len() as u64));
        let origin = Origin {
            file: id,
            at: range.start as u64,
            len: saturating_u32(range.len()),
            line,
        };
        emitter.emit(
            Record {
                origin,
                bytes: part,
            },
            RecordPlace::Passage,
        );
        line += saturating_u32(memchr::memchr_iter(b'\n', part).count());
    }
}

/// Bytes as a text of the same length: invalid UTF-8 becomes question marks.
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

/// Emits lines before and after a document: messages of the program that wrote it, or another
/// document.
fn emit_stray_lines(
    emitter: &mut Emitter<'_>,
    id: FileId,
    bytes: &[u8],
    start: usize,
    number: u32,
) {
    let mut buffer = LineBuffer::in_the_middle(id, start as u64);
    let mut emit = |line: Line<'_>| {
        let record = line.record();
        let origin = Origin {
            line: number,
            ..record.origin
        };
        emitter.emit(
            Record { origin, ..record },
            FileKind::Document.place(Path::new(""), number),
        );
    };
    buffer.feed(bytes, &mut emit);
    buffer.unfinished().into_iter().for_each(emit);
}

#[cfg(test)]
mod tests {
    use super::{CompactTally, Fate, FileId, Tally};

    #[test]
    fn nothing_that_was_counted_is_lost() {
        let file = FileId(4);
        for fate in [
            Fate::Shown,
            Fate::Merged,
            Fate::Passed("a ping"),
            Fate::Faulty,
        ] {
            let mut tally = Tally::default();
            tally.count(fate, file, 99);
            let counted = CompactTally::of(tally.clone(), file);
            assert_eq!(counted.tally(file), tally);
            assert_eq!(
                matches!(counted, CompactTally::Other(_)),
                !matches!(fate, Fate::Shown | Fate::Merged)
            );
            tally.count_unknown(
                "type/x".into(),
                crate::model::tally::unknown::Judged::Loud,
                crate::model::record::Origin::default(),
            );
            assert_eq!(CompactTally::of(tally.clone(), file).tally(file), tally);
        }
    }
}
