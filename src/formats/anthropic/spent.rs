//! The usage of an answer on its model and on others: `usage` with its `iterations`.
//!
//! Invariant: the usage of the answer and of the other requests add up to the total.

use super::tokens;
use crate::formats::json::Json;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text};
use crate::model::usage::{Scope, StepUsage, Usage};

#[derive(Debug, Default)]
pub(crate) struct AnswerUsage {
    /// On its own model.
    pub(crate) own: Usage,
    /// Other requests on its behalf, with their models: an advisor's, a compaction's.
    pub(crate) others: Vec<(Usage, Option<Name>)>,
}

/// Candidates for the kinds of iterations that the total counts are the sum of; the first one that
/// adds up is used.
const COUNTED: [fn(&str) -> bool; 5] = [
    |kind| kind == "message",
    |kind| matches!(kind, "message" | "fallback_message"),
    |kind| kind == "fallback_message",
    |kind| !matches!(kind, "advisor_message" | "compaction"),
    |_| true,
];

/// Reads the `usage` of a message of this model, with the requests in it; `None` if it is not an
/// object.
pub(crate) fn read_usage(
    json: &Json<'_>,
    model: Option<&Name>,
    out: &mut Batch,
) -> Option<AnswerUsage> {
    let mut own = usage(json, out)?;
    // Agents that count credits write 0 for tokens: the counts are unknown.
    if json.has("credits") && counts(&own) == [0; 4] {
        own = Usage {
            terms: own.terms,
            ..Usage::default()
        };
    }
    let steps: Vec<(&str, Usage, Option<Name>)> = json
        .get("iterations")
        .items()
        .iter()
        .filter_map(|step| {
            let usage = Usage {
                terms: own.terms.clone(),
                ..usage(step, out)?
            };
            Some((
                step.get("type").filled().unwrap_or("message"),
                usage,
                step.get("model").text(),
            ))
        })
        .collect();
    let adds_up = |is_counted: &fn(&str) -> bool| {
        let sum =
            steps
                .iter()
                .filter(|(kind, ..)| is_counted(kind))
                .fold([0; 4], |sum, (_, step, _)| {
                    let mut terms = counts(step).into_iter();
                    sum.map(|sum: u64| sum.saturating_add(terms.next().unwrap_or(0)))
                });
        sum == counts(&own)
    };
    let [usual, ..] = COUNTED;
    let is_counted = COUNTED.into_iter().find(adds_up).unwrap_or(usual);
    let mut others = Vec::new();
    let mut last = None;
    let mut prompts = 0;
    for (kind, step, its) in steps {
        let is_counted = is_counted(kind);
        if is_counted && its.as_ref().is_none_or(|its| Some(its) == model) {
            let Usage {
                input,
                cache_read,
                cache_write,
                output,
                ..
            } = step;
            last = Some(Box::new(StepUsage {
                input,
                cache_read,
                cache_write,
                output,
            }));
            prompts += 1;
            continue;
        }
        if is_counted {
            subtract(&mut own, &step);
        }
        if !step.is_zero() {
            others.push((step, its.or_else(|| model.cloned())));
        }
    }
    own.last = last.filter(|_| prompts > 1);
    Some(AnswerUsage { own, others })
}

fn counts(usage: &Usage) -> [u64; 4] {
    [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    ]
    .map(|count| count.unwrap_or(0))
}

/// Subtracts the usage of an iteration on another model.
fn subtract(own: &mut Usage, part: &Usage) {
    for (own, part) in [
        (&mut own.input, part.input),
        (&mut own.output, part.output),
        (&mut own.cache_read, part.cache_read),
        (&mut own.cache_write, part.cache_write),
        (&mut own.cache_write_1h, part.cache_write_1h),
    ] {
        *own = own.map(|count| count.saturating_sub(part.unwrap_or(0)));
    }
}

/// Reads a `usage` object without its iterations; `None` if it is not an object.
pub(crate) fn usage(json: &Json<'_>, out: &mut Batch) -> Option<Usage> {
    json.is_object().then(|| Usage {
        input: tokens(json, "input_tokens", out),
        output: tokens(json, "output_tokens", out),
        cache_read: tokens(json, "cache_read_input_tokens", out),
        cache_write: tokens(json, "cache_creation_input_tokens", out),
        cache_write_1h: tokens(json.get("cache_creation"), "ephemeral_1h_input_tokens", out),
        reasoning: tokens(json.get("output_tokens_details"), "thinking_tokens", out),
        searches: tokens(json.get("server_tool_use"), "web_search_requests", out),
        terms: terms(json),
        is_partial: false,
        ..Usage::default()
    })
}

/// Members with the terms of a request, and their usual values.
const TERMS: [(&str, &[&str]); 3] = [
    ("inference_geo", &["not_available", "global"]),
    ("service_tier", &["standard", "default", "auto"]),
    ("speed", &["standard"]),
];

/// Whether a value is a name, not the placeholder of a redacted one.
fn is_word(value: &str) -> bool {
    value.len() <= 40
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn terms(json: &Json<'_>) -> Vec<Name> {
    let own = |(member, usual): &(&str, &[&str])| {
        let value = json
            .get(member)
            .filled()
            .filter(|value| is_word(value) && !usual.contains(value))?;
        Some(Text::clean(&value.to_ascii_lowercase()))
    };
    let mut terms: Vec<Name> = TERMS.iter().filter_map(own).collect();
    terms.sort_unstable();
    terms
}

/// The usage of each model so far, and the total cost: `modelUsage` of Claude agents.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ModelTotals {
    pub(crate) models: Vec<(Name, Usage)>,
    /// The total cost in USD.
    pub(crate) total: Option<f64>,
}

/// The tolerance for sums of agents, which are in floating point.
const ROUNDING: f64 = 1e-9;

impl ModelTotals {
    /// Reads the totals. `lacks_cost` if the agent had no price for one of the models.
    pub(crate) fn read(
        models: &Json<'_>,
        total: &Json<'_>,
        lacks_cost: bool,
        out: &mut Batch,
    ) -> Self {
        let total = total.number().filter(|usd| *usd > 0.0);
        let cost_of = |spent: &Json<'_>| spent.get("costUSD").number().filter(|usd| *usd >= 0.0);
        // If all costs are 0, 0 means that they are unknown.
        let is_priced = models
            .members()
            .iter()
            .any(|(_, spent)| cost_of(spent) > Some(0.0));
        let mut by_model: Vec<(Name, Usage)> = Vec::new();
        for (name, spent) in models.members() {
            let mut usage = Usage {
                scope: Scope::Run,
                input: tokens(spent, "inputTokens", out),
                output: tokens(spent, "outputTokens", out),
                cache_read: tokens(spent, "cacheReadInputTokens", out),
                cache_write: tokens(spent, "cacheCreationInputTokens", out),
                cache_write_1h: tokens(spent, "cacheCreationEphemeral1hInputTokens", out),
                reasoning: tokens(spent, "thinkingTokens", out),
                searches: tokens(spent, "webSearchRequests", out).filter(|searches| *searches > 0),
                cost: cost_of(spent).filter(|_| is_priced),
                ..Usage::default()
            };
            usage.lacks_cost = lacks_cost && usage.cost == Some(0.0) && usage.total() > 0;
            // A suffix in brackets names a requested context window, not another model.
            let name = name.split('[').next().unwrap_or_default();
            by_model.push((Text::clean(name), usage));
        }
        Self {
            models: by_model,
            total,
        }
    }

    /// The total cost minus the costs of the models, in USD; `None` if they account for all of it.
    pub(crate) fn unattributed_cost(&self) -> Option<f64> {
        let total = self.total?;
        let costs: Vec<f64> = self
            .models
            .iter()
            .filter_map(|(_, usage)| usage.cost)
            .collect();
        let rest = total - costs.iter().sum::<f64>();
        (costs.is_empty() || rest.abs() > ROUNDING).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::{ModelTotals, read_usage};
    use crate::formats::json::parse;
    use crate::model::edit::Batch;
    use crate::model::text::Text;

    type Counts = (u64, u64);

    /// Input and output tokens of the answer itself, those of each other request with its model,
    /// and the size of the last prompt.
    fn of(iterations: &str, whole: Counts) -> (Counts, Vec<(u64, u64, String)>, Option<u64>) {
        let text = format!(
            r#"{{"input_tokens":{},"output_tokens":{},"iterations":[{iterations}]}}"#,
            whole.0, whole.1
        );
        let mut out = Batch::default();
        let made = read_usage(&parse(&text).unwrap(), Some(&Text::from("own")), &mut out).unwrap();
        let counts = |usage: &super::Usage| (usage.input.unwrap(), usage.output.unwrap());
        let others = made.others.iter().map(|(usage, model)| {
            let (input, output) = counts(usage);
            (input, output, model.as_ref().unwrap().to_string())
        });
        (
            counts(&made.own),
            others.collect(),
            made.own.last.map(|last| last.prompt()),
        )
    }

    fn step(kind: &str, input: u64, output: u64, model: &str) -> String {
        format!(r#"{{"type":"{kind}","input_tokens":{input},"output_tokens":{output}{model}}}"#)
    }

    #[test]
    fn what_the_whole_does_not_count_are_other_requests() {
        let message = step("message", 10, 1, "");
        assert_eq!(
            of(&message, (10, 1)),
            ((10, 1), vec![], None),
            "it repeats the whole"
        );
        let another = step("unheard_of", 10, 1, "");
        assert_eq!(
            of(&another, (10, 1)),
            ((10, 1), vec![], None),
            "whatever it is called"
        );
        let nothing = [message.clone(), step("compaction", 0, 0, "")].join(",");
        assert_eq!(of(&nothing, (10, 1)), ((10, 1), vec![], None), "no request");
        let advised = [
            message.clone(),
            step("advisor_message", 100, 5, r#","model":"wise""#),
            step("message", 20, 2, r#","model":null"#),
        ];
        let wise = (100, 5, "wise".to_owned());
        assert_eq!(
            of(&advised.join(","), (30, 3)),
            ((30, 3), vec![wise.clone()], Some(20))
        );
        let all_in_one = of(&advised.join(","), (130, 8));
        assert_eq!(
            all_in_one,
            ((30, 3), vec![wise], Some(20)),
            "the whole counts it, too"
        );
        let compacted = [
            message.clone(),
            step("compaction", 90, 9, ""),
            step("unheard_of", 1, 1, ""),
        ];
        let others = vec![(90, 9, "own".to_owned()), (1, 1, "own".to_owned())];
        assert_eq!(of(&compacted.join(","), (10, 1)), ((10, 1), others, None));
    }

    #[test]
    fn a_model_that_stepped_in_is_paid_at_its_price() {
        let steps = [
            step("message", 10, 1, ""),
            step("fallback_message", 20, 2, r#","model":"other""#),
        ];
        let other = vec![(20, 2, "other".to_owned())];
        for whole in [(10, 1), (30, 3)] {
            assert_eq!(
                of(&steps.join(","), whole),
                ((10, 1), other.clone(), None),
                "{whole:?}"
            );
        }
    }

    #[test]
    fn terms_are_what_is_not_usual() {
        for (members, terms) in [
            (
                r#""speed":"standard","service_tier":"standard","inference_geo":"not_available""#,
                vec![],
            ),
            (
                r#""speed":null,"service_tier":null,"inference_geo":"""#,
                vec![],
            ),
            (
                r#""speed":"fast","service_tier":"priority","inference_geo":"us""#,
                vec!["fast", "priority", "us"],
            ),
            (
                r#""service_tier":"batch","speed":"[REDACTED]""#,
                vec!["batch"],
            ),
        ] {
            let json = format!("{{{members}}}");
            let made = read_usage(&parse(&json).unwrap(), None, &mut Batch::default()).unwrap();
            assert_eq!(
                made.own.terms,
                terms.into_iter().map(Text::from).collect::<Vec<_>>(),
                "{members}"
            );
        }
    }

    #[test]
    fn costs_of_models_are_a_part_of_the_whole() {
        let totals = |models: &str, total: f64, lacks_cost: bool| {
            let json = format!(r#"{{"models":{{{models}}},"total":{total}}}"#);
            let json = parse(&json).unwrap();
            ModelTotals::read(
                json.get("models"),
                json.get("total"),
                lacks_cost,
                &mut Batch::default(),
            )
        };
        let costs = |totals: &ModelTotals| {
            totals
                .models
                .iter()
                .map(|(_, usage)| usage.cost)
                .collect::<Vec<_>>()
        };
        let both = r#""a":{"inputTokens":1,"costUSD":0.1},"b":{"inputTokens":1,"costUSD":0.2}"#;
        let all = totals(both, 0.3, false);
        assert_eq!(
            (costs(&all), all.unattributed_cost()),
            (vec![Some(0.1), Some(0.2)], None)
        );
        assert!((totals(both, 0.5, false).unattributed_cost().unwrap() - 0.2).abs() < 1e-9);
        let unknown = r#""a":{"inputTokens":1,"costUSD":0},"b":{"inputTokens":1}"#;
        assert_eq!(
            (
                costs(&totals(unknown, 0.5, false)),
                totals(unknown, 0.5, false).unattributed_cost()
            ),
            (vec![None, None], Some(0.5))
        );
        let half = totals(
            r#""a":{"inputTokens":1,"costUSD":0},"b":{"inputTokens":1,"costUSD":0.2}"#,
            0.2,
            true,
        );
        let lacks: Vec<bool> = half
            .models
            .iter()
            .map(|(_, usage)| usage.lacks_cost)
            .collect();
        assert_eq!(
            (costs(&half), lacks),
            (vec![Some(0.0), Some(0.2)], vec![true, false])
        );
    }
}
