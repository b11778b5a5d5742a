//! Usage by entries, and usage outside entries.
//!
//! **Each of several joined sessions has its own totals**, because its run totals replace only its
//! own requests. The end of a key tells the session (`ingest::joined::seat`).
//!
//! Invariant: the totals are the sum of the usage of all current entries and of the usage outside
//! entries.

use std::collections::HashMap;

use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::totals::Totals;
use crate::model::usage::Usage;

/// Usage of no entry: of a whole run, of a tool that queried a model, of messages that are gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Aside {
    pub usage: Usage,
    pub(crate) model: Option<Name>,
    /// The last entry recorded before it.
    pub after: Option<EntryId>,
}

/// Usage of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct UsageTable {
    pub(super) totals: Totals,
    /// Totals of each joined session.
    pub(super) sessions: Vec<Totals>,
    /// Usage outside entries.
    pub(super) asides: HashMap<Key, Aside>,
}

impl UsageTable {
    pub(super) fn add(&mut self, entry: &Entry) {
        if let Some(usage) = &entry.usage {
            self.change_totals(&entry.key, |totals| totals.add(usage, entry.model.as_ref()));
        }
    }

    pub(super) fn remove(&mut self, entry: &Entry) {
        if let Some(usage) = &entry.usage {
            self.change_totals(&entry.key, |totals| {
                totals.remove(usage, entry.model.as_ref());
            });
        }
    }

    /// Updates the totals after the usage or the model of an entry changed.
    pub(super) fn change(&mut self, before: &Entry, now: &Entry) {
        if before.usage != now.usage || before.model != now.model {
            self.remove(before);
            self.add(now);
        }
    }

    /// Adds usage outside entries, or replaces that with the same key.
    pub(super) fn add_aside(&mut self, of: Key, aside: Aside) {
        self.change_totals(&of, |totals| totals.add(&aside.usage, aside.model.as_ref()));
        self.remove_aside(&of);
        self.asides.insert(of, aside);
    }

    /// Removes usage outside entries.
    pub(super) fn remove_aside(&mut self, of: &Key) -> Option<Aside> {
        if self.asides.is_empty() {
            return None;
        }
        let aside = self.asides.remove(of)?;
        self.change_totals(of, |totals| {
            totals.remove(&aside.usage, aside.model.as_ref());
        });
        Some(aside)
    }

    /// Number of the joined session of a key; `None` if there is only one session.
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
