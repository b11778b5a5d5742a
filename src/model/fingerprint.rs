//! Maps by fingerprints of keys, which take no room for the keys themselves.
//!
//! Invariant: fingerprints are seeded anew in every run, so nobody can write keys that meet. Among a million
//! keys of good will two meet once in thirty million runs.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

/// Values by key.
#[derive(Clone, Debug)]
pub struct ByKey<V> {
    seed: RandomState,
    values: HashMap<u64, V, BuildHasherDefault<Taken>>,
}

/// A fingerprint is a hash already.
#[derive(Clone, Copy, Debug, Default)]
struct Taken(u64);

impl Hasher for Taken {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }
}

impl<V> Default for ByKey<V> {
    fn default() -> Self {
        Self { seed: RandomState::new(), values: HashMap::default() }
    }
}

impl<V> ByKey<V> {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.values.get(&self.seed.hash_one(key))
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.values.get_mut(&self.seed.hash_one(key))
    }

    /// Whether the key has a value.
    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Gives the key a value; answers the one that it had.
    pub fn insert(&mut self, key: &str, value: V) -> Option<V> {
        self.values.insert(self.seed.hash_one(key), value)
    }

    /// Takes the value of a key away.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        self.values.remove(&self.seed.hash_one(key))
    }
}
