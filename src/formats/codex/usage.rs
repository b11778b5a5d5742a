//! Token usage: `token_count` has the sum of the thread so far, is repeated, and includes inherited
//! usage. A `token_usage_record` has the usage of one response, including that of a compaction,
//! which no sum includes (github.com/openai/codex/issues/47003).
//!
//! Invariant: the emitted usages add up to what the thread itself spent, despite all repetitions.

use std::collections::{HashSet, VecDeque};

use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::limit::Limit;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// Counts of a `total_token_usage`: cached and written tokens are included in the input, reasoning
/// in the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RolloutCounts {
    input: u64,
    cached: u64,
    written: u64,
    output: u64,
    reasoning: u64,
    total: u64,
}

impl RolloutCounts {
    pub(crate) fn read(json: &Json<'_>) -> Self {
        let count = |name: &str| json.get(name).count().unwrap_or(0);
        let (input, output) = (count("input_tokens"), count("output_tokens"));
        Self {
            input,
            cached: count("cached_input_tokens"),
            written: count("cache_write_input_tokens"),
            output,
            reasoning: count("reasoning_output_tokens"),
            total: json
                .get("total_tokens")
                .count()
                .unwrap_or_else(|| input.saturating_add(output)),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            written: self.written.saturating_add(other.written),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            total: self.total.saturating_add(other.total),
        }
    }

    fn minus(self, before: Self) -> Self {
        Self {
            input: self.input.saturating_sub(before.input),
            cached: self.cached.saturating_sub(before.cached),
            written: self.written.saturating_sub(before.written),
            output: self.output.saturating_sub(before.output),
            reasoning: self.reasoning.saturating_sub(before.reasoning),
            total: self.total.saturating_sub(before.total),
        }
    }

    /// Whether both are of one response: only records have the tokens written to the cache.
    fn is_same(self, other: Self) -> bool {
        (self.input, self.cached, self.output) == (other.input, other.cached, other.output)
    }

    pub(crate) fn usage(self) -> Usage {
        Usage {
            input: Some(
                self.input
                    .saturating_sub(self.cached)
                    .saturating_sub(self.written),
            ),
            output: Some(self.output),
            cache_read: Some(self.cached),
            cache_write: (self.written > 0).then_some(self.written),
            reasoning: Some(self.reasoning),
            ..Usage::default()
        }
    }
}

/// Parses the rate limits of an account: `primary` and `secondary` with the time of reset, or, in
/// sessions of 2025, the seconds until then (codex-rs `protocol/src/protocol.rs`,
/// `RateLimitSnapshot`), or, earlier, all in one object and without it.
pub(crate) fn limits(recorded: &Json<'_>, at: Option<Timestamp>) -> impl Iterator<Item = Limit> {
    let of = |name: &str| {
        let own = recorded.get(name);
        let flat = |field: &str| recorded.get(&format!("{name}_{field}"));
        let later = own.get("resets_in_seconds").int();
        let later = later
            .zip(at)
            .map(|(seconds, at)| Timestamp(at.0.saturating_add(seconds.saturating_mul(1_000))));
        let minutes = own
            .get("window_minutes")
            .count()
            .or_else(|| flat("window_minutes").count());
        Some(Limit {
            // The first versions wrote 0 for an unknown window.
            minutes: minutes.filter(|minutes| *minutes > 0)?,
            used: own
                .get("used_percent")
                .number()
                .or_else(|| flat("used_percent").number())?,
            resets: own.get("resets_at").moment().or(later),
            recorded: at,
        })
    };
    ["primary", "secondary"].map(of).into_iter().flatten()
}

/// The sum so far.
#[derive(Debug)]
pub(crate) struct Counter {
    /// `None` if the thread continues from another file, whose sum is unknown.
    before: Option<RolloutCounts>,
}

impl Default for Counter {
    fn default() -> Self {
        Self {
            before: Some(RolloutCounts::default()),
        }
    }
}

impl Counter {
    /// Marks the sum as unknown: the thread continues from another file.
    pub(crate) fn reset(&mut self) {
        self.before = None;
    }

    /// The tokens since the last count; `None` for a repeated or an inherited one.
    pub(crate) fn count(&mut self, info: &Json<'_>, is_inherited: bool) -> Option<RolloutCounts> {
        let total = info.get("total_token_usage");
        let last = info.get("last_token_usage");
        if !total.is_object() {
            return None;
        }
        let now = RolloutCounts::read(total);
        let before = self.before.unwrap_or_else(|| {
            now.minus(RolloutCounts {
                total: 0,
                ..RolloutCounts::read(last)
            })
        });
        let is_known = self.before.replace(now).is_some();
        if is_inherited {
            return None;
        }
        let spent = if now.input.saturating_add(now.output)
            < before.input.saturating_add(before.output)
            && is_known
        {
            // Another process began a new count.
            now
        } else {
            now.minus(before)
        };
        (spent.input > 0 || spent.output > 0).then_some(spent)
    }
}

/// Matches counts and records of the same responses: most are in both, in either order.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    /// The ids of recorded responses.
    recorded: HashSet<Text>,
    /// The newest counts without a record so far, with the keys of their usage.
    counted: VecDeque<(RolloutCounts, Key)>,
    /// The newest records without a count so far.
    uncounted: VecDeque<(Text, RolloutCounts)>,
}

/// Whether a recorded response was counted or recorded before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResponseState {
    /// Neither counted nor recorded before.
    New,
    /// It was counted, as the usage with this key; the record may have more counts.
    Counted(Key),
    Recorded,
}

/// Limit of the unmatched counts and records: both are written within moments.
const NEWEST: usize = 8;

impl Responses {
    /// Whether a count is in a record that came before it: the one of a response, or the sum of all
    /// since the last count.
    pub(crate) fn is_recorded(&mut self, counts: RolloutCounts) -> bool {
        let place = self
            .uncounted
            .iter()
            .position(|(_, recorded)| recorded.is_same(counts));
        if let Some(place) = place {
            self.uncounted.remove(place);
            return true;
        }
        let sum = self
            .uncounted
            .iter()
            .fold(RolloutCounts::default(), |sum, (_, one)| sum.plus(*one));
        let is_sum = self.uncounted.len() > 1 && sum.is_same(counts);
        if is_sum {
            self.uncounted.clear();
        }
        is_sum
    }

    /// Adds a count, emitted as the usage with this key.
    pub(crate) fn add(&mut self, counts: RolloutCounts, key: Key) {
        self.counted.push_back((counts, key));
        if self.counted.len() > NEWEST {
            self.counted.pop_front();
        }
    }

    /// Adds the record of a response.
    pub(crate) fn record(&mut self, id: &Text, counts: RolloutCounts) -> ResponseState {
        if !self.recorded.insert(id.clone()) {
            return ResponseState::Recorded;
        }
        if let Some(place) = self
            .counted
            .iter()
            .position(|(counted, _)| counted.is_same(counts))
        {
            return self
                .counted
                .remove(place)
                .map_or(ResponseState::New, |(_, key)| ResponseState::Counted(key));
        }
        self.uncounted.push_back((id.clone(), counts));
        if self.uncounted.len() > NEWEST {
            self.uncounted.pop_front();
        }
        ResponseState::New
    }

    /// Marks the response of another thread as recorded: it is inherited.
    pub(crate) fn mark_inherited(&mut self, id: Text) {
        self.recorded.insert(id);
    }

    /// Removes the response of a compaction, which is never counted. Returns whether it was
    /// recorded.
    pub(crate) fn compacted(&mut self, id: &str) -> bool {
        self.uncounted.retain(|(known, _)| known.as_str() != id);
        self.recorded.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::{Counter, ResponseState, Responses, RolloutCounts};
    use crate::formats::json::parse;
    use crate::model::text::Text;

    fn info(total: (u64, u64), last: (u64, u64)) -> String {
        let usage = |(input, output): (u64, u64)| {
            format!(
                r#"{{"input_tokens":{input},"cached_input_tokens":{},"output_tokens":{output},"total_tokens":{}}}"#,
                input / 2,
                input + output
            )
        };
        format!(
            r#"{{"total_token_usage":{},"last_token_usage":{}}}"#,
            usage(total),
            usage(last)
        )
    }

    fn spent(
        counter: &mut Counter,
        total: (u64, u64),
        last: (u64, u64),
        is_inherited: bool,
    ) -> Option<u64> {
        let text = info(total, last);
        counter
            .count(&parse(&text).unwrap(), is_inherited)
            .map(|counts| counts.usage().total())
    }

    #[test]
    fn only_what_was_added_counts() {
        let mut counter = Counter::default();
        assert_eq!(spent(&mut counter, (100, 10), (100, 10), false), Some(110));
        assert_eq!(
            spent(&mut counter, (100, 10), (100, 10), false),
            None,
            "repeated"
        );
        assert_eq!(spent(&mut counter, (300, 30), (200, 20), false), Some(220));
        assert_eq!(
            spent(&mut counter, (50, 5), (50, 5), false),
            Some(55),
            "another process"
        );
        assert_eq!(counter.count(&parse("null").unwrap(), false), None);
    }

    #[test]
    fn a_response_counts_once_whoever_tells_it_first() {
        let counts = |input| RolloutCounts {
            input,
            output: 1,
            ..RolloutCounts::default()
        };
        let [one, two, three] = ["r1", "r2", "r3"].map(Text::from);
        let mut responses = Responses::default();
        assert!(!responses.is_recorded(counts(10)));
        responses.add(counts(10), "a".into());
        assert_eq!(
            responses.record(&one, counts(10)),
            ResponseState::Counted("a".into())
        );
        assert_eq!(responses.record(&one, counts(10)), ResponseState::Recorded);
        assert_eq!(
            responses.record(&two, counts(90)),
            ResponseState::New,
            "a compaction"
        );
        assert!(responses.compacted("r2") && !responses.compacted("r9"));
        assert!(!responses.is_recorded(counts(90)), "no count has it");
        assert_eq!(responses.record(&three, counts(20)), ResponseState::New);
        assert!(responses.is_recorded(counts(20)));
        assert_eq!(
            responses.record(&"r4".into(), counts(7)),
            ResponseState::New
        );
        assert_eq!(
            responses.record(&"r5".into(), counts(8)),
            ResponseState::New
        );
        assert!(
            responses.is_recorded(RolloutCounts {
                input: 15,
                output: 2,
                ..RolloutCounts::default()
            }),
            "both at once"
        );
        responses.mark_inherited("r6".into());
        assert_eq!(
            responses.record(&"r6".into(), counts(1)),
            ResponseState::Recorded
        );
    }

    #[test]
    fn what_is_inherited_is_not_spent_again() {
        let mut counter = Counter::default();
        assert_eq!(spent(&mut counter, (1000, 100), (1000, 100), true), None);
        assert_eq!(
            spent(&mut counter, (1200, 120), (200, 20), false),
            Some(220)
        );
        let mut segment = Counter::default();
        segment.reset();
        assert_eq!(
            spent(&mut segment, (5000, 500), (300, 30), false),
            Some(330)
        );
        assert_eq!(
            spent(&mut segment, (5100, 510), (100, 10), false),
            Some(110)
        );
    }
}
