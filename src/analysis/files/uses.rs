//! How calls use files.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::paths;
use crate::analysis::calls::{Place, likeness_of};
use crate::model::body::Held;
use crate::model::change::{self, DiffLine, Sign};
use crate::model::entry::{BlockKind, Entry};
use crate::model::text::{Name, Text};
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

/// How a call uses a file, as far as the call tells.
#[derive(Clone, Debug)]
pub struct Used {
    /// Place of the call in its entry.
    pub(super) block: usize,
    /// Without detours; where the session began may not be known yet.
    pub(super) path: Text,
    pub(super) op: Op,
    by_shell: bool,
    outcome: Outcome,
    at: Option<Timestamp>,
    /// The same for calls that may be the same.
    likeness: u64,
    /// `None`: no change, or its text was never in memory.
    pub(super) print: Option<Box<Print>>,
}

/// How the calls of an entry use files. `before` is what was known of it.
pub(super) fn of_entry(entry: &Entry, before: &[Used]) -> Vec<Used> {
    let mut all = Vec::new();
    for (block, kind) in entry.blocks.iter().enumerate().filter(|_| !entry.marks.copy) {
        let BlockKind::Call(call) = &kind.kind else { continue };
        let used = paths::used_by(call);
        if used.is_empty() {
            continue;
        }
        let likeness = likeness_of(call);
        let first = before.partition_point(|known| known.block < block);
        let known = before.iter().skip(first).take_while(|known| known.block == block);
        for (path, op, by_shell) in used {
            let print = match call.input.is_away() {
                true => known
                    .clone()
                    .find(|known| (known.likeness, &*known.path, known.op) == (likeness, &path, op))
                    .and_then(|known| known.print.clone()),
                false if by_shell => None,
                false => print_of(call, op, &path).map(Box::new),
            };
            let at = call.state.result().and_then(|result| result.at).or(call.started).or(entry.at);
            let (path, outcome) = (Text::from(&*path), outcome_of(&call.state));
            all.push(Used { block, path, op, by_shell, outcome, at, likeness, print });
        }
    }
    all.shrink_to_fit();
    all
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
}

impl Use {
    /// By the call at a place.
    pub(super) fn of(used: &Used, place: Place, lane: Option<&Name>) -> Self {
        let Used { op, by_shell, outcome, at, .. } = *used;
        Self { place, op, by_shell, outcome, lane: lane.cloned(), at, flag: None }
    }

    /// What went wrong.
    pub(crate) fn flag(&self) -> Option<Flag> {
        self.flag.as_deref().copied()
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
