//! The parent links of a session as a forest: parents, children and where paths fork.
//!
//! Invariant: links come from a file that may be wrong, so every walk ends even in a cycle.

use std::num::NonZeroU32;
use std::ops::Range;

// Derivation visits every record of a session; this map hashes several times as fast.
use hashbrown::{HashMap, HashSet};

use crate::model::body::Key;
use crate::model::entry::{EntryId, Marks};
use crate::model::fingerprint::{ByPrint, Print};

mod ways;

pub(super) use ways::{Ways, compressed_end};

/// The links of a transcript and what is needed to interpret them.
pub struct RecordLinks<'a> {
    /// Entries of the main lane in file order.
    pub(crate) entries: Vec<Placed>,
    /// Parents of records that are links but no entries.
    pub(crate) others: &'a ByPrint<Option<Print>>,
    /// The last record with an id, if the format says that all records are linked.
    pub(crate) leaf: Option<Print>,
    /// When the last record moved to another path.
    pub(crate) departures: &'a [BranchPoint],
    /// Returns the fingerprint of a key.
    pub(crate) print: &'a dyn Fn(&Key) -> Print,
}

/// An entry of the main lane.
#[derive(Clone, Copy)]
pub struct Placed {
    pub(crate) id: EntryId,
    /// Position in the order of the transcript, over all lanes.
    pub(crate) place: usize,
    pub(crate) key: Print,
    pub(crate) parent: Option<Print>,
    pub(crate) marks: Marks,
}

/// A record that does not continue from the last one, which the session thereby abandons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BranchPoint {
    /// The last record of the abandoned path.
    pub(crate) tip: Key,
    /// The record with which the session continued.
    pub(crate) next: Key,
    /// Number of entries of all lanes that existed then.
    pub(crate) place: usize,
}

/// Links between records, by node number: entries of the main lane have the number of their
/// position.
pub(crate) struct Forest {
    /// The records by node number; keys are unique in a transcript.
    index: ByPrint<()>,
    parents: Vec<Option<NodeNumber>>,
    has_child: Vec<bool>,
    entries: usize,
    /// Parents that no record has as its key.
    pub(crate) missing: HashSet<Print>,
}

/// Number of a record, from 1, so that `Option<NodeNumber>` needs no extra space.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct NodeNumber(NonZeroU32);

impl NodeNumber {
    fn of(number: usize) -> Option<Self> {
        NonZeroU32::new(u32::try_from(number).ok()?.checked_add(1)?).map(Self)
    }

    fn number(self) -> usize {
        self.0.get() as usize - 1
    }
}

impl Forest {
    pub(crate) fn of(links: &RecordLinks<'_>) -> Self {
        let entries = links.entries.iter().map(|one| (one.key, one.parent));
        let others = links.others.iter().map(|(key, parent)| (key, *parent));
        let mut index = ByPrint::with_capacity(links.entries.len() + links.others.len());
        for (key, _) in entries.clone().chain(others.clone()) {
            index.insert(key, ());
        }
        let mut missing = HashSet::new();
        let mut parents = vec![None; index.len()];
        let mut has_child = vec![false; index.len()];
        let mut hang = |number: usize, parent: Option<Print>| {
            let known = parent.and_then(|parent| index.place(parent));
            missing.extend(parent.filter(|_| known.is_none()));
            known
                .and_then(|known| has_child.get_mut(known))
                .into_iter()
                .for_each(|has| *has = true);
            parents
                .get_mut(number)
                .into_iter()
                .for_each(|place| *place = known.and_then(NodeNumber::of));
        };
        for (number, (_, parent)) in entries.enumerate() {
            hang(number, parent);
        }
        // A key that is both a link and an entry has the parent of the entry.
        let is_only_link = |key: Print| {
            index
                .place(key)
                .filter(|number| *number >= links.entries.len())
        };
        for (key, parent) in others {
            if let Some(number) = is_only_link(key) {
                hang(number, parent);
            }
        }
        Self {
            index,
            parents,
            has_child,
            entries: links.entries.len(),
            missing,
        }
    }

    fn node(&self, key: Print) -> Option<NodeNumber> {
        NodeNumber::of(self.index.place(key)?)
    }

    fn parent(&self, node: NodeNumber) -> Option<NodeNumber> {
        *self.parents.get(node.number())?
    }

    /// Position of a node among the entries of the main lane; `None` for a link.
    fn entry_of(&self, node: NodeNumber) -> Option<usize> {
        Some(node.number()).filter(|number| *number < self.entries)
    }

    /// Position of the entry with this key among those of the main lane.
    pub(crate) fn entry(&self, key: Print) -> Option<usize> {
        self.entry_of(self.node(key)?)
    }

    /// Whether an entry was never on the path of the conversation: copies branch off by design, and
    /// an entry without parent and children, such as a damaged line, is outside the tree.
    pub(crate) fn is_off_path(&self, one: &Placed) -> bool {
        let has_child = || self.has_child.get(self.index.place(one.key)?);
        one.marks.copy || (one.parent.is_none() && has_child() != Some(&true))
    }

    /// Which entries of the main lane, by position, are on the path from this record to the root,
    /// and whether that path is a cycle. A cyclic path ends where it repeats.
    pub(crate) fn path(&self, from: Print) -> (Vec<bool>, IsCircle) {
        let mut seen = vec![false; self.parents.len()];
        let mut at = self.node(from);
        let mut is_circle = false;
        while let Some(node) = at.filter(|_| !is_circle) {
            is_circle = seen
                .get_mut(node.number())
                .is_none_or(|seen| std::mem::replace(seen, true));
            at = self.parent(node);
        }
        seen.truncate(self.entries);
        (seen, IsCircle(is_circle))
    }

    /// Which entries of the main lane were continued from after they had been abandoned, which
    /// means that two programs wrote the file. `entries` are those up to that point, `left` is what
    /// was abandoned of them. What follows an abandoned entry without being abandoned itself keeps
    /// its ancestors, up to the next entry that is judged by itself.
    pub(crate) fn resumed_entries(&self, entries: &[Placed], left: &[Range<usize>]) -> Vec<bool> {
        let until = abandoned_until(left, entries.len());
        let is_left = |at: usize| until.get(at).is_some_and(|end| *end > 0);
        let mut kept = vec![false; self.entries];
        let mut seen = vec![false; self.parents.len()];
        for (at, one) in entries.iter().enumerate().rev() {
            if !is_conversation(one.marks) || is_left(at) && kept.get(at) != Some(&true) {
                continue;
            }
            let mut below = at;
            for above in self.ancestors(at, &mut seen) {
                let is_said = !is_left(above)
                    && entries
                        .get(above)
                        .is_none_or(|one| is_conversation(one.marks));
                if is_said || above > below {
                    break;
                }
                below = above;
                let is_kept = until.get(above).is_some_and(|end| (1..=at).contains(end));
                kept.get_mut(above)
                    .into_iter()
                    .for_each(|kept| *kept |= is_kept);
            }
        }
        kept
    }

    /// The entries above this one, nearest first, up to a record that was seen already.
    fn ancestors<'f>(
        &'f self,
        at: usize,
        seen: &'f mut [bool],
    ) -> impl Iterator<Item = usize> + 'f {
        let mut node = NodeNumber::of(at).and_then(|node| self.parent(node));
        std::iter::from_fn(move || {
            let is_new = |seen: &mut bool| !std::mem::replace(seen, true);
            while let Some(above) =
                node.filter(|above| seen.get_mut(above.number()).is_some_and(is_new))
            {
                node = self.parent(above);
                if let Some(entry) = self.entry_of(above) {
                    return Some(entry);
                }
            }
            None
        })
    }

    pub(crate) fn nearest_ancestor(&self, key: Print) -> Option<usize> {
        let mut seen = HashSet::new();
        let mut at = self.parent(self.node(key)?);
        while let Some(node) = at {
            if let Some(entry) = self.entry_of(node) {
                return Some(entry);
            }
            at = self.parent(node).filter(|_| seen.insert(node));
        }
        None
    }
}

/// What prompts with the same parent abandoned: everything between the two in the file. Also
/// returns the parents of all prompts.
pub(crate) fn abandoned_by_prompts(entries: &[Placed]) -> (Vec<Range<usize>>, HashSet<Print>) {
    let mut last_with_parent: HashMap<Print, usize> = HashMap::new();
    let mut ranges = Vec::new();
    for (at, one) in entries.iter().enumerate() {
        let (true, Some(parent)) = (one.marks.prompt && !one.marks.copy, one.parent) else {
            continue;
        };
        if let Some(earlier) = last_with_parent.insert(parent, at) {
            ranges.push(earlier..at);
        }
    }
    (ranges, last_with_parent.into_keys().collect())
}

/// For each entry the end of the last of these ranges that contains it, 0 if none does.
pub(super) fn abandoned_until(ranges: &[Range<usize>], entries: usize) -> Vec<usize> {
    let mut ends = vec![0; entries];
    for range in ranges {
        ends.get_mut(range.start)
            .into_iter()
            .for_each(|end| *end = range.end.max(*end));
    }
    let mut last = 0;
    for (at, end) in ends.iter_mut().enumerate() {
        last = last.max(*end);
        *end = if last > at { last } else { 0 };
    }
    ends
}

/// Whether an entry is part of the conversation rather than bookkeeping.
pub(crate) fn is_conversation(marks: Marks) -> bool {
    !marks.copy && !marks.quiet && !marks.trace
}

/// Whether a path is a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IsCircle(pub(crate) bool);
