//! The event stream of the server: what each event is about, by its name.
//!
//! Invariant: pure functions. Events that only need a name are listed in the format's file.

use crate::formats::json::Json;

/// Whether a value is an event, as sent by the server or stored in its database.
pub(super) fn is_event(value: &Json<'_>) -> bool {
    let event = within(value);
    let has_data =
        event.get("data").is_object() && event.get("id").str_or_empty().starts_with("evt_");
    (event.has("properties") || event.has("aggregate_id") || has_data) && event.kind().contains('.')
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
    let name = event.kind();
    match name.rsplit_once(['.', '@']) {
        Some((head, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => head,
        _ => name,
    }
}

/// The data of an event.
pub(super) fn properties<'v, 'a>(event: &'v Json<'a>) -> &'v Json<'a> {
    event.either("properties", "data")
}
