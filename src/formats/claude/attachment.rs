//! Attachments (since 2.1.9x): what the program adds to the context beside messages, and prompts
//! that were typed while the agent was busy.

pub(crate) mod request;

use itertools::Itertools as _;

use super::hooks;
use super::line::TranscriptLine;
use super::session::DecoderState;
use super::user;
use super::voice::background;
use crate::formats::json::{self, Json};
use crate::formats::unknown::{self, NamedKind};
use crate::model::edit::{Batch, Edit};
use crate::model::entry::sender::{Sender, SenderKind};
use crate::model::entry::{Block, BlockKind, Raw, Role, Sent};
use crate::model::tally::Fate;
use crate::model::tally::unknown::Judged;
use crate::model::text::{Name, Text};
use crate::model::tool::work::Carrier;

/// Types that list the tools, agents and skills of the model, written at each start.
const LISTINGS: [&str; 4] = [
    "deferred_tools_delta",
    "agent_listing_delta",
    "skill_listing",
    "mcp_instructions_delta",
];

/// Types that are shown prominently: a hook failed or blocked.
const LOUD: [&str; 4] = [
    "hook_blocking_error",
    "hook_non_blocking_error",
    "hook_error_during_execution",
    "hook_stopped_continuation",
];

/// Decodes an attachment line.
pub(crate) fn decode(
    line: &TranscriptLine<'_>,
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    let attachment = line.json.get("attachment");
    let kind = attachment.kind();
    let from = out.edits.len();
    let fate = show(line, (kind, attachment), session, out);
    let rendered = ["rendered", "renderedInHumanTurn"];
    let is_sent = LISTINGS.contains(&kind)
        || rendered
            .iter()
            .any(|name| !line.json.get(name).items().is_empty());
    // Bookkeeping for the reader, but sent to the model, as are its texts.
    for edit in out.edits.iter_mut().skip(from) {
        if let Edit::Entry(entry) = edit
            && entry.role == Role::Harness
            && entry.marks.quiet
        {
            let is_text = |block: &Block| matches!(block.kind, BlockKind::Aside(Judged::Text, _));
            let sent = entry
                .blocks
                .iter_mut()
                .filter(|block| is_sent || is_text(block));
            sent.for_each(|block| block.sent = Sent::Whole);
        }
    }
    fate
}

fn show(
    line: &TranscriptLine<'_>,
    (kind, attachment): (&str, &Json<'_>),
    session: &mut DecoderState,
    out: &mut Batch,
) -> Fate {
    match kind {
        "queued_command" => return user::queued(line, attachment, session, out),
        "teammate_mailbox" if !attachment.get("messages").items().is_empty() => {
            return mailbox(line, attachment.get("messages").items(), out);
        }
        "prompt_snapshot" => {
            return request::snapshot(line, attachment, &mut session.requests.snapshots, out);
        }
        "deferred_tools_record" => {
            return request::further_tools(line, attachment.get("entries"), out);
        }
        _ => {}
    }
    // Only `content` of a hook's output goes to the model; the rest is between the hook and the
    // program.
    if kind == "hook_success" && attachment.get("content").filled().is_none() {
        return hooks::ended(line, attachment, &mut session.hooks, out);
    }
    if kind == "task_status"
        && let Some((about, end)) = background::of_task(attachment)
    {
        let end = (about, Some(end));
        session.lanes.report(line, end, Carrier::Notice, out);
    }
    let mut entry = line.own_entry(Role::Harness, out);
    if !LOUD.contains(&kind) {
        // Reminders that a mode is still on are frequent.
        entry.marks.trace = attachment.get("reminderType").is("sparse");
        return unknown::record(NamedKind("attachment.type", kind), line.json, entry, out);
    }
    let title = title(kind, attachment);
    let body = out.output(&complaint(attachment));
    entry.push_piece(line.piece(), BlockKind::Raw(Raw { title, body }));
    out.show(entry)
}

/// Decodes the messages of team members that the program delivers with the next request. JSON is
/// for the program, not for the agents.
fn mailbox(line: &TranscriptLine<'_>, messages: &[Json<'_>], out: &mut Batch) -> Fate {
    for (number, message) in messages.iter().enumerate() {
        let text = message.get("text").str_or_empty().trim();
        let from = message.get("from").filled();
        let key = if number == 0 {
            line.id.clone()
        } else {
            line.sub_key(&number.to_string())
        };
        let mut entry = line.entry(key, Role::Harness, out);
        let message_of_mate = json::read(text).and_then(|message| background::of_mate(&message));
        if let Some((about, end)) = message_of_mate {
            let record = (entry.key.clone(), line.at);
            let lane = line.lane.as_ref();
            background::emit((about, Some(end)), record, Carrier::Notice, lane, out);
        }
        let kind = if text.starts_with('{') {
            entry.marks.quiet = true;
            entry.marks.trace = true;
            let title = format!("teammate message {}", from.unwrap_or_default());
            BlockKind::raw(&title, out.output(text))
        } else {
            entry.from = Some(Box::new(Sender {
                kind: SenderKind::Peer,
                name: from.map(Name::clean),
            }));
            BlockKind::Text(out.prose(text))
        };
        entry.blocks.push(Block {
            sent: Sent::Whole,
            ..Block::new(line.piece(), kind)
        });
        out.entry(entry);
    }
    Fate::Shown
}

fn title(kind: &str, attachment: &Json<'_>) -> Text {
    let names = ["hookName", "displayPath", "filename", "filePath", "path"];
    let about = attachment.first(&names, Json::filled);
    let kind = kind.replace('_', " ");
    Text::stub(
        &about.map_or_else(|| kind.clone(), |about| format!("{kind}: {about}")),
        120,
    )
}

/// The error of a hook.
fn complaint(attachment: &Json<'_>) -> String {
    let said = [
        attachment.get("content"),
        attachment.at("blockingError.blockingError"),
        attachment.get("message"),
        attachment.get("stderr"),
        attachment.get("stdout"),
        attachment.get("command"),
    ];
    let texts = |said: &&Json<'_>| said.blocks().iter().filter_map(Json::filled).join("\n");
    said.iter()
        .map(texts)
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}
