//! Portions: ranges of an entry's blocks that are laid out one at a time. An entry may have twenty
//! thousand calls, and a frame must cost only what the window shows.
//!
//! Invariant: portions are numbered in the order of the screen. An entry with few blocks is one
//! portion, and uses no memory here.

use std::ops::Range;

use crate::session::paging::BLOCKS;

/// A range of an entry's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryPortion {
    /// Index of the entry in the sequence.
    pub(crate) place: usize,
    /// Index of the portion in the entry.
    pub(crate) number: usize,
    /// Number of portions of the entry.
    pub(crate) of: usize,
}

impl EntryPortion {
    pub(crate) fn is_last(self) -> bool {
        self.number + 1 >= self.of
    }

    /// Range of blocks; that of the last portion is open.
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
    /// Entries with more than one portion, in order.
    large: Vec<LargeEntry>,
}

#[derive(Clone, Copy, Debug)]
struct LargeEntry {
    place: usize,
    portions: usize,
    /// Number of portions before the entry.
    first: usize,
}

impl LargeEntry {
    /// Number of portions up to the end of the entry, less one per entry.
    fn more(self) -> usize {
        self.first + self.portions - self.place - 1
    }
}

impl Portions {
    pub(crate) fn clear(&mut self) {
        self.large.clear();
    }

    /// Sets the number of blocks of an entry.
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
                LargeEntry {
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

    /// Number of portions of all entries.
    pub(crate) fn count(&self, entries: usize) -> usize {
        entries + self.large.last().map_or(0, |large| large.more())
    }

    /// The portion at an index.
    pub(crate) fn at(&self, number: usize) -> EntryPortion {
        let before = self.large.partition_point(|large| large.first <= number);
        let Some(large) = before.checked_sub(1).and_then(|at| self.large.get(at)) else {
            return EntryPortion {
                place: number,
                number: 0,
                of: 1,
            };
        };
        if number < large.first + large.portions {
            return EntryPortion {
                place: large.place,
                number: number - large.first,
                of: large.portions,
            };
        }
        EntryPortion {
            place: number - large.more(),
            number: 0,
            of: 1,
        }
    }

    /// Index of the portion that has a block of an entry; of the last portion if none has it.
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

    use super::{EntryPortion, Portions};
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
            let all: Vec<EntryPortion> = entries
                .iter()
                .enumerate()
                .flat_map(|(place, blocks)| (0..of(*blocks)).map(move |number| EntryPortion { place, number, of: of(*blocks) }))
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
