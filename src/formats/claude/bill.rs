//! `cost-state`: the agent's record of what the session has cost so far, by model. The last one
//! counts.
//!
//! It includes what no other record has, such as requests for titles, and everything that
//! sub-agents spent until then. Requests after it are in none: they are open. It has no timestamp,
//! so open requests are, in the session's own file, those behind it, and in the files of sub-agents
//! those not older than the first answer behind it.
//!
//! Invariant: which requests are open does not depend on the order in which the files are read.

use std::collections::HashMap;

use super::line::TranscriptLine;
use crate::formats::anthropic::spent::ModelTotals;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::Entry;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::{Scope, Usage};

/// The usage that was recorded, and the agent's own totals.
#[derive(Debug, Default)]
pub(crate) struct RecordedUsage {
    /// The models in the last `cost-state`; `None` before the first.
    models: Option<Vec<Name>>,
    /// Usage since the last `cost-state`.
    open: HashMap<Key, Usage>,
    /// The last answer in the session's file.
    last: Option<Key>,
    /// The timestamp of the newest answer in the session's file.
    newest: Option<Timestamp>,
    /// The timestamp of the first answer behind the last `cost-state`.
    resumed: Option<Timestamp>,
    /// Requests of sub-agents that are open or may become so.
    open_requests: Vec<BilledRequest>,
}

/// A request, with those that were made on its behalf.
#[derive(Clone, Debug)]
pub(crate) struct BilledRequest {
    at: Option<Timestamp>,
    spent: Vec<(Key, Usage, Option<Name>)>,
}

impl BilledRequest {
    /// The usage of a part of an answer. The usage edits in `made` are requests that were made on
    /// its behalf.
    pub(crate) fn of(entry: &Entry, made: &[Edit]) -> Self {
        let own = entry
            .usage
            .as_deref()
            .map(|usage| (entry.key.clone(), usage.clone(), entry.model.clone()));
        let others = made.iter().filter_map(|edit| match edit {
            Edit::Usage { of, usage, model } => {
                Some((of.clone(), (**usage).clone(), model.clone()))
            }
            _ => None,
        });
        Self {
            at: entry.at,
            spent: own.into_iter().chain(others).collect(),
        }
    }
}

impl RecordedUsage {
    /// Adds a request, from the file of a sub-agent or the session's own. An answer that began
    /// before a `cost-state` is included in it.
    pub(crate) fn add(
        &mut self,
        request: BilledRequest,
        (is_beside, is_new): (bool, bool),
        out: &mut Batch,
    ) {
        if request.spent.is_empty() {
            return;
        }
        if is_beside {
            if self.is_later(&request) {
                self.open(&request, out);
            }
            if request.at > self.newest || self.models.is_some() {
                self.open_requests.push(request);
            }
            return;
        }
        self.last = request.spent.first().map(|(of, ..)| of.clone());
        let is_open = self.models.is_some()
            && (is_new
                || request
                    .spent
                    .iter()
                    .any(|(of, ..)| self.open.contains_key(of)));
        self.newest = self.newest.max(request.at);
        if self.models.is_none() {
            self.open_requests.retain(|beside| beside.at > self.newest);
        }
        if !is_open {
            return;
        }
        self.open(&request, out);
        if self.resumed.is_none() && request.at.is_some() {
            self.resumed = request.at;
            for beside in std::mem::take(&mut self.open_requests) {
                if self.is_later(&beside) {
                    self.open(&beside, out);
                    self.open_requests.push(beside);
                }
            }
        }
    }

    /// Decodes a `cost-state`.
    pub(crate) fn record(&mut self, line: &TranscriptLine<'_>, out: &mut Batch) -> Fate {
        let json = line.json;
        let lacks_cost = json.get("hasUnknownModelCost").is_true();
        let totals = ModelTotals::read(
            json.get("modelUsage"),
            json.get("totalCostUSD"),
            lacks_cost,
            out,
        );
        let lacks_cost = lacks_cost && !totals.models.iter().any(|(_, usage)| usage.lacks_cost);
        let rest = totals.unattributed_cost();
        if let Some(after) = self.last.clone() {
            let rest = rest.map(|cost| {
                (
                    Name::default(),
                    Usage {
                        cost: Some(cost),
                        ..Usage::default()
                    },
                )
            });
            let sums = totals.models.iter().cloned().chain(rest).collect();
            out.meta(MetaEdit::SumSoFar { after, sums });
        }
        let names = totals.models.iter().map(|(name, _)| name.clone()).collect();
        for gone in self.models.replace(names).unwrap_or_default() {
            if !totals.models.iter().any(|(name, _)| *name == gone) {
                emit_usage(
                    &of_model(&gone),
                    Usage {
                        scope: Scope::Total,
                        ..Usage::default()
                    },
                    None,
                    out,
                );
            }
        }
        for (name, usage) in totals.models {
            emit_usage(
                &of_model(&name),
                Usage {
                    scope: Scope::Total,
                    ..usage
                },
                Some(name),
                out,
            );
        }
        emit_usage(
            "cost-state",
            Usage {
                scope: Scope::Fallback,
                cost: rest,
                lacks_cost,
                ..Usage::default()
            },
            None,
            out,
        );
        for (of, _) in self.open.drain() {
            emit_usage(
                &open(&of),
                Usage {
                    scope: Scope::Open,
                    ..Usage::default()
                },
                None,
                out,
            );
        }
        self.resumed = None;
        let newest = self.newest;
        self.open_requests.retain(|beside| beside.at > newest);
        Fate::Merged
    }

    /// Whether a sub-agent made a request after the session resumed behind the last `cost-state`.
    fn is_later(&self, request: &BilledRequest) -> bool {
        self.resumed
            .is_some_and(|resumed| request.at >= Some(resumed))
    }

    /// Adds an open request. Of several records of one request that with the most output tokens
    /// counts.
    fn open(&mut self, request: &BilledRequest, out: &mut Batch) {
        let rank = |usage: &Usage| (usage.output, !usage.is_partial);
        for (of, usage, model) in &request.spent {
            if self
                .open
                .get(of)
                .is_some_and(|known| rank(known) >= rank(usage))
            {
                continue;
            }
            self.open.insert(of.clone(), usage.clone());
            emit_usage(
                &open(of),
                Usage {
                    scope: Scope::Open,
                    ..usage.clone()
                },
                model.clone(),
                out,
            );
        }
    }
}

fn of_model(name: &Name) -> String {
    format!("cost-state:{name}")
}

fn open(of: &Key) -> String {
    format!("{of}:open")
}

fn emit_usage(of: &str, usage: Usage, model: Option<Name>, out: &mut Batch) {
    out.usage(Text::clean(of), usage, model);
}
