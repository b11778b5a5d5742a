//! Estimates the usage of a session at a time between two recorded totals.
//!
//! Invariant: the estimate is no less than the total recorded before, and no more than that
//! recorded after, if there is one.

use std::collections::HashSet;
use std::hash::Hash;

use super::Tokens;
use crate::model::text::Name;
use crate::model::usage::Usage;

/// Usage by model; usage of no model has an empty name.
pub(crate) type UsageByModel = [(Name, Usage)];

/// Requests of a session, and the totals that it recorded.
pub(crate) struct RequestLog<'s, R> {
    /// Requests in order, each with its model and tokens.
    pub(crate) requests: Vec<(R, &'s Name, Tokens)>,
    /// Recorded totals, each with the number of requests before it.
    pub(crate) sums: Vec<(usize, &'s UsageByModel)>,
}

/// A request between two totals.
struct RequestStep<'s> {
    model: &'s Name,
    tokens: Tokens,
    /// Whether it was made before the time of the estimate.
    is_before: bool,
}

/// Tokens of a usage record by price.
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

/// Number of requests that a session had made when it was forked, and its estimated usage then,
/// which is at most that of every later total of the session or the fork.
pub(crate) fn usage_at_fork<R: Copy + Eq + Hash>(
    own: &RequestLog<'_, R>,
    fork: &RequestLog<'_, R>,
) -> Option<(usize, Vec<(Name, Usage)>)> {
    let requests =
        |of: &RequestLog<'_, R>| of.requests.iter().map(|one| one.0).collect::<HashSet<R>>();
    let [own_requests, forked] = [requests(own), requests(fork)];
    let is_forked = |one: &(R, &Name, Tokens)| forked.contains(&one.0);
    let made = 1 + own.requests.iter().rposition(is_forked)?;
    let before = own.sums.iter().rfind(|(number, _)| *number <= made);
    let (begin, before) = before.map_or((0, None), |(number, sums)| (*number, Some(*sums)));
    let mut recorded: Vec<Vec<(Name, Usage)>> = Vec::new();
    if let Some((end, after)) = own.sums.iter().find(|(number, _)| *number > made) {
        let steps = own.requests.iter().enumerate().take(*end).skip(begin);
        let steps = steps.map(|(number, (_, model, tokens))| RequestStep {
            model,
            tokens: *tokens,
            is_before: number < made,
        });
        recorded.push(between(before, after, &steps.collect::<Vec<_>>()));
    }
    // The requests common to both, and those of the fork, are in the fork's totals.
    let known = own.requests.get(..begin).unwrap_or_default();
    let known: HashSet<R> = known.iter().map(|one| one.0).collect();
    let is_own = |one: &(R, &Name, Tokens)| own_requests.contains(&one.0);
    let last = fork.requests.iter().rposition(is_own)?;
    if let Some((end, after)) = fork.sums.iter().find(|(number, _)| *number > last) {
        let steps = fork.requests.iter().take(*end);
        let steps = steps
            .filter(|one| !known.contains(&one.0))
            .map(|(request, model, tokens)| RequestStep {
                model,
                tokens: *tokens,
                is_before: own_requests.contains(request),
            });
        recorded.push(between(before, after, &steps.collect::<Vec<_>>()));
    }
    let recorded = recorded.into_iter().reduce(least);
    let sums = recorded.or_else(|| before.map(<[_]>::to_vec))?;
    Some((made, sums))
}

/// The minimum of two sums, for models in both.
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

/// Estimated usage after the steps before the time. Usage without requests, as of helpers, is split
/// in proportion to the price of the requests.
fn between(
    before: Option<&UsageByModel>,
    after: &UsageByModel,
    steps: &[RequestStep<'_>],
) -> Vec<(Name, Usage)> {
    let before = before.unwrap_or_default();
    let sum = |model: Option<&Name>, all: bool| {
        let mut sum = Tokens::default();
        let steps = steps.iter().filter(|step| all || step.is_before);
        for step in steps.filter(|step| model.is_none_or(|model| step.model == model)) {
            sum.iter_mut()
                .zip(step.tokens)
                .for_each(|(sum, term)| *sum = sum.saturating_add(term));
        }
        sum
    };
    let of_model = |(model, later): &(Name, Usage)| {
        let [made, all] = [sum(Some(model), false), sum(Some(model), true)];
        let share = match price(&all) {
            // The time of usage is unknown for a model without requests here.
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

/// Typical relative prices of tokens, in twentieths of an input token.
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
