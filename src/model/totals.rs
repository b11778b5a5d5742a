//! Running sums of usage by model, so that prices can be applied to sums.

pub(crate) mod so_far;

use std::borrow::Cow;

use super::text::Name;
use super::usage::{Scope, Usage};
use so_far::UsageByModel;

/// Limit of tokens in one record; no request reaches it, nor as many dollars. A larger figure is
/// damage, and would saturate a sum, from which nothing can be subtracted again.
const MOST_TOKENS: u64 = 1 << 40;
const MOST_USD: f64 = 1e6;

/// A sum that counts its recorded terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The sum of the recorded terms.
    pub total: u64,
    /// How many terms were recorded.
    pub recorded: u32,
}

impl Sum {
    fn count(&mut self, sign: TotalSign, term: Option<u64>) {
        if let Some(term) = term {
            self.change(
                sign,
                Self {
                    total: term.min(MOST_TOKENS),
                    recorded: 1,
                },
            );
        }
    }

    fn change(&mut self, sign: TotalSign, other: Self) {
        sign.change(&mut self.total, other.total);
        sign.count(&mut self.recorded, other.recorded);
    }

    /// The sum; `None` if no term was recorded.
    pub fn value(self) -> Option<u64> {
        (self.recorded > 0).then_some(self.total)
    }
}

/// Sums of one model and scope.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelUsage {
    /// Uncached input tokens.
    pub input: Sum,
    pub output: Sum,
    pub cache_read: Sum,
    pub cache_write: Sum,
    /// Cache writes that live for an hour.
    pub cache_write_1h: Sum,
    pub reasoning: Sum,
    /// Requests that recorded usage.
    pub requests: u64,
    /// Recorded cost in nano-dollars (USD × 10⁻⁹): an integer, so that subtraction is exact.
    /// Requests cost fractions of a micro-dollar, which add up over hundreds of them.
    pub recorded_nanos: i64,
    /// Terms with a recorded cost.
    pub priced: u32,
    /// Terms whose output is a lower bound: they were recorded before the answer was complete.
    pub(crate) partial: u32,
    /// Terms without a recorded cost and without prompt tokens.
    pub(crate) without_prompt: u32,
    /// Terms without a recorded cost that have prompt tokens only.
    pub(crate) of_prompts: u32,
    /// Terms whose recorded cost is incomplete.
    pub(crate) incomplete_costs: u32,
    /// Terms that are sums of everything spent so far.
    pub(crate) so_far: u32,
    /// Tokens of terms without a recorded cost, to be priced.
    pub(crate) unpriced: ToPrice,
    /// Tokens of terms with a recorded cost, so that price and record can be compared.
    pub(crate) expected: ToPrice,
}

/// Prompt sizes in tokens above which some models cost more.
pub const PROMPT_LIMITS: [u64; 4] = [128_000, 200_000, 272_000, 512_000];

/// Tokens by price: input, output, cache reads, cache writes for five minutes, cache writes for an
/// hour.
pub(crate) type Tokens = [u64; 5];

/// What determines the price of a token besides its model: the number of [`PROMPT_LIMITS`] that the
/// prompt exceeds, and other terms of the request ([`Usage::terms`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct UsageClass {
    /// 0 for sums of several requests, which do not tell the size of any prompt.
    pub(crate) surpassed: usize,
    pub(crate) terms: Vec<Name>,
}

impl UsageClass {
    /// The class of one usage record.
    pub(crate) fn of(usage: &Usage) -> Self {
        let prompt = if usage.scope == Scope::Request {
            usage.last_step().prompt()
        } else {
            0
        };
        let surpassed = PROMPT_LIMITS
            .iter()
            .filter(|limit| prompt > **limit)
            .count();
        Self {
            surpassed,
            terms: usage.terms.clone(),
        }
    }
}

/// Tokens by price class, so that they can be priced as a sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToPrice {
    /// Sorted by class; there are few, and none without tokens.
    pub(crate) classes: Vec<(UsageClass, Tokens)>,
    pub(crate) searches: u64,
}

impl ToPrice {
    pub(crate) fn is_nothing(&self) -> bool {
        self.classes.is_empty() && self.searches == 0
    }

    fn count(&mut self, sign: TotalSign, usage: &Usage) {
        let terms = so_far::tokens(usage);
        self.add(
            sign,
            &UsageClass::of(usage),
            &terms.map(|term| term.min(MOST_TOKENS)),
        );
        sign.change(
            &mut self.searches,
            usage.searches.unwrap_or(0).min(MOST_TOKENS),
        );
    }

    /// Adds or subtracts tokens of a class.
    fn add(&mut self, sign: TotalSign, class: &UsageClass, tokens: &Tokens) {
        if tokens.iter().all(|count| *count == 0) {
            return;
        }
        let place = self.classes.binary_search_by(|(known, _)| known.cmp(class));
        match (place, sign) {
            (Err(_), TotalSign::Minus) => {}
            (Err(place), TotalSign::Plus) => {
                self.classes.reserve_exact(1);
                self.classes.insert(place, (class.clone(), *tokens));
            }
            (Ok(place), sign) => {
                let Some((_, sums)) = self.classes.get_mut(place) else {
                    return;
                };
                sums.iter_mut()
                    .zip(tokens)
                    .for_each(|(sum, term)| sign.change(sum, *term));
                if sums.iter().all(|sum| *sum == 0) {
                    self.classes.remove(place);
                }
            }
        }
    }

    /// Raises the sums to at least those of another one.
    fn raise_to(&mut self, other: &Self) {
        let beyond = other.excess_over(self);
        self.add(TotalSign::Plus, &UsageClass::default(), &beyond);
        self.searches = self.searches.max(other.searches);
    }

    /// The tokens by which this exceeds another sum. Not all sums record the lifetime of cache
    /// writes, so those are compared together.
    fn excess_over(&self, less: &Self) -> Tokens {
        let sum = |of: &Self| {
            let mut sums = Tokens::default();
            for (_, tokens) in &of.classes {
                sums.iter_mut()
                    .zip(tokens)
                    .for_each(|(sum, term)| *sum = sum.saturating_add(*term));
            }
            sums
        };
        let ([input, output, read, short, long], own) = (sum(self), sum(less));
        let [own_input, own_output, own_read, own_short, own_long] = own;
        let more_long = long.saturating_sub(own_long);
        let written = short
            .saturating_add(long)
            .saturating_sub(own_short.saturating_add(own_long));
        let more_long = more_long.min(written);
        [
            input.saturating_sub(own_input),
            output.saturating_sub(own_output),
            read.saturating_sub(own_read),
            written - more_long,
            more_long,
        ]
    }

    fn change(&mut self, sign: TotalSign, other: &Self) {
        other
            .classes
            .iter()
            .for_each(|(class, tokens)| self.add(sign, class, tokens));
        sign.change(&mut self.searches, other.searches);
    }
}

impl ModelUsage {
    /// The sums of one usage record.
    pub(crate) fn of(usage: &Usage) -> Self {
        let mut spent = Self::default();
        spent.count(TotalSign::Plus, usage);
        spent
    }

    /// Input, output, cache reads, cache writes, cache writes for an hour, reasoning.
    fn sums(&self) -> [Sum; 6] {
        let Self {
            input,
            output,
            cache_read,
            cache_write,
            cache_write_1h,
            reasoning,
            ..
        } = *self;
        [
            input,
            output,
            cache_read,
            cache_write,
            cache_write_1h,
            reasoning,
        ]
    }

    fn sums_mut(&mut self) -> [&mut Sum; 6] {
        [
            &mut self.input,
            &mut self.output,
            &mut self.cache_read,
            &mut self.cache_write,
            &mut self.cache_write_1h,
            &mut self.reasoning,
        ]
    }

    fn count(&mut self, sign: TotalSign, usage: &Usage) {
        let terms = [
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write,
            usage.cache_write_1h,
            usage.reasoning,
        ];
        for (sum, term) in self.sums_mut().into_iter().zip(terms) {
            sum.count(sign, term);
        }
        sign.change(&mut self.requests, u64::from(usage.scope == Scope::Request));
        sign.count(&mut self.partial, u32::from(usage.is_partial));
        sign.count(&mut self.incomplete_costs, u32::from(usage.lacks_cost));
        sign.count(&mut self.so_far, u32::from(usage.scope == Scope::Total));
        if let Some(usd) = usage.cost {
            sign.money(&mut self.recorded_nanos, nanos(usd));
            sign.count(&mut self.priced, 1);
            self.expected.count(sign, usage);
        } else {
            let has_output = usage.output.is_some_and(|output| output > 0);
            sign.count(
                &mut self.without_prompt,
                u32::from(has_output && !usage.has_prompt()),
            );
            sign.count(
                &mut self.of_prompts,
                u32::from(usage.output.is_none() && usage.input.is_some()),
            );
            self.unpriced.count(sign, usage);
        }
    }

    fn change(&mut self, sign: TotalSign, other: &Self) {
        for (sum, term) in self.sums_mut().into_iter().zip(other.sums()) {
            sum.change(sign, term);
        }
        sign.change(&mut self.requests, other.requests);
        sign.money(&mut self.recorded_nanos, other.recorded_nanos);
        sign.count(&mut self.priced, other.priced);
        sign.count(&mut self.partial, other.partial);
        sign.count(&mut self.without_prompt, other.without_prompt);
        sign.count(&mut self.of_prompts, other.of_prompts);
        sign.count(&mut self.incomplete_costs, other.incomplete_costs);
        sign.count(&mut self.so_far, other.so_far);
        self.unpriced.change(sign, &other.unpriced);
        self.expected.change(sign, &other.expected);
    }

    /// Raises each kind of tokens to at least that of another sum.
    fn raise_to(&mut self, other: &Self) {
        for (own, other) in self.sums_mut().into_iter().zip(other.sums()) {
            if other.recorded > 0 && (own.recorded == 0 || other.total > own.total) {
                *own = other;
            }
        }
        let beyond = other.to_price().excess_over(&self.to_price());
        let sum = if self.priced > 0 {
            &mut self.expected
        } else {
            &mut self.unpriced
        };
        sum.add(TotalSign::Plus, &UsageClass::default(), &beyond);
    }

    /// All tokens, with recorded cost or without.
    fn to_price(&self) -> ToPrice {
        let mut all = self.unpriced.clone();
        all.change(TotalSign::Plus, &self.expected);
        all
    }

    /// Subtracts the tokens and the cost of another sum.
    fn subtract(&mut self, other: &Self) {
        for (own, other) in self.sums_mut().into_iter().zip(other.sums()) {
            TotalSign::Minus.change(&mut own.total, other.total);
        }
        TotalSign::Minus.money(&mut self.recorded_nanos, other.recorded_nanos);
        for (own, other) in [
            (&mut self.unpriced, &other.unpriced),
            (&mut self.expected, &other.expected),
        ] {
            for (class, tokens) in &other.classes {
                own.add(TotalSign::Minus, class, tokens);
            }
            TotalSign::Minus.change(&mut own.searches, other.searches);
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.change(TotalSign::Plus, other);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TotalSign {
    Plus,
    Minus,
}

impl TotalSign {
    fn change(self, sum: &mut u64, term: u64) {
        *sum = match self {
            Self::Plus => sum.saturating_add(term),
            Self::Minus => sum.saturating_sub(term),
        };
    }

    fn count(self, sum: &mut u32, term: u32) {
        *sum = match self {
            Self::Plus => sum.saturating_add(term),
            Self::Minus => sum.saturating_sub(term),
        };
    }

    fn money(self, sum: &mut i64, term: i64) {
        *sum = match self {
            Self::Plus => sum.saturating_add(term),
            Self::Minus => sum.saturating_sub(term),
        };
    }
}

pub(crate) fn nanos(usd: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "float casts saturate; costs are small"
    )]
    let nanos = (usd.clamp(-MOST_USD, MOST_USD) * 1e9).round() as i64;
    nanos
}

/// Sums by scope and model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals(Option<Box<Scopes>>);

/// Shared by all empty totals: a session may have a million turns without usage.
static NOTHING: Scopes = Scopes {
    requests: ByModel::NONE,
    runs: None,
};

/// Sums of no run.
static NO_RUNS: RunScopes = RunScopes {
    runs: ByModel::NONE,
    fallback: ByModel::NONE,
    open: ByModel::NONE,
};

/// Sums of each scope.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scopes {
    requests: ByModel,
    /// Never equal to [`NO_RUNS`]. A turn has none, and most agents record none.
    runs: Option<Box<RunScopes>>,
}

/// Sums of the scopes of runs.
#[derive(Clone, Debug, Default, PartialEq)]
struct RunScopes {
    runs: ByModel,
    fallback: ByModel,
    /// Requests of a run that has not ended; they are also counted in the requests.
    open: ByModel,
}

/// Sums sorted by model name. There are few, and each page of entries has such a list, for which a
/// map would take ten times the memory.
#[derive(Clone, Debug, Default, PartialEq)]
struct ByModel(Vec<(Name, ModelUsage)>);

impl ByModel {
    const NONE: Self = Self(Vec::new());

    #[expect(
        clippy::indexing_slicing,
        reason = "the place was found or made the line before"
    )]
    fn of(&mut self, model: &Name) -> &mut ModelUsage {
        let place = match self.0.binary_search_by(|(name, _)| name.cmp(model)) {
            Ok(place) => place,
            Err(place) => {
                self.0.reserve_exact(1);
                self.0.insert(place, (model.clone(), ModelUsage::default()));
                place
            }
        };
        &mut self.0[place].1
    }

    fn get(&self, model: &Name) -> Option<&ModelUsage> {
        self.0
            .iter()
            .find(|(name, _)| name == model)
            .map(|(_, spent)| spent)
    }

    /// Drops models without usage.
    fn drop_unused(&mut self) {
        self.0.retain(|(_, spent)| *spent != ModelUsage::default());
    }

    fn values(&self) -> impl Iterator<Item = &ModelUsage> {
        self.0.iter().map(|(_, spent)| spent)
    }

    fn change(&mut self, sign: TotalSign, other: &Self) {
        for (model, spent) in &other.0 {
            self.of(model).change(sign, spent);
        }
    }
}

impl Totals {
    fn scopes(&self) -> &Scopes {
        self.0.as_deref().unwrap_or(&NOTHING)
    }

    fn runs(&self) -> &RunScopes {
        self.scopes().runs.as_deref().unwrap_or(&NO_RUNS)
    }

    /// Adds a usage record.
    pub fn add(&mut self, usage: &Usage, model: Option<&Name>) {
        self.of(usage.scope, model).count(TotalSign::Plus, usage);
    }

    /// Subtracts a usage record that was replaced.
    pub(crate) fn remove(&mut self, usage: &Usage, model: Option<&Name>) {
        self.of(usage.scope, model).count(TotalSign::Minus, usage);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.change(TotalSign::Plus, other);
    }

    /// Subtracts totals that were added; models without remaining usage are removed.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.change(TotalSign::Minus, other);
        let Some(own) = &mut self.0 else { return };
        own.requests.drop_unused();
        if let Some(runs) = &mut own.runs {
            runs.runs.drop_unused();
            runs.fallback.drop_unused();
            runs.open.drop_unused();
        }
        own.runs.take_if(|runs| **runs == NO_RUNS);
        if **own == NOTHING {
            self.0 = None;
        }
    }

    fn change(&mut self, sign: TotalSign, other: &Self) {
        let Some(other) = &other.0 else { return };
        let own = self.0.get_or_insert_default();
        own.requests.change(sign, &other.requests);
        if let Some(other) = &other.runs {
            let own = own.runs.get_or_insert_default();
            own.runs.change(sign, &other.runs);
            own.fallback.change(sign, &other.fallback);
            own.open.change(sign, &other.open);
        }
    }

    fn of(&mut self, scope: Scope, model: Option<&Name>) -> &mut ModelUsage {
        let own = self.0.get_or_insert_default();
        let map = match scope {
            Scope::Request | Scope::Extra => &mut own.requests,
            Scope::Run | Scope::Total => &mut own.runs.get_or_insert_default().runs,
            Scope::Fallback => &mut own.runs.get_or_insert_default().fallback,
            Scope::Open => &mut own.runs.get_or_insert_default().open,
        };
        match model {
            Some(model) => map.of(model),
            None => map.of(&Name::default()),
        }
    }

    /// Usage by model: run totals where the agent records them, plus the usage of a run that has
    /// not ended; else the sum of the requests. The number of requests is always counted from
    /// requests. The key is empty for an unknown model.
    pub fn by_model(&self) -> Cow<'_, [(Name, ModelUsage)]> {
        let has_tokens = |map: &ByModel| {
            map.values()
                .any(|s| s.input.recorded > 0 || s.output.recorded > 0)
        };
        if has_tokens(&self.runs().runs) {
            let mut runs = self.runs().runs.clone();
            if self.is_open() {
                runs.change(TotalSign::Plus, &self.runs().open);
            }
            for (model, run) in &mut runs.0 {
                if let Some(requests) = self.scopes().requests.get(model).filter(|_| run.so_far > 0)
                {
                    run.raise_to(requests);
                }
            }
            return Cow::Owned(runs.0);
        }
        let source = if has_tokens(&self.scopes().requests) {
            &self.scopes().requests
        } else {
            &self.runs().fallback
        };
        Cow::Borrowed(&source.0)
    }

    /// Usage by model of a run that has not ended, while others have.
    pub(crate) fn open_by_model(&self) -> &[(Name, ModelUsage)] {
        &self.runs().open.0
    }

    /// Whether there is usage after the last ended run.
    fn is_open(&self) -> bool {
        self.runs()
            .open
            .values()
            .any(|spent| *spent != ModelUsage::default())
    }

    /// Whether the recorded cost of whole runs covers all usage.
    pub fn is_covered(&self) -> bool {
        self.run_cost().is_some() && !self.is_open()
    }

    /// The sum over all models.
    pub fn sum(&self) -> ModelUsage {
        let mut sum = ModelUsage::default();
        for (_, spent) in self.by_model().iter() {
            sum.merge(spent);
        }
        sum.requests = self.requests();
        sum
    }

    /// Whether there is usage of requests or besides them.
    pub(crate) fn has_requests(&self) -> bool {
        self.scopes()
            .requests
            .values()
            .any(|spent| *spent != ModelUsage::default())
    }

    pub(crate) fn requests(&self) -> u64 {
        self.scopes()
            .requests
            .values()
            .map(|spent| spent.requests)
            .sum()
    }

    /// Whether the agent records running totals.
    pub(crate) fn is_so_far(&self) -> bool {
        self.runs().runs.values().any(|spent| spent.so_far > 0)
    }

    /// Subtracts what runs of other sessions had summed up; sums without a model do not belong to a
    /// run.
    pub(crate) fn subtract_runs(&mut self, sums: &UsageByModel) {
        for (model, usage) in sums {
            let scope = if model.is_empty() {
                Scope::Fallback
            } else {
                Scope::Total
            };
            self.of(scope, Some(model))
                .subtract(&ModelUsage::of(&Usage {
                    scope: Scope::Total,
                    ..usage.clone()
                }));
        }
    }

    /// Drops run totals that do not exceed the requests.
    pub(crate) fn drop_runs_of_requests(&mut self) {
        let Some(own) = self.0.as_deref_mut() else {
            return;
        };
        let tokens = |spent: &ModelUsage| {
            [
                spent.input,
                spent.output,
                spent.cache_read,
                spent.cache_write,
            ]
            .map(|sum| sum.total)
        };
        let is_said = |(model, run): &(Name, ModelUsage)| {
            let said = own.requests.0.iter().find(|(name, _)| name == model);
            let said = said.map(|(_, spent)| tokens(spent)).unwrap_or_default();
            tokens(run).iter().zip(said).all(|(run, said)| *run <= said)
        };
        let Some(runs) = &mut own.runs else { return };
        if runs.runs.0.iter().chain(&runs.fallback.0).all(is_said) {
            (runs.runs, runs.fallback) = (ByModel::NONE, ByModel::NONE);
        }
        own.runs.take_if(|runs| **runs == NO_RUNS);
    }

    /// Whether the agent records totals of whole runs.
    pub(crate) fn has_runs(&self) -> bool {
        let runs = [&self.runs().runs, &self.runs().fallback];
        runs.into_iter()
            .flat_map(ByModel::values)
            .any(|spent| *spent != ModelUsage::default())
    }

    pub(crate) fn run_of(&self, model: &Name) -> Option<&ModelUsage> {
        self.runs().runs.get(model)
    }

    /// All tokens by model, to be priced: those of the requests, which are the most detailed, plus
    /// what run totals have beyond them.
    pub(crate) fn to_price(&self) -> Vec<(Name, ToPrice)> {
        let mut all: Vec<(Name, ToPrice)> = Vec::new();
        for (model, spent) in &self.scopes().requests.0 {
            all.push((model.clone(), spent.to_price()));
        }
        for (model, spent) in self.by_model().iter() {
            let run = spent.to_price();
            if let Some((_, own)) = all.iter_mut().find(|(known, _)| known == model) {
                own.raise_to(&run);
            } else {
                all.push((model.clone(), run));
            }
        }
        all
    }

    /// Whether prompts of several requests are recorded as one sum, besides the requests or for
    /// whole runs.
    pub(crate) fn has_summed_prompts(&self) -> bool {
        let mut runs = self
            .runs()
            .runs
            .values()
            .chain(self.runs().fallback.values());
        runs.any(|spent| spent.input.recorded > 0)
            || self
                .scopes()
                .requests
                .values()
                .any(|spent| spent.of_prompts > 0)
    }

    /// Whether the recorded cost of whole runs is incomplete.
    pub(crate) fn lacks_run_cost(&self) -> bool {
        self.runs()
            .runs
            .values()
            .chain(self.runs().fallback.values())
            .any(|spent| spent.incomplete_costs > 0)
    }

    /// Recorded cost of whole runs in USD; `None` if there is none.
    pub fn run_cost(&self) -> Option<f64> {
        self.run_nanos().map(|nanos| nanos as f64 / 1e9)
    }

    /// Recorded cost of whole runs in nano-dollars; `None` if there is none.
    pub(crate) fn run_nanos(&self) -> Option<i64> {
        let runs = || {
            self.runs()
                .runs
                .values()
                .chain(self.runs().fallback.values())
        };
        let sum = || {
            runs()
                .map(|spent| spent.recorded_nanos)
                .fold(0, i64::saturating_add)
        };
        runs().any(|spent| spent.priced > 0).then(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::{Totals, Usage};

    #[test]
    fn what_is_taken_back_leaves_no_trace() {
        let sound = Usage {
            input: Some(7),
            cost: Some(0.5),
            ..Usage::default()
        };
        let unpriced = Usage {
            cost: None,
            ..sound.clone()
        };
        let mut totals = Totals::default();
        totals.add(&sound, None);
        totals.add(&unpriced, None);
        let before = totals.clone();
        for n in [u64::MAX, u64::MAX - 1, 1 << 53] {
            for cost in [None, Some(1e300), Some(-1e300)] {
                let input = Some(n);
                let damaged = Usage {
                    input,
                    cache_write: input,
                    searches: input,
                    cost,
                    ..Usage::default()
                };
                totals.add(&damaged, None);
                totals.remove(&damaged, None);
                assert_eq!(totals, before, "{damaged:?}");
            }
        }
    }
}
