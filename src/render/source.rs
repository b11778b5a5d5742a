//! The source lines shown by a row, so that copying rows gives the text as written and not as
//! wrapped.
//!
//! Invariant: rows keep no body alive; bodies are referred to by index and fetched again.

use std::ops::Range;

use crate::model::edit::saturating_u32;
use crate::model::text::Text;

/// The text whose lines a row shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SourceText {
    /// None: a notice, a frame, an empty row.
    #[default]
    None,
    /// The body at this index of [`crate::model::entry::BlockKind::bodies`].
    Body(usize),
    /// A text of its own: an argument of a call, the lines of a change.
    Own(Text),
}

/// The lines that a row shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub(crate) of: SourceText,
    /// Line range from 0; an end beyond the text means its last line. Empty if no line is shown.
    pub lines: Range<u32>,
    /// Another line shown beside them.
    pub(crate) extra_line: Option<u32>,
}

impl Source {
    /// One line; the text is set later.
    pub(crate) fn line(at: usize) -> Self {
        let at = saturating_u32(at);
        Self {
            lines: at..at.saturating_add(1),
            ..Self::default()
        }
    }

    /// A range of lines; the text is set later.
    pub(crate) fn lines(lines: Range<u32>) -> Self {
        Self {
            lines,
            ..Self::default()
        }
    }

    /// All lines; the text is set later.
    pub(crate) fn all() -> Self {
        Self::lines(0..u32::MAX)
    }

    /// All lines of a text.
    pub(crate) fn own(text: Text) -> Self {
        Self {
            of: SourceText::Own(text),
            ..Self::all()
        }
    }
}
