//! Executions of tools: their output while they run, and calls that no message has (yet).
//!
//! Invariant: calls that only executions record are gathered in one entry per turn. The first
//! message that has some of them replaces that entry, and the remaining calls get a new entry until
//! another message has them. So no call is shown twice and none is lost.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::formats::json::Json;
use crate::formats::pi::decode::result_key;
use crate::formats::pi::result;
use crate::model::body::{Body, Key};
use crate::model::edit::Batch;
use crate::model::entry::{Block, Entry, Role};
use crate::model::record::Origin;
use crate::model::text::text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::tool::{ToolCall, ToolResult, ToolState, Verdict};

/// The maximum number of calls in one such entry.
const CALLS_TOGETHER: usize = 64;

/// The executions of a stream.
#[derive(Debug, Default)]
pub(crate) struct Executions {
    /// The calls of messages, each with the last message that had it.
    in_messages: HashMap<Key, Key>,
    /// The entry of this turn's calls that no message has.
    call_entry: Option<Box<Entry>>,
    /// Results of this turn. They follow their calls to other entries, and remain if a later
    /// version of a message omits the call.
    results: BTreeMap<Key, Box<ToolResult>>,
    /// The states of this turn's calls that moved from that entry to a message.
    moved_states: HashMap<Key, ToolState>,
    /// The key, origin and time of the entries that messages replaced, by message.
    places: HashMap<Key, MessagePlace>,
    /// How many entries of remaining calls were made.
    remainder_count: usize,
    started: HashMap<Key, Timestamp>,
    durations: HashMap<Key, u64>,
}

/// The key, origin and time that a message takes from the entry that it replaces.
#[derive(Debug)]
struct MessagePlace {
    key: Key,
    origin: Origin,
    at: Option<Timestamp>,
}

/// Further changes when a message takes calls from such an entry, or omits some of its own.
#[derive(Debug, Default)]
pub(crate) struct RemainingEdits {
    /// The entry of the calls that still are in no message.
    pub(crate) entry: Option<Box<Entry>>,
    /// The key of that entry, if it has become empty.
    pub(crate) emptied_entry: Option<Key>,
    /// Results of calls that moved to another entry, or that the message omits.
    pub(crate) results: Vec<(Key, Box<ToolResult>)>,
}

impl Executions {
    pub(crate) fn is_in_message(&self, call: &Key) -> bool {
        self.in_messages.contains_key(call)
    }

    /// Whether an earlier version of the message had the call and this one does not.
    fn is_dropped(&self, call: &Key, message: &Entry) -> bool {
        self.in_messages.get(call) == Some(&message.key)
            && message.calls().all(|held| held.key != *call)
    }

    /// Records the state of a call that moved to a message.
    pub(crate) fn record_state(&mut self, call: &Key, state: &ToolState) {
        if let Some(known) = self.moved_states.get_mut(call) {
            known.clone_from(state);
        }
    }

    pub(crate) fn record_result(&mut self, call: &Key, result: &ToolResult) {
        if identifies(call) {
            self.results.insert(call.clone(), Box::new(result.clone()));
        }
    }

    /// Records when a tool started.
    pub(crate) fn record_start(&mut self, call: &Key, at: Option<Timestamp>) {
        if let Some(at) = at.filter(|_| identifies(call)) {
            self.started.entry(call.clone()).or_insert(at);
        }
    }

    /// Records when a tool ended. Returns the duration in ms, as recorded or from the two times.
    pub(crate) fn record_end(
        &mut self,
        call: &Key,
        at: Option<Timestamp>,
        recorded: Option<u64>,
    ) -> Option<u64> {
        let started = self.started.get(call).copied();
        let lasted = recorded.or_else(|| Some(at?.since(started?)))?;
        self.durations.insert(call.clone(), lasted);
        Some(lasted)
    }

    pub(crate) fn duration(&self, call: &Key) -> Option<u64> {
        self.durations.get(call).copied()
    }

    /// Adds a call that no message has to the entry of its turn. Returns the entry and whether it
    /// is new.
    pub(crate) fn add_unclaimed(
        &mut self,
        call: ToolCall,
        at: Option<Timestamp>,
        out: &Batch,
    ) -> (Box<Entry>, bool) {
        let is_full = |entry: &Entry| entry.blocks.len() >= CALLS_TOGETHER;
        let holds =
            |entry: &Entry| identifies(&call.key) && entry.calls().any(|c| c.key == call.key);
        let fitting = self
            .call_entry
            .take()
            .filter(|entry| holds(entry) || !is_full(entry));
        let is_new = fitting.is_none();
        if is_new {
            self.remainder_count = 0;
        }
        let mut entry = fitting.unwrap_or_else(|| {
            let key = text!("executions{}", out.origin_key());
            Box::new(out.new_entry(key, Role::Assistant, at))
        });
        let known = entry
            .calls_mut()
            .find(|known| identifies(&call.key) && known.key == call.key);
        if let Some(known) = known {
            known.state = call.state;
        } else {
            entry.push(call);
        }
        self.call_entry = Some(entry.clone());
        (entry, is_new)
    }

    /// Registers the calls of a message. If some of them are in the entry of executions, the
    /// message takes that entry's key and position, unless it already has those of an earlier one.
    /// Returns the further changes that result.
    pub(crate) fn claim(&mut self, message: &mut Entry, is_new: bool) -> RemainingEdits {
        let calls = message
            .calls()
            .map(|call| call.key.clone())
            .filter(|key| identifies(key));
        let calls: HashSet<Key> = calls.collect();
        let mut rest = self.part(&message.key, &calls, is_new);
        rest.results.extend(self.drop_missing(message));
        for call in message.calls_mut() {
            if let Some(state) = self.moved_states.get(&call.key) {
                call.state = state.clone();
            }
        }
        self.in_messages
            .extend(calls.into_iter().map(|call| (call, message.key.clone())));
        if let Some(place) = self.places.get(&message.key) {
            message.key = place.key.clone();
            message.origin = place.origin;
            message.at = place.at.or(message.at);
        }
        rest
    }

    /// The results of calls that the message no longer has.
    fn drop_missing(&mut self, message: &Entry) -> Vec<(Key, Box<ToolResult>)> {
        let results = self
            .results
            .iter()
            .filter(|(call, _)| self.is_dropped(call, message));
        let left_out: Vec<_> = results
            .map(|(call, result)| (call.clone(), result.clone()))
            .collect();
        for (call, _) in &left_out {
            self.in_messages.remove(call);
        }
        left_out
    }

    /// Splits the entry of executions into the calls of a message and the rest.
    fn part(&mut self, message: &Key, calls: &HashSet<Key>, is_new: bool) -> RemainingEdits {
        let Some(mut born) = self.call_entry.take() else {
            return RemainingEdits::default();
        };
        let is_its = |block: &Block| block.call().is_some_and(|call| calls.contains(&call.key));
        let (its, left): (Vec<Block>, Vec<Block>) = std::mem::take(&mut born.blocks)
            .into_iter()
            .partition(is_its);
        born.blocks = left;
        if its.is_empty() {
            self.call_entry = Some(born);
            return RemainingEdits::default();
        }
        let is_first = is_new && !self.places.contains_key(message);
        if is_first {
            let place = MessagePlace {
                key: born.key.clone(),
                origin: born.origin,
                at: born.at,
            };
            self.places.insert(message.clone(), place);
            self.remainder_count += 1;
            let first = born.key.split('/').next().unwrap_or_default();
            born.key = text!("{first}/{}", self.remainder_count);
        }
        let mut results = Vec::new();
        for call in its.iter().filter_map(Block::call) {
            self.moved_states
                .insert(call.key.clone(), call.state.clone());
            // If the message replaces the entry, its calls keep their results.
            let result = self.results.get(&call.key).filter(|_| !is_first);
            results.extend(result.map(|result| (call.key.clone(), result.clone())));
        }
        if is_first {
            let left = born
                .calls()
                .filter_map(|call| self.results.get_key_value(&call.key));
            results.extend(left.map(|(call, result)| (call.clone(), result.clone())));
        }
        let key = born.key.clone();
        self.call_entry = Some(born).filter(|born| !born.blocks.is_empty());
        let entry = self.call_entry.clone();
        let gone = (!is_first && entry.is_none()).then_some(key);
        RemainingEdits {
            entry,
            emptied_entry: gone,
            results,
        }
    }

    /// Ends the turn: calls of the next one get an entry of their own.
    pub(crate) fn end_turn(&mut self) {
        self.call_entry = None;
        self.results.clear();
        self.moved_states.clear();
    }
}

/// The output of a tool so far.
pub(crate) fn output(so_far: &Json<'_>, out: &mut Batch) -> Body {
    payload(Key::default(), so_far, None, out).body
}

/// The result at the end of an execution.
pub(crate) fn result(json: &Json<'_>, call: &Key, out: &mut Batch) -> ToolResult {
    let at = json.get("timestamp").moment();
    let mut result = payload(result_key(call), json.get("result"), at, out);
    if json.get("isError").is_true() {
        result.body.flags.unmarked = false;
        if result.verdict == Verdict::Done {
            result.verdict = Verdict::Failed;
        }
    }
    result
}

/// The result of a tool, usually content and details. Any other value is treated as content.
fn payload(key: Key, value: &Json<'_>, at: Option<Timestamp>, out: &mut Batch) -> ToolResult {
    if value.has("content") || value.has("details") {
        return result::read(key, value, at, out);
    }
    let content = Json::Object(vec![("content".into(), value.clone())]);
    result::read(key, &content, at, out)
}
