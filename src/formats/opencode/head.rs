//! A message without its parts, what its parts say about it, and what it shows besides them.

use std::collections::HashMap;

use super::part::Part;
use super::pieces::Pieces;
use super::sessions::Sessions;
use super::{changes, message};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::entry::{Block, BlockKind, Break, Entry, Marks, Piece, Role, Stop};
use crate::model::record::Origin;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// A message without its parts.
#[derive(Debug)]
pub(super) struct Head {
    /// The entry, without blocks and usage.
    pub(super) entry: Entry,
    /// Its session.
    pub(super) session: Text,
    /// Whether a user speaks, or the program in a user's place.
    pub(super) is_user: bool,
    /// Whether nothing more will come.
    pub(super) is_closed: bool,
    /// Whether the message itself was recorded, not only parts of it.
    pub(super) has_message: bool,
    /// What it cost.
    pub(super) cost: Option<Spent>,
    /// Usage of nothing but zeros, as long as nothing shows that there was a request.
    pub(super) doubted: Option<Box<Usage>>,
    /// What the error says that ended it.
    pub(super) failure: Option<Text>,
    /// What it shows after its parts: how it ended, what it changed.
    pub(super) tail: Vec<Block>,
    /// The message that asked for this compaction, if it answers one.
    pub(super) summarizes: Option<Key>,
}

impl Head {
    /// Whether the model speaks.
    pub(super) fn is_answer(&self) -> bool {
        self.entry.role == Role::Assistant
    }

    /// No request was made for it: the user ran a command, which the program wrote down as a call. The model is not asked
    /// to go on.
    pub(super) fn asks_nothing(&mut self) {
        let is_command = self.is_answer() && self.is_closed && self.failure.is_none();
        if is_command && self.entry.stop == Stop::Unrecorded {
            self.entry.stop = Stop::Done;
        }
    }
}

/// What a message cost, as far as sums need it, and what tells one cost from another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spent {
    /// Input, output, cache reads, cache writes, reasoning.
    tokens: [u64; 5],
    usd: Option<f64>,
    mark: Piece,
}

impl Spent {
    /// What this usage says.
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

    /// The same as usage.
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

/// What the parts of a message say about it.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Parts in which its author speaks.
    pub(super) own: Pieces,
    /// Parts that ask for a compaction.
    pub(super) compactions: Pieces,
    /// All parts that were recorded.
    pub(super) seen: Pieces,
    /// Whether a part tells of a request to the model.
    pub(super) is_request: bool,
    /// What the program added, while nothing was said that it could be an addition to.
    pub(super) waiting: Vec<Block>,
    /// Whether an entry for what was added was recorded.
    pub(super) has_addition: bool,
    /// Calls without a result.
    #[expect(
        clippy::box_collection,
        reason = "messages are many, and few of them have one"
    )]
    pub(super) open_calls: Option<Box<HashMap<Piece, Key>>>,
    /// What its steps cost, until the message itself tells that.
    pub(super) steps: Vec<(Piece, Usage)>,
    /// Records of parts without blocks, while nothing of the message is shown.
    pub(super) records: Vec<Origin>,
}

/// Where a part belongs.
#[derive(Debug)]
pub(super) struct Owner {
    /// Its message.
    pub(super) message: Key,
    /// Its session.
    pub(super) session: Text,
    /// When it was recorded, where messages are never sent themselves.
    pub(super) at: Option<Timestamp>,
    /// Its record, where it has one of its own.
    pub(super) record: Option<Origin>,
}

impl Owner {
    /// What stands for a message until it is recorded.
    pub(super) fn head(&self, sessions: &mut Sessions, out: &mut Batch) -> Head {
        let mut entry = out.new_entry(self.message.clone(), Role::Assistant, self.at);
        entry.lane = sessions.lane_of(&self.session, out);
        entry.marks.undone = sessions.is_undone(&self.session, &self.message);
        Head {
            entry,
            session: self.session.clone(),
            is_user: false,
            is_closed: false,
            has_message: false,
            cost: None,
            doubted: None,
            failure: None,
            tail: Vec::new(),
            summarizes: None,
        }
    }
}

/// The block of the error that ended a message.
pub(super) const FAILURE: Piece = Piece(1);
pub(super) const COMPACTION: Piece = Piece(2);
pub(super) const CUT: Piece = Piece(4);
/// The block of a message of an unknown role.
pub(super) const UNKNOWN: Piece = Piece(5);
impl Facts {
    /// Takes what a part says; what the same part said before no longer counts.
    pub(super) fn learn(&mut self, part: &Part, has_message: bool) {
        self.seen.keep(part.piece, true);
        self.own.keep(part.piece, part.is_own);
        self.compactions.keep(part.piece, part.is_compaction);
        self.is_request |= part.is_of_request;
        if has_message {
            self.steps = Vec::new();
        } else if let Some(usage) = &part.usage {
            self.steps.retain(|(piece, _)| *piece != part.piece);
            self.steps.push((part.piece, usage.clone()));
        }
    }

    /// What the program added stands apart, once something was said that it could be an addition to.
    /// Answers whether the part does.
    pub(super) fn set_apart(&mut self, part: &Part, entry: &Entry, out: &mut Batch) -> bool {
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

    /// A call has no result yet.
    pub(super) fn begin_call(&mut self, piece: Piece, call: Key) {
        self.open_calls.get_or_insert_default().insert(piece, call);
    }

    /// A call has its result, or none any more.
    pub(super) fn end_call(&mut self, piece: Piece) {
        let left = self.open_calls.as_mut().map(|open| {
            open.remove(&piece);
            open.len()
        });
        if left == Some(0) {
            self.open_calls = None;
        }
    }

    /// Forgets what a part said.
    pub(super) fn forget(&mut self, piece: Piece) {
        self.seen.keep(piece, false);
        self.waiting.retain(|block| block.piece != piece);
        self.own.keep(piece, false);
        self.compactions.keep(piece, false);
        self.end_call(piece);
        self.steps.retain(|(step, _)| *step != piece);
    }
}

/// A user message in which only the program speaks is the program's.
pub(super) fn settle_role(head: &mut Head, facts: Option<&Facts>) {
    if !head.is_user {
        return;
    }
    let is_own = facts.is_some_and(|facts| !facts.own.is_empty());
    let is_compaction = facts.is_some_and(|facts| !facts.compactions.is_empty());
    head.entry.role = if is_own { Role::User } else { Role::Harness };
    head.entry.marks.prompt = is_own && !head.entry.marks.copy;
    head.entry.marks.quiet = !is_own && !is_compaction && head.entry.from.is_none();
}

/// What a message shows after its parts.
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

/// The line of an answer to a request for a compaction that shows none itself.
pub(super) fn compaction_line() -> Block {
    Block::new(COMPACTION, Break::compaction(""))
}

/// An entry for what the program added to a message: file contents, reminders.
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

/// An entry for the files that the turn of a prompt changed.
pub(super) fn changes(entry: &Entry, info: &Json<'_>, out: &mut Batch) -> Option<Entry> {
    let kind = changes::diffs("this turn", info.at(&["summary", "diffs"]).items(), out)?;
    let key = Text::clean(&format!("changes:{}", entry.key));
    let mut entry = Entry {
        key,
        blocks: vec![Block::new(Piece(0), kind)],
        ..addition(entry)
    };
    entry.marks.unsent = true;
    Some(entry)
}

/// The key of the entry for what was added to a message.
pub(super) fn addition_key(message: &Key) -> Key {
    Text::clean(&format!("added:{message}"))
}

/// The sum of what was spent; what no term tells stays untold.
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
