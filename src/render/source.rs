//! Which lines of which text a row shows, so that copying rows gives what was written and not how it was
//! wrapped.
//!
//! Invariant: a row keeps no text of a body alive; bodies come and go, and are asked for by their place.

use std::ops::Range;

use crate::model::text::Text;

/// What a row shows a part of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Nothing that anybody wrote: a notice, a frame, air.
    #[default]
    Nothing,
    /// The body of the block with this place among [`crate::model::entry::BlockKind::bodies`].
    Body(usize),
    /// A text of its own: an argument of a call, the lines of a change.
    Own(Text),
}

/// The lines that a row shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// The text.
    pub(crate) of: Of,
    /// Its lines from 0 on; ends beyond the text mean its last line. Empty if nothing of it is shown.
    pub lines: Range<u32>,
    /// Another line that stands beside them.
    pub(crate) beside: Option<u32>,
}

impl Source {
    /// One line of a text that is set later.
    pub(crate) fn line(at: usize) -> Self {
        let at = number(at);
        Self {
            lines: at..at.saturating_add(1),
            ..Self::default()
        }
    }

    /// These lines of a text that is set later.
    pub(crate) fn lines(lines: Range<u32>) -> Self {
        Self {
            lines,
            ..Self::default()
        }
    }

    /// All of a text that is set later.
    pub(crate) fn all() -> Self {
        Self::lines(0..u32::MAX)
    }

    /// All of a text.
    pub(crate) fn own(text: Text) -> Self {
        Self {
            of: Of::Own(text),
            ..Self::all()
        }
    }
}

/// A line's number.
pub fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
