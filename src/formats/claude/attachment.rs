//! Attachments (since 2.1.9x): what the program adds to the context beside messages, and prompts that
//! were typed while the agent was busy.

pub(crate) mod request;

use super::hooks;
use super::line::Line;
use super::session::Session;
use super::user;
use crate::formats::json::Json;
use crate::formats::unknown::{self, Kind};
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Block, BlockKind, Raw, Role, Sent};
use crate::model::tally::Fate;
use crate::model::tally::unknown::Judged;
use crate::model::text::Text;

/// Lists of what the model may use, written at each start.
const LISTINGS: [&str; 4] =
    ["deferred_tools_delta", "agent_listing_delta", "skill_listing", "mcp_instructions_delta"];

/// Types that a reader should see: a hook stood in the way.
const LOUD: [&str; 4] = [
    "hook_blocking_error",
    "hook_non_blocking_error",
    "hook_error_during_execution",
    "hook_stopped_continuation",
];

/// An attachment line.
pub(crate) fn decode(line: &Line<'_>, session: &mut Session, out: &mut Batch) -> Fate {
    let attachment = line.json.get("attachment");
    let kind = attachment.get("type").str_or_empty();
    let from = out.edits.len();
    let fate = show(line, (kind, attachment), session, out);
    let rendered = ["rendered", "renderedInHumanTurn"];
    let is_sent =
        LISTINGS.contains(&kind) || rendered.iter().any(|name| !line.json.get(name).items().is_empty());
    // Bookkeeping for a reader, but the model was sent it; and what it says.
    for edit in out.edits.iter_mut().skip(from) {
        if let Edit::Entry(entry) = edit
            && entry.role == Role::Harness
            && entry.marks.quiet
        {
            let is_text = |block: &Block| matches!(block.kind, BlockKind::Aside(Judged::Text, _));
            let sent = entry.blocks.iter_mut().filter(|block| is_sent || is_text(block));
            sent.for_each(|block| block.sent = Sent::Whole);
        }
    }
    fate
}

fn show(
    line: &Line<'_>,
    (kind, attachment): (&str, &Json<'_>),
    session: &mut Session,
    out: &mut Batch,
) -> Fate {
    match kind {
        "queued_command" => return user::queued(line, attachment, session, out),
        "prompt_snapshot" => {
            return request::snapshot(line, attachment, &mut session.requests.snapshots, out);
        }
        "deferred_tools_record" => return request::further_tools(line, attachment.get("entries"), out),
        _ => {}
    }
    if matches!(kind, "hook_success" | "hook_system_message") {
        return hooks::ended(line, attachment, &mut session.hooks, out);
    }
    let entry = line.entry(line.id.clone(), Role::Harness, out);
    if !LOUD.contains(&kind) {
        return unknown::record(Kind("attachment.type", kind), line.json, entry, out);
    }
    let mut entry = entry;
    let title = title(kind, attachment);
    let body = match text(attachment.get("content")) {
        Some(text) => out.output(&text),
        None => out.tree(&named(attachment), attachment.weight(), || attachment.to_tree()),
    };
    entry.blocks.push(Batch::block(line.piece(), BlockKind::Raw(Raw { title, body })));
    out.entry(entry);
    Fate::Shown
}

fn title(kind: &str, attachment: &Json<'_>) -> Text {
    let names = ["hookName", "displayPath", "filename", "filePath", "path"];
    let about = names.iter().find_map(|name| attachment.get(name).filled());
    let kind = kind.replace('_', " ");
    Text::stub(&about.map_or_else(|| kind.clone(), |about| format!("{kind}: {about}")), 120)
}

/// What a tree of names is about.
fn named(attachment: &Json<'_>) -> Text {
    let lists = ["addedNames", "addedTypes", "removedNames", "names"];
    let names = lists.iter().flat_map(|list| attachment.get(list).items()).filter_map(Json::filled);
    Text::stub(&names.collect::<Vec<_>>().join(" "), 120)
}

/// Content that is a text or a list of texts.
fn text(content: &Json<'_>) -> Option<String> {
    let texts: Option<Vec<&str>> = content.blocks().iter().map(Json::str).collect();
    texts.map(|texts| texts.join("\n")).filter(|text| !text.trim().is_empty())
}
