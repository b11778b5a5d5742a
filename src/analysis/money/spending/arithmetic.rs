//! The arithmetic behind a cost: tokens times rates, with the source of the rates.
//!
//! Invariant: the products add up to the estimated cost.

use super::{Charge, For};
use crate::analysis::money::cost::usd;
use crate::analysis::money::models;
use crate::analysis::money::prices::{self, Tier};
use crate::model::text::Name;

/// Classes of tokens, in the order of the rates.
const CLASSES: [&str; 5] = [
    "input",
    "output",
    "cache read",
    "cache write",
    "cache write 1h",
];

/// Tokens of a class times a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Product {
    /// A kind of token as JSON names it: `input`, `output`, `cache_read` and so on.
    pub(crate) class: &'static str,
    pub(crate) count: u64,
    /// USD × 10⁻⁶ for a million tokens, or for one search.
    pub(crate) rate: u64,
}

/// Charges on one model in one tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bill {
    /// The model as recorded.
    pub(crate) model: Name,
    /// The row of the price table.
    pub(crate) row: String,
    pub(crate) tier: Tier,
    pub(crate) charges: u64,
    pub(crate) products: Vec<Product>,
    /// Source of the price: a page of the provider, the source of the table, or the user's
    /// settings.
    pub(crate) source: String,
}

/// The parts of a cost; the largest bills first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arithmetic {
    /// The cost recorded by agents, in pico-dollars, and the number of its records.
    pub recorded: Option<(i128, u64)>,
    /// Bills of the estimated cost.
    pub estimated: Vec<Bill>,
    /// Bills of the recorded cost by list prices, for comparison.
    pub(crate) expected: Vec<Bill>,
    /// Models without a price, with their tokens.
    pub(crate) unpriced: Vec<(Name, u64)>,
    /// What runs count beyond their requests, in pico-dollars.
    pub runs: Option<i128>,
}

impl Product {
    pub(crate) fn picos(&self) -> i128 {
        let unit = if self.class == SEARCH { 1_000_000 } else { 1 };
        i128::from(self.count) * i128::from(self.rate) * unit
    }

    /// Price of one, or of a million: `$3.00/M`, `$0.01 each`.
    pub(crate) fn price(&self) -> String {
        let dollars = dollars_of_rate(self.rate);
        if self.class == SEARCH {
            format!("{dollars} each")
        } else {
            format!("{dollars}/M")
        }
    }
}

impl Bill {
    /// Sum of the products in pico-dollars.
    pub fn picos(&self) -> i128 {
        self.products.iter().map(Product::picos).sum()
    }

    /// Sorts the products in the order of the classes.
    fn sort(&mut self) {
        let place = |class: &str| {
            CLASSES
                .iter()
                .position(|known| *known == class)
                .unwrap_or(CLASSES.len())
        };
        self.products.sort_by_key(|product| place(product.class));
    }

    fn add(&mut self, class: &'static str, count: u64, rate: u64) {
        if count == 0 {
            return;
        }
        match self.products.iter_mut().find(|known| known.class == class) {
            Some(known) => known.count += count,
            None => self.products.push(Product { class, count, rate }),
        }
    }
}

const SEARCH: &str = "search";

impl Arithmetic {
    /// The arithmetic of a sum of charges.
    pub fn of(charges: &[&Charge]) -> Self {
        let mut made = Self::default();
        for charge in charges {
            made.add(charge);
        }
        for bills in [&mut made.estimated, &mut made.expected] {
            bills.iter_mut().for_each(Bill::sort);
            bills.sort_by_key(|bill| std::cmp::Reverse(bill.picos()));
        }
        made
    }

    fn add(&mut self, charge: &Charge) {
        let money = &charge.amount.money;
        if charge.what == For::Run {
            *self.runs.get_or_insert(0) += money.picos();
            return;
        }
        if money.recordings > 0 {
            let (picos, records) = self.recorded.get_or_insert((0, 0));
            *picos += money.recorded;
            *records += 1;
        }
        if money.unpriced > 0 {
            let output = u64::try_from(charge.amount.output.total).unwrap_or(0);
            let tokens = u64::try_from(charge.amount.prompt())
                .unwrap_or(0)
                .saturating_add(output);
            match self
                .unpriced
                .iter_mut()
                .find(|(model, _)| *model == charge.model)
            {
                Some((_, sum)) => *sum = sum.saturating_add(tokens),
                None => self.unpriced.push((charge.model.clone(), tokens)),
            }
        }
        let bills = if money.recordings > 0 {
            &mut self.expected
        } else {
            &mut self.estimated
        };
        add_charge(charge, bills);
    }
}

fn add_charge(charge: &Charge, bills: &mut Vec<Bill>) {
    let Some(prices) = prices::of_model(&charge.model) else {
        return;
    };
    let amount = &charge.amount;
    if amount.prompt() == 0 && amount.output.total == 0 && amount.searches == 0 {
        return;
    }
    let same = |bill: &Bill| bill.model == charge.model && bill.tier == charge.tier;
    let place = bills.iter().position(same).unwrap_or_else(|| {
        bills.push(Bill {
            model: charge.model.clone(),
            row: models::canonical(&charge.model),
            tier: charge.tier.clone(),
            charges: 0,
            products: Vec::new(),
            source: prices.source.clone(),
        });
        bills.len() - 1
    });
    let Some(bill) = bills.get_mut(place) else {
        return;
    };
    bill.charges += 1;
    let count = |tokens: i64| u64::try_from(tokens).unwrap_or(0);
    let long = count(amount.cache_write_1h.total).min(count(amount.cache_write.total));
    let short = count(amount.cache_write.total) - long;
    let counts = [
        count(amount.input.total),
        count(amount.output.total),
        count(amount.cache_read.total),
        short,
        long,
    ];
    let rates = prices.rates_at(&charge.tier);
    for ((class, count), rate) in CLASSES.iter().zip(counts).zip(rates) {
        bill.add(class, count, rate);
    }
    bill.add(SEARCH, amount.searches, prices.search);
}

/// Formats a rate as `$3.00`, `$0.075`: two decimals, more if they are not 0.
fn dollars_of_rate(micros: u64) -> String {
    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
    let mut part = format!("{part:06}");
    while part.len() > 2 && part.ends_with('0') {
        part.pop();
    }
    format!("${whole}.{part}")
}

/// Formats an amount with micro-dollars if it is below $100: `$0.037035`.
pub(crate) fn precise(picos: i128) -> String {
    let sign = if picos < 0 { "-" } else { "" };
    let amount = usd(picos.abs());
    if amount >= 100.0 {
        format!("{sign}${amount:.2}")
    } else {
        format!("{sign}${amount:.6}")
    }
}
