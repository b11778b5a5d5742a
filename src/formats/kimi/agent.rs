//! The state of one agent: its current step, its open calls, its lane and model.

use crate::formats::json::Json;

use crate::formats::waiting::UnansweredCalls;
use crate::model::body::Key;
use crate::model::edit::{Batch, MetaEdit};
use crate::model::entry::{BlockKind, Break, Entry, Role, Stop};
use crate::model::fingerprint::ByKey;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::usage::Usage;

/// The maximum length of a title made from a prompt, in characters.
const TITLE_CHARS: usize = 120;

#[derive(Debug, Default)]
pub(crate) struct Agent {
    /// The lane, if this is a sub-agent.
    pub(crate) lane: Option<Name>,
    pub(crate) model: Option<Name>,
    step: Option<AgentStep>,
    open: UnansweredCalls,
    known: ByKey<()>,
    has_prompt: bool,
}

#[derive(Clone, Debug)]
struct AgentStep {
    key: Key,
    is_new: bool,
    is_counted: bool,
}

impl AgentStep {
    /// A step that begins with this record. Its key differs from that of the record, which the rest
    /// of a damaged record gets.
    fn new(out: &Batch) -> Self {
        let key = out.key("step");
        Self {
            key,
            is_new: true,
            is_counted: false,
        }
    }
}

impl Agent {
    pub(crate) fn of_lane(lane: Name) -> Self {
        Self {
            lane: Some(lane),
            ..Self::default()
        }
    }

    /// Emits a fact of the session, unless this is a sub-agent.
    pub(crate) fn meta(&self, edit: MetaEdit, out: &mut Batch) {
        if self.lane.is_none() {
            out.meta(edit);
        }
    }

    pub(crate) fn set_model(&mut self, model: Option<Name>, out: &mut Batch) {
        if let Some(model) = model.filter(|model| self.model.as_ref() != Some(model)) {
            self.meta(MetaEdit::Model(model.clone()), out);
            self.model = Some(model);
        }
    }

    /// An entry without blocks, in the agent's lane.
    pub(crate) fn entry(&self, key: Key, role: Role, at: Option<Timestamp>, out: &Batch) -> Entry {
        let mut entry = out.new_entry(key, role, at);
        entry.lane.clone_from(&self.lane);
        entry
    }

    /// An entry for a prompt, without blocks. The first prompt is the title of the session.
    pub(crate) fn prompt(&mut self, words: &str, at: Option<Timestamp>, out: &mut Batch) -> Entry {
        self.step = None;
        if !self.has_prompt {
            self.has_prompt = true;
            self.meta(
                MetaEdit::Title {
                    rank: 0,
                    title: Text::stub(words, TITLE_CHARS),
                },
                out,
            );
        }
        let mut entry = self.entry(out.origin_key(), Role::User, at, out);
        entry.marks.prompt = true;
        entry
    }

    // === steps ===

    /// Begins a request. Its entry is made with the first part of the answer.
    pub(crate) fn begin_step(&mut self, out: &Batch) {
        self.step = Some(AgentStep::new(out));
    }

    /// An entry for a part of the current step, and whether the step's entry is new.
    pub(crate) fn answer(&mut self, at: Option<Timestamp>, out: &Batch) -> (Entry, Fate) {
        let step = self.step.get_or_insert_with(|| AgentStep::new(out));
        let fate = if std::mem::take(&mut step.is_new) {
            Fate::Shown
        } else {
            Fate::Merged
        };
        let key = step.key.clone();
        (self.part(key, at, out), fate)
    }

    /// An entry for a part of an answer.
    pub(crate) fn part(&self, key: Key, at: Option<Timestamp>, out: &Batch) -> Entry {
        let mut entry = self.entry(key, Role::Assistant, at, out);
        entry.model.clone_from(&self.model);
        entry.ended = at;
        entry
    }

    /// Ends the answer of the step. An empty answer is emitted as well, to show why it ended.
    pub(crate) fn stop(&mut self, stop: Stop, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        if self.step.is_none() {
            return Fate::Merged;
        }
        let (mut entry, fate) = self.answer(at, out);
        if fate == Fate::Merged {
            entry.ended = None;
        }
        entry.stop = stop;
        out.entry(entry);
        fate
    }

    /// Adds usage to the step. If the step already has usage, it is emitted separately.
    pub(crate) fn add_usage(
        &mut self,
        usage: Usage,
        model: Option<Name>,
        is_of_step: bool,
        out: &mut Batch,
    ) {
        let step = self
            .step
            .as_mut()
            .filter(|step| is_of_step && !step.is_counted);
        let of = step.map_or_else(
            || out.origin_key(),
            |step| {
                step.is_counted = true;
                step.key.clone()
            },
        );
        let model = model.or_else(|| self.model.clone());
        out.usage(of, usage, model);
    }

    // === calls ===

    /// A call with its id, which waits for its result.
    pub(crate) fn begin_call(
        &mut self,
        id: &str,
        call: ToolCall,
        started: Option<Timestamp>,
    ) -> ToolCall {
        let key = Text::clean(id);
        if self.known.insert(&key, ()).is_none() {
            self.open.push(key.clone());
        }
        ToolCall {
            key,
            started,
            ..call
        }
    }

    /// Closes a call that has its result. Returns whether the call is known.
    pub(crate) fn end_call(&mut self, id: &Key) -> bool {
        self.open.remove(id);
        self.known.contains(id)
    }

    /// Marks all calls without results as lost.
    pub(crate) fn mark_lost(&mut self, out: &mut Batch) {
        for call in std::mem::take(&mut self.open) {
            out.state(call, ToolState::Lost);
        }
    }

    // === messages of the program ===

    pub(crate) fn line(&self, what: Break, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        self.block(what.into(), false, at, out)
    }

    /// Emits a separator that a later record may replace, such as a question and its answer.
    pub(crate) fn line_of(
        &self,
        key: Key,
        what: Break,
        (at, ended): (Option<Timestamp>, Option<Timestamp>),
        out: &mut Batch,
    ) {
        let mut entry = self.entry(key, Role::Harness, at, out);
        entry.ended = ended;
        entry.push(what);
        out.entry(entry);
    }

    /// Emits a separator as a trace.
    pub(crate) fn trace(&self, what: Break, at: Option<Timestamp>, out: &mut Batch) -> Fate {
        self.block(what.into(), true, at, out)
    }

    /// Emits a value as a trace.
    pub(crate) fn tree(
        &self,
        title: &str,
        json: &Json<'_>,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> Fate {
        let tree = json.to_block(title, out);
        self.block(tree, true, at, out)
    }

    /// Emits a text of the program with a title.
    pub(crate) fn text(
        &self,
        (title, text): (&str, &str),
        is_quiet: bool,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> Fate {
        let body = out.output(text);
        let mut entry = self.entry(out.origin_key(), Role::Harness, at, out);
        entry.marks.quiet = is_quiet;
        entry.push(BlockKind::raw(title, body));
        out.show(entry)
    }

    fn block(
        &self,
        kind: BlockKind,
        is_trace: bool,
        at: Option<Timestamp>,
        out: &mut Batch,
    ) -> Fate {
        let mut entry = self.entry(out.origin_key(), Role::Harness, at, out);
        (entry.marks.quiet, entry.marks.trace) = (is_trace, is_trace);
        entry.push(kind);
        out.show(entry)
    }
}
