//! The head of a message: its own facts, the facts that its parts add, and the blocks that it has
//! besides its parts.

use std::collections::HashMap;

use super::part::DecodedPart;
use super::pieces::PieceSet;
use super::sessions::OpenCodeSessions;
use super::{changes, message};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Entry, Marks, Piece, Role, Stop};
use crate::model::record::Origin;
use crate::model::text::{Text, text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// A message without its parts.
#[derive(Debug)]
pub(super) struct MessageHead {
    /// The entry, without parts and usage.
    pub(super) entry: Entry,
    pub(super) session: Text,
    /// Whether the message has the user's role; its text may still be the program's.
    pub(super) is_user: bool,
    /// Whether the message is complete.
    pub(super) is_closed: bool,
    /// Whether the message itself has been read, and not only parts of it.
    pub(super) has_message: bool,
    pub(super) cost: Option<CompactUsage>,
    /// Usage of zero that is withheld until a part shows that there was a request.
    pub(super) withheld_usage: Option<Box<Usage>>,
    /// The text of the error that ended the message.
    pub(super) failure: Option<Text>,
    /// Blocks after the parts: how the message ended, and which files it changed.
    pub(super) tail: Vec<Block>,
    /// The message that requested this compaction, if the message answers one.
    pub(super) summarizes: Option<Key>,
}

impl MessageHead {
    pub(super) fn is_answer(&self) -> bool {
        self.entry.role == Role::Assistant
    }

    /// Marks a message without a request as done: the user ran a command, which the program
    /// recorded as a call, and the model is not going to continue.
    pub(super) fn finish_without_request(&mut self) {
        let is_command = self.is_answer() && self.is_closed && self.failure.is_none();
        if is_command && self.entry.stop == Stop::Unrecorded {
            self.entry.stop = Stop::Done;
        }
    }
}

/// Usage in compact form, as far as sums need it, with a hash to detect changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CompactUsage {
    /// Input, output, cache reads, cache writes and reasoning tokens.
    tokens: [u64; 5],
    usd: Option<f64>,
    mark: Piece,
}

impl CompactUsage {
    pub(super) fn of(usage: &Usage) -> Self {
        let counts = [
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
            usage.reasoning,
        ];
        let tokens = counts.map(Option::unwrap_or_default);
        Self {
            tokens,
            usd: usage.cost,
            mark: Piece::of(&format!("{usage:?}")),
        }
    }

    /// The usage that this stands for.
    pub(super) fn usage(self) -> Usage {
        let [input, output, cache_read, cache_write, reasoning] = self.tokens.map(Some);
        Usage {
            input,
            output,
            cache_read,
            cache_write,
            reasoning,
            cost: self.usd,
            ..Usage::default()
        }
    }
}

/// The facts about a message that its parts contain.
#[derive(Debug, Default)]
pub(super) struct PartFacts {
    /// Parts with content by the message's author.
    pub(super) own: PieceSet,
    /// Parts that request a compaction.
    pub(super) compactions: PieceSet,
    /// All parts read so far.
    pub(super) read_parts: PieceSet,
    /// Whether a part proves that there was a request to the model.
    pub(super) is_request: bool,
    /// Blocks added by the program, until the author's own content is read.
    pub(super) waiting: Vec<Block>,
    /// Whether an entry for blocks added by the program has been emitted.
    pub(super) has_addition: bool,
    /// Calls without a result.
    #[expect(
        clippy::box_collection,
        reason = "messages are many, and few of them have one"
    )]
    pub(super) open_calls: Option<Box<HashMap<Piece, Key>>>,
    /// The usage of the steps, until the message itself records usage.
    pub(super) steps: Vec<(Piece, Usage)>,
    /// Records of parts without blocks, until an entry is emitted for the message.
    pub(super) records: Vec<Origin>,
}

/// The message that a part belongs to.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) message: Key,
    pub(super) session: Text,
    /// The time of the record, for streams that never send messages themselves.
    pub(super) at: Option<Timestamp>,
    /// The record of the part, if it has one of its own.
    pub(super) record: Option<Origin>,
}

impl Owner {
    /// A provisional head, until the message itself is read.
    pub(super) fn head(&self, sessions: &mut OpenCodeSessions, out: &mut Batch) -> MessageHead {
        let mut entry = out.new_entry(self.message.clone(), Role::Assistant, self.at);
        entry.lane = sessions.lane_of(&self.session, out);
        entry.marks.undone = sessions.is_undone(&self.session, &self.message);
        MessageHead {
            entry,
            session: self.session.clone(),
            is_user: false,
            is_closed: false,
            has_message: false,
            cost: None,
            withheld_usage: None,
            failure: None,
            tail: Vec::new(),
            summarizes: None,
        }
    }
}

/// The piece of the error that ended a message.
pub(super) const FAILURE: Piece = Piece(1);
pub(super) const COMPACTION: Piece = Piece(2);
pub(super) const CUT: Piece = Piece(4);
/// The piece of a message with an unknown role.
pub(super) const UNKNOWN: Piece = Piece(5);
impl PartFacts {
    /// Records the facts of a part, in place of what the same part recorded before.
    pub(super) fn add_part(&mut self, part: &DecodedPart, has_message: bool) {
        self.read_parts.set(part.piece, true);
        self.own.set(part.piece, part.is_own);
        self.compactions.set(part.piece, part.is_compaction);
        self.is_request |= part.is_of_request;
        if has_message {
            self.steps = Vec::new();
        } else if let Some(usage) = &part.usage {
            self.steps.retain(|(piece, _)| *piece != part.piece);
            self.steps.push((part.piece, usage.clone()));
        }
    }

    /// Moves content added by the program into an entry of its own, once the author's own content
    /// has been read. Returns whether the part itself is in that entry.
    pub(super) fn move_additions(
        &mut self,
        part: &DecodedPart,
        entry: &Entry,
        out: &mut Batch,
    ) -> bool {
        if self.own.is_empty() {
            if part.is_added {
                self.waiting.retain(|block| block.piece != part.piece);
                self.waiting.extend(part.blocks.iter().cloned());
            }
            return false;
        }
        let mut addition = addition(entry);
        for block in std::mem::take(&mut self.waiting) {
            out.retire_piece(entry.key.clone(), block.piece);
            addition.blocks.push(block);
        }
        if part.is_added {
            addition.blocks.extend(part.blocks.iter().cloned());
        }
        if !addition.blocks.is_empty() {
            self.has_addition = true;
            out.entry(addition);
        }
        part.is_added
    }

    /// Registers a call that has no result yet.
    pub(super) fn begin_call(&mut self, piece: Piece, call: Key) {
        self.open_calls.get_or_insert_default().insert(piece, call);
    }

    /// Unregisters a call that has a result, or will have none.
    pub(super) fn end_call(&mut self, piece: Piece) {
        let left = self.open_calls.as_mut().map(|open| {
            open.remove(&piece);
            open.len()
        });
        if left == Some(0) {
            self.open_calls = None;
        }
    }

    pub(super) fn remove_part(&mut self, piece: Piece) {
        self.read_parts.set(piece, false);
        self.waiting.retain(|block| block.piece != piece);
        self.own.set(piece, false);
        self.compactions.set(piece, false);
        self.end_call(piece);
        self.steps.retain(|(step, _)| *step != piece);
    }
}

/// Sets the role: a user message without content by the user belongs to the program.
pub(super) fn resolve_role(head: &mut MessageHead, facts: Option<&PartFacts>) {
    if !head.is_user {
        return;
    }
    let is_own = facts.is_some_and(|facts| !facts.own.is_empty());
    let is_compaction = facts.is_some_and(|facts| !facts.compactions.is_empty());
    head.entry.role = if is_own { Role::User } else { Role::Harness };
    head.entry.marks.prompt = is_own && !head.entry.marks.copy;
    head.entry.marks.quiet = !is_own && !is_compaction && head.entry.from.is_none();
}

/// The blocks after the parts of a message.
pub(super) fn tail(info: &Json<'_>) -> Vec<Block> {
    let recorded = [
        (
            FAILURE,
            message::failure(info.get("error")).map(BlockKind::Break),
        ),
        (CUT, message::cut_short(info).map(BlockKind::Break)),
    ];
    recorded
        .into_iter()
        .filter_map(|(piece, kind)| Some(Block::new(piece, kind?)))
        .collect()
}

/// The separator for a summarizing answer whose request does not show one.
pub(super) fn compaction_line() -> Block {
    Block::new(COMPACTION, Break::compaction(""))
}

/// An entry for content that the program added to a message, such as file contents and reminders.
pub(super) fn addition(entry: &Entry) -> Entry {
    let Marks {
        undone,
        unsent,
        copy,
        ..
    } = entry.marks;
    let marks = Marks {
        quiet: true,
        undone,
        unsent,
        copy,
        ..Marks::default()
    };
    let key = addition_key(&entry.key);
    Entry {
        key,
        role: Role::Harness,
        from: None,
        marks,
        model: None,
        parent: None,
        at: None,
        ended: None,
        ..entry.clone()
    }
}

/// An entry for the files changed in the turn of a prompt.
pub(super) fn changes(entry: &Entry, info: &Json<'_>, out: &mut Batch) -> Option<Entry> {
    let kind = changes::diffs("this turn", info.at("summary.diffs").items(), out)?;
    let key = text!("changes:{}", entry.key);
    let mut entry = Entry {
        key,
        blocks: vec![Block::new(Piece(0), kind)],
        ..addition(entry)
    };
    entry.marks.unsent = true;
    Some(entry)
}

/// The key of the entry for added content.
pub(super) fn addition_key(message: &Key) -> Key {
    text!("added:{message}")
}

/// The sum of usages. A count that none of them has stays `None`.
pub(super) fn sum<'u>(terms: impl Iterator<Item = &'u Usage>) -> Usage {
    let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    };
    terms.fold(Usage::default(), |sum, term| Usage {
        scope: sum.scope,
        input: add(sum.input, term.input),
        output: add(sum.output, term.output),
        cache_read: add(sum.cache_read, term.cache_read),
        cache_write: add(sum.cache_write, term.cache_write),
        reasoning: add(sum.reasoning, term.reasoning),
        cost: match (sum.cost, term.cost) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        },
        ..Usage::default()
    })
}
