//! Containers of rows: quotes, list items, tasks; and reference definitions shown as text.

use pulldown_cmark::BlockQuoteKind;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use super::{MarkdownMode, MarkdownWriter};
use crate::render::wrap::{self, Piece};

/// A quote, or an item of a list.
pub(super) struct MarkdownContainer {
    /// Prefix of its first row; taken when used.
    pub(super) first: Option<Vec<Piece>>,
    /// Prefix of its other rows.
    pub(super) rest: Vec<Piece>,
    /// Whether it has a row already.
    pub(super) is_begun: bool,
}

/// Shorter lines, in columns, were not wrapped by their author.
const NARROW: usize = 60;

/// Whether a line break within a paragraph was intended: the next word would have fitted on the
/// line, or is the number of a list, which CommonMark takes for prose unless it is the first
/// number.
pub(super) fn is_meant(before: &str, rest: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let next = rest.trim_start_matches(['\n', '\r', ' ', '>']);
    let word = next.split_whitespace().next().unwrap_or_default();
    line.width() + 1 + word.width() <= NARROW || begins_with_number(next)
}

fn begins_with_number(line: &str) -> bool {
    let number = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = line.get(number..).unwrap_or_default();
    (1..=9).contains(&number) && (after.starts_with(". ") || after.starts_with(") "))
}

impl MarkdownWriter<'_> {
    pub(super) fn contain(&mut self, first: Option<Vec<Piece>>, rest: Vec<Piece>) {
        self.containers.push(MarkdownContainer {
            first,
            rest,
            is_begun: false,
        });
    }

    /// A bar at the left; GitHub's alerts have a title beside it.
    pub(super) fn quote(&mut self, kind: Option<BlockQuoteKind>) {
        self.block_starts();
        let theme = self.look.theme;
        let (title, style) = match kind {
            None => ("", theme.dim),
            Some(BlockQuoteKind::Note) => ("Note", theme.accent),
            Some(BlockQuoteKind::Tip) => ("Tip", theme.good),
            Some(BlockQuoteKind::Important) => ("Important", theme.accent),
            Some(BlockQuoteKind::Warning) => ("Warning", theme.warn),
            Some(BlockQuoteKind::Caution) => ("Caution", theme.bad),
        };
        let bar = vec![Span::styled(format!("{} ", theme.glyphs().line.bar), style)];
        self.contain(Some(bar.clone()), bar);
        if !title.is_empty() {
            let source = self.source_map.line();
            self.push(vec![Span::styled(title, style)], source);
        }
    }

    /// Shows a definition that no link uses, or that was typed, as written. Words that only look
    /// like a definition (`[Status]: done`) are prose.
    pub(super) fn definition(&mut self, source: Option<&str>, start: usize) {
        let source = source.unwrap_or_default();
        // Consecutive definitions have no empty rows between them.
        if !std::mem::take(&mut self.after_definition) {
            self.block_starts();
        }
        let (label, address) = source.split_once("]:").unwrap_or_default();
        let is_prose = !label.is_empty() && !address.contains(['/', '.', '#', '@', ':']);
        for (at, line) in source.lines().enumerate() {
            self.source_map.set_line_at(start, at, self.inline.ink);
            if is_prose {
                self.inline.text(line.trim());
            } else {
                self.inline.aside(line.trim());
            }
            self.paragraph();
        }
        self.after_definition = true;
    }

    pub(super) fn item(&mut self, source: &str) {
        self.paragraph();
        let typed = source.split_whitespace().next().unwrap_or_default();
        let typed = wrap::head(typed, 12);
        let depth = self.lists.len();
        let glyphs = self.look.theme.glyphs();
        let bullet = match self.lists.last() {
            // Numbers are shown as written.
            Some(true) => format!("{typed} "),
            _ if self.manner == MarkdownMode::Typed => format!("{} ", wrap::head(typed, 1)),
            _ if depth > 1 => format!("{} ", glyphs.list.bullet_inner),
            _ => format!("{} ", glyphs.list.bullet),
        };
        let rest = vec![Span::raw(" ".repeat(wrap::width(&bullet)))];
        self.contain(Some(vec![Span::styled(bullet, self.look.theme.dim)]), rest);
    }

    /// Ends an item; one without text still shows its bullet.
    pub(super) fn end_item(&mut self) {
        if self
            .containers
            .last()
            .is_some_and(|container| container.first.is_some())
        {
            let source = self.source_map.line();
            self.push(Vec::new(), source);
        }
        self.containers.pop();
    }

    /// The box of a task replaces the bullet.
    pub(super) fn task(&mut self, is_done: bool) {
        let glyphs = self.look.theme.glyphs();
        let (sign, style) = if is_done {
            (glyphs.list.did, self.look.theme.good)
        } else {
            (glyphs.list.todo, self.look.theme.text)
        };
        let sign = format!("{sign} ");
        if let Some(container) = self
            .containers
            .last_mut()
            .filter(|container| container.first.is_some())
        {
            container.rest = vec![Span::raw(" ".repeat(wrap::width(&sign)))];
            container.first = Some(vec![Span::styled(sign, style)]);
        }
    }

    /// The prefixes of all containers for the next row.
    pub(super) fn front(&mut self) -> Vec<Piece> {
        let mut front = Vec::new();
        for container in &mut self.containers {
            container.is_begun = true;
            front.extend(
                container
                    .first
                    .take()
                    .unwrap_or_else(|| container.rest.clone()),
            );
        }
        // Deep nesting may use two thirds of the width; the text gets the rest.
        let most = self.width - self.width / 3;
        if wrap::width_of(&front) > most {
            Vec::new()
        } else {
            front
        }
    }
}
