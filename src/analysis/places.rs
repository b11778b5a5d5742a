//! Where each entry stands among those of its lane, for indexes that keep a list for each lane.

use crate::model::entry::EntryId;

/// By the number of the entry: the number of the list, and the place in it.
#[derive(Clone, Debug, Default)]
pub struct Places(Vec<(u32, u32)>);

const NOWHERE: (u32, u32) = (u32::MAX, u32::MAX);

impl Places {
    /// Notes where an entry stands.
    pub fn insert(&mut self, id: EntryId, list: usize, place: usize) {
        let (Ok(list), Ok(place)) = (u32::try_from(list), u32::try_from(place)) else { return };
        if self.0.len() <= id.index() {
            self.0.resize(id.index() + 1, NOWHERE);
        }
        if let Some(known) = self.0.get_mut(id.index()) {
            *known = (list, place);
        }
    }

    /// The list of an entry, and its place there.
    pub fn get(&self, id: EntryId) -> Option<(usize, usize)> {
        let (list, place) = self.0.get(id.index()).copied().filter(|known| *known != NOWHERE)?;
        Some((usize::try_from(list).ok()?, usize::try_from(place).ok()?))
    }
}
