//! What was spent: by the entries, and beside them.
//!
//! **Each of several sessions that are read as one has totals of its own**: what its runs sum up stands for its own
//! requests only. Which of them spent something is told by the end of its key (`ingest::joined::seat`).
//!
//! Invariant: the totals are the sum of the usage of all entries that are there and of what is recorded beside them.

use std::collections::HashMap;

use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::totals::Totals;
use crate::model::usage::Usage;

/// Usage that no entry carries: of a whole run, of a tool that asked a model, of messages that are gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Aside {
    /// What was spent.
    pub usage: Usage,
    /// On which model.
    pub(crate) model: Option<Name>,
    /// The last entry that was recorded before it.
    pub after: Option<EntryId>,
}

/// The accounts of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// All that was spent.
    pub(super) totals: Totals,
    /// The same for each of several sessions that are read as one.
    pub(super) sessions: Vec<Totals>,
    /// What was recorded beside the entries.
    pub(super) asides: HashMap<Key, Aside>,
}

impl Ledger {
    /// Counts what an entry spent.
    pub(super) fn add(&mut self, entry: &Entry) {
        if let Some(usage) = &entry.usage {
            self.change_totals(&entry.key, |totals| totals.add(usage, entry.model.as_ref()));
        }
    }

    /// Takes back what an entry spent.
    pub(super) fn remove(&mut self, entry: &Entry) {
        if let Some(usage) = &entry.usage {
            self.change_totals(&entry.key, |totals| {
                totals.remove(usage, entry.model.as_ref());
            });
        }
    }

    /// The usage of an entry may be another one now, or of another model.
    pub(super) fn change(&mut self, before: &Entry, now: &Entry) {
        if before.usage != now.usage || before.model != now.model {
            self.remove(before);
            self.add(now);
        }
    }

    /// Counts usage beside the entries, in place of what was recorded under this key before.
    pub(super) fn add_aside(&mut self, of: Key, aside: Aside) {
        self.change_totals(&of, |totals| totals.add(&aside.usage, aside.model.as_ref()));
        self.take_aside(&of);
        self.asides.insert(of, aside);
    }

    /// Takes usage back that was recorded beside the entries.
    pub(super) fn take_aside(&mut self, of: &Key) -> Option<Aside> {
        let aside = self.asides.remove(of)?;
        self.change_totals(of, |totals| {
            totals.remove(&aside.usage, aside.model.as_ref());
        });
        Some(aside)
    }

    /// Which of several sessions has this key; none if there is only one.
    pub(super) fn session_of(&self, key: &Key) -> Option<usize> {
        let number = key
            .rsplit_once('~')
            .and_then(|(_, number)| number.parse::<usize>().ok()?.checked_sub(1));
        (!self.sessions.is_empty()).then_some(
            number
                .filter(|number| *number < self.sessions.len())
                .unwrap_or(0),
        )
    }

    fn change_totals(&mut self, key: &Key, change: impl Fn(&mut Totals)) {
        change(&mut self.totals);
        let session = self
            .session_of(key)
            .and_then(|session| self.sessions.get_mut(session));
        session.into_iter().for_each(change);
    }
}
