//! Entries that may be undone, replaced or recorded twice.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hasher};

use super::DefinitionDecoder;
use crate::formats::definition::path::PathScope;
use crate::formats::definition::rule::Rewind;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::{Entry, Marks, Role};
use crate::model::text::Name;

/// An entry that may be undone.
pub(super) struct UndoableEntry {
    key: Key,
    role: Role,
    lane: Option<Name>,
    marks: Marks,
    /// Whether a list of messages may omit the entry: the program added it, or its kind is unknown.
    is_beside: bool,
}

impl DefinitionDecoder {
    /// Undoes the entries that a new list of messages omits, with their neighbours. They are
    /// emitted before the entries of the list.
    pub(super) fn undo_unnamed(
        &mut self,
        before: Vec<UndoableEntry>,
        from: usize,
        out: &mut Batch,
    ) {
        let named: HashSet<Key> = self
            .entries
            .list
            .iter()
            .map(|kept| kept.key.clone())
            .collect();
        let mut undone = Vec::new();
        let mut is_gone = false;
        for mut kept in before {
            is_gone = if kept.is_beside {
                is_gone
            } else {
                !named.contains(&kept.key)
            };
            if is_gone && !kept.marks.undone && !named.contains(&kept.key) {
                kept.marks.undone = true;
                undone.push(kept.edit(out));
            }
        }
        out.edits.splice(from..from, undone);
    }

    /// Whether a record is the first with its key. A record that is read again, because it was
    /// edited, still is.
    pub(super) fn is_first(&mut self, key: &Key, own: Key) -> bool {
        let first = self
            .first_records
            .entry(key.clone())
            .or_insert_with(|| own.clone());
        *first == own
    }

    /// Whether a record repeats an earlier version that a newer one has replaced.
    pub(super) fn is_replayed(&mut self, key: &Key, record: &Json<'_>) -> bool {
        let mut hasher = DefaultHasher::new();
        record.print(&mut hasher);
        let (print, known) = (
            hasher.finish(),
            self.versions.entry(key.clone()).or_default(),
        );
        if known.last == Some(print) || known.before.contains(&print) {
            return known.last != Some(print);
        }
        known.before.extend(known.last.replace(print));
        false
    }

    pub(super) fn rewind(&mut self, rewind: &Rewind, scope: PathScope<'_>, out: &mut Batch) {
        let Some(to) = self.runs.id(&rewind.to, scope) else {
            return;
        };
        let place = self.entries.places.get(&to).copied();
        // A rewind to before an entry that no longer exists undoes everything. A rewind to after
        // one undoes nothing, since the name may not be that of an entry.
        let from = match place {
            Some(place) => place + usize::from(rewind.stays),
            None if rewind.stays => return,
            None => 0,
        };
        // Neighbours of the last entry that stays also stay.
        let beside = self
            .entries
            .list
            .iter()
            .skip(from)
            .take_while(|kept| rewind.stays && kept.is_beside);
        let from = from + beside.count();
        for mut kept in self.entries.split_off(from) {
            kept.marks.undone = true;
            let edit = kept.edit(out);
            out.push(edit);
        }
    }

    pub(super) fn push_entry(&mut self, entry: &Entry) {
        if self.definition.needs.unless_answered {
            self.held_edits.add_answer(entry);
        }
        if !self.definition.needs.undoes_entries {
            return;
        }
        let marks = entry.marks;
        let is_beside =
            entry.is_aside() || entry.role == Role::Harness && (marks.quiet || marks.trace);
        let (key, lane) = (entry.key.clone(), entry.lane.clone());
        self.entries.insert(UndoableEntry {
            key,
            role: entry.role,
            lane,
            marks,
            is_beside,
        });
    }
}

/// Hashes of the records that had one key.
#[derive(Default)]
pub(super) struct Versions {
    last: Option<u64>,
    before: HashSet<u64>,
}

/// Entries that may be undone, in order, one per key.
#[derive(Default)]
pub(super) struct EntryIndex {
    pub(super) list: Vec<UndoableEntry>,
    /// Indexes into `list`, by key and by further names.
    places: HashMap<Key, usize>,
}

impl EntryIndex {
    /// Adds an entry, or replaces the one with its key.
    pub(super) fn insert(&mut self, kept: UndoableEntry) {
        if let Some(known) = self
            .places
            .get(&kept.key)
            .and_then(|at| self.list.get_mut(*at))
        {
            *known = kept;
            return;
        }
        self.places.insert(kept.key.clone(), self.list.len());
        self.list.push(kept);
    }

    /// Adds a further name for an entry, unless it is already in use.
    pub(super) fn add_name(&mut self, name: Option<&Key>, key: &Key) {
        if let (Some(name), Some(at)) = (name, self.places.get(key).copied()) {
            self.places.entry(name.clone()).or_insert(at);
        }
    }

    /// Removes and returns the entries from this index on.
    pub(super) fn split_off(&mut self, from: usize) -> Vec<UndoableEntry> {
        let kept = self.list.split_off(from.min(self.list.len()));
        self.places.retain(|_, at| *at < from);
        kept
    }
}

impl UndoableEntry {
    fn edit(&self, out: &Batch) -> Edit {
        let mut entry = out.new_entry(self.key.clone(), self.role, None);
        entry.lane.clone_from(&self.lane);
        entry.marks = self.marks;
        Edit::Entry(Box::new(entry))
    }
}
