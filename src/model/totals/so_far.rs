//! What a session had cost at a time between two at which its agent recorded that.
//!
//! Invariant: no less than what was recorded before, and no more than what was recorded after, if anything was.

use super::Tokens;
use crate::model::text::Name;
use crate::model::usage::Usage;

/// What all of it had cost, by model; what is of no model stands under an empty name.
pub(crate) type Sums = [(Name, Usage)];

/// A request between the two.
pub(crate) struct Step {
    pub(crate) model: Name,
    pub(crate) tokens: Tokens,
    /// Whether it was made by the time in question.
    pub(crate) is_before: bool,
}

/// The tokens of a record of usage by what they cost.
pub(crate) fn tokens(usage: &Usage) -> Tokens {
    let written = usage.cache_write.unwrap_or(0);
    let long = usage.cache_write_1h.unwrap_or(0).min(written);
    [
        usage.input.unwrap_or(0),
        usage.output.unwrap_or(0),
        usage.cache_read.unwrap_or(0),
        written - long,
        long,
    ]
}

/// A sum that was recorded later, and what had been made since the one before.
pub(crate) type Later<'s> = (&'s Sums, Vec<Step>);

/// What it had cost by then: no later sum has less in it, of the session or of one that went on from it.
pub(crate) fn by_then(before: Option<&Sums>, later: &[Later<'_>]) -> Vec<(Name, Usage)> {
    let recorded = later
        .iter()
        .map(|(after, steps)| between(before, after, steps));
    recorded
        .reduce(least)
        .unwrap_or_else(|| before.unwrap_or_default().to_vec())
}

/// What both have.
fn least(one: Vec<(Name, Usage)>, other: Vec<(Name, Usage)>) -> Vec<(Name, Usage)> {
    let both = one.into_iter().filter_map(|(model, mut sum)| {
        let (_, other) = other.iter().find(|(name, _)| *name == model)?;
        for (count, other) in [
            (&mut sum.input, other.input),
            (&mut sum.output, other.output),
            (&mut sum.cache_read, other.cache_read),
            (&mut sum.cache_write, other.cache_write),
            (&mut sum.cache_write_1h, other.cache_write_1h),
            (&mut sum.reasoning, other.reasoning),
            (&mut sum.searches, other.searches),
        ] {
            *count = (*count).min(other);
        }
        sum.cost = sum.cost.zip(other.cost).map(|(one, other)| one.min(other));
        Some((model, sum))
    });
    both.collect()
}

/// What it had cost after those of the steps that were made by then. What no request tells of, as of helpers, is divided as
/// the price of the requests is.
fn between(before: Option<&Sums>, after: &Sums, steps: &[Step]) -> Vec<(Name, Usage)> {
    let before = before.unwrap_or_default();
    let sum = |model: Option<&Name>, all: bool| {
        let mut sum = Tokens::default();
        let steps = steps.iter().filter(|step| all || step.is_before);
        for step in steps.filter(|step| model.is_none_or(|model| step.model == *model)) {
            sum.iter_mut()
                .zip(step.tokens)
                .for_each(|(sum, term)| *sum = sum.saturating_add(term));
        }
        sum
    };
    let of_model = |(model, later): &(Name, Usage)| {
        let [made, all] = [sum(Some(model), false), sum(Some(model), true)];
        let share = match price(&all) {
            // Nothing says when a model was asked of which no request is here.
            0 => (price(&sum(None, false)), price(&sum(None, true))),
            all => (price(&made), all),
        };
        let then = before
            .iter()
            .find(|(name, _)| name == model)
            .map(|(_, sum)| sum.clone());
        let then = then.unwrap_or_default();
        let (had, has) = (tokens(&then), tokens(later));
        let mut grown = Tokens::default();
        for ((((grown, had), has), made), all) in
            grown.iter_mut().zip(had).zip(has).zip(made).zip(all)
        {
            let most = has.saturating_sub(had);
            *grown = made
                .saturating_add(part(most.saturating_sub(all), share))
                .min(most);
        }
        let mut usage = plus(&then, grown);
        if let Some(cost) = later.cost {
            let had = then.cost.unwrap_or(0.0);
            usage.cost = Some(had + (cost - had).max(0.0) * fraction(share));
        }
        (model.clone(), usage)
    };
    after.iter().map(of_model).collect()
}

/// How prices of tokens are to each other with most models, in units of a twentieth of a token of input.
fn price(tokens: &Tokens) -> u64 {
    let terms = tokens.iter().zip([20, 100, 2, 25, 40]);
    terms.fold(0, |sum, (count, price)| {
        sum.saturating_add(count.saturating_mul(price))
    })
}

fn part(of: u64, (some, all): (u64, u64)) -> u64 {
    let part = u128::from(of) * u128::from(some) / u128::from(all.max(1));
    u64::try_from(part).unwrap_or(of)
}

#[expect(clippy::cast_precision_loss, reason = "a share of money")]
fn fraction((some, all): (u64, u64)) -> f64 {
    some as f64 / all.max(1) as f64
}

fn plus(sum: &Usage, more: Tokens) -> Usage {
    let [input, output, cache_read, short, long] = more;
    let plus = |sum: Option<u64>, more: u64| match (sum, more) {
        (None, 0) => None,
        (sum, more) => Some(sum.unwrap_or(0).saturating_add(more)),
    };
    Usage {
        input: plus(sum.input, input),
        output: plus(sum.output, output),
        cache_read: plus(sum.cache_read, cache_read),
        cache_write: plus(sum.cache_write, short.saturating_add(long)),
        cache_write_1h: plus(sum.cache_write_1h, long),
        ..sum.clone()
    }
}
