//! Detects streams of Claude Code: lines, or the same messages as one array.

use crate::formats::json::Json;
use crate::formats::probe::{Confidence, Probe, ProbeResult, nearly_all};
use crate::model::record::Shape;

/// Types of messages in a stream.
const TYPES: [&str; 16] = [
    "system",
    "assistant",
    "user",
    "result",
    "stream_event",
    "rate_limit_event",
    "control_request",
    "control_response",
    "control_cancel_request",
    "mcp_message",
    "tool_progress",
    "conversation_reset",
    "keep_alive",
    "tool_use_summary",
    "prompt_suggestion",
    "auth_status",
];

/// Judges by the first messages.
pub(crate) fn sniff(probe: &Probe<'_>) -> ProbeResult {
    let (messages, shape) = if probe.is_document {
        (probe.elements, Shape::Document)
    } else {
        (probe.lines, Shape::Lines)
    };
    if probe.is_document && probe.header.is_some_and(Json::is_object) {
        return ProbeResult::no("the file is one JSON object");
    }
    if messages.is_empty() {
        let more = ProbeResult::yes(Confidence::NeedMore, shape, "no message yet");
        return if probe.is_whole && !probe.is_document {
            more
        } else {
            ProbeResult::no("no message")
        };
    }
    if let Some(reason) = messages.iter().find_map(foreign) {
        return ProbeResult::no(reason);
    }
    if messages.iter().any(is_init) {
        return ProbeResult::yes(
            Confidence::Certain,
            shape,
            "a system message of subtype init",
        );
    }
    let known = messages.iter().filter(|message| is_known(message)).count();
    let has_session = messages
        .iter()
        .any(|message| is_known(message) && message.has("session_id"));
    if has_session && known * 2 > messages.len() {
        return ProbeResult::yes(Confidence::Certain, shape, "messages with session_id");
    }
    if nearly_all(messages, is_known) && messages.iter().any(has_shape) {
        return ProbeResult::yes(
            Confidence::Likely,
            shape,
            "all messages have types of the stream",
        );
    }
    ProbeResult::no("no message with session_id, and types that the stream does not have")
}

/// Why a message is of another format that shares types with this one; `None` if it may be of this
/// one.
fn foreign(message: &Json<'_>) -> Option<&'static str> {
    let kind = message.kind();
    let is_chain = message.has("parentUuid") || message.has("isSidechain");
    let is_qwen = message.get("message").has("parts") || message.has("systemPayload");
    let is_payload = message.get("payload").is_object();
    match kind {
        "thinking" | "tool_call" => Some("thinking or tool_call messages, as Cursor streams them"),
        "message" => Some("messages of type message, as other agents write them"),
        "system" if is_droid(message) => Some("a system message with the tools of Factory Droid"),
        _ if is_chain => Some("lines have parentUuid: a session on disk"),
        _ if is_qwen => Some("messages have parts, as Qwen Code writes them"),
        _ if is_payload => Some("lines with payload, as Codex writes them"),
        _ => None,
    }
}

/// Whether a system message is Factory Droid's: its shell is named `Execute`, and it has no MCP
/// servers.
fn is_droid(message: &Json<'_>) -> bool {
    let mut tools = message.get("tools").items().iter().filter_map(Json::str);
    !message.has("mcp_servers") && tools.any(|tool| tool == "Execute")
}

fn is_init(message: &Json<'_>) -> bool {
    message.kind() == "system" && message.get("subtype").is("init")
}

fn is_known(message: &Json<'_>) -> bool {
    let kind = message.kind();
    // Other agents begin with a system message without a subtype.
    let is_bare = kind == "system" && !message.has("subtype");
    (TYPES.contains(&kind) && !is_bare) || is_bare_event(message)
}

/// Whether a message is `{event_type, data}`: an event without an envelope.
pub(crate) fn is_bare_event(message: &Json<'_>) -> bool {
    !message.has("type") && message.get("event_type").str().is_some() && message.has("data")
}

/// Whether a message has the members of its type: the type alone is weak evidence.
fn has_shape(message: &Json<'_>) -> bool {
    match message.kind() {
        "assistant" | "user" => message.get("message").has("content"),
        "stream_event" => message.has("event") || message.has("event_type"),
        "mcp_message" | "conversation_reset" => true,
        "control_request" | "control_response" | "control_cancel_request" => {
            message.has("request_id") || message.has("response")
        }
        "tool_progress" => message.has("tool_use_id"),
        "rate_limit_event" => message.has("rate_limit_info"),
        _ => message.has("subtype") || is_bare_event(message),
    }
}
