//! Amounts: tokens by class and money, as integers.
//!
//! Invariant: the amount of a sum is the sum of the amounts, however it is split. A rate is a whole
//! number of micro-dollars for a million tokens, so a token costs a whole number of pico-dollars
//! (USD × 10⁻¹²); recorded costs are stored to a nano-dollar.

use crate::analysis::money::cost::Money;
use crate::analysis::money::prices::{Prices, Rates};
use crate::model::totals::{ModelUsage, Sum};
use crate::model::usage::Usage;

/// Tokens of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// The sum; below 0 only where a run counts less than its requests.
    pub total: i64,
    /// Records with a figure.
    pub(crate) records: u32,
}

impl Tokens {
    /// The sum; `None` if no record has a figure.
    pub(crate) fn value(self) -> Option<i64> {
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
        Self {
            total: i64::try_from(sum.total).unwrap_or(i64::MAX),
            records: sum.recorded,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Requests with recorded usage.
    pub requests: u64,
    /// Input without cache.
    pub input: Tokens,
    /// Output, reasoning included.
    pub output: Tokens,
    /// The part of the output that is reasoning.
    pub reasoning: Tokens,
    pub cache_read: Tokens,
    pub cache_write: Tokens,
    /// The part of the cache writes with a lifetime of an hour.
    pub(crate) cache_write_1h: Tokens,
    /// Records whose output is a lower bound: they were counted before the answer was complete.
    pub(crate) partial: u32,
    pub(crate) searches: u64,
    /// Cost in pico-dollars.
    pub money: Money,
    /// Savings by the cache in pico-dollars by list prices: reads at the price of input, less the
    /// surcharge of writes.
    pub saved: i128,
    /// Records with cache tokens.
    pub(crate) cached: u32,
    /// Records with cache tokens and a priced model.
    pub(crate) cached_priced: u32,
}

impl Amount {
    /// The amount of summed records on one model. `saved` is computed only for single records.
    pub(crate) fn of_sum(spent: &ModelUsage, prices: Option<&Prices>) -> Self {
        Self {
            requests: spent.requests,
            input: spent.input.into(),
            output: spent.output.into(),
            reasoning: spent.reasoning.into(),
            cache_read: spent.cache_read.into(),
            cache_write: spent.cache_write.into(),
            cache_write_1h: spent.cache_write_1h.into(),
            partial: spent.partial,
            money: Money::of(spent, prices),
            ..Self::default()
        }
    }

    /// The amount of one record.
    pub fn of(usage: &Usage, prices: Option<&Prices>) -> Self {
        let mut amount = Self::of_sum(&ModelUsage::of(usage), prices);
        amount.searches = usage.searches.unwrap_or(0);
        let is_cached = usage.cache_read.unwrap_or(0) > 0 || usage.cache_write.unwrap_or(0) > 0;
        amount.cached = u32::from(is_cached);
        let Some(prices) = prices else { return amount };
        if is_cached {
            amount.cached_priced = 1;
            amount.saved = saved(usage, &prices.rates_at(&prices.tier_of(usage)));
        }
        amount
    }

    /// Prompt tokens: input, cache reads and cache writes.
    pub(crate) fn prompt(&self) -> i64 {
        self.input
            .total
            .saturating_add(self.cache_read.total)
            .saturating_add(self.cache_write.total)
    }

    /// Percentage of the prompt that came from the cache; `None` without a prompt or cache figures.
    pub(crate) fn hit_percent(&self) -> Option<u64> {
        let (read, prompt) = (
            u64::try_from(self.cache_read.value()?).ok()?,
            u64::try_from(self.prompt()).ok()?,
        );
        (prompt > 0).then(|| read.saturating_mul(100) / prompt)
    }

    pub fn plus(&mut self, other: &Self) {
        self.requests += other.requests;
        self.partial = self.partial.saturating_add(other.partial);
        self.searches = self.searches.saturating_add(other.searches);
        for (sum, term) in self.tokens_mut().into_iter().zip(other.tokens()) {
            sum.plus(term);
        }
        self.money.plus(&other.money);
        self.saved += other.saved;
        self.cached += other.cached;
        self.cached_priced += other.cached_priced;
    }

    pub(crate) fn minus(&mut self, other: &Self) {
        self.requests = self.requests.saturating_sub(other.requests);
        for (sum, term) in self.tokens_mut().into_iter().zip(other.tokens()) {
            sum.minus(term);
        }
        self.money.minus(&other.money);
    }

    /// The minimum of both amounts, per class of tokens and for the estimated money.
    pub(crate) fn common(&self, other: &Self) -> Self {
        let mut common = Self::default();
        for ((least, one), other) in common
            .tokens_mut()
            .into_iter()
            .zip(self.tokens())
            .zip(other.tokens())
        {
            least.total = one.total.min(other.total).max(0);
        }
        common.money.estimated = self.money.estimated.min(other.money.estimated).max(0);
        common
    }

    /// The fraction `parts / of` of the tokens and the money.
    pub(crate) fn part(&self, parts: usize, of: usize) -> Self {
        let (parts, of) = (parts as i128, of.max(1) as i128);
        let part = |amount: i128| amount.saturating_mul(parts) / of;
        let mut amount = Self::default();
        for (part_of, whole) in amount.tokens_mut().into_iter().zip(self.tokens()) {
            part_of.total = i64::try_from(part(whole.total.into())).unwrap_or(i64::MAX);
        }
        let Money {
            recorded,
            estimated,
            compared,
            expected,
            ..
        } = self.money;
        amount.money = Money {
            recorded: part(recorded),
            estimated: part(estimated),
            compared: part(compared),
            expected: part(expected),
            ..Money::default()
        };
        amount
    }

    /// Input, output, reasoning, cache read, cache write, cache write for an hour.
    pub fn tokens(&self) -> [Tokens; 6] {
        [
            self.input,
            self.output,
            self.reasoning,
            self.cache_read,
            self.cache_write,
            self.cache_write_1h,
        ]
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

    /// Whether it has output, but no record of the prompt.
    pub(crate) fn lacks_prompt(&self) -> bool {
        self.output.total > 0 && !self.has_prompt()
    }

    fn has_prompt(&self) -> bool {
        [self.input, self.cache_read, self.cache_write]
            .iter()
            .any(|tokens| tokens.records > 0)
    }

    pub(crate) fn has_tokens(&self) -> bool {
        self.tokens().iter().any(|tokens| tokens.total != 0)
    }

    /// Whether it has neither tokens nor money.
    pub fn is_nothing(&self) -> bool {
        !self.has_tokens()
            && self.searches == 0
            && self.money.picos() == 0
            && self.money.unpriced == 0
    }
}

fn saved(usage: &Usage, rates: &Rates) -> i128 {
    let [input, _, read, short, long] = rates.map(i128::from);
    let written = usage.cache_write.unwrap_or(0);
    let written_1h = usage.cache_write_1h.unwrap_or(0).min(written);
    i128::from(usage.cache_read.unwrap_or(0)) * (input - read)
        + i128::from(written - written_1h) * (input - short)
        + i128::from(written_1h) * (input - long)
}
