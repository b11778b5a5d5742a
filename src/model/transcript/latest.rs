//! The newest answer of each lane: results that may still come are those of its calls.
//!
//! Invariant: what is known here is what the order of the entries tells; it follows with the turns.

use std::collections::HashMap;

use super::Transcript;
use crate::model::entry::glance::Step;
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;

/// The newest answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    by_lane: HashMap<Option<Name>, Newest>,
    /// How often an entry was no answer or compaction any more.
    taken_back: u32,
}

/// The newest of a lane, by places in the order.
#[derive(Clone, Copy, Debug, Default)]
struct Newest {
    answer: Option<(usize, EntryId)>,
    compaction: Option<usize>,
}

impl Latest {
    /// Takes in what stands at a place of the order.
    pub(super) fn see(&mut self, place: usize, id: EntryId, lane: Option<&Name>, step: Step) {
        if step == Step::None {
            return;
        }
        let newest = self.by_lane.entry(lane.cloned()).or_default();
        match step {
            Step::Answer => newest.answer = newest.answer.max(Some((place, id))),
            Step::Compaction => newest.compaction = newest.compaction.max(Some(place)),
            Step::None => {}
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.by_lane.clear();
    }
}

impl Transcript {
    /// The newest answer of a lane, unless the history was shortened since. The model was asked again after all
    /// others: calls of theirs that have no result will have none. Known when the transcript is settled.
    pub(crate) fn latest_answer(&self, lane: Option<&Name>) -> Option<EntryId> {
        let newest = self.latest.by_lane.get(&lane.cloned())?;
        let (place, id) = newest.answer?;
        newest.compaction.is_none_or(|compaction| compaction < place).then_some(id)
    }

    /// How often an entry turned out to be no answer, or no compaction, so that an older answer may be the newest.
    pub(crate) fn answers_taken_back(&self) -> u32 {
        self.latest.taken_back
    }

    /// An entry that was there is told otherwise now.
    pub(super) fn see_step_again(&mut self, id: EntryId, before: &Entry, now: &Entry) {
        let (was, is) = (Step::of(before), Step::of(now));
        if (was, &before.lane) == (is, &now.lane) {
            return;
        }
        let Some(place) = self.place_of(id).filter(|place| *place < self.turns_known) else { return };
        if was == Step::None {
            self.latest.see(place, id, now.lane.as_ref(), is);
        } else {
            self.forget_turns();
            self.latest.taken_back += 1;
        }
    }
}
