//! An answer may hold twenty thousand calls: it is laid out in portions of its blocks, so that a frame costs what the
//! window shows, and not what the answer holds.
//!
//! Invariant: portions are numbered in the order of the screen; an entry with few blocks is one portion, and none
//! needs room here.

use std::ops::Range;

use crate::session::paging::BLOCKS;

/// A part of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portion {
    /// Place of the entry in the sequence.
    pub(crate) place: usize,
    /// Which of the entry's portions it is, from 0.
    pub(crate) number: usize,
    /// How many the entry has.
    pub(crate) of: usize,
}

impl Portion {
    /// Whether the entry ends with it.
    pub(crate) fn is_last(self) -> bool {
        self.number + 1 >= self.of
    }

    /// Its blocks; those of the last one are all that are left.
    pub(crate) fn blocks(self) -> Range<usize> {
        let end = if self.is_last() {
            usize::MAX
        } else {
            (self.number + 1) * BLOCKS
        };
        self.number * BLOCKS..end
    }
}

/// The portions of all entries of a sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Portions {
    /// Entries of several portions, in order.
    large: Vec<Large>,
}

#[derive(Clone, Copy, Debug)]
struct Large {
    place: usize,
    portions: usize,
    /// How many portions there are before it.
    first: usize,
}

impl Large {
    /// How many portions more than entries there are up to its end.
    fn more(self) -> usize {
        self.first + self.portions - self.place - 1
    }
}

impl Portions {
    /// Forgets all entries.
    pub(crate) fn clear(&mut self) {
        self.large.clear();
    }

    /// The entry at a place has so many blocks.
    pub(crate) fn set(&mut self, place: usize, blocks: usize) {
        let portions = blocks.div_ceil(BLOCKS).max(1);
        let at = self.large.partition_point(|large| large.place < place);
        let known = self.large.get_mut(at).filter(|large| large.place == place);
        match known {
            Some(known) if known.portions == portions => return,
            Some(known) if portions > 1 => known.portions = portions,
            Some(_) => drop(self.large.remove(at)),
            None if portions > 1 => self.large.insert(
                at,
                Large {
                    place,
                    portions,
                    first: 0,
                },
            ),
            None => return,
        }
        let mut more = at
            .checked_sub(1)
            .and_then(|before| self.large.get(before))
            .map_or(0, |large| large.more());
        for large in self.large.iter_mut().skip(at) {
            large.first = large.place + more;
            more = large.more();
        }
    }

    /// How many portions so many entries have.
    pub(crate) fn count(&self, entries: usize) -> usize {
        entries + self.large.last().map_or(0, |large| large.more())
    }

    /// One of all portions.
    pub(crate) fn at(&self, number: usize) -> Portion {
        let before = self.large.partition_point(|large| large.first <= number);
        let Some(large) = before.checked_sub(1).and_then(|at| self.large.get(at)) else {
            return Portion {
                place: number,
                number: 0,
                of: 1,
            };
        };
        if number < large.first + large.portions {
            return Portion {
                place: large.place,
                number: number - large.first,
                of: large.portions,
            };
        }
        Portion {
            place: number - large.more(),
            number: 0,
            of: 1,
        }
    }

    /// The number of the portion of the entry at a place that holds a block; the last one, if none does.
    pub(crate) fn of_block(&self, place: usize, block: usize) -> usize {
        let before = self.large.partition_point(|large| large.place <= place);
        let Some(large) = before.checked_sub(1).and_then(|at| self.large.get(at)) else {
            return place;
        };
        if large.place == place {
            return large.first + (block / BLOCKS).min(large.portions - 1);
        }
        place + large.more()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{Portion, Portions};
    use crate::session::paging::BLOCKS;

    proptest! {
        #[test]
        fn portions_are_those_of_a_plain_list(
            entries in prop::collection::vec(0usize..300, 1..30),
            changes in prop::collection::vec((any::<usize>(), 0usize..300), 0..20),
        ) {
            let mut entries = entries;
            let mut portions = Portions::default();
            for (place, blocks) in entries.iter().enumerate() {
                portions.set(place, *blocks);
            }
            for (place, blocks) in changes {
                let place = place % entries.len();
                entries[place] = blocks;
                portions.set(place, blocks);
            }
            let of = |blocks: usize| blocks.div_ceil(BLOCKS).max(1);
            let all: Vec<Portion> = entries
                .iter()
                .enumerate()
                .flat_map(|(place, blocks)| (0..of(*blocks)).map(move |number| Portion { place, number, of: of(*blocks) }))
                .collect();
            assert_eq!(portions.count(entries.len()), all.len());
            for (number, portion) in all.iter().enumerate() {
                assert_eq!(portions.at(number), *portion);
                let blocks = entries[portion.place];
                for block in portion.blocks().take_while(|block| *block < blocks) {
                    assert_eq!(portions.of_block(portion.place, block), number, "{block} of {blocks}");
                }
            }
            assert_eq!(portions.large.len(), entries.iter().filter(|blocks| of(**blocks) > 1).count());
        }
    }
}
