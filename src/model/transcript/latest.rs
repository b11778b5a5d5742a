//! The latest answer of each lane: only its calls may still get results.
//!
//! Invariant: derived from the order of the entries, and updated together with the turns.

use std::collections::HashMap;

use crate::model::entry::EntryId;
use crate::model::entry::glance::Boundary;
use crate::model::text::Name;

#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    pub(super) by_lane: HashMap<Option<Name>, Newest>,
    /// How often an entry stopped being an answer or a cut.
    pub(super) retractions: u32,
}

/// Latest answer and cut of a lane, by position in the order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newest {
    answer: Option<(usize, EntryId)>,
    cut: Option<usize>,
}

impl Latest {
    /// Adds the entry at a position of the order.
    pub(super) fn add(
        &mut self,
        place: usize,
        id: EntryId,
        lane: Option<&Name>,
        boundary: Boundary,
    ) {
        if boundary == Boundary::None {
            return;
        }
        let newest = self.by_lane.entry(lane.cloned()).or_default();
        match boundary {
            Boundary::Answer => newest.answer = newest.answer.max(Some((place, id))),
            Boundary::Cut => newest.cut = newest.cut.max(Some(place)),
            Boundary::None => {}
        }
    }

    /// The latest answer of a lane, unless the history was shortened or the work interrupted after
    /// it.
    pub(super) fn answer(&self, lane: Option<&Name>) -> Option<EntryId> {
        let newest = self.by_lane.get(&lane.cloned())?;
        let (place, id) = newest.answer?;
        newest.cut.is_none_or(|cut| cut < place).then_some(id)
    }
}
