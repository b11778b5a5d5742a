//! Usage by the rules of a definition.

use std::collections::HashMap;

use crate::formats::definition::path::Scope;
use crate::formats::definition::rule::{COUNTS, UsageRule};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::text::{Name, Text};
use crate::model::usage::{self, Usage};

/// Sums that agents keep themselves.
#[derive(Default)]
pub(super) struct Counting {
    /// The last sums, by model.
    sums: HashMap<Text, [Option<u64>; COUNTS.len()]>,
}

impl Counting {
    /// The usage of an entry; what is not its own goes out apart.
    pub(super) fn usage(
        &mut self,
        rules: &[UsageRule],
        scope: Scope<'_>,
        key: &Key,
        is_entry: bool,
        out: &mut Batch,
    ) -> Option<Usage> {
        let mut own = None;
        for (number, rule) in rules.iter().enumerate() {
            let is_own = is_entry && own.is_none() && rule.each.is_none() && rule.of.is_none();
            let is_own = is_own && rule.scope == usage::Scope::Request;
            let mut part = 0;
            let mut one = |scope: Scope<'_>| {
                if !rule.when.holds(scope) {
                    return;
                }
                let model = rule.model.as_ref().and_then(|path| path.word(scope));
                let Some(usage) = self.one(rule, scope, model.as_ref()) else { return };
                if is_own {
                    own = Some(usage);
                    return;
                }
                let of = rule.of.as_ref().and_then(|path| path.word(scope));
                let of = of.unwrap_or_else(|| Text::clean(&format!("{key}#{number}.{part}")));
                part += 1;
                let model: Option<Name> = model;
                out.push(Edit::Usage { of, usage: Box::new(usage), model });
            };
            match &rule.each {
                None => one(scope),
                Some(each) => each.elements(scope, &mut one),
            }
        }
        own
    }

    fn one(&mut self, rule: &UsageRule, scope: Scope<'_>, model: Option<&Text>) -> Option<Usage> {
        let mut counts: [Option<u64>; COUNTS.len()] = [None; COUNTS.len()];
        for (count, path) in counts.iter_mut().zip(&rule.counts) {
            let sum = path.as_ref().and_then(|path| path.number(scope));
            *count = sum.and_then(|sum| Json::Number(sum).count());
        }
        let cost = rule.cost.as_ref().and_then(|path| path.number(scope)).filter(|cost| *cost != 0.0);
        if counts.iter().all(Option::is_none) && cost.is_none() {
            return None;
        }
        if rule.cumulative {
            let last = self.sums.insert(model.cloned().unwrap_or_default(), counts).unwrap_or_default();
            // A sum that falls was begun anew.
            let has_fallen = counts.iter().zip(last).any(|(now, last)| *now < last);
            if !has_fallen {
                for (count, last) in counts.iter_mut().zip(last) {
                    *count = count.map(|now| now.saturating_sub(last.unwrap_or(0)));
                }
            }
            if counts.iter().flatten().all(|count| *count == 0) {
                return None;
            }
        }
        let [mut input, mut output, cache_read, cache_write, cache_write_1h, reasoning, searches] = counts;
        if rule.input_includes_cache {
            let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
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
