//! Wrapping of long lines, and the margins beside the text: numbers, lanes, rulers.
//!
//! Invariant: a change of these settings does not move the anchored line.

pub mod actions;

use crate::model::entry::Entry;
use crate::model::transcript::Transcript;

/// Settings of long lines and of the margins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrapping {
    /// Whether long lines are wrapped. Prose always is.
    pub wraps: bool,
    /// The first shown column of long lines, where they are not wrapped.
    pub first_column: u16,
    /// The numbers beside the text.
    pub numbers: LineNumbers,
    /// Whether the gutter with calls in flight is shown.
    pub lanes: bool,
    /// Whether rulers are shown between entries.
    pub rulers: bool,
}

/// The number beside the first row of each item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineNumbers {
    #[default]
    None,
    /// The line of its record in the file.
    Lines,
    /// The offset of its record in the file.
    Bytes,
}

impl LineNumbers {
    /// Width of the numbers in columns, with a blank: enough for the newest entry.
    pub(crate) fn width(self, transcript: &Transcript) -> u16 {
        let least = match self {
            Self::None => return 0,
            Self::Lines => 4,
            Self::Bytes => 7,
        };
        let last = transcript.order().last().and_then(|id| transcript.get(*id));
        let digits = last.map_or(1, |entry| self.of(entry, 0).to_string().len());
        u16::try_from(digits.max(least) + 1).unwrap_or(u16::MAX)
    }

    /// The number beside a block of an entry.
    pub(crate) fn of(self, entry: &Entry, block: usize) -> u64 {
        let block = entry.blocks.get(block);
        let body = block.and_then(|block| block.kind.bodies().next());
        let origin = body.map_or(entry.origin, |body| body.from);
        match self {
            Self::Bytes => origin.at,
            Self::None | Self::Lines => u64::from(origin.line),
        }
    }

    /// The name in settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lines => "lines",
            Self::Bytes => "bytes",
        }
    }

    /// The kind of this name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::None, Self::Lines, Self::Bytes]
            .into_iter()
            .find(|numbers| numbers.word() == name)
    }
}
