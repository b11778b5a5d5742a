//! Tables: columns as wide as their content, narrower if necessary, with wrapped cells.

use pulldown_cmark::Alignment;
use ratatui::style::Modifier;
use ratatui::text::Span;

use super::inline::safe;
use crate::render::row::Look;
use crate::render::wrap::{self, LineFrame, Piece};

/// Columns of a separator: ` │ `.
const BETWEEN: usize = 3;
/// Least width of a column.
const NARROWEST: usize = 4;
/// Limit of measured columns; larger tables are data, not prose.
const MAX_COLUMNS: usize = 64;

/// A table under construction; its first row is the head.
pub struct MarkdownTable {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<TableCell>>,
}

/// The lines of a cell; several if it contains line breaks.
type TableCell = Vec<Vec<Piece>>;

impl MarkdownTable {
    pub(crate) fn new(alignments: &[Alignment]) -> Self {
        Self {
            alignments: alignments.iter().take(MAX_COLUMNS).copied().collect(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    /// Adds a cell to the last row.
    pub(crate) fn cell(&mut self, lines: TableCell) {
        if let Some(row) = self.rows.last_mut() {
            row.push(lines);
        }
    }

    /// Ends a row. The parser drops cells beyond the last column, which usually come from a `|` in
    /// a cell; they are appended to the last cell as written.
    pub(crate) fn end_row(&mut self, source: &str, look: &Look<'_>) {
        let beyond = source.trim().trim_start_matches('|').trim_end_matches('|');
        let mut bars = beyond
            .match_indices('|')
            .filter(|(at, _)| !beyond.get(..*at).is_some_and(ends_in_escape));
        let beyond = bars
            .nth(self.alignments.len().saturating_sub(1))
            .and_then(|(at, _)| beyond.get(at..));
        let last = self
            .rows
            .last_mut()
            .and_then(|row| row.get_mut(self.alignments.len().saturating_sub(1)));
        if let (Some(text), Some(cell)) = (beyond, last) {
            let text = Span::styled(safe(text).into_owned(), look.theme.text);
            match cell.last_mut() {
                Some(line) => line.push(text),
                None => cell.push(vec![text]),
            }
        }
    }

    /// The lines of the table, each with the source line that it shows.
    pub(crate) fn lines(&self, width: usize, look: &Look<'_>) -> Vec<(usize, Vec<Piece>)> {
        match self.widths(width) {
            Some(widths) => self.grid(&widths, look),
            None => self.records(width, look),
        }
    }

    /// Widths of the columns; the widest ones are reduced until all fit. `None` if they cannot.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let columns = self.alignments.len();
        let mut widths = vec![1_usize; columns];
        for row in &self.rows {
            for (cell, widest) in row.iter().zip(&mut widths) {
                *widest = cell
                    .iter()
                    .map(|line| wrap::width_of(line))
                    .fold(*widest, usize::max);
            }
        }
        let room = width.checked_sub(columns.saturating_sub(1) * BETWEEN)?;
        if columns == 0 || room < columns * NARROWEST {
            return None;
        }
        while widths.iter().sum::<usize>() > room {
            let too_much = widths.iter().sum::<usize>() - room;
            let widest = widths.iter().copied().max().unwrap_or(0);
            let second = widths
                .iter()
                .copied()
                .filter(|other| *other < widest)
                .max()
                .unwrap_or(NARROWEST);
            let same = widths.iter().filter(|other| **other == widest).count();
            let give = (widest - second.max(NARROWEST))
                .min(too_much.div_ceil(same))
                .max(1);
            for column in widths.iter_mut().filter(|other| **other == widest) {
                *column = column.saturating_sub(give);
            }
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize], look: &Look<'_>) -> Vec<(usize, Vec<Piece>)> {
        let glyphs = look.theme.glyphs();
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Vec<Piece>>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| {
                    let lines = row.get(column).map(Vec::as_slice).unwrap_or_default();
                    let lines = lines
                        .iter()
                        .map(|line| if index == 0 { bold(line) } else { line.clone() });
                    lines
                        .flat_map(|line| wrap::wrapped(&line, &LineFrame::of(*width)))
                        .collect()
                })
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
            // The rule is the second line of the source.
            let source = if index == 0 { 0 } else { index + 1 };
            lines.extend((0..height).map(|at| (source, self.grid_line(&cells, at, widths, look))));
            if index == 0 {
                let rules: Vec<String> = widths
                    .iter()
                    .map(|width| glyphs.line.rule.repeat(*width))
                    .collect();
                let joint = format!("{0}{1}{0}", glyphs.line.rule, glyphs.line.cross);
                lines.push((1, vec![Span::styled(rules.join(&joint), look.theme.dim)]));
            }
        }
        lines
    }

    /// One line of a row with wrapped cells.
    fn grid_line(
        &self,
        cells: &[Vec<Vec<Piece>>],
        at: usize,
        widths: &[usize],
        look: &Look<'_>,
    ) -> Vec<Piece> {
        let mut line = Vec::new();
        for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if column > 0 {
                line.push(Span::styled(
                    format!(" {} ", look.theme.glyphs().line.bar),
                    look.theme.dim,
                ));
            }
            let spans = cell.get(at).cloned().unwrap_or_default();
            line.extend(self.aligned(column, spans, *width));
        }
        line
    }

    fn aligned(&self, column: usize, spans: Vec<Piece>, width: usize) -> Vec<Piece> {
        let free = width.saturating_sub(wrap::width_of(&spans));
        let before = match self.alignments.get(column) {
            Some(Alignment::Right) => free,
            Some(Alignment::Center) => free / 2,
            Some(Alignment::Left | Alignment::None) | None => 0,
        };
        let mut out = Vec::with_capacity(spans.len() + 2);
        if before > 0 {
            out.push(Span::raw(" ".repeat(before)));
        }
        out.extend(spans);
        // The last column is not padded: the blanks would be copied.
        if free > before && column + 1 < self.alignments.len() {
            out.push(Span::raw(" ".repeat(free - before)));
        }
        out
    }

    /// A table too wide for columns: each cell on a row of its own, after its column's name.
    fn records(&self, width: usize, look: &Look<'_>) -> Vec<(usize, Vec<Piece>)> {
        let mut lines = Vec::new();
        let of = |index| move |line| (index, line);
        let Some((head, rows)) = self.rows.split_first() else {
            return lines;
        };
        if rows.is_empty() {
            lines.extend(
                head.iter()
                    .flatten()
                    .flat_map(|name| wrap::wrapped(&bold(name), &LineFrame::hanging(width, 2)))
                    .map(of(0)),
            );
        }
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                lines.push((index + 1, Vec::new()));
            }
            for (name, cell) in head.iter().zip(row) {
                let mut spans = bold(&name.concat());
                spans.push(Span::styled(": ", look.theme.dim));
                if cell.is_empty() {
                    lines.extend(
                        wrap::wrapped(&spans, &LineFrame::hanging(width, 2))
                            .into_iter()
                            .map(of(index + 2)),
                    );
                }
                for line in cell {
                    spans.extend(line.iter().cloned());
                    lines.extend(
                        wrap::wrapped(&spans, &LineFrame::hanging(width, 2))
                            .into_iter()
                            .map(of(index + 2)),
                    );
                    spans = vec![Span::raw("  ")];
                }
            }
        }
        lines
    }
}

fn ends_in_escape(text: &str) -> bool {
    text.ends_with('\\')
}

fn bold(spans: &[Piece]) -> Vec<Piece> {
    let bold = |span: &Piece| {
        Span::styled(
            span.content.clone(),
            span.style.add_modifier(Modifier::BOLD),
        )
    };
    spans.iter().map(bold).collect()
}
