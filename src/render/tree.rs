//! JSON trees as indented lines: keys, scalars, lists with dashes; long strings below their key.
//!
//! Invariant: the work is bounded by the rows that are wanted, not by the tree.

use std::sync::Arc;

use ratatui::style::Style;
use ratatui::text::Span;

use super::row::{Look, Row};
use super::sheet::hidden_row;
use super::source::Source;
use super::wrap::{self, Frame, Piece};
use crate::model::body::Tree;
use crate::model::figures;
use crate::model::text::{Text, without_sgr};

/// Deeper values are told as a count.
const MAX_DEPTH: usize = 24;
/// Keys up to this width are aligned with their neighbours.
const ALIGNED_KEY: usize = 16;
/// Columns of one level.
const STEP: usize = 2;

/// The rows of a tree, at most `limit`; a last row tells what is hidden.
pub fn rows(tree: &Tree, width: usize, limit: usize, look: &Look<'_>) -> Vec<Row> {
    rows_with_paths(tree, width, limit, look).into_iter().map(|(row, _)| row).collect()
}

/// As [`rows`], each with the place of its value as jq names it: `.message.content[0].text`.
pub fn rows_with_paths(tree: &Tree, width: usize, limit: usize, look: &Look<'_>) -> Vec<(Row, Arc<str>)> {
    let mut writer = Writer { look, width, limit, rows: Vec::new(), hidden: 0, path: String::new() };
    writer.tree(&[], tree, 0);
    let mut rows = writer.rows;
    if writer.hidden > 0 {
        let what = format!("+{}", figures::count(u64::try_from(writer.hidden).unwrap_or(u64::MAX), "value"));
        rows.push((hidden_row(&what, writer.hidden, look), Arc::from(".")));
    }
    rows
}

/// The step to a member of an object.
fn member(key: &str) -> String {
    let is_name = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !key.is_empty()
        && !key.starts_with(|c: char| c.is_ascii_digit());
    if is_name {
        return format!(".{key}");
    }
    let quoted = key.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!(".[\"{quoted}\"]")
}

/// A tree on one line, cut where `max` bytes are reached.
pub fn compact(tree: &Tree, max: usize) -> String {
    let mut out = String::new();
    push_compact(&mut out, tree, max, 0);
    out
}

/// Members of an object as `key=value`, strings in full, parted by blanks.
pub fn arguments(tree: &Tree, max: usize) -> String {
    let Tree::Map(members) = tree else { return compact(tree, max) };
    let mut out = String::new();
    for (key, value) in members {
        if out.len() > max {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(key);
        out.push('=');
        push_compact(&mut out, value, max, 0);
    }
    out
}

struct Writer<'a> {
    look: &'a Look<'a>,
    width: usize,
    limit: usize,
    rows: Vec<(Row, Arc<str>)>,
    hidden: usize,
    /// Where the value stands that is being written; nothing for the outermost.
    path: String,
}

impl Writer<'_> {
    fn is_full(&self) -> bool {
        self.rows.len() >= self.limit
    }

    /// A value after `front`, which already holds its indentation and key.
    fn tree(&mut self, front: &[Piece], tree: &Tree, depth: usize) {
        if self.is_full() {
            self.hidden += 1;
            return;
        }
        match tree {
            Tree::Map(members) if !members.is_empty() && depth < MAX_DEPTH => {
                self.map(front, members, depth);
            }
            Tree::List(items) if !items.is_empty() && depth < MAX_DEPTH && !is_short(items) => {
                self.list(front, items, depth);
            }
            Tree::Text(text) if text.contains('\n') => self.paragraph(front, text, depth),
            other => self.scalar(front, other),
        }
    }

    fn map(&mut self, front: &[Piece], members: &[(Text, Tree)], depth: usize) {
        let widest = members
            .iter()
            .take(self.limit)
            .map(|(key, _)| wrap::width(key))
            .filter(|key| *key <= ALIGNED_KEY)
            .max()
            .unwrap_or(0);
        let mut front = self.open(front, depth);
        for (index, (key, value)) in members.iter().enumerate() {
            if self.is_full() {
                self.hidden += members.len() - index;
                return;
            }
            let mut own = std::mem::replace(&mut front, indent(depth));
            let key_width = wrap::width(key);
            own.push(Span::styled(without_sgr(key).into_owned(), self.look.theme.accent));
            let is_block = match value {
                Tree::Map(members) => !members.is_empty(),
                Tree::List(items) => !items.is_empty() && !is_short(items),
                Tree::Text(text) => text.contains('\n'),
                Tree::Null | Tree::Bool(_) | Tree::Number(_) => false,
            };
            let pad = if is_block { 0 } else { widest.saturating_sub(key_width) };
            own.push(Span::styled(format!(":{}", " ".repeat(pad + 1)), self.look.theme.dim));
            let outer = self.path.len();
            self.path.push_str(&member(key));
            self.tree(&own, value, depth + 1);
            self.path.truncate(outer);
        }
    }

    fn list(&mut self, front: &[Piece], items: &[Tree], depth: usize) {
        let mut front = self.open(front, depth);
        for (index, item) in items.iter().enumerate() {
            if self.is_full() {
                self.hidden += items.len() - index;
                return;
            }
            let mut own = std::mem::replace(&mut front, indent(depth));
            own.push(Span::styled("- ", self.look.theme.dim));
            let outer = self.path.len();
            if outer == 0 {
                self.path.push('.');
            }
            self.path.push_str(&format!("[{index}]"));
            self.tree(&own, item, depth + 1);
            self.path.truncate(outer);
        }
    }

    /// A container behind a key begins on a new row; behind a dash it goes on in the same row.
    fn open(&mut self, front: &[Piece], depth: usize) -> Vec<Piece> {
        let ends_in_key = front.last().is_some_and(|last| last.content.starts_with(':'));
        if !ends_in_key {
            return if front.is_empty() { indent(depth) } else { front.to_vec() };
        }
        self.push(front.to_vec(), &Frame::of(self.width));
        indent(depth)
    }

    fn scalar(&mut self, front: &[Piece], tree: &Tree) {
        let front_width = wrap::width_of(front);
        let mut spans = front.to_vec();
        spans.push(self.value(tree));
        let rest = tree.as_text().map_or(0, |text| text.len().saturating_sub(self.longest()));
        let frame = Frame::hanging(self.width, front_width);
        if rest > 0 {
            // What is cut on the screen is copied whole.
            let front: String = front.iter().map(|span| span.content.as_ref()).collect();
            let text = tree.as_text().map_or("", |text| text.as_str());
            self.push_of(Text::output(&format!("{front}{text}")), &spans, &frame);
            let what = format!("+{}", figures::bytes(u64::try_from(rest).unwrap_or(u64::MAX)));
            let path = self.place();
            self.rows.push((hidden_row(&what, 1, self.look), path));
        } else {
            self.push(spans, &frame);
        }
    }

    /// Bytes of a string that are shown.
    fn longest(&self) -> usize {
        self.width.saturating_mul(4).saturating_mul(self.limit.min(200)).max(4096)
    }

    /// A string of several lines, below its key.
    fn paragraph(&mut self, front: &[Piece], text: &str, depth: usize) {
        self.push(front.to_vec(), &Frame::of(self.width));
        let plain = without_sgr(text);
        let bar = vec![
            Span::raw(" ".repeat(depth * STEP)),
            Span::styled(format!("{} ", self.look.theme.glyphs().bar), self.look.theme.dim),
        ];
        let mut lines = plain.lines();
        for line in lines.by_ref() {
            if self.is_full() {
                self.hidden += 1;
                return;
            }
            let frame = Frame { first: bar.clone(), rest: bar.clone(), ..Frame::of(self.width) };
            self.push(vec![Span::styled(line.to_owned(), self.look.theme.text)], &frame);
        }
    }

    fn value(&self, tree: &Tree) -> Piece {
        let syntax = &self.look.theme.syntax;
        let most = self.longest();
        match tree {
            Tree::Null => Span::styled("null", self.look.theme.dim),
            Tree::Bool(value) => Span::styled(value.to_string(), syntax.constant),
            Tree::Number(number) => Span::styled(number.to_string(), syntax.constant),
            Tree::Text(text) => {
                let plain = without_sgr(wrap::head(text, most)).into_owned();
                let shown = if needs_quotes(&plain) { format!("\"{plain}\"") } else { plain };
                Span::styled(shown, self.look.theme.text)
            }
            Tree::List(_) | Tree::Map(_) => Span::styled(compact(tree, most), Style::new()),
        }
    }

    fn push(&mut self, spans: Vec<Piece>, frame: &Frame) {
        let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
        self.push_of(Text::clean(text.trim_end()), &spans, frame);
    }

    /// A line that stands for a text.
    fn push_of(&mut self, text: Text, spans: &[Piece], frame: &Frame) {
        let source = Source::own(text);
        let path = self.place();
        let left = self.limit.saturating_sub(self.rows.len()).max(1);
        let frame = Frame { limit: left, cut: self.look.theme.glyphs().cut, ..frame.clone() };
        for line in wrap::wrap(spans, &frame) {
            self.rows.push((Row { line, source: source.clone(), ..Row::default() }, Arc::clone(&path)));
        }
    }

    fn place(&self) -> Arc<str> {
        Arc::from(if self.path.is_empty() { "." } else { &self.path })
    }
}

fn indent(depth: usize) -> Vec<Piece> {
    if depth == 0 { Vec::new() } else { vec![Span::raw(" ".repeat(depth * STEP))] }
}

/// Short lists of scalars fit on one line: `[120, 180]`.
fn is_short(items: &[Tree]) -> bool {
    items.len() <= 6
        && items.iter().all(|item| match item {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => true,
            Tree::Text(text) => text.len() <= 16 && !text.contains('\n'),
            Tree::List(items) => items.is_empty(),
            Tree::Map(members) => members.is_empty(),
        })
}

/// Strings that would read as something else.
fn needs_quotes(text: &str) -> bool {
    text.trim().len() != text.len()
        || matches!(text, "" | "null" | "true" | "false")
        || (text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && text.parse::<f64>().is_ok())
}

fn push_compact(out: &mut String, tree: &Tree, max: usize, depth: usize) {
    if out.len() > max {
        return;
    }
    match tree {
        Tree::Null => out.push_str("null"),
        Tree::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Tree::Number(number) => out.push_str(number),
        Tree::Text(text) => push_string(out, wrap::head(text, max)),
        Tree::List(items) if depth >= MAX_DEPTH => out.push_str(&format!("[{}]", items.len())),
        Tree::Map(members) if depth >= MAX_DEPTH => out.push_str(&format!("{{{}}}", members.len())),
        Tree::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate().take_while(|(index, _)| *index < max) {
                out.push_str(if index == 0 { "" } else { ", " });
                push_compact(out, item, max, depth + 1);
            }
            out.push(']');
        }
        Tree::Map(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate().take_while(|(index, _)| *index < max) {
                out.push_str(if index == 0 { "" } else { ", " });
                out.push_str(key);
                out.push_str(": ");
                push_compact(out, value, max, depth + 1);
            }
            out.push('}');
        }
    }
}

fn push_string(out: &mut String, text: &str) {
    let plain = without_sgr(text);
    let is_word =
        !plain.is_empty() && !plain.contains([' ', '"', ',', '=', '\n', '\t']) && !needs_quotes(&plain);
    if is_word {
        out.push_str(&plain);
        return;
    }
    out.push('"');
    for c in plain.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
}
