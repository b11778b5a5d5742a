//! Heights of entries in rows, for the scrollbar and for percentages only: estimated until an entry
//! was laid out, exact from then on. A Fenwick tree, so that a sum costs the logarithm.

/// Heights by place in the sequence.
#[derive(Clone, Debug, Default)]
pub struct Heights {
    rows: Vec<u32>,
    sums: Vec<u64>,
}

impl Heights {
    /// Starts anew with these heights.
    pub fn reset(&mut self, rows: impl Iterator<Item = u32>) {
        self.rows.clear();
        self.sums.clear();
        for n in rows {
            self.push(n);
        }
    }

    /// Adds an entry at the end.
    pub fn push(&mut self, rows: u32) {
        let number = self.rows.len() + 1;
        self.rows.push(rows);
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

    /// Corrects a height.
    pub fn set(&mut self, place: usize, rows: u32) {
        let Some(known) = self.rows.get_mut(place) else { return };
        let (old, new) = (u64::from(*known), u64::from(rows));
        if old == new {
            return;
        }
        *known = rows;
        let mut number = place + 1;
        while let Some(sum) = self.sums.get_mut(number - 1) {
            *sum = (*sum + new).saturating_sub(old);
            number += lowest_bit(number);
        }
    }

    /// Rows before this place.
    pub fn before(&self, place: usize) -> u64 {
        let mut number = place.min(self.rows.len());
        let mut sum = 0;
        while number > 0 {
            sum += self.sums.get(number - 1).copied().unwrap_or(0);
            number -= lowest_bit(number);
        }
        sum
    }

    /// The entry that covers this row; the last one beyond the end.
    pub fn place_at(&self, row: u64) -> usize {
        let (mut place, mut left) = (0, row);
        let mut step = self.sums.len().checked_ilog2().map_or(0, |power| 1 << power);
        while step > 0 {
            if let Some(sum) = self.sums.get(place + step - 1).filter(|sum| **sum <= left) {
                left -= sum;
                place += step;
            }
            step /= 2;
        }
        place.min(self.rows.len().saturating_sub(1))
    }

    /// All rows.
    pub fn total(&self) -> u64 {
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
        fn sums_agree_with_a_plain_list(rows in proptest::collection::vec(0u32..50, 1..80), changes in proptest::collection::vec((any::<usize>(), 0u32..50), 0..40)) {
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
        }
    }
}
