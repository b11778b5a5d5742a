//! Executions of tools: what they put out while they run, and calls that no message has told (yet).
//!
//! Invariant: calls that only their executions tell of are gathered in one entry a turn. The message
//! that holds them takes that entry's place, so no call is shown twice.

use std::collections::{HashMap, HashSet};

use crate::formats::json::Json;
use crate::formats::pi::{block, entry, result};
use crate::model::body::{Body, Key};
use crate::model::edit::Batch;
use crate::model::entry::{BlockKind, Entry, Piece, Role};
use crate::model::moment::Moment;
use crate::model::pairing::{calls_of, calls_of_mut, identifies};
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolResult, ToolState, Verdict};

/// More calls are not gathered in one entry.
const CALLS_TOGETHER: usize = 64;

/// The executions of a stream.
#[derive(Debug, Default)]
pub struct Executions {
    /// Calls that messages told.
    in_messages: HashSet<Key>,
    /// Calls of this turn that no message told.
    born: Option<Box<Entry>>,
    started: HashMap<Key, Moment>,
    lasted: HashMap<Key, u64>,
}

impl Executions {
    /// Whether a message holds the call.
    pub fn is_in_message(&self, call: &Key) -> bool {
        self.in_messages.contains(call)
    }

    /// Notes when a tool started, if that is told.
    pub fn note_start(&mut self, call: &Key, at: Option<Moment>) {
        if let Some(at) = at.filter(|_| identifies(call)) {
            self.started.entry(call.clone()).or_insert(at);
        }
    }

    /// Notes when a tool ended. How long it took, as recorded or by the two times.
    pub fn note_end(&mut self, call: &Key, at: Option<Moment>, recorded: Option<u64>) -> Option<u64> {
        let started = self.started.get(call).copied();
        let lasted = recorded.or_else(|| Some(at?.since(started?)))?;
        self.lasted.insert(call.clone(), lasted);
        Some(lasted)
    }

    /// How long a tool took.
    pub fn lasted(&self, call: &Key) -> Option<u64> {
        self.lasted.get(call).copied()
    }

    /// Adds a call that no message told to the entry of its turn. Whether that entry is new.
    pub fn bear(&mut self, call: ToolCall, at: Option<Moment>, out: &Batch) -> (Box<Entry>, bool) {
        let is_full = |entry: &Entry| entry.blocks.len() >= CALLS_TOGETHER;
        let holds = |entry: &Entry| identifies(&call.key) && calls_of(entry).any(|c| c.key == call.key);
        let fitting = self.born.take().filter(|entry| holds(entry) || !is_full(entry));
        let is_new = fitting.is_none();
        let mut entry = fitting.unwrap_or_else(|| {
            let key = Text::clean(&format!("executions{}", out.origin_key()));
            Box::new(out.new_entry(key, Role::Assistant, at))
        });
        let known = calls_of_mut(&mut entry).find(|known| identifies(&call.key) && known.key == call.key);
        if let Some(known) = known {
            known.state = call.state;
        } else {
            entry.blocks.push(Batch::block(Piece(0), BlockKind::Call(Box::new(call))));
        }
        self.born = Some(entry.clone());
        (entry, is_new)
    }

    /// Notes the calls of a message. If some of them were born by their executions, the message takes
    /// that entry's place.
    pub fn take_over(&mut self, message: &mut Entry) {
        self.in_messages.extend(calls_of(message).map(|call| call.key.clone()).filter(|key| identifies(key)));
        let Some(born) = &self.born else { return };
        let mut is_taken = false;
        for call in calls_of_mut(message).filter(|call| identifies(&call.key)) {
            if let Some(known) = calls_of(born).find(|known| known.key == call.key) {
                call.state = known.state.clone();
                is_taken = true;
            }
        }
        if is_taken {
            message.key = born.key.clone();
            message.origin = born.origin;
            message.at = born.at.or(message.at);
        }
    }

    /// Calls of the next turn have an entry of their own.
    pub fn end_turn(&mut self) {
        self.born = None;
    }
}

/// The call that an execution tells of.
pub fn call(json: &Json<'_>, key: Key, state: ToolState, out: &mut Batch) -> ToolCall {
    ToolCall { state, ..block::execution(json, key, out) }
}

/// What a tool has put out so far.
pub fn output(so_far: &Json<'_>, out: &mut Batch) -> Option<Body> {
    let body = payload(Key::default(), so_far, None, out).body;
    (body.bytes > 0).then_some(body)
}

/// The result that an execution ends with.
pub fn result(json: &Json<'_>, call: &Key, out: &mut Batch) -> ToolResult {
    let at = json.get("timestamp").moment();
    let mut told = payload(result_key(call), json.get("result"), at, out);
    if json.get("isError").is_true() {
        told.body.signs.unmarked = false;
        if told.verdict == Verdict::Done {
            told.verdict = Verdict::Failed;
        }
    }
    told
}

/// Any value that a tool gives back: mostly content and details, else it is content by itself.
fn payload(key: Key, value: &Json<'_>, at: Option<Moment>, out: &mut Batch) -> ToolResult {
    if value.has("content") || value.has("details") {
        return result::read(key, value, at, out);
    }
    let content = Json::Object(vec![("content".into(), value.clone())]);
    result::read(key, &content, at, out)
}

/// What the result of a call is known by, whichever line brings it.
pub fn result_key(call: &Key) -> Key {
    entry::result_key(call)
}
