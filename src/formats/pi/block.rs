//! Decodes the blocks of pi's messages: text, thinking, images and tool calls.

use super::image::image;
use super::result;
use crate::formats::json::{self, Json};
use crate::formats::tools;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Piece};
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolState};

/// How an answer ended, as far as its calls are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerEnding {
    /// It is complete, or nothing else is recorded.
    Whole,
    /// It was aborted or failed: pi never runs its calls.
    Broken,
}

/// The blocks of a message's content, which may also be a plain string.
pub fn all(content: &Json<'_>, ending: AnswerEnding, out: &mut Batch) -> Vec<Block> {
    let mut blocks = Vec::new();
    for block in content.blocks() {
        blocks.extend(one(block, ending, out));
    }
    blocks
}

/// The blocks of one content block; several if it has left-over fields.
pub(crate) fn one(block: &Json<'_>, ending: AnswerEnding, out: &mut Batch) -> Vec<Block> {
    if let Some(said) = text_of(block) {
        let body = (!said.trim().is_empty()).then(|| out.prose(said));
        return body
            .map(|body| Block::new(Piece(0), BlockKind::Text(body)))
            .into_iter()
            .collect();
    }
    let kind = match block.kind() {
        "thinking" => BlockKind::Thinking(out.prose(block.get("thinking").str_or_empty())),
        "image" => BlockKind::Image(image(block, out)),
        "toolCall" => return call_blocks(block, ending, out),
        other => unknown::block(NamedKind("block.type", other), block, out),
    };
    vec![Block::new(Piece(0), kind)]
}

pub(crate) fn text_of<'j>(block: &'j Json<'_>) -> Option<&'j str> {
    match (block, block.get("type").str()) {
        (Json::Str(text), _) => Some(text),
        (_, Some("text")) => Some(block.get("text").str_or_empty()),
        _ => None,
    }
}

/// A block of text; `None` if it is blank.
pub fn text(said: &str, out: &mut Batch) -> Option<Block> {
    (!said.trim().is_empty()).then(|| Block::new(Piece(0), BlockKind::Text(out.prose(said))))
}

/// A block with text that is not prose.
pub(crate) fn raw_text(title: &str, text: &str, out: &mut Batch) -> Block {
    let body = out.output(text);
    Block::new(Piece(0), BlockKind::raw(title, body))
}

/// A block that shows a value as a tree.
pub(crate) fn tree(title: &str, value: &Json<'_>, out: &mut Batch) -> Block {
    Block::new(Piece(0), value.to_block(title, out))
}

fn call_blocks(block: &Json<'_>, ending: AnswerEnding, out: &mut Batch) -> Vec<Block> {
    let state = if ending == AnswerEnding::Broken {
        ToolState::Lost
    } else {
        ToolState::Pending
    };
    let mut call = call(block, state, out);
    let leftover = block.first(&["partialJson", "partialArgs"], Json::filled);
    call.input.flags.broken_off |= leftover.is_some_and(tools::is_unfinished);
    let mut blocks = vec![Block::new(Piece(0), call)];
    if let (AnswerEnding::Broken, Some(leftover)) = (ending, leftover) {
        blocks.push(raw_text("unfinished input", leftover, out));
    }
    blocks
}

/// A `toolCall` block.
pub(crate) fn call(block: &Json<'_>, state: ToolState, out: &mut Batch) -> ToolCall {
    let name = block.get("name").str_or_empty();
    let arguments = block.get("arguments");
    // Some providers leave the arguments as the JSON text that the model wrote.
    let parsed = arguments.str().and_then(|text| json::parse(text).ok());
    let arguments = parsed
        .as_ref()
        .filter(|value| value.is_object())
        .unwrap_or(arguments);
    ToolCall {
        key: result::call_key(block.get("id")),
        state,
        ..named_call(name, arguments, out)
    }
}

/// A call of a tool. OpenClaw's `tool_call` has the actual tool in its input.
fn named_call(name: &str, arguments: &Json<'_>, out: &mut Batch) -> ToolCall {
    if let ("tool_call", Some(inner)) = (name, arguments.get("id").filled()) {
        let kind = tools::kind_of_call(inner, arguments.get("args"));
        let headline = tools::headline(kind, arguments.get("args"));
        let headline = Text::clean(format!("{inner} {headline}").trim_end());
        return tools::call_of(name, kind, headline, arguments, out);
    }
    tools::call(name, arguments, out)
}

/// The call of an execution.
pub(crate) fn execution(json: &Json<'_>, key: Key, state: ToolState, out: &mut Batch) -> ToolCall {
    ToolCall {
        key,
        state,
        started: json.get("timestamp").moment(),
        ..named_call(json.get("toolName").str_or_empty(), json.get("args"), out)
    }
}
