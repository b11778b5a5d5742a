//! The price table: list prices and context windows by model, parsed from `assets/prices.json` on
//! first use, or from the user's replacement; the user's own prices come first.
//!
//! Invariant: a model in neither has no price.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use serde_json::Value;

use super::models;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::totals::{PROMPT_LIMITS, ToPrice, Tokens, UsageClass};
use crate::model::usage::Usage;

static BUILT_IN: LazyLock<PriceTable> =
    LazyLock::new(|| read(include_str!("../../../assets/prices.json")));
static REPLACEMENT: OnceLock<PriceTable> = OnceLock::new();
static OWN: OnceLock<HashMap<String, Prices>> = OnceLock::new();

/// Prices per kind of token, in the order of [`Tokens`], in USD × 10⁻⁶ per million tokens, so that
/// prices are integers.
pub(crate) type Rates = [u64; 5];

/// Prices of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Of requests whose prompt exceeds no limit.
    pub(crate) rates: Rates,
    /// Of requests whose prompt exceeds a limit in tokens, the smallest limit first.
    pub(crate) above: Vec<(u64, Rates)>,
    /// Of requests on special terms by name: batch, another speed, one region. There are few, for
    /// which a map would take ten times the memory.
    pub(crate) terms: Vec<(String, SpecialPrice)>,
    /// One web search, in USD × 10⁻⁶.
    pub(crate) search: u64,
    /// The context window in tokens.
    pub(crate) window: Option<u64>,
    /// The provider's page that the prices are from.
    pub(crate) source: String,
}

/// Price of requests on special terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SpecialPrice {
    /// Rates of their own, and those of prompts that exceed a limit in tokens.
    Rates(Rates, Vec<(u64, Rates)>),
    /// A multiple of the usual price, in hundredths.
    Times(u64),
}

/// Which of a model's prices applies to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tier {
    /// The limit in tokens that the prompt exceeds, if any.
    pub(crate) above: Option<u64>,
    pub(crate) terms: Vec<Name>,
}

/// The table, its date and its source.
#[derive(Debug, Default)]
struct PriceTable {
    date: String,
    source: String,
    models: HashMap<String, Prices>,
    /// The same models at the prices of a region, which few sessions need.
    regional: OnceLock<HashMap<String, Prices>>,
}

impl PriceTable {
    fn regional(&self) -> &HashMap<String, Prices> {
        let within = |(name, prices): (&String, &Prices)| (name.clone(), prices.within_region());
        self.regional
            .get_or_init(|| self.models.iter().map(within).collect())
    }

    fn retrieved(&self) -> Option<Timestamp> {
        Timestamp::parse(&format!("{}T00:00:00Z", self.date))
    }
}

impl Prices {
    /// Cost in pico-dollars (USD × 10⁻¹²) of usage without a recorded cost. A price times tokens is
    /// a whole number of them, so the sum does not depend on the grouping.
    pub(crate) fn picos(&self, spent: &ToPrice) -> u128 {
        let mut sum = u128::from(self.search) * u128::from(spent.searches) * 1_000_000;
        for (class, tokens) in &spent.classes {
            sum += product(&self.rates_at(&self.tier(class)), tokens);
        }
        sum
    }

    pub(crate) fn has_terms(&self, terms: &[Name]) -> bool {
        terms.iter().all(|term| self.price_on(term).is_some())
    }

    /// The price on special terms.
    fn price_on(&self, term: &str) -> Option<&SpecialPrice> {
        let named = self.terms.iter().find(|(name, _)| name == term);
        named.map(|(_, price)| price)
    }

    /// The prices of the model within a region.
    fn within_region(&self) -> Self {
        let more = |rates: &Rates| rates.map(|rate| rate + rate / 10);
        let all = |above: &[(u64, Rates)]| {
            above
                .iter()
                .map(|(limit, rates)| (*limit, more(rates)))
                .collect()
        };
        let term = |term: &SpecialPrice| match term {
            SpecialPrice::Rates(rates, above) => SpecialPrice::Rates(more(rates), all(above)),
            SpecialPrice::Times(hundredths) => SpecialPrice::Times(*hundredths),
        };
        Self {
            rates: more(&self.rates),
            above: all(&self.above),
            terms: self
                .terms
                .iter()
                .map(|(name, of)| (name.clone(), term(of)))
                .collect(),
            ..self.clone()
        }
    }

    /// The rates of a request with a prompt of `prompt` tokens.
    pub(crate) fn rates_of(&self, prompt: u64) -> Rates {
        let surpassed = PROMPT_LIMITS
            .iter()
            .filter(|limit| prompt > **limit)
            .count();
        self.rates_at(&self.tier(&UsageClass {
            surpassed,
            terms: Vec::new(),
        }))
    }

    /// The tier that a record of usage is charged by.
    pub(crate) fn tier_of(&self, usage: &Usage) -> Tier {
        self.tier(&UsageClass::of(usage))
    }

    fn tier(&self, class: &UsageClass) -> Tier {
        let limit = class
            .surpassed
            .checked_sub(1)
            .and_then(|n| PROMPT_LIMITS.get(n))
            .copied()
            .unwrap_or(0);
        let (_, above) = self.rates_on(&class.terms);
        let above = above
            .iter()
            .rfind(|(above, _)| *above <= limit)
            .map(|(above, _)| *above);
        Tier {
            above,
            terms: class.terms.clone(),
        }
    }

    /// The rates of a tier. Terms without a price are ignored.
    pub(crate) fn rates_at(&self, tier: &Tier) -> Rates {
        let (usual, above) = self.rates_on(&tier.terms);
        let of_limit = |limit: u64| {
            above
                .iter()
                .find(|(known, _)| *known == limit)
                .map(|(_, rates)| *rates)
        };
        let rates = tier.above.and_then(of_limit).unwrap_or(usual);
        let times = tier
            .terms
            .iter()
            .filter_map(|term| match self.price_on(term)? {
                SpecialPrice::Times(hundredths) => Some(*hundredths),
                SpecialPrice::Rates(..) => None,
            });
        times.fold(rates, |rates, times| {
            rates.map(|rate| rate.saturating_mul(times) / 100)
        })
    }

    fn rates_on(&self, terms: &[Name]) -> (Rates, &[(u64, Rates)]) {
        let own = terms.iter().find_map(|term| match self.price_on(term)? {
            SpecialPrice::Rates(rates, above) => Some((*rates, above.as_slice())),
            SpecialPrice::Times(_) => None,
        });
        own.unwrap_or((self.rates, &self.above))
    }
}

/// In USD × 10⁻¹².
fn product(rates: &Rates, tokens: &Tokens) -> u128 {
    rates
        .iter()
        .zip(tokens)
        .map(|(rate, n)| u128::from(*rate) * u128::from(*n))
        .sum()
}

/// The prices of a model in any spelling: the user's own, otherwise those of the table.
pub(crate) fn of_model(name: &str) -> Option<&'static Prices> {
    let own = OWN.get();
    if let Some(prices) =
        own.and_then(|own| own.get(name).or_else(|| own.get(&models::canonical(name))))
    {
        return Some(prices);
    }
    if !models::has_list_price(name) {
        return None;
    }
    let table = table();
    let models = if models::is_regional(name) {
        table.regional()
    } else {
        &table.models
    };
    models.get(models::canonical(name).as_str())
}

fn table() -> &'static PriceTable {
    REPLACEMENT.get().unwrap_or(&BUILT_IN)
}

/// Source and date of the price table.
pub(crate) fn provenance() -> (&'static str, &'static str) {
    (&table().source, &table().date)
}

/// When the prices of the table were retrieved.
pub(crate) fn retrieved() -> Option<Timestamp> {
    table().retrieved()
}

/// Installs the user's own prices, which take precedence over the table. To be called once, before
/// anything is priced; later calls have no effect.
pub fn install(own: Vec<(String, Prices)>) {
    let with_terms = |(name, prices): (String, Prices)| {
        let row = table().models.get(models::canonical(&name).as_str());
        let times = row.into_iter().flat_map(|row| &row.terms);
        let times = times.filter(|(_, term)| matches!(term, SpecialPrice::Times(_)));
        let terms = times
            .map(|(name, term)| (name.clone(), term.clone()))
            .collect();
        (name, Prices { terms, ..prices })
    };
    // A second call would price one session in two ways.
    let _ = OWN.set(own.into_iter().map(with_terms).collect());
}

/// Limit of models with invalid prices that are reported by name.
const MISTAKES: usize = 16;
/// The highest price: 10⁹ USD for a million tokens.
const HIGHEST: u64 = 1_000_000_000_000_000;

/// Replaces tv's table, under the same conditions as [`install`]. Returns a message with its line
/// for each invalid model; fails if no part is usable.
pub fn replace_table(text: &str) -> Result<Vec<String>, String> {
    let json = serde_json::from_str::<Value>(text);
    let mut json =
        json.map_err(|error| format!("{}:{}: no JSON ({error})", error.line(), error.column()))?;
    let (mut mistakes, mut more) = (Vec::new(), 0);
    if let Some(models) = json.get_mut("models").and_then(Value::as_object_mut) {
        models.retain(|name, of| match mistake(of, false) {
            None => true,
            Some(what) if mistakes.len() < MISTAKES => {
                let at = text
                    .find(&format!("\"{name}\""))
                    .and_then(|at| text.get(..at))
                    .unwrap_or_default();
                let line = at.matches('\n').count() + 1;
                mistakes.push(format!("{line}: the prices of {name} are not used: {what}"));
                false
            }
            Some(_) => {
                more += 1;
                false
            }
        });
    }
    if more > 0 {
        mistakes.push(format!("1: prices of {more} more models are not used"));
    }
    let table = table_of(&json);
    if table.models.is_empty() || table.retrieved().is_none() {
        let what = "1: this is no table of prices, which `tv help cost` describes".to_owned();
        return Err(mistakes.into_iter().next().unwrap_or(what));
    }
    let _ = REPLACEMENT.set(table);
    Ok(mistakes)
}

/// Why the prices of a model are invalid; `None` if they are valid. `is_inner`: for the limits and
/// terms in them.
fn mistake(prices: &Value, is_inner: bool) -> Option<String> {
    let is_rate =
        |member: &str| MEMBERS.contains(&member) || ["search", "window"].contains(&member);
    let wrong = |(name, value): (&String, &Value)| match value {
        Value::Object(_) => mistake(value, true).map(|what| format!("{name}.{what}")),
        Value::Number(number) if number.as_u64().is_some_and(|rate| rate <= HIGHEST) => None,
        _ if is_inner || value.is_number() => {
            Some(format!("{name} is no whole number from 0 to 10¹⁵"))
        }
        _ if is_rate(name) => Some(format!("{name} is no number")),
        _ => None,
    };
    let first = prices
        .as_object()
        .and_then(|members| members.iter().find_map(wrong));
    first.or_else(|| {
        (!is_inner && rates(prices, None).is_none())
            .then(|| "input and output are wanted".to_owned())
    })
}

/// Parses the built-in table. If that failed, no model would have a price; a test checks it.
fn read(text: &str) -> PriceTable {
    serde_json::from_str::<Value>(text)
        .map(|json| table_of(&json))
        .unwrap_or_default()
}

fn table_of(json: &Value) -> PriceTable {
    let word = |value: &Value, name: &str| {
        value
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned()
    };
    let models = json
        .get("models")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let models: HashMap<String, Prices> = models
        .filter_map(|(name, of)| Some((name.clone(), prices(of)?)))
        .collect();
    PriceTable {
        date: word(json, "date"),
        source: word(json, "source"),
        models,
        regional: OnceLock::new(),
    }
}

/// The members of a model that are rates.
const MEMBERS: [&str; 5] = [
    "input",
    "output",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
];

/// Members of a model that are objects, but not terms.
const NO_TERMS: [&str; 2] = ["above", "times"];

fn prices(json: &Value) -> Option<Prices> {
    let rates = rates(json, None)?;
    let members = json.as_object().into_iter().flatten();
    let own = members.filter(|(name, of)| of.is_object() && !NO_TERMS.contains(&name.as_str()));
    let own = own.filter_map(|(name, of)| {
        let rates = self::rates(of, Some(rates))?;
        Some((
            name.clone(),
            SpecialPrice::Rates(rates, long_prompt_rates(of, rates)),
        ))
    });
    let times = json
        .get("times")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let times =
        times.filter_map(|(name, of)| Some((name.clone(), SpecialPrice::Times(of.as_u64()?))));
    Some(Prices {
        rates,
        above: long_prompt_rates(json, rates),
        // The first of a name applies.
        terms: times.chain(own).collect(),
        search: json.get("search").and_then(Value::as_u64).unwrap_or(0),
        window: json.get("window").and_then(Value::as_u64),
        source: json
            .get("source")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned(),
    })
}

/// The rates of long prompts, the smallest limit first.
fn long_prompt_rates(json: &Value, usual: Rates) -> Vec<(u64, Rates)> {
    let limits = json
        .get("above")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let mut above: Vec<(u64, Rates)> = limits
        .filter_map(|(limit, of)| Some((limit.parse().ok()?, rates(of, Some(usual))?)))
        .collect();
    above.sort_unstable();
    above
}

/// Parses rates by name. A missing rate defaults to `otherwise`, or to the rate of input.
fn rates(json: &Value, otherwise: Option<Rates>) -> Option<Rates> {
    let [input, output, read, short, long] =
        MEMBERS.map(|name| json.get(name).and_then(Value::as_u64));
    let base = otherwise.unwrap_or_default();
    let input = input.or(otherwise.map(|_| base[0]))?;
    let output = output.or(otherwise.map(|_| base[1]))?;
    let or_input = |rate: Option<u64>, usual: u64| {
        rate.unwrap_or(if usual == base[0] { input } else { usual })
    };
    let short_rate = or_input(short, base[3]);
    Some([
        input,
        output,
        or_input(read, base[2]),
        short_rate,
        or_input(long, base[4]),
    ])
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, Prices, of_model, product, replace_table};
    use crate::model::text::Text;
    use crate::model::totals::{PROMPT_LIMITS, ToPrice, UsageClass};

    #[test]
    fn every_model_of_the_table_has_rates_a_window_and_a_source() {
        let table = &*BUILT_IN;
        assert!(table.models.len() > 150, "{}", table.models.len());
        assert!(
            table.source.contains("litellm") && table.date.starts_with("20"),
            "{}",
            table.source
        );
        let json: serde_json::Value =
            serde_json::from_str(include_str!("../../../assets/prices.json")).unwrap();
        assert_eq!(
            json["models"].as_object().unwrap().len(),
            table.models.len(),
            "a model is unreadable"
        );
        for (name, prices) in &table.models {
            assert!(prices.rates[0] > 0 && prices.rates[1] > 0, "{name}");
            assert!(
                prices.rates[2] <= prices.rates[0],
                "{name}: a cache read costs more than input"
            );
            for (limit, _) in &prices.above {
                assert!(
                    PROMPT_LIMITS.contains(limit),
                    "{name}: sums do not distinguish prompts beyond {limit}"
                );
            }
        }
    }

    #[test]
    fn unknown_and_free_models_have_no_price() {
        assert!(of_model("").is_none());
        assert!(of_model("unheard-of-5").is_none());
        assert!(of_model("claude-opus-4-8-fast").is_none());
        assert!(of_model("openai/gpt-4o:free").is_none());
    }

    #[test]
    fn a_region_of_bedrock_costs_a_tenth_more() {
        let rates = |name| of_model(name).unwrap().rates;
        let world = rates("global.anthropic.claude-sonnet-4-5-20250929-v1:0");
        assert_eq!(world, rates("claude-sonnet-4-5"));
        let region = rates("us.anthropic.claude-sonnet-4-5-20250929-v1:0");
        assert_eq!(region.map(|rate| rate * 10), world.map(|rate| rate * 11));
    }

    #[test]
    fn a_region_of_azure_costs_a_tenth_more() {
        let rates = |name| of_model(name).unwrap().rates;
        assert_eq!(rates("azure/gpt-5"), rates("gpt-5"));
        assert_eq!(
            rates("azure/eu/gpt-5-2025-08-07").map(|rate| rate * 10),
            rates("gpt-5").map(|rate| rate * 11)
        );
    }

    #[test]
    fn what_is_no_table_replaces_none() {
        for text in [
            "",
            "[]",
            r#"{"models":{}}"#,
            r#"{"date":"soon","models":{"a-1":{"input":1,"output":1}}}"#,
        ] {
            assert!(replace_table(text).is_err(), "{text}");
        }
    }

    fn on(terms: &[&str], tokens: [u64; 5]) -> ToPrice {
        let terms = terms.iter().copied().map(Text::from).collect();
        ToPrice {
            classes: vec![(
                UsageClass {
                    surpassed: 0,
                    terms,
                },
                tokens,
            )],
            searches: 0,
        }
    }

    #[test]
    fn tokens_cost_what_their_kind_costs() {
        let opus = of_model("claude-opus-4-6").unwrap();
        let usd = |spent: &ToPrice| opus.picos(spent) as f64 / 1e12;
        let first = usd(&on(&[], [1_000_000, 100_000, 2_000_000, 100_000, 10_000]));
        assert!(
            (first - (5.0 + 2.5 + 1.0 + 0.625 + 0.1)).abs() < 1e-9,
            "{first}"
        );
        let searches = ToPrice {
            searches: 3,
            ..ToPrice::default()
        };
        assert!((usd(&searches) - 0.03).abs() < 1e-9);
    }

    #[test]
    fn terms_change_what_tokens_cost() {
        let million = [1_000_000, 0, 0, 0, 0];
        for (model, terms, expected) in [
            ("claude-opus-4-6", ["batch"].as_slice(), Some(2.5)),
            ("claude-opus-4-6", &["fast"], Some(30.0)),
            ("claude-opus-5-5", &["fast"], Some(8.0)),
            ("claude-opus-5-5", &["fast", "us"], Some(8.8)),
            ("claude-opus-5-5", &["batch", "us"], Some(2.2)),
            ("claude-opus-5-5", &["priority"], None),
            ("gpt-5.4", &["priority"], Some(5.0)),
            ("gpt-5.4", &["flex"], Some(1.25)),
            ("gpt-5.4", &["us"], None),
        ] {
            let prices = of_model(model).unwrap();
            let terms: Vec<Text> = terms.iter().copied().map(Text::from).collect();
            assert_eq!(
                prices.has_terms(&terms),
                expected.is_some(),
                "{model} {terms:?}"
            );
            let spent = ToPrice {
                classes: vec![(
                    UsageClass {
                        surpassed: 0,
                        terms,
                    },
                    million,
                )],
                searches: 0,
            };
            let usd = prices.picos(&spent) as f64 / 1e12;
            let usual = prices.rates[0] as f64 / 1e6;
            assert!(
                (usd - expected.unwrap_or(usual)).abs() < 1e-9,
                "{model} {spent:?}: {usd}"
            );
        }
    }

    #[test]
    fn half_of_a_batch_is_half_of_each_kind() {
        for model in [
            "claude-opus-4-6",
            "claude-haiku-4-5",
            "claude-sonnet-4",
            "claude-opus-5-5",
        ] {
            let prices = of_model(model).unwrap();
            let all = [1_000_000; 5];
            assert_eq!(
                prices.picos(&on(&["batch"], all)) * 2,
                prices.picos(&on(&[], all)),
                "{model}"
            );
        }
    }

    #[test]
    fn long_prompts_cost_by_the_limit_that_they_surpass() {
        let prices = Prices {
            rates: [1, 1, 1, 1, 1],
            above: vec![(200_000, [2, 2, 2, 2, 2]), (512_000, [3, 3, 3, 3, 3])],
            ..Prices::default()
        };
        let rate = |prompt| prices.rates_of(prompt)[0];
        assert_eq!(
            [rate(200_000), rate(200_001), rate(300_000), rate(512_001)],
            [1, 2, 2, 3]
        );
        let gpt = of_model("gpt-5.4").unwrap();
        assert_eq!(
            [gpt.rates_of(272_000)[0], gpt.rates_of(272_001)[0]],
            [2_500_000, 5_000_000]
        );
        assert_eq!(product(&[2, 0, 0, 0, 1], &[10, 5, 5, 5, 7]), 27);
    }
}
