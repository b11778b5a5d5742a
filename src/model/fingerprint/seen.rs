//! What was seen before, by key: only grows, and takes no room but for fingerprints and values.

use std::hash::{BuildHasher, RandomState};

use hashbrown::HashTable;

/// Values by key, of which none is ever taken away. Fingerprints lie in order; what is new is gathered, and
/// put among them now and then.
#[derive(Clone, Debug, Default)]
pub struct Seen<V> {
    seed: RandomState,
    fresh: HashTable<(u64, V)>,
    /// Of all that is not fresh: most keys that are asked for are not there.
    filter: Filter,
    some: Sorted<V>,
    most: Sorted<V>,
}

/// As many as are looked for by hash.
const FRESH: usize = 4_096;
/// As many as are put among all others at once.
const SOME: usize = 32_768;

impl<V: Copy + Default> Seen<V> {
    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<V> {
        let print = self.seed.hash_one(key);
        let fresh = self.fresh.find(print, |(known, _)| *known == print).map(|(_, value)| value);
        let is_old = fresh.is_none() && self.filter.may_have(print);
        let old = is_old.then(|| self.some.get(print).or_else(|| self.most.get(print))).flatten();
        fresh.or(old).copied()
    }

    /// Whether the key has a value.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Gives the key a value; answers the one that it had.
    pub(crate) fn insert(&mut self, key: &str, value: V) -> Option<V> {
        let print = self.seed.hash_one(key);
        let known = match self.fresh.find_mut(print, |(known, _)| *known == print) {
            Some((_, known)) => Some(known),
            None if !self.filter.may_have(print) => None,
            None => match self.some.place(print) {
                Some(place) => self.some.values.get_mut(place),
                None => self.most.place(print).and_then(|place| self.most.values.get_mut(place)),
            },
        };
        if let Some(known) = known {
            return Some(std::mem::replace(known, value));
        }
        self.fresh.insert_unique(print, (print, value), |(print, _)| *print);
        if self.fresh.len() >= FRESH {
            let fresh: Vec<(u64, V)> = self.fresh.drain().collect();
            if self.filter.has_room_for(self.some.prints.len() + self.most.prints.len() + fresh.len()) {
                for (print, _) in &fresh {
                    self.filter.add(*print);
                }
            } else {
                let others = fresh.iter().map(|(print, _)| print);
                self.filter = Filter::of(self.some.prints.iter().chain(&self.most.prints).chain(others));
            }
            self.some.take(fresh);
            if self.some.prints.len() >= SOME {
                let Sorted { prints, values } = std::mem::take(&mut self.some);
                self.most.take(prints.into_iter().zip(values).collect());
            }
        }
        None
    }
}

/// Tells of most fingerprints that they are not among those that were added, by looking at one place.
#[derive(Clone, Debug, Default)]
struct Filter {
    words: Vec<u64>,
}

/// A word for so many fingerprints at most: of forty others one is taken for one of them then.
const PER_WORD: usize = 4;

impl Filter {
    /// Of these, with room for as many more.
    fn of<'p>(prints: impl Iterator<Item = &'p u64> + Clone) -> Self {
        let mut filter = Self { words: vec![0; prints.clone().count() * 2 / PER_WORD + 1] };
        prints.for_each(|print| filter.add(*print));
        filter
    }

    fn has_room_for(&self, prints: usize) -> bool {
        prints <= self.words.len() * PER_WORD
    }

    fn add(&mut self, print: u64) {
        let at = place_among(print, self.words.len());
        self.words.get_mut(at).into_iter().for_each(|word| *word |= bits(print));
    }

    fn may_have(&self, print: u64) -> bool {
        let word = self.words.get(place_among(print, self.words.len()));
        word.is_some_and(|word| word & bits(print) == bits(print))
    }
}

/// Two of the 64, by the end of the fingerprint: its beginning says which word.
fn bits(print: u64) -> u64 {
    1 << (print & 63) | 1 << (print >> 6 & 63)
}

/// Fingerprints are spread evenly, so each is about as far from the beginning as it is large.
fn place_among(print: u64, len: usize) -> usize {
    usize::try_from((u128::from(print) * len as u128) >> u64::BITS).unwrap_or_default()
}

/// Values by fingerprint, in its order.
#[derive(Clone, Debug, Default)]
struct Sorted<V> {
    prints: Vec<u64>,
    values: Vec<V>,
}

impl<V: Copy + Default> Sorted<V> {
    fn get(&self, print: u64) -> Option<&V> {
        self.values.get(self.place(print)?)
    }

    /// Looked for from about where it must be, so that most of the list is never touched.
    fn place(&self, print: u64) -> Option<usize> {
        let prints = self.prints.as_slice();
        let about = place_among(print, prints.len());
        let step = prints.len().isqrt() + 1;
        let (mut low, mut high) = (about.saturating_sub(step), (about + step).min(prints.len()));
        while low > 0 && prints.get(low).is_some_and(|first| *first > print) {
            low = low.saturating_sub(step);
        }
        while prints.get(high).is_some_and(|next| *next <= print) {
            high = (high + step).min(prints.len());
        }
        prints.get(low..high)?.binary_search(&print).ok().map(|place| low + place)
    }

    /// Puts others among them, none of which is there: from the end on, so that no second list is needed.
    fn take(&mut self, mut others: Vec<(u64, V)>) {
        others.sort_unstable_by_key(|(print, _)| *print);
        let mut left = self.prints.len();
        let mut free = left + others.len();
        self.prints.reserve_exact(others.len());
        self.values.reserve_exact(others.len());
        self.prints.resize(free, 0);
        self.values.resize(free, V::default());
        while let Some((print, value)) = others.pop() {
            let behind = self.prints.get(..left).unwrap_or_default().partition_point(|known| *known < print);
            // Those behind it move together.
            let moved = left - behind;
            self.prints.copy_within(behind..left, free - moved);
            self.values.copy_within(behind..left, free - moved);
            left = behind;
            free -= moved + 1;
            if let (Some(place), Some(its)) = (self.prints.get_mut(free), self.values.get_mut(free)) {
                (*place, *its) = (print, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::hash::BuildHasher;

    use super::{FRESH, SOME, Seen, Sorted};

    #[test]
    fn it_is_a_map_that_grows() {
        let mut map = Seen::default();
        let mut plain = HashMap::new();
        for number in 0..u32::try_from(2 * SOME + FRESH + 3).unwrap() {
            // Every fifth key comes again, some of them long after.
            let key = if number % 5 == 4 { number / 5 } else { number };
            let key = format!("key {key}");
            assert_eq!(map.contains(&key), plain.contains_key(&key));
            assert_eq!(map.insert(&key, number), plain.insert(key, number));
        }
        assert!(plain.iter().all(|(key, value)| map.get(key) == Some(*value)));
        let mistaken = |n: &u32| map.filter.may_have(map.seed.hash_one(format!("no {n}")));
        assert!((0..1_000).filter(mistaken).count() < 80);
        assert!(!map.contains("key") && !map.most.prints.is_empty() && !map.fresh.is_empty());
        assert_eq!(map.fresh.len() + map.some.prints.len() + map.most.prints.len(), plain.len());
    }

    #[test]
    fn others_are_put_among_them_in_order() {
        let mut sorted = Sorted::default();
        for others in [vec![(5, 'e'), (1, 'a')], vec![], vec![(9, 'i'), (0, 'n'), (3, 'c')], vec![(4, 'd')]] {
            sorted.take(others);
        }
        assert_eq!(sorted.prints, [0, 1, 3, 4, 5, 9]);
        assert_eq!(sorted.values, ['n', 'a', 'c', 'd', 'e', 'i']);
    }
}
