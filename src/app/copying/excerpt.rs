//! What the copy keys take out of an item, as plain text without colours.

use crate::app::input::action::What;
use crate::model::body::{Body, Tree};
use crate::model::entry::{BlockKind, Entry};
use crate::model::text::without_sgr;
use crate::model::tool::{ToolCall, ToolKind};
use crate::render::output;
use crate::render::row::Row;
use crate::render::source::{Of, Source};
use crate::render::tool::{change_text, command_of};

/// What came of a request to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excerpt {
    /// This text.
    Text(String),
    /// The item has no such thing.
    Nothing(&'static str),
    /// It is being read from disk; ask again.
    Away,
}

/// Takes an excerpt of a block. What is not a part of it, such as its record, is not known here.
pub fn of(entry: &Entry, block: usize, what: What) -> Excerpt {
    let Some(block) = entry.blocks.get(block) else {
        return Excerpt::Nothing("nothing is focused");
    };
    match (what, &block.kind) {
        (What::Text, BlockKind::Text(body) | BlockKind::Thinking(body)) => whole(body),
        (What::Text, BlockKind::Raw(raw) | BlockKind::Aside(_, raw)) => whole(&raw.body),
        (What::Text, BlockKind::Break(what)) => Excerpt::Text(what.words().to_string()),
        (What::Text, BlockKind::Image(image)) => image
            .source
            .as_ref()
            .map_or(Excerpt::Nothing("the image is inside the file"), |source| {
                Excerpt::Text(source.to_string())
            }),
        (What::Text | What::Result, BlockKind::Result(stray)) => whole(&stray.result.body),
        (What::Text | What::Result, BlockKind::Call(call)) => match call.state.result() {
            Some(result) => whole(&result.body),
            None if what == What::Text => command(call),
            None => Excerpt::Nothing("the call has no result"),
        },
        (What::Command, BlockKind::Call(call)) => command(call),
        (What::Id, BlockKind::Call(call)) if !call.key.is_empty() => {
            Excerpt::Text(call.key.to_string())
        }
        (What::Id, _) => Excerpt::Text(entry.key.to_string()),
        (What::Result, _) => Excerpt::Nothing("only tool calls have results"),
        (What::Command, _) => Excerpt::Nothing("only tool calls have a command"),
        (What::Json | What::Path | What::Turn | What::Link | What::Query, _) => {
            Excerpt::Nothing("that is no part of an item")
        }
    }
}

/// Takes a value out of the input of a call, by its place.
pub(crate) fn value(entry: &Entry, block: usize, number: usize) -> Excerpt {
    let Some(BlockKind::Call(call)) = entry.blocks.get(block).map(|block| &block.kind) else {
        return Excerpt::Nothing("only tool calls have an input");
    };
    match call.input.tree() {
        Some(Tree::Map(members)) => match members.get(number) {
            Some((_, Tree::Text(text))) => Excerpt::Text(text.to_string()),
            Some((_, value)) => Excerpt::Text(json(value)),
            None => Excerpt::Nothing("the input has no such value"),
        },
        _ => whole(&call.input),
    }
}

/// All of a block as its author wrote it, with what is folded away: of a call what it did, and what came of
/// it.
pub(crate) fn of_block(entry: &Entry, block: usize) -> Excerpt {
    let Some(BlockKind::Call(call)) = entry.blocks.get(block).map(|block| &block.kind) else {
        return of(entry, block, What::Text);
    };
    if call.input.is_away() {
        return Excerpt::Away;
    }
    let head = command_of(call).unwrap_or(&call.headline);
    let below = match (change_text(call), call.state.result()) {
        (Some(change), _) => Excerpt::Text(change.to_string()),
        (None, Some(result)) => whole(&result.body),
        (None, None) => call
            .state
            .live()
            .map_or(Excerpt::Nothing("no result"), whole),
    };
    match below {
        Excerpt::Text(text) if call.kind == ToolKind::Read => {
            Excerpt::Text(joined(head, &output::without_numbers(&text)))
        }
        Excerpt::Text(text) => Excerpt::Text(joined(head, &text)),
        Excerpt::Nothing(_) => Excerpt::Text(head.to_string()),
        Excerpt::Away => Excerpt::Away,
    }
}

fn joined(head: &str, below: &str) -> String {
    let parts = [head, below]
        .into_iter()
        .map(|part| part.trim_end_matches('\n'));
    parts
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The lines that rows of a block come from, each of them once. What stands between two lines and has no
/// row, such as an empty line or the fence of a code block, comes with them.
pub(crate) fn of_rows(entry: &Entry, block: usize, rows: &[Row]) -> Excerpt {
    let Some(kind) = entry.blocks.get(block).map(|block| &block.kind) else {
        return Excerpt::Nothing("nothing is selected");
    };
    let mut groups: Vec<(&Of, Lines)> = Vec::new();
    let mut is_hidden = false;
    for row in rows {
        let source = &row.source;
        if source.of == Of::Nothing {
            is_hidden |= row.hides > 0;
            continue;
        }
        match groups.last_mut() {
            Some((of, lines)) if **of == source.of => lines.add(source, !is_hidden),
            _ => {
                let mut lines = Lines::default();
                lines.add(source, false);
                groups.push((&source.of, lines));
            }
        }
        is_hidden = false;
    }
    let bodies = kind.bodies();
    let is_read = matches!(kind, BlockKind::Call(call) if call.kind == ToolKind::Read);
    let mut out: Vec<String> = Vec::new();
    for (of, lines) in groups {
        let text = match of {
            Of::Nothing => continue,
            Of::Own(text) => without_sgr(text).into_owned(),
            Of::Body(at) => match bodies.get(*at).map(|body| whole(body)) {
                Some(Excerpt::Text(text)) if is_read && *at > 0 => output::without_numbers(&text),
                Some(Excerpt::Text(text)) => text,
                Some(Excerpt::Away) => return Excerpt::Away,
                Some(Excerpt::Nothing(_)) | None => continue,
            },
        };
        out.extend(lines.of(&text).map(str::to_owned));
    }
    if out.is_empty() {
        Excerpt::Nothing("there is no text in these rows")
    } else {
        Excerpt::Text(out.join("\n"))
    }
}

/// Numbers of lines.
#[derive(Default)]
struct Lines {
    ranges: Vec<(u32, u32)>,
}

impl Lines {
    /// `joins`: nothing that was written stands between these and the ones before.
    fn add(&mut self, source: &Source, joins: bool) {
        let (from, to) = (source.lines.start, source.lines.end);
        match self.ranges.last_mut() {
            Some((_, end)) if joins && from >= *end => *end = (*end).max(to),
            Some((start, end)) if from >= *start && from <= *end => *end = (*end).max(to),
            _ => self.ranges.push((from, to)),
        }
        self.ranges
            .extend(source.beside.map(|line| (line, line.saturating_add(1))));
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

/// All of a body, without colours.
pub fn whole(body: &Body) -> Excerpt {
    if body.is_away() {
        return Excerpt::Away;
    }
    match (body.text(), body.tree()) {
        (Some(text), _) => Excerpt::Text(without_sgr(text).into_owned()),
        (None, Some(tree)) => Excerpt::Text(json(tree)),
        (None, None) => Excerpt::Away,
    }
}

fn command(call: &ToolCall) -> Excerpt {
    let Some(tree) = call.input.tree() else {
        return whole(&call.input);
    };
    command_of(call).map_or_else(
        || Excerpt::Text(json(tree)),
        |text| Excerpt::Text(text.to_string()),
    )
}

/// A tree as JSON text on one line.
pub(crate) fn json(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".to_owned(),
        Tree::Bool(flag) => flag.to_string(),
        Tree::Number(n) => n.to_string(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Tree::Map(members) => {
            let member = |(key, value): &(crate::model::text::Text, Tree)| {
                format!("{}:{}", quoted(key), json(value))
            };
            format!(
                "{{{}}}",
                members.iter().map(member).collect::<Vec<_>>().join(",")
            )
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
