//! Finds entries of one transcript in another one of the same session: keys are the same, ids may
//! differ.

use std::collections::HashSet;

use super::Place;
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;

/// The transcript that was shown, and the one that replaced it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup<'t> {
    pub(crate) before: &'t Transcript,
    pub(crate) now: &'t Transcript,
}

impl Lookup<'_> {
    /// The same entry; `None` if it is missing.
    pub(crate) fn entry(&self, id: EntryId) -> Option<EntryId> {
        self.now.find(&self.before.get(id)?.key)
    }

    /// The same entries, without missing ones.
    pub(crate) fn entries<'i, C>(&self, ids: &'i C) -> C
    where
        C: FromIterator<EntryId>,
        &'i C: IntoIterator<Item = &'i EntryId>,
    {
        ids.into_iter().filter_map(|id| self.entry(*id)).collect()
    }

    /// The number of the same branch.
    pub(crate) fn branch(&self, number: usize) -> Option<usize> {
        let branches = self.before.branches();
        let head = branches.head(branches.list.get(number.checked_sub(1)?)?)?;
        Some(self.now.branches().of(self.entry(head)?)?.number)
    }

    /// The same block in the other transcript; `None` if its entry is gone.
    pub(crate) fn block(&self, place: Place) -> Option<Place> {
        Some(Place {
            entry: self.entry(place.entry)?,
            ..place
        })
    }

    /// The same blocks, without those of missing entries.
    pub(crate) fn blocks(&self, places: &HashSet<Place>) -> HashSet<Place> {
        places
            .iter()
            .filter_map(|place| self.block(*place))
            .collect()
    }
}
