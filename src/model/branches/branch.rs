//! Numbered branches, in the order in which the session abandoned them.
//!
//! **A branch gets its number when it is abandoned.** Whenever the last record moves to another
//! path, another prompt replaces a prompt or the agent undoes something, the abandoned entries get
//! the next number. So appends change no number, and a branch is the session as it was at that
//! moment. A branch that the session returns to keeps its number and is active.
//!
//! Invariant: appends neither renumber a branch nor move an entry from one branch to another; they
//! may only make a branch active again.

use std::ops::Range;

use hashbrown::HashSet;

use super::forest::{self, Forest, Placed, RecordLinks, compressed_end};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::fingerprint::Print;

/// A branch that the session abandoned.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Number, from 1, in the order of abandoning.
    pub number: usize,
    /// Why the session went on elsewhere.
    pub why: Why,
    /// Its entries in file order, without those of branches that were abandoned earlier.
    pub entries: Vec<EntryId>,
    /// The entry that it continues from; `None` if it begins the session.
    pub(crate) point: Option<EntryId>,
    /// Number of the branch that this entry is on, if that was abandoned too.
    pub(crate) parent: Option<usize>,
    /// The entry with which the session continued.
    pub(crate) next: Option<EntryId>,
    /// Whether the session returned to it, so that all its entries are active.
    pub is_active: bool,
    reach: Reach,
}

/// Why a session abandoned a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Another prompt replaced the one that began it.
    Prompt,
    /// The session continued from an earlier record.
    ContinuedElsewhere,
    /// The agent marked it as undone.
    Undone,
}

impl Why {
    /// The name in JSON outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::ContinuedElsewhere => "left",
            Self::Undone => "undone",
        }
    }
}

/// The state of the session when a branch was abandoned.
#[derive(Clone, Debug, PartialEq)]
struct Reach {
    /// The last record of its path; `None` where file order is the path.
    tip: Option<Key>,
    /// Number of entries of all lanes that existed then.
    place: usize,
}

/// Entries abandoned at one moment, as positions in the main lane.
pub(crate) struct Leaving {
    /// Positions of the abandoned entries in file order, including those of earlier leavings. A
    /// prompt that replaces another one abandons everything between the two, which may be most of a
    /// long session.
    pub(crate) entries: Vec<Range<usize>>,
    /// The last record, if its links lead to the root.
    pub(crate) tip: Option<Key>,
    /// The record with which the session continued.
    pub(crate) next: Option<Print>,
    /// Number of entries of all lanes that existed then.
    pub(crate) place: usize,
    pub(crate) why: Why,
}

/// Numbers the leavings. An entry belongs to the first leaving that contains it.
pub fn number(
    mut leavings: Vec<Leaving>,
    links: &RecordLinks<'_>,
    forest: &Forest,
    is_abandoned: impl Fn(EntryId) -> bool,
) -> Vec<Branch> {
    leavings.sort_by_key(|leaving| leaving.place);
    // Number of the branch by position, from 1; 0 for none.
    let mut claimed = vec![0_u32; links.entries.len()];
    let branch_at =
        |claimed: &[u32], at: usize| claimed.get(at).filter(|number| **number > 0).copied();
    let mut unclaimed = Unclaimed::of(links.entries.len());
    let mut branches = Vec::new();
    let mut points = Vec::new();
    let id_of = |key: Print| Some(links.entries.get(forest.entry(key)?)?.id);
    for leaving in leavings {
        let own = unclaimed.claim(&leaving.entries);
        let Some(first) = own.first().copied() else {
            continue;
        };
        let number = branches.len() + 1;
        let root = links.entries.get(first);
        let point = match &leaving.tip {
            Some(_) => root.and_then(|root| forest.nearest_ancestor(root.key)),
            None => compressed_end(&mut unclaimed.last, first).checked_sub(1),
        };
        points.push(point);
        for at in &own {
            claimed
                .get_mut(*at)
                .into_iter()
                .for_each(|claim| *claim = u32::try_from(number).unwrap_or(u32::MAX));
        }
        let entries: Vec<EntryId> = own
            .iter()
            .filter_map(|at| links.entries.get(*at))
            .map(|one| one.id)
            .collect();
        branches.push(Branch {
            number,
            why: leaving.why,
            is_active: !entries.iter().any(|id| is_abandoned(*id)),
            entries,
            point: point.and_then(|at| links.entries.get(at)).map(|one| one.id),
            parent: None,
            next: leaving.next.and_then(id_of),
            reach: Reach {
                tip: leaving.tip,
                place: leaving.place,
            },
        });
    }
    for (branch, point) in branches.iter_mut().zip(points) {
        let is_left = branch.point.is_some_and(&is_abandoned);
        branch.parent = point
            .filter(|_| is_left)
            .and_then(|at| branch_at(&claimed, at))
            .map(|number| number as usize);
    }
    branches
}

/// Positions that no branch has claimed yet, as a disjoint-set forest: a claimed position points to
/// an earlier one to try next, so each is visited about once.
struct Unclaimed {
    next: Vec<usize>,
    /// Index by position + 1, so that 0 can mean "none".
    last: Vec<usize>,
}

impl Unclaimed {
    fn of(len: usize) -> Self {
        Self {
            next: (0..=len).collect(),
            last: (0..=len).collect(),
        }
    }

    /// Claims the unclaimed positions of these ranges and returns them.
    fn claim(&mut self, ranges: &[Range<usize>]) -> Vec<usize> {
        let mut taken = Vec::new();
        for range in ranges {
            let mut at = compressed_end(&mut self.next, range.start);
            while at < range.end && at + 1 < self.next.len() {
                taken.push(at);
                self.next
                    .get_mut(at)
                    .into_iter()
                    .for_each(|next| *next = at + 1);
                self.last
                    .get_mut(at + 1)
                    .into_iter()
                    .for_each(|last| *last = at);
                at = compressed_end(&mut self.next, at + 1);
            }
        }
        taken
    }
}

/// Entries of the main lane at the moment when the branch was abandoned: what the model saw at its
/// end, plus copies and damaged lines beside the path.
pub(crate) fn seen_at_end(
    branch: &Branch,
    branches: &[Branch],
    links: &RecordLinks<'_>,
) -> Vec<EntryId> {
    let forest = Forest::of(links);
    let end = links
        .entries
        .partition_point(|one| one.place < branch.reach.place);
    let there = links.entries.get(..end).unwrap_or_default();
    let Some(tip) = &branch.reach.tip else {
        let before = branches
            .iter()
            .take_while(|other| other.number < branch.number);
        let gone: HashSet<EntryId> = before
            .flat_map(|other| other.entries.iter().copied())
            .collect();
        let kept = forest.resumed_entries(there, &forest::abandoned_by_prompts(there).0);
        let is_seen = |(at, one): &(usize, &Placed)| {
            let is_kept = kept.get(*at) == Some(&true) && !one.marks.undone;
            is_kept || !gone.contains(&one.id)
        };
        return there
            .iter()
            .enumerate()
            .filter(is_seen)
            .map(|(_, one)| one.id)
            .collect();
    };
    let (path, _) = forest.path((links.print)(tip));
    there
        .iter()
        .enumerate()
        .filter(|(at, one)| path.get(*at) == Some(&true) || forest.is_off_path(one))
        .map(|(_, one)| one.id)
        .collect()
}

#[cfg(test)]
mod tests;
