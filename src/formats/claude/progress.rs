//! Progress lines: up to a third of all lines of old versions. The result repeats what they
//! contain; until it comes, the newest line is shown as the output of the running call. Messages of
//! sub-agents are shown as copies until they are read from the sub-agent's file.

use super::hooks;
use super::lanes::Trust;
use super::line::TranscriptLine;
use super::session::DecoderState;
use crate::formats::anthropic::{self, BlockContent, Site, block_type};
use crate::formats::json::Json;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Raw, Role};
use crate::model::figures::count;
use crate::model::tally::Fate;
use crate::model::text::{Text, text};
use crate::model::tool::ToolState;
use crate::model::tool::identifies;

/// Decodes a progress line.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let data = line.json.get("data");
    let text = |member: &str| data.get(member).str_or_empty();
    let output = match data.kind() {
        "bash_progress" | "powershell_progress" => {
            let output = data.get("fullOutput").filled();
            output.unwrap_or(text("output")).to_owned()
        }
        "mcp_progress" => {
            let message = data.get("progressMessage").filled();
            let message = message.unwrap_or(text("status"));
            format!("{} {message}", text("serverName"))
        }
        "query_update" => format!("searching for {}", text("query")),
        "search_results_received" => {
            let results = count(data.get("resultCount").count().unwrap_or(0), "result");
            format!("{results} for {}", text("query"))
        }
        "waiting_for_task" => format!("waiting for {}", text("taskDescription")),
        "hook_progress" => return hooks::started(line, data, &mut session.hooks, out),
        "agent_progress" => return copy(line, data, session, out),
        other => {
            let entry = line.own_entry(Role::Harness, out);
            return unknown::show_outside(NamedKind("progress.type", other), line.json, entry, out);
        }
    };
    set_live_output(line, &output, session, out)
}

/// Sets the output of a running call. Each line contains all output so far, so that only the newest
/// one counts. Without its call in the session it is a trace entry.
fn set_live_output(
    line: &TranscriptLine<'_>,
    output: &str,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let call = line.json.get("parentToolUseID").str_or_empty();
    let body = out.output(output.trim());
    if identifies(call) && session.calls.contains(call) {
        out.state(Text::clean(call), ToolState::running(body));
        return Fate::Merged;
    }
    line.show_trace(BlockKind::raw("progress of a call", body), out)
}

pub(crate) fn copy_key(message: &str) -> Key {
    text!("copy:{message}")
}

/// Shows a copy of a sub-agent's message as a quiet note in its lane. It is not a message of the
/// session; the message in the sub-agent's own file replaces it.
fn copy(
    line: &TranscriptLine<'_>,
    data: &Json<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let inner = data.get("message");
    let agent = data.get("agentId").str_or_empty();
    session.lanes.link(
        agent,
        line.json.get("parentToolUseID").str_or_empty(),
        Trust::Progress,
        out,
    );
    let id = inner.get("uuid").str().filter(|id| identifies(id));
    let Some(id) = id.filter(|_| identifies(agent)) else {
        let text = anthropic::output_text(inner.at("message.content"));
        return set_live_output(line, &text, session, out);
    };
    let key = copy_key(id);
    if session.has_seen(id) || !session.lanes.add_copy(key.clone()) {
        return Fate::Merged;
    }
    let lane = Text::clean(agent);
    session.lanes.enter(&lane, out);
    let mut entry = line.entry(key, Role::Harness, out);
    entry.parent = None;
    entry.lane = Some(lane);
    entry.at = inner.get("timestamp").moment().or(line.at);
    entry.marks.quiet = true;
    entry.marks.copy = true;
    for block in inner.at("message.content").blocks() {
        let kind = plain(block, line, out);
        entry.push_piece(line.piece(), kind);
    }
    out.show(entry)
}

/// A block as plain text: a call in a copy must not count as a call of the session.
fn plain(block: &Json<'_>, line: &TranscriptLine<'_>, out: &mut Batch) -> BlockKind {
    let kind = block_type(block);
    let (title, text) = match kind {
        "text" => ("message", block.part_text().unwrap_or_default().into()),
        "thinking" => ("thinking", block.get("thinking").str_or_empty().into()),
        _ if kind.ends_with("tool_result") => {
            ("result", anthropic::output_text(block.get("content")))
        }
        _ if kind.ends_with("tool_use") => {
            let call = anthropic::call(block, None, out);
            let title = Text::stub(&format!("{}: {}", call.name, call.headline), 120);
            return BlockKind::Raw(Raw {
                title,
                body: call.input,
            });
        }
        _ => {
            let site = Site {
                record: &line.id,
                place: 0,
                at: line.at,
            };
            return match anthropic::content(block, site, out) {
                BlockContent::Part(kind @ (BlockKind::Raw(_) | BlockKind::Aside(..))) => kind,
                _ => anthropic::raw(&Json::Null, kind, out),
            };
        }
    };
    let body = out.output(&text);
    BlockKind::raw(title, body)
}
