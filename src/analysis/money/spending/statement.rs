//! The statement of a session: its charges with their turns, sums by grouping, and the cost of
//! failed, interrupted and abandoned requests.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::amount::Amount;
use super::{Charge, EntryCharges, EntrySpending, For, RequestOutcome, purpose};
use crate::analysis::account::Account;
use crate::analysis::derived::{Derived, Facts, Out};
use crate::analysis::money::cost::{self, Cost, Money, PICOS_IN_NANO};
use crate::analysis::money::prices::{self, Prices, Tier};
use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::totals::{ModelUsage, ToPrice, Totals};
use crate::model::transcript::{Aside, Passing, Transcript, UsagePart};

/// What charges are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    Models,
    Lanes,
    #[default]
    Turns,
    /// One row per charge.
    Requests,
}

/// The group of a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// A model; empty if unrecorded.
    Model(Name),
    /// A lane; `None` is the main one.
    Lane(Option<Name>),
    /// The turn of this prompt.
    Turn(EntryId),
    /// No turn: entries before the first prompt, and lanes that serve the session.
    Outside,
    /// A charge, by its index in the statement.
    Charge(usize),
    /// What runs count beyond their requests.
    Run,
}

/// A sum of charges.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementRow {
    /// The group of the charges.
    pub group: Group,
    pub amount: Amount,
    /// Money of all rows up to this one, in pico-dollars.
    pub cumulative: i128,
    /// The timestamp of the first charge that has one.
    pub(crate) at: Option<Timestamp>,
    /// The entry of the first charge.
    pub(crate) first: Option<EntryId>,
    /// Whether sub-agents took part whose records are missing.
    pub(crate) lacks_agents: bool,
}

impl StatementRow {
    pub fn cost(&self) -> Cost {
        self.amount.money.cost().partial_if(self.lacks_agents)
    }
}

/// The cost of an abandoned branch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Left {
    pub(crate) branch: usize,
    /// Includes the sub-agents that were started on it.
    pub(crate) amount: Amount,
}

/// All charges of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// Charges in file order, then what runs count beyond them.
    pub charges: Vec<Charge>,
    turns: Vec<Option<EntryId>>,
    branches: Vec<Option<usize>>,
    /// Prompts of turns with sub-agents whose records are missing.
    lacking: HashSet<EntryId>,
    /// The sum of all charges.
    pub total: Amount,
    /// The cost of the session, as shown everywhere in tv.
    pub cost: Option<Cost>,
    /// The cost of abandoned branches.
    pub(crate) left: Vec<Left>,
    /// Requests that ended in an error.
    pub(crate) failed: Amount,
    /// Requests that were interrupted.
    pub(crate) aborted: Amount,
    /// Errors without recorded tokens.
    pub(crate) without_tokens: usize,
}

impl Derived for Statement {
    type Row = EntrySpending;
    type Reads = Account;

    fn rows(
        _transcript: &Transcript,
        (_, entry): (EntryId, &Entry),
        _before: &[EntrySpending],
        out: &mut Out<'_, EntrySpending>,
    ) {
        if let Some(row) = EntrySpending::of(entry) {
            out.push(row);
        }
    }

    fn of(transcript: &Transcript, facts: &Facts<EntrySpending>, account: &Account) -> Self {
        let entries = facts
            .in_order(transcript)
            .map(|(place, id, rows)| (place, id, rows.first()));
        Self::of_charges(transcript, EntryCharges::of(transcript, entries), account)
    }
}

impl Statement {
    /// The statement of a session, for callers that need nothing else of it.
    pub(crate) fn compute(transcript: &Transcript, account: &Account) -> Self {
        Self::of_charges(transcript, EntryCharges::compute(transcript), account)
    }

    fn of_charges(transcript: &Transcript, entries: EntryCharges, account: &Account) -> Self {
        let EntryCharges {
            charges: carried,
            without_tokens,
        } = entries;
        let charges = charges(carried, transcript);
        let lanes = AgentCallers::of(transcript);
        let mut statement = Self {
            lacking: incomplete_turns(account, transcript),
            turns: charges
                .iter()
                .map(|charge| turn_of(charge, account, transcript))
                .collect(),
            branches: charges
                .iter()
                .map(|charge| branch_of(charge, &lanes, transcript))
                .collect(),
            cost: Some(account.cost(transcript)),
            without_tokens,
            ..Self::default()
        };
        let mut left: BTreeMap<usize, Amount> = BTreeMap::new();
        for (number, charge) in charges.iter().enumerate() {
            statement.total.plus(&charge.amount);
            match charge.fate {
                // Without a figure it is counted in `without_tokens`.
                _ if charge.amount.is_nothing() => {}
                RequestOutcome::Fine => {}
                RequestOutcome::Failed => statement.failed.plus(&charge.amount),
                RequestOutcome::Aborted => statement.aborted.plus(&charge.amount),
            }
            if let Some(branch) = statement.branch_of(number) {
                left.entry(branch).or_default().plus(&charge.amount);
            }
        }
        statement.left = left
            .into_iter()
            .map(|(branch, amount)| Left { branch, amount })
            .collect();
        statement.charges = charges;
        statement
    }

    /// Whether there are no charges.
    pub fn is_empty(&self) -> bool {
        self.charges.is_empty()
    }

    /// The group of a charge.
    pub(crate) fn group_of(&self, number: usize, by: Grouping) -> Option<Group> {
        let charge = self.charges.get(number)?;
        Some(match by {
            Grouping::Requests => Group::Charge(number),
            // A correction of the total cost belongs to no model; but runs may count by model.
            Grouping::Models
                if charge.what == For::Run
                    && charge.amount.prompt() == 0
                    && charge.model.is_empty() =>
            {
                Group::Run
            }
            Grouping::Models => Group::Model(charge.model.clone()),
            _ if charge.what == For::Run => Group::Run,
            Grouping::Lanes => Group::Lane(charge.lane.clone()),
            Grouping::Turns => self
                .turns
                .get(number)
                .copied()
                .flatten()
                .map_or(Group::Outside, Group::Turn),
        })
    }

    /// The abandoned branch that a charge is on.
    pub(crate) fn branch_of(&self, number: usize) -> Option<usize> {
        self.branches.get(number).copied().flatten()
    }

    /// The sums by group, in the order of their first charges.
    pub fn rows(&self, by: Grouping) -> Vec<StatementRow> {
        let mut rows: Vec<StatementRow> = Vec::new();
        let mut places: HashMap<Group, usize> = HashMap::new();
        for (number, charge) in self.charges.iter().enumerate() {
            let Some(group) = self.group_of(number, by) else {
                continue;
            };
            let place = *places.entry(group.clone()).or_insert_with(|| {
                rows.push(StatementRow {
                    group,
                    amount: Amount::default(),
                    cumulative: 0,
                    at: None,
                    first: charge.entry,
                    lacks_agents: false,
                });
                rows.len() - 1
            });
            if let Some(row) = rows.get_mut(place) {
                row.amount.plus(&charge.amount);
                row.at = row.at.or(charge.at);
            }
        }
        let mut sum = 0;
        for row in &mut rows {
            sum += row.amount.money.picos();
            row.cumulative = sum;
            row.lacks_agents =
                matches!(&row.group, Group::Turn(prompt) if self.lacking.contains(prompt));
        }
        rows
    }

    /// The charges of a group; all charges for `None`.
    pub fn charges_of(&self, group: Option<&Group>, by: Grouping) -> Vec<&Charge> {
        if let Some(Group::Charge(number)) = group {
            return self.charges.get(*number).into_iter().collect();
        }
        let all = self.charges.iter().enumerate();
        let wanted = all.filter(|(number, _)| {
            group.is_none_or(|group| self.group_of(*number, by).as_ref() == Some(group))
        });
        wanted.map(|(_, charge)| charge).collect()
    }

    /// The sum over all abandoned branches.
    pub(crate) fn abandoned_total(&self) -> Amount {
        let mut sum = Amount::default();
        self.left.iter().for_each(|left| sum.plus(&left.amount));
        sum
    }
}

/// All charges of a session; `own` are those of entries.
pub(crate) fn charges(own: Vec<Charge>, transcript: &Transcript) -> Vec<Charge> {
    let mut charges = with_asides(own, transcript);
    // Some agents record the prompts of many requests as one sum.
    if transcript.totals().has_summed_prompts() {
        for charge in charges
            .iter_mut()
            .filter(|charge| charge.amount.lacks_prompt())
        {
            charge.amount.money.partial = charge.amount.partial;
        }
    }
    let runs = runs(&charges, transcript);
    charges.extend(runs);
    charges
}

/// Prompts of turns with sub-agents whose records are missing.
fn incomplete_turns(account: &Account, transcript: &Transcript) -> HashSet<EntryId> {
    let turns = transcript.turns().iter().enumerate();
    let lacking = turns.filter(|(number, _)| account.turn(transcript, *number).lacks_agents);
    lacking.map(|(_, turn)| turn.prompt).collect()
}

/// Indexes of the charges whose sub-agents' usage is missing: those of the turns that started them,
/// or all if no turn did. Empty if the cost of the session is complete.
pub(crate) fn incomplete_charges(
    charges: &[Charge],
    account: &Account,
    transcript: &Transcript,
) -> HashSet<usize> {
    if !account.lacks_agents(transcript) {
        return HashSet::new();
    }
    let turns = incomplete_turns(account, transcript);
    let is_of_one = |charge: &Charge| {
        turn_of(charge, account, transcript).is_some_and(|prompt| turns.contains(&prompt))
    };
    let numbers = charges
        .iter()
        .enumerate()
        .filter(|(_, charge)| is_of_one(charge));
    let lacking: HashSet<usize> = numbers.map(|(number, _)| number).collect();
    if lacking.is_empty() {
        (0..charges.len()).collect()
    } else {
        lacking
    }
}

/// The charges of entries and of usage recorded beside them, in file order.
fn with_asides(mut charges: Vec<Charge>, transcript: &Transcript) -> Vec<Charge> {
    let asides = transcript.asides().map(|(key, aside)| {
        let place = aside.after.and_then(|id| transcript.place_of(id));
        (place.unwrap_or(0), key, aside)
    });
    let mut asides: Vec<(usize, &Key, &Aside)> = asides.collect();
    if asides.is_empty() {
        return charges;
    }
    asides.sort_unstable_by_key(|(place, key, _)| (*place, *key));
    let mut passing = transcript.cursor();
    charges.extend((asides.into_iter()).filter_map(|(place, key, aside)| {
        charge_of(aside, (place, key), transcript, &mut passing)
    }));
    // The sort is stable, so usage recorded beside an entry follows it.
    charges.sort_by_key(|charge| charge.place);
    charges
}

/// How many entries before a charge are searched for a timestamp.
const NEAR: usize = 64;

fn charge_of(
    aside: &Aside,
    (place, key): (usize, &Key),
    transcript: &Transcript,
    passing: &mut Passing<'_>,
) -> Option<Charge> {
    let what = purpose(&aside.usage)?;
    let entry = aside.after;
    let lane = entry.and_then(|id| transcript.lane_at(id));
    let before = transcript
        .order()
        .get(..=place)
        .unwrap_or_default()
        .iter()
        .rev()
        .take(NEAR);
    let mut before = before.filter(|id| transcript.lane_at(**id) == lane);
    let model = aside.model.clone().unwrap_or_default();
    let prices = prices::of_model(&model);
    Some(Charge {
        what,
        entry,
        is_own: false,
        beside: Some(key.clone()),
        place,
        at: entry.and_then(|_| before.find_map(|id| passing.get(*id)?.at)),
        lane: lane.cloned(),
        fate: RequestOutcome::Fine,
        tier: prices
            .map(|prices| prices.tier_of(&aside.usage))
            .unwrap_or_default(),
        amount: Amount::of(&aside.usage, prices),
        model,
    })
}

/// What runs count beyond their requests: tokens by model, then the difference between the recorded
/// total cost and the cost of all charges so far. Either may be negative.
fn runs(charges: &[Charge], transcript: &Transcript) -> Vec<Charge> {
    let parts = transcript.parts();
    let sums = parts.iter().filter(|part| part.totals.has_runs());
    let own = |part: &UsagePart<'_>| {
        let is_own = |charge: &&Charge| part.has(session_of(charge, transcript));
        runs_of(
            &part.totals,
            &charges.iter().filter(is_own).collect::<Vec<_>>(),
        )
    };
    sums.flat_map(own).collect()
}

/// The part of a joined transcript that a charge belongs to.
fn session_of(charge: &Charge, transcript: &Transcript) -> Option<usize> {
    match (&charge.beside, &charge.lane) {
        (Some(key), _) => transcript.session_of_key(key),
        (None, Some(lane)) => transcript.session_of_lane(lane).map(|(session, _)| session),
        (None, None) => None,
    }
}

/// What the runs of one part count beyond its charges: by model the tokens at list prices, then the
/// recorded cost of the model in place of these; then the remainder of the total cost.
fn runs_of(totals: &Totals, charges: &[&Charge]) -> Vec<Charge> {
    let open = UnsettledCost::of(totals);
    let listed: BTreeMap<Name, Option<i128>> = cost::listed(totals).into_iter().collect();
    let mut by_model: BTreeMap<Name, Amount> = BTreeMap::new();
    let mut costs: BTreeMap<Name, Money> = BTreeMap::new();
    for (model, spent) in totals.by_model().iter() {
        let prices = prices::of_model(model);
        let amount = Amount {
            requests: 0,
            ..Amount::of_sum(spent, prices)
        };
        by_model.insert(model.clone(), amount);
        if totals.run_of(model).is_some_and(|run| run.priced > 0) {
            let listed = listed
                .get(model)
                .copied()
                .flatten()
                .map(|picos| picos - open.estimated(model));
            costs.insert(model.clone(), recorded_cost(spent, prices, listed));
        }
    }
    for charge in charges {
        let mut amount = charge.amount;
        amount.requests = 0;
        by_model
            .entry(charge.model.clone())
            .or_default()
            .minus(&amount);
    }
    let mut sum = Amount::default();
    for charge in charges {
        sum.plus(&charge.amount);
    }
    let mut beyond: Vec<Charge> = Vec::new();
    for (model, mut amount) in by_model {
        let recorded = costs.remove(&model);
        if let Some(recorded) = &recorded {
            amount.money = Money {
                recorded: amount.money.recorded,
                estimated: amount.money.estimated,
                ..Money::default()
            };
            amount.money.minus(&Money {
                compared: 0,
                expected: 0,
                ..*recorded
            });
        }
        sum.plus(&amount);
        if amount.tokens().iter().any(|tokens| tokens.total != 0) || amount.money.picos() != 0 {
            beyond.push(run(model.clone(), amount));
        }
        if let Some(money) = recorded {
            let amount = Amount {
                money,
                ..Amount::default()
            };
            sum.plus(&amount);
            beyond.push(run(model, amount));
        }
    }
    if let Some(nanos) = totals.run_nanos() {
        let recorded = i128::from(nanos) * PICOS_IN_NANO;
        let listed: Option<i128> = listed.into_values().sum();
        // The recorded cost cannot be compared with tokens that are not recorded.
        let listed = listed
            .filter(|picos| *picos > 0)
            .map(|picos| picos - open.sum.estimated);
        let lacks_some = totals.lacks_run_cost() && sum.money.lacking == 0;
        // The recorded cost does not include an unfinished run.
        let money = Money {
            recorded: recorded + open.sum.recorded - sum.money.recorded,
            estimated: open.sum.estimated - sum.money.estimated,
            recordings: 1,
            lacking: u32::from(lacks_some),
            compared: listed.map_or(0, |_| recorded - sum.money.compared),
            expected: listed.map_or(0, |listed| listed - sum.money.expected),
            incomparable: u32::from(listed.is_none()),
            ..Money::default()
        };
        // Agents sum in floating point: less than a nano-dollar is no separate charge, but is not
        // dropped.
        let is_rounding = money.picos().abs() < PICOS_IN_NANO;
        match beyond.last_mut().filter(|_| is_rounding) {
            Some(last) => last.amount.plus(&Amount {
                money,
                ..Amount::default()
            }),
            None if money.picos() == 0 && money.recorded == 0 && !lacks_some => {}
            None => beyond.push(run(
                Name::default(),
                Amount {
                    money,
                    ..Amount::default()
                },
            )),
        }
    }
    beyond
}

/// The recorded cost of a model, in place of the list price of the same tokens.
fn recorded_cost(spent: &ModelUsage, prices: Option<&Prices>, listed: Option<i128>) -> Money {
    let recorded = Money::of(
        &ModelUsage {
            unpriced: ToPrice::default(),
            ..spent.clone()
        },
        prices,
    );
    Money {
        estimated: -recorded.expected,
        compared: listed.map_or(0, |_| recorded.recorded),
        expected: listed.unwrap_or(0),
        incomparable: listed.map_or(recorded.recordings, |_| 0),
        ..recorded
    }
}

/// The cost of unfinished runs, or of requests since the agent last recorded its total cost.
struct UnsettledCost {
    by_model: BTreeMap<Name, Money>,
    sum: Money,
}

impl UnsettledCost {
    fn of(totals: &Totals) -> Self {
        let mut sum = Money::default();
        let mut by_model = BTreeMap::new();
        for (model, spent) in totals.open_by_model() {
            let money = Money::of(spent, prices::of_model(model));
            sum.plus(&money);
            by_model.insert(model.clone(), money);
        }
        Self { by_model, sum }
    }

    fn estimated(&self, model: &Name) -> i128 {
        self.by_model.get(model).map_or(0, |money| money.estimated)
    }
}

fn run(model: Name, amount: Amount) -> Charge {
    Charge {
        what: For::Run,
        entry: None,
        is_own: false,
        beside: None,
        place: usize::MAX,
        at: None,
        model,
        lane: None,
        fate: RequestOutcome::Fine,
        tier: Tier::default(),
        amount,
    }
}

/// The callers of sub-agents in the main lane.
struct AgentCallers<'a>(HashMap<&'a Name, Option<EntryId>>);

impl<'a> AgentCallers<'a> {
    fn of(transcript: &'a Transcript) -> Self {
        let caller = |lane: &'a LaneFacts| (&lane.name, transcript.root_caller(lane));
        Self(transcript.lanes().iter().map(caller).collect())
    }

    fn caller(&self, charge: &Charge) -> Option<EntryId> {
        self.0.get(charge.lane.as_ref()?).copied().flatten()
    }
}

/// The prompt of the turn that a charge belongs to; `None` for overhead.
fn turn_of(charge: &Charge, account: &Account, transcript: &Transcript) -> Option<EntryId> {
    if charge.what == For::Run {
        return None;
    }
    let number = match &charge.lane {
        Some(lane) if !transcript.is_main_lane(Some(lane)) => {
            account.turn_of_lane(transcript, lane)
        }
        _ => transcript.turn_at(charge.place),
    };
    Some(transcript.turns().get(number?)?.prompt)
}

/// The abandoned branch that a charge is on.
fn branch_of(charge: &Charge, lanes: &AgentCallers<'_>, transcript: &Transcript) -> Option<usize> {
    let of = |id: EntryId| Some(transcript.branches().of(id)?.number);
    match &charge.lane {
        Some(_) => of(lanes.caller(charge)?),
        None => of(charge.entry?),
    }
}
