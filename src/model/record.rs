//! How sessions lie on disk and where a record's bytes are.
//!
//! **Records printed for reading are records.** A document that no agent writes is offered to the formats once more,
//! as the values that it holds: see `model::record::Shape::Values`.

use serde::{Deserialize, Serialize};

/// The storage shapes of session files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One JSON value a line, appended.
    Lines,
    /// One JSON value, rewritten whole; a record is an element of its array of messages.
    Document,
    /// JSON values over several lines each, or the elements of one array; rewritten whole. A record is
    /// one of the values, as it would be a line.
    Values,
    /// Text that is no JSON; appended, and read whole. A record is what one voice said without another one between.
    Text,
    /// One small JSON file for each record.
    Folder,
    /// Rows of a database, one JSON text a row.
    Rows,
    /// Lines of a pipe: cannot be read again.
    Stream,
}

impl Shape {
    /// Whether a file of this shape means something only as a whole.
    pub(crate) fn is_rewritten(self) -> bool {
        matches!(self, Self::Document | Self::Values | Self::Text)
    }
}

/// A file of a session: 0 is the one that was opened, others are companions.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct FileId(pub u32);

/// Where a record's bytes are.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct Origin {
    /// The file.
    pub file: FileId,
    /// Byte offset of the record in the file.
    pub at: u64,
    /// Length in bytes, without the line's end.
    pub len: u32,
    /// Line (1-based) for line files, element or file number otherwise; 0 while unknown.
    pub line: u32,
}

impl Origin {
    /// Whether it is the same place; the record there may have another length by now.
    pub(crate) fn is_at(self, other: Self) -> bool {
        (self.file, self.at) == (other.file, other.at)
    }
}

/// One unit that a source yields: bytes and their place.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Where the bytes are.
    pub origin: Origin,
    /// The bytes, in most formats one JSON value.
    pub bytes: &'a [u8],
}
