//! A file and its uses, in order of time.

use std::collections::BTreeSet;

use super::flags;
use super::uses::{Op, Use, UseFact};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileUses {
    /// In order of time.
    pub(crate) uses: Vec<Use>,
    /// Number of reads and searches.
    pub(crate) reads: usize,
    pub(crate) edits: usize,
    /// Number of calls that wrote it whole.
    pub(crate) writes: usize,
    /// Number of uses with a flag.
    pub(crate) flags: usize,
    /// Number of lanes that used it.
    pub(crate) lanes: usize,
    pub(crate) last: Option<Timestamp>,
    /// Whether a file tool used it, rather than only a shell command.
    pub(crate) is_listed: bool,
}

impl FileUses {
    /// A file from its uses in the order of the session, each with the rows of its changes.
    pub(super) fn of(uses: Vec<(Use, &[UseFact])>) -> Self {
        // A use without timestamp is sorted after the one before it in the session.
        let mut last = None;
        let mut timed: Vec<(Option<Timestamp>, Use, &[UseFact])> = Vec::with_capacity(uses.len());
        for (one, changes) in uses {
            last = one.at.or(last);
            timed.push((last, one, changes));
        }
        timed.sort_by_key(|(at, ..)| *at);
        let (mut uses, changes): (Vec<Use>, Vec<_>) = timed
            .into_iter()
            .map(|(_, one, changes)| (one, changes))
            .unzip();
        uses.shrink_to_fit();
        flags::judge(&mut uses, &changes);
        let count = |ops: &[Op]| {
            uses.iter()
                .filter(|one| !one.outcome.is_undone() && ops.contains(&one.op))
                .count()
        };
        let flags = uses.iter().filter(|one| one.flag.is_some()).count();
        let lanes: BTreeSet<Option<&Name>> = uses.iter().map(|one| one.lane.as_ref()).collect();
        // A search may name something that is not a file, and the file of a failed call may not
        // exist.
        let is_sure = |one: &Use| one.op != Op::Grep && !one.outcome.is_undone();
        Self {
            reads: count(&[Op::Read, Op::Grep]),
            edits: count(&[Op::Edit]),
            writes: count(&[Op::Write]),
            flags,
            lanes: lanes.len(),
            last: uses.iter().filter_map(|one| one.at).max(),
            is_listed: uses.iter().any(|one| !one.by_shell && is_sure(one)) || flags > 0,
            uses,
        }
    }
}
