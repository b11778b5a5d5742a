//! Maps keyed by fingerprints of keys, which take less memory than the keys.
//!
//! Invariant: fingerprints have a new random seed in every run, so a file cannot contain keys
//! chosen to collide. Two of a million ordinary keys collide once in thirty million runs.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::num::NonZeroU64;

use hashbrown::HashTable;

/// A hash with a fixed seed, for values where collisions harm nobody.
pub(crate) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Fingerprint of a key: equal for equal keys of one map, and hardly ever equal for others. Aligned so
/// that a map to numbers of four bytes has no gaps.
#[repr(Rust, packed(4))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Print(NonZeroU64);

impl Print {
    fn of(hash: u64) -> Self {
        Self(NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN))
    }

    /// It is a hash already.
    fn as_hash(self) -> u64 {
        self.0.get()
    }

    /// The lower part, for tables that tolerate collisions.
    pub(crate) fn short(self) -> u32 {
        let [.., a, b, c, d] = self.0.get().to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

/// Fingerprints values that are no keys but combine several fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seed(RandomState);

impl Seed {
    /// The fingerprint of what `feed` writes to the hasher.
    pub(crate) fn print_of(&self, feed: impl FnOnce(&mut DefaultHasher)) -> Print {
        let mut hasher = self.0.build_hasher();
        feed(&mut hasher);
        Print::of(hasher.finish())
    }
}

/// A map from fingerprints to values, whose table holds numbers of rows: it is half empty on
/// average, and a place for a row would take three times as much.
#[derive(Clone, Debug)]
pub(crate) struct ByPrint<V> {
    rows: Vec<(Print, V)>,
    numbers: HashTable<u32>,
}

impl<V> Default for ByPrint<V> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            numbers: HashTable::new(),
        }
    }
}

impl<V> ByPrint<V> {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self {
            rows: Vec::with_capacity(rows),
            numbers: HashTable::with_capacity(rows),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// All values, in the order in which they were inserted while none is removed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Print, &V)> + Clone {
        self.rows.iter().map(|(print, value)| (*print, value))
    }

    /// The index of its row, in the order of insertion; another one is moved where one is removed.
    pub(crate) fn place(&self, print: Print) -> Option<usize> {
        let number = self
            .numbers
            .find(print.as_hash(), |number| is_of(&self.rows, *number, print));
        number.map(|number| *number as usize)
    }

    pub(crate) fn get(&self, print: Print) -> Option<&V> {
        self.place(print)
            .and_then(|place| self.rows.get(place))
            .map(|(_, value)| value)
    }

    pub(crate) fn contains(&self, print: Print) -> bool {
        self.place(print).is_some()
    }

    /// Inserts a value and returns the previous one.
    pub(crate) fn insert(&mut self, print: Print, value: V) -> Option<V> {
        let place = self.place(print);
        if let Some((_, known)) = place.and_then(|place| self.rows.get_mut(place)) {
            return Some(std::mem::replace(known, value));
        }
        let number = u32::try_from(self.rows.len()).ok()?;
        self.rows.push((print, value));
        let rows = &self.rows;
        self.numbers
            .insert_unique(print.as_hash(), number, |number| hash_at(rows, *number));
        None
    }

    /// The value, which is made if there is none; `None` if there is no room for it, after 2³² others.
    pub(crate) fn get_or_insert_with(
        &mut self,
        print: Print,
        make: impl FnOnce() -> V,
    ) -> Option<&V> {
        if !self.contains(print) {
            self.insert(print, make());
        }
        self.get(print)
    }

    /// Removes and returns a value.
    pub(crate) fn remove(&mut self, print: Print) -> Option<V> {
        let rows = &self.rows;
        let found = self
            .numbers
            .find_entry(print.as_hash(), |number| is_of(rows, *number, print));
        let (number, _) = found.ok()?.remove();
        let last = u32::try_from(rows.len() - 1).ok()?;
        // The last row takes the place of the removed one.
        if let Some(moved) = self
            .numbers
            .find_mut(hash_at(rows, last), |number| *number == last)
        {
            *moved = number;
        }
        Some(self.rows.swap_remove(number as usize).1)
    }
}

fn is_of<V>(rows: &[(Print, V)], number: u32, print: Print) -> bool {
    rows.get(number as usize)
        .is_some_and(|(known, _)| *known == print)
}

fn hash_at<V>(rows: &[(Print, V)], number: u32) -> u64 {
    rows.get(number as usize)
        .map_or(0, |(print, _)| print.as_hash())
}

/// A map from keys to values that does not hold the keys.
#[derive(Clone, Debug)]
pub(crate) struct ByKey<V> {
    seed: RandomState,
    /// The values by fingerprint, for callers that have fingerprints.
    pub(crate) values: ByPrint<V>,
}

impl<V> Default for ByKey<V> {
    fn default() -> Self {
        Self {
            seed: RandomState::new(),
            values: ByPrint::default(),
        }
    }
}

impl<V> ByKey<V> {
    /// The fingerprint of a key.
    pub(crate) fn print(&self, key: &str) -> Print {
        Print::of(self.seed.hash_one(key))
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&V> {
        self.values.get(self.print(key))
    }

    /// Whether the key has a value.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// An empty map with the same seed, so keys have the same fingerprints.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            seed: self.seed.clone(),
            values: ByPrint::default(),
        }
    }

    /// Inserts a value and returns the previous one.
    pub(crate) fn insert(&mut self, key: &str, value: V) -> Option<V> {
        self.values.insert(self.print(key), value)
    }

    /// Removes and returns the value of a key.
    pub(crate) fn remove(&mut self, key: &str) -> Option<V> {
        self.values.remove(self.print(key))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{any, prop, proptest};

    use super::ByKey;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((any::<bool>(), 0u8..40, any::<u32>()), 0..400)) {
            let mut map = ByKey::default();
            let mut plain: HashMap<String, u32> = HashMap::new();
            for (is_insert, key, value) in steps {
                let key = format!("key {key}");
                if is_insert {
                    assert_eq!(map.insert(&key, value), plain.insert(key, value));
                } else {
                    assert_eq!(map.remove(&key), plain.remove(&key));
                }
                for number in 0..40 {
                    let key = format!("key {number}");
                    assert_eq!(map.get(&key), plain.get(&key));
                    assert_eq!(map.values.get(map.print(&key)), plain.get(&key));
                }
                assert_eq!(map.values.len(), plain.len());
            }
        }
    }
}
