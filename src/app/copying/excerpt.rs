//! The plain text of an item for the copy keys, without colours.

use itertools::Itertools as _;

use crate::app::input::action::CopyTarget;
use crate::model::body::{Body, Tree};
use crate::model::entry::{BlockKind, Entry};
use crate::model::text::without_sgr;
use crate::model::tool::{ToolCall, ToolKind};
use crate::render::output;
use crate::render::row::Row;
use crate::render::source::{Source, SourceText};
use crate::render::tool::change_text;

/// The text of an item for a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemText {
    Text(String),
    /// The item has no text of this kind; the reason, for the message.
    Nothing(&'static str),
    /// The body is on disk, and is being read.
    OnDisk,
}

/// The text of a block for a copy key. Paths, links and records are made elsewhere.
pub fn of(entry: &Entry, block: usize, what: CopyTarget) -> ItemText {
    let Some(block) = entry.blocks.get(block) else {
        return ItemText::Nothing("nothing is focused");
    };
    match (what, &block.kind) {
        (CopyTarget::Text, BlockKind::Text(body) | BlockKind::Thinking(body)) => full_text(body),
        (CopyTarget::Text, BlockKind::Raw(raw) | BlockKind::Aside(_, raw)) => full_text(&raw.body),
        (CopyTarget::Text, BlockKind::Break(what)) => ItemText::Text(what.words().to_string()),
        (CopyTarget::Text, BlockKind::Image(image)) => image.source.as_ref().map_or(
            ItemText::Nothing("the image is inside the file"),
            |source| ItemText::Text(source.to_string()),
        ),
        (CopyTarget::Text | CopyTarget::Result, BlockKind::Result(stray)) => {
            full_text(&stray.result.body)
        }
        (CopyTarget::Text | CopyTarget::Result, BlockKind::Call(call)) => match call.state.result()
        {
            Some(result) => full_text(&result.body),
            None if what == CopyTarget::Text => command(call),
            None => ItemText::Nothing("the call has no result"),
        },
        (CopyTarget::Command, BlockKind::Call(call)) => command(call),
        (CopyTarget::Id, BlockKind::Call(call)) if !call.key.is_empty() => {
            ItemText::Text(call.key.to_string())
        }
        (CopyTarget::Id, _) => ItemText::Text(entry.key.to_string()),
        (CopyTarget::Result, _) => ItemText::Nothing("only tool calls have results"),
        (CopyTarget::Command, _) => ItemText::Nothing("only tool calls have a command"),
        (
            CopyTarget::Json
            | CopyTarget::Path
            | CopyTarget::Turn
            | CopyTarget::Link
            | CopyTarget::Query,
            _,
        ) => ItemText::Nothing("that is no part of an item"),
    }
}

/// A value of the input of a call, by its index.
pub(crate) fn value(entry: &Entry, block: usize, number: usize) -> ItemText {
    let Some(BlockKind::Call(call)) = entry.blocks.get(block).map(|block| &block.kind) else {
        return ItemText::Nothing("only tool calls have an input");
    };
    match call.input.tree() {
        Some(Tree::Map(members)) => match members.get(number) {
            Some((_, Tree::Text(text))) => ItemText::Text(text.to_string()),
            Some((_, value)) => ItemText::Text(json(value)),
            None => ItemText::Nothing("the input has no such value"),
        },
        _ => full_text(&call.input),
    }
}

/// The whole text of a block, including folded parts; for a call its command or headline, and its
/// change or result.
pub(crate) fn of_block(entry: &Entry, block: usize) -> ItemText {
    let Some(BlockKind::Call(call)) = entry.blocks.get(block).map(|block| &block.kind) else {
        return of(entry, block, CopyTarget::Text);
    };
    if call.input.is_on_disk() {
        return ItemText::OnDisk;
    }
    let head = call.command().unwrap_or(&call.headline);
    let below = match (change_text(call), call.state.result()) {
        (Some(change), _) => ItemText::Text(change.to_string()),
        (None, Some(result)) => full_text(&result.body),
        (None, None) => call
            .state
            .live_output()
            .map_or(ItemText::Nothing("no result"), full_text),
    };
    match below {
        ItemText::Text(text) if call.kind == ToolKind::Read => {
            ItemText::Text(joined(head, &output::without_numbers(&text)))
        }
        ItemText::Text(text) => ItemText::Text(joined(head, &text)),
        ItemText::Nothing(_) => ItemText::Text(head.to_string()),
        ItemText::OnDisk => ItemText::OnDisk,
    }
}

fn joined(head: &str, below: &str) -> String {
    let parts = [head, below]
        .into_iter()
        .map(|part| part.trim_end_matches('\n'));
    parts.filter(|part| !part.is_empty()).join("\n")
}

/// The source lines of rows of a block, each once. Lines in between without a row, such as an empty
/// line or the fence of a code block, are included.
pub(crate) fn of_rows(entry: &Entry, block: usize, rows: &[Row]) -> ItemText {
    let Some(kind) = entry.blocks.get(block).map(|block| &block.kind) else {
        return ItemText::Nothing("nothing is selected");
    };
    let mut groups: Vec<(&SourceText, LineRanges)> = Vec::new();
    let mut is_hidden = false;
    for row in rows {
        let source = &row.source;
        if source.of == SourceText::None {
            is_hidden |= row.hides > 0;
            continue;
        }
        match groups.last_mut() {
            Some((of, lines)) if **of == source.of => lines.add(source, !is_hidden),
            _ => {
                let mut lines = LineRanges::default();
                lines.add(source, false);
                groups.push((&source.of, lines));
            }
        }
        is_hidden = false;
    }
    let is_read = matches!(kind, BlockKind::Call(call) if call.kind == ToolKind::Read);
    let mut out: Vec<String> = Vec::new();
    for (of, lines) in groups {
        let text = match of {
            SourceText::None => continue,
            SourceText::Own(text) => without_sgr(text).into_owned(),
            SourceText::Body(at) => match kind.bodies().nth(*at).map(full_text) {
                Some(ItemText::Text(text)) if is_read && *at > 0 => output::without_numbers(&text),
                Some(ItemText::Text(text)) => text,
                Some(ItemText::OnDisk) => return ItemText::OnDisk,
                Some(ItemText::Nothing(_)) | None => continue,
            },
        };
        out.extend(lines.of(&text).map(str::to_owned));
    }
    if out.is_empty() {
        ItemText::Nothing("there is no text in these rows")
    } else {
        ItemText::Text(out.join("\n"))
    }
}

#[derive(Default)]
struct LineRanges {
    ranges: Vec<(u32, u32)>,
}

impl LineRanges {
    /// Adds the lines of a row; `joins` if no hidden rows are between them and the previous lines.
    fn add(&mut self, source: &Source, joins: bool) {
        let (from, to) = (source.lines.start, source.lines.end);
        match self.ranges.last_mut() {
            Some((_, end)) if joins && from >= *end => *end = (*end).max(to),
            Some((start, end)) if from >= *start && from <= *end => *end = (*end).max(to),
            _ => self.ranges.push((from, to)),
        }
        self.ranges
            .extend(source.extra_line.map(|line| (line, line.saturating_add(1))));
        self.ranges.sort_unstable();
    }

    fn of<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let last = text.lines().count().saturating_sub(1);
        let ranges: Vec<(usize, usize)> = self
            .ranges
            .iter()
            .map(|(from, to)| ((*from as usize).min(last), *to as usize))
            .collect();
        let is_in = move |at: usize| {
            ranges
                .iter()
                .any(|(from, to)| at >= *from && at < (*to).max(from + 1))
        };
        text.lines()
            .enumerate()
            .filter(move |(at, _)| is_in(*at))
            .map(|(_, line)| line)
    }
}

/// The whole text of a body, without colours.
pub fn full_text(body: &Body) -> ItemText {
    if body.is_on_disk() {
        return ItemText::OnDisk;
    }
    match (body.text(), body.tree()) {
        (Some(text), _) => ItemText::Text(without_sgr(text).into_owned()),
        (None, Some(tree)) => ItemText::Text(json(tree)),
        (None, None) => ItemText::OnDisk,
    }
}

fn command(call: &ToolCall) -> ItemText {
    let Some(tree) = call.input.tree() else {
        return full_text(&call.input);
    };
    call.command().map_or_else(
        || ItemText::Text(json(tree)),
        |text| ItemText::Text(text.to_string()),
    )
}

/// A tree as JSON text on one line.
pub(crate) fn json(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".to_owned(),
        Tree::Bool(flag) => flag.to_string(),
        Tree::Number(n) => n.to_string(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => format!("[{}]", items.iter().map(json).join(",")),
        Tree::Map(members) => {
            let member = |(key, value): &(crate::model::text::Text, Tree)| {
                format!("{}:{}", quoted(key), json(value))
            };
            format!("{{{}}}", members.iter().map(member).join(","))
        }
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
