//! Renders Markdown as styled rows.
//!
//! Prose of a model is rendered as CommonMark; text typed by a human keeps its line breaks,
//! indentation and markers, because people type plain text, and none of it may get lost.

mod containers;
mod definitions;
mod inline;
mod source_map;
pub mod table;

use std::sync::Arc;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ratatui::text::Span;

use self::containers::{MarkdownContainer, is_meant};
use self::definitions::Definitions;
use self::inline::Inline;
use self::source_map::SourceMap;
use self::table::MarkdownTable;
use super::code;
use super::row::{Look, Row};
use super::source::Source;
use super::wrap::{self, LineFrame, Piece};

/// How a text is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkdownMode {
    /// Written by a model: single line breaks are wrapping.
    Prose,
    /// Typed by a human: shown as typed.
    Typed,
}

/// The rows of a text, about `limit` at most, with the source lines that they show.
pub fn rows(
    text: &str,
    manner: MarkdownMode,
    width: usize,
    limit: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let mut writer = MarkdownWriter {
        look,
        width: width.max(1),
        limit,
        manner,
        rows: Vec::new(),
        containers: Vec::new(),
        inline: Inline::new(manner, look),
        table: None,
        code: None,
        lists: Vec::new(),
        wants_gap: false,
        after_definition: false,
        may_have_gap: true,
        source_map: SourceMap::of(text),
    };
    let parser = Parser::new_ext(text, options());
    let mut definitions = Definitions::of(&parser, text, manner);
    for (event, range) in parser.into_offset_iter() {
        let (before, rest) = text.split_at_checked(range.start).unwrap_or_default();
        writer.may_have_gap = manner == MarkdownMode::Prose || ends_in_blank_line(before);
        let place = match &event {
            Event::Start(_) if writer.is_between_blocks() => range.start,
            // A definition within a container is rendered there.
            Event::End(TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition) => {
                range.end
            }
            _ => 0,
        };
        for span in definitions.before(place) {
            writer.definition(text.get(span.clone()), span.start);
        }
        writer.source_map.enter(&event, &range, writer.inline.ink);
        let end = range.end;
        let source = text.get(range).unwrap_or_default();
        writer.event(event, source, before, rest);
        writer.source_map.end_element(end, writer.inline.ink);
        if writer.rows.len() >= limit {
            break;
        }
    }
    writer.paragraph();
    if writer.rows.len() < limit {
        definitions
            .before(text.len())
            .for_each(|span| writer.definition(text.get(span.clone()), span.start));
        writer.paragraph();
    }
    let links = Some(writer.inline.links())
        .filter(|links| !links.is_empty())
        .map(Arc::new);
    let row = |laid: MarkdownRow| Row {
        line: laid.line.into(),
        links: links.clone(),
        source: laid.source,
        continues: laid.continues,
        ..Row::default()
    };
    writer.rows.into_iter().map(row).collect()
}

/// CommonMark with the extensions of GitHub.
fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_GFM
        | Options::ENABLE_MATH
}

#[derive(Default)]
struct MarkdownRow {
    line: Vec<Piece>,
    source: Source,
    /// Whether it continues a line of code.
    continues: bool,
}

struct MarkdownWriter<'a> {
    look: &'a Look<'a>,
    width: usize,
    limit: usize,
    manner: MarkdownMode,
    rows: Vec<MarkdownRow>,
    containers: Vec<MarkdownContainer>,
    inline: Inline<'a>,
    table: Option<MarkdownTable>,
    /// An open code block: language, text, and whether it is fenced.
    code: Option<(String, String, bool)>,
    /// Open lists: whether they are numbered.
    lists: Vec<bool>,
    wants_gap: bool,
    /// Whether the last row is a definition.
    after_definition: bool,
    /// Whether an empty row may precede the next block; in typed text only if one was typed.
    may_have_gap: bool,
    /// The current position in the source.
    source_map: SourceMap,
}

impl MarkdownWriter<'_> {
    /// Handles an event. `source` is its source text, `before` and `rest` are the text before and
    /// from it.
    fn event(&mut self, event: Event<'_>, source: &str, before: &str, rest: &str) {
        match event {
            Event::Start(tag) => self.start(tag, source),
            Event::End(end) => self.end(end, source),
            Event::Text(text) if self.code.is_some() => self.code_text(&text),
            Event::Code(text) => self.inline.code(&text, source),
            Event::Html(text) => self.html(&text),
            Event::InlineHtml(tag)
                if self.manner == MarkdownMode::Prose && inline::is_line_break(&tag) =>
            {
                self.inline.line_break(rest);
            }
            Event::SoftBreak if self.manner == MarkdownMode::Prose && !is_meant(before, rest) => {
                self.inline.text(" ");
            }
            Event::SoftBreak | Event::HardBreak => self.inline.line_break(rest),
            Event::Rule => {
                self.block_starts();
                let room = self.inner_width();
                let rule = self.look.theme.glyphs().line.rule.repeat(room.min(40));
                let source = self.source_map.line();
                self.push(vec![Span::styled(rule, self.look.theme.dim)], source);
                self.wants_gap = true;
            }
            Event::TaskListMarker(is_done) => self.task(is_done),
            Event::Text(text) if self.manner == MarkdownMode::Typed => {
                if before.ends_with('\\') {
                    self.inline.text("\\");
                }
                self.inline
                    .text(if source.is_empty() { &text } else { source });
            }
            Event::Text(text) | Event::InlineHtml(text) => self.inline.text(&text),
            // Formulas are shown as written.
            Event::InlineMath(_) | Event::DisplayMath(_) => self.html(source),
            Event::FootnoteReference(name) => self.inline.aside(&format!("[^{name}]")),
        }
    }

    fn start(&mut self, tag: Tag<'_>, source: &str) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.block_starts(),
            Tag::Heading { level, .. } => {
                self.block_starts();
                self.inline.heading(level);
            }
            Tag::BlockQuote(kind) => self.quote(kind),
            Tag::FootnoteDefinition(name) => {
                self.block_starts();
                let sign = format!("[^{}] ", inline::safe(&name));
                let rest = vec![Span::raw("  ")];
                self.contain(Some(vec![Span::styled(sign, self.look.theme.dim)]), rest);
            }
            Tag::CodeBlock(kind) => {
                self.paragraph();
                self.block_starts();
                let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                let info = match kind {
                    CodeBlockKind::Fenced(info) => inline::safe(&info).into_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((info, String::new(), is_fenced));
            }
            Tag::List(number) => {
                self.paragraph();
                if self.lists.is_empty() {
                    self.block_starts();
                }
                self.lists.push(number.is_some());
            }
            Tag::Item => self.item(source),
            Tag::Table(alignments) => {
                self.block_starts();
                self.table = Some(MarkdownTable::new(&alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            other => self.inline.start(other, source),
        }
    }

    fn end(&mut self, end: TagEnd, source: &str) {
        match end {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::Heading(_) => {
                self.paragraph();
                self.inline.plain();
                self.wants_gap = true;
            }
            TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => {
                self.paragraph();
                self.end_item();
                self.wants_gap = true;
            }
            TagEnd::Item => {
                self.paragraph();
                self.end_item();
                self.wants_gap = false;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.wants_gap = self.lists.is_empty();
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::TableCell => {
                let cell = self.inline.take();
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row(source, self.look);
                }
            }
            other => self.inline.end(other, source),
        }
    }

    /// Ends the open paragraph, and adds an empty row in front of a block.
    fn block_starts(&mut self) {
        self.paragraph();
        self.wants_gap |= std::mem::take(&mut self.after_definition);
        let is_first = self
            .containers
            .last()
            .is_some_and(|container| !container.is_begun);
        if self.wants_gap && self.may_have_gap && !is_first && !self.rows.is_empty() {
            let blank = self.front();
            self.rows.push(MarkdownRow {
                line: blank,
                ..MarkdownRow::default()
            });
        }
        self.wants_gap = false;
    }

    /// Whether no paragraph, list or table is open.
    fn is_between_blocks(&self) -> bool {
        let is_in_list = !self.lists.is_empty() && self.containers.len() < self.lists.len();
        !is_in_list && self.table.is_none() && self.inline.is_empty()
    }

    fn html(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.inline.text(line.trim_end_matches('\n'));
            if line.ends_with('\n') {
                self.inline.new_line();
                self.source_map.next_line(self.inline.ink);
            }
        }
    }

    fn code_text(&mut self, text: &str) {
        if let Some((_, code, _)) = &mut self.code {
            code.push_str(&inline::safe(text));
        }
    }

    fn code_block(&mut self) {
        let Some((info, text, is_fenced)) = self.code.take() else {
            return;
        };
        let theme = self.look.theme;
        let language = code::language_of_fence(&info);
        let base = if language.is_empty() {
            theme.code
        } else {
            theme.text
        };
        if !info.is_empty() {
            let source = self.source_map.block_line(0);
            for row in self.wrap(&[Span::styled(info.clone(), theme.dim)], 2, 4) {
                self.push(row, source.clone());
            }
        }
        let lines = code::lines(&text, language, self.look.colours, theme, base);
        for (at, spans) in lines.into_iter().enumerate() {
            let source = self.source_map.block_line(at + usize::from(is_fenced));
            for (number, line) in self
                .lay(&spans, 2, 4, self.look.sideways)
                .into_iter()
                .enumerate()
            {
                self.push_part(line, source.clone(), number > 0);
            }
        }
        self.wants_gap = true;
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else {
            return;
        };
        for (at, line) in table.lines(self.inner_width(), self.look) {
            let source = self.source_map.block_line(at);
            self.push(line, source);
        }
        self.wants_gap = true;
    }

    /// Writes the open paragraph.
    fn paragraph(&mut self) {
        if self.table.is_some() {
            return;
        }
        let mut read = self.source_map.take();
        for line in self.inline.take() {
            for row in self.wrap(&line, 0, 0) {
                let source = read.row(&row);
                self.push(row, source);
            }
        }
    }

    /// Columns that the containers do not use.
    fn inner_width(&self) -> usize {
        let front: usize = self
            .containers
            .iter()
            .map(|container| wrap::width_of(&container.rest))
            .sum();
        self.width.saturating_sub(front).max(self.width / 3).max(1)
    }

    fn wrap(&self, spans: &[Piece], indent: usize, hanging: usize) -> Vec<Vec<Piece>> {
        self.lay(spans, indent, hanging, None)
    }

    fn lay(
        &self,
        spans: &[Piece],
        indent: usize,
        hanging: usize,
        sideways: Option<u16>,
    ) -> Vec<Vec<Piece>> {
        let (indent, hanging) = if self.inner_width() > 16 {
            (indent, hanging)
        } else {
            (0, 0)
        };
        let rest = if hanging > 0 {
            let mark = Span::styled(self.look.theme.glyphs().goes_on, self.look.theme.dim);
            wrap::continuation(indent, spans, self.inner_width(), mark)
        } else {
            Vec::new()
        };
        let frame = LineFrame {
            width: self.inner_width(),
            first: vec![Span::raw(" ".repeat(indent))],
            rest,
            limit: self.limit.saturating_sub(self.rows.len()).max(1),
            cut: self.look.theme.glyphs().cut,
            sideways,
        };
        wrap::wrapped(spans, &frame)
    }

    fn push(&mut self, spans: Vec<Piece>, source: Source) {
        self.push_part(spans, source, false);
    }

    /// Adds a row; with `continues` it continues the line of code above.
    fn push_part(&mut self, spans: Vec<Piece>, source: Source, continues: bool) {
        let mut line = self.front();
        line.extend(spans);
        if wrap::width_of(&line) > self.width {
            line = wrap::fit(&line, self.width, self.look.theme.glyphs().cut);
        }
        self.rows.push(MarkdownRow {
            line,
            source,
            continues,
        });
    }
}

/// Whether a text ends in an empty line.
fn ends_in_blank_line(text: &str) -> bool {
    text.bytes()
        .rev()
        .take_while(u8::is_ascii_whitespace)
        .filter(|byte| *byte == b'\n')
        .count()
        > 1
}

#[cfg(test)]
mod tests;
