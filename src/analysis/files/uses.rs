//! How calls use files.

use super::paths;
use crate::analysis::calls::{Outcome, Place, likeness_of};
use crate::analysis::derived::Out;
use crate::model::body::Held;
use crate::model::change::{self, DiffLine, Sign};
use crate::model::edit::saturating_u32;
use crate::model::entry::Entry;
use crate::model::fingerprint::hash_of;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool;
use crate::model::tool::ToolCall;

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

/// How the calls of an entry use files, in the order of their blocks. What a change is known by stands behind it, if its
/// text was ever in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A call uses a file.
    Use(Used),
    /// It takes this away, and puts that there.
    Replaces(u64, u64),
    /// It writes this.
    Writes(u64),
}

/// How a call uses a file, as far as the call tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The same for calls that may be the same.
    likeness: u64,
    at: Option<Timestamp>,
    /// Place of the call in its entry.
    pub(super) block: u32,
    /// The number of the path, without detours; where the session began may not be known yet.
    pub(super) path: u32,
    pub(super) op: Op,
    by_shell: bool,
    outcome: Outcome,
}

/// What the use before these rows is known by.
pub(super) fn changes(rows: &[Row]) -> &[Row] {
    let count = rows
        .iter()
        .take_while(|row| !matches!(row, Row::Use(_)))
        .count();
    rows.get(..count).unwrap_or_default()
}

/// Adds how the calls of an entry use files. `before` is what was known of it.
pub(super) fn read(entry: &Entry, before: &[Row], out: &mut Out<'_, Row>) {
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
            let is_known = |row: &Row| matches!(row, Row::Use(known) if known.is_like(&one));
            let known = before
                .iter()
                .position(is_known)
                .filter(|_| call.input.is_away());
            out.push(Row::Use(one));
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

    /// What went wrong.
    pub(crate) fn flag(&self) -> Option<Flag> {
        self.flag.as_deref().copied()
    }
}

/// Adds what a call changes in a file.
fn read_change(call: &ToolCall, op: Op, path: &str, out: &mut Out<'_, Row>) {
    let Held::Tree(input) = &call.input.held else {
        return;
    };
    if !matches!(op, Op::Edit | Op::Write) {
        return;
    }
    if let Some(content) = tool::content_of(input).filter(|_| op == Op::Write) {
        return out.push(Row::Writes(hash_of(content)));
    }
    let pairs = tool::replacements_of(input);
    if !pairs.is_empty() {
        return pairs
            .into_iter()
            .for_each(|(old, new)| out.push(Row::Replaces(hash_of(old), hash_of(new))));
    }
    let Some(change) = change::of_input(input) else {
        return;
    };
    let lines = |sign: Sign| {
        let own = change::of_file(&change, path)
            .iter()
            .filter(|line| line.sign == sign);
        own.map(DiffLine::text).collect::<Vec<_>>()
    };
    let (old, new) = (lines(Sign::Removed), lines(Sign::Added));
    if !old.is_empty() || !new.is_empty() {
        out.push(Row::Replaces(hash_of(&old), hash_of(&new)));
    }
}
