//! What may change the judgement of an entry: what comes and changes costs only those who depend on it.
//!
//! Invariant: whoever depends on something is here; what an entry depended on before it was judged again is not.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::fingerprint::Print;
use crate::model::text::Name;

/// What may change a judgement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Dependency {
    /// Another turn, or the end of the session.
    Turn,
    /// An entry that was looked at.
    Entry(EntryId),
    /// The next answer of the model in a lane, or the next compaction.
    Answer(Option<Name>),
    /// The next entry in a lane.
    Next(Option<Name>),
    /// Another call of an id.
    Call(Key),
    /// A record that is missing.
    Record(Print),
}

/// Entries by what they depend on.
#[derive(Clone, Debug, Default)]
pub(super) struct Dependents {
    of: HashMap<EntryId, Box<[Dependency]>>,
    on: BTreeSet<(Dependency, EntryId)>,
}

impl Dependents {
    /// Whether an entry depends on anything.
    pub(super) fn has(&self, id: EntryId) -> bool {
        self.of.contains_key(&id)
    }

    /// Notes what an entry depends on now.
    pub(super) fn note(&mut self, id: EntryId, depends_on: BTreeSet<Dependency>) {
        for what in self.of.remove(&id).into_iter().flatten() {
            self.on.remove(&(what, id));
        }
        self.on
            .extend(depends_on.iter().map(|what| (what.clone(), id)));
        if !depends_on.is_empty() {
            self.of.insert(id, depends_on.into_iter().collect());
        }
    }

    /// Those of some entries that depend on this.
    pub(super) fn on(
        &self,
        what: Dependency,
        among: Range<EntryId>,
    ) -> impl Iterator<Item = EntryId> {
        let ends = (what.clone(), among.start)..(what, among.end);
        self.on.range(ends).map(|(_, id)| *id)
    }

    /// The records that are missing, each with an entry that depends on it.
    pub(super) fn records(&self) -> impl Iterator<Item = (Print, EntryId)> {
        // They are the last of all.
        self.on.iter().rev().map_while(|(what, id)| match what {
            Dependency::Record(record) => Some((*record, *id)),
            _ => None,
        })
    }
}
