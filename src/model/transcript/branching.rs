//! Derives turns and branches from the order and the links of the entries.

use super::Transcript;
use crate::model::body::Key;
use crate::model::branches::forest::{Placed, RecordLinks, is_conversation};
use crate::model::branches::{self, Branch};
use crate::model::branches::{Branches, Growth};
use crate::model::entry::{EntryId, Marks};
use crate::model::fingerprint::Print;
use crate::model::timestamp::Timestamp;

/// Limit of ancestors to check above a new record.
const FAR: usize = 1_000;

impl Transcript {
    /// Updates turns and branches; call it once after a series of batches. The cost of appended
    /// entries does not depend on the length of the session.
    pub fn update_derived(&mut self) {
        self.turns.update(&self.order, &self.entries, &self.lanes);
        self.update_branches();
    }

    fn update_branches(&mut self) {
        if self.lineage.is_stale {
            let branches = self.with_links(Branches::derive);
            self.work += branches.work;
            self.lineage.set_branches(branches);
        }
    }

    /// Whether turns or branches must be derived from scratch.
    pub(crate) fn needs_full_update(&self) -> bool {
        self.lineage.is_stale || self.turns_need_full_update()
    }

    /// Whether turns and latest answers cover all entries.
    pub(crate) fn has_all_turns(&self) -> bool {
        self.turns.known == self.order.len()
    }

    /// Whether turns must be derived from scratch.
    pub(crate) fn turns_need_full_update(&self) -> bool {
        self.turns.known == 0 && !self.order.is_empty()
    }

    /// The abandoned branches; see [`Transcript::update_derived`].
    pub fn branches(&self) -> &Branches {
        &self.lineage.branches
    }

    /// How often the branches changed.
    pub(crate) fn branches_changed(&self) -> u32 {
        self.lineage.changed
    }

    /// Entries of the main lane at the moment when the session abandoned a branch: what the model
    /// saw at its end. `None` if there is no branch of this number.
    pub(crate) fn visible_on_branch(&self, number: usize) -> Option<Vec<EntryId>> {
        let list = &self.branches().list;
        let left = list.get(number.checked_sub(1)?)?;
        Some(self.with_links(|links| branches::seen_at_end(left, list, links)))
    }

    /// When the session abandoned a branch: the timestamp of the entry with which it continued,
    /// else of the last entry of the branch.
    pub(crate) fn abandoned_at(&self, branch: &Branch) -> Option<Timestamp> {
        let at = |id: EntryId| {
            self.get(id)
                .filter(|entry| entry.lane.is_none() && !entry.is_aside())?
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

    /// Whether there are links between records.
    pub(crate) fn has_links(&self) -> bool {
        self.lineage.has_links()
    }

    /// How often a recorded link, or an entry with recorded links, changed.
    pub(crate) fn relinked(&self) -> u32 {
        self.lineage.relinked
    }

    /// Fingerprint of a record's key; stable for the lifetime of the transcript.
    pub fn print_of(&self, key: &str) -> Print {
        self.index.print(key)
    }

    /// The entry with this fingerprint of its key.
    pub(crate) fn find_print(&self, key: Print) -> Option<EntryId> {
        self.index.values.get(key).copied()
    }

    /// The parent of a record that is an entry or a link; the outer `None` if there is no such
    /// record.
    pub fn parent_of(&self, key: Print) -> Option<Option<Print>> {
        match self.find_print(key) {
            Some(id) => Some(self.entries.parent(id.index(), &|key| self.print_of(key))),
            None => self.lineage.links.get(key).copied(),
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
            self.set_leaf(&key, parent.as_ref());
        }
        self.lineage.add_link(prints.0, prints.1);
    }

    /// Makes a record the last one. If it does not continue from the previous last record, that one
    /// was abandoned.
    pub(super) fn set_leaf(&mut self, key: &Key, parent: Option<&Key>) {
        self.lineage.set_leaf(key, parent, self.order.remaining());
    }

    /// Updates the branches with a new record of the main lane, before it is added; a link has no
    /// marks.
    pub(super) fn grow_branches(
        &mut self,
        key: Print,
        parent: Option<Print>,
        leads: bool,
        marks: Option<Marks>,
    ) {
        let is_there =
            |key: Print| self.lineage.links.contains(key) || self.index.values.contains(key);
        let new = Growth {
            key,
            parent,
            resolves: parent.is_some_and(is_there),
            leaf: self.lineage.leaf(|key| self.index.print(key)),
            leads,
            is_prompt: marks.is_some_and(|marks| marks.prompt && !marks.copy),
            resumes_abandoned: marks.is_some_and(is_conversation)
                && self.branches().may_resume_abandoned()
                && self.is_below_abandoned(parent),
        };
        let is_known = is_there(key);
        self.lineage.grow(&new, is_known);
    }

    /// Whether this record descends from an abandoned entry; `None` if it is too far below all
    /// entries to tell.
    fn is_below_abandoned(&self, record: Option<Print>) -> bool {
        let mut at = record;
        for _ in 0..FAR {
            let Some(key) = at else { return false };
            at = match self.find_print(key) {
                Some(id) if self.branches().abandoned.contains(&id) => return true,
                Some(id) if self.marks(id).is_none_or(is_conversation) => return false,
                _ => self.parent_of(key).flatten(),
            };
        }
        true
    }

    /// Calls `work` with the links of all records, without unpacking entries.
    fn with_links<T>(&self, work: impl FnOnce(&RecordLinks<'_>) -> T) -> T {
        let print = |key: &Key| self.print_of(key);
        let mut keys: Vec<Option<Print>> = vec![None; self.entries.len()];
        for (key, id) in self.index.values.iter() {
            keys.get_mut(id.index())
                .into_iter()
                .for_each(|place| *place = Some(key));
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
