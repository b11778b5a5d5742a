//! What was spent: `token_count` has the sum of the thread so far, repeats it, and counts what was inherited.
//!
//! Invariant: the usages that are given out add up to what the thread itself spent, whatever is repeated.

use crate::formats::json::Json;
use crate::model::limit::Limit;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// Counts of a `total_token_usage`: cached and written tokens are among the input, reasoning among the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    input: u64,
    cached: u64,
    written: u64,
    output: u64,
    reasoning: u64,
    total: u64,
}

impl Counts {
    fn read(json: &Json<'_>) -> Self {
        let count = |name: &str| json.get(name).count().unwrap_or(0);
        let (input, output) = (count("input_tokens"), count("output_tokens"));
        Self {
            input,
            cached: count("cached_input_tokens"),
            written: count("cache_write_input_tokens"),
            output,
            reasoning: count("reasoning_output_tokens"),
            total: json.get("total_tokens").count().unwrap_or_else(|| input.saturating_add(output)),
        }
    }

    fn beyond(self, before: Self) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            cached: self.cached.saturating_sub(before.cached),
            written: self.written.saturating_sub(before.written),
            output: self.output.saturating_sub(before.output),
            reasoning: self.reasoning.saturating_sub(before.reasoning),
            total: self.total.saturating_sub(before.total),
        }
    }

    fn usage(self) -> Usage {
        Usage {
            input: Some(self.input.saturating_sub(self.cached).saturating_sub(self.written)),
            output: Some(self.output),
            cache_read: Some(self.cached),
            cache_write: (self.written > 0).then_some(self.written),
            reasoning: Some(self.reasoning),
            ..Usage::default()
        }
    }
}

/// What is used up of the limits of an account: `primary` and `secondary` with the time at which each begins anew, or,
/// in sessions of 2025, in so many seconds (codex-rs `protocol/src/protocol.rs`, `RateLimitSnapshot`), or, earlier, all
/// in one object and without it.
pub(crate) fn limits(recorded: &Json<'_>, at: Option<Timestamp>) -> impl Iterator<Item = Limit> {
    let of = |name: &str| {
        let own = recorded.get(name);
        let flat = |field: &str| recorded.get(&format!("{name}_{field}"));
        let later = own.get("resets_in_seconds").int();
        let later =
            later.zip(at).map(|(seconds, at)| Timestamp(at.0.saturating_add(seconds.saturating_mul(1_000))));
        let minutes = own.get("window_minutes").count().or_else(|| flat("window_minutes").count());
        Some(Limit {
            // The first versions wrote 0 for a window that they were not told.
            minutes: minutes.filter(|minutes| *minutes > 0)?,
            used: own.get("used_percent").number().or_else(|| flat("used_percent").number())?,
            resets: own.get("resets_at").moment().or(later),
            recorded: at,
        })
    };
    ["primary", "secondary"].map(of).into_iter().flatten()
}

/// The sum so far.
#[derive(Debug)]
pub(crate) struct Counter {
    /// Nothing if the thread went on from another file, whose sum is not known.
    before: Option<Counts>,
}

impl Default for Counter {
    fn default() -> Self {
        Self { before: Some(Counts::default()) }
    }
}

impl Counter {
    /// The thread goes on from what is not in the file.
    pub(crate) fn forget(&mut self) {
        self.before = None;
    }

    /// What was spent since the last count. Nothing for a repeated one, and for one that is inherited.
    pub(crate) fn count(&mut self, info: &Json<'_>, is_inherited: bool) -> Option<Usage> {
        let total = info.get("total_token_usage");
        let last = info.get("last_token_usage");
        if !total.is_object() {
            return None;
        }
        let now = Counts::read(total);
        let before = self.before.unwrap_or_else(|| now.beyond(Counts { total: 0, ..Counts::read(last) }));
        let is_known = self.before.replace(now).is_some();
        if is_inherited {
            return None;
        }
        let spent = if now.input.saturating_add(now.output) < before.input.saturating_add(before.output)
            && is_known
        {
            // Another process began to count anew.
            now
        } else {
            now.beyond(before)
        };
        (spent.input > 0 || spent.output > 0).then(|| spent.usage())
    }
}

#[cfg(test)]
mod tests {
    use super::Counter;
    use crate::formats::json::parse;

    fn info(total: (u64, u64), last: (u64, u64)) -> String {
        let usage = |(input, output): (u64, u64)| {
            format!(
                r#"{{"input_tokens":{input},"cached_input_tokens":{},"output_tokens":{output},"total_tokens":{}}}"#,
                input / 2,
                input + output
            )
        };
        format!(r#"{{"total_token_usage":{},"last_token_usage":{}}}"#, usage(total), usage(last))
    }

    fn spent(counter: &mut Counter, total: (u64, u64), last: (u64, u64), is_inherited: bool) -> Option<u64> {
        let text = info(total, last);
        counter.count(&parse(&text).unwrap(), is_inherited).map(|usage| usage.total())
    }

    #[test]
    fn only_what_was_added_counts() {
        let mut counter = Counter::default();
        assert_eq!(spent(&mut counter, (100, 10), (100, 10), false), Some(110));
        assert_eq!(spent(&mut counter, (100, 10), (100, 10), false), None, "repeated");
        assert_eq!(spent(&mut counter, (300, 30), (200, 20), false), Some(220));
        assert_eq!(spent(&mut counter, (50, 5), (50, 5), false), Some(55), "another process");
        assert_eq!(counter.count(&parse("null").unwrap(), false), None);
    }

    #[test]
    fn what_is_inherited_is_not_spent_again() {
        let mut counter = Counter::default();
        assert_eq!(spent(&mut counter, (1000, 100), (1000, 100), true), None);
        assert_eq!(spent(&mut counter, (1200, 120), (200, 20), false), Some(220));
        let mut segment = Counter::default();
        segment.forget();
        assert_eq!(spent(&mut segment, (5000, 500), (300, 30), false), Some(330));
        assert_eq!(spent(&mut segment, (5100, 510), (100, 10), false), Some(110));
    }
}
