//! The envelope of a line, which the first generation lacks.

use crate::formats::decoder::Input;
use crate::formats::json::Json;
use crate::model::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineClass {
    /// `session_meta`, or the bare first line of the first generation.
    Meta,
    /// `response_item`, or a bare item: messages, reasoning, calls and outputs of the model.
    Item,
    /// `event_msg`: an event of the program.
    Event,
    /// `turn_context`: the settings of a turn.
    Turn,
    /// `compacted`.
    Compacted,
    /// `token_usage_record`: the usage of one response.
    Spent,
    /// `record_type: state`, which has no content.
    State,
    /// A note of the program, named by its type.
    Note,
    Unknown,
}

/// Types of the program's notes beside the conversation.
const NOTES: [&str; 3] = [
    "inter_agent_communication",
    "retained_context",
    "realtime_item",
];

/// Types of bare items in the first generation.
const BARE: [&str; 8] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
];

/// A line with its parsed envelope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RolloutLine<'a> {
    /// The record as the decoder received it.
    pub(crate) input: Input<'a>,
    pub(crate) class: LineClass,
    /// The payload; in a line without envelope, the line itself.
    pub(crate) payload: &'a Json<'a>,
    pub(crate) at: Option<Timestamp>,
    /// Its number in the thread, since the fourth generation.
    pub(crate) ordinal: Option<u64>,
}

impl<'a> RolloutLine<'a> {
    pub(crate) fn read(input: Input<'a>) -> Self {
        let json = input.json;
        let class = class_of(json);
        let is_bare = !json.has("payload");
        Self {
            input,
            class,
            payload: if is_bare { json } else { json.get("payload") },
            at: json.get("timestamp").moment(),
            ordinal: json.get("ordinal").count(),
        }
    }

    /// The type of the payload.
    pub(crate) fn kind(&self) -> &'a str {
        self.payload.kind()
    }

    /// The turn that it names.
    pub(crate) fn turn(&self) -> Option<&'a str> {
        let payload = self.payload;
        let passed = payload.at("internal_chat_message_metadata_passthrough.turn_id");
        payload.get("turn_id").filled().or_else(|| passed.filled())
    }
}

/// Determines the class of a line by its type.
pub(crate) fn class_of(json: &Json<'_>) -> LineClass {
    let kind = json.kind();
    if !json.has("payload") {
        return match kind {
            _ if BARE.contains(&kind) => LineClass::Item,
            "" if json.get("record_type").is("state") => LineClass::State,
            "" if json.has("id") && json.has("timestamp") && json.has("instructions") => {
                LineClass::Meta
            }
            _ => LineClass::Unknown,
        };
    }
    match kind {
        "session_meta" => LineClass::Meta,
        "response_item" => LineClass::Item,
        "event_msg" => LineClass::Event,
        "turn_context" => LineClass::Turn,
        "compacted" => LineClass::Compacted,
        "token_usage_record" => LineClass::Spent,
        _ if NOTES.contains(&kind) => LineClass::Note,
        _ => LineClass::Unknown,
    }
}
