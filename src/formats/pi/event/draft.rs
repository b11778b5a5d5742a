//! Assembles a message from its deltas, in the form that its final line would have.

use std::collections::BTreeMap;

use crate::formats::json::{self, Json};
use crate::model::body::Held;
use crate::model::entry::Entry;

/// The message so far.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Members except the content, as JSON.
    head: BTreeMap<String, String>,
    /// The content blocks by index.
    parts: BTreeMap<u64, DraftPart>,
}

#[derive(Debug)]
enum DraftPart {
    Text(String),
    Thinking(String),
    Call {
        id: String,
        name: String,
        /// The JSON of the arguments, as far as the model has written it.
        written: String,
    },
    /// A complete block as JSON.
    Whole(String),
}

/// Whether a line of this type has a part of a message.
pub(crate) fn is_part(kind: &str) -> bool {
    let step = kind
        .strip_prefix("text_")
        .or_else(|| kind.strip_prefix("thinking_"));
    let step = step.or_else(|| kind.strip_prefix("toolcall_"));
    matches!(step, Some("start" | "delta" | "end"))
}

impl Draft {
    /// Replaces the draft with the whole message so far.
    pub(crate) fn set(&mut self, message: &Json<'_>) {
        self.head = members(message, &["content"]);
        let blocks = message.get("content").blocks().iter();
        self.parts = (0..).zip(blocks.map(DraftPart::of)).collect();
    }

    /// Applies an event with a part.
    pub(crate) fn grow(&mut self, event: &Json<'_>) {
        let kind = event.kind();
        let (what, step) = kind.split_once('_').unwrap_or((kind, ""));
        let last = self.parts.keys().next_back().copied();
        let index = event.get("contentIndex").count().or(last).unwrap_or(0);
        let part = self
            .parts
            .entry(index)
            .or_insert_with(|| DraftPart::new(what));
        match step {
            "start" => part.begin(event),
            "delta" => part.push(event.get("delta").str_or_empty()),
            _ => part.end(event),
        }
    }

    /// Applies the outcome that a proxy sends instead of the message.
    pub(crate) fn end(&mut self, json: &Json<'_>) {
        let reason = json.get("reason");
        self.head
            .insert("stopReason".to_owned(), reason.to_source());
        self.head
            .extend(members(json, &["type", "reason", "message", "error"]));
    }

    /// The message so far as JSON.
    pub(crate) fn source(&self) -> String {
        let mut members = vec![r#""role":"assistant""#.to_owned()];
        let head = self.head.iter().filter(|(name, _)| *name != "role");
        members.extend(head.map(|(name, value)| format!("{}:{value}", quoted(name))));
        let parts: Vec<String> = self.parts.values().map(DraftPart::source).collect();
        members.push(format!("\"content\":[{}]", parts.join(",")));
        format!("{{{}}}", members.join(","))
    }
}

impl DraftPart {
    fn new(what: &str) -> Self {
        match what {
            "thinking" => Self::Thinking(String::new()),
            "toolcall" => Self::Call {
                id: String::new(),
                name: String::new(),
                written: String::new(),
            },
            _ => Self::Text(String::new()),
        }
    }

    fn of(block: &Json<'_>) -> Self {
        let text = |name: &str| block.get(name).str_or_empty().to_owned();
        // A block with further members, such as a signature, is kept as JSON.
        match block.kind() {
            "text" if block.members().len() == 2 => Self::Text(text("text")),
            "thinking" if block.members().len() == 2 => Self::Thinking(text("thinking")),
            "toolCall" => {
                let leftover = block.first(&["partialJson", "partialArgs"], Json::str);
                let arguments = block.get("arguments");
                let written = leftover.map_or_else(|| arguments.to_source(), str::to_owned);
                // Before its first delta a call has an empty object as arguments.
                let written = if written == "{}" {
                    String::new()
                } else {
                    written
                };
                Self::Call {
                    id: text("id"),
                    name: text("name"),
                    written,
                }
            }
            _ => Self::Whole(block.to_source()),
        }
    }

    fn begin(&mut self, event: &Json<'_>) {
        if let Self::Call { id, name, .. } = self {
            event.get("id").str_or_empty().clone_into(id);
            let tool = event.first(&["toolName", "name"], Json::str);
            tool.unwrap_or_default().clone_into(name);
        }
    }

    fn push(&mut self, delta: &str) {
        match self {
            Self::Text(text) | Self::Thinking(text) => text.push_str(delta),
            Self::Call { written, .. } => written.push_str(delta),
            Self::Whole(source) => {
                if let Some(part) = Self::opened(source) {
                    *self = part;
                    self.push(delta);
                }
            }
        }
    }

    /// Converts a complete block to one that deltas can extend.
    fn opened(source: &str) -> Option<Self> {
        let block = json::parse(source).ok()?;
        match block.kind() {
            "text" => Some(Self::Text(block.get("text").str_or_empty().to_owned())),
            "thinking" => Some(Self::Thinking(
                block.get("thinking").str_or_empty().to_owned(),
            )),
            _ => None,
        }
    }

    fn end(&mut self, event: &Json<'_>) {
        let content = event.get("content").str();
        match self {
            Self::Text(text) | Self::Thinking(text) => {
                if let Some(content) = content {
                    content.clone_into(text);
                }
            }
            Self::Call { .. } if event.get("toolCall").is_object() => {
                *self = Self::Whole(event.get("toolCall").to_source());
            }
            Self::Call { .. } | Self::Whole(_) => {}
        }
    }

    fn source(&self) -> String {
        match self {
            Self::Text(text) => format!(r#"{{"type":"text","text":{}}}"#, quoted(text)),
            Self::Thinking(text) => format!(r#"{{"type":"thinking","thinking":{}}}"#, quoted(text)),
            Self::Call { id, name, written } => {
                let is_whole = json::parse(written).is_ok_and(|value| value.is_object());
                let arguments = match written.as_str() {
                    "" => "{}".to_owned(),
                    _ if is_whole => written.clone(),
                    _ => quoted(written),
                };
                let (id, name) = (quoted(id), quoted(name));
                format!(r#"{{"type":"toolCall","id":{id},"name":{name},"arguments":{arguments}}}"#)
            }
            Self::Whole(source) => source.clone(),
        }
    }
}

/// Keeps texts in their stubs and never on disk, since no record has the text of a message that is
/// sent as deltas.
pub(crate) fn texts_into_stubs(entry: &mut Entry) {
    for body in entry
        .blocks
        .iter_mut()
        .flat_map(|block| block.kind.bodies_mut())
    {
        if let Held::Text(text) = &body.held {
            body.stub = text.clone();
            body.held = Held::Stub;
        }
    }
}

fn quoted(text: &str) -> String {
    Json::Str(text.into()).to_source()
}

/// The members of an object except `but`, as JSON.
fn members(object: &Json<'_>, but: &[&str]) -> BTreeMap<String, String> {
    let kept = object
        .members()
        .iter()
        .filter(|(name, _)| !but.contains(&&**name));
    kept.map(|(name, value)| (name.to_string(), value.to_source()))
        .collect()
}
