//! Entries of one transcript in another one of the same session: the key is the same, the id is not.

use crate::analysis::calls::Place;
use crate::model::entry::EntryId;
use crate::model::transcript::Transcript;

/// The transcript that was shown, and the one that has taken its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup<'t> {
    pub(crate) before: &'t Transcript,
    pub(crate) now: &'t Transcript,
}

impl Lookup<'_> {
    /// The same entry, if it is there.
    pub(crate) fn entry(&self, id: EntryId) -> Option<EntryId> {
        self.now.find(&self.before.get(id)?.key)
    }

    /// The number of the same branch.
    pub(crate) fn branch(&self, number: usize) -> Option<usize> {
        let branches = self.before.branches();
        let head = branches.head(branches.list.get(number.checked_sub(1)?)?)?;
        Some(self.now.branches().of(self.entry(head)?)?.number)
    }

    /// The same block.
    pub(crate) fn block(&self, place: Place) -> Option<Place> {
        Some(Place { entry: self.entry(place.entry)?, ..place })
    }
}
