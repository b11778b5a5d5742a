//! What is derived from the order and the links of the entries: turns and branches.

use super::Transcript;
use super::retelling::Retelling;
use crate::model::body::Key;
use crate::model::branches::forest::{Departure, Links, Placed, says};
use crate::model::branches::{self, Branch};
use crate::model::branches::{Branches, Growth};
use crate::model::entry::{EntryId, Marks};
use crate::model::fingerprint::Print;
use crate::model::timestamp::Timestamp;
use crate::model::turn::Turn;

/// As many records as are looked at above a new one.
const FAR: usize = 1_000;

impl Transcript {
    /// Brings turns and branches up to date; to be called once after the batches of a moment. What came
    /// on top costs no more in a long session than in a short one.
    pub fn settle(&mut self) {
        self.settle_turns();
        self.settle_branches();
    }

    /// Brings turns up to date, but leaves branches as they were known.
    pub(crate) fn settle_turns(&mut self) {
        let new = self.order.get(self.turns_known..).unwrap_or_default();
        for (place, id) in (self.turns_known..).zip(new.iter().copied()) {
            let lane = self.entries.lane(id.index());
            if let Some(step) = self.entries.step(id.index()) {
                self.latest.see(place, id, lane, step);
            }
            if lane.is_none() && self.entries.marks(id.index()).is_some_and(|marks| marks.prompt) {
                self.turns.push(Turn { prompt: id, first: place });
            }
        }
        self.turns_known = self.order.len();
    }

    fn settle_branches(&mut self) {
        // In the middle of a new telling the links are those of its beginning.
        if self.retelling.is_none() && std::mem::take(&mut self.branches_are_stale) {
            let branches = self.with_links(Branches::derive);
            let is_same =
                branches.list == self.branches.list && branches.abandoned == self.branches.abandoned;
            self.branches_changed += u32::from(!is_same);
            self.branches = branches;
        }
    }

    /// Whether turns or branches must be found from the beginning again.
    pub(crate) fn settles_anew(&self) -> bool {
        self.branches_are_stale || self.turns_settle_anew()
    }

    /// Whether the turns and the newest answers are those of all entries that are there.
    pub(crate) fn knows_turns(&self) -> bool {
        self.turns_known == self.order.len()
    }

    /// Whether turns must be.
    pub(crate) fn turns_settle_anew(&self) -> bool {
        self.turns_known == 0 && !self.order.is_empty()
    }

    /// What the session left behind; see [`Transcript::settle`].
    pub fn branches(&self) -> &Branches {
        &self.branches
    }

    /// How often they changed.
    pub(crate) fn branches_changed(&self) -> u32 {
        self.branches_changed
    }

    /// Entries of the main lane as they were when the session left a branch: what the model saw at its
    /// end. Nothing if there is no branch of this number.
    pub(crate) fn seen_on(&self, number: usize) -> Option<Vec<EntryId>> {
        let list = &self.branches.list;
        let left = list.get(number.checked_sub(1)?)?;
        Some(self.with_links(|links| branches::seen_at_end(left, list, links)))
    }

    /// When the session left a branch: the time of the entry with which it went on, else of the last
    /// one on the branch.
    pub(crate) fn left_at(&self, branch: &Branch) -> Option<Timestamp> {
        let at = |id: EntryId| self.get(id)?.at;
        branch.next.and_then(at).or_else(|| branch.entries.iter().rev().copied().find_map(at))
    }

    /// Whether the format says that all records are linked.
    pub(crate) fn is_linked_tree(&self) -> bool {
        self.is_linked_tree
    }

    /// How often a link changed that had been told, or an entry whose links are known.
    pub(crate) fn relinked(&self) -> u32 {
        self.relinked
    }

    /// What stands for the key of a record, as long as the transcript is there.
    pub fn print_of(&self, key: &str) -> Print {
        self.index.print(key)
    }

    /// The entry whose key has this fingerprint.
    pub(crate) fn find_print(&self, key: Print) -> Option<EntryId> {
        self.index.get_print(key).copied()
    }

    /// Whether a record of this key is known, as an entry or as a link, and its parent.
    pub fn parent_of(&self, key: Print) -> Option<Option<Print>> {
        match self.find_print(key) {
            Some(id) => Some(self.entries.parent(id.index(), &|key| self.print_of(key))),
            None => self.links.get(key).copied(),
        }
    }

    pub(super) fn apply_link(&mut self, key: Key, parent: Option<Key>) {
        self.grow_branches(&key, parent.as_ref(), self.is_linked_tree, None);
        if self.is_linked_tree {
            self.lead(&key, parent.as_ref());
        }
        let parent = parent.map(|parent| self.print_of(&parent));
        self.links.insert(self.print_of(&key), parent);
    }

    /// A record is the last one now. If it does not go on from the one before, that was left.
    pub(super) fn lead(&mut self, key: &Key, parent: Option<&Key>) {
        let told = self.retelling.as_ref().map_or(self.order.len() - self.retired.len(), Retelling::len);
        if let Some(tip) = self.leaf.replace(key.clone()).filter(|tip| tip != key && Some(tip) != parent) {
            self.departures.push(Departure { tip, next: key.clone(), place: told });
        }
    }

    /// A new telling tells all links again.
    pub(super) fn forget_links(&mut self) {
        self.links.clear();
        self.relinked += 1;
        self.leaf = None;
        self.departures.clear();
    }

    /// Notes a new record of the main lane, before it takes its place; a link has no marks.
    pub(super) fn grow_branches(
        &mut self,
        key: &Key,
        parent: Option<&Key>,
        leads: bool,
        marks: Option<Marks>,
    ) {
        let is_there = |key: Print| self.links.contains(key) || self.index.get_print(key).is_some();
        let print = |key: &Key| self.index.print(key);
        let (key, parent) = (print(key), parent.map(print));
        let new = Growth {
            key,
            parent,
            resolves: parent.is_some_and(is_there),
            leaf: self.leaf.as_ref().filter(|_| self.is_linked_tree).map(print),
            leads,
            is_prompt: marks.is_some_and(|marks| marks.prompt && !marks.copy),
            goes_back: marks.is_some_and(says)
                && self.branches.may_go_back()
                && self.is_below_abandoned(parent),
        };
        // A key that was told before as a link or as an entry changes what is known of the tree.
        let is_retold = is_there(key);
        self.relinked += u32::from(is_retold);
        self.branches_are_stale = self.branches_are_stale || is_retold || !self.branches.grow(&new);
    }

    /// Whether what hangs below this record goes on from what was left. Of what hangs far below all entries nobody
    /// knows that.
    fn is_below_abandoned(&self, record: Option<Print>) -> bool {
        let mut at = record;
        for _ in 0..FAR {
            let Some(key) = at else { return false };
            at = match self.find_print(key) {
                Some(id) if self.branches.abandoned.contains(&id) => return true,
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
        for (key, id) in self.index.iter() {
            keys.get_mut(id.index()).into_iter().for_each(|place| *place = Some(key));
        }
        let placed = |(place, id): (usize, &EntryId)| {
            let marks = self.marks(*id).filter(|_| self.lane_at(*id).is_none())?;
            let key = keys.get(id.index()).copied().flatten()?;
            let parent = self.entries.parent(id.index(), &print);
            Some(Placed { id: *id, place, key, parent, marks })
        };
        let mut entries = Vec::with_capacity(self.order.len());
        entries.extend(self.order.iter().enumerate().filter_map(placed));
        work(&Links {
            entries,
            others: &self.links,
            leaf: self.leaf.as_ref().filter(|_| self.is_linked_tree).map(print),
            departures: &self.departures,
            print: &print,
        })
    }
}
