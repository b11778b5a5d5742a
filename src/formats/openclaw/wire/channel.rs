//! Messages between people and the gateway: in its own form, as Telegram and WhatsApp send them,
//! and the agent's messages to a channel.
//!
//! Invariant: all fields of a message are readable in a tree below its text, whose title has the
//! sender, the chat and the message replied to.

use itertools::Itertools as _;

use super::frame::update;
use crate::formats::json::Json;
use crate::formats::openclaw::turn;
use crate::formats::pi::block;
use crate::model::edit::Batch;
use crate::model::entry::{Break, Entry, Role};

/// A message in the gateway's form; `record` is the whole record around it.
pub(crate) fn received(json: &Json<'_>, record: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = out.new_entry(out.origin_key(), Role::User, json.get("Timestamp").moment());
    entry.marks.prompt = true;
    let word = |name: &str| word(json.get(name));
    let sender = word("SenderName").or_else(|| word("From"));
    let mut facts = vec![format!(
        "from {}",
        sender.unwrap_or_else(|| "someone".to_owned())
    )];
    facts.extend(word("To").map(|to| format!("to {to}")));
    facts.extend(self::word(record.at("params.channel")).or_else(|| word("Provider")));
    facts.extend(word("ChatType"));
    facts.extend(word("MessageThreadId").map(|id| format!("thread {id}")));
    facts.extend(word("ReplyToId").map(|id| format!("reply to {id}")));
    let text = json.first(&["Text", "Body"], Json::filled);
    entry
        .blocks
        .extend(block::text(text.unwrap_or_default(), out));
    let kind = json.get("MediaType").str_or_empty();
    for name in ["MediaUrl", "MediaUrls"] {
        turn::media(&mut entry, json.get(name), kind, out);
    }
    entry
        .blocks
        .push(block::tree(&facts.join(" · "), record, out));
    entry
}

/// A message as Telegram sends it, alone or within an update.
pub(crate) fn telegram(json: &Json<'_>, out: &mut Batch) -> Entry {
    let recorded = if json.has("message_id") {
        json
    } else {
        update(json)
    };
    let from = recorded.get("from");
    let chat = recorded.get("chat");
    let names = ["first_name", "last_name"].map(|name| from.get(name).filled());
    let full = names.into_iter().flatten().join(" ");
    let sender = Some(full).filter(|name| !name.is_empty());
    let sender = sender
        .or_else(|| word(from.get("username")))
        .or_else(|| word(from.get("id")));
    let mut facts = vec![format!(
        "from {}",
        sender.unwrap_or_else(|| "someone".to_owned())
    )];
    facts.push("Telegram".to_owned());
    facts.extend(word(chat.get("type")));
    facts.extend(word(chat.get("title")));
    facts.extend(word(recorded.get("message_thread_id")).map(|id| format!("thread {id}")));
    facts.extend(
        word(recorded.at("reply_to_message.message_id")).map(|id| format!("reply to {id}")),
    );
    let media = [
        "photo",
        "document",
        "voice",
        "audio",
        "video",
        "video_note",
        "sticker",
        "location",
    ];
    facts.extend(
        media
            .iter()
            .filter(|name| recorded.has(name))
            .map(|name| (*name).replace('_', " ")),
    );
    let text = recorded.first(&["text", "caption"], Json::filled);
    let is_own = from.get("is_bot").is_true();
    native(json, recorded.get("date"), is_own, &facts, text, out)
}

/// A message as WhatsApp sends it.
pub(crate) fn whatsapp(json: &Json<'_>, out: &mut Batch) -> Entry {
    let key = json.get("key");
    let is_own = key.get("fromMe").is_true();
    let chat = word(key.get("remoteJid"));
    let sender = word(json.get("pushName"))
        .or_else(|| word(key.get("participant")))
        .or_else(|| chat.clone());
    let mut facts = vec![match (is_own, sender) {
        (true, _) => format!("to {}", chat.clone().unwrap_or_default()),
        (false, sender) => format!("from {}", sender.unwrap_or_else(|| "someone".to_owned())),
    }];
    facts.push("WhatsApp".to_owned());
    facts.extend(
        chat.filter(|chat| chat.ends_with("@g.us"))
            .map(|chat| format!("group {chat}")),
    );
    let recorded = contents(json.get("message"));
    let (name, content) = recorded
        .members()
        .first()
        .map_or(("", recorded), |(name, value)| (&**name, value));
    let kind = name
        .strip_suffix("Message")
        .filter(|kind| *kind != "extendedText");
    facts.extend(kind.map(str::to_owned));
    let texts = [
        recorded.get("conversation"),
        content.get("text"),
        content.get("caption"),
    ];
    let text = texts.iter().find_map(|text| text.filled());
    let at = json.get("messageTimestamp");
    let at = if at.is_object() { at.get("low") } else { at };
    native(json, at, is_own, &facts, text, out)
}

/// The content of a WhatsApp message without its wrappers.
fn contents<'j, 'a>(message: &'j Json<'a>) -> &'j Json<'a> {
    let wraps = [
        "ephemeralMessage",
        "viewOnceMessage",
        "viewOnceMessageV2",
        "documentWithCaptionMessage",
    ];
    let inner = wraps
        .iter()
        .map(|name| message.get(name).get("message"))
        .find(|inner| inner.is_object());
    inner.unwrap_or(message)
}

fn native(
    json: &Json<'_>,
    at: &Json<'_>,
    is_own: bool,
    facts: &[String],
    text: Option<&str>,
    out: &mut Batch,
) -> Entry {
    let role = if is_own { Role::Assistant } else { Role::User };
    let mut entry = out.new_entry(out.origin_key(), role, at.moment());
    entry.marks.prompt = !is_own;
    entry
        .blocks
        .extend(block::text(text.unwrap_or_default(), out));
    entry
        .blocks
        .push(block::tree(&facts.join(" · "), json, out));
    entry
}

/// A message by the agent to a channel.
pub(crate) fn reply(json: &Json<'_>, out: &mut Batch) -> Entry {
    let mut entry = out.new_entry(
        out.origin_key(),
        Role::Assistant,
        json.get("timestamp").moment(),
    );
    let text = json
        .first(&["text", "content"], Json::filled)
        .unwrap_or_default();
    if json.get("isError").is_true() {
        let recorded = if text.is_empty() {
            "the reply is an error"
        } else {
            text
        };
        entry.push(Break::error(recorded));
    } else {
        entry.blocks.extend(block::text(text, out));
    }
    for name in ["mediaUrl", "mediaUrls"] {
        turn::media(&mut entry, json.get(name), "", out);
    }
    let is_said = |name: &str| {
        matches!(
            name,
            "text" | "content" | "mediaUrl" | "mediaUrls" | "isError"
        )
    };
    if !json.members().iter().all(|(name, _)| is_said(name)) || entry.blocks.is_empty() {
        let replied = [
            json.get("replyToId"),
            json.get("reply_to_message_id"),
            json.at("message_reference.message_id"),
            json.at("quoted.key.id"),
        ];
        let to = replied
            .iter()
            .find_map(|id| word(id))
            .map(|id| format!(" to {id}"));
        entry.blocks.push(block::tree(
            &format!("reply{}", to.unwrap_or_default()),
            json,
            out,
        ));
    }
    entry
}

/// A string, or a number that is an id.
fn word(value: &Json<'_>) -> Option<String> {
    match value {
        Json::Integer(n) => Some(n.to_string()),
        other => other.filled().map(str::to_owned),
    }
}
