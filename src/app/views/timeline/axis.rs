//! The axis: maps time to columns. Long gaps in the work get a few columns, whatever their length,
//! and a label with their length.
//!
//! Invariant: edges never decrease from left to right, and the time between two gaps has at least
//! one column.

use crate::analysis::timeline::QUIET_MS;
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;

/// Width of a gap, where there is room.
const GAP: usize = 8;

/// Possible intervals of ticks, in ms.
const STEPS: [i64; 27] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000,
    120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000,
    43_200_000, DAY,
];
const DAY: i64 = 86_400_000;

/// Columns, and the time of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Axis {
    /// The start of each column, and the end of the last one.
    edges: Vec<Timestamp>,
    /// Gaps that are left out: first column, number of columns, and length in ms.
    pub(crate) gaps: Vec<(usize, usize, u64)>,
    /// Parts between gaps: first column, number of columns, and start.
    parts: Vec<(usize, usize, Timestamp)>,
    /// Columns without gaps, and the time in them, in ms.
    shown: (usize, u64),
}

impl Axis {
    /// An axis from one timestamp to another with this many columns.
    pub(crate) fn new(
        (from, to): (Timestamp, Timestamp),
        gaps: &[(Timestamp, Timestamp)],
        columns: usize,
    ) -> Self {
        let columns = columns.max(1);
        let to = to.max(Timestamp(from.0.saturating_add(1)));
        let gaps = left_out((from, to), gaps, columns);
        let gap = (columns / 3)
            .checked_div(gaps.len())
            .unwrap_or_default()
            .clamp(1, GAP);
        let mut axis = Self {
            edges: vec![from],
            ..Self::default()
        };
        let out: u64 = gaps.iter().map(|(start, end)| end.since(*start)).sum();
        let room = columns.saturating_sub(gap * gaps.len());
        axis.shown = (room, to.since(from).saturating_sub(out).max(1));
        // One column for each part, and the others by length.
        let spare = room.saturating_sub(gaps.len() + 1);
        let (mut at, mut shown, mut given) = (from, 0, 0);
        for (start, end) in gaps.iter().copied().chain([(to, to)]) {
            shown += start.since(at);
            let due = share(shown, axis.shown.1, spare);
            let width = 1 + due.saturating_sub(given);
            given = due.max(given);
            axis.part(at, start, width);
            if start < to {
                axis.gaps
                    .push((axis.edges.len() - 1, gap, end.since(start)));
                axis.fill(start, end, gap);
            }
            at = end;
        }
        axis.edges.truncate(columns + 1);
        axis.edges.resize(columns + 1, to);
        axis
    }

    fn part(&mut self, from: Timestamp, to: Timestamp, columns: usize) {
        self.parts.push((self.edges.len() - 1, columns, from));
        self.fill(from, to, columns);
    }

    fn fill(&mut self, from: Timestamp, to: Timestamp, columns: usize) {
        let ms = to.since(from);
        let edges = (1..=columns).map(|n| part_of(ms, n, columns));
        self.edges.extend(
            edges.map(|ms| Timestamp(from.0.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)))),
        );
    }

    pub(crate) fn columns(&self) -> usize {
        self.edges.len().saturating_sub(1)
    }

    /// The start and end of a column.
    pub(crate) fn span(&self, column: usize) -> (Timestamp, Timestamp) {
        let edge = |n: usize| {
            self.edges
                .get(n)
                .or(self.edges.last())
                .copied()
                .unwrap_or(Timestamp(0))
        };
        (edge(column), edge(column + 1))
    }

    /// The column of a timestamp; the nearest one if it is outside the axis.
    pub(crate) fn column(&self, at: Timestamp) -> usize {
        let after = self.edges.partition_point(|edge| *edge <= at);
        after
            .saturating_sub(1)
            .min(self.columns().saturating_sub(1))
    }

    /// The last column of a span that ends at `end`.
    pub(crate) fn last_column(&self, end: Timestamp) -> usize {
        let after = self.edges.partition_point(|edge| *edge < end);
        after
            .saturating_sub(1)
            .min(self.columns().saturating_sub(1))
    }

    /// Time per column outside of gaps, in ms.
    pub(crate) fn scale(&self) -> u64 {
        self.shown.1.div_ceil(self.shown.0.max(1) as u64).max(1)
    }

    /// Labels and their first columns; gaps are labelled with their length.
    pub(crate) fn ticks(&self) -> Vec<(usize, String)> {
        let mut taken: Vec<(usize, String)> = Vec::new();
        for (first, columns, ms) in &self.gaps {
            let words = short(*ms);
            let width = wrap::width(&words);
            if width < *columns {
                taken.push((first + (columns - width) / 2 + 1, words));
            }
        }
        let scale = i64::try_from(self.scale()).unwrap_or(i64::MAX);
        let step = STEPS
            .into_iter()
            .find(|step| step / scale >= room_of(*step));
        let step = step.unwrap_or_else(|| (scale.saturating_mul(8) / DAY + 1).saturating_mul(DAY));
        let mut before: Option<Timestamp> = None;
        for (first, columns, from) in &self.parts {
            let (_, end) = self.span(first + columns - 1);
            let past = from.since_midnight().rem_euclid(step.min(DAY));
            let mut at = if past == 0 {
                *from
            } else {
                Timestamp(from.0 - past + step)
            };
            while at < end {
                let column = self.column(at);
                let words = tick(at, step, before);
                let fitting = words
                    .into_iter()
                    .find(|words| self.is_free(&taken, column, words));
                if let Some(words) = fitting {
                    taken.push((column, words));
                    before = Some(at);
                }
                at = Timestamp(at.0.saturating_add(step));
            }
        }
        taken.sort_by_key(|(column, _)| *column);
        taken
    }

    /// Whether a label fits, with a blank to the adjacent ones.
    fn is_free(&self, taken: &[(usize, String)], column: usize, words: &str) -> bool {
        let end = column + wrap::width(words);
        let is_gap =
            |(first, columns, _): &(usize, usize, u64)| column < first + columns && end > *first;
        end <= self.columns()
            && !self.gaps.iter().any(is_gap)
            && taken
                .iter()
                .all(|(other, words)| end < *other || other + wrap::width(words) < column)
    }
}

/// The gaps to leave out: the longest first, until the remaining ones take no more than half of the
/// axis, and at most one per four columns.
fn left_out(
    (from, to): (Timestamp, Timestamp),
    gaps: &[(Timestamp, Timestamp)],
    columns: usize,
) -> Vec<(Timestamp, Timestamp)> {
    let within = gaps
        .iter()
        .map(|(start, end)| ((*start).max(from), (*end).min(to)));
    let mut within: Vec<(Timestamp, Timestamp)> = within
        .filter(|(start, end)| start < end && end.since(*start) > QUIET_MS)
        .collect();
    let length = |(start, end): &(Timestamp, Timestamp)| end.since(*start);
    let mut quiet: u64 = within.iter().map(length).sum();
    let busy = to.since(from).saturating_sub(quiet);
    if busy == 0 {
        return Vec::new();
    }
    within.sort_by_key(|gap| std::cmp::Reverse(length(gap)));
    let needed = within.iter().take_while(|gap| {
        let is_much = quiet > busy;
        quiet -= length(gap);
        is_much
    });
    let needed = needed.count().min(columns / 4);
    within.truncate(needed);
    within.sort_unstable();
    within
}

/// Minimum width of a tick for an interval.
fn room_of(step: i64) -> i64 {
    match step {
        0..1_000 => 9,
        1_000..60_000 => 10,
        DAY.. => 8,
        _ => 7,
    }
}

/// The possible labels of a tick, the longest first.
fn tick(at: Timestamp, step: i64, before: Option<Timestamp>) -> Vec<String> {
    let is_new_day = before.is_some_and(|before| before.day() != at.day());
    let is_new_minute = before.is_none_or(|before| before.minute() != at.minute());
    let mut words = Vec::new();
    if step >= DAY {
        return vec![at.day()];
    }
    let clock = match step {
        0..1_000 => at.precise(),
        1_000..60_000 => at.clock(),
        _ => at.minute(),
    };
    if is_new_day {
        words.push(format!("{} {clock}", at.day()));
    }
    if step < 60_000 && !is_new_minute {
        words.extend(clock.get(5..).map(str::to_owned));
    }
    words.push(clock);
    words
}

/// `3h12m`, `45m`, `2d`: without seconds for long times.
fn short(ms: u64) -> String {
    match ms {
        600_000..3_600_000 => format!("{}m", ms / 60_000),
        360_000_000.. => format!("{}d", ms / 86_400_000),
        _ => figures::duration(ms),
    }
}

/// The share of `whole` columns for `ms` of `all`.
fn share(ms: u64, all: u64, whole: usize) -> usize {
    usize::try_from(u128::from(ms) * whole as u128 / u128::from(all.max(1)))
        .unwrap_or(whole)
        .min(whole)
}

/// The end of the n-th of `parts` equal parts of a time, in ms.
fn part_of(ms: u64, n: usize, parts: usize) -> u64 {
    u64::try_from(u128::from(ms) * n as u128 / parts.max(1) as u128).unwrap_or(ms)
}

#[cfg(test)]
mod tests {
    use super::Axis;
    use crate::model::timestamp::Timestamp;

    const START: i64 = 1_700_000_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp(START + seconds * 1_000)
    }

    #[test]
    fn time_is_columns_and_columns_are_time() {
        let axis = Axis::new((at(0), at(100)), &[], 50);
        assert_eq!((axis.columns(), axis.scale()), (50, 2_000));
        assert_eq!(axis.span(10), (at(20), at(22)));
        assert_eq!(
            [0, 1, 2, 99, 100, 200, -5].map(|s| axis.column(at(s))),
            [0, 0, 1, 49, 49, 49, 0]
        );
        assert_eq!(
            [0, 2, 3, 100].map(|s| axis.last_column(at(s))),
            [0, 0, 1, 49],
            "an end is no beginning"
        );
    }

    #[test]
    fn a_gap_of_hours_takes_a_few_columns_and_says_its_length() {
        let gap = (at(60), at(60 + 11_520));
        let axis = Axis::new((at(0), at(11_640)), &[gap], 80);
        let (first, columns, ms) = axis.gaps[0];
        assert_eq!((columns, ms), (8, 11_520_000));
        assert_eq!(axis.columns(), 80);
        assert!(
            axis.span(first).0 == gap.0 && axis.span(first + columns).0 == gap.1,
            "{axis:?}"
        );
        assert!(
            (34..=38).contains(&first),
            "what is before and after is as long: {first}"
        );
        assert!(
            axis.ticks().iter().any(|(_, words)| words == "3h12m"),
            "{:?}",
            axis.ticks()
        );
        let short = Axis::new((at(0), at(11_640)), &[(at(60), at(100))], 80);
        assert!(short.gaps.is_empty(), "a short one is shown as it is");
    }

    #[test]
    fn many_gaps_leave_columns_for_the_work_between_them() {
        let gaps: Vec<(Timestamp, Timestamp)> = (0..500)
            .map(|n| (at(n * 1_000 + 1), at((n + 1) * 1_000)))
            .collect();
        for columns in 1..120 {
            let axis = Axis::new((at(0), at(500_000)), &gaps, columns);
            assert_eq!(axis.columns(), columns);
            assert!((0..columns).all(|n| axis.span(n).0 <= axis.span(n).1));
            assert!(axis.ticks().iter().all(|(column, _)| *column < columns));
        }
        let inside = Axis::new((at(100), at(200)), &gaps, 40);
        assert!(
            inside.gaps.is_empty(),
            "within a gap there is nothing else to show"
        );
    }

    #[test]
    fn ticks_are_round_and_do_not_touch() {
        for (seconds, columns) in [
            (1, 60),
            (100, 66),
            (100, 180),
            (4_000, 66),
            (90_000, 120),
            (9_000_000, 66),
        ] {
            let axis = Axis::new((at(0), at(seconds)), &[], columns);
            let ticks = axis.ticks();
            assert!(ticks.len() >= 3, "{seconds} s in {columns}: {ticks:?}");
            for pair in ticks.windows(2) {
                assert!(pair[0].0 + pair[0].1.len() < pair[1].0, "{ticks:?}");
            }
            assert!(
                ticks
                    .iter()
                    .all(|(column, words)| column + words.len() <= columns),
                "{ticks:?}"
            );
        }
        // 22:13:20 UTC; the seconds are the same in every time zone.
        let seconds: Vec<String> = Axis::new((at(0), at(100)), &[], 100)
            .ticks()
            .iter()
            .map(|(_, words)| words.chars().rev().take(2).collect())
            .collect();
        assert_eq!(
            seconds[..3],
            ["02", "03", "04"],
            "20, 30, 40 read backwards"
        );
    }
}
