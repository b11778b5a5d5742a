//! Dependencies of judgements, so that a change costs only the entries that depend on it.
//!
//! Invariant: contains all dependencies of the last judgement of each entry, and none of earlier
//! ones.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::fingerprint::Print;
use crate::model::text::Name;

/// What a judgement may depend on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dependency {
    /// A new turn, or the end of the session.
    Turn,
    Entry(EntryId),
    /// The next answer of the model in a lane, or the next compaction.
    Answer(Option<Name>),
    /// The next entry in a lane.
    Next(Option<Name>),
    /// Another call with an id.
    Call(Key),
    /// A record that is missing.
    Record(Print),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Dependents {
    of: HashMap<EntryId, Box<[Dependency]>>,
    on: BTreeSet<(Dependency, EntryId)>,
}

impl Dependents {
    /// Whether an entry has dependencies.
    pub(super) fn has(&self, id: EntryId) -> bool {
        self.of.contains_key(&id)
    }

    /// Replaces the dependencies of an entry.
    pub(super) fn set(&mut self, id: EntryId, depends_on: BTreeSet<Dependency>) {
        for what in self.of.remove(&id).into_iter().flatten() {
            self.on.remove(&(what, id));
        }
        self.on
            .extend(depends_on.iter().map(|what| (what.clone(), id)));
        if !depends_on.is_empty() {
            self.of.insert(id, depends_on.into_iter().collect());
        }
    }

    /// The entries in a range that depend on `what`.
    pub(super) fn on(
        &self,
        what: Dependency,
        among: Range<EntryId>,
    ) -> impl Iterator<Item = EntryId> {
        let ends = (what.clone(), among.start)..(what, among.end);
        self.on.range(ends).map(|(_, id)| *id)
    }

    /// The missing records, each with an entry that depends on it.
    pub(super) fn records(&self) -> impl Iterator<Item = (Print, EntryId)> {
        // `Record` is the last variant, so they are sorted last.
        self.on.iter().rev().map_while(|(what, id)| match what {
            Dependency::Record(record) => Some((*record, *id)),
            _ => None,
        })
    }
}
