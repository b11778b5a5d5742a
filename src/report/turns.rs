//! Turns with their figures, and what belongs to none: the list `turn_list` of schema `tv.stats/1`.
//!
//! Invariant: turns and overhead together are the session, in requests, tokens and money.

use serde::Serialize;

use super::reading::Reading;
use super::spent::{CostFigures, UsageFigures};
use crate::analysis::account::Figures;
use crate::analysis::money::cost;
use crate::model::timestamp::Timestamp;
use crate::model::totals::Spent;

/// A turn.
#[derive(Debug, Serialize)]
pub(crate) struct TurnFigures {
    /// From 1.
    pub(crate) number: usize,
    /// The key of its prompt.
    pub(crate) prompt: Option<String>,
    /// The time of the prompt.
    pub(crate) started: Option<String>,
    /// The last time seen in it.
    pub(crate) ended: Option<String>,
    /// From the one to the other, in ms.
    pub(crate) span_ms: Option<u64>,
    /// Time of the model, of tools and of requests made again, in ms.
    pub(crate) work_ms: Option<u64>,
    /// Time of the human, in ms.
    pub(crate) waiting_ms: Option<u64>,
    /// Time that is neither, as far as is known, in ms.
    pub(crate) unknown_ms: Option<u64>,
    /// Tool calls.
    pub(crate) calls: u32,
    /// Calls that failed.
    pub(crate) failed: u32,
    /// Calls whose result may still come.
    pub(crate) open: u32,
    /// Requests that recorded usage.
    pub(crate) requests: u64,
    /// What was spent.
    pub(crate) usage: UsageFigures,
    /// What that cost.
    pub(crate) cost: CostFigures,
}

/// What belongs to no turn. What runs count beyond their requests may be less than nothing.
#[derive(Debug, Serialize)]
pub(crate) struct OverheadFigures {
    /// Requests that recorded usage.
    pub(crate) requests: i64,
    /// Tokens.
    pub(crate) usage: OverheadUsage,
    /// Money.
    pub(crate) cost: CostFigures,
}

/// Tokens of the session without those of its turns.
#[derive(Debug, Serialize)]
pub(crate) struct OverheadUsage {
    /// Uncached input.
    pub(crate) input: Option<i64>,
    /// Output, reasoning included.
    pub(crate) output: Option<i64>,
    /// Cache reads.
    pub(crate) cache_read: Option<i64>,
    /// Cache writes.
    pub(crate) cache_write: Option<i64>,
    /// How many of the output were reasoning.
    pub(crate) reasoning: Option<i64>,
    /// Requests that recorded usage.
    pub(crate) requests: i64,
}

/// All turns, in the order of the file.
pub fn list(reading: &Reading) -> Vec<TurnFigures> {
    let Reading { transcript, account, .. } = reading;
    let turn = |(number, prompt)| {
        let figures: Figures = account.turn(transcript, number);
        let (facts, time) = (&figures.facts, &figures.time);
        let spent = facts.totals.sum();
        let is_timed = time.total() > 0;
        TurnFigures {
            number: number + 1,
            prompt: transcript.get(prompt).map(|entry| entry.key.to_string()),
            started: facts.started.map(Timestamp::to_rfc3339),
            ended: facts.ended.map(Timestamp::to_rfc3339),
            span_ms: figures.span_ms(),
            work_ms: figures.work_ms(),
            waiting_ms: figures.work_ms().map(|_| time.waiting()),
            unknown_ms: is_timed.then(|| time.total() - time.work() - time.waiting()),
            calls: facts.calls,
            failed: facts.failed,
            open: facts.open,
            requests: spent.requests,
            usage: (&spent).into(),
            cost: (&figures.cost()).into(),
        }
    };
    transcript.turns().iter().map(|turn| turn.prompt).enumerate().map(turn).collect()
}

/// The session without its turns.
pub(crate) fn overhead(reading: &Reading, turns: &[TurnFigures]) -> OverheadFigures {
    let totals = reading.transcript.totals();
    let session: Spent = totals.sum();
    let left = |all: u64, of: &dyn Fn(&TurnFigures) -> Option<u64>| {
        let turns: u64 = turns.iter().filter_map(of).sum();
        i64::try_from(all).unwrap_or(i64::MAX).saturating_sub_unsigned(turns)
    };
    let known = |all: Option<u64>, of: &dyn Fn(&TurnFigures) -> Option<u64>| all.map(|all| left(all, of));
    let requests = left(session.requests, &|turn| Some(turn.requests));
    let mut cost = cost::of(totals);
    // Sums of what is rounded already would differ from it by a little more for each turn.
    let of_turns = cost::of(&reading.account.turns(&reading.transcript)).usd.unwrap_or(0.0);
    cost.usd = cost.usd.map(|usd| usd - of_turns);
    OverheadFigures {
        requests,
        usage: OverheadUsage {
            input: known(session.input.known(), &|turn| turn.usage.input),
            output: known(session.output.known(), &|turn| turn.usage.output),
            cache_read: known(session.cache_read.known(), &|turn| turn.usage.cache_read),
            cache_write: known(session.cache_write.known(), &|turn| turn.usage.cache_write),
            reasoning: known(session.reasoning.known(), &|turn| turn.usage.reasoning),
            requests,
        },
        cost: (&cost).into(),
    }
}
