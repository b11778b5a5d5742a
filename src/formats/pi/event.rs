//! Event streams: the lines of `pi --mode json` (agent events) and the wire events of single
//! answers. Each event has the whole message so far, or only a delta, and everything is sent
//! several times.
//!
//! Invariant: all repetitions of a message get the same key, and the events that close a turn or a
//! run add only what no other line had.

mod draft;
mod execution;
mod growing;
mod known;

use super::block;
use super::decode::{Decoded, decode, result_key};
use super::message::{self, MessageLine, ReadPrompt};
use super::result::call_key;
use crate::formats::json::{self, Json};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::Entry;
use crate::model::record::Origin;
use crate::model::tally::Fate;
use crate::model::text::text;
use crate::model::tool::ToolState;
use draft::Draft;
use execution::Executions;
use growing::OpenEntries;
use known::{EmittedMessage, IdentityCounts, KnownMessages, MessageIdentity};

/// The state of an event stream.
pub(crate) struct Events {
    read_prompt: ReadPrompt,
    open: Option<OpenMessage>,
    /// The last message, if only its deltas have been read.
    unnamed: Option<EmittedMessage>,
    messages: KnownMessages,
    executions: Executions,
    growing: OpenEntries,
}

/// The message that is still being written.
struct OpenMessage {
    /// Its key and the first line that mentions it.
    known: EmittedMessage,
    identity: MessageIdentity,
    draft: Draft,
    /// Whether deltas have arrived since it was last emitted.
    is_behind: bool,
}

impl Events {
    /// Makes a decoder that parses prompts with `read_prompt`.
    pub(crate) fn new(read_prompt: ReadPrompt) -> Self {
        Self {
            read_prompt,
            open: None,
            unnamed: None,
            messages: KnownMessages::default(),
            executions: Executions::default(),
            growing: OpenEntries::default(),
        }
    }

    /// Decodes an event; `None` if the line is not one.
    pub(crate) fn decode(&mut self, json: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        let kind = json.kind();
        match kind {
            "message_start" => Some(self.begin(as_message(json.get("message"))?, out)),
            "message_update" => match as_message(json.get("message")) {
                Some(message) => Some(self.update(message, out)),
                None => self.append(json.get("assistantMessageEvent"), out),
            },
            "message_end" => Some(self.end(as_message(json.get("message"))?, out)),
            "start" => self.start(json, out),
            "done" => self.close(json.get("message"), json, out),
            "error" => self.close(json.get("error"), json, out),
            "tool_execution_start" => Some(self.running(json, &Json::Null, out)),
            "tool_execution_update" => Some(self.running(json, json.get("partialResult"), out)),
            "tool_execution_end" => Some(self.ended(json, out)),
            "agent_start" => {
                self.messages.begin_run();
                Some(self.end_turn("start of a run", out))
            }
            "turn_start" => Some(self.end_turn("start of a turn", out)),
            "turn_end" => {
                let results = json.get("toolResults").items();
                Some(self.reconcile(std::iter::once(json.get("message")).chain(results), out))
            }
            "agent_end" => Some(self.reconcile(json.get("messages").items().iter(), out)),
            _ => draft::is_part(kind)
                .then(|| self.append(json, out))
                .flatten(),
        }
    }

    /// Emits text that only deltas have so far.
    pub(crate) fn flush(&mut self, out: &mut Batch) {
        self.emit_draft(true, out);
    }

    fn end_turn(&mut self, what: &'static str, out: &mut Batch) -> Fate {
        self.flush(out);
        self.executions.end_turn();
        Fate::Passed(what)
    }

    // === messages ===

    /// Begins a message, unless the line repeats the beginning of the open one.
    fn begin(&mut self, message: &Json<'_>, out: &mut Batch) -> Fate {
        let identity = MessageIdentity::of(message);
        if !self
            .open
            .as_ref()
            .is_some_and(|open| open.identity == identity)
        {
            self.close_open(out);
        }
        self.update(message, out)
    }

    fn start(&mut self, json: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        if let Some(partial) = as_message(json.get("partial")) {
            return Some(self.begin(partial, out));
        }
        if json.members().len() > 2 || json.has("id") {
            return None;
        }
        self.close_open(out);
        self.open(out).is_behind = true;
        Some(Fate::Shown)
    }

    /// Closes the open message because another one begins.
    fn close_open(&mut self, out: &mut Batch) {
        self.emit_draft(false, out);
        self.open = None;
        self.unnamed = None;
        self.growing.close(out);
    }

    fn open(&mut self, out: &Batch) -> &mut OpenMessage {
        self.open.get_or_insert_with(|| OpenMessage {
            known: EmittedMessage::at(out, 0),
            identity: MessageIdentity::default(),
            draft: Draft::default(),
            is_behind: false,
        })
    }

    /// Sets the open message to its whole content so far.
    fn update(&mut self, message: &Json<'_>, out: &mut Batch) -> Fate {
        let is_new = self.open.is_none();
        let open = self.open(out);
        open.draft.set(message);
        open.is_behind = false;
        let identity = MessageIdentity::of(message);
        let before = std::mem::replace(&mut open.identity, identity.clone());
        let known = open.known.clone();
        self.messages.rename(&before, identity, &known);
        let is_entry = self.emit(message, &known, true, out);
        if is_entry && is_new {
            Fate::Shown
        } else {
            Fate::Merged
        }
    }

    /// Adds a part to the message; the event may also have the whole message so far.
    fn append(&mut self, event: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        if let Some(partial) = as_message(event.get("partial")) {
            return Some(self.update(partial, out));
        }
        let kind = event.kind();
        if matches!(kind, "start" | "done" | "error") {
            return self.open.is_some().then_some(Fate::Merged);
        }
        if !draft::is_part(kind) || !(event.has("contentIndex") || event.has("delta")) {
            return None;
        }
        let is_new = self.open.is_none();
        let open = self.open(out);
        open.draft.grow(event);
        open.is_behind = true;
        Some(if is_new { Fate::Shown } else { Fate::Merged })
    }

    fn end(&mut self, message: &Json<'_>, out: &mut Batch) -> Fate {
        let identity = MessageIdentity::of(message);
        if self
            .open
            .as_ref()
            .is_some_and(|open| !open.identity.may_be(&identity))
        {
            self.close_open(out);
        }
        let is_new = self.open.is_none();
        let (before, known) = match self.open.take() {
            Some(open) => (open.identity, open.known),
            None => match self.messages.same(message) {
                Some(known) => (identity.clone(), known),
                None => (MessageIdentity::default(), EmittedMessage::at(out, 0)),
            },
        };
        let is_new = is_new && !self.messages.has(&identity, &known);
        self.messages.rename(&before, identity, &known);
        self.messages.complete(message, &known);
        let is_entry = self.emit(message, &known, false, out);
        if is_entry && is_new {
            Fate::Shown
        } else {
            Fate::Merged
        }
    }

    /// Handles `done` or `error`, which have the whole message, or from a proxy only its outcome.
    fn close(&mut self, message: &Json<'_>, json: &Json<'_>, out: &mut Batch) -> Option<Fate> {
        if let Some(message) = as_message(message) {
            return Some(self.end(message, out));
        }
        let open = self.open.as_mut().filter(|_| json.has("reason"))?;
        open.draft.end(json);
        open.is_behind = true;
        self.emit_draft(false, out);
        self.unnamed = self.open.take().map(|open| open.known);
        Some(Fate::Merged)
    }

    /// Emits a message whose deltas no line repeats. Its bodies are not numbered among those of the
    /// current record.
    fn emit_draft(&mut self, is_open: bool, out: &mut Batch) {
        let Some(open) = self.open.as_mut().filter(|open| open.is_behind) else {
            return;
        };
        open.is_behind = false;
        let (source, known) = (open.draft.source(), open.known.clone());
        let Ok(message) = json::parse(&source) else {
            return;
        };
        let mut aside = Batch::default();
        aside.begin_record(out.origin());
        if let Decoded::Entry(mut entry) = self.read(&message, &known, &mut aside) {
            draft::texts_into_stubs(&mut entry);
            self.emit_entry(entry, &known, true, out);
        }
        if !is_open {
            self.growing.close(out);
        }
    }

    /// Emits a message as far as it is written. Returns whether it is an entry.
    fn emit(
        &mut self,
        message: &Json<'_>,
        known: &EmittedMessage,
        is_open: bool,
        out: &mut Batch,
    ) -> bool {
        match self.read(message, known, out) {
            Decoded::Entry(entry) => {
                self.emit_entry(entry, known, is_open, out);
                true
            }
            Decoded::Result {
                call,
                mut result,
                child,
                usage,
                inner,
            } => {
                // The execution of the tool may have emitted the same result before.
                result.key = result_key(&call);
                result.duration_ms = result
                    .duration_ms
                    .or_else(|| self.executions.duration(&call));
                self.executions.record_result(&call, &result);
                if !is_open {
                    self.messages.result(call.clone());
                    if let Some(usage) = usage {
                        out.usage(result.key.clone(), usage, None);
                    }
                    if let Some(name) = child {
                        out.lane(name, None, Some(call.clone()));
                    }
                    out.edits.extend(inner);
                }
                out.result(call, result, None);
                false
            }
        }
    }

    fn emit_entry(
        &mut self,
        mut entry: Box<Entry>,
        known: &EmittedMessage,
        is_open: bool,
        out: &mut Batch,
    ) {
        entry.marks.open = is_open;
        entry.origin = known.first;
        let rest = self
            .executions
            .claim(&mut entry, known.first == out.origin());
        message::title(&entry, out);
        self.growing.emit(entry, out);
        if let Some(entry) = rest.entry {
            self.growing.emit(entry, out);
        }
        out.edits.extend(rest.emptied_entry.map(Edit::Retire));
        let results = rest.results.into_iter();
        out.edits.extend(results.map(|(call, result)| Edit::Result {
            call,
            result,
            lane: None,
        }));
    }

    fn read(&self, message: &Json<'_>, known: &EmittedMessage, out: &mut Batch) -> Decoded {
        let at = message.get("timestamp").moment();
        let line = MessageLine {
            key: known.key.clone(),
            parent: None,
            at,
            lane: None,
        };
        decode(&line, message, self.read_prompt, out)
    }

    // === executions of tools ===

    /// Emits a running tool with its output so far, if that is recorded.
    fn running(&mut self, json: &Json<'_>, so_far: &Json<'_>, out: &mut Batch) -> Fate {
        let call = call_key(json.get("toolCallId"));
        // The output is made in any case, so that bodies are numbered alike whether or not the call
        // was emitted before.
        let state = ToolState::running(execution::output(so_far, out));
        let made = block::execution(json, call.clone(), state.clone(), out);
        if json.kind() == "tool_execution_start" {
            self.executions
                .record_start(&call, json.get("timestamp").moment());
        }
        if self.executions.is_in_message(&call) {
            self.executions.record_state(&call, &state);
            out.state(call, state);
            return Fate::Merged;
        }
        let at = json.get("timestamp").moment();
        let (entry, is_new) = self.executions.add_unclaimed(made, at, out);
        self.growing.emit(entry, out);
        if is_new { Fate::Shown } else { Fate::Merged }
    }

    fn ended(&mut self, json: &Json<'_>, out: &mut Batch) -> Fate {
        let call = call_key(json.get("toolCallId"));
        let mut result = execution::result(json, &call, out);
        result.duration_ms = self
            .executions
            .record_end(&call, result.at, result.duration_ms);
        let fate = self.running(json, &Json::Null, out);
        if !self.messages.has_result(&call) {
            self.executions.record_result(&call, &result);
            out.result(call, result, None);
        }
        fate
    }

    // === ends of turns and runs ===

    /// Emits the messages of a summary that no other line had.
    fn reconcile<'j, 'a: 'j>(
        &mut self,
        messages: impl Iterator<Item = &'j Json<'a>>,
        out: &mut Batch,
    ) -> Fate {
        let mut list = IdentityCounts::default();
        let mut has_shown = false;
        for (number, message) in messages.filter(|message| message.has("role")).enumerate() {
            let identity = MessageIdentity::of(message);
            let is_open = self
                .open
                .as_ref()
                .is_some_and(|open| open.identity.may_be(&identity));
            if is_open && message.get("role").is("assistant") {
                self.end(message, out);
                list.count(&identity);
                continue;
            }
            match self.messages.next_in(&mut list, &identity) {
                Some(known) if known.is_whole => self.skip_emitted(message, &known, out),
                Some(known) => drop(self.emit(message, &known, false, out)),
                None => {
                    let is_answer = message.get("role").is("assistant");
                    let unnamed = self.unnamed.take_if(|_| is_answer);
                    let is_new = unnamed.is_none();
                    let known = unnamed.unwrap_or_else(|| EmittedMessage::at(out, number));
                    self.messages
                        .rename(&MessageIdentity::default(), identity, &known);
                    self.messages.complete(message, &known);
                    has_shown |= self.emit(message, &known, false, out) && is_new;
                }
            }
        }
        self.flush(out);
        self.executions.end_turn();
        if has_shown { Fate::Shown } else { Fate::Merged }
    }

    /// Decodes a message that was already emitted, since the bodies of the record are numbered in
    /// order.
    fn skip_emitted(&mut self, message: &Json<'_>, known: &EmittedMessage, out: &mut Batch) {
        let (notices, unknown) = (out.notices.len(), out.tally.unknown.clone());
        drop(self.read(message, known, out));
        out.notices.truncate(notices);
        out.tally.unknown = unknown;
    }
}

/// The message, if the value is one.
fn as_message<'j, 'a>(message: &'j Json<'a>) -> Option<&'j Json<'a>> {
    message.has("role").then_some(message)
}

impl EmittedMessage {
    /// A message that the record mentions first; `number` is its index within the record.
    fn at(out: &Batch, number: usize) -> Self {
        let place = out.origin_key();
        let key: Key = match number {
            0 => text!("message{place}"),
            _ => text!("message{place}#{number}"),
        };
        let first: Origin = out.origin();
        Self {
            key,
            first,
            is_whole: false,
        }
    }
}
