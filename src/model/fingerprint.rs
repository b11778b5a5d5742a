//! Maps by fingerprints of keys, which take no room for the keys themselves.
//!
//! Invariant: fingerprints are seeded anew in every run, so nobody can write keys that meet. Among a million
//! keys of good will two meet once in thirty million runs.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};
use std::num::NonZeroU64;

use hashbrown::HashTable;

/// What stands for a key: the same for the same key of one map, and hardly ever for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Print(NonZeroU64);

impl Print {
    fn of(hash: u64) -> Self {
        Self(NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN))
    }

    fn hash(self) -> u64 {
        self.0.get()
    }

    /// A part of it that tells few of them apart.
    pub(crate) fn short(self) -> u32 {
        let [.., a, b, c, d] = self.0.get().to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }
}

/// Makes fingerprints of what is no key, but several things together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seed(RandomState);

impl Seed {
    /// The fingerprint of what is fed.
    pub(crate) fn print_of(&self, feed: impl FnOnce(&mut DefaultHasher)) -> Print {
        let mut hasher = self.0.build_hasher();
        feed(&mut hasher);
        Print::of(hasher.finish())
    }
}

/// Values by key.
#[derive(Clone, Debug)]
pub(crate) struct ByKey<V> {
    seed: RandomState,
    values: ByPrint<V>,
}

/// Values by fingerprint, in little more room than both take: the table holds places in the two lists.
#[derive(Clone, Debug)]
pub(crate) struct ByPrint<V> {
    table: HashTable<u32>,
    prints: Vec<Print>,
    values: Vec<V>,
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

    /// The value of the key with a fingerprint.
    pub(crate) fn get_print(&self, print: Print) -> Option<&V> {
        self.values.get(print)
    }

    /// The fingerprints of all keys with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Print, &V)> {
        self.values.iter()
    }

    /// An empty one, in which each key has the fingerprint that it has here.
    pub(crate) fn emptied(&self) -> Self {
        Self {
            seed: self.seed.clone(),
            values: ByPrint::default(),
        }
    }

    /// Gives the key a value; answers the one that it had.
    pub(crate) fn insert(&mut self, key: &str, value: V) -> Option<V> {
        self.values.insert(self.print(key), value)
    }

    /// Takes the value of a key away.
    pub(crate) fn remove(&mut self, key: &str) -> Option<V> {
        self.values.remove(self.print(key))
    }
}

impl<V> Default for ByPrint<V> {
    fn default() -> Self {
        Self {
            table: HashTable::new(),
            prints: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<V> ByPrint<V> {
    /// An empty one with room for so many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self {
            table: HashTable::with_capacity(count),
            prints: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.prints.len()
    }

    /// Its place in the lists: from 0 on in the order of coming, as long as nothing was taken away.
    pub(crate) fn place(&self, print: Print) -> Option<usize> {
        let is_it = |place: &u32| self.prints.get(index(*place)) == Some(&print);
        self.table.find(print.hash(), is_it).copied().map(index)
    }

    /// The value.
    pub(crate) fn get(&self, print: Print) -> Option<&V> {
        self.values.get(self.place(print)?)
    }

    /// The value, to be changed.
    pub(crate) fn get_mut(&mut self, print: Print) -> Option<&mut V> {
        let place = self.place(print)?;
        self.values.get_mut(place)
    }

    /// Whether there is a value.
    pub(crate) fn contains(&self, print: Print) -> bool {
        self.place(print).is_some()
    }

    /// All fingerprints with their values, by place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Print, &V)> + Clone {
        self.prints.iter().copied().zip(&self.values)
    }

    /// Sets a value; answers the one that was there.
    pub(crate) fn insert(&mut self, print: Print, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(print) {
            return Some(std::mem::replace(known, value));
        }
        let place = u32::try_from(self.prints.len()).ok()?;
        self.prints.push(print);
        self.values.push(value);
        let prints = &self.prints;
        self.table
            .insert_unique(print.hash(), place, |place| hash_of(prints, *place));
        None
    }

    /// Takes a value away; the last one takes its place in the lists.
    pub(crate) fn remove(&mut self, print: Print) -> Option<V> {
        let prints = &self.prints;
        let is_it = |place: &u32| prints.get(index(*place)) == Some(&print);
        let (place, _) = self.table.find_entry(print.hash(), is_it).ok()?.remove();
        let last = u32::try_from(self.prints.len().checked_sub(1)?).ok()?;
        if place != last
            && let Some(moved) = self
                .table
                .find_mut(hash_of(&self.prints, last), |place| *place == last)
        {
            *moved = place;
        }
        self.prints.swap_remove(index(place));
        Some(self.values.swap_remove(index(place)))
    }
}

/// A fingerprint is a hash already.
fn hash_of(prints: &[Print], place: u32) -> u64 {
    prints.get(index(place)).map_or(0, |print| print.hash())
}

fn index(place: u32) -> usize {
    place as usize
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
                    assert_eq!(map.get_print(map.print(&key)), plain.get(&key));
                }
                assert_eq!(map.values.iter().count(), plain.len());
            }
        }
    }
}
