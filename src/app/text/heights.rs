//! Heights of entries in rows, for scrollbar and percentages: an estimate until an entry is laid
//! out, exact afterwards. A Fenwick tree over blocks of entries makes sums and updates O(log n).

/// Heights by index in the sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heights {
    rows: Vec<u32>,
    /// Fenwick tree of the sums of blocks.
    sums: Vec<u64>,
}

/// Entries per node of the tree.
const BLOCK: usize = 32;

impl Heights {
    pub(crate) fn reset(&mut self, rows: impl Iterator<Item = u32>) {
        self.rows.clear();
        self.sums.clear();
        self.rows.reserve(rows.size_hint().0);
        for n in rows {
            self.push(n);
        }
    }

    /// Adds an entry at the end.
    pub(crate) fn push(&mut self, rows: u32) {
        let is_first = self.rows.len().is_multiple_of(BLOCK);
        self.rows.push(rows);
        if !is_first {
            return self.add(self.rows.len() - 1, 0, u64::from(rows));
        }
        let number = self.sums.len() + 1;
        let covered = lowest_bit(number);
        let mut sum = u64::from(rows);
        let mut below = number - 1;
        let stop = number - covered;
        while below > stop {
            sum += self.sums.get(below - 1).copied().unwrap_or(0);
            below -= lowest_bit(below);
        }
        self.sums.push(sum);
    }

    pub(crate) fn set(&mut self, place: usize, rows: u32) {
        let Some(known) = self.rows.get_mut(place) else {
            return;
        };
        let (old, new) = (u64::from(*known), u64::from(rows));
        if old != new {
            *known = rows;
            self.add(place, old, new);
        }
    }

    fn add(&mut self, place: usize, old: u64, new: u64) {
        let mut number = place / BLOCK + 1;
        while let Some(sum) = self.sums.get_mut(number - 1) {
            *sum = (*sum + new).saturating_sub(old);
            number += lowest_bit(number);
        }
    }

    /// Sum of the rows before an index.
    pub(crate) fn before(&self, place: usize) -> u64 {
        let place = place.min(self.rows.len());
        let first = place - place % BLOCK;
        let within = self.rows.get(first..place).unwrap_or_default();
        let mut sum = within.iter().map(|rows| u64::from(*rows)).sum();
        let mut number = place / BLOCK;
        while number > 0 {
            sum += self.sums.get(number - 1).copied().unwrap_or(0);
            number -= lowest_bit(number);
        }
        sum
    }

    /// Index of the entry that has this row; the last entry if the row is beyond the end.
    pub(crate) fn place_at(&self, row: u64) -> usize {
        let (mut block, mut left) = (0, row);
        let mut step = self
            .sums
            .len()
            .checked_ilog2()
            .map_or(0, |power| 1 << power);
        while step > 0 {
            if let Some(sum) = self.sums.get(block + step - 1).filter(|sum| **sum <= left) {
                left -= sum;
                block += step;
            }
            step /= 2;
        }
        let mut place = block * BLOCK;
        while let Some(rows) = self
            .rows
            .get(place)
            .copied()
            .map(u64::from)
            .filter(|rows| *rows <= left)
        {
            left -= rows;
            place += 1;
        }
        place.min(self.rows.len().saturating_sub(1))
    }

    pub(crate) fn total(&self) -> u64 {
        self.before(self.rows.len())
    }
}

fn lowest_bit(number: usize) -> usize {
    number & number.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::Heights;

    proptest! {
        #[test]
        fn sums_agree_with_a_plain_list(rows in proptest::collection::vec(0u32..50, 1..200), changes in proptest::collection::vec((any::<usize>(), 0u32..50), 0..40)) {
            let mut plain = rows.clone();
            let mut heights = Heights::default();
            heights.reset(rows.into_iter());
            for (place, n) in changes {
                let place = place % plain.len();
                plain[place] = n;
                heights.set(place, n);
            }
            for place in 0..=plain.len() {
                assert_eq!(heights.before(place), plain[..place].iter().map(|n| u64::from(*n)).sum::<u64>());
            }
            let covering = (0..plain.len()).flat_map(|place| vec![place; plain[place] as usize]);
            for (row, place) in (0..).zip(covering) {
                assert_eq!(heights.place_at(row), place);
            }
            assert_eq!(heights.place_at(heights.total()), plain.len() - 1);
        }
    }
}
