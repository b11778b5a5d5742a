//! The state of a thread across its lines: the current request, texts that wait for their twins,
//! the entries of each turn.
//!
//! **Items of one request form one entry.** A request ends where its results begin, or at the next
//! prompt; its token count may come before, among or after its items. A count that comes before any
//! item is kept for the next entry, which gets the key of the count.

use super::agents::Agents;
use super::line::RolloutLine;
use super::repeated_texts::{RepeatedTexts, TextHash};
use super::replay::CopyDetector;
use super::thread_calls::{ResultPart, ThreadCalls};
use super::usage::{Counter, Responses, RolloutCounts};
use crate::formats::turns::TurnEntries;
use crate::formats::unknown::{self, NamedKind};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Piece, Raw, Role, Sent, Stop};
use crate::model::tally::Fate;
use crate::model::tally::unknown::Judged;
use crate::model::text::{Name, Text, text};
use crate::model::tool::{ToolCall, ended};
use crate::model::usage::Usage;

/// Length limit of a title made from a prompt, in characters.
const TITLE_CHARS: usize = 120;

/// The state of one thread.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// The lane of the sub-agent, unless the thread is the session's own.
    pub(crate) lane: Option<Name>,
    pub(crate) id: Option<Text>,
    pub(crate) model: Option<Name>,
    /// The provider of the model, if it is not OpenAI.
    pub(crate) provider: Option<Text>,
    /// Inherited records.
    pub(crate) replay: CopyDetector,
    pub(crate) counter: Counter,
    pub(crate) responses: Responses,
    /// The terms of requests, such as the service tier.
    pub(crate) terms: Vec<Name>,
    pub(crate) calls: ThreadCalls,
    /// The sub-agents that it spawned.
    pub(crate) agents: Agents,
    /// Texts that are written twice.
    pub(crate) repeated_texts: RepeatedTexts,
    /// The key of the last compaction, until the next message.
    pub(crate) compaction: Option<Key>,
    /// The hash of the model's last message.
    pub(crate) last_message_hash: Option<TextHash>,
    /// The settings of the last turn.
    pub(crate) setup: String,
    request: Option<ThreadRequest>,
    next_key: Option<Key>,
    turns: TurnEntries,
    has_prompt: bool,
    /// Whether the last turn has ended, without a prompt since.
    pub(crate) is_over: bool,
}

#[derive(Clone, Debug)]
struct ThreadRequest {
    key: Key,
    is_open: bool,
    is_counted: bool,
}

impl Thread {
    /// Creates the thread of a sub-agent.
    pub(crate) fn of_lane(lane: Name) -> Self {
        Self {
            lane: Some(lane),
            ..Self::default()
        }
    }

    /// Emits a fact about the session, but not for a sub-agent.
    pub(crate) fn meta(&self, edit: MetaEdit, out: &mut Batch) {
        if self.lane.is_none() {
            out.meta(edit);
        }
    }

    pub(crate) fn fact(&self, name: &'static str, value: Option<Text>, out: &mut Batch) {
        if let Some(value) = value {
            self.meta(MetaEdit::Fact { name, value }, out);
        }
    }

    /// Prefixes the name of a model with that of its provider, which has another price or none.
    pub(crate) fn with_provider(&self, model: Text) -> Name {
        match self.provider.as_ref().filter(|_| !model.contains('/')) {
            Some(provider) => text!("{provider}/{model}"),
            None => model,
        }
    }

    /// Creates an entry without blocks for a line.
    pub(crate) fn entry(&self, line: &RolloutLine<'_>, key: Key, role: Role, out: &Batch) -> Entry {
        let mut entry = out.new_entry(key, role, line.at);
        entry.lane.clone_from(&self.lane);
        let is_copy = self.replay.is_active();
        (entry.marks.copy, entry.marks.quiet, entry.marks.trace) = (is_copy, is_copy, is_copy);
        entry
    }

    /// Adds an outcome to the result of a call. What a process outputs after its turn does not
    /// count as time of the turn.
    pub(crate) fn result(&mut self, call: Key, mut outcome: ResultPart, out: &mut Batch) {
        outcome.at = outcome.at.filter(|_| !self.is_over);
        let result = Box::new(self.calls.join(&call, outcome, self.lane.as_ref()));
        out.result(call, result, self.lane.clone());
    }

    /// Creates the entry of an action of the program: a part of the current answer; after the end
    /// of a turn it is a separate one without times, so that it does not count as time of the turn.
    pub(crate) fn action_entry(&mut self, line: &RolloutLine<'_>, out: &Batch) -> Entry {
        if !self.is_over {
            return self.answer(line, out);
        }
        Entry {
            at: None,
            ended: None,
            stop: Stop::Done,
            ..self.part_of(line, self.answer_key(line, out), out)
        }
    }

    /// Shows a call that the program reports together with its outcome.
    pub(crate) fn show_call(
        &mut self,
        mut call: ToolCall,
        outcome: ResultPart,
        line: &RolloutLine<'_>,
        out: &mut Batch,
    ) -> Fate {
        self.calls.begin(&call.key, call.kind);
        let mut entry = self.action_entry(line, out);
        call.state = ended(self.calls.join(&call.key, outcome, self.lane.as_ref()));
        entry.push_piece(out.piece(), call);
        self.emit(entry, out)
    }

    /// Emits an entry, or a part of one. A visible entry that is not the model's ends the request,
    /// so that later output of the model appears below it.
    pub(crate) fn emit(&mut self, entry: Entry, out: &mut Batch) -> Fate {
        if entry.role != Role::Assistant && !entry.marks.trace {
            self.close_request();
        }
        let is_known = self.turns.push(&entry);
        out.entry(entry);
        if is_known { Fate::Merged } else { Fate::Shown }
    }

    /// Emits an entry beside the conversation: it does not end a request.
    pub(crate) fn emit_outside(&mut self, entry: Entry, out: &mut Batch) {
        self.turns.push(&entry);
        out.entry(entry);
    }

    /// Shows a record of an unknown kind in its class.
    pub(crate) fn unknown(
        &mut self,
        line: &RolloutLine<'_>,
        (class, kind): (&'static str, &str),
        out: &mut Batch,
    ) -> Fate {
        let entry = self.entry(line, out.origin_key(), Role::Harness, out);
        let from = out.edits.len();
        let fate = unknown::record(NamedKind(class, kind), line.input.json, entry, out);
        self.record(out.edits.get(from..).unwrap_or_default());
        fate
    }

    /// Records entries that were made elsewhere, so that they are undone with their turn.
    pub(crate) fn record(&mut self, edits: &[Edit]) {
        for edit in edits {
            if let Edit::Entry(entry) = edit {
                self.turns.push(entry);
            }
        }
    }

    /// Ends the inherited records: their request and texts do not continue.
    pub(crate) fn end_inherited(&mut self) {
        self.request = None;
        self.next_key = None;
        self.repeated_texts = RepeatedTexts::default();
    }

    /// Begins a turn with a prompt.
    pub(crate) fn begin_turn(&mut self, words: &str, out: &mut Batch) {
        self.request = None;
        self.next_key = None;
        self.compaction = None;
        self.is_over = false;
        self.turns.begin();
        if !self.has_prompt && !self.replay.is_active() {
            self.has_prompt = true;
            let title = Text::stub(words, TITLE_CHARS);
            self.meta(MetaEdit::Title { rank: 0, title }, out);
        }
    }

    /// Marks the entries of the last turns as undone.
    pub(crate) fn undo_turns(&mut self, turns: u64, out: &mut Batch) {
        self.turns.undo_last(turns, self.lane.as_ref(), out);
        self.request = None;
    }

    // === requests ===

    /// Creates a part of the entry of the current request, or of the next one.
    pub(crate) fn answer(&mut self, line: &RolloutLine<'_>, out: &Batch) -> Entry {
        self.compaction = None;
        self.is_over = false;
        let open = self.request.take().filter(|request| request.is_open);
        let request = open.unwrap_or_else(|| {
            let counted = self.next_key.take();
            ThreadRequest {
                is_open: true,
                is_counted: counted.is_some(),
                key: counted.unwrap_or_else(|| self.answer_key(line, out)),
            }
        });
        let entry = self.part_of(line, request.key.clone(), out);
        self.request = Some(request);
        entry
    }

    /// Creates a part of an existing answer, and reopens its request if that is the last one.
    pub(crate) fn part(&mut self, line: &RolloutLine<'_>, key: &Key, out: &Batch) -> Entry {
        if let Some(request) = self.request.as_mut().filter(|request| request.key == *key) {
            request.is_open = true;
        }
        self.part_of(line, key.clone(), out)
    }

    fn part_of(&self, line: &RolloutLine<'_>, key: Key, out: &Batch) -> Entry {
        let mut entry = self.entry(line, key, Role::Assistant, out);
        entry.model.clone_from(&self.model);
        entry.ended = line.at;
        entry
    }

    /// The key of an answer. A numbered record keeps its number in each file that continues from
    /// its own, so that their requests are identified; as numbers were assigned twice by mistake,
    /// the offset is part of the key too.
    fn answer_key(&self, line: &RolloutLine<'_>, out: &Batch) -> Key {
        match (line.ordinal, &self.id) {
            (Some(ordinal), Some(id)) => {
                text!("{id}/{ordinal}@{}:answer", out.origin().at)
            }
            _ => out.key("answer"),
        }
    }

    /// Closes the request at a result: further output of the model is of another request.
    pub(crate) fn close_request(&mut self) {
        if let Some(request) = &mut self.request {
            request.is_open = false;
        }
    }

    pub(crate) fn stop_turn(&mut self) {
        self.is_over = true;
    }

    /// Ends the turn, and marks the answer as complete.
    pub(crate) fn end_turn(&mut self, line: &RolloutLine<'_>, out: &mut Batch) {
        self.stop_turn();
        if let Some(key) = self.request.take().map(|request| request.key) {
            let mut entry = self.part_of(line, key, out);
            entry.ended = None;
            entry.stop = Stop::Done;
            out.entry(entry);
        }
    }

    /// Adds the tokens that were counted since the last count.
    pub(crate) fn add_usage(
        &mut self,
        counts: RolloutCounts,
        line: &RolloutLine<'_>,
        out: &mut Batch,
    ) {
        if self.responses.is_recorded(counts) {
            return;
        }
        let of = if let Some(request) = self.request.as_mut().filter(|request| !request.is_counted)
        {
            request.is_counted = true;
            request.key.clone()
        } else {
            self.close_request();
            let key = self.answer_key(line, out);
            self.next_key = Some(key.clone());
            key
        };
        self.responses.add(counts, of.clone());
        self.push_usage(of, counts, out);
    }

    /// Adds the recorded tokens of a response that was not counted yet: those of the current
    /// request, or of one without another record.
    pub(crate) fn add_response_usage(&mut self, id: &Text, counts: RolloutCounts, out: &mut Batch) {
        let of = if let Some(request) = self.request.as_mut().filter(|request| !request.is_counted)
        {
            request.is_counted = true;
            request.key.clone()
        } else {
            let thread = self.id.clone().unwrap_or_else(|| out.origin_key());
            text!("{thread}:{id}")
        };
        self.push_usage(of, counts, out);
    }

    /// Emits usage with this key.
    pub(crate) fn push_usage(&self, of: Key, counts: RolloutCounts, out: &mut Batch) {
        let usage = Usage {
            terms: self.terms.clone(),
            ..counts.usage()
        };
        out.usage(of, usage, self.model.clone());
    }

    // === what the program says ===

    /// Shows a break line.
    pub(crate) fn line(&mut self, line: &RolloutLine<'_>, what: Break, out: &mut Batch) -> Fate {
        self.block(line, BlockKind::Break(what), false, out)
    }

    /// Shows a fact as a trace: no row below level 4.
    pub(crate) fn trace(&mut self, line: &RolloutLine<'_>, what: &str, out: &mut Batch) -> Fate {
        self.block(line, BlockKind::Break(Break::setting(what)), true, out)
    }

    /// Shows a record without news as a trace with its text: one row at level 4.
    pub(crate) fn aside(
        &mut self,
        line: &RolloutLine<'_>,
        (title, text): (&str, &str),
        out: &mut Batch,
    ) -> Fate {
        let title = Text::clean(title);
        let body = out.output(text.trim());
        self.block(
            line,
            BlockKind::Aside(Judged::Trace, Raw { title, body }),
            true,
            out,
        )
    }

    /// Shows a value of the program as a trace: no row below level 4.
    pub(crate) fn tree(&mut self, line: &RolloutLine<'_>, title: &str, out: &mut Batch) -> Fate {
        let tree = line.payload.to_block(title, out);
        self.block(line, tree, true, out)
    }

    /// Shows a text by the program under a title.
    pub(crate) fn text(
        &mut self,
        line: &RolloutLine<'_>,
        (title, text): (&str, &str),
        is_quiet: bool,
        out: &mut Batch,
    ) -> Fate {
        let mut entry = self.titled_entry(line, (title, text), out);
        entry.marks.quiet |= is_quiet;
        self.emit(entry, out)
    }

    /// Creates an entry with a text by the program under a title.
    pub(crate) fn titled_entry(
        &self,
        line: &RolloutLine<'_>,
        (title, text): (&str, &str),
        out: &mut Batch,
    ) -> Entry {
        let body = out.output(text.trim());
        let raw = BlockKind::raw(title, body);
        let mut entry = self.entry(line, out.origin_key(), Role::Harness, out);
        entry.push(raw);
        entry
    }

    fn block(
        &mut self,
        line: &RolloutLine<'_>,
        kind: BlockKind,
        is_trace: bool,
        out: &mut Batch,
    ) -> Fate {
        let mut entry = self.entry(line, out.origin_key(), Role::Harness, out);
        entry.marks.quiet |= is_trace;
        entry.marks.trace |= is_trace;
        entry.push(kind);
        self.emit(entry, out)
    }
}

/// Creates a block with a text that the program sent to the model.
pub(crate) fn context_block(piece: Piece, title: &str, text: &str, out: &mut Batch) -> Block {
    let body = out.output(text);
    let raw = BlockKind::raw(title, body);
    Block {
        sent: Sent::Whole,
        ..Block::new(piece, raw)
    }
}
