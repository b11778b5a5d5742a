//! Amounts: tokens by class and money, as integers.
//!
//! Invariant: the amount of a sum is the sum of the amounts, however it is split. A rate is a whole number
//! of micro-dollars for a million tokens, so a token costs a whole number of pico-dollars (USD × 10⁻¹²);
//! what an agent recorded is kept to a nano-dollar.

use crate::analysis::money::cost::{Cost, CostSource};
use crate::analysis::money::prices::{Prices, Rates};
use crate::model::text::Name;
use crate::model::totals::{Spent, Sum, Unpriced};
use crate::model::usage::Usage;

/// Pico-dollars in a nano-dollar.
pub(super) const PICOS_IN_NANO: i128 = 1_000;

/// Tokens of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The sum; below 0 only where a run counts less than its requests.
    pub total: i64,
    /// How many records have a figure.
    pub(crate) records: u32,
}

impl Tokens {
    /// The sum, unless no record has a figure.
    pub(crate) fn known(self) -> Option<i64> {
        (self.records > 0).then_some(self.total)
    }

    fn plus(&mut self, other: Self) {
        self.total = self.total.saturating_add(other.total);
        self.records = self.records.saturating_add(other.records);
    }

    fn minus(&mut self, other: Self) {
        self.total = self.total.saturating_sub(other.total);
        self.records = self.records.saturating_add(other.records);
    }
}

impl From<Sum> for Tokens {
    fn from(sum: Sum) -> Self {
        Self { total: i64::try_from(sum.total).unwrap_or(i64::MAX), records: sum.recorded }
    }
}

/// Money in pico-dollars, and where it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Money {
    /// What agents recorded.
    pub recorded: i128,
    /// Records with a recorded cost.
    pub(crate) recordings: u32,
    /// Tokens times prices, of records without a recorded cost.
    pub estimated: i128,
    /// Records that were estimated.
    pub(crate) estimates: u32,
    /// Records with tokens, without a recorded cost and without a price.
    pub(crate) unpriced: u32,
    /// Records whose cost is that of a part of their tokens: they were counted before the answer was complete.
    pub(crate) partial: u32,
    /// Recorded cost of records that could be estimated too, …
    pub(crate) compared: i128,
    /// … and their estimate.
    pub(crate) expected: i128,
}

impl Money {
    fn of(spent: &Spent, prices: Option<&Prices>) -> Self {
        let mut money = Self {
            recorded: i128::from(spent.recorded_nanos) * PICOS_IN_NANO,
            recordings: spent.priced,
            ..Self::default()
        };
        if !spent.unpriced.is_nothing() {
            money.partial = spent.partial;
            match prices {
                Some(prices) => {
                    money.estimated = estimate(prices, &spent.unpriced);
                    money.estimates = 1;
                }
                None => money.unpriced = 1,
            }
        }
        money
    }

    /// All that is known.
    pub fn picos(&self) -> i128 {
        self.recorded + self.estimated
    }

    /// In USD; `None` if nothing is known.
    pub(crate) fn usd(&self) -> Option<f64> {
        (self.recordings + self.estimates > 0).then(|| usd(self.picos()))
    }

    /// Where it comes from, as for sessions; nothing spent is unpriced too, and has no unpriced record.
    pub fn source(&self) -> CostSource {
        match (self.recordings > 0, self.estimates > 0, self.unpriced > 0) {
            (false, false, _) => CostSource::Unpriced,
            (true, false, false) => CostSource::Recorded,
            (false, true, false) => CostSource::Estimated,
            _ => CostSource::Mixed,
        }
    }

    /// As a cost; an empty name stands for models without a price.
    pub fn cost(&self) -> Cost {
        let unpriced_models = if self.unpriced > 0 { vec![Name::default()] } else { Vec::new() };
        let (is_partial, is_estimated) = (self.partial > 0, self.estimates > 0);
        Cost { usd: self.usd(), source: self.source(), unpriced_models, is_partial, is_estimated }
    }

    fn plus(&mut self, other: &Self) {
        self.recorded += other.recorded;
        self.estimated += other.estimated;
        self.compared += other.compared;
        self.expected += other.expected;
        self.recordings = self.recordings.saturating_add(other.recordings);
        self.estimates = self.estimates.saturating_add(other.estimates);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.partial = self.partial.saturating_add(other.partial);
    }

    /// Keeps its own sources.
    fn minus(&mut self, other: &Self) {
        self.recorded -= other.recorded;
        self.estimated -= other.estimated;
    }
}

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Requests that recorded usage.
    pub requests: u64,
    /// Input without cache.
    pub input: Tokens,
    /// Output, reasoning included.
    pub output: Tokens,
    /// How many of the output were reasoning.
    pub reasoning: Tokens,
    /// Cache reads.
    pub cache_read: Tokens,
    /// Cache writes.
    pub cache_write: Tokens,
    /// How many of the cache writes live for an hour.
    pub(crate) cache_write_1h: Tokens,
    /// Searches of the web.
    pub(crate) searches: u64,
    /// Money.
    pub money: Money,
    /// What the cache saved, in pico-dollars by list prices: reads at the price of input, less what
    /// writes cost more than input.
    pub saved: i128,
    /// Records with tokens of the cache, …
    pub(crate) cached: u32,
    /// … and those of them whose model has a price.
    pub(crate) cached_priced: u32,
}

impl Amount {
    /// A sum of records on one model. What a cache saved is known of single records only.
    pub(crate) fn of_sum(spent: &Spent, prices: Option<&Prices>) -> Self {
        Self {
            requests: spent.requests,
            input: spent.input.into(),
            output: spent.output.into(),
            reasoning: spent.reasoning.into(),
            cache_read: spent.cache_read.into(),
            cache_write: spent.cache_write.into(),
            cache_write_1h: spent.cache_write_1h.into(),
            money: Money::of(spent, prices),
            ..Self::default()
        }
    }

    /// One record.
    pub(crate) fn of(usage: &Usage, prices: Option<&Prices>) -> Self {
        let mut amount = Self::of_sum(&Spent::of(usage), prices);
        amount.searches = usage.searches.unwrap_or(0);
        let is_cached = usage.cache_read.unwrap_or(0) > 0 || usage.cache_write.unwrap_or(0) > 0;
        amount.cached = u32::from(is_cached);
        let Some(prices) = prices else { return amount };
        if usage.cost.is_some() {
            amount.money.compared = amount.money.recorded;
            amount.money.expected = estimate(prices, &all_of(usage));
        }
        if is_cached {
            amount.cached_priced = 1;
            amount.saved = saved(usage, &prices.rates_at(prices.tier_of(usage)));
        }
        amount
    }

    /// The prompt: input, cache reads and cache writes.
    pub(crate) fn prompt(&self) -> i64 {
        self.input.total.saturating_add(self.cache_read.total).saturating_add(self.cache_write.total)
    }

    /// How much of the prompt came from the cache, in percent; nothing without a prompt or cache figures.
    pub(crate) fn hit_percent(&self) -> Option<u64> {
        let (read, prompt) =
            (u64::try_from(self.cache_read.known()?).ok()?, u64::try_from(self.prompt()).ok()?);
        (prompt > 0).then(|| read.saturating_mul(100) / prompt)
    }

    /// Adds another one.
    pub fn plus(&mut self, other: &Self) {
        self.requests += other.requests;
        self.searches = self.searches.saturating_add(other.searches);
        for (sum, term) in self.tokens_mut().into_iter().zip(other.tokens()) {
            sum.plus(term);
        }
        self.money.plus(&other.money);
        self.saved += other.saved;
        self.cached += other.cached;
        self.cached_priced += other.cached_priced;
    }

    /// What this says beyond another one.
    pub(super) fn minus(&mut self, other: &Self) {
        self.requests = self.requests.saturating_sub(other.requests);
        for (sum, term) in self.tokens_mut().into_iter().zip(other.tokens()) {
            sum.minus(term);
        }
        self.money.minus(&other.money);
    }

    /// Input, output, reasoning, cache read, cache write, cache write for an hour.
    pub fn tokens(&self) -> [Tokens; 6] {
        [self.input, self.output, self.reasoning, self.cache_read, self.cache_write, self.cache_write_1h]
    }

    fn tokens_mut(&mut self) -> [&mut Tokens; 6] {
        [
            &mut self.input,
            &mut self.output,
            &mut self.reasoning,
            &mut self.cache_read,
            &mut self.cache_write,
            &mut self.cache_write_1h,
        ]
    }

    /// Whether neither tokens nor money were spent.
    pub fn is_nothing(&self) -> bool {
        self.tokens().iter().all(|tokens| tokens.total == 0)
            && self.searches == 0
            && self.money.picos() == 0
            && self.money.unpriced == 0
    }
}

/// Pico-dollars as USD.
pub fn usd(picos: i128) -> f64 {
    picos as f64 / 1e12
}

fn estimate(prices: &Prices, tokens: &Unpriced) -> i128 {
    i128::try_from(prices.picos(tokens)).unwrap_or(i128::MAX)
}

/// The tokens of a record, whether it records a cost or not.
pub(super) fn all_of(usage: &Usage) -> Unpriced {
    Spent::of(&Usage { cost: None, ..usage.clone() }).unpriced
}

fn saved(usage: &Usage, rates: &Rates) -> i128 {
    let [input, _, read, short, long] = rates.map(i128::from);
    let written = usage.cache_write.unwrap_or(0);
    let written_1h = usage.cache_write_1h.unwrap_or(0).min(written);
    i128::from(usage.cache_read.unwrap_or(0)) * (input - read)
        + i128::from(written - written_1h) * (input - short)
        + i128::from(written_1h) * (input - long)
}
