//! Storage shapes of sessions, and the positions of records in files.
//!
//! **Pretty-printed records are records.** A document of a shape that no agent writes is offered to
//! the formats again as a sequence of values: see `model::record::Shape::Values`.

use serde::{Deserialize, Serialize};

/// The storage shapes of session files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// JSON Lines: one value a line, appended.
    Lines,
    /// One JSON document, rewritten as a whole; a record is an element of its array of messages.
    Document,
    /// JSON values over several lines each, or the elements of one array; rewritten as a whole. A
    /// record is one of the values, as if it were a line.
    Values,
    /// Plain text; appended, but read as a whole. A record is what one speaker said without
    /// interruption.
    Text,
    /// A folder with one small JSON file for each record.
    Folder,
    /// Rows of a database, one JSON text each.
    Rows,
    /// Lines from a pipe, which cannot be read again.
    Stream,
}

impl Shape {
    /// Whether a file of this shape is valid only as a whole.
    pub(crate) fn is_rewritten(self) -> bool {
        matches!(self, Self::Document | Self::Values | Self::Text)
    }
}

/// Number of a file of the session: 0 is the opened one, others are companions.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct FileId(pub u32);

/// Position of a record's bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Origin {
    pub file: FileId,
    /// Byte offset of the record in the file.
    pub at: u64,
    /// Length in bytes, without the line end.
    pub len: u32,
    /// Line number from 1 for line files, else the number of the element or file; 0 while unknown.
    pub line: u32,
}

impl Origin {
    /// Whether it is the same position; the length of the record may differ.
    pub(crate) fn is_at(self, other: Self) -> bool {
        (self.file, self.at) == (other.file, other.at)
    }
}

/// A record as a source yields it: bytes and their position.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Position of the bytes.
    pub origin: Origin,
    /// The bytes, in most formats one JSON value.
    pub bytes: &'a [u8],
}
