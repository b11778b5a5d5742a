//! A session that is read anew because its file was written anew: into a transcript of its own, which takes the place of
//! the one that is shown when it is complete.
//!
//! Ids are given in the order of reading. So where a file only grew, all entries have the ids that they had, and whoever
//! goes by ids need not look for anything.
//!
//! Invariant: entries are compared while they are at hand, batch by batch: later they are packed.

use std::collections::BTreeMap;

use super::{Touched, Transcript};
use crate::model::entry::{EntryId, Marks};

/// How an entry that is read anew differs from the one that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// It was not there.
    New,
    /// It says something else.
    Changed,
    /// It says the same, and stands elsewhere in the file.
    Moved,
}

/// What differs in a transcript that is read anew from the one that is shown meanwhile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Differences(BTreeMap<EntryId, Difference>);

/// A transcript has taken the place of another one.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// What in it is new, or says something else; by its own ids.
    pub(crate) touched: Touched,
    /// The one that was shown, if entries had other ids there.
    pub(crate) before: Option<Box<Transcript>>,
}

impl Differences {
    /// Takes in what a batch has touched in the new transcript.
    pub(crate) fn note(&mut self, shown: &Transcript, now: &Transcript, touched: &Touched) {
        let mut passing = shown.passing();
        for id in touched
            .added
            .iter()
            .chain(&touched.changed)
            .chain(&touched.moved)
        {
            let Some(entry) = now.get(*id) else { continue };
            let difference = match shown.find(&entry.key).and_then(|known| passing.get(known)) {
                None => Some(Difference::New),
                Some(known) if !entry.says_same(known) => Some(Difference::Changed),
                Some(known) if !entry.stands_as(known) => Some(Difference::Moved),
                Some(_) => None,
            };
            match difference {
                Some(difference) => drop(self.0.insert(*id, difference)),
                None => drop(self.0.remove(id)),
            }
        }
    }

    /// The new transcript is complete and takes the place of the one that is shown.
    pub(crate) fn replace(self, shown: &mut Transcript, mut now: Transcript) -> Replaced {
        now.settle();
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
        let goes_on = goes_on(shown, &now, &touched.changed);
        let before = std::mem::replace(shown, now);
        Replaced {
            touched,
            before: (!goes_on).then(|| Box::new(before)),
        }
    }
}

/// Whether all entries of a transcript have their ids, places and lanes in another one, and its branches are the same.
fn goes_on(before: &Transcript, now: &Transcript, changed: &[EntryId]) -> bool {
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
