//! Reads a rewritten session into a second transcript, which replaces the shown one when it is
//! complete.
//!
//! Ids are assigned in the order of reading. So if a file only grew, all entries have their
//! previous ids, and nothing that is indexed by id must be updated.
//!
//! Invariant: entries are compared batch by batch while they are unpacked; later they are packed.

use std::collections::BTreeMap;

use super::{Touched, Transcript};
use crate::model::entry::{EntryId, Marks};

/// Difference of an entry between the two transcripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// The shown transcript does not have it.
    New,
    Changed,
    /// Its content is equal, but its position in the file differs.
    Moved,
}

/// Differences of the second transcript from the shown one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Differences(BTreeMap<EntryId, Difference>);

/// Result of replacing a transcript.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// New and changed entries, by their new ids.
    pub(crate) touched: Touched,
    /// The previous transcript, if ids of entries changed.
    pub(crate) before: Option<Box<Transcript>>,
}

impl Differences {
    /// Compares the entries that a batch touched in the new transcript.
    pub(crate) fn compare(&mut self, shown: &Transcript, now: &Transcript, touched: &Touched) {
        let mut passing = shown.cursor();
        for id in touched
            .added
            .iter()
            .chain(&touched.changed)
            .chain(&touched.moved)
        {
            let Some(entry) = now.get(*id) else { continue };
            let difference = match shown.find(&entry.key).and_then(|known| passing.get(known)) {
                None => Some(Difference::New),
                Some(known) if !entry.has_same_content(known) => Some(Difference::Changed),
                Some(known) if !entry.has_same_origins(known) => Some(Difference::Moved),
                Some(_) => None,
            };
            match difference {
                Some(difference) => drop(self.0.insert(*id, difference)),
                None => drop(self.0.remove(id)),
            }
        }
    }

    /// Replaces the shown transcript by the new one, which is complete.
    pub(crate) fn replace(self, shown: &mut Transcript, mut now: Transcript) -> Replaced {
        now.update_derived();
        let such = |wanted: Difference| {
            let such = self
                .0
                .iter()
                .filter(|(id, is)| **is == wanted && now.place_of(**id).is_some());
            such.map(|(id, _)| *id).collect::<Vec<EntryId>>()
        };
        let touched = Touched {
            added: such(Difference::New),
            changed: such(Difference::Changed),
            moved: such(Difference::Moved),
            reordered: false,
            meta: now.meta != shown.meta || now.ledger.asides != shown.ledger.asides,
            lanes: !now.lanes.are_same(&shown.lanes),
        };
        let goes_on = is_continuation(shown, &now, &touched.changed);
        let before = std::mem::replace(shown, now);
        Replaced {
            touched,
            before: (!goes_on).then(|| Box::new(before)),
        }
    }
}

/// Whether all entries have the same ids, positions and lanes in both transcripts, and the branches
/// are equal.
fn is_continuation(before: &Transcript, now: &Transcript, changed: &[EntryId]) -> bool {
    let is_hidden =
        |transcript: &Transcript, id| transcript.marks(id).is_some_and(Marks::is_hidden);
    let stays = |id: &EntryId| {
        before.lane_at(*id) == now.lane_at(*id) && is_hidden(before, *id) == is_hidden(now, *id)
    };
    now.order.starts_with(&before.order)
        && before
            .index
            .values
            .iter()
            .all(|(key, id)| now.index.values.get(key) == Some(id))
        && now.is_linked_tree() == before.is_linked_tree()
        && now.lineage.has_same_branches(&before.lineage)
        && changed.iter().all(stays)
}
