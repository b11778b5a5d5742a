//! Mistakes in a definition, with their positions.

use std::fmt;

/// A mistake in a definition, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionMistake {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// A text with the byte offsets of its lines.
pub(super) struct LineIndex<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self { text, starts }
    }

    /// The line of a byte offset, counted from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte)
    }

    /// A mistake at a byte offset.
    pub(super) fn mistake(&self, byte: usize, what: String) -> DefinitionMistake {
        let line = self.line(byte);
        let start = self
            .starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        let before = self.text.get(start..byte).unwrap_or_default();
        DefinitionMistake {
            line,
            column: before.chars().count() + 1,
            what,
        }
    }
}

impl fmt::Display for DefinitionMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.what)
    }
}
