//! Maps rows of Markdown to the source lines that they show.
//!
//! Wrapping joins lines and drops blanks at breaks, but keeps every visible character in order, so
//! the source line of a row is found by counting visible characters.

use std::ops::Range;

use pulldown_cmark::Event;

use super::inline::ink;
use crate::model::edit::saturating_u32;
use crate::render::source::Source;
use crate::render::wrap::Piece;

/// The current position in the source.
pub struct SourceMap {
    /// Offsets of its lines, except for the first.
    breaks: Vec<usize>,
    /// Source lines of the open paragraph, each with the number of visible characters before it.
    marks: Vec<(usize, usize)>,
    line: usize,
    /// The first line of the current element.
    block: usize,
}

impl SourceMap {
    /// The start of a text.
    pub(crate) fn of(text: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        Self {
            breaks,
            marks: Vec::new(),
            line: 0,
            block: 0,
        }
    }

    fn line_at(&self, byte: usize) -> usize {
        self.breaks.partition_point(|start| *start <= byte)
    }

    fn set_line(&mut self, line: usize, ink: usize) {
        self.line = line;
        if self.marks.last().is_none_or(|(_, marked)| *marked != line) {
            self.marks.push((ink, line));
        }
    }

    /// Enters an element after `ink` visible characters.
    pub(crate) fn enter(&mut self, event: &Event<'_>, range: &Range<usize>, ink: usize) {
        self.block = self.line_at(range.start);
        let byte = if matches!(event, Event::End(_)) {
            range.end.saturating_sub(1)
        } else {
            range.start
        };
        self.set_line(self.line_at(byte.max(range.start)), ink);
    }

    /// Leaves an element; the text after it may begin on another line.
    pub(crate) fn end_element(&mut self, end: usize, ink: usize) {
        let line = self.line_at(end.saturating_sub(1));
        if line > self.line {
            self.set_line(line, ink);
        }
    }

    /// Moves to a line, counted from the one of this byte.
    pub(crate) fn set_line_at(&mut self, byte: usize, below: usize, ink: usize) {
        self.set_line(self.line_at(byte) + below, ink);
    }

    /// Moves to the next line.
    pub(crate) fn next_line(&mut self, ink: usize) {
        self.set_line(self.line + 1, ink);
    }

    pub(crate) fn line(&self) -> Source {
        Source::line(self.line)
    }

    /// A line of the current element, counted from its first.
    pub(crate) fn block_line(&self, below: usize) -> Source {
        Source::line(self.block + below)
    }

    /// Removes the source lines of the paragraph, to assign them to its rows.
    pub(crate) fn take(&mut self) -> ParagraphSource {
        let marks = std::mem::replace(&mut self.marks, vec![(0, self.line)]);
        ParagraphSource { marks, seen: 0 }
    }
}

/// Assigns source lines to the rows of a paragraph.
pub struct ParagraphSource {
    marks: Vec<(usize, usize)>,
    seen: usize,
}

impl ParagraphSource {
    fn line_at(&self, ink: usize) -> usize {
        let at = self.marks.partition_point(|(before, _)| *before <= ink);
        at.checked_sub(1)
            .and_then(|at| self.marks.get(at))
            .map_or(0, |(_, line)| *line)
    }

    /// The source lines of the next row.
    pub(crate) fn row(&mut self, spans: &[Piece]) -> Source {
        let count: usize = spans.iter().map(|span| ink(&span.content)).sum();
        let (first, last) = (self.seen, self.seen + count.saturating_sub(1));
        self.seen += count;
        if count == 0 {
            return Source::default();
        }
        let (first, last) = (self.line_at(first), self.line_at(last));
        Source::lines(saturating_u32(first.min(last))..saturating_u32(first.max(last) + 1))
    }
}
