//! The entries in file order, and the position of each.
//!
//! Invariant: ids are assigned in this order, so positions are found by binary search.

use std::collections::HashSet;
use std::ops::Deref;

use crate::model::entry::EntryId;

#[derive(Clone, Debug, Default)]
pub(super) struct EntryOrder {
    ids: Vec<EntryId>,
    /// Entries to be removed after this batch.
    retired: HashSet<EntryId>,
}

impl EntryOrder {
    pub(super) fn push(&mut self, id: EntryId) {
        self.ids.push(id);
    }

    /// Marks an entry as removed. It keeps its position until [`EntryOrder::drop_retired`].
    pub(super) fn retire(&mut self, id: EntryId) {
        self.retired.insert(id);
    }

    /// Removes the marked entries: once for each batch, because there may be thousands.
    pub(super) fn drop_retired(&mut self) {
        let retired = std::mem::take(&mut self.retired);
        if !retired.is_empty() {
            self.ids.retain(|id| !retired.contains(id));
        }
    }

    /// Number of entries that are not marked as removed.
    pub(super) fn remaining(&self) -> usize {
        self.ids.len() - self.retired.len()
    }

    /// The last of those.
    pub(super) fn last_remaining(&self) -> Option<EntryId> {
        self.ids
            .iter()
            .rev()
            .find(|id| !self.retired.contains(id))
            .copied()
    }

    pub(super) fn place_of(&self, id: EntryId) -> Option<usize> {
        self.ids.binary_search(&id).ok()
    }
}

impl Deref for EntryOrder {
    type Target = [EntryId];

    fn deref(&self) -> &[EntryId] {
        &self.ids
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::{EntryId, EntryOrder};

    proptest! {
        #[test]
        fn a_place_is_where_it_stands(numbers in prop::collection::btree_set(0u32..12, 0..9), gone in 0u32..12) {
            let mut ids: Vec<EntryId> = numbers.into_iter().map(EntryId).collect();
            let mut order = EntryOrder::default();
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
