//! What the lines of an event stream do: `pi --mode json` (agent events) and the wire events of a
//! single answer. Everything is told several times; [`Stream`] says what is new.
//!
//! Invariant: of a message that is told in parts, all tellings get the same key.

use std::collections::HashSet;

use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::Entry;
use crate::model::record::Origin;
use crate::model::text::Text;
use crate::model::tool::ToolResult;

/// Where an event stream stands.
#[derive(Debug, Default)]
pub struct Stream {
    /// The message that is being told, and the line that told of it first.
    open: Option<(Key, Origin)>,
    has_messages: bool,
    calls: HashSet<Key>,
}

/// What a line of an event stream does.
pub enum Step<'j, 'a> {
    /// A message, whole or as far as it is.
    Message {
        /// Its key.
        key: Key,
        /// The message.
        message: &'j Json<'a>,
        /// The line that told of it first.
        first: Origin,
        /// More of it will come.
        is_open: bool,
        /// No line told of it before.
        is_new: bool,
    },
    /// Messages that no other line tells: the stream was recorded without their own events.
    Messages(Vec<&'j Json<'a>>),
    /// A tool runs.
    Running,
    /// A tool ended.
    Ended,
    /// It repeats what other lines told.
    Repeated,
    /// It only marks a border.
    Border(&'static str),
    /// It is no event.
    Other,
}

impl Stream {
    /// Reads a line.
    pub fn step<'j, 'a>(&mut self, json: &'j Json<'a>, out: &Batch) -> Step<'j, 'a> {
        let message = |name: &str| Some(json.get(name)).filter(|value| value.has("role"));
        match json.get("type").str_or_empty() {
            "message_start" | "message_update" => self.part(message("message"), true, out),
            "start" | "text_start" | "text_delta" | "text_end" | "thinking_start" | "thinking_delta"
            | "thinking_end" | "toolcall_start" | "toolcall_delta" | "toolcall_end" => {
                self.part(message("partial"), true, out)
            }
            "message_end" | "done" => self.part(message("message"), false, out),
            "error" => self.part(message("error"), false, out),
            "tool_execution_start" | "tool_execution_update" => Step::Running,
            "tool_execution_end" => Step::Ended,
            "agent_start" => Step::Border("start of a run"),
            "turn_start" => Step::Border("start of a turn"),
            "turn_end" => {
                let results = json.get("toolResults").items();
                self.summing_up(std::iter::once(json.get("message")).chain(results))
            }
            "agent_end" => self.summing_up(json.get("messages").items().iter()),
            _ => Step::Other,
        }
    }

    fn part<'j, 'a>(&mut self, message: Option<&'j Json<'a>>, is_open: bool, out: &Batch) -> Step<'j, 'a> {
        let Some(message) = message else { return Step::Other };
        self.has_messages = true;
        let known = self.open.take();
        let is_new = known.is_none();
        let (key, first) =
            known.unwrap_or_else(|| (Text::clean(&format!("message{}", out.origin_key())), out.origin()));
        self.open = is_open.then(|| (key.clone(), first));
        Step::Message { key, message, first, is_open, is_new }
    }

    fn summing_up<'j, 'a: 'j>(&self, messages: impl Iterator<Item = &'j Json<'a>>) -> Step<'j, 'a> {
        let told: Vec<_> = messages.filter(|message| message.has("role")).collect();
        if self.has_messages || told.is_empty() { Step::Repeated } else { Step::Messages(told) }
    }

    /// Notes that an entry holds this call.
    pub fn see_call(&mut self, call: Key) {
        self.calls.insert(call);
    }

    /// Whether an entry holds this call.
    pub fn knows_call(&self, call: &Key) -> bool {
        self.calls.contains(call)
    }
}

/// What a stream tells again in a moment. Only the last telling of a reading is given out: earlier
/// ones would be outdated before anybody sees them.
#[derive(Default)]
pub struct Held {
    entry: Option<Box<Entry>>,
    results: Vec<(Key, Edit)>,
}

impl Held {
    /// Holds an entry, in place of the one that was told before.
    pub fn entry(&mut self, entry: Box<Entry>) {
        self.entry = Some(entry);
    }

    /// Holds a result.
    pub fn result(&mut self, call: Key, result: Box<ToolResult>) {
        self.forget_result(&result.key);
        self.results.push((result.key.clone(), Edit::Result { call, result, lane: None }));
    }

    /// Lets go of a result that was told in full.
    pub fn forget_result(&mut self, key: &Key) {
        self.results.retain(|(held, _)| held != key);
    }

    /// Gives out the entry.
    pub fn give_out_entry(&mut self, out: &mut Batch) {
        out.edits.extend(self.entry.take().map(Edit::Entry));
    }

    /// Gives out all.
    pub fn give_out(&mut self, out: &mut Batch) {
        self.give_out_entry(out);
        out.edits.extend(self.results.drain(..).map(|(_, edit)| edit));
    }
}
