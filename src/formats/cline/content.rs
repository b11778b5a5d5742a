//! Decodes the content blocks of messages: the author's text, text that Cline adds, calls and
//! results.

use super::call::{self, RecordedCall};
use super::result;
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break};
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolResult, ToolState};

/// The title of the notice that an interrupted task is resumed.
pub(super) const RESUMPTION: &str = "task resumption";
/// Beginnings of texts that Cline adds to user messages, with their titles.
const NOTICES: [(&str, &str); 5] = [
    ("<SYSTEM_NOTICE>", "system notice"),
    ("<environment_details>", "environment details"),
    ("[ERROR]", "error notice"),
    ("[TASK RESUMPTION]", RESUMPTION),
    ("# task_progress", "reminder of the plan"),
];

/// The decoded blocks of a message.
#[derive(Default)]
pub(super) struct DecodedContent {
    /// The blocks of the entry.
    pub(super) kinds: Vec<BlockKind>,
    /// Texts that Cline added.
    pub(super) notices: Vec<BlockKind>,
    /// Results with the ids of their calls.
    pub(super) results: Vec<(Key, ToolResult)>,
    /// Whether it contains text by its author.
    pub(super) is_own: bool,
    /// The beginning of the author's first text.
    pub(super) first_words: Option<Text>,
    /// The mode in which the user wrote it, if that is recorded.
    pub(super) mode: Option<Text>,
}

impl DecodedContent {
    pub(super) fn add(&mut self, other: Self) {
        let Self {
            kinds,
            notices,
            results,
            is_own,
            first_words,
            mode,
        } = other;
        self.kinds.extend(kinds);
        self.notices.extend(notices);
        self.results.extend(results);
        self.is_own |= is_own;
        self.first_words = self.first_words.take().or(first_words);
        self.mode = self.mode.take().or(mode);
    }
}

/// The message that is being decoded.
#[derive(Clone, Copy)]
pub(super) struct MessageContext<'m> {
    pub(super) key: &'m Key,
    pub(super) at: Option<Timestamp>,
    /// Whether it has the user's role.
    pub(super) is_user: bool,
    /// Whether Cline wrote it, in any role.
    pub(super) is_injected: bool,
}

/// Decodes all blocks of a message.
pub(super) fn content(
    json: &Json<'_>,
    frame: &MessageContext<'_>,
    out: &mut Batch,
) -> DecodedContent {
    let mut content = DecodedContent::default();
    for (index, block) in json.get("content").blocks().iter().enumerate() {
        any_block(block, index, frame, &mut content, out);
    }
    content
}

/// Decodes one block. `index` is its position in the message.
pub(super) fn any_block(
    block: &Json<'_>,
    index: usize,
    frame: &MessageContext<'_>,
    content: &mut DecodedContent,
    out: &mut Batch,
) {
    let kind = block
        .get("type")
        .str()
        .unwrap_or(if block.str().is_some() { "text" } else { "" });
    let shown = match kind {
        "text" => {
            let text = block.part_text().unwrap_or("");
            return text_block(text, frame, content, out);
        }
        "tool_result" => {
            let key = text!("{}:{index}", frame.key);
            let call = block.get("tool_use_id").clean();
            content
                .results
                .push((call, result::decode(block, key, frame.at, out)));
            return;
        }
        "thinking" | "reasoning" => vec![BlockKind::Thinking(out.prose(thought(block)))],
        "redacted_thinking" => vec![BlockKind::Thinking(out.prose(""))],
        "tool_use" | "server_tool_use" => call::blocks(
            RecordedCall {
                key: block.get("id").clean(),
                name: block.get("name").str_or_empty(),
                input: block.get("input"),
                state: ToolState::Pending,
                at: frame.at,
            },
            out,
        ),
        "image" => vec![BlockKind::Image(result::image(block, out))],
        "media" => vec![BlockKind::Image(result::image(media(block), out))],
        "file" => {
            let title = format!("file {}", block.get("path").str_or_empty());
            vec![raw(&title, block.get("content").str_or_empty(), out)]
        }
        other => {
            // An unknown block does not make a prompt.
            content
                .kinds
                .push(unknown::block(NamedKind("content.type", other), block, out));
            return;
        }
    };
    content.is_own |= !frame.is_injected;
    content.kinds.extend(shown);
}

/// The text of a thought, or the summary that some providers give instead.
fn thought<'j>(block: &'j Json<'_>) -> &'j str {
    let summary = block
        .get("summary")
        .items()
        .iter()
        .find_map(|part| part.get("text").filled());
    block
        .first(&["thinking", "text"], Json::filled)
        .or(summary)
        .unwrap_or("")
}

/// The object of an image that a model generated, which may be a member of its own.
fn media<'j>(block: &'j Json<'j>) -> &'j Json<'j> {
    let inner = block.get("media");
    if inner.is_object() { inner } else { block }
}

fn text_block(
    text: &str,
    frame: &MessageContext<'_>,
    content: &mut DecodedContent,
    out: &mut Batch,
) {
    if let Some(title) = notice(text).filter(|_| frame.is_user) {
        content.notices.push(raw(title, text, out));
        return;
    }
    if frame.is_injected {
        content.kinds.push(BlockKind::Text(out.prose(text)));
        return;
    }
    let (mode, text) = input_tag(text).map_or((None, text), |(mode, text)| (Some(mode), text));
    content.mode = content
        .mode
        .take()
        .or(mode.filter(|mode| !mode.is_empty()).map(Text::clean));
    own_text(text, content, out);
}

/// Decodes a text by the author of a message.
pub(super) fn own_text(text: &str, content: &mut DecodedContent, out: &mut Batch) {
    content.is_own = true;
    if content.first_words.is_none() && !text.trim().is_empty() {
        content.first_words = Some(Text::stub(text, 120));
    }
    content.kinds.push(BlockKind::Text(out.prose(text)));
}

/// The title of a text that Cline added; `None` for other texts.
pub(super) fn notice(text: &str) -> Option<&'static str> {
    let text = text.trim_start();
    NOTICES
        .iter()
        .find(|(mark, _)| text.starts_with(mark))
        .map(|(_, title)| *title)
}

/// Unwraps `<user_input mode="act">`, which the core puts around what the user typed.
fn input_tag(text: &str) -> Option<(&str, &str)> {
    let (tag, rest) = text.trim().strip_prefix("<user_input")?.split_once('>')?;
    let mode = tag
        .split_once("mode=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    Some((
        mode.map_or("", |(mode, _)| mode),
        rest.strip_suffix("</user_input>")?,
    ))
}

/// The separator of a compaction.
pub(super) fn compaction(metadata: &Json<'_>) -> Break {
    let reason = metadata.get("reason").str_or_empty().replace('_', " ");
    let removed = metadata
        .get("messagesRemoved")
        .count()
        .map(|n| format!("{n} messages removed"));
    let facts: Vec<String> = Some(reason)
        .filter(|reason| !reason.is_empty())
        .into_iter()
        .chain(removed)
        .collect();
    Break::Compaction {
        before: metadata.first(&["tokensBefore", "usageBefore.inputTokens"], Json::count),
        after: metadata.get("tokensAfter").count(),
        trigger: Text::clean(&facts.join(", ")),
        partial: false,
        took: None,
    }
}

pub(super) fn raw(title: &str, text: &str, out: &mut Batch) -> BlockKind {
    BlockKind::raw(title, out.prose(text))
}

/// A block that shows a value as a tree.
pub(super) fn raw_tree(title: &str, json: &Json<'_>, out: &mut Batch) -> BlockKind {
    let body = json.to_body(&Text::default(), out);
    BlockKind::raw(title, body)
}
