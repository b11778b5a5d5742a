//! Costs: a recorded cost beats an estimate, estimates from the price table are marked, and an
//! unknown price is never 0.

use super::prices::{self, Prices};
use crate::model::text::Name;
use crate::model::totals::{ModelUsage, ToPrice, Totals};
use crate::model::usage::{Scope, Usage};

/// A cost in USD with its source.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// USD; `None` if no part has a price.
    pub usd: Option<f64>,
    /// Whether the cost is recorded or estimated.
    pub source: CostSource,
    /// Models that used tokens and have no price.
    pub(crate) unpriced_models: Vec<Name>,
    /// Whether it covers only a part of the tokens: output was counted before answers were
    /// complete, prompts are not recorded, or the usage of a sub-agent is in a file that is
    /// missing.
    pub(crate) is_partial: bool,
    /// Whether a part of it is tokens times prices.
    pub(crate) is_estimated: bool,
    /// USD of all its tokens by list prices, where an agent recorded a part of the cost; `None` if
    /// a part has no price.
    pub(crate) by_list: Option<f64>,
}

impl Cost {
    /// Marks the cost as partial if some of the usage is recorded elsewhere.
    #[must_use]
    pub(crate) fn partial_if(self, is_elsewhere: bool) -> Self {
        Self {
            is_partial: self.is_partial || is_elsewhere,
            ..self
        }
    }

    /// The sum of costs with the marks of each; `None` without any.
    pub fn sum<'c>(costs: impl IntoIterator<Item = &'c Self>) -> Option<Self> {
        costs.into_iter().fold(None, |sum: Option<Self>, cost| {
            Some(match sum {
                Some(sum) => sum.with(cost),
                None => cost.clone(),
            })
        })
    }

    fn with(self, other: &Self) -> Self {
        let usd = match (self.usd, other.usd) {
            (Some(one), Some(two)) => Some(one + two),
            (one, two) => one.or(two),
        };
        let is_recorded = self.source.is_recorded() || other.source.is_recorded();
        let by_list = self.listed().zip(other.listed()).filter(|_| is_recorded);
        let mut unpriced_models = self.unpriced_models;
        let new = other
            .unpriced_models
            .iter()
            .filter(|model| !unpriced_models.contains(model));
        let new: Vec<Name> = new.cloned().collect();
        unpriced_models.extend(new);
        Self {
            usd,
            source: self.source.with(other.source),
            unpriced_models,
            is_partial: self.is_partial || other.is_partial,
            is_estimated: self.is_estimated || other.is_estimated,
            by_list: by_list.map(|(one, two)| one + two),
        }
    }

    /// USD of all tokens by list prices, whether the cost is recorded or estimated.
    pub(crate) fn listed(&self) -> Option<f64> {
        match self.source {
            CostSource::Estimated => self.usd,
            CostSource::Unpriced => self.unpriced_models.is_empty().then_some(0.0),
            CostSource::Recorded | CostSource::Mixed => self.by_list,
        }
    }

    /// Whether the true cost is higher: some tokens are missing or have no price.
    pub fn is_lower_bound(&self) -> bool {
        self.is_partial || !self.unpriced_models.is_empty()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// The agent recorded it.
    Recorded,
    /// Tokens times prices.
    Estimated,
    /// Some of both, or a part without a price.
    Mixed,
    /// No price is known.
    Unpriced,
}

impl CostSource {
    /// The source of the sum of two costs.
    fn with(self, other: Self) -> Self {
        if self == other { self } else { Self::Mixed }
    }

    fn is_recorded(self) -> bool {
        matches!(self, Self::Recorded | Self::Mixed)
    }

    /// The value in JSON outputs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Estimated => "estimated",
            Self::Mixed => "mixed",
            Self::Unpriced => "unpriced",
        }
    }
}

/// Pico-dollars in a nano-dollar.
pub(crate) const PICOS_IN_NANO: i128 = 1_000;

/// An amount of money in pico-dollars, by source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Money {
    /// Cost recorded by agents.
    pub recorded: i128,
    /// Records with a recorded cost.
    pub(crate) recordings: u32,
    /// Tokens times prices, of records without a recorded cost.
    pub estimated: i128,
    /// Records that were estimated.
    pub(crate) estimates: u32,
    /// Records with tokens, without a recorded cost and without a price.
    pub(crate) unpriced: u32,
    /// Records that cover a part of their tokens: counted before the answer was complete, or
    /// without the prompt.
    pub(crate) partial: u32,
    /// Records whose true cost is higher than the recorded or estimated one.
    pub(crate) lacking: u32,
    /// Recorded cost of records that also have an estimate.
    pub(crate) compared: i128,
    /// Estimate of the same records.
    pub(crate) expected: i128,
    /// Records with a recorded cost and no estimate.
    pub(crate) incomparable: u32,
}

impl Money {
    /// The cost of usage on one model.
    pub(crate) fn of(spent: &ModelUsage, prices: Option<&Prices>) -> Self {
        let mut money = Self {
            recorded: i128::from(spent.recorded_nanos) * PICOS_IN_NANO,
            recordings: spent.priced,
            lacking: spent.incomplete_costs,
            ..Self::default()
        };
        match prices {
            _ if spent.priced == 0 => {}
            None if !spent.expected.is_nothing() => money.incomparable = spent.priced,
            prices => {
                money.compared = money.recorded;
                money.expected = prices.map_or(0, |prices| estimate(prices, &spent.expected));
            }
        }
        if !spent.unpriced.is_nothing() {
            money.partial = spent.partial.saturating_add(spent.without_prompt);
            match prices {
                Some(prices) => {
                    money.estimated = estimate(prices, &spent.unpriced);
                    money.estimates = 1;
                    let is_known = spent
                        .unpriced
                        .classes
                        .iter()
                        .all(|(class, _)| prices.has_terms(&class.terms));
                    money.lacking = money.lacking.saturating_add(u32::from(!is_known));
                }
                None => money.unpriced = 1,
            }
        }
        money
    }

    /// Recorded plus estimated pico-dollars.
    pub fn picos(&self) -> i128 {
        self.recorded + self.estimated
    }

    /// Whether a part is recorded. Also true for the remainder after [`Self::minus`].
    fn is_recorded(&self) -> bool {
        self.recordings > 0 || self.recorded != 0
    }

    fn is_estimated(&self) -> bool {
        self.estimates > 0 || self.estimated != 0
    }

    /// USD; `None` if nothing is recorded or estimated.
    pub(crate) fn usd(&self) -> Option<f64> {
        (self.is_recorded() || self.is_estimated()).then(|| usd(self.picos()))
    }

    /// The source of the money. Without any usage it is [`CostSource::Unpriced`], with no unpriced
    /// records.
    pub fn source(&self) -> CostSource {
        match (self.is_recorded(), self.is_estimated(), self.unpriced > 0) {
            (false, false, _) => CostSource::Unpriced,
            (true, false, false) => CostSource::Recorded,
            (false, true, false) => CostSource::Estimated,
            _ => CostSource::Mixed,
        }
    }

    /// Converts to a [`Cost`]; an empty name represents models without a price.
    pub fn cost(&self) -> Cost {
        let unpriced_models = if self.unpriced > 0 {
            vec![Name::default()]
        } else {
            Vec::new()
        };
        let is_partial = self.partial > 0 || self.lacking > 0;
        let is_comparable = self.is_recorded() && self.incomparable == 0 && self.unpriced == 0;
        Cost {
            usd: self.usd(),
            source: self.source(),
            unpriced_models,
            is_partial,
            is_estimated: self.is_estimated(),
            by_list: is_comparable.then(|| usd(self.expected + self.estimated)),
        }
    }

    pub(crate) fn plus(&mut self, other: &Self) {
        self.recorded += other.recorded;
        self.estimated += other.estimated;
        self.compared += other.compared;
        self.expected += other.expected;
        self.recordings = self.recordings.saturating_add(other.recordings);
        self.estimates = self.estimates.saturating_add(other.estimates);
        self.unpriced = self.unpriced.saturating_add(other.unpriced);
        self.partial = self.partial.saturating_add(other.partial);
        self.lacking = self.lacking.saturating_add(other.lacking);
        self.incomparable = self.incomparable.saturating_add(other.incomparable);
    }

    /// Whether it has neither a recorded cost nor a record that lacks one.
    pub(crate) fn has_no_records(&self) -> bool {
        self.recorded == 0 && self.lacking == 0
    }

    /// The amount without the marks of its estimates, for a part whose cost is recorded as a whole.
    pub(crate) fn covered(&self) -> Self {
        Self {
            estimates: 0,
            unpriced: 0,
            partial: 0,
            ..*self
        }
    }

    /// Subtracts another amount, but keeps its own counts of sources.
    pub(crate) fn minus(&mut self, other: &Self) {
        self.recorded -= other.recorded;
        self.estimated -= other.estimated;
        self.compared -= other.compared;
        self.expected -= other.expected;
    }
}

/// Pico-dollars as USD.
pub fn usd(picos: i128) -> f64 {
    picos as f64 / 1e12
}

/// USD as pico-dollars.
#[expect(clippy::cast_possible_truncation, reason = "float casts saturate")]
pub(crate) fn picos(usd: f64) -> i128 {
    (usd * 1e12).round() as i128
}

/// Cost of tokens by list prices, in pico-dollars.
pub(crate) fn estimate(prices: &Prices, tokens: &ToPrice) -> i128 {
    i128::try_from(prices.picos(tokens)).unwrap_or(i128::MAX)
}

/// Prices totals of usage. The recorded cost of a whole run beats the sum of its requests; requests
/// of an unfinished run, or after the agent's last record of its cost, are added to it.
pub fn of(totals: &Totals) -> Cost {
    of_part(totals, totals.has_summed_prompts())
}

/// Prices a part of a session. `has_prompts`: the session records the prompts of all requests as
/// one sum, so that requests without prompt tokens are not partial.
pub(crate) fn of_part(totals: &Totals, has_prompts: bool) -> Cost {
    let Some(usd) = totals.run_cost() else {
        return of_models(&totals.by_model(), has_prompts);
    };
    let listed: Option<i128> = listed(totals).into_iter().map(|(_, picos)| picos).sum();
    let recorded = Cost {
        usd: Some(usd),
        source: CostSource::Recorded,
        unpriced_models: Vec::new(),
        is_partial: totals.lacks_run_cost(),
        is_estimated: false,
        by_list: None,
    };
    let cost = if totals.is_covered() {
        recorded
    } else {
        recorded.with(&of_models(totals.open_by_model(), has_prompts))
    };
    Cost {
        by_list: listed.map(self::usd),
        ..cost
    }
}

/// Pico-dollars by list prices of runs and requests, by model: the requests, and what runs count
/// beyond them. `None` for a model without a price.
pub(crate) fn listed(totals: &Totals) -> Vec<(Name, Option<i128>)> {
    let of_model = |(model, spent): (Name, ToPrice)| {
        let prices = prices::of_model(&model);
        let picos = if spent.is_nothing() {
            Some(0)
        } else {
            prices.map(|prices| estimate(prices, &spent))
        };
        (model, picos)
    };
    totals.to_price().into_iter().map(of_model).collect()
}

fn of_models(models: &[(Name, ModelUsage)], has_prompts: bool) -> Cost {
    let mut money = Money::default();
    let mut unpriced_models = Vec::new();
    for (model, spent) in models {
        let own = Money::of(spent, prices::of_model(model));
        unpriced_models.extend((own.unpriced > 0).then(|| model.clone()));
        money.plus(&own);
        if has_prompts {
            money.partial = money.partial.saturating_sub(spent.without_prompt);
        }
    }
    Cost {
        unpriced_models,
        ..money.cost()
    }
}

/// Explains the signs of a session's cost: `~`, `+`, `$?`.
pub(crate) fn signs_of(cost: &Cost, totals: &Totals) -> Vec<(&'static str, String)> {
    let models = totals.by_model();
    let sum = |of: fn(&ModelUsage) -> u32| {
        models
            .iter()
            .map(|(_, spent)| u64::from(of(spent)))
            .sum::<u64>()
    };
    let answers: u64 = models.iter().map(|(_, spent)| spent.requests).sum();
    let mut signs = Vec::new();
    if cost.is_estimated {
        signs.push((
            "~",
            "tokens times list prices, where no cost is recorded".to_owned(),
        ));
    }
    let of_all = |count: u64, words: &str| {
        (count > 0).then(|| ("+", format!("{count} of {answers} answers {words}")))
    };
    signs.extend(of_all(
        sum(|spent| spent.partial),
        "record only their first tokens",
    ));
    if !totals.has_summed_prompts() {
        signs.extend(of_all(
            sum(|spent| spent.without_prompt),
            "record nothing of their prompts",
        ));
    }
    signs.extend(of_all(
        sum(|spent| spent.incomplete_costs),
        "cost more than is recorded",
    ));
    let names: Vec<&str> = cost.unpriced_models.iter().map(|name| &**name).collect();
    if !names.is_empty() {
        let sign = if cost.usd.is_none() { "$?" } else { "+" };
        signs.push((sign, format!("no price is known of {}", names.join(", "))));
    }
    if cost.is_lower_bound() && !signs.iter().any(|(sign, _)| *sign == "+") {
        signs.push((
            "+",
            "what sub-agents spent is in files that are not here".to_owned(),
        ));
    }
    signs
}

pub(crate) fn of_request(usage: &Usage, model: Option<&Name>) -> Cost {
    let mut totals = Totals::default();
    totals.add(
        &Usage {
            scope: Scope::Request,
            ..usage.clone()
        },
        model,
    );
    of(&totals)
}

#[cfg(test)]
mod tests {
    use super::{Cost, CostSource, of, of_request};
    use crate::analysis::phrases;
    use crate::model::text::Text;
    use crate::model::totals::Totals;
    use crate::model::usage::{Scope, Usage};

    #[test]
    fn a_part_of_the_tokens_costs_at_least_so_much() {
        let name = Text::clean("claude-opus-4-6");
        for (is_partial, cost, lacks_some) in [
            (true, None, true),
            (false, None, false),
            (true, Some(0.5), false),
        ] {
            let usage = Usage {
                is_partial,
                ..spent(10, cost)
            };
            assert_eq!(of_request(&usage, Some(&name)).is_lower_bound(), lacks_some);
        }
    }

    #[test]
    fn output_alone_is_not_all_that_was_paid() {
        let name = Text::clean("claude-opus-4-6");
        let output = Usage {
            output: Some(100),
            ..Usage::default()
        };
        let mut totals = Totals::default();
        totals.add(&output, Some(&name));
        assert!(of(&totals).is_partial);
        let prompts = Usage {
            scope: Scope::Extra,
            input: Some(1_000),
            ..Usage::default()
        };
        totals.add(&prompts, Some(&name));
        assert!(
            !of(&totals).is_partial,
            "the prompts of all requests are recorded as one sum"
        );
    }

    #[test]
    fn a_run_that_has_not_ended_comes_on_top() {
        let name = Text::clean("claude-opus-4-6");
        let mut totals = Totals::default();
        let run = |input, cost| Usage {
            scope: Scope::Run,
            ..spent(input, cost)
        };
        let open = Usage {
            scope: Scope::Open,
            is_partial: true,
            ..spent(1_000_000, None)
        };
        totals.add(&spent(1_000_000, None), Some(&name));
        totals.add(&run(10, Some(4.0)), Some(&name));
        assert_eq!((of(&totals).usd, totals.sum().input.total), (Some(4.0), 10));
        totals.add(&open, Some(&name));
        let cost = of(&totals);
        assert_eq!(
            (cost.usd, cost.source, cost.is_partial),
            (Some(9.0), CostSource::Mixed, true)
        );
        assert_eq!(
            (totals.sum().input.total, totals.is_covered()),
            (1_000_010, false)
        );
        totals.remove(&open, Some(&name));
        assert_eq!(
            (of(&totals).usd, of(&totals).source),
            (Some(4.0), CostSource::Recorded)
        );
    }

    fn spent(input: u64, cost: Option<f64>) -> Usage {
        Usage {
            input: Some(input),
            output: Some(0),
            cost,
            ..Usage::default()
        }
    }

    #[test]
    fn all_that_was_spent_so_far_is_no_less_than_the_requests() {
        let name = Text::clean("claude-opus-4-6");
        let mut totals = Totals::default();
        totals.add(&spent(1_000_000, None), Some(&name));
        totals.add(
            &Usage {
                scope: Scope::Total,
                ..spent(10, Some(4.0))
            },
            Some(&name),
        );
        assert_eq!(
            (totals.sum().input.total, of(&totals).usd),
            (1_000_000, Some(4.0))
        );
        let open = spent(7, None);
        totals.add(&open, Some(&name));
        totals.add(
            &Usage {
                scope: Scope::Open,
                ..open
            },
            Some(&name),
        );
        let cost = of(&totals);
        assert_eq!(
            (totals.sum().input.total, cost.usd, cost.by_list),
            (1_000_007, Some(4.000_035), Some(5.000_035))
        );
    }

    #[test]
    fn recorded_cost_beats_the_table() {
        let cost = of_request(
            &spent(1_000_000, Some(0.5)),
            Some(&Text::clean("claude-opus-4-6")),
        );
        assert_eq!((cost.usd, cost.source), (Some(0.5), CostSource::Recorded));
    }

    #[test]
    fn estimates_are_marked() {
        let cost = of_request(
            &spent(1_000_000, None),
            Some(&Text::clean("claude-opus-4-6")),
        );
        assert_eq!((cost.usd, cost.source), (Some(5.0), CostSource::Estimated));
    }

    #[test]
    fn an_unknown_price_is_not_zero() {
        let cost = of_request(&spent(10, None), Some(&Text::clean("unheard-of-5")));
        assert_eq!((cost.usd, cost.source), (None, CostSource::Unpriced));
        assert_eq!(cost.unpriced_models, [Text::clean("unheard-of-5")]);
    }

    #[test]
    fn parts_of_both_kinds_are_mixed() {
        let mut totals = Totals::default();
        totals.add(
            &spent(1_000_000, None),
            Some(&Text::clean("claude-opus-4-6")),
        );
        totals.add(&spent(10, Some(0.25)), Some(&Text::clean("unheard-of-5")));
        assert_eq!(
            (of(&totals).usd, of(&totals).source),
            (Some(5.25), CostSource::Mixed)
        );
        totals.add(&spent(10, None), Some(&Text::clean("unheard-of-2")));
        assert_eq!(of(&totals).unpriced_models, [Text::clean("unheard-of-2")]);
    }

    #[test]
    fn a_sum_has_the_marks_of_all_that_is_in_it() {
        let (opus, unheard) = (Text::clean("claude-opus-4-6"), Text::clean("unheard-of-5"));
        let recorded = of_request(&spent(10, Some(0.5)), Some(&opus));
        let estimated = of_request(&spent(1_000_000, None), Some(&opus));
        let unpriced = of_request(&spent(10, None), Some(&unheard));
        let words = |costs: &[&Cost]| phrases::cost(&Cost::sum(costs.iter().copied()).unwrap());
        assert_eq!(Cost::sum([]), None);
        assert_eq!(words(&[&recorded, &recorded]).unwrap(), "$1.00");
        assert_eq!(words(&[&recorded, &estimated]).unwrap(), "~$5.50");
        assert_eq!(words(&[&recorded, &unpriced, &unpriced]).unwrap(), "$0.50+");
        assert_eq!(words(&[&unpriced]), None);
        let sum = Cost::sum([&unpriced, &unpriced, &estimated]).unwrap();
        assert_eq!(
            (sum.source, sum.unpriced_models),
            (CostSource::Mixed, vec![unheard])
        );
        // `by_list` is set only beside a recorded cost; an estimate is itself by list prices.
        let by_list = |costs: &[&Cost]| Cost::sum(costs.iter().copied()).unwrap().by_list;
        assert_eq!(by_list(&[&estimated, &estimated]), None);
        assert_eq!(by_list(&[&recorded, &estimated]), Some(5.000_05));
        assert_eq!(by_list(&[&estimated, &recorded, &recorded]), Some(5.000_1));
        assert_eq!(by_list(&[&recorded, &unpriced]), None);
    }

    #[test]
    fn an_answer_without_tokens_needs_no_price() {
        let mut totals = Totals::default();
        totals.add(&spent(0, None), Some(&Text::clean("<synthetic>")));
        totals.add(&spent(10, Some(0.25)), Some(&Text::clean("unheard-of-5")));
        assert_eq!(of(&totals).source, CostSource::Recorded);
        assert!(of(&totals).unpriced_models.is_empty());
    }

    #[test]
    fn the_cost_of_a_run_beats_that_of_its_requests() {
        let mut totals = Totals::default();
        totals.add(
            &spent(1_000_000, None),
            Some(&Text::clean("claude-opus-4-6")),
        );
        totals.add(
            &Usage {
                scope: Scope::Fallback,
                cost: Some(4.0),
                ..Usage::default()
            },
            None,
        );
        assert_eq!(
            (of(&totals).usd, of(&totals).source),
            (Some(4.0), CostSource::Recorded)
        );
    }
}
