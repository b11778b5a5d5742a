//! A statement of what was spent: all charges with the turn they belong to, their sums by what they are grouped by,
//! and what was spent for nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::amount::Amount;
use super::{Charge, Fate, For, Spending, purpose};
use crate::analysis::account::Account;
use crate::analysis::money::cost::Cost;
use crate::analysis::money::cost::{Money, PICOS_IN_NANO};
use crate::analysis::money::prices::{self, Tier};
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::totals::Totals;
use crate::model::transcript::{Aside, Part, Transcript};

/// What charges are summed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// By model.
    Models,
    /// By sub-agent.
    Lanes,
    /// By turn.
    #[default]
    Turns,
    /// Not at all.
    Requests,
}

/// What a row holds the sum of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// A model; empty if nobody says which.
    Model(Name),
    /// A lane; `None` is the main one.
    Lane(Option<Name>),
    /// The turn of this prompt.
    Turn(EntryId),
    /// No turn: what lies before the first prompt, and lanes that serve the session.
    Outside,
    /// A charge, by its place in the statement.
    Charge(usize),
    /// What runs count beyond their requests.
    Run,
}

/// A sum of charges.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementRow {
    /// Of what.
    pub group: Group,
    /// How much.
    pub amount: Amount,
    /// Money of all rows up to this one, in pico-dollars.
    pub cumulative: i128,
    /// The time of its first charge that has one.
    pub(crate) at: Option<Timestamp>,
    /// The entry of its first charge.
    pub(crate) first: Option<EntryId>,
    /// Whether sub-agents had a part in it whose records are not here.
    pub(crate) lacks_agents: bool,
}

impl StatementRow {
    /// What it cost.
    pub fn cost(&self) -> Cost {
        self.amount.money.cost().lacking(self.lacks_agents)
    }
}

/// What was spent on a branch that the session left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Left {
    /// The branch's number.
    pub(crate) branch: usize,
    /// With the sub-agents that were started on it.
    pub(crate) amount: Amount,
}

/// All charges of a session.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    /// In the order of the file, then what runs count beyond them.
    pub charges: Vec<Charge>,
    turns: Vec<Option<EntryId>>,
    branches: Vec<Option<usize>>,
    /// Prompts of turns in which sub-agents had a part whose records are not here.
    lacking: HashSet<EntryId>,
    /// All of it.
    pub total: Amount,
    /// What the session cost, as all of tv shows it.
    pub cost: Option<Cost>,
    /// What was spent on branches that the session left.
    pub(crate) left: Vec<Left>,
    /// Requests that ended in an error.
    pub(crate) failed: Amount,
    /// Requests that were stopped.
    pub(crate) aborted: Amount,
    /// Errors that record no tokens.
    pub(crate) without_tokens: usize,
}

impl Statement {
    /// Of all that was taken in.
    pub fn of(spending: &Spending, account: &Account, transcript: &Transcript) -> Self {
        let charges = charges(spending.charges.clone(), transcript);
        let lanes = Lanes::of(transcript);
        let mut statement = Self {
            lacking: lacking_turns(account, transcript),
            turns: charges.iter().map(|charge| turn_of(charge, account, transcript)).collect(),
            branches: charges.iter().map(|charge| branch_of(charge, &lanes, transcript)).collect(),
            cost: Some(account.cost(transcript)),
            without_tokens: spending.without_tokens(),
            ..Self::default()
        };
        let mut left: BTreeMap<usize, Amount> = BTreeMap::new();
        for (number, charge) in charges.iter().enumerate() {
            statement.total.plus(&charge.amount);
            match charge.fate {
                // Without a figure it is one of those that nobody knows the price of.
                _ if charge.amount.is_nothing() => {}
                Fate::Fine => {}
                Fate::Failed => statement.failed.plus(&charge.amount),
                Fate::Aborted => statement.aborted.plus(&charge.amount),
            }
            if let Some(branch) = statement.branch_of(number) {
                left.entry(branch).or_default().plus(&charge.amount);
            }
        }
        statement.left = left.into_iter().map(|(branch, amount)| Left { branch, amount }).collect();
        statement.charges = charges;
        statement
    }

    /// Whether nothing was charged.
    pub fn is_empty(&self) -> bool {
        self.charges.is_empty()
    }

    /// What a charge belongs to.
    pub(crate) fn group_of(&self, number: usize, by: Grouping) -> Option<Group> {
        let charge = self.charges.get(number)?;
        Some(match by {
            Grouping::Requests => Group::Charge(number),
            // A correction of the whole bill is nobody's; but runs may count by model.
            Grouping::Models
                if charge.what == For::Run && charge.amount.prompt() == 0 && charge.model.is_empty() =>
            {
                Group::Run
            }
            Grouping::Models => Group::Model(charge.model.clone()),
            _ if charge.what == For::Run => Group::Run,
            Grouping::Lanes => Group::Lane(charge.lane.clone()),
            Grouping::Turns => self.turns.get(number).copied().flatten().map_or(Group::Outside, Group::Turn),
        })
    }

    /// The branch that the session left a charge with.
    pub(crate) fn branch_of(&self, number: usize) -> Option<usize> {
        self.branches.get(number).copied().flatten()
    }

    /// The sums, in the order of their first charges.
    pub fn rows(&self, by: Grouping) -> Vec<StatementRow> {
        let mut rows: Vec<StatementRow> = Vec::new();
        let mut places: HashMap<Group, usize> = HashMap::new();
        for (number, charge) in self.charges.iter().enumerate() {
            let Some(group) = self.group_of(number, by) else { continue };
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
            row.lacks_agents = matches!(&row.group, Group::Turn(prompt) if self.lacking.contains(prompt));
        }
        rows
    }

    /// The charges that a row holds; all of them without one.
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

    /// What was spent on all branches that the session left.
    pub(crate) fn left_in_all(&self) -> Amount {
        let mut sum = Amount::default();
        self.left.iter().for_each(|left| sum.plus(&left.amount));
        sum
    }
}

/// All charges of a session, of which these are those that entries carry.
pub(crate) fn charges(own: Vec<Charge>, transcript: &Transcript) -> Vec<Charge> {
    let mut charges = with_asides(own, transcript);
    // The prompts of many requests may be recorded as one sum.
    if charges.iter().any(|charge| charge.amount.is_of_prompts()) {
        for charge in charges.iter_mut().filter(|charge| charge.amount.lacks_prompt()) {
            charge.amount.money.partial = charge.amount.partial;
        }
    }
    let runs = runs(&charges, transcript);
    charges.extend(runs);
    charges
}

/// Prompts of turns in which sub-agents had a part whose records are not here.
fn lacking_turns(account: &Account, transcript: &Transcript) -> HashSet<EntryId> {
    let turns = transcript.turns().iter().enumerate();
    let lacking = turns.filter(|(number, _)| account.turn(transcript, *number).lacks_agents);
    lacking.map(|(_, turn)| turn.prompt).collect()
}

/// The charges beside which sub-agents spent what is not here, by their numbers: those of the turns that started them,
/// or all if none is. None if nothing is lacking in what the session cost.
pub(crate) fn lacking(charges: &[Charge], account: &Account, transcript: &Transcript) -> HashSet<usize> {
    if !account.lacks_agents(transcript) {
        return HashSet::new();
    }
    let turns = lacking_turns(account, transcript);
    let is_of_one =
        |charge: &Charge| turn_of(charge, account, transcript).is_some_and(|prompt| turns.contains(&prompt));
    let numbers = charges.iter().enumerate().filter(|(_, charge)| is_of_one(charge));
    let lacking: HashSet<usize> = numbers.map(|(number, _)| number).collect();
    if lacking.is_empty() { (0..charges.len()).collect() } else { lacking }
}

/// The charges of entries and of what is recorded beside them, in the order of the file.
fn with_asides(mut charges: Vec<Charge>, transcript: &Transcript) -> Vec<Charge> {
    let mut beside: Vec<(Charge, &Key)> = transcript
        .asides()
        .filter_map(|(key, aside)| Some((charge_of(key, aside, transcript)?, key)))
        .collect();
    if beside.is_empty() {
        return charges;
    }
    beside.sort_by(|(one, its), (other, others)| (one.place, its).cmp(&(other.place, others)));
    charges.extend(beside.into_iter().map(|(charge, _)| charge));
    // Stable: what is recorded beside an entry stands behind it.
    charges.sort_by_key(|charge| charge.place);
    charges
}

fn charge_of(key: &Key, aside: &Aside, transcript: &Transcript) -> Option<Charge> {
    let what = purpose(&aside.usage)?;
    let entry = aside.after.and_then(|id| transcript.get(id));
    let model = aside.model.clone().unwrap_or_default();
    let prices = prices::of_model(&model);
    Some(Charge {
        what,
        entry: aside.after.filter(|_| entry.is_some()),
        is_own: false,
        beside: Some(key.clone()),
        place: aside.after.and_then(|id| transcript.place_of(id)).unwrap_or(0),
        at: entry.and_then(|entry| entry.at),
        lane: entry.and_then(|entry| entry.lane.clone()),
        fate: Fate::Fine,
        tier: prices.map(|prices| prices.tier_of(&aside.usage)).unwrap_or_default(),
        amount: Amount::of(&aside.usage, prices),
        model,
    })
}

/// What runs count beyond their requests: tokens by model, then what the agent says that they cost beyond
/// everything that is known so far. Either may be less than nothing.
fn runs(charges: &[Charge], transcript: &Transcript) -> Vec<Charge> {
    let parts = transcript.parts();
    let sums = parts.iter().filter(|part| part.totals.has_runs());
    let own = |part: &Part<'_>| {
        let is_own = |charge: &&Charge| part.has(session_of(charge, transcript));
        runs_of(&part.totals, &charges.iter().filter(is_own).collect::<Vec<_>>())
    };
    sums.flat_map(own).collect()
}

/// Which of several sessions a charge is of.
fn session_of(charge: &Charge, transcript: &Transcript) -> Option<usize> {
    match (&charge.beside, &charge.lane) {
        (Some(key), _) => transcript.session_of_key(key),
        (None, Some(lane)) => transcript.session_of_lane(lane).map(|(session, _)| session),
        (None, None) => None,
    }
}

/// What runs of a part of the charges count beyond them.
fn runs_of(totals: &Totals, charges: &[&Charge]) -> Vec<Charge> {
    let mut by_model: BTreeMap<Name, Amount> = BTreeMap::new();
    for (model, spent) in totals.by_model().iter() {
        let amount = Amount { requests: 0, ..Amount::of_sum(spent, prices::of_model(model)) };
        by_model.insert(model.clone(), amount);
    }
    for charge in charges {
        let mut amount = charge.amount;
        amount.requests = 0;
        by_model.entry(charge.model.clone()).or_default().minus(&amount);
    }
    let mut sum = Amount::default();
    for charge in charges {
        sum.plus(&charge.amount);
    }
    let mut beyond: Vec<Charge> = Vec::new();
    for (model, amount) in by_model {
        sum.plus(&amount);
        if amount.tokens().iter().any(|tokens| tokens.total != 0) || amount.money.picos() != 0 {
            beyond.push(run(model, amount));
        }
    }
    if let Some(nanos) = totals.run_nanos() {
        let recorded = i128::from(nanos) * PICOS_IN_NANO;
        // It says nothing of a run that has not ended.
        let mut open = Money::default();
        let of_open = totals.open_by_model().iter();
        of_open.for_each(|(model, spent)| open.plus(&Money::of(spent, prices::of_model(model))));
        // Estimates of all models, and nothing recorded among them, can be held against it.
        let can_compare = sum.money.unpriced == 0 && sum.money.recorded == 0 && sum.money.estimates > 0;
        let can_compare = can_compare && totals.is_covered();
        let money = Money {
            recorded: recorded + open.recorded - sum.money.recorded,
            estimated: open.estimated - sum.money.estimated,
            recordings: 1,
            compared: if can_compare { recorded } else { 0 },
            expected: if can_compare { sum.money.picos() } else { 0 },
            ..Money::default()
        };
        // Agents add up in floating point: less than a nano-dollar is no difference, but must not be lost.
        let is_rounding = money.picos().abs() < PICOS_IN_NANO;
        match beyond.last_mut().filter(|_| is_rounding) {
            Some(last) => last.amount.plus(&Amount { money, ..Amount::default() }),
            None if money.picos() == 0 && money.recorded == 0 => {}
            None => beyond.push(run(Name::default(), Amount { money, ..Amount::default() })),
        }
    }
    beyond
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
        fate: Fate::Fine,
        tier: Tier::Usual,
        amount,
    }
}

/// Where sub-agents were started in the main lane.
struct Lanes<'a>(HashMap<&'a Name, Option<EntryId>>);

impl<'a> Lanes<'a> {
    fn of(transcript: &'a Transcript) -> Self {
        let caller = |lane: &'a LaneFacts| (&lane.name, transcript.root_caller(lane));
        Self(transcript.lanes().iter().map(caller).collect())
    }

    fn caller(&self, charge: &Charge) -> Option<EntryId> {
        self.0.get(charge.lane.as_ref()?).copied().flatten()
    }
}

/// The prompt that a charge goes back to; none if it is overhead.
fn turn_of(charge: &Charge, account: &Account, transcript: &Transcript) -> Option<EntryId> {
    if charge.what == For::Run {
        return None;
    }
    let number = match &charge.lane {
        Some(lane) if !transcript.is_spoken_to(Some(lane)) => account.turn_of_lane(transcript, lane),
        _ => transcript.turn_at(charge.place),
    };
    Some(transcript.turns().get(number?)?.prompt)
}

/// The branch that a charge was left with.
fn branch_of(charge: &Charge, lanes: &Lanes<'_>, transcript: &Transcript) -> Option<usize> {
    let of = |id: EntryId| Some(transcript.branches().of(id)?.number);
    match &charge.lane {
        Some(_) => of(lanes.caller(charge)?),
        None => of(charge.entry?),
    }
}
