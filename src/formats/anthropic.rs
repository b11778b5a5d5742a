//! Content blocks and usage of the Anthropic Messages API, as the agents built on it store them.
//!
//! Invariant: the data of images is never kept in memory.

pub(crate) mod spent;

use super::attached::{self, Attachment, describe_known};
pub(crate) use super::attached::{block_type, output_text};
use super::inline;
use super::json::Json;
use super::tools;
use super::unknown::{self, NamedKind};
use crate::model::body::{Image, Key};
use crate::model::edit::{Batch, Severity};
use crate::model::entry::{BlockKind, Break, Raw};
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolResult, Verdict};

/// The result of decoding a content block.
#[derive(Debug)]
pub(crate) enum BlockContent {
    /// A part of the message.
    Part(BlockKind),
    /// The result of a call.
    Result(Key, Box<ToolResult>),
    /// A text of only white space.
    Blank,
}

/// The position of a content block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    /// The key of the record.
    pub(crate) record: &'a str,
    /// Index of the block in its record.
    pub(crate) place: usize,
    /// When the record was written.
    pub(crate) at: Option<Timestamp>,
}

/// Decodes a content block. A bare string is a text block.
pub(crate) fn content(block: &Json<'_>, site: Site<'_>, out: &mut Batch) -> BlockContent {
    let kind = block_type(block);
    match kind {
        "text" => match block.get("text").str().or_else(|| block.str()) {
            Some(text) if text.trim().is_empty() => BlockContent::Blank,
            Some(text) => BlockContent::Part(BlockKind::Text(out.prose(text))),
            None => BlockContent::Part(raw(block, "text", out)),
        },
        "thinking" => BlockContent::Part(BlockKind::Thinking(
            out.prose(block.get("thinking").str_or_empty()),
        )),
        "redacted_thinking" => BlockContent::Part(BlockKind::Thinking(out.prose(""))),
        "image" => BlockContent::Part(BlockKind::Image(image(block, out))),
        // The API names server side and MCP tools by a prefix: `server_tool_use`, `mcp_tool_result`.
        _ if kind.ends_with("tool_use") => BlockContent::Part(call(block, site.at, out).into()),
        _ if kind.ends_with("tool_result") => {
            let call = block.get("tool_use_id").clean();
            BlockContent::Result(call, Box::new(result(block, site, out)))
        }
        // The provider fell back to another model.
        "fallback" if block.at("to.model").filled().is_some() => {
            let model = block.at("to.model").clean();
            BlockContent::Part(BlockKind::Break(Break::ModelChange(model)))
        }
        "mid_conv_system" => BlockContent::Part(words_under("system message", block, out)),
        "compaction" if block.has("content") => {
            BlockContent::Part(words_under("summary", block, out))
        }
        _ => BlockContent::Part(match describe_known(block) {
            Some(Attachment { title, text }) => BlockKind::Raw(Raw {
                title: Text::stub(&title, 200),
                body: out.output(&text),
            }),
            None => unknown::block(NamedKind("block.type", kind), block, out),
        }),
    }
}

/// Shows the text of a block under a title.
fn words_under(title: &str, block: &Json<'_>, out: &mut Batch) -> BlockKind {
    let content = block.either("content", "text");
    let body = out.output(&output_text(content));
    BlockKind::raw(title, body)
}

/// Shows any block as a tree.
pub(crate) fn raw(block: &Json<'_>, title: &str, out: &mut Batch) -> BlockKind {
    let title = Text::stub(if title.is_empty() { "block" } else { title }, 80);
    let body = block.to_body(&title, out);
    BlockKind::Raw(Raw { title, body })
}

pub(crate) fn call(block: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> ToolCall {
    ToolCall {
        key: block.get("id").clean(),
        started: at,
        ..tools::call(block.get("name").str_or_empty(), block.get("input"), out)
    }
}

/// Decodes a `tool_result` block. Its content is a string, blocks, or any other value.
pub(crate) fn result(block: &Json<'_>, site: Site<'_>, out: &mut Batch) -> ToolResult {
    let content = block.get("content");
    let text = output_text(content);
    let untagged_text = untagged(&text);
    let failure = attached::failure(content);
    let is_error = block.get("is_error").is_true() || failure.is_some();
    let images = content
        .items()
        .iter()
        .filter(|item| block_type(item) == "image");
    let verdict = Verdict::of(is_error, is_error && is_refusal(untagged_text));
    let key = text!("{}:{}", site.record, site.place);
    ToolResult {
        images: images.map(|item| image(item, out)).collect(),
        facts: failure
            .map(|failure| Text::clean(&failure))
            .unwrap_or_default(),
        ..ToolResult::new(key, verdict, out.output(untagged_text), site.at)
    }
}

/// Removes the tag that Claude Code puts around its own errors.
fn untagged(text: &str) -> &str {
    let inner = text.trim().strip_prefix("<tool_use_error>");
    inner
        .and_then(|rest| rest.strip_suffix("</tool_use_error>"))
        .unwrap_or(text)
}

/// Whether an error says that the user or a policy did not allow the call.
fn is_refusal(text: &str) -> bool {
    let marks = [
        "The user doesn't want to",
        "User rejected",
        "The user rejected",
        "Claude requested permissions to",
        "Permission to use",
    ];
    let text = text.trim_start();
    marks.iter().any(|mark| text.starts_with(mark))
}

/// Decodes an image block, without its data.
pub(crate) fn image(block: &Json<'_>, out: &Batch) -> Image {
    let source = block.get("source");
    let data = source.get("data").str().or_else(|| block.get("data").str());
    let mime = [
        source.get("media_type"),
        block.get("mediaType"),
        block.get("mimeType"),
    ];
    let address = [source.get("url"), source.get("file_id"), source.get("path")];
    Image {
        mime: mime.iter().find_map(|name| name.text()).unwrap_or_default(),
        bytes: data.map(inline::decoded_size),
        source: address.iter().find_map(|name| name.text()),
        origin: out.origin(),
    }
}

/// A token count. Negative ones occur; they are reported and count as 0.
pub(crate) fn tokens(json: &Json<'_>, name: &str, out: &mut Batch) -> Option<u64> {
    let count = json.get(name);
    if count.number().is_some_and(|n| n < 0.0) {
        out.notice(Severity::Warning, &format!("negative {name} counted as 0"));
    }
    count.count()
}
