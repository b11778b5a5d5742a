//! Copies: what the file of one lane repeats of another lane's history.
//!
//! **An entry belongs to one lane.** A copy is no second entry and spends nothing; it may only tell the end of an answer
//! of which its own file has the beginning. Which record is a copy its decoder knows; whatever came first, the entry
//! stands where its own lane said it.

use super::merge::richer;
use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::entry::{Entry, EntryId};
use crate::model::record::Origin;
use crate::model::text::Name;
use crate::model::usage::Usage;

impl Transcript {
    /// Takes back what a file brought a lane before this record.
    pub(super) fn retire_copies(&mut self, lane: Option<&Name>, before: Origin, touched: &mut Touched) {
        let is_copy = |id: &EntryId| {
            let origin = self.entries.get(id.index()).map(|entry| entry.origin);
            origin.is_some_and(|origin| origin.file == before.file && origin.at < before.at)
        };
        let copies: Vec<EntryId> = if let Some(lane) = lane {
            let entries = self.lanes.get(lane).map(|lane| lane.entries.as_slice()).unwrap_or_default();
            entries.iter().copied().filter(is_copy).collect()
        } else {
            let main = self.order.iter().copied().filter(|id| self.lane_at(*id).is_none());
            main.filter(is_copy).collect()
        };
        for id in copies {
            let Some(Entry { key, usage, .. }) = self.get(id).cloned() else { continue };
            if self.index.get(&key) == Some(&id) {
                self.retire(&key, touched);
                if let Some(usage) = usage {
                    self.complete(&key, usage, touched);
                }
            }
        }
    }

    /// Takes back an entry, and what its file brought its lane before.
    pub(super) fn retire_with(&mut self, key: &Key, touched: &mut Touched) {
        let Some(entry) = self.index.get(key).and_then(|id| self.get(*id)) else { return };
        let (lane, origin) = (entry.lane.clone(), entry.origin);
        self.retire_copies(lane.as_ref(), Origin { at: origin.at + 1, ..origin }, touched);
    }

    /// Takes in what a copy of an entry says was spent for it, now or when the entry comes.
    pub(super) fn complete(&mut self, of: &Key, usage: Box<Usage>, touched: &mut Touched) {
        let Some(id) = self.index.get(of).copied() else {
            let known = self.copied.remove(of);
            self.copied.extend(richer(known, Some(usage), true).map(|usage| (of.clone(), usage)));
            return;
        };
        // What another session spent for it is not spent here.
        let Some(entry) = self.entries.get_mut(id.index()).filter(|entry| entry.usage.is_some()) else {
            return;
        };
        let before = Entry { blocks: Vec::new(), ..entry.clone() };
        entry.usage = richer(entry.usage.take(), Some(usage), true);
        if entry.usage != before.usage {
            entry.revision += 1;
            let now = Entry { blocks: Vec::new(), ..entry.clone() };
            self.ledger.change(&before, &now);
            touched.changed.push(id);
        }
    }

    /// Gives a new entry what copies of it said before it came.
    pub(super) fn adopt_copies(&mut self, entry: &mut Entry) {
        let Some(copied) = self.copied.remove(&entry.key) else { return };
        if entry.usage.is_some() {
            entry.usage = richer(entry.usage.take(), Some(copied), true);
        }
    }
}
