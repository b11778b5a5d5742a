//! Progress lines: up to a third of all lines of old versions. What they tell is told again by the
//! result, but for messages of sub-agents that have no file of their own.

use super::lanes::Trust;
use super::line::Line;
use super::session::Session;
use crate::formats::anthropic::{self, block_type};
use crate::formats::decoder::show_raw;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Raw, Role};
use crate::model::pairing::identifies;
use crate::model::tally::Fate;
use crate::model::text::Text;

/// A progress line.
pub fn decode(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let told = line.json.get("data");
    match told.get("type").str_or_empty() {
        "bash_progress" | "powershell_progress" => Fate::Passed("progress of a command"),
        "hook_progress" => Fate::Passed("progress of a hook"),
        "mcp_progress" => Fate::Passed("progress of an MCP tool"),
        "query_update" | "search_results_received" => Fate::Passed("progress of a web search"),
        "waiting_for_task" => Fate::Passed("progress: waiting for a task"),
        "agent_progress" => copy(line, told, session, out),
        other => {
            out.unknown(&format!("progress/{other}"));
            show_raw(line.input, &format!("progress/{other}"), out)
        }
    }
}

/// The key of the copy of a message.
pub fn copy_key(message: &str) -> Key {
    Text::clean(&format!("copy:{message}"))
}

/// A copy of a sub-agent's message. It is no message of the session, but until the sub-agent's own
/// file tells the message, a quiet note in its lane keeps it readable.
fn copy(line: &Line<'_>, told: &Json<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let inner = told.get("message");
    let agent = told.get("agentId").str_or_empty();
    session.lanes.link(agent, line.json.get("parentToolUseID").str_or_empty(), Trust::Progress, out);
    let id = inner.get("uuid").str().filter(|id| identifies(id));
    if id.is_none() || !identifies(agent) {
        return Fate::Passed("progress of a sub-agent");
    }
    let id = id.unwrap_or_default();
    let key = copy_key(id);
    if session.has_seen(id) || !session.lanes.note_copy(key.clone()) {
        return Fate::Passed("progress copy of a sub-agent's message");
    }
    let lane = Text::clean(agent);
    session.lanes.enter(&lane, out);
    let mut entry = line.entry(key, Role::Harness, out);
    entry.parent = None;
    entry.lane = Some(lane);
    entry.at = inner.get("timestamp").moment().or(line.at);
    entry.marks.quiet = true;
    entry.marks.copy = true;
    for block in inner.at(&["message", "content"]).blocks() {
        let kind = plain(block, out);
        entry.blocks.push(Batch::block(line.piece(), kind));
    }
    out.entry(entry);
    Fate::Shown
}

/// A block without its meaning for counts: a call in a copy is no call of the session.
fn plain(block: &Json<'_>, out: &mut Batch) -> BlockKind {
    let kind = block_type(block);
    let (title, text) = match kind {
        "text" => ("message", block.str().or_else(|| block.get("text").str()).unwrap_or("").into()),
        "thinking" => ("thinking", block.get("thinking").str_or_empty().into()),
        _ if kind.ends_with("tool_result") => ("result", anthropic::output_text(block.get("content"))),
        _ if kind.ends_with("tool_use") => {
            let call = anthropic::call(block, None, out);
            let title = Text::stub(&format!("{}: {}", call.name, call.headline), 120);
            return BlockKind::Raw(Raw { title, body: call.input });
        }
        _ => return anthropic::raw(&Json::Null, kind, out),
    };
    let body = out.output(&text);
    BlockKind::Raw(Raw { title: Text::clean(title), body })
}
