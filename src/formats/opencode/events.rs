//! The event stream of the server: what each event tells, by name.
//!
//! Invariant: pure. What only has a name is named in the file of the format.

use crate::formats::json::Json;

/// What an event tells. Its fields are those of its `properties`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// A session is new or has changed.
    Session,
    /// A session was deleted.
    SessionDeleted,
    /// A message is new or has changed.
    Message,
    /// A part is new or has changed.
    Part,
    /// A part has grown.
    Grown,
    /// A message is gone.
    MessageRemoved,
    /// A part is gone.
    PartRemoved,
    /// The work of a session failed.
    Failed,
    /// A session works, waits to try again, or rests.
    Status,
    /// A session rests.
    Idle,
    /// The history of a session was shortened.
    Compacted,
    /// What a session changed in the files.
    Diff,
    /// The plan.
    Plan,
    /// The user is asked for a permission or an answer.
    Asked,
    /// The user replied.
    Replied,
    /// A file was edited by the agent.
    Edited,
    /// A file was changed by somebody.
    Watched,
    /// A command of the user was carried out.
    Command,
    /// Nothing for which there is code.
    Other,
}

/// What an event with this name tells.
pub(super) fn read(name: &str) -> Event {
    match name {
        "session.created" | "session.updated" => Event::Session,
        "session.deleted" => Event::SessionDeleted,
        "message.updated" => Event::Message,
        "message.part.updated" => Event::Part,
        "message.part.delta" => Event::Grown,
        "message.removed" => Event::MessageRemoved,
        "message.part.removed" => Event::PartRemoved,
        "session.error" => Event::Failed,
        "session.status" => Event::Status,
        "session.idle" => Event::Idle,
        "session.compacted" => Event::Compacted,
        "session.diff" => Event::Diff,
        "todo.updated" => Event::Plan,
        "permission.asked"
        | "permission.updated"
        | "permission.v2.asked"
        | "question.asked"
        | "question.v2.asked" => Event::Asked,
        "permission.replied"
        | "permission.v2.replied"
        | "question.replied"
        | "question.v2.replied"
        | "question.rejected"
        | "question.v2.rejected" => Event::Replied,
        "file.edited" => Event::Edited,
        "file.watcher.updated" => Event::Watched,
        "command.executed" => Event::Command,
        _ => Event::Other,
    }
}

/// Whether a value is an event, as the server sends it or as its database keeps it.
pub(super) fn is_event(value: &Json<'_>) -> bool {
    let event = within(value);
    let has_data =
        event.get("data").is_object() && event.get("id").str_or_empty().starts_with("evt_");
    (event.has("properties") || event.has("aggregate_id") || has_data)
        && event.get("type").str_or_empty().contains('.')
}

/// Events of version 2 about a session: what they tell, and what else they may begin with.
static NEWER: [&str; 22] = [
    "agent.",
    "model.",
    "moved",
    "renamed",
    "usage.",
    "forked",
    "input.",
    "inbox.",
    "execution.",
    "instructions.",
    "synthetic",
    "skill.",
    "shell.",
    "prompted",
    "step.",
    "text.",
    "reasoning.",
    "tool.",
    "retry.",
    "retried",
    "compaction.",
    "revert.",
];

/// The name of an event of version 2 about a session, without what all of them begin with.
pub(super) fn newer<'v>(event: &'v Json<'_>) -> Option<&'v str> {
    let name = name_of(event).strip_prefix("session.")?;
    let name = name.strip_prefix("next.").unwrap_or(name);
    let is_newer = NEWER.iter().any(|known| {
        if known.ends_with('.') {
            name.starts_with(known)
        } else {
            name == *known
        }
    });
    // Version 1 told all of a session in `info`.
    let begins = name == "created" && properties(event).get("info").is_null();
    (is_newer || begins).then_some(name)
}

/// The stream of all projects wraps each event in `{directory, payload}`.
pub(super) fn within<'v, 'a>(value: &'v Json<'a>) -> &'v Json<'a> {
    if value.at(&["payload", "type"]).is_null() {
        value
    } else {
        value.get("payload")
    }
}

/// The name of an event. Those of a database end in the version of their schema: `message.updated.1`,
/// `session.created@1`.
pub(super) fn name_of<'v>(event: &'v Json<'_>) -> &'v str {
    let name = event.get("type").str_or_empty();
    match name.rsplit_once(['.', '@']) {
        Some((head, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => head,
        _ => name,
    }
}

/// What an event carries.
pub(super) fn properties<'v, 'a>(event: &'v Json<'a>) -> &'v Json<'a> {
    if event.has("properties") {
        event.get("properties")
    } else {
        event.get("data")
    }
}
