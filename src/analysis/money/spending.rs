//! What was spent on what: every record of usage once, by the agent's own rules, and its sums by request,
//! turn, model and lane.
//!
//! Invariant: the charges of a session add up to its totals, in every class of tokens and in money,
//! without a rounding error; so do the rows of each grouping. Where an agent counts whole runs, what it
//! counts beyond the requests is a charge of its own.

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
    /// Spent besides the requests, for example inside a tool.
    Extra,
    /// What a run counts beyond its requests.
    Run,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing says that it failed.
    Fine,
    /// It ended in an error.
    Failed,
    /// It was stopped.
    Aborted,
}

/// One record of usage.
#[derive(Clone, Debug, PartialEq)]
pub struct Charge {
    /// What it is for.
    pub what: For,
    /// The entry that carries it, or after which it is recorded.
    pub(crate) entry: Option<EntryId>,
    /// Whether the entry carries it.
    pub(crate) is_own: bool,
    /// What it was recorded under beside the entries.
    pub(crate) beside: Option<Key>,
    /// The place of the entry in the order.
    pub(crate) place: usize,
    /// When.
    pub(crate) at: Option<Timestamp>,
    /// On which model; empty if nobody says.
    pub model: Name,
    /// In which lane; `None` is the main one.
    pub(crate) lane: Option<Name>,
    /// What became of it.
    pub(crate) fate: Fate,
    /// At which price.
    pub(crate) tier: Tier,
    /// How much.
    pub amount: Amount,
}

/// What an entry says of what was spent.
#[derive(Clone, Debug, PartialEq)]
pub struct EntrySpending {
    spent: Option<Spent>,
    fate: Fate,
    /// It is an error without tokens: if it was a request, nobody knows what that cost.
    lacks_tokens: bool,
    /// It says that what stands before it in its lane was stopped.
    stops: bool,
    /// It may have been stopped without saying so.
    can_be_stopped: bool,
}

/// What was spent with an entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spent {
    what: For,
    usage: Usage,
    model: Name,
    pub(crate) at: Option<Timestamp>,
}

/// The records of usage that entries carry, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) charges: Vec<Charge>,
    /// Errors that record no tokens: if they were requests, nobody knows what they cost.
    pub(crate) without_tokens: usize,
}

impl EntrySpending {
    /// Nothing of most entries.
    pub(crate) fn of(transcript: &Transcript, id: EntryId) -> Option<Self> {
        let entry = transcript.get(id)?;
        let fate = fate(entry);
        let is_spent = entry.usage.as_ref().is_some_and(|usage| !usage.is_zero());
        let answers = matches!(entry.role, Role::Assistant | Role::Harness);
        let spent = |usage: &Usage| {
            let (what, model) = (purpose(usage)?, entry.model.clone().unwrap_or_default());
            Some(Spent {
                what,
                usage: usage.clone(),
                model,
                at: entry.at,
            })
        };
        let one = Self {
            spent: entry.usage.as_deref().and_then(spent),
            fate,
            lacks_tokens: fate != Fate::Fine && answers && !is_spent,
            stops: is_stop_of_an_answer(entry),
            can_be_stopped: can_be_stopped(entry),
        };
        (one.spent.is_some() || one.lacks_tokens || one.stops).then_some(one)
    }

    /// What was spent with it.
    pub(crate) fn spent(&self) -> Option<&Spent> {
        self.spent.as_ref()
    }
}

impl Spent {
    /// How much that was.
    pub(crate) fn amount(&self) -> Amount {
        Amount::of(&self.usage, prices::of_model(&self.model))
    }
}

impl Carried {
    /// Of what entries say, in the order of the file.
    fn of(
        transcript: &Transcript,
        entries: impl Iterator<Item = (usize, EntryId, Option<impl Borrow<EntrySpending>>)>,
    ) -> Self {
        let mut carried = Self::default();
        let mut known: HashMap<Name, Option<&'static Prices>> = HashMap::new();
        // The charge of the last entry of each lane.
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
            // Some agents say that an answer was stopped by an entry of its own behind it.
            if one.stops
                && let Some(stopped) = last.and_then(|number| carried.charges.get_mut(number))
            {
                stopped.fate = Fate::Aborted;
            }
            *last = None;
            let Some(Spent {
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

    /// Of a session of which nothing else is asked.
    pub(crate) fn once(transcript: &Transcript) -> Self {
        let ids = transcript.order().iter().copied().enumerate();
        Self::of(
            transcript,
            ids.map(|(place, id)| (place, id, EntrySpending::of(transcript, id))),
        )
    }
}

/// An answer that has called tools, or says why it ended, had been complete.
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

/// `[Request interrupted by user]`, but not while a tool ran.
fn is_stop_of_an_answer(entry: &Entry) -> bool {
    let stops = |kind: &BlockKind| match kind {
        BlockKind::Break(Break::Interrupted(how)) => !how.contains("tool"),
        _ => false,
    };
    entry.usage.is_none() && entry.has(stops)
}

/// What the entry itself says: an error or a stop, unless the answer went on behind it. An answer that
/// ended for something else and holds nothing is an attempt like the one before it, which has the error
/// of both.
fn fate(entry: &Entry) -> Fate {
    let mut fate = Fate::Fine;
    for block in &entry.blocks {
        match &block.kind {
            BlockKind::Break(Break::Error(_)) => fate = Fate::Failed,
            BlockKind::Break(Break::Interrupted(_)) => fate = Fate::Aborted,
            BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Call(_)
                if fate == Fate::Failed =>
            {
                fate = Fate::Fine;
            }
            _ => {}
        }
    }
    let is_attempt =
        entry.blocks.is_empty() && entry.role == Role::Assistant && entry.stop == Stop::Other;
    if is_attempt { Fate::Failed } else { fate }
}

#[cfg(test)]
mod tests;
