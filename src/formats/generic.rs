//! generic: any JSON that no other format recognizes: lines, arrays of chat messages, plain
//! objects. Roles, texts and timestamps are found by common names of members; other values are
//! shown as a tree.
//!
//! Invariant: claims at most [`Confidence::Maybe`], so every format that recognizes a file wins.

use std::path::Path;
use std::sync::LazyLock;

use itertools::Itertools as _;

use super::decoder::{Decoder, Format, Input, RecordPlace, show_raw};

use super::definition::head::Head;
use super::json::Json;
use super::probe::{Confidence, Probe, ProbeResult};
use crate::model::body::Image;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{Block, BlockKind, Piece, Raw, Role};
use crate::model::record::Shape;
use crate::model::tally::Fate;
use crate::model::text::Text;

/// Names of members with a role.
const ROLES: [&str; 5] = ["role", "author", "sender", "from", "type"];
/// Names of members with content.
const TEXTS: [&str; 9] = [
    "content", "text", "message", "msg", "body", "value", "parts", "output", "prompt",
];
/// Names of members with a timestamp.
const TIMES: [&str; 10] = [
    "timestamp",
    "ts",
    "time",
    "created_at",
    "createdAt",
    "create_time",
    "date",
    "datetime",
    "@timestamp",
    "processed_at",
];
/// Limit of the keys that a verdict names.
const KEYS_NAMED: usize = 8;

/// The fallback format, which reads anything.
pub(crate) struct Generic;

impl Format for Generic {
    fn name(&self) -> &'static str {
        "generic"
    }

    fn head(&self) -> &'static Head {
        static HEAD: LazyLock<Head> = LazyLock::new(|| Head {
            name: "generic",
            agent: "generic",
            ..Head::default()
        });
        &HEAD
    }

    fn sniff(&self, probe: &Probe<'_>) -> ProbeResult {
        if !probe.children.is_empty() {
            return ProbeResult::no("a folder of no known agent");
        }
        let is_document =
            probe.is_document && (probe.header.is_some() || !probe.elements.is_empty());
        let shape = if is_document {
            Shape::Document
        } else {
            Shape::Lines
        };
        ProbeResult::yes(Confidence::Maybe, shape, reason(probe))
    }

    fn decoder(&self, _: Option<&Path>) -> Box<dyn Decoder> {
        Box::new(GenericDecoder::default())
    }
}

/// The reason of the verdict: no format matched, and the keys that were found.
fn reason(probe: &Probe<'_>) -> String {
    let values = if probe.is_document {
        probe.elements
    } else {
        probe.lines
    };
    let mut keys: Vec<Text> = Vec::new();
    let header = probe.header.filter(|_| probe.is_document).into_iter();
    for (name, _) in header.chain(values).flat_map(Json::members) {
        let name = Text::stub(name, 40);
        if keys.len() < KEYS_NAMED && !keys.contains(&name) {
            keys.push(name);
        }
    }
    if keys.is_empty() {
        return "no JSON objects in its beginning".to_owned();
    }
    let what = if probe.is_document {
        "elements"
    } else {
        "records"
    };
    let keys = keys.iter().map(Text::as_str).join(", ");
    format!(
        "no known agent's marks in the first {} {what}; keys seen: {keys}",
        values.len()
    )
}

#[derive(Default)]
struct GenericDecoder {
    has_prompt: bool,
}

impl Decoder for GenericDecoder {
    fn head(&self) -> &'static Head {
        Generic.head()
    }

    fn decode(&mut self, input: Input<'_>, out: &mut Batch) -> Fate {
        let json = input.json;
        if input.place == RecordPlace::Header {
            return header(input, out);
        }
        if let Some(text) = json.filled() {
            return plain(text, out);
        }
        let inner = ["message", "data", "payload"].map(|name| json.get(name));
        let spoken = std::iter::once(json)
            .chain(inner)
            .find(|value| content_of(value).is_some());
        let Some(spoken) = spoken else {
            let title = json
                .first(&["type", "event"], Json::filled)
                .unwrap_or("record");
            return show_raw(input, &Text::stub(title, 80), out);
        };
        let role = role_of(spoken)
            .or_else(|| role_of(json))
            .unwrap_or(Role::Harness);
        // A dump may contain the original record under `raw`.
        let objects = [json, spoken, json.get("raw")];
        let at = TIMES
            .iter()
            .find_map(|name| objects.iter().find_map(|value| value.get(name).moment()));
        let mut entry = out.new_entry(out.origin_key(), role, at);
        entry.marks.prompt = role == Role::User;
        entry.model = spoken
            .get("model")
            .text()
            .or_else(|| json.get("model").text());
        entry.blocks = content(spoken, out);
        if let (Role::User, false, Some(BlockKind::Text(body))) = (
            role,
            self.has_prompt,
            entry.blocks.first().map(|block| &block.kind),
        ) {
            self.has_prompt = true;
            out.title(0, Text::stub(&body.stub, 120));
        }
        out.show(entry)
    }
}

/// Shows the header of a document as a tree, if it has any facts.
fn header(input: Input<'_>, out: &mut Batch) -> Fate {
    let has_facts = input
        .json
        .members()
        .iter()
        .any(|(_, value)| !value.is_null() && *value != Json::Array(vec![]));
    if !has_facts {
        return Fate::Passed("frame of a document");
    }
    let id = ["session_id", "sessionId", "conversation_id", "id"];
    if let Some(id) = input.json.first(&id, Json::text) {
        out.meta(MetaEdit::Id(id));
    }
    if let Some(title) = input.json.get("title").text() {
        out.title(2, title);
    }
    show_raw(input, "document", out)
}

fn plain(text: &str, out: &mut Batch) -> Fate {
    let mut entry = out.new_entry(out.origin_key(), Role::Harness, None);
    entry.push_piece(Piece::default(), BlockKind::Text(out.prose(text)));
    out.show(entry)
}

fn role_of(json: &Json<'_>) -> Option<Role> {
    ROLES.iter().find_map(|name| {
        let value = json.get(name);
        let word = value
            .str()
            .or(value.get("role").str())
            .or(value.get("name").str())?;
        match word.to_lowercase().as_str() {
            "user" | "human" | "customer" | "prompt" | "input" | "user_message" => Some(Role::User),
            "assistant" | "ai" | "model" | "bot" | "agent" | "gpt" | "chatgpt" | "llm"
            | "response" | "assistant_message" => Some(Role::Assistant),
            "system" | "developer" => Some(Role::System),
            _ => None,
        }
    })
}

/// The content of a message, by the name of the member.
fn content_of<'j, 'a>(json: &'j Json<'a>) -> Option<&'j Json<'a>> {
    TEXTS.iter().find_map(|name| match json.get(name) {
        value @ Json::Str(text) => (!text.trim().is_empty()).then_some(value),
        value @ Json::Array(items) => items
            .iter()
            .any(|item| item.filled().is_some() || item.is_object())
            .then_some(value),
        value @ Json::Object(_) if *name == "content" => content_of(value),
        _ => None,
    })
}

fn content(json: &Json<'_>, out: &mut Batch) -> Vec<Block> {
    let Some(content) = content_of(json) else {
        return Vec::new();
    };
    let mut kinds: Vec<BlockKind> = content
        .blocks()
        .iter()
        .map(|item| block(item, out))
        .collect();
    // Calls of chat completions are beside the text.
    for name in ["tool_calls", "function_call"] {
        let calls = json.get(name);
        if !calls.is_null() {
            kinds.push(tree(name, calls, out));
        }
    }
    kinds
        .into_iter()
        .map(|kind| Block::new(Piece::default(), kind))
        .collect()
}

fn block(item: &Json<'_>, out: &mut Batch) -> BlockKind {
    if let Some(text) = item.str() {
        return BlockKind::Text(out.prose(text));
    }
    let kind = item.kind();
    let text = item.first(&["text", "content", "thinking"], Json::filled);
    match text {
        Some(text) if matches!(kind, "thinking" | "reasoning") => {
            BlockKind::Thinking(out.prose(text))
        }
        Some(text) if matches!(kind, "" | "text" | "input_text" | "output_text") => {
            BlockKind::Text(out.prose(text))
        }
        _ if matches!(kind, "image" | "image_url" | "input_image") => {
            let url = item.first(&["image_url.url", "url"], Json::filled);
            let url = url.filter(|url| !url.starts_with("data:"));
            let mime = item.at("source.media_type").text().unwrap_or_default();
            let source = url.map(Text::clean);
            BlockKind::Image(Image {
                mime,
                bytes: None,
                source,
                origin: out.origin(),
            })
        }
        _ => tree(if kind.is_empty() { "part" } else { kind }, item, out),
    }
}

fn tree(title: &str, value: &Json<'_>, out: &mut Batch) -> BlockKind {
    let title = Text::stub(title, 80);
    let body = value.to_body(&title, out);
    BlockKind::Raw(Raw { title, body })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Generic;
    use crate::formats::decoder::{Format, RecordPlace, feed};
    use crate::formats::json::{Json, parse};
    use crate::formats::probe::{Confidence, Probe};
    use crate::model::edit::Batch;
    use crate::model::record::{Origin, Record};
    use crate::model::transcript::Transcript;

    fn read(lines: &[&str]) -> Transcript {
        let mut decoder = Generic.decoder(None);
        let mut out = Batch::default();
        for (at, line) in (0..).zip(lines) {
            let origin = Origin {
                at,
                ..Origin::default()
            };
            feed(
                &mut *decoder,
                Record {
                    origin,
                    bytes: line.as_bytes(),
                },
                RecordPlace::Line,
                &mut out,
            );
        }
        let mut transcript = Transcript::new();
        transcript.apply(out);
        transcript.update_derived();
        transcript
    }

    #[test]
    fn chat_lines_of_any_spelling_are_readable() {
        let transcript = read(&[
            r#"{"sender":"human","text":"hello","created_at":"2026-01-02T03:04:05Z"}"#,
            r#"{"from":"gpt","value":"hi there"}"#,
            r#"{"type":"message","message":{"role":"user","content":[{"type":"text","text":"more"}]}}"#,
            r#"{"level":"info","n":3}"#,
            "42",
        ]);
        let words: Vec<&str> = transcript
            .entries()
            .map(|entry| entry.role.word())
            .collect();
        assert_eq!(words, ["user", "assistant", "user", "harness", "harness"]);
        assert_eq!(transcript.turns().len(), 2);
        assert!(transcript.entries().next().unwrap().at.is_some());
        assert_eq!(transcript.tally().shown, 5);
    }

    #[test]
    fn the_verdict_says_what_was_seen() {
        let lines: Vec<Json<'_>> = vec![parse(r#"{"level":"info","msg":"x"}"#).unwrap()];
        let probe = Probe {
            path: Path::new("x.jsonl"),
            text: None,
            children: &[],
            lines: &lines,
            header: None,
            elements: &[],
            is_document: false,
            is_whole: true,
        };
        let verdict = Generic.sniff(&probe);
        assert_eq!(verdict.confidence, Confidence::Maybe);
        assert_eq!(
            verdict.reason,
            "no known agent's marks in the first 1 records; keys seen: level, msg"
        );
    }
}
