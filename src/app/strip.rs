//! The time strip: the turn around the cursor, or a short session, as spans of time on one line.
//!
//! Invariant: columns stand for time that the account knows, one span after the other, so that a clock
//! that was set back breaks nothing. Work depends on the columns and on the entries around the cursor.

pub mod make;

use super::text::viewport::Focus;
use crate::analysis::account::Class;

/// What stands before the columns.
pub(crate) const TITLE: &str = " time ";

/// Time that a column may stand for, in ms.
const SCALES: [u64; 24] = [
    10,
    20,
    50,
    100,
    200,
    500,
    1_000,
    2_000,
    5_000,
    10_000,
    15_000,
    30_000,
    60_000,
    120_000,
    300_000,
    600_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    14_400_000,
    43_200_000,
    86_400_000,
    604_800_000,
];

/// A run of columns that one thing took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How many columns.
    pub columns: usize,
    /// What it was.
    pub class: Class,
    /// Whether it is a call that failed.
    pub has_failed: bool,
    /// Whether it goes on.
    pub goes_on: bool,
}

/// The strip.
#[derive(Clone, Debug, Default)]
pub struct Strip {
    /// From left to right.
    pub runs: Vec<Run>,
    /// The column of the focused item.
    pub cursor: Option<usize>,
    /// What the strip shows and what a column stands for.
    pub(crate) legend: String,
    made: Option<Made>,
}

/// What the strip was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    focus: Option<Focus>,
    width: u16,
    generation: u64,
    second: i64,
    signs: &'static str,
}

/// A span of time on the line.
struct Segment {
    ms: u64,
    class: Class,
    has_failed: bool,
    goes_on: bool,
}

impl Segment {
    fn work_ms(&self) -> u64 {
        if self.class.is_work() { self.ms } else { 0 }
    }
}

impl Strip {
    /// Another transcript has taken the place of this one.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// `2s`, `100ms`, `15m`: what one column stands for.
fn column(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{}s", ms / 1_000),
        60_000..3_600_000 => format!("{}m", ms / 60_000),
        _ => format!("{}h", ms / 3_600_000),
    }
}

/// Each column belongs to what took most of it; columns of one thing are a run.
fn runs(parts: &[Segment], scale: u64) -> Vec<Run> {
    let mut runs: Vec<(usize, Run)> = Vec::new();
    let mut column: Vec<(usize, u64)> = Vec::new();
    let mut left = scale;
    let mut close = |column: &mut Vec<(usize, u64)>| {
        let most = column.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        column.clear();
        let Some((number, part)) = most.and_then(|(number, _)| Some((number, parts.get(number)?))) else {
            return;
        };
        match runs.last_mut() {
            Some((before, run)) if *before == number || is_same(parts.get(*before), part) => {
                run.columns += 1;
                run.goes_on |= part.goes_on;
                *before = number;
            }
            _ => runs.push((number, run_of(part))),
        }
    };
    for (number, part) in parts.iter().enumerate() {
        let mut ms = part.ms;
        while ms > 0 {
            let taken = ms.min(left);
            column.push((number, taken));
            ms -= taken;
            left -= taken;
            if left == 0 {
                close(&mut column);
                left = scale;
            }
        }
    }
    close(&mut column);
    runs.into_iter().map(|(_, run)| run).collect()
}

/// What failed stays apart; all else that follows its like is one.
fn is_same(before: Option<&Segment>, part: &Segment) -> bool {
    before.is_some_and(|before| before.class == part.class && !before.has_failed && !part.has_failed)
}

fn run_of(part: &Segment) -> Run {
    Run { columns: 1, class: part.class, has_failed: part.has_failed, goes_on: part.goes_on }
}

#[cfg(test)]
mod tests {
    use super::{Run, Segment, column, runs};
    use crate::analysis::account::Class;

    fn part(ms: u64, class: Class) -> Segment {
        Segment { ms, class, has_failed: false, goes_on: false }
    }

    fn words(parts: &[Segment], scale: u64) -> Vec<String> {
        let words = |run: &Run| {
            let end = if run.has_failed { " failed" } else { "" };
            format!("{} {}{end}", run.class.word(), run.columns)
        };
        runs(parts, scale).iter().map(words).collect()
    }

    #[test]
    fn columns_belong_to_what_took_most_of_them() {
        let parts = [
            part(2_000, Class::Model),
            part(400, Class::Model),
            part(900, Class::Tool),
            Segment { has_failed: true, ..part(5_000, Class::Tool) },
            part(2_000, Class::Tool),
            part(100, Class::Model),
        ];
        assert_eq!(words(&parts, 1_000), ["model 2", "tools 1", "tools 5 failed", "tools 3"]);
        assert_eq!(words(&parts, 10_000), ["tools 1 failed", "tools 1"]);
        assert!(words(&[], 10).is_empty());
    }

    #[test]
    fn no_time_is_lost_or_added() {
        for scale in [1, 7, 100, 1_000] {
            let parts: Vec<Segment> =
                (1..60).map(|n| part(n * 13 % 97 + 1, Class::ALL[usize::try_from(n % 6).unwrap()])).collect();
            let total: u64 = parts.iter().map(|part| part.ms).sum();
            let columns: usize = runs(&parts, scale).iter().map(|run| run.columns).sum();
            assert_eq!(columns as u64, total.div_ceil(scale));
        }
    }

    #[test]
    fn scales_have_short_names() {
        assert_eq!([100, 2_000, 900_000, 7_200_000].map(column), ["100ms", "2s", "15m", "2h"]);
    }
}
