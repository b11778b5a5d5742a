//! Copies: entries of another lane's history that the file of a lane repeats.
//!
//! **An entry belongs to one lane.** A copy is no second entry and has no usage of its own; it can
//! only complete the usage of an answer of which its own file has the beginning. The decoder knows
//! which record is a copy; whichever came first, the entry ends in the lane that said it.

use std::collections::HashSet;

use super::merge::richer;
use super::{Touched, Transcript};
use crate::model::body::Key;
use crate::model::entry::{Block, BlockKind, Entry, EntryId, Marks, Role, Stop};
use crate::model::record::Origin;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;

/// Identity of an aside: timestamp and title.
pub(super) type AsideIdentity = (Timestamp, Text);

fn asides(entry: &Entry) -> impl Iterator<Item = AsideIdentity> {
    entry
        .blocks
        .iter()
        .filter_map(|block| aside(entry.at, block))
}

fn aside(at: Option<Timestamp>, block: &Block) -> Option<AsideIdentity> {
    match &block.kind {
        BlockKind::Aside(_, raw) => Some((at?, raw.title.clone())),
        _ => None,
    }
}

impl Transcript {
    /// Removes the entries that a file brought to a lane before this record.
    pub(super) fn retire_copies(
        &mut self,
        lane: Option<&Name>,
        before: Origin,
        touched: &mut Touched,
    ) {
        let is_copy = |id: &EntryId| {
            let origin = self.entries.get(id.index()).map(|entry| entry.origin);
            let is_left = self.get(*id).is_some_and(|entry| entry.marks.copy);
            !is_left
                && origin.is_some_and(|origin| origin.file == before.file && origin.at < before.at)
        };
        let copies: Vec<EntryId> = if let Some(lane) = lane {
            let entries = self
                .lanes
                .get(lane)
                .map(|lane| lane.entries.as_slice())
                .unwrap_or_default();
            entries.iter().copied().filter(is_copy).collect()
        } else {
            let main = self
                .order
                .iter()
                .copied()
                .filter(|id| self.lane_at(*id).is_none());
            main.filter(is_copy).collect()
        };
        let mut left = Vec::new();
        for id in copies {
            let Some(mut entry) = self.get(id).cloned() else {
                continue;
            };
            if self.index.get(&entry.key) == Some(&id) {
                self.retire(&entry.key, touched);
                if let Some(usage) = entry.usage.take() {
                    self.complete(&entry.key, usage, touched);
                }
                entry
                    .blocks
                    .retain(|block| matches!(block.kind, BlockKind::Aside(..)));
                left.extend((!entry.blocks.is_empty()).then_some(entry));
            }
        }
        self.retain_asides(left, before, touched);
    }

    /// Retains the asides of removed copies, because it is unknown whether they are repetitions,
    /// unless another file has an aside of the same identity.
    fn retain_asides(&mut self, left: Vec<Entry>, before: Origin, touched: &mut Touched) {
        if left.is_empty() {
            return;
        }
        let others = self
            .entries()
            .filter(|entry| entry.origin.file != before.file);
        let known: HashSet<AsideIdentity> = others.flat_map(asides).collect();
        for entry in left {
            for (number, block) in entry.blocks.iter().enumerate() {
                let aside = aside(entry.at, block);
                if aside.as_ref().is_some_and(|aside| known.contains(aside)) {
                    continue;
                }
                let mut unknown = Entry {
                    key: Text::clean(&format!("{}:unknown {number}", entry.key)),
                    parent: None,
                    role: Role::Harness,
                    from: None,
                    model: None,
                    stop: Stop::Unrecorded,
                    marks: Marks {
                        copy: true,
                        ..Marks::default()
                    },
                    ended: None,
                    blocks: vec![block.clone()],
                    ..entry.clone()
                };
                unknown.mark_by_asides();
                self.retained_asides
                    .extend(aside.map(|aside| (aside, unknown.key.clone())));
                self.apply_entry(unknown, touched);
            }
        }
    }

    /// Removes an entry, and the entries that its file brought to its lane before it.
    pub(super) fn retire_with(&mut self, key: &Key, touched: &mut Touched) {
        let Some(entry) = self.index.get(key).and_then(|id| self.get(*id)) else {
            return;
        };
        let (lane, origin) = (entry.lane.clone(), entry.origin);
        self.retire_copies(
            lane.as_ref(),
            Origin {
                at: origin.at + 1,
                ..origin
            },
            touched,
        );
    }

    /// Applies the usage that a copy of an entry records, now or when the entry comes.
    pub(super) fn complete(&mut self, of: &Key, usage: Box<Usage>, touched: &mut Touched) {
        let Some(id) = self.index.get(of).copied() else {
            let known = self.copied.remove(of);
            self.copied
                .extend(richer(known, Some(usage), true).map(|usage| (of.clone(), usage)));
            return;
        };
        // Without usage of its own, the entry was paid for by another session.
        let Some(entry) = self
            .entries
            .get_mut(id.index())
            .filter(|entry| entry.usage.is_some())
        else {
            return;
        };
        let before = Entry {
            blocks: Vec::new(),
            ..entry.clone()
        };
        entry.usage = richer(entry.usage.take(), Some(usage), true);
        if entry.usage != before.usage {
            entry.revision += 1;
            let now = Entry {
                blocks: Vec::new(),
                ..entry.clone()
            };
            self.ledger.change(&before, &now);
            touched.changed.push(id);
        }
    }

    /// Applies the usage that copies recorded before the entry came, and removes retained asides
    /// that it repeats.
    pub(super) fn apply_copies(&mut self, entry: &mut Entry, touched: &mut Touched) {
        if !self.retained_asides.is_empty() && !entry.marks.copy {
            let known: Vec<Key> = asides(entry)
                .filter_map(|aside| self.retained_asides.remove(&aside))
                .collect();
            for key in &known {
                self.retire(key, touched);
            }
        }
        let Some(copied) = self.copied.remove(&entry.key) else {
            return;
        };
        if entry.usage.is_some() {
            entry.usage = richer(entry.usage.take(), Some(copied), true);
        }
    }
}
