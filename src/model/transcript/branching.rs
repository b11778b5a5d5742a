//! What is derived from the order and the links of the entries: turns and branches.

use super::Transcript;
use crate::model::body::Key;
use crate::model::branches::forest::{Links, Placed, says};
use crate::model::branches::{self, Branch};
use crate::model::branches::{Branches, Growth};
use crate::model::entry::{EntryId, Marks};
use crate::model::fingerprint::Print;
use crate::model::timestamp::Timestamp;

/// As many records as are looked at above a new one.
const FAR: usize = 1_000;

impl Transcript {
    /// Brings turns and branches up to date; to be called once after the batches of a moment. What came
    /// on top costs no more in a long session than in a short one.
    pub fn settle(&mut self) {
        self.turns.follow(&self.order, &self.entries, &self.lanes);
        self.settle_branches();
    }

    fn settle_branches(&mut self) {
        if self.lineage.is_stale {
            let branches = self.with_links(Branches::derive);
            self.work += branches.work;
            self.lineage.settle(branches);
        }
    }

    /// Whether turns or branches must be found from the beginning again.
    pub(crate) fn settles_anew(&self) -> bool {
        self.lineage.is_stale || self.turns_settle_anew()
    }

    /// Whether the turns and the newest answers are those of all entries that are there.
    pub(crate) fn knows_turns(&self) -> bool {
        self.turns.known == self.order.len()
    }

    /// Whether turns must be.
    pub(crate) fn turns_settle_anew(&self) -> bool {
        self.turns.known == 0 && !self.order.is_empty()
    }

    /// What the session left behind; see [`Transcript::settle`].
    pub fn branches(&self) -> &Branches {
        &self.lineage.branches
    }

    /// How often they changed.
    pub(crate) fn branches_changed(&self) -> u32 {
        self.lineage.changed
    }

    /// Entries of the main lane as they were when the session left a branch: what the model saw at its
    /// end. Nothing if there is no branch of this number.
    pub(crate) fn seen_on(&self, number: usize) -> Option<Vec<EntryId>> {
        let list = &self.branches().list;
        let left = list.get(number.checked_sub(1)?)?;
        Some(self.with_links(|links| branches::seen_at_end(left, list, links)))
    }

    /// When the session left a branch: the time of the entry with which it went on, else of the last
    /// one on the branch.
    pub(crate) fn left_at(&self, branch: &Branch) -> Option<Timestamp> {
        let at = |id: EntryId| {
            self.get(id)
                .filter(|entry| entry.lane.is_none() && !entry.is_beside())?
                .at
        };
        let from = branch
            .next
            .and_then(|id| self.place_of(id))
            .unwrap_or(usize::MAX);
        let next = self
            .order()
            .iter()
            .skip(from)
            .copied()
            .take(FAR)
            .find_map(at);
        next.or_else(|| branch.entries.iter().rev().copied().find_map(at))
    }

    /// Whether the format says that all records are linked.
    pub(crate) fn is_linked_tree(&self) -> bool {
        self.lineage.is_linked_tree
    }

    /// Whether links of records can tell anything.
    pub(crate) fn has_links(&self) -> bool {
        self.lineage.has_links()
    }

    /// How often a link changed that had been recorded, or an entry whose links are known.
    pub(crate) fn relinked(&self) -> u32 {
        self.lineage.relinked
    }

    /// What stands for the key of a record, as long as the transcript is there.
    pub fn print_of(&self, key: &str) -> Print {
        self.index.print(key)
    }

    /// The entry whose key has this fingerprint.
    pub(crate) fn find_print(&self, key: Print) -> Option<EntryId> {
        self.index.values.get(&key).copied()
    }

    /// Whether a record of this key is known, as an entry or as a link, and its parent.
    pub fn parent_of(&self, key: Print) -> Option<Option<Print>> {
        match self.find_print(key) {
            Some(id) => Some(self.entries.parent(id.index(), &|key| self.print_of(key))),
            None => self.lineage.links.get(&key).copied(),
        }
    }

    pub(super) fn apply_link(&mut self, key: Key, parent: Option<Key>) {
        let leads = self.is_linked_tree();
        let prints = (
            self.print_of(&key),
            parent.as_ref().map(|parent| self.print_of(parent)),
        );
        self.grow_branches(prints.0, prints.1, leads, None);
        if leads {
            self.lead(&key, parent.as_ref());
        }
        self.lineage.add_link(prints.0, prints.1);
    }

    /// A record is the last one now. If it does not go on from the one before, that was left.
    pub(super) fn lead(&mut self, key: &Key, parent: Option<&Key>) {
        self.lineage.lead(key, parent, self.order.remaining());
    }

    /// Notes a new record of the main lane, before it takes its place; a link has no marks.
    pub(super) fn grow_branches(
        &mut self,
        key: Print,
        parent: Option<Print>,
        leads: bool,
        marks: Option<Marks>,
    ) {
        let is_there = |key: Print| {
            self.lineage.links.contains_key(&key) || self.index.values.contains_key(&key)
        };
        let new = Growth {
            key,
            parent,
            resolves: parent.is_some_and(is_there),
            leaf: self.lineage.leaf(|key| self.index.print(key)),
            leads,
            is_prompt: marks.is_some_and(|marks| marks.prompt && !marks.copy),
            goes_back: marks.is_some_and(says)
                && self.branches().may_go_back()
                && self.is_below_abandoned(parent),
        };
        let is_known = is_there(key);
        self.lineage.grow(&new, is_known);
    }

    /// Whether what hangs below this record goes on from what was left. Of what hangs far below all entries nobody
    /// knows that.
    fn is_below_abandoned(&self, record: Option<Print>) -> bool {
        let mut at = record;
        for _ in 0..FAR {
            let Some(key) = at else { return false };
            at = match self.find_print(key) {
                Some(id) if self.branches().abandoned.contains(&id) => return true,
                Some(id) if self.marks(id).is_none_or(says) => return false,
                _ => self.parent_of(key).flatten(),
            };
        }
        true
    }

    /// Lends the links of all records; what is packed stays so.
    fn with_links<T>(&self, work: impl FnOnce(&Links<'_>) -> T) -> T {
        let print = |key: &Key| self.print_of(key);
        let mut keys: Vec<Option<Print>> = vec![None; self.entries.len()];
        for (key, id) in &self.index.values {
            keys.get_mut(id.index())
                .into_iter()
                .for_each(|place| *place = Some(*key));
        }
        let placed = |(place, id): (usize, &EntryId)| {
            let marks = self.marks(*id).filter(|_| self.lane_at(*id).is_none())?;
            let key = keys.get(id.index()).copied().flatten()?;
            let parent = self.entries.parent(id.index(), &print);
            Some(Placed {
                id: *id,
                place,
                key,
                parent,
                marks,
            })
        };
        let mut entries = Vec::with_capacity(self.order.len());
        entries.extend(self.order.iter().enumerate().filter_map(placed));
        work(&self.lineage.links(entries, &print))
    }
}
