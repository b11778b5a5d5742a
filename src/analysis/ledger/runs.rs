//! What runs count beyond their requests, as far as no copy says what that was.
//!
//! **A run's total is held against all that is known of its requests.** The file of a run has early snapshots of them, or
//! none; the session that its agent kept has all of their answers, and those of sub-agents. What is left then is what
//! no request says, and counts.
//!
//! A session that goes on from another one, as a fork does, has copies of its requests, and what it counts beyond its
//! requests has in it what the other one does. That is the other one's, in so far as it has the same requests.
//!
//! Invariant: what requests come to and what is left of the run's total are together what the run counts, if it counts
//! as much as they do; of sessions of which each goes on from the one before, what the last one counts.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Ledger, Spent};
use crate::analysis::money::cost::Money;
use crate::analysis::money::spending::amount::Amount;
use crate::model::text::{Name, Text};

/// A session that counts runs.
#[derive(Debug)]
pub(super) struct Run {
    /// Its number.
    pub(super) number: usize,
    /// Its id, which other copies of it have as well.
    pub(super) session: Text,
    /// The charges beyond its requests, by their places.
    pub(super) beyond: Vec<usize>,
    /// The places of its requests, and what it says of them itself.
    pub(super) own: Vec<(usize, Amount)>,
}

impl Ledger {
    /// What is left of the charges of runs, by their places.
    pub(super) fn beyond_requests(&self) -> HashMap<usize, Amount> {
        let mut left: HashMap<usize, Amount> = HashMap::new();
        let mut unclaimed: HashMap<(&Text, &Name), Amount> = HashMap::new();
        let of_sessions = self.requests_of_runs();
        let mut runs: Vec<&Run> = self.runs.iter().collect();
        runs.sort_by_key(|run| self.precedence(run.number));
        for (number, run) in runs.iter().enumerate() {
            let said = self.said_elsewhere(run);
            let others = self.others(run, of_sessions.get(&run.session).map_or(&[], Vec::as_slice));
            for place in &run.beyond {
                let Some((_, charge)) = self.spent.get(*place) else { continue };
                // Runs without requests of their own have those of their session together.
                let mut own = others.get(&charge.model).copied().unwrap_or_default();
                let pool = if run.own.is_empty() {
                    unclaimed.entry((&run.session, &charge.model)).or_insert(own)
                } else {
                    &mut own
                };
                let said = said.get(&charge.model).copied().unwrap_or_default();
                left.insert(*place, beyond(charge, &said, pool));
            }
            for earlier in runs.get(..number).unwrap_or_default() {
                self.leave_to(earlier, run, &mut left);
            }
        }
        left
    }

    /// Takes from what a run counts beyond its requests what an earlier one does, as far as both have the same requests.
    fn leave_to(&self, earlier: &Run, run: &Run, left: &mut HashMap<usize, Amount>) {
        let own: HashSet<usize> = run.own.iter().map(|(place, _)| *place).collect();
        let shared = earlier.own.iter().filter(|(place, _)| own.contains(place)).count();
        if shared == 0 {
            return;
        }
        // Copies of one session may have been made at different times, and some of its files be missing beside them.
        let (some, all) = if earlier.session == run.session { (1, 1) } else { (shared, earlier.own.len()) };
        // By model there is one charge of tokens, and one of what they cost.
        let kind = |place: &usize| {
            let (_, charge) = self.spent.get(*place)?;
            Some((charge.model.clone(), charge.amount.has_tokens()))
        };
        for its in &earlier.beyond {
            let counted = left.get(its).map(|amount| amount.part(some, all));
            let same = run.beyond.iter().find(|place| kind(place) == kind(its));
            if let (Some(counted), Some(amount)) = (counted, same.and_then(|place| left.get_mut(place))) {
                amount.minus(&counted);
            }
        }
    }

    /// The requests of the sessions that count runs, by their ids.
    fn requests_of_runs(&self) -> HashMap<&Text, Vec<usize>> {
        let mut places: HashMap<&Text, Vec<usize>> =
            self.runs.iter().map(|run| (&run.session, Vec::new())).collect();
        if places.is_empty() {
            return places;
        }
        for (place, (session, spent)) in self.spent.iter().enumerate() {
            let known = self.ids.get(*session).filter(|_| !spent.is_run).and_then(|id| places.get_mut(id));
            if let Some(known) = known {
                known.push(place);
            }
        }
        places
    }

    /// What other copies say of a run's own requests beyond what it says itself.
    fn said_elsewhere(&self, run: &Run) -> BTreeMap<&Name, Amount> {
        let mut sums: BTreeMap<&Name, Amount> = BTreeMap::new();
        for (place, own) in &run.own {
            let Some((_, known)) = self.spent.get(*place) else { continue };
            let sum = sums.entry(&known.model).or_default();
            let mut more = known.amount;
            more.minus(own);
            more.requests = 0;
            sum.plus(&more);
        }
        sums
    }

    /// What other copies of its session say of requests that the run does not name: those of its time, if it has one.
    fn others(&self, run: &Run, places: &[usize]) -> BTreeMap<&Name, Amount> {
        let own: HashSet<usize> = run.own.iter().map(|(place, _)| *place).collect();
        let times = || own.iter().filter_map(|place| self.spent.get(*place)?.1.at);
        let time = times().min().zip(times().max());
        let is_of_time = |at| match (time, at) {
            (Some((from, to)), Some(at)) => from <= at && at <= to,
            _ => own.is_empty(),
        };
        let mut sums: BTreeMap<&Name, Amount> = BTreeMap::new();
        for place in places.iter().filter(|place| !own.contains(place)) {
            let Some((_, spent)) = self.spent.get(*place).filter(|(_, spent)| is_of_time(spent.at)) else {
                continue;
            };
            sums.entry(&spent.model).or_default().plus(&spent.amount);
        }
        sums
    }
}

/// What is left of a charge without what is said elsewhere and what others have of it, which they have no more.
fn beyond(charge: &Spent, said: &Amount, others: &mut Amount) -> Amount {
    let mut amount = charge.amount;
    amount.minus(said);
    let common = amount.common(others);
    amount.minus(&common);
    others.minus(&common);
    if amount.has_tokens() || !charge.amount.has_tokens() {
        return amount;
    }
    Amount { money: Money::default(), ..amount }
}
