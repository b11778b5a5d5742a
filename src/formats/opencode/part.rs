//! Parts to blocks: text, reasoning, files, tool calls with their results, and the marks between.
//!
//! Invariant: what a part yields depends on the part alone; message and lane are the decoder's.

use super::blocks::{image, inline_bytes, raw};
use super::{changes, framing, message, tool};
use crate::formats::json::Json;
use crate::formats::unknown::{self, Kind};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Piece, Sent};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
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
    /// Whether the program added it to what was said.
    pub(super) is_added: bool,
    /// Whether it asks for a compaction.
    pub(super) is_compaction: bool,
    /// The first message that this compaction keeps.
    pub(super) kept: Option<Text>,
    /// The session that a `task` call started.
    pub(super) child: Option<Text>,
    /// What the step cost, as its last part repeats it.
    pub(super) usage: Option<Usage>,
    /// Whether its message was a request to the model: opencode itself makes messages that only hold calls.
    pub(super) is_of_request: bool,
    /// The last time at which its message was being written.
    pub(super) until: Option<Timestamp>,
}

impl Part {
    /// A part with these blocks, of which nothing more is known.
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

    /// The first words that its author said.
    pub(super) fn said(&self) -> Option<&Text> {
        self.blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Text(body) if self.is_own => Some(body.text_or_stub()),
            _ => None,
        })
    }
}

/// Decodes a part. `piece` is its identity, `name` a name for its result.
pub(super) fn decode(json: &Json<'_>, piece: Piece, name: &str, out: &mut Batch) -> Part {
    let mut part = Part::of(piece, Vec::new());
    let mut kinds = Vec::new();
    let sent = sent(json);
    part.until = ["end", "completed", "start", "created"]
        .iter()
        .find_map(|name| json.at(&["time", name]).moment());
    match json.get("type").str_or_empty() {
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
            part.until = json.at(&["state", "time", "start"]).moment();
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
            kinds.push(unknown::block(Kind("part.type", other), json, out));
        }
    }
    part.blocks = kinds
        .into_iter()
        .map(|kind| Block::new(piece, kind))
        .collect();
    // What stands for a part stands in its first block.
    if let Some(first) = part.blocks.first_mut() {
        first.sent = sent;
    }
    part
}

/// What opencode sends to the model of a part.
fn sent(json: &Json<'_>) -> Sent {
    let words = |words: &str| Sent::As(Box::new(words.into()));
    match json.get("type").str_or_empty() {
        "text" if json.get("ignored").is_true() => Sent::Never,
        "tool" => {
            let time = json.at(&["state", "time"]);
            let is_dropped = !time.get("compacted").is_null();
            let end = time.first(&["compacted", "end", "start"], Json::moment);
            match json.at(&["state", "status"]).str() {
                // Its result may come by itself.
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

/// Text that the program put into a message is not what its author said.
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
        .get("path")
        .filled()
        .or(source.get("uri").filled())
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

/// The lines that are meant: those of a symbol, or those in the query of the address.
fn lines(range: &Json<'_>, query: &str) -> Option<String> {
    let asked = |name: &str| {
        query
            .split('&')
            .find_map(|one| one.strip_prefix(name)?.strip_prefix('='))
    };
    // The protocol of language servers counts lines from 0.
    let line = |end: &str| {
        range
            .at(&[end, "line"])
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

/// What the user asked for in a few words, and the whole prompt that was made of it.
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
