//! What was spent on what: every record of usage once, by the agent's own rules, and its sums by request,
//! turn, model and lane.
//!
//! Invariant: the charges of a session add up to its totals, in every class of tokens and in money,
//! without a rounding error; so do the rows of each grouping. Where an agent counts whole runs, what it
//! counts beyond the requests is a charge of its own.

use hashbrown::{HashMap, HashSet};

use super::prices::{self, Prices, Tier};
use crate::analysis::index::Index;
use crate::model::body::Key;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId, Role, Stop};
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

/// The records of usage that entries carry, in the order of the file.
#[derive(Clone, Debug, Default)]
pub struct Spending {
    charges: Vec<Charge>,
    known: HashMap<Name, Option<&'static Prices>>,
    last: HashMap<Option<Name>, EntryId>,
    /// Entries that say that what stands before them was stopped.
    stops: HashSet<EntryId>,
    stopped: HashSet<EntryId>,
    without_tokens: HashSet<EntryId>,
}

impl Index for Spending {
    type Reads = ();

    fn add(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        let Some(entry) = transcript.get(id) else { return };
        if is_stop_of_an_answer(entry) {
            self.stops.insert(id);
            self.stop_what_was_before(transcript, entry);
        }
        self.last.insert(entry.lane.clone(), id);
        let charge = self.see(id, entry, place);
        if self.charges.len() == self.charges.capacity() {
            // They take much room: of a long session they are not to be moved again and again.
            self.charges.reserve(transcript.order().len().saturating_sub(place));
        }
        self.charges.extend(charge);
    }

    fn change(&mut self, transcript: &Transcript, place: usize, id: EntryId) -> bool {
        let Some(entry) = transcript.get(id) else { return true };
        let charge = self.see(id, entry, place);
        let at = self.charges.partition_point(|charge| charge.place < place);
        let known = self.charges.get(at).filter(|charge| charge.entry == Some(id));
        let has_moved = known.is_some_and(|known| known.lane != entry.lane);
        let is_known = known.is_some();
        self.charges.splice(at..at + usize::from(is_known), charge);
        !has_moved && self.stops.contains(&id) == is_stop_of_an_answer(entry)
    }
}

impl Spending {
    /// All charges, in the order of the file.
    pub(crate) fn charges(&self) -> &[Charge] {
        &self.charges
    }

    /// All charges, for whoever needs nothing else.
    pub(crate) fn into_charges(self) -> Vec<Charge> {
        self.charges
    }

    /// Errors that record no tokens: if they were requests, nobody knows what they cost.
    pub(crate) fn without_tokens(&self) -> usize {
        self.without_tokens.len()
    }

    fn see(&mut self, id: EntryId, entry: &Entry, place: usize) -> Option<Charge> {
        let fate = fate(entry);
        let is_spent = entry.usage.as_ref().is_some_and(|usage| !usage.is_zero());
        let answers = matches!(entry.role, Role::Assistant | Role::Harness);
        if fate != Fate::Fine && answers && !is_spent {
            self.without_tokens.insert(id);
        } else {
            self.without_tokens.remove(&id);
        }
        let is_stopped = self.stopped.contains(&id) && can_be_stopped(entry);
        let fate = if is_stopped { Fate::Aborted } else { fate };
        let usage = entry.usage.as_deref()?;
        let what = purpose(usage)?;
        let model = entry.model.clone().unwrap_or_default();
        let prices = *self.known.entry(model.clone()).or_insert_with(|| prices::of_model(&model));
        let lane = entry.lane.clone();
        let tier = prices.map(|prices| prices.tier_of(usage)).unwrap_or_default();
        let amount = Amount::of(usage, prices);
        Some(Charge {
            what,
            entry: Some(id),
            is_own: true,
            beside: None,
            place,
            at: entry.at,
            model,
            lane,
            fate,
            tier,
            amount,
        })
    }

    /// Some agents say that an answer was stopped by an entry of its own behind it.
    fn stop_what_was_before(&mut self, transcript: &Transcript, entry: &Entry) {
        let Some(before) = self.last.get(&entry.lane).copied() else { return };
        self.stopped.insert(before);
        let charge = self.charges.iter_mut().rfind(|charge| charge.entry == Some(before));
        if let (Some(charge), Some(answer)) = (charge, transcript.get(before))
            && can_be_stopped(answer)
        {
            charge.fate = Fate::Aborted;
        }
    }
}

/// An answer that has called tools, or says why it ended, had been complete.
fn can_be_stopped(answer: &Entry) -> bool {
    let calls = |block: &Block| matches!(block.kind, BlockKind::Call(_));
    answer.role == Role::Assistant && answer.stop == Stop::Unrecorded && !answer.blocks.iter().any(calls)
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
    let stops = |block: &Block| match &block.kind {
        BlockKind::Break(Break::Interrupted(how)) => !how.contains("tool"),
        _ => false,
    };
    entry.usage.is_none() && entry.blocks.iter().any(stops)
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
            BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Call(_) if fate == Fate::Failed => {
                fate = Fate::Fine;
            }
            _ => {}
        }
    }
    let is_attempt = entry.blocks.is_empty() && entry.role == Role::Assistant && entry.stop == Stop::Other;
    if is_attempt { Fate::Failed } else { fate }
}

#[cfg(test)]
mod tests;
