//! Counts usage by the rules of a definition, and turns cumulative sums into increments.

use std::collections::{HashMap, HashSet};

use super::ProgramRuns;
use super::so_far::SoFar;
use crate::formats::definition::path::PathScope;
use crate::formats::definition::rule::{COUNTS, UsageRule};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text, text};
use crate::model::usage::{self, Usage};

/// The state of usage that agents record as sums.
#[derive(Default)]
pub(super) struct UsageCounter {
    /// The last cumulative sums, by model.
    sums: HashMap<Text, CumulativeSums>,
    /// Entries whose usage was emitted separately because of a condition, which a row may no longer
    /// fulfil when it is read again.
    emitted: HashSet<Key>,
    /// The total of the session's own requests.
    own: RequestSum,
    /// The total of the session's run, if it is recorded.
    run: Option<RequestSum>,
    /// Sums of the session so far.
    pub(super) so_far: SoFar,
}

/// The owner of recorded usage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UsageOwner {
    Session,
    /// A sub-agent in the session's file.
    Lane,
    /// A sub-agent in a file of its own.
    Companion,
    /// The session, recorded in a small file or a database beside it.
    Beside,
}

/// A total of tokens and cost in USD.
#[derive(Clone, Copy, Default)]
struct RequestSum {
    tokens: u64,
    cost: f64,
}

impl RequestSum {
    fn add(&mut self, usage: &Usage) {
        let Usage {
            input,
            cache_read,
            cache_write,
            output,
            cost,
            ..
        } = usage;
        for count in [input, cache_read, cache_write, output]
            .into_iter()
            .flatten()
        {
            self.tokens = self.tokens.saturating_add(*count);
        }
        self.cost += cost.unwrap_or(0.0);
    }
}

/// Tolerance in USD, since agents add up costs in floating point.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Copy, Default)]
struct CumulativeSums {
    counts: TokenCounts,
    cost: Option<f64>,
}

type TokenCounts = [Option<u64>; COUNTS.len()];

impl CumulativeSums {
    /// Sets new sums and returns the increments. Missing fields keep their sums.
    fn grow(&mut self, mut now: Self) -> Self {
        let sums = now;
        let has_fallen = |(now, last): (Option<u64>, Option<u64>)| {
            now.zip(last).is_some_and(|(now, last)| now < last)
        };
        // A sum that has fallen was restarted from zero.
        if now.counts.into_iter().zip(self.counts).any(has_fallen)
            || now
                .cost
                .zip(self.cost)
                .is_some_and(|(now, last)| now < last)
        {
            *self = sums;
            return now;
        }
        for (now, last) in now.counts.iter_mut().zip(&mut self.counts) {
            let grown = now.map(|now| now.saturating_sub(last.unwrap_or(0)));
            *last = now.or(*last);
            *now = grown;
        }
        now.cost = now
            .cost
            .map(|now| now - self.cost.unwrap_or(0.0))
            .filter(|cost| *cost != 0.0);
        self.cost = sums.cost.or(self.cost);
        now
    }
}

impl UsageCounter {
    pub(super) fn reset(&mut self) {
        self.sums.clear();
    }

    /// Returns the usage of an entry, and emits the usage of others separately. Usage that names no
    /// model gets the session's.
    pub(super) fn usage(
        &mut self,
        rules: &[UsageRule],
        (scope, runs): (PathScope<'_>, &ProgramRuns),
        (key, is_entry): (&Key, bool),
        (whose, of_session): (UsageOwner, Option<Name>),
        out: &mut Batch,
    ) -> Option<Usage> {
        let mut own = None;
        for (number, rule) in rules.iter().enumerate() {
            let is_own = is_entry && own.is_none() && !rule.each.is_given() && !rule.of.is_given();
            let is_own = is_own && rule.scope == usage::Scope::Request;
            let mut part = 0;
            let mut sums = Vec::new();
            let of_rule = |part: usize| text!("{key}#{number}.{part}");
            let mut one = |scope: PathScope<'_>| {
                let holds = rule.when.holds(scope);
                if !holds && self.emitted.remove(&of_rule(part)) {
                    let nothing = Box::new(Usage {
                        scope: rule.scope,
                        ..Usage::default()
                    });
                    out.usage(of_rule(part), nothing, None);
                }
                if !holds {
                    return;
                }
                let model = rule.model.word(scope);
                let usage = self.one(rule, scope, model.as_ref());
                let Some(usage) = usage.and_then(|usage| self.deduplicate(usage, rule, whose))
                else {
                    return;
                };
                if is_own {
                    own = Some(usage);
                    return;
                }
                if rule.so_far {
                    return sums.push((usage, model));
                }
                let of = runs.id(&rule.of, scope);
                let of = of.unwrap_or_else(|| of_rule(part));
                if !rule.each.is_given() && !rule.when.is_empty() {
                    self.emitted.insert(of.clone());
                }
                part += 1;
                let model = model.or_else(|| of_session.clone());
                out.usage(of, usage, model);
            };
            rule.each.elements(scope, &mut one);
            match whose {
                UsageOwner::Beside => self.so_far.set_database_sums(sums, out),
                _ => self.so_far.set_sums(sums, out),
            }
        }
        own
    }

    /// Drops usage that is already counted. A session's sum includes its sub-agents if it exceeds
    /// the total of the session's own requests before it; then the sums in the sub-agents' own
    /// files are dropped. They are also dropped if the session has no sum, since then requests are
    /// added up.
    fn deduplicate(
        &mut self,
        mut usage: Usage,
        rule: &UsageRule,
        whose: UsageOwner,
    ) -> Option<Usage> {
        match (whose, rule.scope) {
            (UsageOwner::Session, usage::Scope::Request) => self.own.add(&usage),
            (UsageOwner::Session, usage::Scope::Run) if !rule.each.is_given() => {
                self.run.get_or_insert_default().add(&usage);
            }
            (UsageOwner::Companion, usage::Scope::Run) => {
                let run = self.run?;
                let has_tokens = run.tokens > self.own.tokens;
                if has_tokens {
                    usage = Usage {
                        scope: usage.scope,
                        cost: usage.cost,
                        ..Usage::default()
                    };
                }
                if run.cost > self.own.cost + ROUNDING {
                    usage.cost = None;
                }
                if has_tokens && usage.cost.is_none() {
                    return None;
                }
            }
            _ => {}
        }
        Some(usage)
    }

    fn one(
        &mut self,
        rule: &UsageRule,
        scope: PathScope<'_>,
        model: Option<&Text>,
    ) -> Option<Usage> {
        let mut counts = TokenCounts::default();
        for (count, path) in counts.iter_mut().zip(&rule.counts) {
            let sum = path.number(scope);
            *count = sum.and_then(|sum| Json::Number(sum).count());
        }
        let mut cost = rule.cost.number(scope).filter(|cost| *cost != 0.0);
        if counts.iter().all(Option::is_none) && cost.is_none() {
            return None;
        }
        if rule.cumulative {
            let sums = self
                .sums
                .entry(model.cloned().unwrap_or_default())
                .or_default();
            CumulativeSums { counts, cost } = sums.grow(CumulativeSums { counts, cost });
            if counts.iter().flatten().all(|count| *count == 0) && cost.is_none() {
                return None;
            }
        }
        let [
            mut input,
            mut output,
            cache_read,
            cache_write,
            cache_write_1h,
            reasoning,
            searches,
        ] = counts;
        if rule.input_includes_cache {
            let cached = cache_read
                .unwrap_or(0)
                .saturating_add(cache_write.unwrap_or(0));
            input = input.map(|input| input.saturating_sub(cached));
        }
        if !rule.output_includes_reasoning && reasoning.is_some() {
            output = Some(output.unwrap_or(0).saturating_add(reasoning.unwrap_or(0)));
        }
        Some(Usage {
            scope: rule.scope,
            input,
            output,
            cache_read,
            cache_write,
            cache_write_1h,
            reasoning,
            searches,
            cost,
            ..Usage::default()
        })
    }
}
