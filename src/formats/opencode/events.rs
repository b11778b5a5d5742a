//! The event stream of the server. Only events that carry messages, parts and sessions are shown;
//! the others are passed by name.

use super::decode::{FAILURE, OpencodeDecoder};
use super::message;
use crate::formats::decoder::{Input, show_raw};
use crate::formats::json::Json;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{BlockKind, Piece, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;

/// Events without content of their own. What they announce is in other events.
static PASSED: &[&str] = &[
    "event command.executed",
    "event file.edited",
    "event file.watcher.updated",
    "event ide.installed",
    "event installation.update-available",
    "event installation.updated",
    "event lsp.client.diagnostics",
    "event lsp.updated",
    "event mcp.tools.changed",
    "event message.part.delta",
    "event permission.asked",
    "event permission.replied",
    "event permission.updated",
    "event project.updated",
    "event pty.created",
    "event pty.deleted",
    "event pty.exited",
    "event pty.updated",
    "event question.asked",
    "event question.rejected",
    "event question.replied",
    "event server.connected",
    "event server.heartbeat",
    "event server.instance.disposed",
    "event global.disposed",
    "event session.compacted",
    "event session.deleted",
    "event session.diff",
    "event session.idle",
    "event session.status",
    "event storage.write",
    "event todo.updated",
    "event tui.command.execute",
    "event tui.prompt.append",
    "event tui.toast.show",
    "event vcs.branch.updated",
    "event worktree.failed",
    "event worktree.ready",
];

/// Decodes one event.
pub(super) fn decode(decoder: &mut OpencodeDecoder, input: Input<'_>, out: &mut Batch) -> Fate {
    let properties = input.json.get("properties");
    let kind = input.json.get("type").str_or_empty();
    match kind {
        "session.created" | "session.updated" => decoder.session(properties.get("info"), out),
        "message.updated" => decoder.message(properties.get("info"), false, out),
        "message.part.updated" => decoder.part(properties.get("part"), false, out),
        "message.removed" => {
            let key = Text::clean(properties.get("messageID").str_or_empty());
            decoder.heads.remove(&key);
            decoder.removed.insert(key.clone());
            out.push(Edit::Retire(key));
            Fate::Merged
        }
        "message.part.removed" => {
            let of = Text::clean(properties.get("messageID").str_or_empty());
            let piece = Piece::of(properties.get("partID").str_or_empty());
            out.push(Edit::RetirePiece { of, piece });
            Fate::Merged
        }
        "session.error" => error(decoder, properties, out),
        // Events of a front end of its own (opencode.nvim) say nothing about the session.
        custom if custom.starts_with("custom.") => Fate::Passed("event custom.*"),
        _ => {
            if let Some(reason) = PASSED.iter().find(|reason| reason.strip_prefix("event ") == Some(kind)) {
                return Fate::Passed(reason);
            }
            out.unknown(&format!("event {kind}"));
            show_raw(input, &format!("event {kind}"), out)
        }
    }
}

/// An error that the open answer will tell too is shown there, else by itself.
fn error(decoder: &mut OpencodeDecoder, properties: &Json<'_>, out: &mut Batch) -> Fate {
    let Some(failure) = message::failure(properties.get("error")) else {
        return Fate::Passed("event session.error without an error");
    };
    let session = Text::clean(properties.get("sessionID").str_or_empty());
    let block = Batch::block(FAILURE, BlockKind::Break(failure));
    let open = decoder.heads.values().filter(|head| head.entry.marks.open && head.session == session);
    if let Some(head) = open.max_by(|a, b| (a.entry.at, &a.entry.key).cmp(&(b.entry.at, &b.entry.key))) {
        let mut entry = head.entry.clone();
        entry.blocks.push(block);
        out.entry(entry);
        return Fate::Merged;
    }
    let mut entry = out.new_entry(out.origin_key(), Role::Harness, None);
    entry.lane = decoder.lane_of(&session, out);
    entry.blocks.push(block);
    out.entry(entry);
    Fate::Shown
}
