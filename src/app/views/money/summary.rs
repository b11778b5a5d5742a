//! The summary of a session's cost: tokens by class, savings by the cache, waste, and unknown cost.

use super::StatementKey;
use super::foot::model_name;
use super::rows::{amount_words, percent_of, prompt_words, row_words, turn_number};
use crate::analysis::money::cost::CostSource;
use crate::analysis::money::cost::usd;
use crate::analysis::money::spending::amount::{Amount, Tokens};
use crate::analysis::money::spending::arithmetic::{Arithmetic, Bill, Product};
use crate::analysis::money::spending::statement::{Group, Grouping, Statement, StatementRow};
use crate::analysis::money::spending::{Charge, For, RequestOutcome};
use crate::analysis::phrases;
use crate::app::views::page::PageScene;
use crate::listing::sort::Value;
use crate::listing::table::{Column, Listing};
use crate::model::entry::EntryId;
use crate::model::figures::{count, exact};

/// Index of the column of notes.
pub(crate) const NOTE: usize = 4;

/// The charges that a line of the summary refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChargeFilter {
    #[default]
    All,
    /// Charges on an abandoned branch.
    Branch(usize),
    /// Charges on all abandoned branches.
    Branches,
    Fate(RequestOutcome),
    /// Charges that were assigned to the turn of this prompt.
    Turn(EntryId),
}

/// A line of the summary.
#[derive(Clone, Debug, Default)]
pub struct Fact {
    pub(crate) label: String,
    /// Number of tokens, or another count.
    pub(crate) tokens: String,
    pub(crate) cost: String,
    /// The share of the total cost.
    pub(crate) share: String,
    pub(crate) note: String,
    /// Whether it is the heading of the lines below.
    pub(crate) is_heading: bool,
    /// Whether it is about wasted or unknown cost.
    pub(crate) is_warning: bool,
    /// The charges that it refers to.
    pub(crate) about: ChargeFilter,
    /// The entry that it leads to.
    pub(crate) target: Option<EntryId>,
}

impl Fact {
    fn new(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            ..Self::default()
        }
    }

    fn heading(label: &str) -> Self {
        Self {
            is_heading: true,
            ..Self::new(label)
        }
    }
}

/// The summary as a listing.
pub(super) struct FactList<'a>(pub(super) &'a [Fact]);

type FactColumn<'a> = Column<&'a Fact>;

impl<'a> Listing for FactList<'a> {
    type Key = StatementKey;
    type Row = &'a Fact;

    fn columns(&self, _: usize) -> Vec<FactColumn<'a>> {
        vec![
            FactColumn::words("", 16, 9)
                .value(|fact| Value::text(Some(fact.label.as_str())))
                .style(|fact, look| {
                    look.focus_or(match (fact.is_heading, fact.is_warning) {
                        (true, _) => look.theme.heading,
                        (false, true) => look.theme.warn,
                        (false, false) => look.theme.text,
                    })
                }),
            FactColumn::figures("tokens", 13, 8)
                .value(|fact| Value::text(Some(fact.tokens.as_str()))),
            FactColumn::figures("cost", 10, 9).value(|fact| Value::text(Some(fact.cost.as_str()))),
            FactColumn::figures("share", 5, 3)
                .value(|fact| Value::text(Some(fact.share.as_str())))
                .dim(),
            FactColumn::rest("", 10)
                .value(|fact| Value::text(Some(fact.note.as_str())))
                .dim(),
        ]
    }

    fn row(&self, item: &StatementKey) -> Option<&'a Fact> {
        match item {
            StatementKey::Fact(at, _) | StatementKey::Heading(at) => self.0.get(*at),
            StatementKey::Sum(_) => None,
        }
    }
}

/// Maximum number of turns in the summary.
const DEAREST: usize = 5;

/// The charges that a line refers to.
pub(crate) fn charges(statement: &Statement, about: ChargeFilter) -> Vec<&Charge> {
    let all = statement.charges.iter().enumerate();
    let wanted = all.filter(|(number, charge)| match about {
        ChargeFilter::All => true,
        ChargeFilter::Branch(branch) => statement.branch_of(*number) == Some(branch),
        ChargeFilter::Branches => statement.branch_of(*number).is_some(),
        ChargeFilter::Fate(fate) => charge.fate == fate,
        ChargeFilter::Turn(prompt) => {
            statement.group_of(*number, Grouping::Turns) == Some(Group::Turn(prompt))
        }
    });
    wanted.map(|(_, charge)| charge).collect()
}

/// All lines of the summary.
pub(crate) fn facts(turns: &[StatementRow], scene: &PageScene<'_>) -> Vec<Fact> {
    let statement = &scene.indexes.spending;
    let mut facts = vec![cost(statement)];
    facts.extend(difference(statement));
    facts.push(requests(statement));
    facts.extend(classes(statement));
    facts.extend(cache(statement));
    facts.extend(for_nothing(statement, scene));
    facts.extend(dearest(turns, statement, scene));
    facts.extend(carried(scene));
    facts
}

fn cost(statement: &Statement) -> Fact {
    let Some(cost) = &statement.cost else {
        return Fact::new("cost");
    };
    let money = &statement.total.money;
    let mut note = match cost.source {
        CostSource::Recorded => "recorded by the agent".to_owned(),
        CostSource::Mixed if !cost.is_estimated => "recorded by the agent".to_owned(),
        CostSource::Estimated => "estimated: tokens times list prices".to_owned(),
        CostSource::Mixed => {
            let (recorded, estimated) = (
                phrases::usd(usd(money.recorded)),
                phrases::usd(usd(money.estimated)),
            );
            format!("{recorded} recorded by the agent, ~{estimated} estimated")
        }
        CostSource::Unpriced if statement.is_empty() => {
            "nothing is recorded of what was spent".to_owned()
        }
        CostSource::Unpriced => "no price is known".to_owned(),
    };
    if !cost.unpriced_models.is_empty() {
        let names: Vec<String> = cost
            .unpriced_models
            .iter()
            .map(|name| model_name(name))
            .collect();
        note.push_str(&format!("; without a price: {}", names.join(", ")));
    }
    if money.compared > 0 {
        let off = money.expected as f64 / money.compared as f64 - 1.0;
        let expected = phrases::usd(usd(money.expected));
        let words = match off {
            off if off.abs() <= 0.01 => "; list prices come to the same".to_owned(),
            off if off > 0.0 => format!("; list prices: ~{expected}, {:.0}% more", off * 100.0),
            off => format!("; list prices: ~{expected}, {:.0}% less", -off * 100.0),
        };
        note.push_str(&words);
    }
    let words = phrases::cost(cost).unwrap_or_else(|| "$?".to_owned());
    Fact {
        cost: words,
        note,
        ..Fact::new("cost")
    }
}

/// The difference of recorded cost and list prices, with a likely cause.
fn difference(statement: &Statement) -> Option<Fact> {
    let money = &statement.total.money;
    let off = money.compared - money.expected;
    let beyond = || {
        statement
            .charges
            .iter()
            .filter(|charge| charge.what == For::Run)
    };
    if beyond().next().is_none()
        || money.compared == 0
        || (off as f64 / money.compared as f64).abs() <= 0.01
    {
        return None;
    }
    let beyond: i64 = beyond()
        .map(|charge| {
            charge
                .amount
                .prompt()
                .saturating_add(charge.amount.output.total)
        })
        .sum();
    let note = match u64::try_from(beyond).ok().filter(|tokens| *tokens > 0) {
        Some(tokens) => format!(
            "{} tokens of both stand in no request here (titles, summaries); the rest may be prices of the agent's own",
            exact(tokens)
        ),
        None => "it may be requests that the file does not hold, or prices of the agent's own"
            .to_owned(),
    };
    Some(Fact {
        cost: phrases::usd(usd(off)),
        note,
        ..Fact::new("difference")
    })
}

fn requests(statement: &Statement) -> Fact {
    let requests = statement.total.requests;
    let mean = statement
        .cost
        .as_ref()
        .and_then(|cost| cost.usd)
        .filter(|_| requests > 0);
    let note = mean.map(|usd| format!("{} each on average", phrases::usd(usd / requests as f64)));
    Fact {
        tokens: exact(requests),
        note: note.unwrap_or_default(),
        ..Fact::new("requests")
    }
}

/// Tokens by class, with their cost by list prices.
fn classes(statement: &Statement) -> Vec<Fact> {
    let total = &statement.total;
    let made = Arithmetic::of(&charges(statement, ChargeFilter::All));
    let priced = |class: &str| -> i128 {
        let products = made
            .estimated
            .iter()
            .chain(&made.expected)
            .flat_map(|bill| &bill.products);
        products
            .filter(|product| product.class == class)
            .map(Product::picos)
            .sum()
    };
    let all = made
        .estimated
        .iter()
        .chain(&made.expected)
        .map(Bill::picos)
        .sum::<i128>();
    let short = Tokens {
        total: total
            .cache_write
            .total
            .saturating_sub(total.cache_write_1h.total),
        records: total.cache_write.records,
    };
    let lines = [
        ("input", total.input, "input"),
        ("output", total.output, "output"),
        ("  reasoning", total.reasoning, ""),
        ("cache read", total.cache_read, "cache read"),
        ("cache write", short, "cache write"),
        ("cache write 1h", total.cache_write_1h, "cache write 1h"),
    ];
    let mut facts = Vec::new();
    for (label, tokens, class) in lines {
        let Some(n) = tokens.value() else { continue };
        let is_part = class.is_empty() || label.ends_with('h');
        if is_part && n == 0 {
            continue;
        }
        let picos = priced(class);
        let cost = if picos > 0 {
            format!("~{}", phrases::usd(usd(picos)))
        } else {
            String::new()
        };
        let note = if class.is_empty() {
            "part of the output"
        } else {
            ""
        };
        facts.push(Fact {
            tokens: exact(u64::try_from(n).unwrap_or(0)),
            cost,
            share: percent_of(picos, all),
            note: note.to_owned(),
            ..Fact::new(label)
        });
    }
    if total.searches > 0 {
        let cost = format!("~{}", phrases::usd(usd(priced("search"))));
        let share = percent_of(priced("search"), all);
        facts.push(Fact {
            tokens: exact(total.searches),
            cost,
            share,
            ..Fact::new("web searches")
        });
    }
    if let Some(first) = facts.first_mut().filter(|_| all > 0) {
        "by class: tokens times list prices".clone_into(&mut first.note);
    }
    facts
}

/// The same cost by what the prompts consisted of: each part is paid for with every request that it
/// is sent with.
fn carried(scene: &PageScene<'_>) -> Vec<Fact> {
    let carried = &scene.indexes.carried;
    let all = scene.indexes.spending.total.money.picos();
    let rest = all - carried.total();
    let mut parts: Vec<(&str, i128)> = carried
        .classes()
        .map(|(class, picos)| (class.word(), picos))
        .collect();
    parts.push(("system, unseen", carried.unexplained));
    parts.sort_by_key(|(_, picos)| std::cmp::Reverse(*picos));
    parts.extend([("answering", carried.answers), ("beside requests", rest)]);
    // Less than a ten-thousandth of a dollar is rounding.
    let parts = parts
        .into_iter()
        .filter(|(_, picos)| picos.abs() > 100_000_000);
    let mut facts: Vec<Fact> = parts
        .map(|(label, picos)| Fact {
            cost: format!("~{}", phrases::usd(usd(picos))),
            share: percent_of(picos, all),
            ..Fact::new(label)
        })
        .collect();
    if let Some(first) = facts.first_mut() {
        "tokens by size, times the requests that carried them".clone_into(&mut first.note);
        facts.insert(0, Fact::heading("CARRIED ALONG"));
    }
    facts
}

fn cache(statement: &Statement) -> Vec<Fact> {
    let total = &statement.total;
    let mut facts = Vec::new();
    if let Some(percent) = total.hit_percent() {
        let note = "of all prompts came from the cache".to_owned();
        facts.push(Fact {
            tokens: format!("{percent}%"),
            note,
            ..Fact::new("cache hits")
        });
    }
    if total.cached_priced > 0 {
        let part = if total.cached_priced < total.cached {
            format!("{} of {} requests; ", total.cached_priced, total.cached)
        } else {
            String::new()
        };
        let (label, what) = if total.saved < 0 {
            ("cache cost", "writing it cost more than reading it saved")
        } else {
            ("cache saved", "against the same prompts without a cache")
        };
        facts.push(Fact {
            cost: format!("~{}", phrases::usd(usd(total.saved.abs()))),
            note: format!("{part}by list prices, {what}"),
            ..Fact::new(label)
        });
    }
    facts
}

/// Wasted and unknown cost.
fn for_nothing(statement: &Statement, scene: &PageScene<'_>) -> Vec<Fact> {
    let all = statement.total.money.picos();
    let of = |label: &str, amount: &Amount| Fact {
        tokens: tokens_of(amount),
        cost: amount_words(amount),
        share: percent_of(amount.money.picos(), all),
        is_warning: true,
        ..Fact::new(label)
    };
    let mut facts = Vec::new();
    let branches = &scene.transcript.branches().list;
    if statement.left.len() > 1 {
        let note = format!("{} branches", statement.left.len());
        facts.push(Fact {
            note,
            about: ChargeFilter::Branches,
            ..of("left branches", &statement.abandoned_total())
        });
    }
    for left in &statement.left {
        let branch = branches.iter().find(|branch| branch.number == left.branch);
        let at = branch.and_then(|branch| scene.transcript.abandoned_at(branch));
        let at = at
            .map(|at| format!(" at {}", at.minute()))
            .unwrap_or_default();
        let note = branch
            .map(|branch| format!("{}{at}", phrases::abandoned_reason(branch.why)))
            .unwrap_or_default();
        let target = branch.and_then(|branch| scene.transcript.branches().head(branch));
        let label = if statement.left.len() > 1 {
            format!("  branch {}", left.branch)
        } else {
            "left branch".to_owned()
        };
        facts.push(Fact {
            note,
            target,
            about: ChargeFilter::Branch(left.branch),
            ..of(&label, &left.amount)
        });
    }
    let ended = [
        (
            &statement.failed,
            RequestOutcome::Failed,
            "failed",
            "ended in an error",
        ),
        (
            &statement.aborted,
            RequestOutcome::Aborted,
            "stopped",
            "stopped before the answer was complete",
        ),
    ];
    for (amount, fate, label, words) in ended {
        if amount.requests > 0 {
            let note = format!("{} {words}", count(amount.requests, "request"));
            let target = charges(statement, ChargeFilter::Fate(fate))
                .first()
                .and_then(|charge| charge.entry);
            facts.push(Fact {
                note,
                target,
                about: ChargeFilter::Fate(fate),
                ..of(label, amount)
            });
        }
    }
    if statement.without_tokens > 0 {
        let errors = count(statement.without_tokens as u64, "error");
        let note = format!(
            "{errors} or stops without tokens: what they cost, if anything, the file does not say"
        );
        facts.push(Fact {
            cost: "$?".to_owned(),
            note,
            is_warning: true,
            ..Fact::new("not known")
        });
    }
    if !facts.is_empty() {
        facts.insert(0, Fact::heading("WASTE"));
    }
    facts
}

fn tokens_of(amount: &Amount) -> String {
    let all = amount.prompt().saturating_add(amount.output.total);
    exact(u64::try_from(all).unwrap_or(0))
}

/// The most expensive turns.
fn dearest(turns: &[StatementRow], statement: &Statement, scene: &PageScene<'_>) -> Vec<Fact> {
    let mut costly: Vec<&StatementRow> = turns
        .iter()
        .filter(|row| row.amount.money.picos() > 0)
        .collect();
    costly.retain(|row| matches!(row.group, Group::Turn(_)));
    if costly.len() < 2 {
        return Vec::new();
    }
    costly.sort_by_key(|row| std::cmp::Reverse(row.amount.money.picos()));
    let fact = |row: &&StatementRow| {
        let Group::Turn(prompt) = row.group else {
            return Fact::default();
        };
        Fact {
            tokens: tokens_of(&row.amount),
            cost: row_words(row),
            share: percent_of(row.amount.money.picos(), statement.total.money.picos()),
            note: prompt_words(prompt, scene.transcript),
            about: ChargeFilter::Turn(prompt),
            target: Some(prompt),
            ..Fact::new(&format!("turn {}", turn_number(prompt, scene.transcript)))
        }
    };
    let mut facts = vec![Fact::heading("MOST EXPENSIVE")];
    facts.extend(costly.iter().take(DEAREST).map(fact));
    facts
}
