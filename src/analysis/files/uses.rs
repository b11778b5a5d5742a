//! Uses of files by calls.

use super::paths;
use crate::analysis::calls::{Outcome, Place, likeness_of};
use crate::analysis::derived::Out;
use crate::model::body::Held;
use crate::model::change::{self, DiffLine, LineSign};
use crate::model::edit::saturating_u32;
use crate::model::entry::Entry;
use crate::model::fingerprint::hash_of;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool;
use crate::model::tool::ToolCall;

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Reads it, or some lines.
    Read,
    Grep,
    Edit,
    /// Writes it whole.
    Write,
}

/// A conflict of a use with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    /// It relies on a read that is older than a change by another lane or by a shell command.
    Stale {
        read: Place,
        /// The change after it.
        change: Place,
    },
    /// It overwrites a change by another lane that its own lane has not read.
    Clobber { change: Place },
    /// It undoes a change.
    Undone { edit: Place },
    /// It failed, and the lane did not change the file after that.
    Unapplied,
}

impl Flag {
    /// The name on the screen.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Stale { .. } => "stale read",
            Self::Clobber { .. } => "clobber",
            Self::Undone { .. } => "undone",
            Self::Unapplied => "not applied",
        }
    }
}

/// Facts about uses of files by the calls of an entry, in the order of their blocks. Hashes of a
/// change follow its use, if its text was ever in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseFact {
    /// A use of a file.
    Use(Used),
    /// Hashes of the old and new text of a replacement.
    Replaces(u64, u64),
    /// Hash of the written content.
    Writes(u64),
}

/// A use of a file, as far as it is known from the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Equal for equal calls.
    likeness: u64,
    at: Option<Timestamp>,
    /// Index of the call's block.
    pub(super) block: u32,
    /// The number of the normalized path; the session's root may not be known yet.
    pub(super) path: u32,
    pub(super) op: Op,
    by_shell: bool,
    outcome: Outcome,
}

/// The hashes that follow a use.
pub(super) fn changes(rows: &[UseFact]) -> &[UseFact] {
    let count = rows
        .iter()
        .take_while(|row| !matches!(row, UseFact::Use(_)))
        .count();
    rows.get(..count).unwrap_or_default()
}

/// Adds the facts of an entry. `before` are its earlier facts.
pub(super) fn read(entry: &Entry, before: &[UseFact], out: &mut Out<'_, UseFact>) {
    for (block, call) in entry.numbered_calls().filter(|_| !entry.marks.copy) {
        let used = paths::used_by(call);
        if used.is_empty() {
            continue;
        }
        let (block, likeness) = (saturating_u32(block), likeness_of(call));
        for (path, op, by_shell) in used {
            let at = call
                .state
                .result()
                .and_then(|result| result.at)
                .or(call.started)
                .or(entry.at);
            let outcome = Outcome::of(&call.state);
            let one = Used {
                likeness,
                at,
                block,
                path: out.number(&path),
                op,
                by_shell,
                outcome,
            };
            let is_known =
                |row: &UseFact| matches!(row, UseFact::Use(known) if known.is_like(&one));
            let known = before
                .iter()
                .position(is_known)
                .filter(|_| call.input.is_on_disk());
            out.push(UseFact::Use(one));
            match known.and_then(|at| before.get(at + 1..)) {
                Some(rest) => changes(rest).iter().for_each(|row| out.push(row.clone())),
                None if by_shell => {}
                None => read_change(call, op, &path, out),
            }
        }
    }
}

impl Used {
    fn is_like(&self, other: &Self) -> bool {
        let parts = |one: &Self| (one.block, one.likeness, one.path, one.op);
        parts(self) == parts(other)
    }
}

/// A use of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The position of the call.
    pub(crate) place: Place,
    pub(crate) op: Op,
    /// Whether it is by a shell command.
    pub(crate) by_shell: bool,
    /// Outcome of the call.
    pub(crate) outcome: Outcome,
    /// The sub-agent with the call; `None` for the main agent.
    pub(crate) lane: Option<Name>,
    /// When it took effect.
    pub(crate) at: Option<Timestamp>,
    /// Boxed because it is rare.
    pub(super) flag: Option<Box<Flag>>,
}

impl Use {
    /// A use from its facts and the position of the call.
    pub(super) fn of(used: &Used, place: Place, lane: Option<&Name>) -> Self {
        let Used {
            op,
            by_shell,
            outcome,
            at,
            ..
        } = *used;
        Self {
            place,
            op,
            by_shell,
            outcome,
            lane: lane.cloned(),
            at,
            flag: None,
        }
    }

    /// The conflict, if any.
    pub(crate) fn flag(&self) -> Option<Flag> {
        self.flag.as_deref().copied()
    }
}

/// Adds the hashes of a change.
fn read_change(call: &ToolCall, op: Op, path: &str, out: &mut Out<'_, UseFact>) {
    let Held::Tree(input) = &call.input.held else {
        return;
    };
    if !matches!(op, Op::Edit | Op::Write) {
        return;
    }
    if let Some(content) = tool::content_of(input).filter(|_| op == Op::Write) {
        return out.push(UseFact::Writes(hash_of(content)));
    }
    let pairs = tool::replacements_of(input);
    if !pairs.is_empty() {
        return pairs
            .into_iter()
            .for_each(|(old, new)| out.push(UseFact::Replaces(hash_of(old), hash_of(new))));
    }
    let Some(change) = change::of_input(input) else {
        return;
    };
    let lines = |sign: LineSign| {
        let own = change::of_file(&change, path)
            .iter()
            .filter(|line| line.sign == sign);
        own.map(DiffLine::text).collect::<Vec<_>>()
    };
    let (old, new) = (lines(LineSign::Removed), lines(LineSign::Added));
    if !old.is_empty() || !new.is_empty() {
        out.push(UseFact::Replaces(hash_of(&old), hash_of(&new)));
    }
}
