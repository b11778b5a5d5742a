//! Journals: records that edit a document one after the other. The document is replayed, and the
//! rules decode its changed elements like the elements of a document file.
//!
//! No record has the current content of an element, so its bodies stay in memory. An element that
//! is decoded again replaces its earlier entries; the entries of a removed element are undone, as
//! by a rewind.

mod replay;

use std::collections::HashMap;

pub(super) use self::replay::JournalReplay;
use self::replay::{JournalEdit, path_of};
use super::{DefinitionDecoder, RecordSite};
use crate::formats::decoder::{Input, RecordPlace};
use crate::formats::definition::kinds::FactKind;
use crate::formats::definition::path::PathScope;
use crate::formats::definition::rule::{Journal, RecordKind, RecordRule};
use crate::formats::definition::when::Conditions;
use crate::formats::json::Json;
use crate::model::body::Key;
use crate::model::edit::{Batch, Edit};
use crate::model::entry::Piece;
use crate::model::tally::Fate;
use crate::model::text::Text;

pub(super) type EntryPieces = HashMap<Key, Vec<Piece>>;

impl DefinitionDecoder {
    /// Replays a record of a journal. `None` if it changes no element.
    pub(super) fn journal(&mut self, input: Input<'_>, out: &mut Batch) -> Option<Fate> {
        let journal = self.definition.journal.as_ref()?;
        if !matches!(input.place, RecordPlace::Line | RecordPlace::Row(_)) {
            return None;
        }
        let mut replay = std::mem::take(&mut self.replay);
        let mut fate = None;
        read(journal, input.json, &mut |change| {
            let facts = self.definition.facts.iter();
            let had: Vec<bool> = facts
                .map(|rule| rule.path.has_value(PathScope::of(&replay.document)))
                .collect();
            let changed = replay.apply(&change, journal.elements, out.origin());
            self.facts_of(&had, &replay.document, out);
            let Some(changed) = changed else { return };
            let mut is_shown = None;
            for at in changed {
                is_shown = is_shown.max(self.element(&mut replay, journal.elements, at, out));
            }
            fate = Some(match is_shown.max(undo(&mut replay, out)) {
                Some(true) => Fate::Shown,
                Some(false) => Fate::Merged,
                None => Fate::Passed("nothing of it is shown"),
            });
        });
        self.replay = replay;
        fate
    }

    /// Decodes the changed elements that were postponed.
    pub(super) fn finish_journal(&mut self, out: &mut Batch) {
        let Some(journal) = &self.definition.journal else {
            return;
        };
        let mut replay = std::mem::take(&mut self.replay);
        for at in std::mem::take(&mut replay.deferred) {
            self.read_element(&mut replay, journal.elements, at, out);
        }
        self.replay = replay;
    }

    /// Decodes an element that has changed, or postpones that. Returns whether any of its content
    /// is new; `None` if nothing has changed.
    fn element(
        &mut self,
        replay: &mut JournalReplay,
        list: &str,
        at: usize,
        out: &mut Batch,
    ) -> Option<bool> {
        if replay.is_too_expensive(list, at) {
            replay.deferred.insert(at);
            return Some(false);
        }
        self.read_element(replay, list, at, out)
    }

    fn read_element(
        &mut self,
        replay: &mut JournalReplay,
        list: &str,
        at: usize,
        out: &mut Batch,
    ) -> Option<bool> {
        let record = out.origin();
        let value = replay.document.get(list).items().get(at)?;
        let takes = |rule: &RecordRule| {
            rule.is_for(RecordKind::Record) && rule.when.holds(PathScope::of(value))
        };
        // A journal that is read from its middle on has incomplete elements, which no rule may
        // match.
        if !self.definition.rules.iter().any(takes) {
            return None;
        }
        let shown = replay.shown.entry(at).or_default();
        let origin = *shown.origin.get_or_insert(record);
        let from = out.edits.len();
        out.begin_record(origin);
        out.is_piped = true;
        let stubs_only = std::mem::replace(&mut out.stubs_only, false);
        let tally = std::mem::take(&mut out.tally);
        let number = at.to_string();
        let site = RecordSite {
            scope: PathScope::of(value),
            place: RecordPlace::Element,
            number: Some(&number),
            lane: None,
            depth: 0,
        };
        self.facts_at(site, out);
        self.record(site, out);
        out.begin_record(record);
        out.stubs_only = stubs_only;
        // What an earlier reading of the element counted counts once.
        let mut counted = std::mem::replace(&mut out.tally, tally);
        counted.subtract(&shown.counted);
        shown.counted.merge(&counted);
        out.tally.merge(&counted);
        let edits = out.edits.split_off(from);
        let before = std::mem::replace(&mut shown.edits, edits.clone());
        update(&before, edits, &mut replay.pieces, out)
    }

    /// Emits facts that have changed. A deleted fact is emitted as empty.
    fn facts_of(&mut self, had: &[bool], document: &Json<'_>, out: &mut Batch) {
        let rules = self.definition.facts.iter().zip(&mut self.facts);
        for ((rule, last), had) in rules.zip(had) {
            if !had || last.is_none() || rule.path.has_value(PathScope::of(document)) {
                continue;
            }
            *last = None;
            match rule.fact {
                FactKind::Title => out.title(2, Text::default()),
                FactKind::Other(name) => out.fact(name, Text::default()),
                _ => {}
            }
        }
        self.facts(PathScope::of(document), out);
    }
}

/// Emits the entries of removed elements as undone. `None` if there are none.
fn undo(replay: &mut JournalReplay, out: &mut Batch) -> Option<bool> {
    let entry_of = |edit: Edit| match edit {
        Edit::Entry(entry) => Some(entry),
        _ => None,
    };
    let from = out.edits.len();
    let removed = std::mem::take(&mut replay.removed).into_iter();
    for mut entry in removed.flat_map(|shown| shown.edits).filter_map(entry_of) {
        let mut there = replay.shown.values().flat_map(|shown| &shown.edits);
        if !there.any(|edit| matches!(edit, Edit::Entry(other) if other.key == entry.key)) {
            entry.marks.undone = true;
            entry.blocks.clear();
            entry.usage = None;
            out.push(Edit::Entry(entry));
        }
    }
    (out.edits.len() > from).then_some(false)
}

/// Emits the current edits of an element that differ from its earlier ones. Returns whether a block
/// is new; `None` if nothing differs.
fn update(
    before: &[Edit],
    now: Vec<Edit>,
    pieces: &mut EntryPieces,
    out: &mut Batch,
) -> Option<bool> {
    let mut is_shown: Option<bool> = None;
    let entry_of = |edits: &[Edit], key: &Key| {
        edits.iter().find_map(|edit| match edit {
            Edit::Entry(entry) if entry.key == *key => Some((**entry).clone()),
            _ => None,
        })
    };
    for edit in before {
        if let Edit::Entry(entry) = edit
            && entry_of(&now, &entry.key).is_none()
        {
            pieces.remove(&entry.key);
            out.push(Edit::Retire(entry.key.clone()));
            is_shown = is_shown.max(Some(false));
        }
    }
    for edit in now {
        let is_meta = matches!(edit, Edit::Meta(_));
        if !is_meta && before.contains(&edit) {
            continue;
        }
        if !is_meta {
            is_shown = is_shown.max(Some(false));
        }
        let Edit::Entry(mut entry) = edit else {
            out.push(edit);
            continue;
        };
        let known = entry_of(before, &entry.key);
        if known
            .as_ref()
            .is_none_or(|known| known.blocks != entry.blocks)
        {
            is_shown = Some(true);
        }
        let own: Vec<Piece> = entry.blocks.iter().map(|block| block.piece).collect();
        let old = pieces.insert(entry.key.clone(), own.clone());
        let gone = old.into_iter().flatten();
        let gone: Vec<Piece> = gone.filter(|piece| !own.contains(piece)).collect();
        // Usage is replaced, not merged: the new value counts even if it is smaller.
        let usage = entry.usage.clone();
        let usage = usage.filter(|_| known.is_some_and(|known| known.usage != entry.usage));
        let (key, model) = (entry.key.clone(), entry.model.clone());
        let records = Some(out.origin()).filter(|record| *record != entry.origin);
        entry.records.extend(records);
        out.push(Edit::Entry(entry));
        for piece in gone {
            out.retire_piece(key.clone(), piece);
        }
        if let Some(usage) = usage {
            out.usage(key, usage, model);
        }
    }
    is_shown
}

/// Parses the edits that a record makes to the document and passes each to `apply`.
fn read(journal: &Journal, record: &Json<'_>, apply: &mut dyn FnMut(JournalEdit<'_>)) {
    let scope = PathScope::of(record);
    let does = |when: &Option<Conditions>| when.as_ref().is_some_and(|when| when.holds(scope));
    if does(&journal.whole) {
        journal.value.first(scope, |value| {
            apply(JournalEdit::Set(Vec::new(), Some(value)));
        });
        return;
    }
    let Some(path) = journal.path.first(scope, path_of).flatten() else {
        return;
    };
    if does(&journal.delete) {
        return apply(JournalEdit::Set(path, None));
    }
    let from = journal.from.as_ref().and_then(|from| from.count(scope));
    let from = from.map(|from| usize::try_from(from).unwrap_or(usize::MAX));
    let mut change = |value: Option<&Json<'_>>| {
        if does(&journal.set) {
            apply(JournalEdit::Set(path.clone(), value));
        } else if does(&journal.push) {
            apply(JournalEdit::Push(
                path.clone(),
                from,
                value.map_or(&[], Json::items),
            ));
        }
    };
    let given = journal.value.first(scope, |value| change(Some(value)));
    if given.is_none() {
        change(None);
    }
}

#[cfg(test)]
mod tests;
