//! Cuts chunks of bytes into whole lines with their offsets. Touches no file.
//!
//! Invariant: the lines do not depend on how the bytes are cut into chunks. A line is copied only
//! if it spans chunks, and each byte at most once; a line above the limit is not kept.

use memchr::memchr;

use crate::model::edit::saturating_u32;
use crate::model::record::{FileId, Origin, Record};

/// Longest line that is kept, in bytes; a longer one is no record but damage.
pub(crate) const LIMIT: usize = 256 << 20;
/// Bytes kept of a line that is too long.
const KEPT: usize = 1024;
/// From this length on the buffer of a line is reserved up to the limit at once: reserved pages
/// that are not written take no memory, whereas growing would copy the line and hold it twice
/// meanwhile.
const LONG: usize = 4 << 20;

/// Bytes held of a line of this length.
pub(crate) fn held_of(len: u32) -> usize {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    if len > LIMIT { KEPT } else { len }
}

/// A line that has ended, or the unfinished one.
#[derive(Clone, Copy, Debug)]
pub enum Line<'a> {
    Whole(Record<'a>),
    /// The beginning of a line that is too long.
    TooLong(Record<'a>),
}

impl<'a> Line<'a> {
    /// The bytes that were kept.
    pub(crate) fn record(self) -> Record<'a> {
        let (Self::Whole(record) | Self::TooLong(record)) = self;
        record
    }
}

/// Cuts chunks into lines; keeps the unfinished line.
#[derive(Debug)]
pub struct LineBuffer {
    file: FileId,
    limit: usize,
    /// Offset of the unfinished line, and its number; 0 if unknown.
    at: u64,
    line: u32,
    /// Its bytes so far; only the first ones if it is too long.
    partial: Vec<u8>,
    line_len: u64,
}

impl LineBuffer {
    /// A buffer for a file from its beginning.
    pub fn new(file: FileId) -> Self {
        Self {
            file,
            limit: LIMIT,
            at: 0,
            line: 1,
            partial: Vec::new(),
            line_len: 0,
        }
    }

    /// A buffer that begins at an offset, where line numbers are unknown.
    pub(crate) fn in_the_middle(file: FileId, at: u64) -> Self {
        Self {
            at,
            line: 0,
            ..Self::new(file)
        }
    }

    /// The same with another limit for the length of a line.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// The offset at which the next chunk must begin.
    pub fn offset(&self) -> u64 {
        self.at + self.line_len
    }

    /// Takes the next chunk and calls `each` for the lines that end in it. Empty lines are skipped.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        let mut rest = chunk;
        while let Some(end) = memchr(b'\n', rest) {
            let (piece, after) = rest.split_at(end);
            if self.partial.is_empty() {
                self.line_len = piece.len() as u64;
                let kept = if self.is_too_long(self.line_len) {
                    piece.get(..KEPT).unwrap_or(piece)
                } else {
                    piece
                };
                if self.line_len > 0 {
                    each(self.line_of(kept, self.line_len));
                }
            } else {
                self.append(piece);
                let mut bytes = std::mem::take(&mut self.partial);
                each(self.line_of(&bytes, self.line_len));
                if bytes.capacity() <= LONG {
                    bytes.clear();
                    self.partial = bytes;
                }
            }
            self.at += self.line_len + 1;
            self.line += u32::from(self.line > 0);
            self.line_len = 0;
            rest = after.get(1..).unwrap_or_default();
        }
        self.append(rest);
    }

    /// Frees the buffer of the unfinished line, if there is none.
    pub(crate) fn free(&mut self) {
        if self.partial.is_empty() {
            self.partial = Vec::new();
        }
    }

    /// The unfinished line, if it has bytes.
    pub fn unfinished(&self) -> Option<Line<'_>> {
        (self.line_len > 0).then(|| self.line_of(&self.partial, self.line_len))
    }

    fn append(&mut self, piece: &[u8]) {
        self.line_len += piece.len() as u64;
        if !self.is_too_long(self.line_len) {
            let len = self.partial.len() + piece.len();
            if len > LONG.max(self.partial.capacity()) {
                // If so much cannot be reserved, a part may still be.
                let _ = self
                    .partial
                    .try_reserve_exact(self.limit.saturating_sub(self.partial.len()));
            }
            self.partial.extend_from_slice(piece);
            return;
        }
        if self.partial.len() > KEPT {
            self.partial.truncate(KEPT);
            self.partial.shrink_to_fit();
        }
        let wanting = (KEPT - self.partial.len()).min(piece.len());
        self.partial
            .extend_from_slice(piece.get(..wanting).unwrap_or_default());
    }

    fn line_of<'b>(&self, bytes: &'b [u8], seen: u64) -> Line<'b> {
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let too_long = self.is_too_long(seen);
        let len = if too_long {
            u32::try_from(seen).unwrap_or(u32::MAX)
        } else {
            saturating_u32(bytes.len())
        };
        let record = Record {
            origin: Origin {
                file: self.file,
                at: self.at,
                len,
                line: self.line,
            },
            bytes,
        };
        if too_long {
            Line::TooLong(record)
        } else {
            Line::Whole(record)
        }
    }

    fn is_too_long(&self, seen: u64) -> bool {
        seen > self.limit as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, prop_oneof, proptest};

    use super::{Line, LineBuffer};
    use crate::model::record::{FileId, Origin};

    type Seen = (bool, Origin, Vec<u8>);

    fn seen(line: Line<'_>) -> Seen {
        match line {
            Line::Whole(record) => (true, record.origin, record.bytes.to_vec()),
            Line::TooLong(record) => (false, record.origin, record.bytes.to_vec()),
        }
    }

    fn lines_of<'a>(chunks: impl IntoIterator<Item = &'a [u8]>, limit: usize) -> Vec<Seen> {
        let mut buffer = LineBuffer::new(FileId(3)).with_limit(limit);
        let mut lines = Vec::new();
        for chunk in chunks {
            buffer.feed(chunk, |line| lines.push(seen(line)));
        }
        lines.extend(buffer.unfinished().map(seen));
        lines
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            bytes in prop::collection::vec(prop_oneof!["[ab{}\r]", "\n", "é"], 0..80),
            cuts in prop::collection::vec(0usize..160, 0..12),
            limit in 1usize..40,
        ) {
            let bytes = bytes.concat().into_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            let lines = lines_of(chunks, limit);
            assert_eq!(lines, lines_of([bytes.as_slice()], limit));
            for (whole, origin, content) in lines.iter().filter(|line| line.0) {
                let at = usize::try_from(origin.at).unwrap();
                assert!(*whole && bytes[at..].starts_with(content));
            }
        }
    }

    #[test]
    fn places_are_those_of_the_file() {
        let places: Vec<_> = lines_of([b"one\r\n\ntwo\nthree".as_slice()], 100)
            .into_iter()
            .map(|(_, origin, bytes)| {
                (
                    origin.at,
                    origin.len,
                    origin.line,
                    String::from_utf8(bytes).unwrap(),
                )
            })
            .collect();
        let expected = [(0, 3, 1, "one"), (6, 3, 3, "two"), (10, 5, 4, "three")];
        assert_eq!(
            places,
            expected.map(|(at, len, line, text)| (at, len, line, text.to_owned()))
        );
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut buffer = LineBuffer::new(FileId(0)).with_limit(64 << 10);
        let chunk = vec![0; 48 << 10];
        for _ in 0..1000 {
            buffer.feed(&chunk, |_| panic!("no line has ended"));
            assert!(buffer.partial.capacity() <= 128 << 10);
        }
        let mut lines = Vec::new();
        buffer.feed(b"\nnext\n", |line| lines.push(seen(line)));
        assert_eq!((lines[0].0, lines[0].2.len()), (false, super::KEPT));
        assert_eq!(
            (lines[1].0, lines[1].1.line, lines[1].2.as_slice()),
            (true, 2, b"next".as_slice())
        );
    }
}
