//! The entries in the order of the file, and the place of each.

use std::collections::HashSet;
use std::ops::Deref;

use crate::model::entry::EntryId;

/// Entries in order. Mostly their numbers rise, and tell the places.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    ids: Vec<EntryId>,
    /// Places by number, if the numbers do not rise.
    places: Vec<u32>,
    /// Those that go with this batch.
    retired: HashSet<EntryId>,
}

/// Stands for no place.
const NOWHERE: u32 = u32::MAX;

impl Order {
    /// These entries.
    pub(super) fn of(ids: Vec<EntryId>) -> Self {
        let mut order = Self { ids, ..Self::default() };
        if !order.ids.is_sorted() {
            (0..order.ids.len()).for_each(|place| order.note(place));
        }
        order
    }

    /// Adds an entry at the end.
    pub(super) fn push(&mut self, id: EntryId) {
        let rises = self.ids.last().is_none_or(|last| *last < id);
        self.ids.push(id);
        if !self.places.is_empty() {
            self.note(self.ids.len() - 1);
        } else if !rises {
            (0..self.ids.len()).for_each(|place| self.note(place));
        }
    }

    /// An entry is there no more. It keeps its place until [`Order::drop_retired`].
    pub(super) fn retire(&mut self, id: EntryId) {
        self.retired.insert(id);
    }

    /// Takes out what was retired: once for a batch, for there may be thousands.
    pub(super) fn drop_retired(&mut self) {
        if !self.retired.is_empty() {
            self.ids.retain(|id| !self.retired.contains(id));
            *self = Self::of(std::mem::take(&mut self.ids));
        }
    }

    /// How many entries are there, without those that were retired.
    pub(super) fn remaining(&self) -> usize {
        self.ids.len() - self.retired.len()
    }

    /// The last of them.
    pub(super) fn last_remaining(&self) -> Option<EntryId> {
        self.ids.iter().rev().find(|id| !self.retired.contains(id)).copied()
    }

    /// The place of an entry.
    pub(super) fn place_of(&self, id: EntryId) -> Option<usize> {
        if self.places.is_empty() {
            return self.ids.binary_search(&id).ok();
        }
        let place = self.places.get(id.index()).filter(|place| **place != NOWHERE)?;
        usize::try_from(*place).ok()
    }

    fn note(&mut self, place: usize) {
        let (Some(id), Ok(place)) = (self.ids.get(place), u32::try_from(place)) else { return };
        if self.places.len() <= id.index() {
            self.places.resize(id.index() + 1, NOWHERE);
        }
        if let Some(known) = self.places.get_mut(id.index()) {
            *known = place;
        }
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
        fn a_place_is_where_it_stands(numbers in prop::collection::vec(0u32..12, 0..9), gone in 0u32..12, cut in 0usize..9) {
            let mut ids: Vec<EntryId> = Vec::new();
            numbers.into_iter().map(EntryId).for_each(|id| if !ids.contains(&id) { ids.push(id) });
            let mut order = Order::of(ids.get(..cut.min(ids.len())).unwrap().to_vec());
            ids.iter().skip(cut).for_each(|id| order.push(*id));
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
