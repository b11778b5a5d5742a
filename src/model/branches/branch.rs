//! Branches with numbers: what a session left, in the order in which it left it.
//!
//! **Branches are numbered as they are left.** Whenever the last record moves to another path, another prompt takes a
//! prompt's place or the agent undoes something, what was left gets the next number; so appends change no number, and
//! a branch is the session as it stood at that moment. What the session goes back to keeps its number, and is active.
//! `model::branch` holds the rule.
//!
//! Invariant: what is appended gives no branch another number and moves no entry from one to another.
//! Whether a branch is active again is another matter: a session may go back to what it left.

use std::ops::Range;

use hashbrown::HashSet;

use super::forest::{self, Forest, Links, Placed, goal};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::fingerprint::Print;

/// A branch that the session left.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// From 1, in the order in which they were left.
    pub number: usize,
    /// Why the session went on elsewhere.
    pub why: Why,
    /// Its entries in file order, without those of branches that were left before.
    pub entries: Vec<EntryId>,
    /// The entry that it goes on from; none if it begins the session.
    pub(crate) point: Option<EntryId>,
    /// The branch that this entry lies on, if that was left too.
    pub(crate) parent: Option<usize>,
    /// The entry with which the session went on.
    pub(crate) next: Option<EntryId>,
    /// Whether the session went back to it: all its entries are active.
    pub is_active: bool,
    reach: Reach,
}

/// Why a session left a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Another prompt took the place of the one that began it.
    Prompt,
    /// The session went on from an earlier record.
    Left,
    /// The agent says that it was undone.
    Undone,
}

impl Why {
    /// The word used in JSON outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Left => "left",
            Self::Undone => "undone",
        }
    }
}

/// What was there when a branch was left.
#[derive(Clone, Debug, PartialEq)]
struct Reach {
    /// The last record of its path; none where the order of the file is the path.
    tip: Option<Key>,
    /// Entries of all lanes before this place.
    place: usize,
}

/// Something that was left. Entries are recorded by their places among those of the main lane.
pub(crate) struct Leaving {
    /// What was left, in file order; also what an earlier leaving left. A prompt that takes another's place leaves all
    /// between the two, which may be most of a long session.
    pub(crate) entries: Vec<Range<usize>>,
    /// The last record, if its links lead to the root.
    pub(crate) tip: Option<Key>,
    /// The record with which the session went on.
    pub(crate) next: Option<Print>,
    /// Entries of all lanes that were there.
    pub(crate) place: usize,
    /// Why.
    pub(crate) why: Why,
}

/// Gives numbers to what was left. What an earlier leaving named belongs to that.
pub fn number(
    mut leavings: Vec<Leaving>,
    links: &Links<'_>,
    forest: &Forest,
    is_abandoned: impl Fn(EntryId) -> bool,
) -> Vec<Branch> {
    leavings.sort_by_key(|leaving| leaving.place);
    // By place: the number of the branch, from 1.
    let mut claimed = vec![0_u32; links.entries.len()];
    let branch_at =
        |claimed: &[u32], at: usize| claimed.get(at).filter(|number| **number > 0).copied();
    let mut unclaimed = Unclaimed::of(links.entries.len());
    let mut branches = Vec::new();
    let mut points = Vec::new();
    let id_of = |key: Print| Some(links.entries.get(forest.entry(key)?)?.id);
    for leaving in leavings {
        let own = unclaimed.take(&leaving.entries);
        let Some(first) = own.first().copied() else {
            continue;
        };
        let number = branches.len() + 1;
        let root = links.entries.get(first);
        let point = match &leaving.tip {
            Some(_) => root.and_then(|root| forest.entry_above(root.key)),
            None => unclaimed.last_before(first),
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

/// The places that no branch has claimed, each of which is passed by once: where it was claimed stands which place to
/// look at instead.
struct Unclaimed {
    next: Vec<usize>,
    /// Of the place before, from 1 on, so that there is room for none.
    last: Vec<usize>,
}

impl Unclaimed {
    fn of(len: usize) -> Self {
        Self {
            next: (0..=len).collect(),
            last: (0..=len).collect(),
        }
    }

    /// Claims those of these ranges that are left.
    fn take(&mut self, ranges: &[Range<usize>]) -> Vec<usize> {
        let mut taken = Vec::new();
        for range in ranges {
            let mut at = goal(&mut self.next, range.start);
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
                at = goal(&mut self.next, at + 1);
            }
        }
        taken
    }

    /// The last one before a place.
    fn last_before(&mut self, place: usize) -> Option<usize> {
        goal(&mut self.last, place).checked_sub(1)
    }
}

/// Entries of the main lane as they were when the branch was left: what the model saw at its end, with
/// the copies and damaged lines that stand beside.
pub(crate) fn seen_at_end(branch: &Branch, branches: &[Branch], links: &Links<'_>) -> Vec<EntryId> {
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
        let kept = forest.gone_on_from(there, &forest::left_by_prompts(there).0);
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
        .filter(|(at, one)| path.get(*at) == Some(&true) || forest.is_beside(one))
        .map(|(_, one)| one.id)
        .collect()
}

#[cfg(test)]
mod tests;
