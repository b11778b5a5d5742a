//! How calls use files.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::analysis::calls::Place;
use crate::model::body::Held;
use crate::model::change::{self, DiffLine, Sign};
use crate::model::entry::Entry;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool;
use crate::model::tool::{ToolCall, ToolState};

/// How a call used a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Read it, or some lines.
    Read,
    /// Searched it.
    Grep,
    /// Changed it.
    Edit,
    /// Wrote all of it.
    Write,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done,
    /// It failed, or was not allowed.
    Failed,
    /// There is no result.
    Open,
}

/// What went wrong with a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    /// It relies on a read that is older than a change by another lane or by a command.
    Stale {
        /// The read.
        read: Place,
        /// The change.
        change: Place,
    },
    /// It replaces what another lane changed, without having read that.
    Clobber {
        /// The change.
        change: Place,
    },
    /// It turns a change back.
    Undone {
        /// The change.
        edit: Place,
    },
    /// It failed, and the lane did not change the file after that.
    Unapplied,
}

impl Flag {
    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Stale { .. } => "stale read",
            Self::Clobber { .. } => "clobber",
            Self::Undone { .. } => "undone",
            Self::Unapplied => "not applied",
        }
    }
}

/// What a change is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Print {
    /// What was taken away and what was put there.
    Edits(Vec<(u64, u64)>),
    /// All of the file.
    Content(u64),
}

/// A use of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The call.
    pub(crate) place: Place,
    /// How it used the file.
    pub(crate) op: Op,
    /// Whether that was a shell command.
    pub(crate) by_shell: bool,
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// The sub-agent whose call it was.
    pub(crate) lane: Option<Name>,
    /// When it took effect.
    pub(crate) at: Option<Timestamp>,
    /// What went wrong; seldom anything, so it takes no room.
    pub(super) flag: Option<Box<Flag>>,
    /// Place of the entry in the order of the session.
    pub(super) order: u32,
    /// `None`: no change, or its text is on disk.
    pub(super) print: Option<Box<Print>>,
}

impl Use {
    /// What a call does with the file at a path. `order` is the place of its entry in the session.
    pub(super) fn of(
        (call, path): (&ToolCall, &str),
        entry: &Entry,
        place: Place,
        order: u32,
        (op, by_shell): (Op, bool),
    ) -> Self {
        let result = call.state.result();
        Self {
            place,
            op,
            by_shell,
            outcome: outcome_of(&call.state),
            lane: entry.lane.clone(),
            at: result.and_then(|result| result.at).or(call.started).or(entry.at),
            flag: None,
            order,
            print: if by_shell { None } else { print_of(call, op, path).map(Box::new) },
        }
    }

    /// What went wrong.
    pub(crate) fn flag(&self) -> Option<Flag> {
        self.flag.as_deref().copied()
    }

    /// What uses are ordered by.
    pub(super) fn key(&self) -> (Option<Timestamp>, (u32, usize)) {
        (self.at, self.rank())
    }

    /// What they are ordered by if times say nothing.
    pub(super) fn rank(&self) -> (u32, usize) {
        (self.order, self.place.block)
    }
}

fn outcome_of(state: &ToolState) -> Outcome {
    match state {
        ToolState::Done(_) => Outcome::Done,
        ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Stopped(_) | ToolState::Lost => {
            Outcome::Failed
        }
        ToolState::Pending | ToolState::Running | ToolState::Streaming(_) => Outcome::Open,
    }
}

fn hash_of(text: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

fn print_of(call: &ToolCall, op: Op, path: &str) -> Option<Print> {
    if !matches!(op, Op::Edit | Op::Write) {
        return None;
    }
    let Held::Tree(input) = &call.input.held else { return None };
    if let Some(content) = tool::content_of(input).filter(|_| op == Op::Write) {
        return Some(Print::Content(hash_of(content)));
    }
    let pairs = tool::replacements_of(input);
    if !pairs.is_empty() {
        let pairs = pairs.into_iter().map(|(old, new)| (hash_of(old), hash_of(new)));
        return Some(Print::Edits(pairs.collect()));
    }
    let change = change::of_input(input)?;
    let lines = |sign: Sign| {
        let own = change::of_file(&change, path).iter().filter(|line| line.sign == sign);
        own.map(DiffLine::text).collect::<Vec<_>>()
    };
    let (old, new) = (lines(Sign::Removed), lines(Sign::Added));
    if old.is_empty() && new.is_empty() {
        return None;
    }
    Some(Print::Edits(vec![(hash_of(old), hash_of(new))]))
}
