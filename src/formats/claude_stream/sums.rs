//! What the messages of a run add up to, and what its result counts.
//!
//! One process may serve several turns. Then each of its results counts everything since the process
//! began, though `usage` counts the turn alone; results of processes of their own begin at zero. Files
//! hold both, and no line says which: a result goes on from the one before it if it counts, for every
//! model, at least as much as that one, and at least what the turn adds to it.

use std::collections::HashMap;

use crate::formats::anthropic::spent::{self, ModelTotals};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::figures;
use crate::model::text::{Name, Text};
use crate::model::usage::{Scope, Usage};

/// What the results of one process have counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count {
    /// Names its edits: a later result of the process takes the place of the earlier ones.
    pub(crate) key: Key,
    session: Option<Text>,
    /// By model, and in all.
    pub(crate) totals: ModelTotals,
}

/// Usage of the messages since the last result.
#[derive(Debug, Default)]
pub struct Sums {
    messages: HashMap<Key, Usage>,
    last: Option<Count>,
    is_behind_a_result: bool,
}

impl Sums {
    /// A message cost this. Its lines repeat its usage; the greatest output counts. Behind a result nothing else counts
    /// it until the next one comes.
    pub(crate) fn spend(&mut self, of: Key, usage: Usage, model: Option<Name>, out: &mut Batch) {
        let open = open(&of);
        let known = self.messages.entry(of).or_default();
        if known.is_zero() || usage.output > known.output {
            *known = usage.clone();
            if self.is_behind_a_result {
                let usage = Box::new(Usage {
                    scope: Scope::Open,
                    is_partial: true,
                    ..usage
                });
                out.usage(open, usage, model);
            }
        }
    }

    /// A result ends a turn. Gives what its process has counted so far, and a sentence if the messages
    /// of the turn add up to something else.
    pub(crate) fn close(
        &mut self,
        line: &Json<'_>,
        key: &Key,
        out: &mut Batch,
    ) -> (Count, Option<Text>) {
        let turn = spent::usage(line.get("usage"), out).unwrap_or_default();
        let mut count = Count {
            key: key.clone(),
            session: line.get("session_id").text(),
            totals: ModelTotals::read(
                line.get("modelUsage"),
                line.get("total_cost_usd"),
                false,
                out,
            ),
        };
        let before = self
            .last
            .take()
            .filter(|last| count.goes_on_from(last, &turn));
        let (counted, before_sum) = (
            sum(count.totals.models.iter().map(|(_, usage)| usage)),
            before.as_ref(),
        );
        let before_sum =
            before_sum.map(|last| sum(last.totals.models.iter().map(|(_, usage)| usage)));
        let of_messages = sum(self.messages.values());
        let was_open = self.is_behind_a_result;
        for of in self.messages.drain().map(|(of, _)| of).filter(|_| was_open) {
            let usage = Box::new(Usage {
                scope: Scope::Open,
                ..Usage::default()
            });
            out.usage(open(&of), usage, None);
        }
        self.is_behind_a_result = true;
        if let Some(last) = before {
            count.key = last.key;
        }
        let of_turn = before_sum.map_or(counted, |(prompt, output)| {
            (counted.0 - prompt, counted.1 - output)
        });
        let differs = !count.totals.models.is_empty() && of_messages != of_turn;
        self.last = Some(count.clone());
        (count, differs.then(|| difference(of_messages, of_turn)))
    }
}

impl Count {
    fn goes_on_from(&self, last: &Self, turn: &Usage) -> bool {
        let covers = |(name, then): &(Name, Usage)| {
            self.totals.models.iter().any(|(other, now)| {
                let parts = |usage: &Usage| {
                    [
                        usage.input,
                        usage.cache_read,
                        usage.cache_write,
                        usage.output,
                    ]
                };
                other == name
                    && parts(now)
                        .iter()
                        .zip(parts(then))
                        .all(|(now, then)| *now >= then)
            })
        };
        let [now, then] =
            [self, last].map(|count| sum(count.totals.models.iter().map(|(_, usage)| usage)));
        let has_room = |now: u64, then: u64, turn: u64| now >= then.saturating_add(turn);
        !last.totals.models.is_empty()
            && self.session == last.session
            && self.totals.total >= last.totals.total
            && last.totals.models.iter().all(covers)
            && has_room(now.0, then.0, turn.prompt())
            && has_room(now.1, then.1, turn.output.unwrap_or(0))
    }
}

/// What names the usage of a message of a run that has not ended.
fn open(message: &Key) -> Key {
    Text::clean(&format!("{message}:open"))
}

/// Tokens of prompts, and of answers.
fn sum<'u>(usages: impl Iterator<Item = &'u Usage>) -> (u64, u64) {
    usages.fold((0, 0), |(prompt, output), usage| {
        (
            prompt.saturating_add(usage.prompt()),
            output.saturating_add(usage.output.unwrap_or(0)),
        )
    })
}

fn difference(of_messages: (u64, u64), counted: (u64, u64)) -> Text {
    let words = |(prompt, output)| {
        format!(
            "{} in, {} out",
            figures::tokens(prompt),
            figures::tokens(output)
        )
    };
    Text::clean(&format!(
        "the run counts {}; its messages add up to {}",
        words(counted),
        words(of_messages)
    ))
}
