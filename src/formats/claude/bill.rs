//! `cost-state`: what the agent says that the session has cost so far, by model. The last one counts.
//!
//! It has in it what stands in no other record, such as requests for titles, and all that sub-agents spent until then.
//! Requests after it are in none. It names no time: in the session's own file those stand behind it; in the files of
//! sub-agents they are those that are no older than the first answer behind it.
//!
//! Invariant: what is open is the same whichever of the files was read first.

use std::collections::HashMap;

use super::line::Line;
use crate::formats::anthropic::spent::ModelTotals;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit, MetaEdit};
use crate::model::entry::Entry;
use crate::model::tally::Fate;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::{Scope, Usage};

/// What was spent, and what the agent says of it.
#[derive(Debug, Default)]
pub(crate) struct Bill {
    /// The models that the last one named, once there was one.
    models: Option<Vec<Name>>,
    /// What was spent since.
    open: HashMap<Key, Usage>,
    /// The last answer in the session's file.
    last: Option<Key>,
    /// The newest answer in it, …
    newest: Option<Timestamp>,
    /// … and the first one behind the last `cost-state`.
    resumed: Option<Timestamp>,
    /// Requests of sub-agents that may be open, or become so.
    beside: Vec<Request>,
}

/// A request, with those that were made for it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    at: Option<Timestamp>,
    spent: Vec<(Key, Usage, Option<Name>)>,
}

impl Request {
    /// What a part of an answer says that it took; what went out with it are requests that were made for it.
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

impl Bill {
    /// A request, in a file beside the session or in its own. What an answer cost that began before a
    /// `cost-state` is in that.
    pub(crate) fn spend(
        &mut self,
        request: Request,
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
                self.beside.push(request);
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
            self.beside.retain(|beside| beside.at > self.newest);
        }
        if !is_open {
            return;
        }
        self.open(&request, out);
        if self.resumed.is_none() && request.at.is_some() {
            self.resumed = request.at;
            for beside in std::mem::take(&mut self.beside) {
                if self.is_later(&beside) {
                    self.open(&beside, out);
                    self.beside.push(beside);
                }
            }
        }
    }

    /// A `cost-state`.
    pub(crate) fn record(&mut self, line: &Line<'_>, out: &mut Batch) -> Fate {
        let json = line.json;
        let lacks_cost = json.get("hasUnknownModelCost").is_true();
        let totals = ModelTotals::read(
            json.get("modelUsage"),
            json.get("totalCostUSD"),
            lacks_cost,
            out,
        );
        let lacks_cost = lacks_cost && !totals.models.iter().any(|(_, usage)| usage.lacks_cost);
        let rest = totals.rest();
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
                put(
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
            put(
                &of_model(&name),
                Usage {
                    scope: Scope::Total,
                    ..usage
                },
                Some(name),
                out,
            );
        }
        put(
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
            put(
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
        self.beside.retain(|beside| beside.at > newest);
        Fate::Merged
    }

    /// Whether a sub-agent made a request when the session had gone on behind the last `cost-state`.
    fn is_later(&self, request: &Request) -> bool {
        self.resumed
            .is_some_and(|resumed| request.at >= Some(resumed))
    }

    /// Of several records of one request the greatest output counts.
    fn open(&mut self, request: &Request, out: &mut Batch) {
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
            put(
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

fn put(of: &str, usage: Usage, model: Option<Name>, out: &mut Batch) {
    out.usage(Text::clean(of), usage, model);
}
