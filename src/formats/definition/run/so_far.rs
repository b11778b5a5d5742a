//! Sums of a session's usage so far, which some agents record from time to time.
//!
//! The last sum counts, and requests after it are added. A sum of the cost alone counts only until
//! there is a sum by model. A file may hold several sessions, some of them without sums, and some
//! agents reset their sums when they rewind. If a database beside the session also has a sum, the
//! larger one counts.

use std::collections::{BTreeMap, HashSet};

use crate::model::body::Key;
use crate::model::edit::Batch;
use crate::model::text::{Name, Text, text};
use crate::model::usage::{Scope, Usage};

/// The usage so far, of all sessions of the file.
#[derive(Default)]
pub(super) struct SoFar {
    /// The id of the current session, once it is recorded.
    session: Option<Text>,
    /// How many times the sums were reset.
    number: u32,
    has_sums: bool,
    /// Requests that a sum already includes.
    summed_requests: HashSet<Key>,
    /// Requests that no sum includes yet, with the `number` of the sums that may include them.
    open: BTreeMap<Key, (u32, Spending)>,
    own: BTreeMap<Key, Spending>,
    /// The sums in a database beside the session, by model.
    database_sums: BTreeMap<Key, Spending>,
    sent: BTreeMap<Key, Spending>,
}

/// Usage with its model.
type Spending = (Usage, Option<Name>);

impl SoFar {
    /// Sets the session of the current record. A change of session resets the sums.
    pub(super) fn set_session(&mut self, id: &Text) {
        let known = self.session.replace(id.clone());
        if known.is_some_and(|known| known != *id) {
            self.reset();
        }
    }

    /// Resets the sums: later ones do not include the usage so far.
    pub(super) fn reset(&mut self) {
        self.number += 1;
    }

    pub(super) fn add_request(
        &mut self,
        key: &Key,
        usage: &Usage,
        model: Option<&Name>,
        out: &mut Batch,
    ) {
        if self.summed_requests.contains(key) {
            return;
        }
        let spending = (
            Usage {
                scope: Scope::Open,
                ..usage.clone()
            },
            model.cloned(),
        );
        let number = self
            .open
            .get(key)
            .map_or(self.number, |(number, _)| *number);
        self.open.insert(key.clone(), (number, spending));
        if self.has_sums {
            self.publish(out);
        }
    }

    /// Sets the sums by model, or a sum of the cost alone.
    pub(super) fn set_sums(&mut self, sums: Vec<Spending>, out: &mut Batch) {
        let Some(scope) = sums.first().map(|(usage, _)| usage.scope) else {
            return;
        };
        if scope == Scope::Run && self.have_fallen(&sums) {
            let (now, next) = (self.number, self.number + 1);
            self.open
                .values_mut()
                .filter(|(of, _)| *of == now)
                .for_each(|(of, _)| *of = next);
            self.reset();
        }
        let of_now = of_number(self.number);
        let is_of_now = |key: &Key| key.starts_with(&of_now);
        if scope == Scope::Fallback
            && self
                .own
                .iter()
                .any(|(key, (usage, _))| is_of_now(key) && usage.scope == Scope::Run)
        {
            return;
        }
        self.own.retain(|key, _| !is_of_now(key));
        add(&mut self.own, &of_now, sums);
        self.has_sums = true;
        let number = self.number;
        self.summed_requests.extend(
            self.open
                .iter()
                .filter(|(_, (of, _))| *of == number)
                .map(|(key, _)| key.clone()),
        );
        self.open.retain(|_, (of, _)| *of != number);
        self.publish(out);
    }

    pub(super) fn set_database_sums(&mut self, sums: Vec<Spending>, out: &mut Batch) {
        self.database_sums.clear();
        add(&mut self.database_sums, "beside/", sums);
        self.publish(out);
    }

    /// Whether sums have fallen, because some versions count each run of the program separately.
    fn have_fallen(&self, sums: &[Spending]) -> bool {
        let of_now = of_number(self.number);
        let mut new = BTreeMap::new();
        add(&mut new, &of_now, sums.to_vec());
        let total =
            |of: &BTreeMap<Key, Spending>, key| of.get(key).map_or(0, |(usage, _)| usage.total());
        let last = self
            .own
            .iter()
            .filter(|(key, (usage, _))| key.starts_with(&of_now) && usage.scope == Scope::Run);
        last.map(|(key, _)| key)
            .any(|key| total(&new, key) < total(&self.own, key))
    }

    fn publish(&mut self, out: &mut Batch) {
        let tokens = |spent: &BTreeMap<Key, Spending>| -> u64 {
            spent.values().map(|(usage, _)| usage.total()).sum()
        };
        let mut wanted = self.own.clone();
        if self.has_sums {
            let open = |(key, (_, spending)): (&Key, &(u32, Spending))| {
                (text!("{key}#open"), spending.clone())
            };
            let open: Vec<_> = self.open.iter().map(open).collect();
            wanted.extend(open);
        }
        if !self.database_sums.is_empty() && tokens(&self.database_sums) >= tokens(&wanted) {
            wanted = self.database_sums.clone();
        }
        for (of, (usage, _)) in &self.sent {
            if !wanted.contains_key(of) {
                let usage = Usage {
                    scope: usage.scope,
                    ..Usage::default()
                };
                out.usage(of.clone(), usage, None);
            }
        }
        for (of, spending) in &wanted {
            if self.sent.get(of) != Some(spending) {
                let (usage, model) = spending.clone();
                out.usage(of.clone(), usage, model);
            }
        }
        self.sent = wanted;
    }
}

/// The key prefix of sums with this number.
fn of_number(number: u32) -> String {
    format!("so far/{number}/")
}

/// Adds usage by model.
fn add(spent: &mut BTreeMap<Key, Spending>, of: &str, sums: Vec<Spending>) {
    for (usage, model) in sums {
        let key = text!("{of}{}", model.as_deref().unwrap_or_default());
        match spent.get_mut(&key) {
            Some((known, _)) => join(known, &usage),
            None => {
                spent.insert(key, (usage, model));
            }
        }
    }
}

fn join(sum: &mut Usage, other: &Usage) {
    let count = |one: &mut Option<u64>, two: Option<u64>| {
        *one = one.map_or(two, |one| Some(one.saturating_add(two.unwrap_or(0))));
    };
    count(&mut sum.input, other.input);
    count(&mut sum.output, other.output);
    count(&mut sum.cache_read, other.cache_read);
    count(&mut sum.cache_write, other.cache_write);
    count(&mut sum.cache_write_1h, other.cache_write_1h);
    count(&mut sum.reasoning, other.reasoning);
    count(&mut sum.searches, other.searches);
    sum.cost = sum
        .cost
        .map_or(other.cost, |one| Some(one + other.cost.unwrap_or(0.0)));
}
