//! A set of entries: of many in a row, as those of a branch are, it takes a fifth of what a hash set does.

use super::EntryId;

/// A set of entries. It takes a byte for each entry up to the last one that belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntrySet {
    /// By entry; the last one belongs to it.
    belongs: Vec<bool>,
    len: usize,
}

impl EntrySet {
    /// Whether the entry belongs to it.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "as of the sets of the standard library"
    )]
    pub fn contains(&self, id: &EntryId) -> bool {
        self.belongs.get(id.index()) == Some(&true)
    }

    /// Adds an entry.
    pub(crate) fn insert(&mut self, id: EntryId) {
        if self.belongs.len() <= id.index() {
            self.belongs.resize(id.index() + 1, false);
        }
        let belonged = self
            .belongs
            .get_mut(id.index())
            .map(|belongs| std::mem::replace(belongs, true));
        self.len += usize::from(belonged == Some(false));
    }

    /// What belongs to one of them, but not to both.
    pub(crate) fn differences(&self, other: &Self) -> impl Iterator<Item = EntryId> {
        let last = self.belongs.len().max(other.belongs.len());
        let ids = (0..u32::try_from(last).unwrap_or(u32::MAX)).map(EntryId);
        ids.filter(|id| self.contains(id) != other.contains(id))
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Extend<EntryId> for EntrySet {
    fn extend<I: IntoIterator<Item = EntryId>>(&mut self, entries: I) {
        entries.into_iter().for_each(|id| self.insert(id));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{prop, proptest};

    use super::{EntryId, EntrySet};

    proptest! {
        #[test]
        fn it_is_a_set(numbers in prop::collection::vec(0u32..40, 0..30)) {
            let mut set = EntrySet::default();
            set.extend(numbers.iter().copied().map(EntryId));
            let plain: HashSet<u32> = numbers.iter().copied().collect();
            assert_eq!((set.len, set.is_empty()), (plain.len(), plain.is_empty()));
            assert!((0..50).all(|number| set.contains(&EntryId(number)) == plain.contains(&number)));
            let mut turned = EntrySet::default();
            turned.extend(numbers.iter().rev().copied().map(EntryId));
            assert_eq!(set, turned, "the order of coming does not matter");
            let mut other = EntrySet::default();
            other.extend([3, 45].map(EntryId));
            let found: HashSet<u32> = set.differences(&other).map(|id| id.0).collect();
            assert_eq!(found, &plain ^ &HashSet::from([3, 45]));
        }
    }
}
