//! What travels over OpenClaw's wires, recorded a frame a line: gateway frames, messages of channels
//! in the gateway's form and in their own, replies.
//!
//! Invariant: one entry a frame, but the frames of one answer of a run share an entry.

use std::collections::HashMap;

use super::turn;
use crate::formats::decoder::Confidence;
use crate::formats::json::Json;
use crate::formats::pi::{block, message};
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Piece, Role};
use crate::model::moment::Moment;
use crate::model::record::Origin;
use crate::model::tally::Fate;
use crate::model::text::Text;

/// The kinds of frames.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// `{jsonrpc, id, method, params}`
    Request,
    /// `{jsonrpc, id, result | error}`
    Response,
    /// `{event, data}`
    Event,
    /// `{From, To, ChatType, Text}`
    Message,
    /// `{text, mediaUrl(s), replyToId, isError}`
    Reply,
    /// `{message_id, from, chat, text, date}`
    Telegram,
    /// `{key: {remoteJid}, message: {conversation}}`
    Whatsapp,
    /// What is sent to a channel: `{text, parse_mode}`, `{content, message_reference}`, `{text, quoted}`
    Sent,
}

fn frame(json: &Json<'_>) -> Option<Frame> {
    if json.has("type") || json.has("role") {
        return None;
    }
    let has = |names: &[&str]| names.iter().all(|name| json.has(name));
    let has_any = |names: &[&str]| names.iter().any(|name| json.has(name));
    if json.get("jsonrpc").str() == Some("2.0") {
        return Some(if json.has("method") { Frame::Request } else { Frame::Response });
    }
    if has(&["event", "data"]) && json.get("event").str().is_some() {
        return Some(Frame::Event);
    }
    if has(&["From", "To"]) && has_any(&["ChatType", "Text", "MediaUrl"]) {
        return Some(Frame::Message);
    }
    if has(&["message_id", "chat"]) {
        return Some(Frame::Telegram);
    }
    if json.get("key").has("remoteJid") {
        return Some(Frame::Whatsapp);
    }
    let says_text = json.get("text").str().is_some();
    if (says_text && has_any(&["parse_mode", "reply_to_message_id", "disable_web_page_preview", "quoted"]))
        || (json.get("content").str().is_some() && json.has("message_reference"))
    {
        return Some(Frame::Sent);
    }
    let is_reply = has_any(&["mediaUrl", "mediaUrls", "replyToId"]) || (says_text && json.has("isError"));
    is_reply.then_some(Frame::Reply)
}

/// Whether lines are frames, and why.
pub fn sniff(lines: &[Json<'_>]) -> Option<(Confidence, &'static str)> {
    if lines.iter().any(is_answer_event) {
        return Some((Confidence::Likely, "events of a streamed answer"));
    }
    let frames: Vec<Frame> = lines.iter().map(frame).collect::<Option<_>>()?;
    let speaks_of_run = |line: &Json<'_>| {
        line.get("data").has("runId")
            || line.get("data").has("sessionKey")
            || line.at(&["params", "message"]).has("From")
    };
    if lines.iter().any(speaks_of_run) {
        return Some((Confidence::Likely, "frames of the gateway"));
    }
    match frames.first()? {
        Frame::Message => Some((Confidence::Likely, "messages of channels")),
        Frame::Telegram | Frame::Whatsapp => Some((Confidence::Likely, "messages as a channel sends them")),
        Frame::Reply | Frame::Sent => Some((Confidence::Maybe, "replies to channels")),
        // JSON-RPC and `{event, data}` are spoken by many others.
        Frame::Request | Frame::Response | Frame::Event => {
            Some((Confidence::Maybe, "frames that a gateway may speak"))
        }
    }
}

fn is_answer_event(line: &Json<'_>) -> bool {
    let message = match line.get("type").str_or_empty() {
        "done" => line.get("message"),
        "error" => line.get("error"),
        "start" | "text_start" | "text_delta" | "text_end" | "thinking_start" | "thinking_delta"
        | "thinking_end" | "toolcall_start" | "toolcall_delta" | "toolcall_end" => line.get("partial"),
        _ => return false,
    };
    message.get("role").str() == Some("assistant")
}

/// The answers that frames told of so far.
#[derive(Debug, Default)]
pub struct Wire {
    /// The frame that told of each first, and the first time that was told.
    runs: HashMap<Key, (Origin, Option<Moment>)>,
    /// The answer that the next frame will tell again, longer.
    held: Option<Entry>,
}

impl Wire {
    /// Decodes a frame, if it is one.
    pub fn decode(&mut self, json: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        let frame = frame(json)?;
        if frame == Frame::Event
            && let Some(fate) = self.answer(json.get("data"), out)
        {
            return Some(fate);
        }
        self.give_out(out);
        let entry = match frame {
            Frame::Request => request(json, out),
            Frame::Response => response(json, out),
            Frame::Event => {
                let stream = json.at(&["data", "stream"]).str_or_empty();
                raw(&format!("{} {stream}", json.get("event").str_or_empty()), json, out)
            }
            Frame::Message => received(json, json, out),
            Frame::Telegram | Frame::Whatsapp => native(json, out),
            Frame::Reply | Frame::Sent => reply(json, out),
        };
        message::title(&entry, out);
        out.entry(entry);
        Some(Fate::Shown)
    }

    /// Each frame of a run's answer tells all of its text so far.
    fn answer(&mut self, data: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        let run = data.get("runId").filled()?;
        let message = data.get("message");
        let (text, is_open) = if message.get("role").str() == Some("assistant") {
            let texts: Vec<&str> =
                message.get("content").blocks().iter().filter_map(block::text_of).collect();
            (texts.join("\n"), data.get("state").str() == Some("delta"))
        } else if data.get("stream").str() == Some("assistant") {
            (data.at(&["data", "text"]).str()?.to_owned(), true)
        } else {
            return None;
        };
        let key = Text::clean(&format!("run {run}"));
        let mut entry = out.new_entry(key.clone(), Role::Assistant, message.get("timestamp").moment());
        entry.marks.open = is_open;
        entry.blocks.extend(block::text(&text, out));
        if self.held.as_ref().is_some_and(|held| held.key != key) {
            self.give_out(out);
        }
        let is_new = !self.runs.contains_key(&key);
        let (origin, at) = self.runs.entry(key).or_insert((entry.origin, entry.at));
        *at = at.or(entry.at);
        (entry.origin, entry.at) = (*origin, *at);
        self.held = Some(entry);
        Some(if is_new { Fate::Shown } else { Fate::Merged })
    }

    /// Gives out the answer that was held back.
    pub fn give_out(&mut self, out: &mut Batch) {
        if let Some(entry) = self.held.take() {
            out.entry(entry);
        }
    }
}

fn raw(title: &str, json: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = out.new_entry(out.origin_key(), Role::Harness, json.get("timestamp").moment());
    entry.blocks.push(block::tree(title.trim(), json, out));
    entry
}

fn request(json: &Json<'_>, out: &mut Batch) -> Entry {
    let told = json.at(&["params", "message"]);
    if told.has("From") || told.has("Text") {
        return received(told, json, out);
    }
    raw(&format!("request: {}", json.get("method").str_or_empty()), json, out)
}

fn response(json: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = raw(&format!("response to {}", json.get("id").to_source()), json, out);
    if let Some(error) = json.at(&["error", "message"]).filled() {
        entry.blocks.push(Batch::block(Piece(0), BlockKind::Break(Break::Error(Text::clean(error)))));
    }
    entry
}

/// A message in the gateway's form; `record` is all that was sent with it.
fn received(json: &Json<'_>, record: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = out.new_entry(out.origin_key(), Role::User, json.get("Timestamp").moment());
    entry.marks.prompt = true;
    let from = json.get("From").str_or_empty();
    entry.blocks.push(block::tree(&format!("message from {from}"), record, out));
    entry.blocks.extend(block::text(json.get("Text").str_or_empty(), out));
    turn::media(&mut entry, json.get("MediaUrl"), out);
    entry
}

/// A message as Telegram or WhatsApp sends it.
fn native(json: &Json<'_>, out: &mut Batch) -> Entry {
    let is_own = json.at(&["key", "fromMe"]).is_true() || json.at(&["from", "is_bot"]).is_true();
    let role = if is_own { Role::Assistant } else { Role::User };
    let at = json.get("date").moment().or_else(|| json.get("messageTimestamp").moment());
    let mut entry = out.new_entry(out.origin_key(), role, at);
    entry.marks.prompt = !is_own;
    let names =
        [json.at(&["from", "first_name"]), json.at(&["from", "username"]), json.at(&["key", "remoteJid"])];
    let from = names.iter().find_map(|name| name.filled()).unwrap_or("someone");
    entry.blocks.push(block::tree(&format!("message from {from}"), json, out));
    let told = json.get("message");
    let texts = [
        json.get("text"),
        json.get("caption"),
        told.get("conversation"),
        told.at(&["extendedTextMessage", "text"]),
    ];
    let text = texts.iter().find_map(|text| text.filled()).unwrap_or_default();
    entry.blocks.extend(block::text(text, out));
    entry
}

/// What the agent says to a channel.
fn reply(json: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = out.new_entry(out.origin_key(), Role::Assistant, json.get("timestamp").moment());
    let text = json.get("text").filled().or_else(|| json.get("content").filled()).unwrap_or_default();
    if json.get("isError").is_true() {
        entry.blocks.push(Batch::block(Piece(0), BlockKind::Break(Break::Error(Text::clean(text)))));
    } else {
        entry.blocks.extend(block::text(text, out));
    }
    for name in ["mediaUrl", "mediaUrls"] {
        turn::media(&mut entry, json.get(name), out);
    }
    if json
        .members()
        .iter()
        .any(|(name, _)| !matches!(&**name, "text" | "content" | "mediaUrl" | "mediaUrls" | "isError"))
    {
        entry.blocks.push(block::tree("reply", json, out));
    }
    entry
}
