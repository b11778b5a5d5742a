//! Parent links between records, and the branches derived from them.
//!
//! Invariant: a link is recorded once; changing a recorded link is counted in `relinked` and makes
//! the branches stale.

use crate::model::body::Key;
use crate::model::branches::forest::{BranchPoint, Placed, RecordLinks};
use crate::model::branches::{Branches, Growth};
use crate::model::fingerprint::{ByPrint, Print};

/// Parent links of the records, and what is derived from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Lineage {
    /// Parents of records that are links but no entries.
    pub(super) links: ByPrint<Option<Print>>,
    leaf: Option<Key>,
    departures: Vec<BranchPoint>,
    /// Whether the format says that all records are linked.
    pub(super) is_linked_tree: bool,
    /// Whether any record has a parent.
    pub(super) has_links: bool,
    /// Branches as derived last.
    pub(super) branches: Branches,
    /// How often the branches changed.
    pub(super) changed: u32,
    /// Whether the branches must be derived anew.
    pub(super) is_stale: bool,
    /// How often a recorded link, or an entry with recorded links, changed.
    pub(super) relinked: u32,
}

impl Lineage {
    // === recording ===

    /// Marks all records as linked.
    pub(super) fn link_all(&mut self) {
        self.is_stale |= !self.is_linked_tree;
        self.is_linked_tree = true;
    }

    /// Adds a link that is no entry.
    pub(super) fn add_link(&mut self, key: Print, parent: Option<Print>) {
        self.has_links = true;
        self.links.insert(key, parent);
    }

    /// Makes a record the last one; `entries` is the number of entries before it. If it does not
    /// continue from the previous last record, that one was abandoned.
    pub(super) fn set_leaf(&mut self, key: &Key, parent: Option<&Key>, entries: usize) {
        if let Some(tip) = self
            .leaf
            .replace(key.clone())
            .filter(|tip| tip != key && Some(tip) != parent)
        {
            self.departures.push(BranchPoint {
                tip,
                next: key.clone(),
                place: entries,
            });
        }
    }

    /// Makes a recorded record the last one again.
    pub(super) fn restore_leaf(&mut self, key: &Key) {
        self.is_stale |= self.leaf.as_ref() != Some(key);
    }

    /// Updates the branches with a new record of the main lane. A key that was recorded before as a
    /// link or an entry changes the tree.
    pub(super) fn grow(&mut self, new: &Growth, is_known: bool) {
        self.relinked += u32::from(is_known);
        self.is_stale = self.is_stale || is_known || !self.branches.grow(new);
    }

    /// Marks the branches as stale, because an entry with recorded links changed or moved.
    pub(super) fn invalidate(&mut self) {
        self.is_stale = true;
        self.relinked += 1;
    }

    /// Stores the derived branches.
    pub(super) fn set_branches(&mut self, branches: Branches) {
        self.changed += u32::from(!are_same(&self.branches, &branches));
        self.branches = branches;
        self.is_stale = false;
    }

    // === reading ===

    /// Whether the branches are equal to those of another reading.
    pub(super) fn has_same_branches(&self, other: &Self) -> bool {
        are_same(&self.branches, &other.branches)
    }

    /// Whether any record has a parent, or the format says that all have.
    pub(super) fn has_links(&self) -> bool {
        self.has_links || self.is_linked_tree
    }

    /// The last record, if all records are linked.
    pub(super) fn leaf(&self, print: impl Fn(&Key) -> Print) -> Option<Print> {
        self.leaf
            .as_ref()
            .filter(|_| self.is_linked_tree)
            .map(print)
    }

    /// The links of all records, including those of entries.
    pub(super) fn links<'a>(
        &'a self,
        entries: Vec<Placed>,
        print: &'a dyn Fn(&Key) -> Print,
    ) -> RecordLinks<'a> {
        RecordLinks {
            entries,
            others: &self.links,
            leaf: self.leaf(print),
            departures: &self.departures,
            print,
        }
    }
}

fn are_same(one: &Branches, other: &Branches) -> bool {
    one.list == other.list && one.abandoned == other.abandoned
}
