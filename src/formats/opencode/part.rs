//! Parts to blocks: text, reasoning, files, tool calls with their results, and the marks between.
//!
//! Invariant: what a part yields depends on the part alone; message and lane are the decoder's.

use super::message;
use crate::formats::json::Json;
use crate::formats::tools;
use crate::model::body::{Image, Key};
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Piece, Raw};
use crate::model::moment::Moment;
use crate::model::text::Text;
use crate::model::tool::ended;
use crate::model::tool::{ToolCall, ToolResult, ToolState, Verdict};
use crate::model::usage::Usage;

/// A decoded part.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Its identity within the message.
    pub(super) piece: Piece,
    /// Its blocks; none for the marks around a step.
    pub(super) blocks: Vec<Block>,
    /// Whether its author meant to say something: it makes a user's message a prompt.
    pub(super) is_own: bool,
    /// Whether it asks for a compaction.
    pub(super) is_compaction: bool,
    /// The session that a `task` call started.
    pub(super) child: Option<Text>,
    /// What the step cost, as its last part repeats it.
    pub(super) usage: Option<Usage>,
}

impl Part {
    /// The call of the part, if it is one.
    pub(super) fn call(&self) -> Option<&ToolCall> {
        self.blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Call(call) => Some(&**call),
            _ => None,
        })
    }

    /// The same call under another key.
    pub(super) fn rename_call(&mut self, key: Key) {
        for block in &mut self.blocks {
            if let BlockKind::Call(call) = &mut block.kind {
                call.key = key.clone();
            }
        }
    }

    /// Ends a call that will have no result: its message is complete.
    pub(super) fn close(&mut self) {
        for block in &mut self.blocks {
            if let BlockKind::Call(call) = &mut block.kind
                && call.state.is_open()
            {
                call.state = ToolState::Lost;
            }
        }
    }
}

/// Decodes a part. `piece` is its identity, `name` a name for its result.
pub(super) fn decode(json: &Json<'_>, piece: Piece, name: &str, out: &mut Batch) -> Part {
    let mut part =
        Part { piece, blocks: Vec::new(), is_own: false, is_compaction: false, child: None, usage: None };
    let mut kinds = Vec::new();
    match json.get("type").str_or_empty() {
        "text" => {
            let (block, is_own) = text(json, out);
            part.is_own = is_own;
            kinds.push(block);
        }
        "reasoning" => kinds.push(BlockKind::Thinking(out.prose(json.get("text").str_or_empty()))),
        "tool" => {
            let state = json.get("state");
            part.child = state.at(&["metadata", "sessionId"]).text();
            kinds.push(tool(json, state, name, out));
            kinds.extend(output_so_far(state, out));
        }
        "file" => {
            part.is_own = true;
            kinds.push(file(json, out));
        }
        "subtask" => {
            part.is_own = true;
            kinds.push(subtask(json, out));
        }
        "agent" => kinds.push(raw(&format!("calls agent @{}", json.get("name").str_or_empty()), "", out)),
        "patch" => kinds.push(patch(json, out)),
        "compaction" => {
            part.is_compaction = true;
            kinds.push(BlockKind::Break(compaction(json)));
        }
        "retry" => kinds.push(BlockKind::Break(retry(json))),
        "step-finish" => part.usage = message::usage(json),
        "step-start" | "snapshot" => {}
        other => {
            out.unknown(&format!("part type {other}"));
            let title = Text::clean(&format!("part of type {other}"));
            let body = out.tree(&title, json.weight(), || json.to_tree());
            kinds.push(BlockKind::Raw(Raw { title, body }));
        }
    }
    part.blocks = kinds.into_iter().map(|kind| Batch::block(piece, kind)).collect();
    part
}

fn raw(title: &str, text: &str, out: &mut Batch) -> BlockKind {
    BlockKind::Raw(Raw { title: Text::clean(title), body: out.prose(text) })
}

/// Text that the program put into a message is not what its author said.
fn text(json: &Json<'_>, out: &mut Batch) -> (BlockKind, bool) {
    let said = json.get("text").str_or_empty();
    if json.get("synthetic").is_true() {
        return (raw("added by opencode", said, out), false);
    }
    if json.get("ignored").is_true() {
        return (raw("not sent to the model", said, out), false);
    }
    (BlockKind::Text(out.prose(said)), !said.trim().is_empty())
}

fn file(json: &Json<'_>, out: &mut Batch) -> BlockKind {
    if let Some(image) = image(json, out) {
        return BlockKind::Image(image);
    }
    let url = json.get("url").str_or_empty();
    let place =
        json.at(&["source", "path"]).filled().unwrap_or(if url.starts_with("data:") { "" } else { url });
    let name = json.get("filename").filled().unwrap_or(place);
    let body = format!("{}\n{place}", json.get("mime").str_or_empty());
    raw(&format!("file {name}"), body.trim(), out)
}

/// The file as an image, if it is one. Data addresses are measured, not kept.
fn image(json: &Json<'_>, out: &Batch) -> Option<Image> {
    let mime = json.get("mime").str_or_empty();
    if !mime.starts_with("image/") {
        return None;
    }
    let url = json.get("url").str_or_empty();
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(',')).map(|(_, data)| data);
    Some(Image {
        mime: Text::clean(mime),
        bytes: data.map(|data| data.trim_end_matches('=').len() as u64 * 3 / 4),
        source: if data.is_some() { json.get("filename").text() } else { json.get("url").text() },
        origin: out.origin(),
    })
}

fn subtask(json: &Json<'_>, out: &mut Batch) -> BlockKind {
    let what = json.get("description").filled().or(json.get("command").filled()).unwrap_or_default();
    let title = format!("subtask for {}: {what}", json.get("agent").filled().unwrap_or("an agent"));
    raw(&title, json.get("prompt").str_or_empty(), out)
}

fn patch(json: &Json<'_>, out: &mut Batch) -> BlockKind {
    let files: Vec<&str> = json.get("files").items().iter().filter_map(Json::str).collect();
    let noun = if files.len() == 1 { "file" } else { "files" };
    raw(&format!("changed {} {noun}", files.len()), &files.join("\n"), out)
}

fn compaction(json: &Json<'_>) -> Break {
    let is_overflow = json.get("overflow").is_true();
    let trigger = match json.get("auto") {
        Json::Bool(true) if is_overflow => "auto, context overflow",
        Json::Bool(true) => "auto",
        Json::Bool(false) => "manual",
        _ => "",
    };
    Break::Compaction { before: None, after: None, trigger: Text::clean(trigger), partial: false }
}

fn retry(json: &Json<'_>) -> Break {
    let what = match message::failure(json.get("error")) {
        Some(Break::Error(what) | Break::Interrupted(what)) => what,
        _ => Text::clean("error"),
    };
    let attempt = json.get("attempt").count().unwrap_or(0);
    Break::Error(Text::clean(&format!("attempt {attempt} failed: {what}")))
}

fn tool(json: &Json<'_>, state: &Json<'_>, name: &str, out: &mut Batch) -> BlockKind {
    let tool = json.get("tool").str_or_empty();
    let kind = tools::kind_of(tool);
    let empty = Json::Object(Vec::new());
    let input = match state.get("input") {
        // Empty objects come as `[]` out of Lua.
        Json::Array(items) if items.is_empty() => &empty,
        Json::Null => state.get("raw"),
        input => input,
    };
    let mut headline = tools::headline(kind, input);
    if headline.is_blank() {
        headline = Text::stub(state.get("title").str_or_empty(), 200);
    }
    let body = out.tree(&headline, input.weight(), || input.to_tree());
    let status = state.get("status").str_or_empty();
    let tool_state = match status {
        "completed" | "error" => ended(result(json, state, name, out)),
        "running" => ToolState::Running,
        "pending" | "" => ToolState::Pending,
        other => {
            out.unknown(&format!("tool status {other}"));
            ToolState::Pending
        }
    };
    BlockKind::Call(Box::new(ToolCall {
        key: Text::clean(json.get("callID").str_or_empty()),
        name: Text::clean(tool),
        kind,
        headline,
        input: body,
        state: tool_state,
        started: state.at(&["time", "start"]).moment(),
        lane: state.at(&["metadata", "sessionId"]).text(),
    }))
}

fn result(json: &Json<'_>, state: &Json<'_>, name: &str, out: &mut Batch) -> ToolResult {
    let told =
        if state.get("status").str() == Some("error") { state.get("error") } else { state.get("output") };
    let body = match told {
        Json::Str(text) => out.output(text),
        Json::Null => out.output(""),
        other => out.output(&other.to_source()),
    };
    let metadata = state.get("metadata");
    let patch = metadata.get("diff").filled().map(|diff| out.prose(diff));
    let attachments = state.get("attachments").items();
    let (start, end) = (state.at(&["time", "start"]).moment(), state.at(&["time", "end"]).moment());
    ToolResult {
        key: Text::clean(name),
        verdict: verdict(json, state),
        body,
        patch,
        images: attachments.iter().filter_map(|attachment| image(attachment, out)).collect(),
        facts: facts(state),
        at: end,
        duration_ms: start.zip(end).map(|(start, end): (Moment, Moment)| end.since(start)),
    }
}

/// A shell command that failed and a call of a tool that does not exist both count as completed.
fn verdict(json: &Json<'_>, state: &Json<'_>) -> Verdict {
    let metadata = state.get("metadata");
    let error = state.get("error").str_or_empty();
    let refusals = ["The user rejected permission", "The user has specified a rule which prevents"];
    if refusals.iter().any(|refusal| error.starts_with(refusal)) {
        return Verdict::Refused;
    }
    let failed = state.get("status").str() == Some("error")
        || json.get("tool").str() == Some("invalid")
        || metadata.get("interrupted").is_true()
        || metadata.get("exit").int().is_some_and(|code| code != 0);
    if failed { Verdict::Failed } else { Verdict::Done }
}

fn facts(state: &Json<'_>) -> Text {
    let metadata = state.get("metadata");
    let mut facts = Vec::new();
    if let Some(code) = metadata.get("exit").int().filter(|code| *code != 0) {
        facts.push(format!("exit {code}"));
    }
    if let Some(hits) = metadata.get("matches").count().or_else(|| metadata.get("count").count()) {
        facts.push(format!("{hits} {}", if hits == 1 { "hit" } else { "hits" }));
    }
    let images = |file: &&Json<'_>| file.get("mime").str_or_empty().starts_with("image/");
    let attachments = state.get("attachments").items();
    let others = attachments.len() - attachments.iter().filter(images).count();
    if others > 0 {
        facts.push(format!("{others} attached"));
    }
    if metadata.get("interrupted").is_true() {
        facts.push("interrupted".to_owned());
    }
    if metadata.get("truncated").is_true() {
        facts.push("truncated".to_owned());
    }
    if !state.at(&["time", "compacted"]).is_null() {
        facts.push("hidden from the model".to_owned());
    }
    Text::clean(&facts.join(" · "))
}

/// What a running command has written so far; the completed call replaces it.
fn output_so_far(state: &Json<'_>, out: &mut Batch) -> Option<BlockKind> {
    if state.get("status").str() != Some("running") {
        return None;
    }
    let output = state.at(&["metadata", "output"]).filled()?;
    Some(BlockKind::Raw(Raw { title: Text::clean("output so far"), body: out.output(output) }))
}
