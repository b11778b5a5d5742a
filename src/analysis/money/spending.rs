//! Charges: every record of usage once, by the agent's own rules, summed by request, turn, model
//! and lane.
//!
//! Invariant: the charges of a session add up to its totals, in every class of tokens and in money,
//! without rounding errors; so do the rows of each grouping. Where an agent counts whole runs, what
//! it counts beyond the requests is a separate charge.

use std::borrow::Borrow;

use hashbrown::HashMap;

use super::prices::{self, Prices, Tier};
use crate::model::body::Key;
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role, Stop};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::model::usage::{Scope, Usage};

pub mod amount;
pub mod arithmetic;
pub mod statement;

use amount::Amount;

/// What a charge is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// A request to the model.
    Request,
    /// Usage outside of requests, for example inside a tool.
    Extra,
    /// What a run counts beyond its requests.
    Run,
}

impl For {
    /// The value in exports.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Extra => "extra",
            Self::Run => "run",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// No failure is recorded.
    Fine,
    /// It ended in an error.
    Failed,
    Aborted,
}

/// One record of usage.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    pub what: For,
    /// The entry with the usage, or after which it is recorded.
    pub entry: Option<EntryId>,
    /// Whether the usage is in the entry itself.
    pub is_own: bool,
    /// Its key, if it is recorded beside the entries.
    pub(crate) beside: Option<Key>,
    /// Position of the entry in the order.
    pub(crate) place: usize,
    pub(crate) at: Option<Timestamp>,
    /// The model; empty if unrecorded.
    pub model: Name,
    /// `None` is the main lane.
    pub(crate) lane: Option<Name>,
    pub(crate) fate: RequestOutcome,
    /// The prices that apply.
    pub(crate) tier: Tier,
    pub amount: Amount,
}

/// The facts of an entry about usage.
#[derive(Clone, Debug, PartialEq)]
pub struct EntrySpending {
    spent: Option<EntryUsage>,
    fate: RequestOutcome,
    /// It is an error without tokens: if it was a request, its cost is unknown.
    lacks_tokens: bool,
    /// It records that the previous entry of its lane was interrupted.
    stops: bool,
    /// It may have been interrupted without recording it.
    can_be_stopped: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EntryUsage {
    what: For,
    usage: Usage,
    model: Name,
    pub(crate) at: Option<Timestamp>,
}

/// Charges of entries, in file order.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryCharges {
    pub(crate) charges: Vec<Charge>,
    /// Errors without recorded tokens: if they were requests, their cost is unknown.
    pub(crate) without_tokens: usize,
}

impl EntrySpending {
    /// Extracts the facts of an entry; `None` for most.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let fate = fate(entry);
        let is_spent = entry.usage.as_ref().is_some_and(|usage| !usage.is_zero());
        let answers = matches!(entry.role, Role::Assistant | Role::Harness);
        let spent = |usage: &Usage| {
            let (what, model) = (purpose(usage)?, entry.model.clone().unwrap_or_default());
            Some(EntryUsage {
                what,
                usage: usage.clone(),
                model,
                at: entry.at,
            })
        };
        let one = Self {
            spent: entry.usage.as_deref().and_then(spent),
            fate,
            lacks_tokens: fate != RequestOutcome::Fine && answers && !is_spent,
            stops: is_stop_of_an_answer(entry),
            can_be_stopped: can_be_stopped(entry),
        };
        (one.spent.is_some() || one.lacks_tokens || one.stops).then_some(one)
    }

    pub(crate) fn usage(&self) -> Option<&EntryUsage> {
        self.spent.as_ref()
    }
}

impl EntryUsage {
    /// Its tokens and money.
    pub(crate) fn amount(&self) -> Amount {
        Amount::of(&self.usage, prices::of_model(&self.model))
    }
}

impl EntryCharges {
    /// Charges from the facts of entries, in file order.
    fn of(
        transcript: &Transcript,
        entries: impl Iterator<Item = (usize, EntryId, Option<impl Borrow<EntrySpending>>)>,
    ) -> Self {
        let mut carried = Self::default();
        let mut known: HashMap<Name, Option<&'static Prices>> = HashMap::new();
        // The index of the last entry's charge, by lane.
        let mut last: HashMap<Option<&Name>, Option<usize>> = HashMap::new();
        for (place, id, one) in entries {
            let lane = transcript.lane_at(id);
            let last = last.entry(lane).or_default();
            let Some(one) = &one else {
                *last = None;
                continue;
            };
            let one: &EntrySpending = one.borrow();
            carried.without_tokens += usize::from(one.lacks_tokens);
            // Some agents record the interruption of an answer as an entry after it.
            if one.stops
                && let Some(stopped) = last.and_then(|number| carried.charges.get_mut(number))
            {
                stopped.fate = RequestOutcome::Aborted;
            }
            *last = None;
            let Some(EntryUsage {
                what,
                usage,
                model,
                at,
            }) = &one.spent
            else {
                continue;
            };
            *last = one.can_be_stopped.then_some(carried.charges.len());
            let prices = *known
                .entry(model.clone())
                .or_insert_with(|| prices::of_model(model));
            carried.charges.push(Charge {
                what: *what,
                entry: Some(id),
                is_own: true,
                beside: None,
                place,
                at: *at,
                model: model.clone(),
                lane: lane.cloned(),
                fate: one.fate,
                tier: prices
                    .map(|prices| prices.tier_of(usage))
                    .unwrap_or_default(),
                amount: Amount::of(usage, prices),
            });
        }
        carried
    }

    /// Extracts facts and builds charges in one pass, for callers that need nothing else of the
    /// session.
    pub(crate) fn compute(transcript: &Transcript) -> Self {
        let ids = transcript.order().iter().copied().enumerate();
        let mut passing = transcript.cursor();
        Self::of(
            transcript,
            ids.map(|(place, id)| (place, id, passing.get(id).and_then(EntrySpending::of))),
        )
    }
}

/// Whether an answer may have been interrupted: one that has calls or a stop reason was complete.
fn can_be_stopped(answer: &Entry) -> bool {
    answer.role == Role::Assistant
        && answer.stop == Stop::Unrecorded
        && answer.calls().next().is_none()
}

/// What usage is for; sums of runs are not charges.
fn purpose(usage: &Usage) -> Option<For> {
    match usage.scope {
        Scope::Request => Some(For::Request),
        Scope::Extra => Some(For::Extra),
        Scope::Run | Scope::Total | Scope::Fallback | Scope::Open => None,
    }
}

/// Whether an entry is `[Request interrupted by user]`, but not during a tool call.
fn is_stop_of_an_answer(entry: &Entry) -> bool {
    let stops = |kind: &BlockKind| match kind {
        BlockKind::Break(Break::Interrupted(how)) => !how.contains("tool"),
        _ => false,
    };
    entry.usage.is_none() && entry.has(stops)
}

/// The outcome by the entry itself: an error or an interruption, unless the answer continued after
/// it. An empty answer with stop reason `Other` is a failed attempt like the one before it, which
/// has the error of both.
fn fate(entry: &Entry) -> RequestOutcome {
    let mut fate = RequestOutcome::Fine;
    for block in &entry.blocks {
        match &block.kind {
            BlockKind::Break(Break::Error(_)) => fate = RequestOutcome::Failed,
            BlockKind::Break(Break::Interrupted(_)) => fate = RequestOutcome::Aborted,
            BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Call(_)
                if fate == RequestOutcome::Failed =>
            {
                fate = RequestOutcome::Fine;
            }
            _ => {}
        }
    }
    let is_attempt =
        entry.blocks.is_empty() && entry.role == Role::Assistant && entry.stop == Stop::Other;
    if is_attempt {
        RequestOutcome::Failed
    } else {
        fate
    }
}

#[cfg(test)]
mod tests;
