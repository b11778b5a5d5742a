//! What went wrong between the uses of one file: reads that were stale when an edit relied on them, writes
//! over what others did, edits that were turned back, edits that never took hold.

use std::collections::HashMap;

use super::uses::{Flag, Op, Outcome, Print, Use};
use crate::model::text::Name;

/// What is known on the way along the uses of a file.
#[derive(Default)]
struct Known {
    /// The last use by which a lane saw the whole file.
    seen: HashMap<Option<Name>, usize>,
    /// Changes that took hold, in order.
    changes: Vec<usize>,
    /// Edits that are in the file, by what they took away and what they put there.
    edits: HashMap<(u64, u64), usize>,
    /// Contents that were written.
    contents: HashMap<u64, usize>,
}

/// Flags the uses of a file, which are in the order of their times.
pub fn judge(uses: &mut [Use]) {
    let mut known = Known::default();
    for number in 0..uses.len() {
        let flag = flag_of(uses, number, &mut known);
        if let Some(one) = uses.get_mut(number) {
            one.flag = flag.map(Box::new);
        }
    }
    for number in 0..uses.len() {
        if never_applied(uses, number)
            && let Some(one) = uses.get_mut(number)
        {
            one.flag = Some(Box::new(Flag::Unapplied));
        }
    }
}

fn flag_of(uses: &[Use], number: usize, known: &mut Known) -> Option<Flag> {
    let one = uses.get(number).filter(|one| one.outcome == Outcome::Done)?;
    let seen = known.seen.get(&one.lane).copied();
    let changed_since = |seen: Option<usize>, by_shell: bool| {
        let since = known.changes.iter().rev().copied().take_while(|at| seen.is_none_or(|seen| *at > seen));
        since
            .filter_map(|at| uses.get(at))
            .find(|change| change.lane != one.lane || (by_shell && change.by_shell))
    };
    let flag = match (one.op, one.by_shell) {
        (Op::Read, _) => {
            known.seen.insert(one.lane.clone(), number);
            return None;
        }
        (Op::Grep, _) => return None,
        (Op::Edit | Op::Write, true) => None,
        (Op::Edit, false) => {
            let read = seen.and_then(|seen| uses.get(seen)).map(|read| read.place);
            let change = seen.and_then(|_| changed_since(seen, true)).map(|change| change.place);
            read.zip(change).map(|(read, change)| Flag::Stale { read, change })
        }
        (Op::Write, false) => changed_since(seen, false).map(|change| Flag::Clobber { change: change.place }),
    };
    let undone = undone_by(uses, one, number, known);
    known.changes.push(number);
    // What was flagged once is known from here on; who writes a file knows it.
    if !one.by_shell && (one.op == Op::Write || matches!(flag, Some(Flag::Stale { .. }))) {
        known.seen.insert(one.lane.clone(), number);
    }
    flag.or(undone)
}

/// The change that this one turns back, if it does.
fn undone_by(uses: &[Use], one: &Use, number: usize, known: &mut Known) -> Option<Flag> {
    let mut undone = None;
    match one.print.as_deref()? {
        Print::Edits(pairs) => {
            for (old, new) in pairs.iter().filter(|(old, new)| old != new) {
                match known.edits.remove(&(*new, *old)) {
                    Some(at) => undone = Some(at),
                    None => drop(known.edits.insert((*old, *new), number)),
                }
            }
        }
        Print::Content(content) => {
            let before = known.contents.insert(*content, number);
            let last = known.changes.last().copied();
            undone = last.filter(|last| before.is_some_and(|before| before < *last));
        }
    }
    let edit = uses.get(undone?)?.place;
    Some(Flag::Undone { edit })
}

/// An edit that failed, after which its lane did not change the file any more.
fn never_applied(uses: &[Use], number: usize) -> bool {
    let is_change = |one: &Use| matches!(one.op, Op::Edit | Op::Write) && !one.by_shell;
    let Some(one) = uses.get(number).filter(|one| is_change(one) && one.outcome == Outcome::Failed) else {
        return false;
    };
    let later = uses.get(number + 1..).unwrap_or_default();
    !later.iter().any(|later| is_change(later) && later.lane == one.lane && later.outcome == Outcome::Done)
}
