//! One file with its uses, in the order of their times.

use std::collections::BTreeSet;

use super::flags;
use super::uses::{Op, Row, Use};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// A file with its uses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct File {
    /// In the order of their times.
    pub(crate) uses: Vec<Use>,
    /// Calls that read or searched it.
    pub(crate) reads: usize,
    /// Calls that changed it.
    pub(crate) edits: usize,
    /// Calls that wrote all of it.
    pub(crate) writes: usize,
    /// Uses with a flag.
    pub(crate) flags: usize,
    /// Lanes that used it.
    pub(crate) lanes: usize,
    /// When it was used last.
    pub(crate) last: Option<Timestamp>,
    /// Whether a tool for files used it, and not only a command.
    pub(crate) is_listed: bool,
}

impl File {
    /// Of its uses in the order of the session, each with what its change is known by.
    pub(super) fn of(uses: Vec<(Use, &[Row])>) -> Self {
        // What has no time stands behind what came before it in the session.
        let mut last = None;
        let mut timed: Vec<(Option<Timestamp>, Use, &[Row])> = Vec::with_capacity(uses.len());
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
        // Searches name what may be no file, and what failed may not be there.
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
