//! Flags conflicts between the uses of a file: edits after a stale read, writes over changes of
//! another lane, edits that were undone, edits that were never applied.

use std::collections::{HashMap, HashSet};

use super::uses::{Flag, Op, Use, UseFact};
use crate::analysis::calls::Place;
use crate::model::text::Name;

/// The state of the pass over the uses of a file; uses are identified by index.
struct FlagSweep<'a> {
    uses: &'a [Use],
    changes: &'a [&'a [UseFact]],
    /// The last use by which a lane saw the whole file.
    seen: HashMap<Option<&'a Name>, usize>,
    /// The last successful change, the last one of a lane other than that, and the last one by a
    /// shell command.
    last: Option<usize>,
    last_of_other: Option<usize>,
    last_by_shell: Option<usize>,
    /// Edits in effect, by hashes of the old and new text.
    edits: HashMap<(u64, u64), usize>,
    /// Written contents by hash.
    contents: HashMap<u64, usize>,
}

/// Flags the uses of a file, which are in order of time, each with the rows of its changes.
pub(super) fn judge(uses: &mut [Use], changes: &[&[UseFact]]) {
    let mut known = FlagSweep {
        uses,
        changes,
        seen: HashMap::new(),
        last: None,
        last_of_other: None,
        last_by_shell: None,
        edits: HashMap::new(),
        contents: HashMap::new(),
    };
    let mut flags: Vec<Option<Flag>> = (0..known.uses.len())
        .map(|number| known.flag_of(number))
        .collect();
    let mut changed_later: HashSet<Option<&Name>> = HashSet::new();
    for (one, flag) in known.uses.iter().zip(&mut flags).rev() {
        let is_change = matches!(one.op, Op::Edit | Op::Write) && !one.by_shell;
        if is_change && one.outcome.is_good() {
            changed_later.insert(one.lane.as_ref());
        }
        if is_change && one.outcome.is_undone() && !changed_later.contains(&one.lane.as_ref()) {
            *flag = Some(Flag::Unapplied);
        }
    }
    for (one, flag) in uses.iter_mut().zip(flags) {
        one.flag = flag.map(Box::new);
    }
}

impl<'a> FlagSweep<'a> {
    fn flag_of(&mut self, number: usize) -> Option<Flag> {
        let uses: &'a [Use] = self.uses;
        let one = uses.get(number).filter(|one| one.outcome.is_good())?;
        let lane = one.lane.as_ref();
        let seen = self.seen.get(&lane).copied();
        let flag = match (one.op, one.by_shell) {
            (Op::Read, _) => {
                self.seen.insert(lane, number);
                return None;
            }
            (Op::Grep, _) => return None,
            (Op::Edit | Op::Write, true) => None,
            (Op::Edit, false) => {
                let change = self.last_of_others(lane).max(self.last_by_shell);
                let read = seen.filter(|seen| change.is_some_and(|change| change > *seen));
                let places = self.place(read).zip(self.place(change));
                places.map(|(read, change)| Flag::Stale { read, change })
            }
            (Op::Write, false) => {
                let change = self
                    .last_of_others(lane)
                    .filter(|change| seen.is_none_or(|seen| *change > seen));
                self.place(change).map(|change| Flag::Clobber { change })
            }
        };
        let undone = self.undone_by(number);
        if self
            .last
            .and_then(|last| uses.get(last))
            .is_some_and(|last| last.lane != one.lane)
        {
            self.last_of_other = self.last;
        }
        self.last = Some(number);
        if one.by_shell {
            self.last_by_shell = Some(number);
        } else if one.op == Op::Write || matches!(flag, Some(Flag::Stale { .. })) {
            // A flagged conflict is not flagged again; a lane that writes a file has seen it.
            self.seen.insert(lane, number);
        }
        flag.or(undone)
    }

    fn place(&self, number: Option<usize>) -> Option<Place> {
        self.uses.get(number?).map(|one| one.place)
    }

    /// The last change by another lane.
    fn last_of_others(&self, lane: Option<&Name>) -> Option<usize> {
        let last = self.uses.get(self.last?)?;
        if last.lane.as_ref() == lane {
            self.last_of_other
        } else {
            self.last
        }
    }

    /// The change that this one undoes, if any.
    fn undone_by(&mut self, number: usize) -> Option<Flag> {
        let mut undone = None;
        for row in *self.changes.get(number)? {
            match row {
                UseFact::Replaces(old, new) if old != new => match self.edits.remove(&(*new, *old))
                {
                    Some(at) => undone = Some(at),
                    None => drop(self.edits.insert((*old, *new), number)),
                },
                UseFact::Writes(content) => {
                    let before = self.contents.insert(*content, number);
                    undone = self
                        .last
                        .filter(|last| before.is_some_and(|before| before < *last));
                }
                UseFact::Replaces(..) | UseFact::Use(_) => {}
            }
        }
        Some(Flag::Undone {
            edit: self.place(undone)?,
        })
    }
}
