//! Entries and their blocks: one message of a transcript, whatever agent wrote it.
//!
//! **Bookkeeping has its place, but no row below level 4.** Runs of hooks, snapshots and lists of tools are entries
//! like all others, so that no record is passed over; `model::entry::Marks::trace` keeps them out of the way of the
//! conversation.

use serde::{Deserialize, Serialize};

use super::body::{Body, Image, Key};
use super::figures;
use super::record::Origin;
use super::tally::unknown::Judged;
use super::text::{Name, Text};
use super::timestamp::Timestamp;
use super::tool::work::EndLine;
use super::tool::{ToolCall, ToolResult, ToolState};
use super::usage::Usage;
use sender::Sender;

pub mod details;
pub mod glance;
pub(crate) mod rewording;
pub mod sender;

/// An entry's number in its transcript; stays the same while the session is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub u32);

impl EntryId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One message of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Stable identity; the same key is the same entry.
    pub key: Key,
    /// Key of the entry that this one answers, as recorded.
    pub parent: Option<Key>,
    /// The sub-agent that it belongs to; `None` is the main lane.
    pub lane: Option<Name>,
    /// When it was written, or begun if it took a while.
    pub at: Option<Timestamp>,
    /// When it was complete, if that was later; see [`Entry::end`].
    pub ended: Option<Timestamp>,
    /// Who speaks.
    pub role: Role,
    /// Who that is by kind and name, if it stands where a prompt could and no human wrote it.
    pub from: Option<Box<Sender>>,
    /// The model that answered.
    pub model: Option<Name>,
    /// What it holds, in order.
    pub blocks: Vec<Block>,
    /// What it cost.
    pub usage: Option<Box<Usage>>,
    /// Why the answer ended, as the provider said.
    pub stop: Stop,
    /// The record that it first came from.
    pub origin: Origin,
    /// Further records of it for which no block stands: those around a step, and its own where its parts have records of
    /// their own.
    pub records: Vec<Origin>,
    /// Marks that matter for counting and for looks.
    pub marks: Marks,
    /// Rises with every change of content.
    pub revision: u32,
}

impl Entry {
    /// Whether it is nothing but thinking that nobody can read.
    pub(crate) fn is_redacted(&self) -> bool {
        !self.blocks.is_empty() && self.blocks.iter().all(|block| block.kind.is_redacted())
    }

    /// Whether a block of it is a failure, which is counted: a call that failed, or an error of the agent. A request that
    /// is made again has not failed so far, and what a copy tells stands elsewhere.
    pub fn has_failed(&self, block: &BlockKind) -> bool {
        match block {
            _ if self.marks.copy => false,
            BlockKind::Call(call) => matches!(call.state, ToolState::Failed(_)),
            BlockKind::Break(Break::Error(_)) => !self.marks.retried,
            _ => false,
        }
    }

    /// Appends a block of the entry's own piece.
    pub fn push(&mut self, kind: impl Into<BlockKind>) {
        self.push_piece(Piece(0), kind);
    }

    /// Appends a block of the piece that a record brought.
    pub fn push_piece(&mut self, piece: Piece, kind: impl Into<BlockKind>) {
        self.blocks.push(Block::new(piece, kind));
    }

    /// Which of the ends that it tells stand for a block: each notice tells one, and the last of them all that are left.
    pub(crate) fn ends_at<'e>(&self, ends: &'e [EndLine], block: usize) -> &'e [EndLine] {
        if ends.is_empty() || !matches!(self.role, Role::System | Role::Harness) {
            return &[];
        }
        let is_notice = |block: &Block| {
            let is_report = matches!(&block.kind, BlockKind::Aside(Judged::Text, _));
            is_report || matches!(&block.kind, BlockKind::Text(_) | BlockKind::Raw(_))
        };
        if !self.blocks.get(block).is_some_and(is_notice) {
            return &[];
        }
        let before = self.blocks.iter().take(block);
        let number = before.filter(|block| is_notice(block)).count();
        let is_last = !self.blocks.iter().skip(block + 1).any(is_notice);
        let end = if is_last {
            ends.len()
        } else {
            (number + 1).min(ends.len())
        };
        ends.get(number..end).unwrap_or_default()
    }

    /// Whether it says the same as another one, wherever in the file that stands.
    pub(crate) fn says_same(&self, other: &Self) -> bool {
        let head = |entry: &Self| (entry.at, entry.ended, entry.role, entry.marks);
        let names = |entry: &Self| {
            (
                entry.parent.clone(),
                entry.lane.clone(),
                entry.model.clone(),
            )
        };
        head(self) == head(other)
            && names(self) == names(other)
            && (&self.from, &self.stop, &self.usage) == (&other.from, &other.stop, &other.usage)
            && self.blocks == other.blocks
    }

    /// Whether its records and its bodies lie where those of another one lie.
    pub(crate) fn stands_as(&self, other: &Self) -> bool {
        let bodies = |entry: &Self| -> Vec<(Origin, u16)> {
            let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
            bodies.map(|body| (body.from, body.slot)).collect()
        };
        self.origin == other.origin
            && self.records == other.records
            && bodies(self) == bodies(other)
    }

    /// The record that brought a block; that of the entry where a block has none of its own.
    pub(crate) fn origin_of(&self, block: &Block) -> Origin {
        match &block.kind {
            BlockKind::Text(body) | BlockKind::Thinking(body) => body.from,
            BlockKind::Call(call) => call.input.from,
            BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => raw.body.from,
            BlockKind::Result(_) | BlockKind::Image(_) | BlockKind::Break(_) => self.origin,
        }
    }

    /// Who speaks, in a word for the reader.
    pub(crate) fn speaker(&self) -> &str {
        self.from
            .as_deref()
            .map_or(self.role.speaker(), Sender::word)
    }

    /// Whether all of it stands beside the conversation: it is no message, and no figure depends on it.
    pub(crate) fn is_beside(&self) -> bool {
        self.role == Role::Harness
            && !self.blocks.is_empty()
            && self
                .blocks
                .iter()
                .all(|block| matches!(block.kind, BlockKind::Aside(..)))
    }

    /// An entry that holds nothing else than what is not understood, or stands beside the conversation, is as loud as that.
    pub(crate) fn mark_by_asides(&mut self) {
        let judged = self.blocks.iter().map(|block| match &block.kind {
            BlockKind::Aside(judged, _) => Some(*judged),
            _ => None,
        });
        if let Some(loudest) = judged
            .collect::<Option<Vec<_>>>()
            .and_then(|all| all.into_iter().max())
        {
            self.marks.quiet |= loudest != Judged::Loud;
            self.marks.trace |= loudest == Judged::Trace;
        }
    }

    /// Whether it says something itself: results alone are a part of other entries.
    pub(crate) fn is_message(&self) -> bool {
        let says = |block: &Block| match block.kind {
            BlockKind::Result(_) => false,
            BlockKind::Aside(..) => self.role == Role::Assistant,
            _ => true,
        };
        self.blocks.is_empty() || self.blocks.iter().any(says)
    }

    /// Whether a block of it is of a kind.
    pub(crate) fn has(&self, is_it: impl Fn(&BlockKind) -> bool) -> bool {
        self.blocks.iter().any(|block| is_it(&block.kind))
    }

    /// The call in a block.
    pub(crate) fn call(&self, block: usize) -> Option<&ToolCall> {
        self.blocks.get(block)?.call()
    }

    /// Whether the history before it was replaced by a summary. Dropping only old outputs of tools is something else.
    pub(crate) fn is_compaction(&self) -> bool {
        self.has(BlockKind::is_compaction)
    }

    /// When it was complete, as far as anybody tells.
    pub(crate) fn end(&self) -> Option<Timestamp> {
        self.ended.or(self.at)
    }

    /// Notes when it was complete. Of several times the last one counts, and none that `at` tells already.
    pub(super) fn end_at(&mut self, ended: Option<Timestamp>) {
        self.ended = self.ended.max(ended).filter(|ended| Some(*ended) > self.at);
    }

    /// When a call of it was made at the earliest, if the call does not tell: once it was complete, unless the result
    /// is no later than that.
    pub(crate) fn said(&self, call: &ToolCall) -> Option<Timestamp> {
        let answered = call.state.result().and_then(|result| result.at);
        self.ended
            .filter(|ended| answered.is_some_and(|at| *ended < at))
            .or(self.at)
    }

    /// Its calls.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(Block::call)
    }

    /// Its calls with the places of their blocks.
    pub(crate) fn numbered_calls(&self) -> impl DoubleEndedIterator<Item = (usize, &ToolCall)> {
        let blocks = self.blocks.iter().enumerate();
        blocks.filter_map(|(block, one)| Some((block, one.call()?)))
    }

    /// Its calls, to be changed.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut ToolCall> {
        self.blocks.iter_mut().filter_map(Block::call_mut)
    }

    /// All times that it tells, results of its calls included.
    pub(crate) fn times(&self) -> impl Iterator<Item = Timestamp> {
        let results = self.calls().filter_map(|call| call.state.result()?.at);
        results.chain(self.at).chain(self.ended)
    }

    /// The last of them.
    pub(crate) fn last_time(&self) -> Option<Timestamp> {
        self.times().max()
    }
}

/// Facts about an entry that are true or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// A prompt of a human or a calling agent that starts work: it opens a turn.
    pub prompt: bool,
    /// Noise that is folded away below detail level 4 (injected context, snapshots, hook output).
    pub quiet: bool,
    /// Bookkeeping that leaves no row below detail level 4 (runs of hooks, snapshots of files for undo).
    pub trace: bool,
    /// A copy of another entry (a delivery mirror, replayed history): shown dim.
    pub copy: bool,
    /// Still being written.
    pub open: bool,
    /// The agent says the model no longer sees it (undone, cut off by a rewind).
    pub undone: bool,
    /// The agent says that the request which failed here is made again.
    pub retried: bool,
    /// The agent leaves it out of what it sends to the model: its own state, an answer that failed.
    pub unsent: bool,
    /// The first that tells the model how work in the background ended, or the only one: it has a row, whatever else
    /// it is.
    pub reports: bool,
    /// It tells again what another one told: no row below detail level 4.
    pub again: bool,
}

impl Marks {
    /// Whether it has no row below detail level 4.
    pub(crate) fn is_hidden(self) -> bool {
        self.again || (self.trace && !self.reports)
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stop {
    /// Nobody says.
    #[default]
    Unrecorded,
    /// The model had said all: `end_turn`, `stop`.
    Done,
    /// For the results of its calls: `tool_use`, `toolUse`, `tool-calls`.
    Calls,
    /// For something else: a limit, an error, the user.
    Other,
}

impl Stop {
    /// The provider's word, whichever provider it is.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "" | "unknown" => Self::Unrecorded,
            "end_turn" | "stop" | "endTurn" | "completed" | "STOP" => Self::Done,
            "tool_use" | "toolUse" | "tool_calls" | "tool-calls" | "function_call" => Self::Calls,
            _ => Self::Other,
        }
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A human or the calling agent.
    User,
    /// The model.
    Assistant,
    /// The system prompt.
    System,
    /// What the agent program itself wrote.
    Harness,
}

impl Role {
    /// The word used in JSON outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Harness => "harness",
        }
    }

    /// The word on the screen for who speaks.
    pub(crate) fn speaker(self) -> &'static str {
        match self {
            Self::User => "you",
            Self::Assistant => "bot",
            Self::System => "sys",
            Self::Harness => "note",
        }
    }
}

/// A part of an entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// The record or part that brought this block; the same piece sent again replaces it.
    pub piece: Piece,
    /// What the model was sent of it.
    pub sent: Sent,
    /// What it is.
    pub kind: BlockKind,
}

impl Block {
    /// A block of the piece that a record brought.
    pub fn new(piece: Piece, kind: impl Into<BlockKind>) -> Self {
        Self {
            piece,
            sent: Sent::Usual,
            kind: kind.into(),
        }
    }

    /// Whether it says that records of another session stand here.
    pub(crate) fn is_resumption(&self) -> bool {
        matches!(self.kind, BlockKind::Break(Break::Resumed(_)))
    }

    /// The call that it is.
    pub(crate) fn call(&self) -> Option<&ToolCall> {
        match &self.kind {
            BlockKind::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The call that it is, to be changed.
    pub(crate) fn call_mut(&mut self) -> Option<&mut ToolCall> {
        match &mut self.kind {
            BlockKind::Call(call) => Some(call),
            _ => None,
        }
    }
}

/// What the model was sent of a block, as far as its agent tells. What a compaction dropped, or what stands on
/// another branch, is judged from the whole session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Sent {
    /// What is usual for its kind: what is said, calls and results are; lines across the transcript are not, and
    /// what has no better form only if the program added it.
    #[default]
    Usual,
    /// All of it, though it has no better form.
    Whole,
    /// Nothing.
    Never,
    /// All of it until then; of a call its result.
    Until(Timestamp),
    /// These words in its place; of a call in place of the result that never came.
    As(Box<Text>),
}

/// Names the part of an entry that one record brings. An agent may spread a message over records.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "[u8; 8]", into = "[u8; 8]")]
pub struct Piece(pub u64);

/// Most are hashes, which take no less room as numbers of any length.
impl From<Piece> for [u8; 8] {
    fn from(piece: Piece) -> Self {
        piece.0.to_le_bytes()
    }
}

impl From<[u8; 8]> for Piece {
    fn from(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }
}

impl Piece {
    /// The piece with an agent's own id (FNV-1a, so that it is the same in every run).
    pub(crate) fn of(id: &str) -> Self {
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash)
    }
}

/// What a block is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BlockKind {
    /// Prose, mostly Markdown.
    Text(Body),
    /// The model's reasoning; empty if only a signature or redacted data is recorded.
    Thinking(Body),
    /// A tool call with its result, once that is known.
    Call(Box<ToolCall>),
    /// A result whose call is not in the session, or that came twice.
    Result(Box<StrayResult>),
    /// An image; its data is never kept.
    Image(Image),
    /// A line across the transcript.
    Break(Break),
    /// Something with no better form: shown as a tree or as raw text under its title.
    Raw(Raw),
    /// Something beside the conversation, known or not: a row with its title and how it begins, at most.
    Aside(Judged, Raw),
}

/// A tool result that no open call waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrayResult {
    /// The id of the call as recorded.
    pub call: Key,
    /// The result.
    pub result: ToolResult,
    /// Whether the call exists but has its result already.
    pub duplicate: bool,
}

/// Something without a better form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// What it is, in a few words: the record's type, or why it could not be read.
    pub title: Text,
    /// A [`Tree`] or plain text.
    pub body: Body,
}

impl Raw {
    /// Titles of what a command of the user put out, which the program ran and not the model.
    pub(crate) const COMMAND_OUTPUT: &str = "command output";
    /// The same for its errors.
    pub(crate) const COMMAND_ERRORS: &str = "command errors";

    /// How titles of descriptions of tools begin, as the model is sent them.
    pub(crate) const TOOLS: &str = "tools";

    /// Whether it describes tools.
    pub(crate) fn is_tools(&self) -> bool {
        self.title
            .strip_prefix(Self::TOOLS)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }

    /// Whether it is what a command of the user put out.
    pub(crate) fn is_command_output(&self) -> bool {
        matches!(
            self.title.as_str(),
            Self::COMMAND_OUTPUT | Self::COMMAND_ERRORS
        )
    }
}

/// A line across the transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Break {
    /// The history was shortened. Tokens before and after, if recorded; the summary follows as text.
    Compaction {
        /// Tokens in the context before.
        before: Option<u64>,
        /// Tokens in the context after.
        after: Option<u64>,
        /// `auto`, `manual`, … as recorded; empty if not recorded.
        trigger: Text,
        /// Whether only old tool outputs were dropped; it is not counted as a compaction.
        partial: bool,
        /// How long it took, in ms, if recorded.
        took: Option<u64>,
    },
    /// The agent left a branch and says what happened on it.
    Branch(Text),
    /// The user stopped the work.
    Interrupted(Text),
    /// The session was continued, reset or forked.
    Resumed(Text),
    /// Something went wrong outside a tool.
    Error(Text),
    /// Another model from here on.
    ModelChange(Name),
    /// Another mode, thinking level, agent or title from here on.
    Setting(Text),
    /// The work of a turn or run ended.
    Ended(Text),
    /// The session goes on in another one, which has this id.
    Continued(Text),
    /// The agent waits for its user.
    Waiting(Text),
    /// How long the agent says that it was at work since it was asked, in ms: without the time in which it waited for
    /// its user.
    Took(u64),
}

impl Break {
    /// A compaction of which no more is known than what caused it.
    pub fn compaction(trigger: &str) -> Self {
        let trigger = Text::clean(trigger);
        Self::Compaction {
            before: None,
            after: None,
            trigger,
            partial: false,
            took: None,
        }
    }

    pub(crate) fn setting(words: &str) -> Self {
        Self::Setting(Text::clean(words))
    }

    pub(crate) fn error(words: &str) -> Self {
        Self::Error(Text::clean(words))
    }

    /// What it says, for searching and copying.
    pub fn words(&self) -> Text {
        match self {
            Self::Compaction { trigger, .. } if trigger.is_empty() => Text::from("compacted"),
            Self::Compaction { trigger, .. } => Text::clean(&format!("compacted {trigger}")),
            Self::Branch(text)
            | Self::Interrupted(text)
            | Self::Resumed(text)
            | Self::Error(text)
            | Self::ModelChange(text)
            | Self::Setting(text)
            | Self::Ended(text)
            | Self::Waiting(text) => text.clone(),
            Self::Continued(id) => Text::clean(&format!("continued in {id}")),
            Self::Took(ms) => Text::clean(&format!("turn took {}", figures::duration(*ms))),
        }
    }
}

impl From<Break> for BlockKind {
    fn from(line: Break) -> Self {
        Self::Break(line)
    }
}

impl BlockKind {
    pub(crate) fn raw(title: &str, body: Body) -> Self {
        let title = Text::clean(title);
        Self::Raw(Raw { title, body })
    }

    /// Whether it is an error to stop at, wherever one looks for them: a failed call, a result without its
    /// call, an error of the agent, a broken record.
    pub(crate) fn is_error(&self) -> bool {
        match self {
            Self::Call(call) => matches!(call.state, ToolState::Failed(_)),
            Self::Result(_) | Self::Break(Break::Error(_)) => true,
            Self::Raw(raw) => ["broken record", "incomplete record", "not JSON"]
                .iter()
                .any(|title| raw.title.starts_with(title)),
            Self::Text(_)
            | Self::Thinking(_)
            | Self::Image(_)
            | Self::Break(_)
            | Self::Aside(..) => false,
        }
    }

    /// Whether it replaced the history by a summary.
    pub(crate) fn is_compaction(&self) -> bool {
        matches!(self, Self::Break(Break::Compaction { partial: false, .. }))
    }

    /// Whether it is thinking that nobody can read.
    pub(crate) fn is_redacted(&self) -> bool {
        matches!(self, Self::Thinking(body) if body.bytes == 0)
    }

    /// All bodies of the block, in the order of decoding.
    pub fn bodies(&self) -> Vec<&Body> {
        match self {
            Self::Text(body) | Self::Thinking(body) => vec![body],
            Self::Raw(raw) | Self::Aside(_, raw) => vec![&raw.body],
            Self::Call(call) => std::iter::once(&call.input)
                .chain(call.state.live())
                .chain(call.state.result().into_iter().flat_map(result_bodies))
                .collect(),
            Self::Result(stray) => result_bodies(&stray.result).collect(),
            Self::Image(_) | Self::Break(_) => Vec::new(),
        }
    }

    /// All bodies of the block, to be changed.
    pub fn bodies_mut(&mut self) -> Vec<&mut Body> {
        match self {
            Self::Text(body) | Self::Thinking(body) => vec![body],
            Self::Raw(raw) | Self::Aside(_, raw) => vec![&mut raw.body],
            Self::Call(call) => {
                let ToolCall { input, state, .. } = &mut **call;
                let state: Vec<&mut Body> = match state {
                    ToolState::Streaming(body) => vec![body],
                    state => state
                        .result_mut()
                        .into_iter()
                        .flat_map(result_bodies_mut)
                        .collect(),
                };
                std::iter::once(input).chain(state).collect()
            }
            Self::Result(stray) => result_bodies_mut(&mut stray.result).collect(),
            Self::Image(_) | Self::Break(_) => Vec::new(),
        }
    }
}

fn result_bodies(result: &ToolResult) -> impl Iterator<Item = &Body> {
    std::iter::once(&result.body).chain(result.patch.as_ref())
}

/// The bodies of a result, to be changed.
pub(crate) fn result_bodies_mut(result: &mut ToolResult) -> impl Iterator<Item = &mut Body> {
    std::iter::once(&mut result.body).chain(result.patch.as_mut())
}
