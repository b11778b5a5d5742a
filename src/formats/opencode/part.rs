//! Converts parts to blocks: text, reasoning, files, tool calls with their results, and separators.
//!
//! Invariant: the blocks of a part depend on the part alone; the decoder adds message and lane.

use super::blocks::{image, inline_bytes, raw};
use super::{changes, framing, message, tool};
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Piece, Sent};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::usage::Usage;

#[derive(Clone, Debug)]
pub(super) struct DecodedPart {
    pub(super) piece: Piece,
    /// The blocks; none for the markers around a step.
    pub(super) blocks: Vec<Block>,
    /// Whether this is content by the message's author, which makes a user message a prompt.
    pub(super) is_own: bool,
    /// Whether the program added this to the author's content.
    pub(super) is_added: bool,
    /// Whether this requests a compaction.
    pub(super) is_compaction: bool,
    /// The first message that remains after this compaction.
    pub(super) kept: Option<Text>,
    /// The session that a `task` call started.
    pub(super) child: Option<Text>,
    /// The usage of the step, if the part is the step's last.
    pub(super) usage: Option<Usage>,
    /// Whether the part proves a request to the model. OpenCode itself makes messages that only
    /// hold calls.
    pub(super) is_of_request: bool,
    /// The latest time at which the message was still being written.
    pub(super) until: Option<Timestamp>,
}

impl DecodedPart {
    /// A part with these blocks and no facts.
    pub(super) fn of(piece: Piece, blocks: Vec<Block>) -> Self {
        Self {
            piece,
            blocks,
            is_own: false,
            is_added: false,
            is_compaction: false,
            kept: None,
            child: None,
            usage: None,
            is_of_request: true,
            until: None,
        }
    }

    pub(super) fn call(&self) -> Option<&ToolCall> {
        self.blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Call(call) => Some(&**call),
            _ => None,
        })
    }

    /// Replaces the key of the call.
    pub(super) fn rename_call(&mut self, key: Key) {
        for block in &mut self.blocks {
            if let BlockKind::Call(call) = &mut block.kind {
                call.key = key.clone();
            }
        }
    }

    /// Closes a call that will have no result, since its message is complete.
    pub(super) fn close(&mut self) {
        for block in &mut self.blocks {
            if let BlockKind::Call(call) = &mut block.kind
                && call.state.is_open()
            {
                call.state = ToolState::Lost;
            }
        }
    }

    /// The first text by the message's author.
    pub(super) fn said(&self) -> Option<&Text> {
        self.blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Text(body) if self.is_own => Some(body.text_or_stub()),
            _ => None,
        })
    }
}

/// Decodes a part. `piece` is its identity within the message, `name` a name for its result.
pub(super) fn decode(json: &Json<'_>, piece: Piece, name: &str, out: &mut Batch) -> DecodedPart {
    let mut part = DecodedPart::of(piece, Vec::new());
    let mut kinds = Vec::new();
    let sent = sent(json);
    let until = ["end", "completed", "start", "created"];
    part.until = json.get("time").first(&until, Json::moment);
    match json.kind() {
        "text" => {
            let (block, is_own) = text(json, out);
            part.is_own = is_own;
            part.is_added = matches!(block, BlockKind::Raw(_));
            kinds.push(block);
        }
        "reasoning" => kinds.push(BlockKind::Thinking(
            out.prose(json.get("text").str_or_empty()),
        )),
        "tool" => {
            part.is_of_request = false;
            part.until = json.at("state.time.start").moment();
            part.child = tool::child(json.get("state"));
            kinds.extend(tool::decode(json, name, out));
        }
        "file" => {
            part.is_own = true;
            kinds.push(file(json, out));
        }
        "subtask" => {
            part.is_own = true;
            kinds.extend(subtask(json, out));
        }
        "skill" => kinds.push(raw(
            &format!("uses skill {}", json.get("name").str_or_empty()),
            "",
            out,
        )),
        "agent" => kinds.push(raw(
            &format!("calls agent @{}", json.get("name").str_or_empty()),
            "",
            out,
        )),
        "patch" => kinds.push(changes::patch(json, out)),
        "compaction" => {
            part.is_compaction = true;
            part.kept = json.get("tail_start_id").text();
            kinds.push(BlockKind::Break(compaction(json)));
        }
        "retry" => kinds.push(BlockKind::Break(message::retry(json))),
        "step-finish" => part.usage = message::usage(json),
        "step-start" | "snapshot" => {}
        other => {
            kinds.push(unknown::block(NamedKind("part.type", other), json, out));
        }
    }
    part.blocks = kinds
        .into_iter()
        .map(|kind| Block::new(piece, kind))
        .collect();
    // What is sent for the whole part is recorded in its first block.
    if let Some(first) = part.blocks.first_mut() {
        first.sent = sent;
    }
    part
}

/// What OpenCode sends to the model for a part.
fn sent(json: &Json<'_>) -> Sent {
    let words = |words: &str| Sent::As(Box::new(words.into()));
    match json.kind() {
        "text" if json.get("ignored").is_true() => Sent::Never,
        "tool" => {
            let time = json.at("state.time");
            let is_dropped = !time.get("compacted").is_null();
            let end = time.first(&["compacted", "end", "start"], Json::moment);
            match json.at("state.status").str() {
                // The result may come in a record of its own.
                Some(_) if json.get("isEvent").is_true() => Sent::Usual,
                Some("pending" | "running") => words("[Tool execution was interrupted]"),
                _ if is_dropped => Sent::Until(end.unwrap_or(Timestamp(0))),
                _ => Sent::Usual,
            }
        }
        "compaction" => words("What did we do so far?"),
        "subtask" => words("The following tool was executed by the user"),
        "agent" | "skill" | "patch" | "retry" => Sent::Never,
        _ => Sent::Usual,
    }
}

/// A text and whether the author wrote it. Text that the program added becomes a raw block.
fn text(json: &Json<'_>, out: &mut Batch) -> (BlockKind, bool) {
    let said = json.get("text").str_or_empty();
    if json.get("synthetic").is_true() {
        let title = json.get("title").filled().unwrap_or("added by opencode");
        return (raw(title, &framing::file(said), out), false);
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
    let source = json.get("source");
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let address = if url.starts_with("data:") {
        ""
    } else {
        address
    };
    let place = source
        .first(&["path", "uri"], Json::filled)
        .unwrap_or(address);
    let name = json.get("filename").filled().unwrap_or(place);
    let mut facts = vec![json.get("mime").str_or_empty().to_owned(), place.to_owned()];
    facts.extend(inline_bytes(url).map(|bytes| format!("{bytes} bytes inline")));
    facts.extend(
        source
            .get("name")
            .filled()
            .map(|symbol| format!("symbol {symbol}")),
    );
    facts.extend(
        source
            .get("clientName")
            .filled()
            .map(|server| format!("of {server}")),
    );
    facts.extend(lines(source.get("range"), query));
    facts.retain(|fact| !fact.trim().is_empty());
    raw(&format!("file {name}"), &facts.join("\n"), out)
}

/// The referenced lines, from a symbol's range or from the query of a URL.
fn lines(range: &Json<'_>, query: &str) -> Option<String> {
    let asked = |name: &str| {
        query
            .split('&')
            .find_map(|one| one.strip_prefix(name)?.strip_prefix('='))
    };
    // The language server protocol counts lines from 0.
    let line = |end: &str| {
        range
            .get(end)
            .get("line")
            .int()
            .map(|line| line.saturating_add(1).to_string())
    };
    let start = line("start").or_else(|| asked("start").map(str::to_owned))?;
    let end = line("end").or_else(|| asked("end").map(str::to_owned));
    Some(end.map_or_else(
        || format!("line {start}"),
        |end| format!("lines {start}-{end}"),
    ))
}

/// The user's request for a sub-agent in short, and the full prompt made from it.
fn subtask(json: &Json<'_>, out: &mut Batch) -> [BlockKind; 2] {
    let command = json
        .get("command")
        .filled()
        .map(|command| format!("/{command}"));
    let what = command.or_else(|| json.get("description").filled().map(str::to_owned));
    let said = out.prose(&what.unwrap_or_else(|| "a subtask".to_owned()));
    let description = json.get("description").str_or_empty();
    let title = format!(
        "subtask for {}: {description}",
        json.get("agent").filled().unwrap_or("an agent")
    );
    [
        BlockKind::Text(said),
        raw(
            title.trim_end_matches([':', ' ']),
            json.get("prompt").str_or_empty(),
            out,
        ),
    ]
}

fn compaction(json: &Json<'_>) -> Break {
    let cause = match (json.get("auto"), json.get("overflow").is_true()) {
        (Json::Bool(true), true) => "auto, context overflow",
        (Json::Bool(true), false) => "auto",
        (Json::Bool(false), _) => "manual",
        _ => "",
    };
    let tail = if json.get("tail_start_id").filled().is_some() {
        ", last messages kept"
    } else {
        ""
    };
    Break::compaction(format!("{cause}{tail}").trim_start_matches(", "))
}
