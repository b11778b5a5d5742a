//! The newest answer of each lane: results that may still come are those of its calls.
//!
//! Invariant: what is known here is what the order of the entries tells; it follows with the turns.

use std::collections::HashMap;

use crate::model::entry::EntryId;
use crate::model::entry::glance::Boundary;
use crate::model::text::Name;

/// The newest answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    pub(super) by_lane: HashMap<Option<Name>, Newest>,
    /// How often an entry turned out to be no answer, or no cut.
    pub(super) taken_back: u32,
}

/// The newest of a lane, by places in the order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newest {
    answer: Option<(usize, EntryId)>,
    cut: Option<usize>,
}

impl Latest {
    /// Takes in what stands at a place of the order.
    pub(super) fn see(
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

    /// The newest answer of a lane, unless the history was shortened since, or the work interrupted.
    pub(super) fn answer(&self, lane: Option<&Name>) -> Option<EntryId> {
        let newest = self.by_lane.get(&lane.cloned())?;
        let (place, id) = newest.answer?;
        newest.cut.is_none_or(|cut| cut < place).then_some(id)
    }
}
