//! Builds the rows of the inspector: headings, named values, texts. It stops at a limit of rows.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::locate::ValueLocation;
use crate::app::text::viewport::Focus;
use crate::model::figures;
use crate::render::row::{Look, Row};
use crate::render::wrap::{self, LineFrame, Piece};

/// Width of the column of names, including the blank after it.
pub(crate) const NAME: usize = 10;
/// Maximum number of bytes of text per column; only combining marks need more.
const BYTES_PER_COLUMN: usize = 8;

#[derive(Clone, Debug)]
pub struct InspectorRow {
    pub line: Line<'static>,
    /// The item that enter jumps to.
    pub(crate) target: Option<Focus>,
    /// What `y y` copies.
    pub(crate) take: RowCopy,
    /// The location in the transcript of the same value.
    pub spot: Option<ValueLocation>,
}

/// What is copied from a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCopy {
    Row,
    /// A value of the input, by its index.
    Value(usize),
    /// The result of the call.
    Output,
    /// The text of the item.
    Text,
}

pub struct PageBuilder<'a> {
    pub(crate) look: Look<'a>,
    limit: usize,
    facts: Vec<InspectorRow>,
}

impl<'a> PageBuilder<'a> {
    /// A builder for at most `limit` rows.
    pub(crate) fn new(look: Look<'a>, limit: usize) -> Self {
        Self {
            look,
            limit,
            facts: Vec::new(),
        }
    }

    pub(crate) fn width(&self) -> usize {
        usize::from(self.look.width).max(1)
    }

    /// Number of rows until the limit.
    pub(crate) fn remaining(&self) -> usize {
        self.limit.saturating_sub(self.facts.len())
    }

    /// The rows, and whether the limit was exceeded.
    pub(crate) fn finish(mut self) -> (Vec<InspectorRow>, bool) {
        let is_cut = self.facts.len() > self.limit;
        self.facts.truncate(self.limit);
        (self.facts, is_cut)
    }

    /// The part of a text that the remaining rows can show, and the number of bytes left out.
    pub(crate) fn part<'t>(&self, text: &'t str) -> (&'t str, usize) {
        let lines = self.remaining() + 1;
        let end = text
            .match_indices('\n')
            .nth(lines)
            .map_or(text.len(), |(at, _)| at);
        let part = wrap::head(
            text.get(..end).unwrap_or(text),
            lines * self.width() * BYTES_PER_COLUMN,
        );
        (part, text.len() - part.len())
    }

    /// Adds a row with the size of the omitted text.
    pub(crate) fn omitted(&mut self, bytes: usize) {
        if bytes > 0 && self.remaining() > 0 {
            let size = figures::bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
            self.paragraph(
                format!(
                    "{} {size} more in the file",
                    self.look.theme.glyphs().ellipsis
                ),
                self.look.theme.dim,
            );
        }
    }

    pub fn text(&mut self, spans: &[Piece]) {
        self.wrapped(spans, &[], RowCopy::Row, None);
    }

    /// Adds a text in one style, wrapped.
    pub(crate) fn paragraph(&mut self, words: impl Into<String>, style: Style) {
        self.text(&[Span::styled(words.into(), style)]);
    }

    pub(crate) fn gap(&mut self) {
        self.push(Line::default(), None, RowCopy::Row);
    }

    /// Adds an empty row, then a title, a rule, and `right` at the right end.
    pub(crate) fn heading(&mut self, title: &str, right: &str) {
        if !self.facts.is_empty() {
            self.gap();
        }
        let theme = self.look.theme;
        let title = wrap::fit(
            &[Span::styled(title.to_owned(), theme.heading)],
            self.width(),
            "",
        );
        let used = wrap::width_of(&title);
        let right = if right.is_empty() {
            String::new()
        } else {
            format!(" {right}")
        };
        let room = self.width().saturating_sub(used + 1 + wrap::width(&right));
        let mut spans = title;
        if room > 0 {
            spans.push(Span::styled(
                format!(" {}", theme.glyphs().line.rule.repeat(room)),
                theme.dim,
            ));
        }
        spans.push(Span::styled(right, theme.dim));
        let spans = wrap::fit(&spans, self.width(), theme.glyphs().cut);
        self.push(spans.into(), None, RowCopy::Row);
    }

    pub(crate) fn field(&mut self, name: &str, value: &[Piece]) {
        self.named_value(name, value, RowCopy::Row, None);
    }

    /// Adds a named value in the style of text.
    pub(crate) fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.field(name, &[Span::styled(value.into(), self.look.theme.text)]);
    }

    /// Adds a named value that leads to an item.
    pub(crate) fn link(&mut self, name: &str, value: &[Piece], target: Option<Focus>) {
        self.named_value(name, value, RowCopy::Row, target);
    }

    /// Adds a named value, with what is copied from it and the item that it leads to.
    pub(crate) fn named_value(
        &mut self,
        name: &str,
        value: &[Piece],
        take: RowCopy,
        target: Option<Focus>,
    ) {
        let name = wrap::fit(
            &[Span::styled(name.to_owned(), self.look.theme.dim)],
            NAME * 2,
            "",
        );
        let pad = NAME.saturating_sub(wrap::width_of(&name)).max(1);
        let mut first = name;
        first.push(Span::raw(" ".repeat(pad)));
        self.wrapped(value, &first, take, target);
    }

    fn wrapped(&mut self, spans: &[Piece], first: &[Piece], take: RowCopy, target: Option<Focus>) {
        let rest = if first.is_empty() {
            Vec::new()
        } else {
            vec![Span::raw(" ".repeat(NAME))]
        };
        let limit = self.remaining() + 1;
        let cut = self.look.theme.glyphs().cut;
        let frame = LineFrame {
            width: self.width(),
            first: first.to_vec(),
            rest,
            limit,
            cut,
            sideways: None,
        };
        for line in wrap::wrap(spans, &frame) {
            self.push(line, target, take);
        }
    }

    /// Adds rows of the renderer, indented.
    pub(crate) fn rows(&mut self, rows: Vec<Row>, indent: usize, take: RowCopy) {
        for row in rows {
            let mut spans = vec![Span::raw(" ".repeat(indent))];
            spans.extend(row.line.spans);
            let used = wrap::width_of(&spans) + wrap::width_of(&row.right);
            if !row.right.is_empty() {
                spans.push(Span::raw(
                    " ".repeat(self.width().saturating_sub(used).max(1)),
                ));
                spans.extend(row.right);
            }
            let line = wrap::fit(&spans, self.width(), self.look.theme.glyphs().cut).into();
            self.push(line, None, take);
        }
    }

    /// Adds a row that fits the width.
    pub(crate) fn push(&mut self, line: Line<'static>, target: Option<Focus>, take: RowCopy) {
        if self.facts.len() <= self.limit {
            self.facts.push(InspectorRow {
                line,
                target,
                take,
                spot: None,
            });
        }
    }

    /// Adds a row of a record, with the location in the transcript of its value.
    pub(crate) fn shown(
        &mut self,
        line: Line<'static>,
        target: Option<Focus>,
        spot: Option<ValueLocation>,
    ) {
        if self.facts.len() <= self.limit {
            self.facts.push(InspectorRow {
                line,
                target,
                take: RowCopy::Row,
                spot,
            });
        }
    }
}

/// A bar for a share; at least one block unless the share is 0.
pub(crate) fn bar(part: u64, whole: u64, most: usize, ascii: bool) -> String {
    let most_u64 = u64::try_from(most).unwrap_or(0);
    let blocks = if part == 0 || whole == 0 {
        0
    } else {
        (part.saturating_mul(most_u64) / whole).clamp(1, most_u64)
    };
    let block = if ascii { "#" } else { "▇" };
    block.repeat(usize::try_from(blocks).unwrap_or(most))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn figures_and_shares() {
        assert_eq!(
            [(0, 9), (1, 1_000), (5, 10), (9, 9), (3, 0)].map(|(a, b)| bar(a, b, 10, true).len()),
            [0, 1, 5, 10, 0]
        );
    }
}
