//! Entries and their blocks: one message of a transcript, whichever agent recorded it.
//!
//! **Bookkeeping is an entry without a row below level 4.** Hook runs, snapshots and tool lists are
//! entries like all others, so that every record is accounted for; `model::entry::Marks::trace`
//! hides their rows.

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
use attribution::SharedAttribution;
use sender::Sender;

pub mod attribution;
pub mod details;
pub mod glance;
pub(crate) mod rewording;
pub mod sender;

/// Number of an entry in its transcript; stable while the session is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(pub u32);

impl EntryId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One message of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Stable identity; the same key is the same entry.
    pub key: Key,
    /// Key of the parent entry, as recorded.
    pub parent: Option<Key>,
    /// The lane of the sub-agent; `None` is the main lane.
    pub lane: Option<Name>,
    /// When it was written, or begun if that took time.
    pub at: Option<Timestamp>,
    /// When it was complete, if that is later than `at`; see [`Entry::end`].
    pub ended: Option<Timestamp>,
    /// Role of the author.
    pub role: Role,
    /// The sender, if no human wrote it although it is in the position of a prompt.
    pub from: Option<Box<Sender>>,
    /// Name of the model that answered.
    pub model: Option<Name>,
    /// What the request was made for.
    #[serde(with = "attribution")]
    pub attribution: SharedAttribution,
    pub blocks: Vec<Block>,
    /// Tokens and cost of the request.
    pub usage: Option<Box<Usage>>,
    /// The reason why the answer ended, as the provider records it.
    pub stop: Stop,
    /// The first record that it was made from.
    pub origin: Origin,
    /// Further records without a block of their own: those around a step, and the entry's own where
    /// its parts have their own records.
    pub records: Vec<Origin>,
    /// Flags for counting and display.
    pub marks: Marks,
    /// Rises with every change of the content.
    pub revision: u32,
}

impl Entry {
    /// Whether it consists only of redacted thinking.
    pub(crate) fn is_redacted(&self) -> bool {
        !self.blocks.is_empty() && self.blocks.iter().all(|block| block.kind.is_redacted())
    }

    /// Whether a block counts as a failure of this entry: a failed call or an error of the agent. A
    /// request that is retried does not count, and copies count at the original.
    pub fn has_failed(&self, block: &BlockKind) -> bool {
        match block {
            _ if self.marks.copy => false,
            BlockKind::Call(call) => matches!(call.state, ToolState::Failed(_)),
            BlockKind::Break(Break::Error(_)) => !self.marks.retried,
            _ => false,
        }
    }

    /// Appends a block of the default piece.
    pub fn push(&mut self, kind: impl Into<BlockKind>) {
        self.push_piece(Piece(0), kind);
    }

    /// Appends a block of the piece that a record brought.
    pub fn push_piece(&mut self, piece: Piece, kind: impl Into<BlockKind>) {
        self.blocks.push(Block::new(piece, kind));
    }

    /// Which of the work ends that it reports are shown at a block: one at each notice, and all
    /// remaining ones at the last.
    pub(crate) fn work_ends_at<'e>(&self, ends: &'e [EndLine], block: usize) -> &'e [EndLine] {
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

    /// Whether it has the same content as another entry, wherever the two are in the file.
    pub(crate) fn has_same_content(&self, other: &Self) -> bool {
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
            && self.attribution == other.attribution
            && self.blocks == other.blocks
    }

    /// Whether its records and bodies have the same origins as another entry's.
    pub(crate) fn has_same_origins(&self, other: &Self) -> bool {
        let bodies = |entry: &Self| -> Vec<(Origin, u16)> {
            let bodies = entry.blocks.iter().flat_map(|block| block.kind.bodies());
            bodies.map(|body| (body.from, body.slot)).collect()
        };
        self.origin == other.origin
            && self.records == other.records
            && bodies(self) == bodies(other)
    }

    /// The record that brought a block; the entry's own if the block has none.
    pub(crate) fn origin_of(&self, block: &Block) -> Origin {
        match &block.kind {
            BlockKind::Text(body) | BlockKind::Thinking(body) => body.from,
            BlockKind::Call(call) => call.input.from,
            BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => raw.body.from,
            BlockKind::Result(_) | BlockKind::Image(_) | BlockKind::Break(_) => self.origin,
        }
    }

    /// Name of the author, for display.
    pub(crate) fn speaker(&self) -> &str {
        self.from
            .as_deref()
            .map_or(self.role.speaker(), Sender::word)
    }

    /// Whether all of it is outside the conversation: it is no message, and no figure depends on
    /// it.
    pub(crate) fn is_aside(&self) -> bool {
        self.role == Role::Harness
            && !self.blocks.is_empty()
            && self
                .blocks
                .iter()
                .all(|block| matches!(block.kind, BlockKind::Aside(..)))
    }

    /// Marks an entry that holds only asides as their most prominent one requires.
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

    /// Whether it is a message itself; an entry with only results belongs to others.
    pub(crate) fn is_message(&self) -> bool {
        let says = |block: &Block| match block.kind {
            BlockKind::Result(_) => false,
            BlockKind::Aside(..) => self.role == Role::Assistant,
            _ => true,
        };
        self.blocks.is_empty() || self.blocks.iter().any(says)
    }

    /// Whether any of its blocks satisfies `is_it`.
    pub(crate) fn has(&self, is_it: impl Fn(&BlockKind) -> bool) -> bool {
        self.blocks.iter().any(|block| is_it(&block.kind))
    }

    /// Whether it has a text that is not blank.
    pub(crate) fn has_prose(&self) -> bool {
        self.has(|kind| matches!(kind, BlockKind::Text(body) if !body.stub.is_blank()))
    }

    /// The call of the block with this index.
    pub(crate) fn call(&self, block: usize) -> Option<&ToolCall> {
        self.blocks.get(block)?.call()
    }

    /// Whether it replaced the history by a summary; dropping only old tool outputs is no
    /// compaction.
    pub(crate) fn is_compaction(&self) -> bool {
        self.has(BlockKind::is_compaction)
    }

    /// When it was complete, as far as that is recorded.
    pub(crate) fn end(&self) -> Option<Timestamp> {
        self.ended.or(self.at)
    }

    /// Sets when it was complete. The latest of several times counts, and none that is not later
    /// than `at`.
    pub(super) fn end_at(&mut self, ended: Option<Timestamp>) {
        self.ended = self.ended.max(ended).filter(|ended| Some(*ended) > self.at);
    }

    /// Earliest time of a call that has no time of its own: when the entry was complete, unless the
    /// result is not later than that.
    pub(crate) fn call_time(&self, call: &ToolCall) -> Option<Timestamp> {
        let answered = call.state.result().and_then(|result| result.at);
        self.ended
            .filter(|ended| answered.is_some_and(|at| *ended < at))
            .or(self.at)
    }

    /// Its calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(Block::call)
    }

    /// Its calls with the indexes of their blocks.
    pub(crate) fn numbered_calls(&self) -> impl DoubleEndedIterator<Item = (usize, &ToolCall)> {
        let blocks = self.blocks.iter().enumerate();
        blocks.filter_map(|(block, one)| Some((block, one.call()?)))
    }

    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut ToolCall> {
        self.blocks.iter_mut().filter_map(Block::call_mut)
    }

    /// All timestamps of the entry and of the results of its calls.
    pub(crate) fn times(&self) -> impl Iterator<Item = Timestamp> {
        let results = self.calls().filter_map(|call| call.state.result()?.at);
        results.chain(self.at).chain(self.ended)
    }

    /// The latest of them.
    pub(crate) fn last_time(&self) -> Option<Timestamp> {
        self.times().max()
    }
}

/// Flags of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// A prompt of a human or of a calling agent that opens a turn.
    pub prompt: bool,
    /// Noise, folded below detail level 4: injected context, snapshots, hook output.
    pub quiet: bool,
    /// Bookkeeping without a row below detail level 4: hook runs, file snapshots for undo.
    pub trace: bool,
    /// A copy of another entry (a delivery mirror, replayed history); shown dim.
    pub copy: bool,
    /// Whether it is still being written.
    pub open: bool,
    /// The agent marked it as no longer visible to the model (undone, cut off by a rewind).
    pub undone: bool,
    /// The request failed and the agent retries it.
    pub retried: bool,
    /// The agent does not send it to the model: its own state, a failed answer.
    pub unsent: bool,
    /// The first entry, or the only one, that reports to the model how background work ended: it
    /// has a row at every level.
    pub reports: bool,
    /// Repeats the report of another entry: no row below detail level 4.
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
    #[default]
    Unrecorded,
    /// The model was finished: `end_turn`, `stop`; also that of an answer that Claude Code writes
    /// itself, such as an error of the API that it does not retry: `stop_sequence`.
    Done,
    /// The model waits for results of its calls: `tool_use`, `toolUse`, `tool-calls`.
    Calls,
    /// Another reason: a limit, an error, the user.
    Other,
}

impl Stop {
    /// Parses the stop reason of any provider.
    pub(crate) fn of(word: &str) -> Self {
        match word {
            "" | "unknown" => Self::Unrecorded,
            "end_turn" | "stop" | "stop_sequence" | "endTurn" | "completed" | "STOP" => Self::Done,
            "tool_use" | "toolUse" | "tool_calls" | "tool-calls" | "function_call" => Self::Calls,
            _ => Self::Other,
        }
    }
}

/// Author of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A human or the calling agent.
    User,
    Assistant,
    System,
    /// The agent program itself.
    Harness,
}

impl Role {
    /// The name in JSON outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Harness => "harness",
        }
    }

    /// The name on the screen.
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
    /// The record or part that brought the block; sending the piece again replaces it.
    pub piece: Piece,
    /// What the model was sent of the block.
    pub sent: Sent,
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

    /// Whether it marks the start of records of another session.
    pub(crate) fn is_resumption(&self) -> bool {
        matches!(self.kind, BlockKind::Break(Break::Resumed(_)))
    }

    pub(crate) fn call(&self) -> Option<&ToolCall> {
        match &self.kind {
            BlockKind::Call(call) => Some(call),
            _ => None,
        }
    }

    pub(crate) fn call_mut(&mut self) -> Option<&mut ToolCall> {
        match &mut self.kind {
            BlockKind::Call(call) => Some(call),
            _ => None,
        }
    }
}

/// What the model was sent of a block, as far as the agent records that. Compactions and branches
/// are not considered here; they are judged from the whole session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Sent {
    /// The default for the kind: messages, calls and results are sent, breaks are not, and raw
    /// blocks only if the program added them.
    #[default]
    Usual,
    /// All of it, although the block is raw.
    Whole,
    Never,
    /// All of it until that time; for a call, its result.
    Until(Timestamp),
    /// This text instead; for a call, instead of the missing result.
    As(Box<Text>),
}

/// Identifies the part of an entry that one record brings; an agent may spread a message over
/// records.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "[u8; 8]", into = "[u8; 8]")]
pub struct Piece(pub u64);

/// Serialized as fixed bytes: most pieces are hashes, which a variable-length encoding would not
/// shorten.
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
    /// The piece for an agent's own id: its FNV-1a hash, which is the same in every run.
    pub(crate) fn of(id: &str) -> Self {
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash)
    }
}

/// Kind and content of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum BlockKind {
    /// Prose, mostly Markdown.
    Text(Body),
    /// The model's reasoning; empty if only a signature or redacted data was recorded.
    Thinking(Body),
    /// A tool call with its result, once there is one.
    Call(Box<ToolCall>),
    /// A stray result: its call is not in the session, or already has one.
    Result(Box<StrayResult>),
    /// An image; its data is never held.
    Image(Image),
    /// An event between messages, such as a compaction or an error.
    Break(Break),
    /// Content of no specific kind: shown as a tree or raw text under its title.
    Raw(Raw),
    /// Content outside the conversation, of a known kind or not: at most a row with its title and
    /// stub.
    Aside(Judged, Raw),
}

/// A tool result without an open call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrayResult {
    /// Id of the call as recorded.
    pub call: Key,
    pub result: ToolResult,
    /// Whether the call exists but already has a result.
    pub duplicate: bool,
}

/// Content of no specific kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    /// The record type or the reason why it could not be read, in a few words.
    pub title: Text,
    /// A [`Tree`](super::body::Tree) or plain text.
    pub body: Body,
}

impl Raw {
    /// Title of the output of a command that the user ran, not the model.
    pub(crate) const COMMAND_OUTPUT: &str = "command output";
    /// Title of the error output of such a command.
    pub(crate) const COMMAND_ERRORS: &str = "command errors";

    /// Prefix of titles of tool descriptions, as they are sent to the model.
    pub(crate) const TOOLS: &str = "tools";

    /// Whether it is a tool description.
    pub(crate) fn is_tools(&self) -> bool {
        self.title
            .strip_prefix(Self::TOOLS)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }

    /// Whether it is output of a user's command.
    pub(crate) fn is_command_output(&self) -> bool {
        matches!(
            self.title.as_str(),
            Self::COMMAND_OUTPUT | Self::COMMAND_ERRORS
        )
    }
}

/// An event between messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Break {
    /// The history was shortened; the summary follows as text.
    Compaction {
        /// Tokens in the context before, if recorded.
        before: Option<u64>,
        /// Tokens in the context after, if recorded.
        after: Option<u64>,
        /// `auto`, `manual`, … as recorded; empty if not recorded.
        trigger: Text,
        /// Whether only old tool outputs were dropped; that does not count as a compaction.
        partial: bool,
        /// Duration in ms, if recorded.
        took: Option<u64>,
    },
    /// The agent abandoned a branch; a summary of it.
    Branch(Text),
    /// The user stopped the work.
    Interrupted(Text),
    /// The session was continued, reset or forked.
    Resumed(Text),
    /// Something went wrong outside a tool.
    Error(Text),
    /// The model changed to this one.
    ModelChange(Name),
    /// A setting changed: mode, thinking level, agent or title.
    Setting(Text),
    /// The work of a turn or run ended.
    Ended(Text),
    /// The session continues in the one with this id.
    Continued(Text),
    /// The agent waits for the user.
    Waiting(Text),
    /// Time in ms that the agent reports to have worked since the prompt, without the time in which
    /// it waited for the user.
    Took(u64),
}

impl Break {
    /// A compaction of which only the trigger is recorded.
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

    /// The text of the break, for search and copying.
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

impl From<ToolCall> for BlockKind {
    fn from(call: ToolCall) -> Self {
        Self::Call(Box::new(call))
    }
}

impl From<Image> for BlockKind {
    fn from(image: Image) -> Self {
        Self::Image(image)
    }
}

impl BlockKind {
    pub(crate) fn raw(title: &str, body: Body) -> Self {
        let title = Text::clean(title);
        Self::Raw(Raw { title, body })
    }

    /// Whether it is an error for search, navigation and marks: a failed call, a stray result, an
    /// error of the agent, a broken record.
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

    /// Whether it is redacted thinking, with no readable text.
    pub(crate) fn is_redacted(&self) -> bool {
        matches!(self, Self::Thinking(body) if body.bytes == 0)
    }

    /// All bodies of the block, in the order of decoding.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        let (own, live, result) = match self {
            Self::Text(body) | Self::Thinking(body) => (Some(body), None, None),
            Self::Raw(raw) | Self::Aside(_, raw) => (Some(&raw.body), None, None),
            Self::Call(call) => (
                Some(&call.input),
                call.state.live_output(),
                call.state.result(),
            ),
            Self::Result(stray) => (None, None, Some(&stray.result)),
            Self::Image(_) | Self::Break(_) => (None, None, None),
        };
        let result = result.into_iter().flat_map(result_bodies);
        own.into_iter().chain(live).chain(result)
    }

    /// All bodies of the block, mutable.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        let (own, live, result) = match self {
            Self::Text(body) | Self::Thinking(body) => (Some(body), None, None),
            Self::Raw(raw) | Self::Aside(_, raw) => (Some(&mut raw.body), None, None),
            Self::Call(call) => {
                let ToolCall { input, state, .. } = &mut **call;
                match state {
                    ToolState::Streaming(body) => (Some(input), Some(&mut **body), None),
                    state => (Some(input), None, state.result_mut()),
                }
            }
            Self::Result(stray) => (None, None, Some(&mut stray.result)),
            Self::Image(_) | Self::Break(_) => (None, None, None),
        };
        let result = result.into_iter().flat_map(result_bodies_mut);
        own.into_iter().chain(live).chain(result)
    }
}

fn result_bodies(result: &ToolResult) -> impl Iterator<Item = &Body> {
    std::iter::once(&result.body).chain(result.patch.as_ref())
}

pub(crate) fn result_bodies_mut(result: &mut ToolResult) -> impl Iterator<Item = &mut Body> {
    std::iter::once(&mut result.body).chain(result.patch.as_mut())
}
