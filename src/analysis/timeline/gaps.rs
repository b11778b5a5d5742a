//! Times with any activity, merged over all lanes: long gaps between them are shortened on a time
//! axis.
//!
//! Invariant: spans are sorted, with gaps longer than [`QUIET_MS`].

use crate::model::timestamp::Timestamp;

/// Shorter pauses in ms are not gaps.
pub(crate) const QUIET_MS: u64 = 60_000;

/// Merged spans of activity; the time between two of them is a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Busy(Vec<(Timestamp, Timestamp)>);

impl Busy {
    /// Merges spans, in any order.
    pub(crate) fn of(mut parts: Vec<(Timestamp, Timestamp)>) -> Self {
        parts.sort_unstable();
        let mut spans: Vec<(Timestamp, Timestamp)> = Vec::new();
        for (from, to) in parts {
            match spans.last_mut() {
                Some((_, end)) if from.since(*end) <= QUIET_MS => *end = to.max(*end),
                _ => spans.push((from, to)),
            }
        }
        Self(spans)
    }

    /// Gaps that overlap a range, not truncated to it.
    pub(crate) fn gaps(
        &self,
        from: Timestamp,
        to: Timestamp,
    ) -> impl Iterator<Item = (Timestamp, Timestamp)> + '_ {
        // The gap before a span overlaps the range if the span begins later.
        let first = self.0.partition_point(|(start, _)| *start <= from).max(1);
        let pairs =
            (first..self.0.len()).filter_map(|n| Some((self.0.get(n - 1)?.1, self.0.get(n)?.0)));
        pairs.take_while(move |(start, _)| *start < to)
    }

    /// The end of the last activity.
    pub(crate) fn end(&self) -> Option<Timestamp> {
        self.0.last().map(|(_, end)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::Busy;
    use crate::model::timestamp::Timestamp;

    fn busy(parts: &[(i64, i64)]) -> Busy {
        let parts = parts
            .iter()
            .map(|(from, to)| (Timestamp(from * 1_000), Timestamp(to * 1_000)));
        Busy::of(parts.collect())
    }

    fn gaps(busy: &Busy, from: i64, to: i64) -> Vec<(i64, i64)> {
        let gaps = busy.gaps(Timestamp(from * 1_000), Timestamp(to * 1_000));
        gaps.map(|(from, to)| (from.0 / 1_000, to.0 / 1_000))
            .collect()
    }

    #[test]
    fn only_long_gaps_are_gaps_in_whatever_order_work_is_added() {
        let parts = [
            (0, 10),
            (60, 80),
            (400, 410),
            (9_000, 9_001),
            (141, 150),
            (20, 30),
        ];
        let whole = busy(&parts);
        assert_eq!(
            gaps(&whole, 0, 10_000),
            [(80, 141), (150, 400), (410, 9_000)]
        );
        for turn in 0..parts.len() {
            let mut turned = parts;
            turned.rotate_left(turn);
            assert_eq!(busy(&turned), whole, "turned by {turn}");
        }
        let filled = busy(&[(0, 10), (400, 410), (9_000, 9_001), (5, 9_000)]);
        assert_eq!(gaps(&filled, 0, 10_000), []);
    }

    #[test]
    fn gaps_that_reach_into_a_window_are_returned_whole() {
        let busy = busy(&[(0, 10), (400, 410), (900, 901)]);
        assert_eq!(gaps(&busy, 20, 30), [(10, 400)]);
        assert_eq!(gaps(&busy, 405, 406), []);
        assert_eq!(gaps(&busy, 405, 500), [(410, 900)]);
        assert_eq!(gaps(&busy, 950, 2_000), []);
    }
}
