//! Usage of the messages of a run, compared with the totals in its result.
//!
//! One process may serve several turns. Then each of its results counts everything since the
//! process began, although `usage` counts only the turn; results of separate processes begin at
//! zero. Files contain both, and no line tells them apart: a result continues the one before it if
//! its counts are, for every model, at least those of that one, and in sum at least those plus the
//! turn's.

use std::collections::HashMap;

use crate::formats::anthropic::spent::{self, ModelTotals};
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::figures;
use crate::model::text::{Name, Text, text};
use crate::model::usage::{Scope, Usage};

/// The totals of one process so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count {
    /// The key of its edits: a later result of the process replaces the earlier ones.
    pub(crate) key: Key,
    session: Option<Text>,
    /// Totals by model, and the total cost.
    pub(crate) totals: ModelTotals,
}

/// Usage of the messages since the last result.
#[derive(Debug, Default)]
pub struct StreamSums {
    messages: HashMap<Key, Usage>,
    last: Option<Count>,
    is_after_result: bool,
}

impl StreamSums {
    /// Adds the usage of a message. Its lines repeat the usage; the one with the most output tokens
    /// counts. After a result it is open until the next result.
    pub(crate) fn add(&mut self, of: Key, usage: Usage, model: Option<Name>, out: &mut Batch) {
        let open = open(&of);
        let known = self.messages.entry(of).or_default();
        if known.is_zero() || usage.output > known.output {
            *known = usage.clone();
            if self.is_after_result {
                let usage = Box::new(Usage {
                    scope: Scope::Open,
                    is_partial: true,
                    ..usage
                });
                out.usage(open, usage, model);
            }
        }
    }

    /// Closes a turn at its result. Returns the totals of the process so far, and a text if they
    /// differ from the sum of the turn's messages.
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
        let before = self.last.take().filter(|last| count.continues(last, &turn));
        let (counted, before_sum) = (
            sum(count.totals.models.iter().map(|(_, usage)| usage)),
            before.as_ref(),
        );
        let before_sum =
            before_sum.map(|last| sum(last.totals.models.iter().map(|(_, usage)| usage)));
        let of_messages = sum(self.messages.values());
        let was_open = self.is_after_result;
        for of in self.messages.drain().map(|(of, _)| of).filter(|_| was_open) {
            let usage = Box::new(Usage {
                scope: Scope::Open,
                ..Usage::default()
            });
            out.usage(open(&of), usage, None);
        }
        self.is_after_result = true;
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
    fn continues(&self, last: &Self, turn: &Usage) -> bool {
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

/// The key of the open usage of a message.
fn open(message: &Key) -> Key {
    text!("{message}:open")
}

/// Sums prompt and output tokens.
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
    text!(
        "the run counts {}; its messages add up to {}",
        words(counted),
        words(of_messages)
    )
}
