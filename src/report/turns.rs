//! Turns with their figures, and the overhead: the list `turn_list` of schema `tv.stats/2`.
//!
//! Invariant: turns and overhead add up to the session, in requests, tokens and cost.

use serde::{Serialize, Serializer};

use super::reading::Reading;
use super::spent::{CostFigures, UsageFigures};
use crate::analysis::account::{Class, Figures};
use crate::analysis::money::cost;
use crate::model::timestamp::Timestamp;
use crate::model::totals::{Sum, Totals};

#[derive(Debug, Serialize)]
pub(crate) struct TurnFigures {
    /// Number from 1.
    pub(crate) number: usize,
    /// The key of its prompt.
    pub(crate) prompt: Option<String>,
    /// The time of the prompt.
    pub(crate) started: Option<String>,
    /// The last timestamp in it.
    pub(crate) ended: Option<String>,
    /// Time from `started` to `ended`, in ms.
    pub(crate) span_ms: Option<u64>,
    /// Time of the model, of tools and of retried requests, in ms.
    pub(crate) work_ms: Option<u64>,
    /// Time of the human, in ms.
    pub(crate) waiting_ms: Option<u64>,
    /// Time in which only work in the background was running, in ms.
    pub(crate) background_ms: Option<u64>,
    /// Remaining time, in ms.
    pub(crate) unknown_ms: Option<u64>,
    pub(crate) calls: u32,
    pub(crate) failed: u32,
    /// Calls whose result may still come.
    pub(crate) open: u32,
    /// Requests that recorded usage.
    pub(crate) requests: u64,
    pub(crate) usage: UsageFigures,
    pub(crate) cost: CostFigures,
}

/// The figures that belong to no turn. They may be negative, because of what runs count beyond
/// their requests.
#[derive(Debug, Serialize)]
pub(crate) struct OverheadFigures {
    /// Requests that recorded usage.
    pub(crate) requests: i64,
    pub(crate) usage: UsageFigures<i64>,
    pub(crate) cost: CostFigures,
}

/// All turns, in file order. Each is computed as it is written, because a session may have a
/// million.
pub(crate) struct TurnList<'r>(pub(crate) &'r Reading);

impl Serialize for TurnList<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.turns())
    }
}

impl TurnList<'_> {
    /// Computes the turns, one after the other.
    pub(crate) fn turns(&self) -> impl Iterator<Item = TurnFigures> {
        let Reading {
            transcript,
            account,
            ..
        } = self.0;
        let mut passing = transcript.cursor();
        let turns = transcript.turns().iter().enumerate();
        turns.map(move |(number, turn)| {
            let key = passing.get(turn.prompt).map(|entry| entry.key.to_string());
            TurnFigures::of(number, key, &account.turn(transcript, number))
        })
    }
}

impl TurnFigures {
    fn of(number: usize, prompt: Option<String>, figures: &Figures) -> Self {
        let (facts, time) = (&figures.facts, &figures.time);
        let spent = facts.totals.sum();
        let is_timed = time.total() > 0;
        Self {
            number: number + 1,
            prompt,
            started: facts.started.map(Timestamp::to_rfc3339),
            ended: facts.ended.map(Timestamp::to_rfc3339),
            span_ms: figures.span_ms(),
            work_ms: figures.work_ms(),
            waiting_ms: figures.work_ms().map(|_| time.of(Class::Human)),
            background_ms: figures.work_ms().map(|_| time.of(Class::Background)),
            unknown_ms: is_timed.then(|| {
                let known = time.work()
                    + time.of(Class::Human)
                    + time.of(Class::Idle)
                    + time.of(Class::Background);
                time.total().saturating_sub(known)
            }),
            calls: facts.calls,
            failed: facts.failed,
            open: facts.open,
            requests: spent.requests,
            usage: (&spent).into(),
            cost: (&figures.cost()).into(),
        }
    }
}

/// The session's figures less those of its turns.
pub(crate) fn overhead(reading: &Reading) -> OverheadFigures {
    let Reading {
        transcript,
        account,
        ..
    } = reading;
    let totals = transcript.totals();
    let mut of_turns = Totals::default();
    for number in 0..transcript.turns().len() {
        of_turns.merge(&account.turn(transcript, number).facts.totals);
    }
    let (session, turns) = (totals.sum(), of_turns.sum());
    let left = |all: u64, turns: u64| {
        i64::try_from(all)
            .unwrap_or(i64::MAX)
            .saturating_sub_unsigned(turns)
    };
    let known = |all: Sum, turns: Sum| all.value().map(|all| left(all, turns.total));
    let requests = left(session.requests, turns.requests);
    let mut cost = cost::of(totals);
    let turns_cost = cost::of(&of_turns);
    cost.usd = cost.usd.map(|usd| usd - turns_cost.usd.unwrap_or(0.0));
    cost.by_list = cost
        .by_list
        .zip(turns_cost.listed())
        .map(|(all, turns)| all - turns);
    OverheadFigures {
        requests,
        usage: UsageFigures {
            input: known(session.input, turns.input),
            output: known(session.output, turns.output),
            output_is_partial: session.partial > turns.partial,
            cache_read: known(session.cache_read, turns.cache_read),
            cache_write: known(session.cache_write, turns.cache_write),
            reasoning: known(session.reasoning, turns.reasoning),
            requests,
        },
        cost: (&cost).into(),
    }
}
