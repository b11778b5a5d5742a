//! What earlier lines of a thread said: which request goes on, what waits for its twin, what the turns hold.
//!
//! **Items of one request are one entry.** A request ends where its results begin, or where the user speaks; the count
//! of tokens that comes with it may stand before, among or behind its items. One that comes before any is kept for the
//! next entry, which takes its name.

use super::agents::Agents;
use super::deeds::{Deeds, Outcome};
use super::line::Line;
use super::replay::Replay;
use super::twins::{Print, Twins};
use super::usage::{Counter, Counts, Responses};
use crate::formats::turns::Turns;
use crate::formats::unknown::{self, Kind};
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::{Block, BlockKind, Break, Entry, Piece, Raw, Role, Sent, Stop};
use crate::model::tally::Fate;
use crate::model::tally::unknown::Judged;
use crate::model::text::{Name, Text};
use crate::model::usage::Usage;

/// Characters of a title that is made from a prompt.
const TITLE_CHARS: usize = 120;

/// The memory of one thread.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    /// The sub-agent, if the thread is not the session's own.
    pub(crate) lane: Option<Name>,
    /// Its id.
    pub(crate) id: Option<Text>,
    /// The model that answers.
    pub(crate) model: Option<Name>,
    /// Who runs the model, if it is not OpenAI.
    pub(crate) provider: Option<Text>,
    /// Inherited records.
    pub(crate) replay: Replay,
    /// Tokens.
    pub(crate) counter: Counter,
    /// Responses by their ids.
    pub(crate) responses: Responses,
    /// On which terms it is served.
    pub(crate) terms: Vec<Name>,
    /// Calls.
    pub(crate) deeds: Deeds,
    /// The sub-agents that it spawned.
    pub(crate) agents: Agents,
    /// Texts that are written twice.
    pub(crate) twins: Twins,
    /// The line of the last compaction, until somebody speaks.
    pub(crate) compaction: Option<Key>,
    /// The model's last words.
    pub(crate) said: Option<Print>,
    /// How the last turn ran.
    pub(crate) setup: String,
    request: Option<Request>,
    next_key: Option<Key>,
    turns: Turns,
    has_prompt: bool,
    /// The last turn has ended, and nothing was asked since.
    is_over: bool,
}

#[derive(Clone, Debug)]
struct Request {
    key: Key,
    is_open: bool,
    is_counted: bool,
}

impl Thread {
    /// The thread of a sub-agent.
    pub(crate) fn of_lane(lane: Name) -> Self {
        Self {
            lane: Some(lane),
            ..Self::default()
        }
    }

    /// A fact about the session: a sub-agent's are not the session's.
    pub(crate) fn meta(&self, edit: MetaEdit, out: &mut Batch) {
        if self.lane.is_none() {
            out.meta(edit);
        }
    }

    /// The name of a model with that of who runs it: it has another price there, or none.
    pub(crate) fn named(&self, model: Text) -> Name {
        match self.provider.as_ref().filter(|_| !model.contains('/')) {
            Some(provider) => Text::clean(&format!("{provider}/{model}")),
            None => model,
        }
    }

    /// An entry for a line, without blocks.
    pub(crate) fn entry(&self, line: &Line<'_>, key: Key, role: Role, out: &Batch) -> Entry {
        let mut entry = out.new_entry(key, role, line.at);
        entry.lane.clone_from(&self.lane);
        let is_copy = self.replay.is_on();
        (entry.marks.copy, entry.marks.quiet, entry.marks.trace) = (is_copy, is_copy, is_copy);
        entry
    }

    /// Tells a call what came of it. What a process came to after its turn is no part of the turn's time.
    pub(crate) fn result(&mut self, call: Key, mut outcome: Outcome, out: &mut Batch) {
        outcome.at = outcome.at.filter(|_| !self.is_over);
        let result = Box::new(self.deeds.join(&call, outcome, self.lane.as_ref()));
        out.result(call, result, self.lane.clone());
    }

    /// The entry of something that the program did: a part of the answer that goes on; behind the end of a turn nobody
    /// waits for an answer, and its time is none of the turn's.
    pub(crate) fn deed(&mut self, line: &Line<'_>, out: &Batch) -> Entry {
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

    /// Emits an entry, or a part of one. What the model says below an entry that is seen is not said above it.
    pub(crate) fn emit(&mut self, entry: Entry, out: &mut Batch) -> Fate {
        if entry.role != Role::Assistant && !entry.marks.trace {
            self.close_request();
        }
        let is_known = self.turns.push(&entry);
        out.entry(entry);
        if is_known { Fate::Merged } else { Fate::Shown }
    }

    /// Emits an entry that stands beside the conversation: no request ends with it.
    pub(crate) fn add_beside(&mut self, entry: Entry, out: &mut Batch) {
        self.turns.push(&entry);
        out.entry(entry);
    }

    /// A record of a kind, in its class, that is not known.
    pub(crate) fn unknown(
        &mut self,
        line: &Line<'_>,
        (class, kind): (&'static str, &str),
        out: &mut Batch,
    ) -> Fate {
        let entry = self.entry(line, out.origin_key(), Role::Harness, out);
        let from = out.edits.len();
        let fate = unknown::record(Kind(class, kind), line.input.json, entry, out);
        self.note(out.edits.get(from..).unwrap_or_default());
        fate
    }

    /// Notes entries that were made elsewhere, so that they are taken back with their turn.
    pub(crate) fn note(&mut self, edits: &[Edit]) {
        for edit in edits {
            if let Edit::Entry(entry) = edit {
                self.turns.push(entry);
            }
        }
    }

    /// What was inherited has ended: nothing of it goes on.
    pub(crate) fn begin_own(&mut self) {
        self.request = None;
        self.next_key = None;
        self.twins = Twins::default();
    }

    /// The user asks for something.
    pub(crate) fn begin_turn(&mut self, words: &str, out: &mut Batch) {
        self.request = None;
        self.next_key = None;
        self.compaction = None;
        self.is_over = false;
        self.turns.begin();
        if !self.has_prompt && !self.replay.is_on() {
            self.has_prompt = true;
            self.meta(
                MetaEdit::Title {
                    rank: 0,
                    title: Text::stub(words, TITLE_CHARS),
                },
                out,
            );
        }
    }

    /// The last turns were taken back: says so of their entries.
    pub(crate) fn take_back(&mut self, turns: u64, out: &mut Batch) {
        self.turns.undo_last(turns, self.lane.as_ref(), out);
        self.request = None;
    }

    // === requests ===

    /// The entry of the request that goes on, or of the next one.
    pub(crate) fn answer(&mut self, line: &Line<'_>, out: &Batch) -> Entry {
        self.compaction = None;
        self.is_over = false;
        let open = self.request.take().filter(|request| request.is_open);
        let request = open.unwrap_or_else(|| match self.next_key.take() {
            Some(key) => Request {
                key,
                is_open: true,
                is_counted: true,
            },
            None => Request {
                key: self.answer_key(line, out),
                is_open: true,
                is_counted: false,
            },
        });
        let entry = self.part_of(line, request.key.clone(), out);
        self.request = Some(request);
        entry
    }

    /// A part of an answer that is there: that of the request which goes on, if it is the last one.
    pub(crate) fn part(&mut self, line: &Line<'_>, key: &Key, out: &Batch) -> Entry {
        if let Some(request) = self.request.as_mut().filter(|request| request.key == *key) {
            request.is_open = true;
        }
        self.part_of(line, key.clone(), out)
    }

    fn part_of(&self, line: &Line<'_>, key: Key, out: &Batch) -> Entry {
        let mut entry = self.entry(line, key, Role::Assistant, out);
        entry.model.clone_from(&self.model);
        entry.ended = line.at;
        entry
    }

    /// The name of an answer. A record with a number has it in each file that goes on from its own, so that requests
    /// of theirs are known to be one; numbers were given twice by mistake, so its place counts as well.
    fn answer_key(&self, line: &Line<'_>, out: &Batch) -> Key {
        match (line.ordinal, &self.id) {
            (Some(ordinal), Some(id)) => {
                Text::clean(&format!("{id}/{ordinal}@{}:answer", out.origin().at))
            }
            _ => key_of("answer", out),
        }
    }

    /// A result came: what the model says next is said in another request.
    pub(crate) fn close_request(&mut self) {
        if let Some(request) = &mut self.request {
            request.is_open = false;
        }
    }

    /// Whether nobody works on what was asked.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Nobody works on what was asked any more.
    pub(crate) fn stop_turn(&mut self) {
        self.is_over = true;
    }

    /// The model had said all.
    pub(crate) fn end_turn(&mut self, line: &Line<'_>, out: &mut Batch) {
        self.stop_turn();
        if let Some(key) = self.request.take().map(|request| request.key) {
            let mut entry = self.part_of(line, key, out);
            entry.ended = None;
            entry.stop = Stop::Done;
            out.entry(entry);
        }
    }

    /// Tokens that were spent since the last count.
    pub(crate) fn spend(&mut self, counts: Counts, line: &Line<'_>, out: &mut Batch) {
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
        self.responses.note(counts, of.clone());
        self.push_usage(of, counts, out);
    }

    /// Tokens that a record tells of a response, and no count so far: those of the request that goes on, or of one that
    /// nothing else tells of.
    pub(crate) fn spend_response(&mut self, id: &Text, counts: Counts, out: &mut Batch) {
        let of = if let Some(request) = self.request.as_mut().filter(|request| !request.is_counted)
        {
            request.is_counted = true;
            request.key.clone()
        } else {
            let thread = self.id.clone().unwrap_or_else(|| out.origin_key());
            Text::clean(&format!("{thread}:{id}"))
        };
        self.push_usage(of, counts, out);
    }

    /// What carries this took so much.
    pub(crate) fn push_usage(&self, of: Key, counts: Counts, out: &mut Batch) {
        let usage = Usage {
            terms: self.terms.clone(),
            ..counts.usage()
        };
        out.usage(of, usage, self.model.clone());
    }

    // === what the program says ===

    /// A line across.
    pub(crate) fn line(&mut self, line: &Line<'_>, what: Break, out: &mut Batch) -> Fate {
        self.block(line, BlockKind::Break(what), false, out)
    }

    /// A small fact that leaves no row below level 4.
    pub(crate) fn trace(&mut self, line: &Line<'_>, what: &str, out: &mut Batch) -> Fate {
        self.block(line, BlockKind::Break(Break::setting(what)), true, out)
    }

    /// A record that says nothing new: one row at level 4 with its text.
    pub(crate) fn aside(
        &mut self,
        line: &Line<'_>,
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

    /// A value of the program that leaves no row below level 4.
    pub(crate) fn tree(&mut self, line: &Line<'_>, title: &str, out: &mut Batch) -> Fate {
        let title = Text::clean(title);
        let payload = line.payload;
        let body = payload.to_body(&title, out);
        self.block(line, BlockKind::Raw(Raw { title, body }), true, out)
    }

    /// A text of the program under a title.
    pub(crate) fn text(
        &mut self,
        line: &Line<'_>,
        (title, text): (&str, &str),
        is_quiet: bool,
        out: &mut Batch,
    ) -> Fate {
        let mut entry = self.noted(line, (title, text), out);
        entry.marks.quiet |= is_quiet;
        self.emit(entry, out)
    }

    /// An entry that holds a text of the program under a title.
    pub(crate) fn noted(
        &self,
        line: &Line<'_>,
        (title, text): (&str, &str),
        out: &mut Batch,
    ) -> Entry {
        let body = out.output(text.trim());
        let raw = BlockKind::raw(title, body);
        let mut entry = self.entry(line, out.origin_key(), Role::Harness, out);
        entry.push(raw);
        entry
    }

    fn block(&mut self, line: &Line<'_>, kind: BlockKind, is_trace: bool, out: &mut Batch) -> Fate {
        let mut entry = self.entry(line, out.origin_key(), Role::Harness, out);
        entry.marks.quiet |= is_trace;
        entry.marks.trace |= is_trace;
        entry.push(kind);
        self.emit(entry, out)
    }
}

/// A name for an entry that several records bring: what is left of a broken one has the record's own.
pub(crate) fn key_of(what: &str, out: &Batch) -> Key {
    Text::clean(&format!("{}:{what}", out.origin_key()))
}

/// The piece that a record brings to its entry.
pub(crate) fn piece(out: &Batch) -> Piece {
    Piece::of(&out.origin_key())
}

/// A text that the program put before the model.
pub(crate) fn context_block(piece: Piece, title: &str, text: &str, out: &mut Batch) -> Block {
    let body = out.output(text);
    let raw = BlockKind::raw(title, body);
    Block {
        sent: Sent::Whole,
        ..Block::new(piece, raw)
    }
}
