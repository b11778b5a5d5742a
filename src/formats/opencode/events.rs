//! The event stream of the server: what each event is about, by its name.
//!
//! Invariant: pure functions. Events that only need a name are listed in the format's file.

use crate::formats::json::Json;

/// What an event is about. Its data is in `properties`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum EventTopic {
    /// A session was created or changed.
    Session,
    SessionDeleted,
    /// A message was created or changed.
    Message,
    /// A part was created or changed.
    Part,
    /// Text was appended to a part.
    Grown,
    MessageRemoved,
    PartRemoved,
    Failed,
    /// A session is busy, waits for a retry, or is idle.
    Status,
    /// A session became idle.
    Idle,
    /// A session was compacted.
    Compacted,
    /// The changes of a session to files.
    Diff,
    Plan,
    /// A permission or a question waits for the user.
    Asked,
    Replied,
    /// The agent edited a file.
    Edited,
    /// Somebody changed a file.
    Watched,
    /// A command of the user was run.
    Command,
    /// Any other event: no code handles it.
    Other,
}

/// What the event with this name is about.
pub(super) fn read(name: &str) -> EventTopic {
    match name {
        "session.created" | "session.updated" => EventTopic::Session,
        "session.deleted" => EventTopic::SessionDeleted,
        "message.updated" => EventTopic::Message,
        "message.part.updated" => EventTopic::Part,
        "message.part.delta" => EventTopic::Grown,
        "message.removed" => EventTopic::MessageRemoved,
        "message.part.removed" => EventTopic::PartRemoved,
        "session.error" => EventTopic::Failed,
        "session.status" => EventTopic::Status,
        "session.idle" => EventTopic::Idle,
        "session.compacted" => EventTopic::Compacted,
        "session.diff" => EventTopic::Diff,
        "todo.updated" => EventTopic::Plan,
        "permission.asked"
        | "permission.updated"
        | "permission.v2.asked"
        | "question.asked"
        | "question.v2.asked" => EventTopic::Asked,
        "permission.replied"
        | "permission.v2.replied"
        | "question.replied"
        | "question.v2.replied"
        | "question.rejected"
        | "question.v2.rejected" => EventTopic::Replied,
        "file.edited" => EventTopic::Edited,
        "file.watcher.updated" => EventTopic::Watched,
        "command.executed" => EventTopic::Command,
        _ => EventTopic::Other,
    }
}

/// Whether a value is an event, as sent by the server or stored in its database.
pub(super) fn is_event(value: &Json<'_>) -> bool {
    let event = within(value);
    let has_data =
        event.get("data").is_object() && event.get("id").str_or_empty().starts_with("evt_");
    (event.has("properties") || event.has("aggregate_id") || has_data)
        && event.get("type").str_or_empty().contains('.')
}

/// The names of version 2 events about a session, without `session.`; a name that ends in a dot is
/// a prefix.
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

/// The name of a version 2 event about a session, without the common prefix.
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
    // Version 1 has the whole session in `info`.
    let begins = name == "created" && properties(event).get("info").is_null();
    (is_newer || begins).then_some(name)
}

/// The inner event. The stream of all projects wraps each event in `{directory, payload}`.
pub(super) fn within<'v, 'a>(value: &'v Json<'a>) -> &'v Json<'a> {
    if value.at("payload.type").is_null() {
        value
    } else {
        value.get("payload")
    }
}

/// The name of an event. Names in a database end in the version of their schema:
/// `message.updated.1`, `session.created@1`.
pub(super) fn name_of<'v>(event: &'v Json<'_>) -> &'v str {
    let name = event.get("type").str_or_empty();
    match name.rsplit_once(['.', '@']) {
        Some((head, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => head,
        _ => name,
    }
}

/// The data of an event.
pub(super) fn properties<'v, 'a>(event: &'v Json<'a>) -> &'v Json<'a> {
    if event.has("properties") {
        event.get("properties")
    } else {
        event.get("data")
    }
}
