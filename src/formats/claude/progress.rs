//! Progress lines: up to a third of all lines of old versions. What they say is written again by the
//! result: until it comes, the newest line is what the running call shows. Messages of sub-agents stay
//! as copies until the file of the sub-agent holds them.

use std::borrow::Cow;

use super::hooks;
use super::lanes::Trust;
use super::line::Line;
use super::session::Session;
use crate::formats::anthropic::{self, Content, Site, block_type};
use crate::formats::json::Json;
use crate::formats::unknown::{self, Kind};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Raw, Role};
use crate::model::figures::count;
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::tool::ToolState;
use crate::model::tool::identifies;

/// A progress line.
pub(crate) fn decode(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let data = line.json.get("data");
    let text = |member: &str| data.get(member).str_or_empty();
    match text("type") {
        "bash_progress" | "powershell_progress" => {
            let output = data.get("fullOutput").filled().unwrap_or(text("output"));
            live(line, output, session, out)
        }
        "hook_progress" => hooks::started(line, data, &mut session.hooks, out),
        "mcp_progress" => {
            let message = data
                .get("progressMessage")
                .filled()
                .unwrap_or(text("status"));
            live(
                line,
                &format!("{} {message}", text("serverName")),
                session,
                out,
            )
        }
        "query_update" => live(
            line,
            &format!("searching for {}", text("query")),
            session,
            out,
        ),
        "search_results_received" => {
            let results = count(data.get("resultCount").count().unwrap_or(0), "result");
            live(
                line,
                &format!("{results} for {}", text("query")),
                session,
                out,
            )
        }
        "waiting_for_task" => live(
            line,
            &format!("waiting for {}", text("taskDescription")),
            session,
            out,
        ),
        "agent_progress" => copy(line, data, session, out),
        other => {
            let entry = line.entry(line.id.clone(), Role::Harness, out);
            unknown::apart(Kind("progress.type", other), line.json, entry, out)
        }
    }
}

/// What a call has put out so far; each line holds all of it, so that only the newest one counts. One
/// whose call is not in the session keeps an entry of its own.
fn live(line: &Line<'_>, output: &str, session: &mut Session, out: &mut Batch) -> Fate {
    let call = line.json.get("parentToolUseID").str_or_empty();
    let body = out.output(output.trim());
    if identifies(call) && session.calls.knows(call) {
        let state = if body.bytes == 0 {
            ToolState::Running
        } else {
            ToolState::Streaming(Box::new(body))
        };
        out.state(Text::clean(call), state);
        return Fate::Merged;
    }
    line.show_trace(BlockKind::raw("progress of a call", body), out)
}

/// The key of the copy of a message.
pub(crate) fn copy_key(message: &str) -> Key {
    Text::clean(&format!("copy:{message}"))
}

/// A copy of a sub-agent's message. It is no message of the session, but until the sub-agent's own
/// file holds the message, a quiet note in its lane keeps it readable.
fn copy(line: &Line<'_>, data: &Json<'_>, session: &mut Session, out: &mut Batch) -> Fate {
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
        let text = anthropic::output_text(inner.at(&["message", "content"]));
        return live(line, &text, session, out);
    };
    let key = copy_key(id);
    if session.has_seen(id) || !session.lanes.note_copy(key.clone()) {
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
    for block in inner.at(&["message", "content"]).blocks() {
        let kind = plain(block, line, out);
        entry.push_piece(line.piece(), kind);
    }
    out.show(entry)
}

/// A block without its meaning for counts: a call in a copy is no call of the session.
fn plain(block: &Json<'_>, line: &Line<'_>, out: &mut Batch) -> BlockKind {
    let kind = block_type(block);
    let (title, text) = match kind {
        "text" => (
            "message",
            Cow::Borrowed(
                block
                    .str()
                    .unwrap_or_else(|| block.get("text").str_or_empty()),
            ),
        ),
        "thinking" => (
            "thinking",
            Cow::Borrowed(block.get("thinking").str_or_empty()),
        ),
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
                Content::Part(kind @ (BlockKind::Raw(_) | BlockKind::Aside(..))) => kind,
                _ => anthropic::raw(&Json::Null, kind, out),
            };
        }
    };
    let body = out.output(&text);
    BlockKind::raw(title, body)
}
