//! Durations of calls, and their percentiles.

use crate::model::edit::saturating_u32;
use crate::model::tool::{Clocked, Took};

/// Sorted durations. Those with only an upper bound are separate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Durations {
    exact: Vec<u64>,
    bounds: Vec<u64>,
}

/// Percentiles of durations, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    pub(crate) p50: u64,
    pub(crate) p95: u64,
    pub(crate) max: u64,
    pub(crate) sum: u64,
    /// The number of durations.
    pub(crate) count: u32,
    /// Whether these are upper bounds, because no exact duration is recorded.
    pub(crate) is_bound: bool,
}

impl Extend<Took> for Durations {
    /// Takes effect with [`Durations::sort`].
    fn extend<T: IntoIterator<Item = Took>>(&mut self, all: T) {
        for took in all {
            match took.by {
                Clocked::Measured | Clocked::Times => self.exact.push(took.ms),
                Clocked::Bound => self.bounds.push(took.ms),
            }
        }
    }
}

impl Durations {
    /// To be called after durations were added.
    pub(crate) fn sort(&mut self) {
        self.exact.sort_unstable();
        self.bounds.sort_unstable();
    }

    /// The exact durations; the bounds if there are none.
    fn sorted(&self) -> &[u64] {
        if self.exact.is_empty() {
            &self.bounds
        } else {
            &self.exact
        }
    }

    /// Percentiles; `None` without durations.
    pub(crate) fn spread(&self) -> Option<Spread> {
        let sorted = self.sorted();
        Some(Spread {
            p50: percentile(sorted, 50)?,
            p95: percentile(sorted, 95)?,
            max: *sorted.last()?,
            sum: sorted.iter().fold(0, |sum, ms| sum.saturating_add(*ms)),
            count: saturating_u32(sorted.len()),
            is_bound: self.exact.is_empty(),
        })
    }

    /// How many durations are longer, of those in [`Durations::spread`].
    pub(crate) fn longer_than(&self, ms: u64) -> u32 {
        let sorted = self.sorted();
        saturating_u32(sorted.len() - sorted.partition_point(|other| *other <= ms))
    }
}

/// The nearest-rank percentile.
pub(crate) fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::Durations;
    use crate::model::tool::{Clocked, Took};

    fn of(all: &[(u64, Clocked)]) -> Durations {
        let mut durations = Durations::default();
        durations.extend(all.iter().map(|(ms, by)| Took { ms: *ms, by: *by }));
        durations.sort();
        durations
    }

    #[test]
    fn quantiles_are_durations_that_occurred() {
        let durations = of(&(1..=20)
            .map(|n| (n * 10, Clocked::Times))
            .collect::<Vec<_>>());
        let spread = durations.spread().unwrap();
        assert_eq!(
            (spread.p50, spread.p95, spread.max, spread.count),
            (100, 190, 200, 20)
        );
        assert_eq!(durations.longer_than(190), 1);
        let one = of(&[(7, Clocked::Measured)]).spread().unwrap();
        assert_eq!((one.p50, one.p95, one.max), (7, 7, 7));
        assert_eq!(of(&[]).spread(), None);
    }

    #[test]
    fn bounds_count_only_where_nothing_better_is_known() {
        let longest =
            |all: &[(u64, Clocked)]| of(all).spread().map(|spread| (spread.max, spread.is_bound));
        assert_eq!(
            longest(&[(9_000, Clocked::Bound), (5, Clocked::Times)]),
            Some((5, false))
        );
        assert_eq!(longest(&[(9_000, Clocked::Bound)]), Some((9_000, true)));
    }
}
