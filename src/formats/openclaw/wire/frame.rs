//! The kinds of frames, recognized by the names of their fields.

use crate::formats::json::Json;
use crate::formats::probe::Confidence;

/// A kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireFrame {
    /// `{jsonrpc, id, method, params}`, lately `{type: "req", …}`
    Request,
    /// `{jsonrpc, id, result | error}`, lately `{type: "res", id, ok, payload | error}`
    Response,
    /// `{event, data}`, lately `{type: "event", event, payload}`
    Event,
    /// `{From, To, ChatType, Text}`
    Message,
    /// `{text, mediaUrl(s), replyToId, isError}`
    Reply,
    /// `{message_id, from, chat, text, date}`
    Telegram,
    /// `{key: {remoteJid}, message: {conversation}}`
    Whatsapp,
    /// A message sent to a channel: `{text, parse_mode}`, `{content, message_reference}`, `{text,
    /// quoted}`
    Sent,
}

/// The kind of a frame; `None` if the value is not one.
pub fn of(json: &Json<'_>) -> Option<WireFrame> {
    let has = |names: &[&str]| names.iter().all(|name| json.has(name));
    let has_any = |names: &[&str]| names.iter().any(|name| json.has(name));
    if has(&["From", "To"]) && has_any(&["ChatType", "Text", "MediaUrl"]) {
        return Some(WireFrame::Message);
    }
    if json.get("jsonrpc").is("2.0") {
        return Some(if json.has("method") {
            WireFrame::Request
        } else {
            WireFrame::Response
        });
    }
    match json.get("type").str() {
        Some("req") => return has(&["id", "method"]).then_some(WireFrame::Request),
        Some("res") => {
            return (json.has("id") && has_any(&["ok", "payload", "error"]))
                .then_some(WireFrame::Response);
        }
        Some("event" | "evt") => return json.get("event").str().map(|_| WireFrame::Event),
        Some(_) => return None,
        None if json.has("role") => return None,
        None => {}
    }
    if json.get("event").str().is_some() && has_any(&["data", "payload"]) {
        return Some(WireFrame::Event);
    }
    if has(&["message_id", "chat"]) || (json.has("update_id") && !update(json).is_null()) {
        return Some(WireFrame::Telegram);
    }
    if json.get("key").has("remoteJid") {
        return Some(WireFrame::Whatsapp);
    }
    let says_text = json.get("text").str().is_some();
    if (says_text
        && has_any(&[
            "parse_mode",
            "reply_to_message_id",
            "disable_web_page_preview",
            "quoted",
        ]))
        || (json.get("content").str().is_some() && json.has("message_reference"))
    {
        return Some(WireFrame::Sent);
    }
    let is_reply =
        has_any(&["mediaUrl", "mediaUrls", "replyToId"]) || (says_text && json.has("isError"));
    is_reply.then_some(WireFrame::Reply)
}

/// Whether this is `{text}` alone. Other programs write such lines too, so it counts as a reply
/// only among frames.
pub(crate) fn is_plain_reply(json: &Json<'_>) -> bool {
    let is_text = |name: &str| matches!(name, "text" | "content");
    matches!(json.members(), [(name, Json::Str(_))] if is_text(name))
}

/// The payload of an event or a response.
pub(crate) fn payload<'j, 'a>(json: &'j Json<'a>) -> &'j Json<'a> {
    let names = ["payload", "data", "result"];
    names
        .iter()
        .map(|name| json.get(name))
        .find(|value| !value.is_null())
        .unwrap_or_else(|| json.get("payload"))
}

/// The message in a Telegram update.
pub fn update<'j, 'a>(json: &'j Json<'a>) -> &'j Json<'a> {
    let names = [
        "message",
        "edited_message",
        "channel_post",
        "edited_channel_post",
    ];
    let found = names
        .iter()
        .map(|name| json.get(name))
        .find(|value| value.has("message_id"));
    found.unwrap_or_else(|| json.get("message"))
}

/// Whether only OpenClaw can have written the line.
pub(crate) fn is_decisive(line: &Json<'_>) -> bool {
    match of(line) {
        Some(WireFrame::Event) => {
            let payload = payload(line);
            payload.has("runId") || payload.has("sessionKey")
        }
        Some(WireFrame::Request) => {
            line.at("params.message").has("From") || line.get("params").has("sessionKey")
        }
        Some(WireFrame::Message) => true,
        Some(
            WireFrame::Response
            | WireFrame::Reply
            | WireFrame::Telegram
            | WireFrame::Whatsapp
            | WireFrame::Sent,
        )
        | None => false,
    }
}

/// The confidence and reason if the lines are frames. `is_other` recognizes other lines that may be
/// among them.
pub(crate) fn sniff(
    lines: &[Json<'_>],
    is_other: impl Fn(&Json<'_>) -> bool,
) -> Option<(Confidence, &'static str)> {
    if lines.iter().any(is_answer_event) {
        return Some((Confidence::Likely, "events of a streamed answer"));
    }
    let frames: Vec<WireFrame> = lines.iter().filter_map(of).collect();
    let ours = lines
        .iter()
        .filter(|line| of(line).is_some() || is_plain_reply(line) || is_other(line))
        .count();
    if lines.iter().any(is_decisive) && ours * 2 > lines.len() {
        let what = match frames.first()? {
            WireFrame::Message | WireFrame::Telegram | WireFrame::Whatsapp => {
                "messages of channels"
            }
            _ => "frames of the gateway",
        };
        return Some((Confidence::Likely, what));
    }
    if ours < lines.len() {
        return None;
    }
    match frames.first()? {
        WireFrame::Message | WireFrame::Telegram | WireFrame::Whatsapp => {
            Some((Confidence::Likely, "messages as a channel sends them"))
        }
        WireFrame::Reply | WireFrame::Sent => Some((Confidence::Maybe, "replies to channels")),
        // Many programs use JSON-RPC and `{event, data}`.
        WireFrame::Request | WireFrame::Response | WireFrame::Event => {
            Some((Confidence::Maybe, "frames that a gateway may speak"))
        }
    }
}

fn is_answer_event(line: &Json<'_>) -> bool {
    let message = match line.kind() {
        "done" => line.get("message"),
        "error" => line.get("error"),
        "start" => line.get("partial"),
        "text_start" | "text_delta" | "text_end" | "thinking_start" | "thinking_delta"
        | "thinking_end" | "toolcall_start" | "toolcall_delta" | "toolcall_end" => {
            if line.has("contentIndex") {
                return true;
            }
            line.get("partial")
        }
        _ => return false,
    };
    message.get("role").is("assistant")
}
