//! What runs count beyond their requests, without what copies of the requests account for.
//!
//! A run's total is compared with all records of its requests. The file of a run has early
//! snapshots of them, or none; the session that its agent stored has all of their answers, and
//! those of sub-agents. The remainder is in no request, and counts.
//!
//! A session that continues another one, as a fork does, has copies of its requests, and its total
//! includes what the other one counts beyond its requests. That part belongs to the other session:
//! the cost at the fork where recorded sums tell it, otherwise in proportion to the shared
//! requests.
//!
//! Invariant: the requests and the remainder of the run's total add up to what the run counts, if
//! it counts at least as much as its requests; for sessions of which each continues the one before,
//! to what the last one counts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Ledger, UsageRecord};
use crate::analysis::money::cost::{Money, PICOS_IN_NANO};
use crate::analysis::money::prices;
use crate::analysis::money::spending::amount::Amount;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::totals::nanos;
use crate::model::totals::so_far::{self, RequestLog};
use crate::model::usage::{Scope, Usage};

/// A session that counts runs.
#[derive(Debug)]
pub(super) struct CountingSession {
    pub(super) number: usize,
    /// The session's id, which other copies of it share.
    pub(super) session: Text,
    /// Indexes of the charges beyond its requests.
    pub(super) extra_charges: Vec<usize>,
    /// Indexes of its requests, with its own record of their amounts.
    pub(super) requests: Vec<(usize, Amount)>,
    /// Recorded total usage by model, after a number of its requests.
    pub(super) sums: Vec<(usize, Vec<(Name, Usage)>)>,
}

/// A sort key for earlier runs: whether both are of one session, the number of shared requests, and
/// the number of the earlier run's requests, fewer first. The run that shares most, and has little
/// else, includes what others share.
type Share = (bool, usize, Reverse<usize>);

impl CountingSession {
    fn log<'a>(&'a self, ledger: &'a Ledger) -> RequestLog<'a, usize> {
        let request = |(place, amount): &(usize, Amount)| {
            let [input, output, _, cache_read, written, long] = amount
                .tokens()
                .map(|tokens| u64::try_from(tokens.total).unwrap_or(0));
            let (_, spent) = ledger.spent.get(*place)?;
            let short = written.saturating_sub(long);
            Some((
                *place,
                &spent.model,
                [input, output, cache_read, short, long],
            ))
        };
        let sums = self.sums.iter();
        RequestLog {
            requests: self.requests.iter().filter_map(request).collect(),
            sums: sums
                .map(|(number, sums)| (*number, sums.as_slice()))
                .collect(),
        }
    }

    /// What a later run shares with it; `None` without shared requests.
    fn shared(&self, later: &Self, its: &HashSet<usize>) -> Option<Share> {
        let shared = self
            .requests
            .iter()
            .filter(|(place, _)| its.contains(place))
            .count();
        (shared > 0).then_some((
            self.session == later.session,
            shared,
            Reverse(self.requests.len()),
        ))
    }
}

impl Ledger {
    /// The remainders of runs' charges, by index.
    pub(super) fn run_remainders(&self) -> HashMap<usize, Amount> {
        let mut whole: HashMap<usize, Amount> = HashMap::new();
        let mut unclaimed: HashMap<(&Text, &Name), Amount> = HashMap::new();
        if self.runs.is_empty() {
            return whole;
        }
        let mut leaving: Vec<(&CountingSession, &CountingSession, Share)> = Vec::new();
        let sessions = RunOwners::of(self);
        let mut runs: Vec<&CountingSession> = self.runs.iter().collect();
        // Of forks with the same start, that with more requests may be a fork of the other.
        runs.sort_by_key(|run| (self.precedence(run.number), run.requests.len()));
        for (number, run) in runs.iter().enumerate() {
            let said = self.recorded_elsewhere(run);
            let others = self.others(run, &sessions);
            for place in &run.extra_charges {
                let Some((_, charge)) = self.spent.get(*place) else {
                    continue;
                };
                // Runs without requests of their own share those of their session.
                let mut own = others.get(&charge.model).copied().unwrap_or_default();
                let pool = if run.requests.is_empty() {
                    unclaimed
                        .entry((&run.session, &charge.model))
                        .or_insert(own)
                } else {
                    &mut own
                };
                let said = said.get(&charge.model).copied().unwrap_or_default();
                whole.insert(*place, remainder(charge, &said, pool));
            }
            let own: HashSet<usize> = run.requests.iter().map(|(place, _)| *place).collect();
            let earlier = runs.get(..number).unwrap_or_default().iter();
            let shares = earlier.filter_map(|earlier| Some((earlier.shared(run, &own)?, earlier)));
            if let Some((share, earlier)) = shares.max_by_key(|(share, _)| *share) {
                leaving.push((run, earlier, share));
            }
        }
        let mut left = whole.clone();
        for (run, earlier, share) in leaving {
            self.subtract_earlier(run, earlier, share, &whole, &mut left);
        }
        left
    }

    /// Subtracts from a run's remainder that of an earlier run, in proportion to the shared
    /// requests.
    fn subtract_earlier(
        &self,
        run: &CountingSession,
        earlier: &CountingSession,
        (is_copy, some, Reverse(all)): Share,
        whole: &HashMap<usize, Amount>,
        left: &mut HashMap<usize, Amount>,
    ) {
        // Copies of one session may have been made at different times, and some of its files may be
        // missing.
        let (some, all) = if is_copy { (1, 1) } else { (some, all) };
        // Each model has one charge of tokens, and one of their cost.
        let kind = |place: &usize| {
            let (_, charge) = self.spent.get(*place)?;
            Some((charge.model.clone(), charge.amount.has_tokens()))
        };
        let shared: HashSet<usize> = run.requests.iter().map(|(place, _)| *place).collect();
        let forked = || so_far::usage_at_fork(&earlier.log(self), &run.log(self));
        let sums = (!is_copy).then(forked).flatten();
        let made = |number: usize, model: &Name| {
            let requests = earlier
                .requests
                .iter()
                .take(number)
                .filter(|(place, _)| self.is_of(*place, model));
            requests
                .map(|(place, amount)| (shared.contains(place), *amount))
                .collect::<Vec<_>>()
        };
        // The cost of tokens beyond the requests, computed before the charges of cost need it.
        let mut of_tokens: HashMap<Name, i128> = HashMap::new();
        let mut beyond: Vec<&usize> = earlier.extra_charges.iter().collect();
        beyond.sort_by_key(|place| kind(place).is_some_and(|(_, has_tokens)| !has_tokens));
        for its in beyond {
            let Some(mut counted) = whole.get(its).map(|amount| amount.part(some, all)) else {
                continue;
            };
            let same = run
                .extra_charges
                .iter()
                .find(|place| kind(place) == kind(its));
            let Some(amount) = same.and_then(|place| left.get_mut(place)) else {
                continue;
            };
            let Some((model, has_tokens)) = kind(its) else {
                continue;
            };
            let recorded = sums.as_ref().map(|(number, sums)| {
                let usage = sums
                    .iter()
                    .find(|(name, _)| *name == model)
                    .map(|(_, usage)| usage.clone());
                (made(*number, &model), usage.unwrap_or_default())
            });
            if has_tokens {
                if let (Some((made, usage)), Some(whole)) = (recorded, whole.get(its)) {
                    let tokens = Usage {
                        scope: Scope::Total,
                        cost: None,
                        ..usage
                    };
                    let of_sum = Amount::of(&tokens, prices::of_model(&model));
                    counted = whole.common(&subtract_requests(of_sum, &made));
                }
                *of_tokens.entry(model).or_default() += counted.money.picos();
            } else {
                let known = recorded.map(|(made, usage)| {
                    let shared = made.iter().filter(|(is_shared, _)| *is_shared);
                    let estimated: i128 = shared.map(|(_, amount)| amount.money.estimated).sum();
                    let of_tokens = of_tokens.get(&model).copied().unwrap_or_default();
                    i128::from(nanos(usage.cost.unwrap_or(0.0))) * PICOS_IN_NANO
                        - estimated
                        - of_tokens
                });
                // No session has a negative cost.
                let most = || counted.money.picos().min(amount.money.picos().max(0));
                let picos = known.unwrap_or_else(most);
                counted.money.recorded += picos - counted.money.picos();
            }
            amount.minus(&counted);
        }
    }

    /// Whether a record of usage is on a model.
    fn is_of(&self, place: usize, model: &Name) -> bool {
        self.spent
            .get(place)
            .is_some_and(|(_, one)| one.model == *model)
    }

    /// What other copies record of a run's requests beyond its own record, by model.
    fn recorded_elsewhere(&self, run: &CountingSession) -> BTreeMap<&Name, Amount> {
        let mut sums: BTreeMap<&Name, Amount> = BTreeMap::new();
        for (place, own) in &run.requests {
            let Some((_, known)) = self.spent.get(*place) else {
                continue;
            };
            let sum = sums.entry(&known.model).or_default();
            let mut more = known.amount;
            more.minus(own);
            more.requests = 0;
            sum.plus(&more);
        }
        sums
    }

    /// Usage in other sessions that the run does not name: of copies of its session in the time of
    /// its requests, if it has any, and of sessions that it continues all usage until then, such as
    /// that of sub-agents. Sessions that count runs are excluded: their totals are complete.
    fn others(&self, run: &CountingSession, sessions: &RunOwners<'_>) -> BTreeMap<&Name, Amount> {
        let own: HashSet<usize> = run.requests.iter().map(|(place, _)| *place).collect();
        let copies = sessions.numbers.get(&run.session).into_iter().flatten();
        let mut times: BTreeMap<usize, Option<Time>> =
            copies.map(|number| (*number, None)).collect();
        for (of, spent) in own.iter().filter_map(|place| self.spent.get(*place)) {
            let is_copy = |number: &usize| self.ids.get(*number) == Some(&run.session);
            let Some(at) = spent.at else { continue };
            if !is_copy(of)
                && self
                    .ids
                    .get(*of)
                    .is_some_and(|id| !sessions.count_runs.contains(id))
            {
                times.entry(*of).or_default();
            }
            for (_, time) in times
                .iter_mut()
                .filter(|(number, _)| *number == of || is_copy(number))
            {
                let (from, to) = time.unwrap_or((at, at));
                *time = Some((from.min(at), to.max(at)));
            }
        }
        let is_of_time = |time, at| match (time, at) {
            (Some((from, to)), Some(at)) => from <= at && at <= to,
            _ => own.is_empty(),
        };
        let mut sums: BTreeMap<&Name, Amount> = BTreeMap::new();
        for (number, time) in times {
            let places = sessions.requests.get(number).into_iter().flatten();
            let spent = places
                .filter(|place| !own.contains(place))
                .filter_map(|place| self.spent.get(*place));
            for (_, spent) in spent.filter(|(_, spent)| is_of_time(time, spent.at)) {
                sums.entry(&spent.model).or_default().plus(&spent.amount);
            }
        }
        sums
    }
}

/// Start and end of usage.
type Time = (Timestamp, Timestamp);

/// Sessions that runs may belong to.
struct RunOwners<'l> {
    /// Session numbers by id.
    numbers: HashMap<&'l Text, Vec<usize>>,
    /// The ids of sessions that count runs.
    count_runs: HashSet<&'l Text>,
    /// Indexes of their requests, by session number.
    requests: Vec<Vec<usize>>,
}

impl<'l> RunOwners<'l> {
    fn of(ledger: &'l Ledger) -> Self {
        let mut numbers: HashMap<&Text, Vec<usize>> = HashMap::new();
        for (number, id) in ledger.ids.iter().enumerate() {
            numbers.entry(id).or_default().push(number);
        }
        let mut requests = vec![Vec::new(); ledger.ids.len()];
        for (place, (session, spent)) in ledger.spent.iter().enumerate() {
            if let Some(places) = requests.get_mut(*session).filter(|_| !spent.is_run) {
                places.push(place);
            }
        }
        Self {
            numbers,
            count_runs: ledger.runs.iter().map(|run| &run.session).collect(),
            requests,
        }
    }
}

/// The remainder of a charge without what is recorded elsewhere, and without the tokens of
/// `others`, which are used up.
fn remainder(charge: &UsageRecord, said: &Amount, others: &mut Amount) -> Amount {
    let mut amount = charge.amount;
    amount.minus(said);
    let common = amount.common(others);
    amount.minus(&common);
    others.minus(&common);
    if amount.has_tokens() || !charge.amount.has_tokens() {
        return amount;
    }
    Amount {
        money: Money::default(),
        ..amount
    }
}

fn subtract_requests(mut sum: Amount, made: &[(bool, Amount)]) -> Amount {
    for (_, amount) in made {
        sum.minus(amount);
    }
    sum
}
