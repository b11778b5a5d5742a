//! Running sums of usage, kept for each model so that prices can be applied to sums.

use super::text::Name;
use super::usage::{Scope, Usage};

/// No request takes more tokens, or costs more dollars either way. What says so is damaged, and would fill
/// a sum to the brim: from a full one nothing can be taken back.
const MOST_TOKENS: u64 = 1 << 40;
const MOST_USD: f64 = 1e6;

/// A sum that knows whether any of its terms was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The sum of the recorded terms.
    pub total: u64,
    /// How many terms were recorded.
    pub told: u32,
}

impl Sum {
    fn add(&mut self, term: Option<u64>) {
        if let Some(n) = term {
            self.total = self.total.saturating_add(n.min(MOST_TOKENS));
            self.told = self.told.saturating_add(1);
        }
    }

    fn remove(&mut self, term: Option<u64>) {
        if let Some(n) = term {
            self.total = self.total.saturating_sub(n.min(MOST_TOKENS));
            self.told = self.told.saturating_sub(1);
        }
    }

    fn join(&mut self, other: Self) {
        self.total = self.total.saturating_add(other.total);
        self.told = self.told.saturating_add(other.told);
    }

    fn leave(&mut self, other: Self) {
        self.total = self.total.saturating_sub(other.total);
        self.told = self.told.saturating_sub(other.told);
    }

    /// The sum, unless nothing was recorded.
    pub fn known(self) -> Option<u64> {
        (self.told > 0).then_some(self.total)
    }
}

/// Sums of one model and scope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Uncached input tokens.
    pub input: Sum,
    /// Output tokens.
    pub output: Sum,
    /// Cache reads.
    pub cache_read: Sum,
    /// Cache writes.
    pub cache_write: Sum,
    /// Cache writes that live for an hour.
    pub cache_write_1h: Sum,
    /// Reasoning tokens.
    pub reasoning: Sum,
    /// Requests that recorded usage.
    pub requests: u64,
    /// Recorded cost in micro-dollars (USD × 10⁻⁶), rounded term by term; see [`Spent::recorded_usd`].
    pub recorded_micros: i64,
    /// Recorded cost in nano-dollars (USD × 10⁻⁹), an integer so that removal is exact. Requests cost
    /// fractions of a micro-dollar, which add up over hundreds of them.
    pub recorded_nanos: i64,
    /// Terms with a recorded cost.
    pub priced: u32,
    /// What the terms without a recorded cost are to be priced by.
    pub unpriced: Unpriced,
}

/// Prompts beyond these sizes, in tokens, cost more with some models.
pub const PROMPT_LIMITS: [u64; 4] = [128_000, 200_000, 272_000, 512_000];

/// Tokens by their price: input, output, cache read, cache write for five minutes, cache write for an
/// hour.
pub type Tokens = [u64; 5];

/// What has no recorded cost, so that it can be priced as a sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unpriced {
    /// Tokens of requests by how many of the [`PROMPT_LIMITS`] their prompts surpass.
    pub bands: [Tokens; PROMPT_LIMITS.len() + 1],
    /// Tokens of requests in batches.
    pub batch: Tokens,
    /// Searches of the web.
    pub searches: u64,
}

impl Unpriced {
    /// Whether there is nothing to price.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn change(&mut self, usage: &Usage, apply: impl Fn(u64, u64) -> u64) {
        let long = usage.cache_write_1h.unwrap_or(0).min(usage.cache_write.unwrap_or(0));
        let short = usage.cache_write.unwrap_or(0) - long;
        let tokens =
            [usage.input.unwrap_or(0), usage.output.unwrap_or(0), usage.cache_read.unwrap_or(0), short, long];
        for (sum, n) in self.tokens_mut(usage).iter_mut().zip(tokens) {
            *sum = apply(*sum, n.min(MOST_TOKENS));
        }
        self.searches = apply(self.searches, usage.searches.unwrap_or(0).min(MOST_TOKENS));
    }

    /// Sums of many requests say nothing about the size of a prompt.
    fn tokens_mut(&mut self, usage: &Usage) -> &mut Tokens {
        if usage.is_batch {
            return &mut self.batch;
        }
        let is_one = matches!(usage.scope, Scope::Request);
        let surpassed = PROMPT_LIMITS.iter().filter(|limit| is_one && usage.prompt() > **limit).count();
        let [least, rest @ ..] = &mut self.bands;
        surpassed.checked_sub(1).and_then(|n| rest.get_mut(n)).unwrap_or(least)
    }

    fn change_by(&mut self, other: &Self, apply: impl Fn(u64, u64) -> u64) {
        let sums = self.bands.iter_mut().chain([&mut self.batch]).flatten();
        for (sum, n) in sums.zip(other.bands.iter().chain([&other.batch]).flatten()) {
            *sum = apply(*sum, *n);
        }
        self.searches = apply(self.searches, other.searches);
    }
}

impl Spent {
    /// What one usage record says.
    pub fn of(usage: &Usage) -> Self {
        let mut spent = Self::default();
        spent.change(usage, Sign::Plus);
        spent
    }

    fn change(&mut self, usage: &Usage, sign: Sign) {
        let sums = [
            (&mut self.input, usage.input),
            (&mut self.output, usage.output),
            (&mut self.cache_read, usage.cache_read),
            (&mut self.cache_write, usage.cache_write),
            (&mut self.cache_write_1h, usage.cache_write_1h),
            (&mut self.reasoning, usage.reasoning),
        ];
        for (sum, term) in sums {
            match sign {
                Sign::Plus => sum.add(term),
                Sign::Minus => sum.remove(term),
            }
        }
        let is_request = u64::from(usage.scope == Scope::Request);
        match sign {
            Sign::Plus => self.requests += is_request,
            Sign::Minus => self.requests = self.requests.saturating_sub(is_request),
        }
        match (usage.cost, sign) {
            (Some(usd), Sign::Plus) => {
                self.recorded_micros = self.recorded_micros.saturating_add(scaled(usd, 1e6));
                self.recorded_nanos = self.recorded_nanos.saturating_add(scaled(usd, 1e9));
                self.priced += 1;
            }
            (Some(usd), Sign::Minus) => {
                self.recorded_micros = self.recorded_micros.saturating_sub(scaled(usd, 1e6));
                self.recorded_nanos = self.recorded_nanos.saturating_sub(scaled(usd, 1e9));
                self.priced = self.priced.saturating_sub(1);
            }
            (None, Sign::Plus) => self.unpriced.change(usage, u64::saturating_add),
            (None, Sign::Minus) => self.unpriced.change(usage, u64::saturating_sub),
        }
    }

    /// Recorded cost in USD.
    pub fn recorded_usd(&self) -> f64 {
        self.recorded_nanos as f64 / 1e9
    }

    /// Adds another sum to this one.
    pub fn join(&mut self, other: &Self) {
        self.input.join(other.input);
        self.output.join(other.output);
        self.cache_read.join(other.cache_read);
        self.cache_write.join(other.cache_write);
        self.cache_write_1h.join(other.cache_write_1h);
        self.reasoning.join(other.reasoning);
        self.requests += other.requests;
        self.recorded_micros = self.recorded_micros.saturating_add(other.recorded_micros);
        self.recorded_nanos = self.recorded_nanos.saturating_add(other.recorded_nanos);
        self.priced += other.priced;
        self.unpriced.change_by(&other.unpriced, u64::saturating_add);
    }

    /// Takes another sum away that was joined before.
    pub fn leave(&mut self, other: &Self) {
        self.input.leave(other.input);
        self.output.leave(other.output);
        self.cache_read.leave(other.cache_read);
        self.cache_write.leave(other.cache_write);
        self.cache_write_1h.leave(other.cache_write_1h);
        self.reasoning.leave(other.reasoning);
        self.requests = self.requests.saturating_sub(other.requests);
        self.recorded_micros = self.recorded_micros.saturating_sub(other.recorded_micros);
        self.recorded_nanos = self.recorded_nanos.saturating_sub(other.recorded_nanos);
        self.priced = self.priced.saturating_sub(other.priced);
        self.unpriced.change_by(&other.unpriced, u64::saturating_sub);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Plus,
    Minus,
}

fn scaled(usd: f64, scale: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "float casts saturate; costs are small")]
    let units = (usd.clamp(-MOST_USD, MOST_USD) * scale).round() as i64;
    units
}

/// Sums by scope and model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    requests: ByModel,
    runs: ByModel,
    fallback: ByModel,
}

/// Sums in the order of the models' names: there are few, and each page of entries keeps such a list, for which a
/// map would take ten times the room.
#[derive(Clone, Debug, Default, PartialEq)]
struct ByModel(Vec<(Name, Spent)>);

impl ByModel {
    #[expect(clippy::indexing_slicing, reason = "the place was found or made the line before")]
    fn of(&mut self, model: &Name) -> &mut Spent {
        let place = match self.0.binary_search_by(|(name, _)| name.cmp(model)) {
            Ok(place) => place,
            Err(place) => {
                self.0.reserve_exact(1);
                self.0.insert(place, (model.clone(), Spent::default()));
                place
            }
        };
        &mut self.0[place].1
    }

    fn values(&self) -> impl Iterator<Item = &Spent> {
        self.0.iter().map(|(_, spent)| spent)
    }
}

impl Totals {
    /// Adds a usage record.
    pub fn add(&mut self, usage: &Usage, model: Option<&Name>) {
        self.of(usage.scope, model).change(usage, Sign::Plus);
    }

    /// Takes a usage record back, when it was replaced.
    pub fn remove(&mut self, usage: &Usage, model: Option<&Name>) {
        self.of(usage.scope, model).change(usage, Sign::Minus);
    }

    /// Adds other sums to these.
    pub fn join(&mut self, other: &Self) {
        let maps = [
            (&mut self.requests, &other.requests),
            (&mut self.runs, &other.runs),
            (&mut self.fallback, &other.fallback),
        ];
        for (sums, terms) in maps {
            for (model, spent) in &terms.0 {
                sums.of(model).join(spent);
            }
        }
    }

    /// Takes other sums away that were joined before; nothing is left of models that nothing was spent on.
    pub fn leave(&mut self, other: &Self) {
        let maps = [
            (&mut self.requests, &other.requests),
            (&mut self.runs, &other.runs),
            (&mut self.fallback, &other.fallback),
        ];
        for (sums, terms) in maps {
            for (model, spent) in &terms.0 {
                sums.of(model).leave(spent);
            }
            sums.0.retain(|(_, spent)| *spent != Spent::default());
        }
    }

    fn of(&mut self, scope: Scope, model: Option<&Name>) -> &mut Spent {
        let map = match scope {
            Scope::Request | Scope::Extra => &mut self.requests,
            Scope::Run => &mut self.runs,
            Scope::Fallback => &mut self.fallback,
        };
        match model {
            Some(model) => map.of(model),
            None => map.of(&Name::default()),
        }
    }

    /// What was spent, by model: run totals where the agent gives them, else the requests.
    /// Requests are counted from the requests in any case. The key is empty for an unknown model.
    pub fn by_model(&self) -> &[(Name, Spent)] {
        let has_tokens = |map: &ByModel| map.values().any(|s| s.input.told > 0 || s.output.told > 0);
        let source = if has_tokens(&self.runs) {
            &self.runs
        } else if has_tokens(&self.requests) {
            &self.requests
        } else {
            &self.fallback
        };
        &source.0
    }

    /// All models together.
    pub fn sum(&self) -> Spent {
        let mut sum = Spent::default();
        for (_, spent) in self.by_model() {
            sum.join(spent);
        }
        sum.requests = self.requests.values().map(|spent| spent.requests).sum();
        sum
    }

    /// Cost of whole runs as the agent recorded it, in USD, if it did.
    pub fn run_cost(&self) -> Option<f64> {
        let runs = || self.runs.values().chain(self.fallback.values());
        runs().any(|s| s.priced > 0).then(|| runs().map(Spent::recorded_usd).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::{Totals, Usage};

    #[test]
    fn what_is_taken_back_leaves_no_trace() {
        let sound = Usage { input: Some(7), cost: Some(0.5), ..Usage::default() };
        let unpriced = Usage { cost: None, ..sound.clone() };
        let mut totals = Totals::default();
        totals.add(&sound, None);
        totals.add(&unpriced, None);
        let before = totals.clone();
        for n in [u64::MAX, u64::MAX - 1, 1 << 53] {
            for cost in [None, Some(1e300), Some(-1e300)] {
                let input = Some(n);
                let damaged = Usage { input, cache_write: input, searches: input, cost, ..Usage::default() };
                totals.add(&damaged, None);
                totals.remove(&damaged, None);
                assert_eq!(totals, before, "{damaged:?}");
            }
        }
    }
}
