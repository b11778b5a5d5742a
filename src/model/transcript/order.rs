//! The entries in the order of the file, and the place of each.
//!
//! Invariant: entries get their numbers in this order, so the numbers tell the places.

use std::collections::HashSet;
use std::ops::Deref;

use crate::model::entry::EntryId;

/// Entries in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    ids: Vec<EntryId>,
    /// Those that go with this batch.
    retired: HashSet<EntryId>,
}

impl Order {
    /// Adds a new entry at the end.
    pub(super) fn push(&mut self, id: EntryId) {
        self.ids.push(id);
    }

    /// An entry is there no more. It keeps its place until [`Order::drop_retired`].
    pub(super) fn retire(&mut self, id: EntryId) {
        self.retired.insert(id);
    }

    /// Takes out what was retired: once for a batch, for there may be thousands.
    pub(super) fn drop_retired(&mut self) {
        let retired = std::mem::take(&mut self.retired);
        if !retired.is_empty() {
            self.ids.retain(|id| !retired.contains(id));
        }
    }

    /// How many entries are there, without those that were retired.
    pub(super) fn remaining(&self) -> usize {
        self.ids.len() - self.retired.len()
    }

    /// The last of them.
    pub(super) fn last_remaining(&self) -> Option<EntryId> {
        self.ids
            .iter()
            .rev()
            .find(|id| !self.retired.contains(id))
            .copied()
    }

    /// The place of an entry.
    pub(super) fn place_of(&self, id: EntryId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }
}

impl Deref for Order {
    type Target = [EntryId];

    fn deref(&self) -> &[EntryId] {
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::{EntryId, Order};

    proptest! {
        #[test]
        fn a_place_is_where_it_stands(numbers in prop::collection::btree_set(0u32..12, 0..9), gone in 0u32..12) {
            let mut ids: Vec<EntryId> = numbers.into_iter().map(EntryId).collect();
            let mut order = Order::default();
            for id in &ids {
                order.push(*id);
            }
            order.retire(EntryId(gone));
            order.drop_retired();
            ids.retain(|id| id.0 != gone);
            assert_eq!(&*order, ids.as_slice());
            for id in (0..13).map(EntryId) {
                assert_eq!(order.place_of(id), ids.iter().position(|other| *other == id));
            }
        }
    }
}
