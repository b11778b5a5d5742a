//! Which record goes on from which, and the branches that follow from it.
//!
//! Invariant: links are recorded once; whoever changes one that was recorded counts it, and the branches are stale.

use crate::model::body::Key;
use crate::model::branches::forest::{Departure, Links, Placed};
use crate::model::branches::{Branches, Growth};
use crate::model::fingerprint::{ByPrint, Print};

/// The parent links of the records and what was derived from them.
#[derive(Clone, Debug, Default)]
pub(super) struct Lineage {
    /// Parents of records that are links without being entries.
    pub(super) links: ByPrint<Option<Print>>,
    leaf: Option<Key>,
    departures: Vec<Departure>,
    /// Whether the format says that all records are linked.
    pub(super) is_linked_tree: bool,
    /// Whether any record says which one it goes on from.
    pub(super) has_links: bool,
    /// What the session left behind, as it was derived last.
    pub(super) branches: Branches,
    /// How often the branches were others.
    pub(super) changed: u32,
    /// Whether the branches must be derived anew.
    pub(super) is_stale: bool,
    /// How often a link changed that had been recorded, or an entry whose links are known.
    pub(super) relinked: u32,
}

impl Lineage {
    // === what is recorded ===

    /// The format says that all records are linked.
    pub(super) fn link_all(&mut self) {
        self.is_stale |= !self.is_linked_tree;
        self.is_linked_tree = true;
    }

    /// Takes in a link that is no entry.
    pub(super) fn add_link(&mut self, key: Print, parent: Option<Print>) {
        self.has_links = true;
        self.links.insert(key, parent);
    }

    /// A record is the last one now, with so many entries before it. If it does not go on from the one before, that
    /// was left.
    pub(super) fn lead(&mut self, key: &Key, parent: Option<&Key>, entries: usize) {
        if let Some(tip) = self
            .leaf
            .replace(key.clone())
            .filter(|tip| tip != key && Some(tip) != parent)
        {
            self.departures.push(Departure {
                tip,
                next: key.clone(),
                place: entries,
            });
        }
    }

    /// A record that is known leads again.
    pub(super) fn lead_again(&mut self, key: &Key) {
        self.is_stale |= self.leaf.as_ref() != Some(key);
    }

    /// Takes note of a new record of the main lane. A key that was recorded before as a link or as an entry changes what
    /// is known of the tree.
    pub(super) fn grow(&mut self, new: &Growth, is_known: bool) {
        self.relinked += u32::from(is_known);
        self.is_stale = self.is_stale || is_known || !self.branches.grow(new);
    }

    /// An entry whose links are known has changed or moved.
    pub(super) fn unsettle(&mut self) {
        self.is_stale = true;
        self.relinked += 1;
    }

    /// Takes the branches that were derived anew.
    pub(super) fn settle(&mut self, branches: Branches) {
        self.changed += u32::from(!are_same(&self.branches, &branches));
        self.branches = branches;
        self.is_stale = false;
    }

    // === what is known ===

    /// Whether the session left the same behind in another reading.
    pub(super) fn has_same_branches(&self, other: &Self) -> bool {
        are_same(&self.branches, &other.branches)
    }

    /// Whether any record says which one it goes on from, or the format says that all do.
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

    /// The links of all records, with those of the entries.
    pub(super) fn links<'a>(
        &'a self,
        entries: Vec<Placed>,
        print: &'a dyn Fn(&Key) -> Print,
    ) -> Links<'a> {
        Links {
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
