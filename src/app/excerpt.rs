//! What the copy keys take out of an item, as plain text without colours.

use super::action::What;
use crate::model::body::{Body, Tree};
use crate::model::entry::{BlockKind, Entry};
use crate::model::text::without_sgr;
use crate::model::tool::ToolCall;

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

/// Takes an excerpt of a block. [`What::Json`] and [`What::Path`] need the file and are not known here.
pub fn of(entry: &Entry, block: usize, what: What) -> Excerpt {
    let Some(block) = entry.blocks.get(block) else { return Excerpt::Nothing("nothing is focused") };
    match (what, &block.kind) {
        (What::Text, BlockKind::Text(body) | BlockKind::Thinking(body)) => whole(body),
        (What::Text, BlockKind::Raw(raw)) => whole(&raw.body),
        (What::Text, BlockKind::Break(what)) => Excerpt::Text(what.words().to_string()),
        (What::Text, BlockKind::Image(image)) => {
            image.source.as_ref().map_or(Excerpt::Nothing("the image is inside the file"), |source| {
                Excerpt::Text(source.to_string())
            })
        }
        (What::Text | What::Result, BlockKind::Result(stray)) => whole(&stray.result.body),
        (What::Text | What::Result, BlockKind::Call(call)) => match call.state.result() {
            Some(result) => whole(&result.body),
            None if what == What::Text => command(call),
            None => Excerpt::Nothing("the call has no result"),
        },
        (What::Command, BlockKind::Call(call)) => command(call),
        (What::Id, BlockKind::Call(call)) if !call.key.is_empty() => Excerpt::Text(call.key.to_string()),
        (What::Id, _) => Excerpt::Text(entry.key.to_string()),
        (What::Result, _) => Excerpt::Nothing("only tool calls have results"),
        (What::Command, _) => Excerpt::Nothing("only tool calls have a command"),
        (What::Json | What::Path, _) => Excerpt::Nothing("the record is in its file"),
    }
}

/// Takes a value out of the input of a call, by its place.
pub fn value(entry: &Entry, block: usize, number: usize) -> Excerpt {
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

fn whole(body: &Body) -> Excerpt {
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
    let Some(tree) = call.input.tree() else { return whole(&call.input) };
    let command = ["command", "cmd", "script"].iter().find_map(|name| tree.get(name)?.as_text());
    command.map_or_else(|| Excerpt::Text(json(tree)), |text| Excerpt::Text(text.to_string()))
}

/// A tree as JSON text on one line.
pub fn json(tree: &Tree) -> String {
    match tree {
        Tree::Null => "null".to_owned(),
        Tree::Bool(flag) => flag.to_string(),
        Tree::Number(n) => n.to_string(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Tree::Map(members) => {
            let member =
                |(key, value): &(crate::model::text::Text, Tree)| format!("{}:{}", quoted(key), json(value));
            format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
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
