//! Session turns: one message per line, with tool call and result beside the content, and times in
//! seconds. Bare lines of pi's messages are distinguished from them here.

use std::collections::HashSet;

use crate::formats::json::Json;
use crate::formats::openclaw::envelope;
use crate::formats::pi::image::image;
use crate::formats::pi::message::{PromptAuthor, plain_prompt};
use crate::formats::pi::{block, message, result};
use crate::formats::probe::nearly_all;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::{Image, Key};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Break, Entry, Role};
use crate::model::tally::Fate;
use crate::model::text::Text;
use crate::model::tool::{ToolResult, ToolState, Verdict};

/// Fields that only a session turn has.
const FIELDS: [&str; 5] = [
    "toolCall",
    "toolResult",
    "_compacted",
    "mediaUrls",
    "metadata",
];

/// The reason if the lines are bare messages of either kind.
pub(crate) fn sniff(lines: &[Json<'_>]) -> Option<&'static str> {
    let are_bare = nearly_all(lines, |line| {
        line.get("role").str().is_some() && !line.has("type") && line.has("content")
    });
    if !are_bare {
        return None;
    }
    if lines.iter().any(is_pi_message) {
        return Some("lines of bare agent messages");
    }
    let channel = ["channel", "peerId", "messageId", "reasoning"];
    let is_turn = |line: &Json<'_>| {
        FIELDS.iter().take(4).any(|field| line.has(field))
            || channel.iter().any(|name| line.get("metadata").has(name))
    };
    lines
        .iter()
        .any(is_turn)
        .then_some("lines of session turns")
}

/// The reason if the lines are messages without marks of either kind: role, content and time, which
/// other programs write as well.
pub(crate) fn sniff_plain(lines: &[Json<'_>]) -> Option<&'static str> {
    let is_block =
        |block: &Json<'_>| matches!(block.get("type").str(), Some("text" | "thinking" | "image"));
    let is_plain = |line: &Json<'_>| {
        let is_member = |name: &str| matches!(name, "role" | "content" | "timestamp");
        let has_role = matches!(
            line.get("role").str(),
            Some("user" | "assistant" | "system")
        );
        let content = line.get("content");
        has_role
            && line.members().len() == 3
            && line.members().iter().all(|(name, _)| is_member(name))
            && matches!(line.get("timestamp"), Json::Integer(_))
            && (content.str().is_some() || content.items().iter().all(is_block))
    };
    let are_plain = !lines.is_empty() && lines.iter().all(is_plain);
    are_plain.then_some("messages with role, content and a number for their time")
}

fn is_pi_message(line: &Json<'_>) -> bool {
    let is_call = |block: &Json<'_>| block.kind() == "toolCall";
    line.get("role").is("toolResult")
        || line.get("content").items().iter().any(is_call)
        || (line.has("api") && line.has("provider"))
        || line.get("usage").has("totalTokens")
}

/// Whether a line is a session turn.
pub(crate) fn is_turn(json: &Json<'_>) -> bool {
    let Some(role) = json.get("role").str() else {
        return false;
    };
    !json.has("type")
        && (matches!(role, "tool" | "system") || FIELDS.iter().any(|field| json.has(field)))
}

/// The state of a session's turns.
#[derive(Debug, Default)]
pub(crate) struct SessionTurns {
    calls: HashSet<Key>,
}

impl SessionTurns {
    pub(crate) fn decode(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let recorded = json.get("toolResult");
        if json.get("role").is("tool") && recorded.is_object() {
            return self.tool_result(json, recorded, out);
        }
        let entry = message_entry(json, out);
        self.calls
            .extend(entry.calls().map(|call| call.key.clone()));
        message::title(&entry, out);
        out.show(entry)
    }

    fn tool_result(&self, json: &Json<'_>, recorded: &Json<'_>, out: &mut Batch) -> Fate {
        let call: Key = result::call_key(recorded.get("toolCallId"));
        let result = read_result(json, recorded, out);
        if !recorded.get("isPending").is_true() {
            out.result(call, result, None);
            return Fate::Merged;
        }
        if !self.calls.contains(&call) {
            let mut entry = out.new_entry(out.origin_key(), Role::Harness, result.at);
            entry
                .blocks
                .push(block::tree(&format!("call {call} is running"), json, out));
            out.entry(entry);
            return Fate::Shown;
        }
        out.state(call, ToolState::running(result.body));
        Fate::Merged
    }
}

fn message_entry(json: &Json<'_>, out: &mut Batch) -> Entry {
    let role = match json.get("role").str_or_empty() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => Role::Harness,
    };
    let mut entry = out.new_entry(out.origin_key(), role, json.get("timestamp").moment());
    if let (Role::Harness, Some(other)) =
        (role, json.get("role").str().filter(|role| *role != "tool"))
    {
        entry.push(unknown::block(NamedKind("role", other), json, out));
        return entry;
    }
    if json.get("_compacted").is_true() {
        let compaction = Break::compaction("");
        entry.push(compaction);
    }
    let metadata = json.get("metadata");
    if metadata
        .members()
        .iter()
        .any(|(name, _)| &**name != "reasoning")
    {
        let words = ["peerId", "channel"].map(|name| metadata.get(name).filled());
        let facts: Vec<&str> = words.into_iter().flatten().collect();
        let title = if facts.is_empty() {
            "metadata".to_owned()
        } else {
            format!("from {}", facts.join(" · "))
        };
        entry.blocks.push(block::tree(&title, metadata, out));
    }
    if let Some(reasoning) = json.at("metadata.reasoning").filled() {
        entry.push(BlockKind::Thinking(out.prose(reasoning)));
    }
    content(&mut entry, json, out);
    media(&mut entry, json.get("mediaUrls"), "", out);
    let call = json.get("toolCall");
    if call.is_object() {
        let mut call = block::call(call, ToolState::Pending, out);
        call.started = entry.at;
        entry.push(call);
    }
    entry
}

fn content(entry: &mut Entry, json: &Json<'_>, out: &mut Batch) {
    entry.marks.prompt = entry.role == Role::User;
    for part in json.get("content").blocks() {
        let Some(text) = block::text_of(part) else {
            entry
                .blocks
                .extend(block::one(part, block::AnswerEnding::Whole, out));
            continue;
        };
        let prompt = match entry.role {
            Role::User => envelope::open(text),
            Role::Assistant | Role::System | Role::Harness => plain_prompt(text),
        };
        entry.blocks.extend(prompt.envelope(out));
        entry.blocks.extend(block::text(prompt.text, out));
        if prompt.voice != PromptAuthor::Person {
            entry.role = Role::Harness;
            entry.marks.prompt = false;
        }
        if let PromptAuthor::Sender(sender) = prompt.voice {
            entry.from = Some(Box::new(sender));
        }
    }
}

/// Adds media recorded by their URLs; `kind` is their kind according to the message.
pub(crate) fn media(entry: &mut Entry, urls: &Json<'_>, kind: &str, out: &mut Batch) {
    for url in urls.blocks().iter().filter_map(Json::filled) {
        if is_image(kind, url) {
            let source = Some(Text::clean(url));
            let image = Image {
                mime: Text::default(),
                bytes: None,
                source,
                origin: out.origin(),
            };
            entry.push(image);
        } else {
            let kind = if kind.is_empty() { "attachment" } else { kind };
            entry.blocks.push(block::raw_text(kind, url, out));
        }
    }
}

/// Whether media are an image, unless their kind or the suffix of their URL indicates otherwise.
fn is_image(kind: &str, url: &str) -> bool {
    const OTHERS: [&str; 15] = [
        "aac", "avi", "csv", "doc", "docx", "flac", "m4a", "mov", "mp3", "mp4", "oga", "ogg",
        "opus", "pdf", "wav",
    ];
    if !kind.is_empty() {
        return kind.starts_with("image") || kind == "sticker";
    }
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let end = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    !OTHERS.contains(&end.as_str())
}

fn read_result(json: &Json<'_>, recorded: &Json<'_>, out: &mut Batch) -> ToolResult {
    let error = recorded.get("error").filled();
    let shown: Vec<&str> = json
        .get("content")
        .blocks()
        .iter()
        .filter_map(block::text_of)
        .collect();
    let text = match error.or_else(|| recorded.get("output").filled()) {
        Some(output) if shown.is_empty() => output.to_owned(),
        Some(output) => format!("{}\n\n{output}", shown.join("\n")),
        None => shown.join("\n"),
    };
    let images = json
        .get("content")
        .blocks()
        .iter()
        .filter(|part| part.kind() == "image");
    let verdict = Verdict::of(error.is_some(), false);
    let (body, at) = (out.output(&text), json.get("timestamp").moment());
    ToolResult {
        images: images.map(|part| image(part, out)).collect(),
        ..ToolResult::new(out.origin_key(), verdict, body, at)
    }
}
