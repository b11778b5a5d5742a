//! Durations of calls, and where one stands among them.

use std::collections::BTreeMap;

use crate::model::tool::{Clocked, Took};

/// Durations by length. Those of which only a bound is known are kept apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    exact: Counted,
    bounds: Counted,
}

/// How many took so many ms.
#[derive(Clone, Debug, Default)]
struct Counted {
    of: BTreeMap<u64, u32>,
    count: u32,
}

/// How durations spread, in ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spread {
    /// Half of them took no longer.
    pub(crate) p50: u64,
    /// Nineteen of twenty took no longer.
    pub(crate) p95: u64,
    /// The longest.
    pub(crate) max: u64,
    /// All together.
    pub(crate) sum: u64,
    /// How many there are.
    pub(crate) count: u32,
    /// Whether these are bounds, because nothing better is known of any of them.
    pub(crate) is_bound: bool,
}

impl Durations {
    /// Adds a duration.
    pub(crate) fn add(&mut self, took: Took) {
        let counted = self.of(took);
        *counted.of.entry(took.ms).or_default() += 1;
        counted.count += 1;
    }

    /// Takes a duration back.
    pub(crate) fn remove(&mut self, took: Took) {
        let counted = self.of(took);
        if let Some(count) = counted.of.get_mut(&took.ms) {
            *count -= 1;
            counted.count -= 1;
            if *count == 0 {
                counted.of.remove(&took.ms);
            }
        }
    }

    fn of(&mut self, took: Took) -> &mut Counted {
        match took.by {
            Clocked::Measured | Clocked::Times => &mut self.exact,
            Clocked::Bound => &mut self.bounds,
        }
    }

    /// How they spread; nothing if none is known.
    pub(crate) fn spread(&self) -> Option<Spread> {
        let is_bound = self.exact.count == 0;
        let counted = if is_bound { &self.bounds } else { &self.exact };
        Some(Spread {
            p50: counted.quantile(50)?,
            p95: counted.quantile(95)?,
            max: *counted.of.keys().next_back()?,
            sum: counted.of.iter().map(|(ms, count)| ms.saturating_mul(u64::from(*count))).sum(),
            count: counted.count,
            is_bound,
        })
    }

    /// How many took longer than this, of those that [`Durations::spread`] speaks of.
    pub(crate) fn longer_than(&self, ms: u64) -> u32 {
        let counted = if self.exact.count == 0 { &self.bounds } else { &self.exact };
        counted.of.range(ms.saturating_add(1)..).map(|(_, count)| *count).sum()
    }
}

impl Counted {
    /// The shortest duration that is at least as long as so many percent of all (nearest rank).
    fn quantile(&self, percent: u32) -> Option<u64> {
        let rank = (u64::from(self.count) * u64::from(percent)).div_ceil(100).max(1);
        let mut seen = 0;
        self.of.iter().find_map(|(ms, count)| {
            seen += u64::from(*count);
            (seen >= rank).then_some(*ms)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Durations;
    use crate::model::tool::{Clocked, Took};

    fn of(all: &[(u64, Clocked)]) -> Durations {
        let mut durations = Durations::default();
        for (ms, by) in all {
            durations.add(Took { ms: *ms, by: *by });
        }
        durations
    }

    #[test]
    fn quantiles_are_durations_that_occurred() {
        let durations = of(&(1..=20).map(|n| (n * 10, Clocked::Times)).collect::<Vec<_>>());
        let spread = durations.spread().unwrap();
        assert_eq!((spread.p50, spread.p95, spread.max, spread.count), (100, 190, 200, 20));
        assert_eq!(durations.longer_than(190), 1);
        let one = of(&[(7, Clocked::Measured)]).spread().unwrap();
        assert_eq!((one.p50, one.p95, one.max), (7, 7, 7));
        assert_eq!(of(&[]).spread(), None);
    }

    #[test]
    fn bounds_count_only_where_nothing_better_is_known() {
        let mut durations = of(&[(9_000, Clocked::Bound), (5, Clocked::Times)]);
        assert_eq!(durations.spread().map(|spread| (spread.max, spread.is_bound)), Some((5, false)));
        durations.remove(Took { ms: 5, by: Clocked::Times });
        assert_eq!(durations.spread().map(|spread| (spread.max, spread.is_bound)), Some((9_000, true)));
        durations.remove(Took { ms: 9_000, by: Clocked::Bound });
        assert_eq!(durations.spread(), None);
    }
}
