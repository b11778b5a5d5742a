//! The document of a journal, replayed up to the current record.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::EntryPieces;
use crate::formats::json::Json;
use crate::model::edit::Edit;
use crate::model::record::Origin;
use crate::model::tally::Tally;

/// The maximum number of steps of a path.
const STEPS: usize = 32;
/// The maximum number of elements that are added as padding by indexes beyond the ends of lists.
const PADDING: usize = 1 << 16;
/// Elements are decoded at once while their total size in bytes is below `AT_ONCE` plus `TIMES` the
/// size of the changes.
const AT_ONCE: usize = 64 << 20;
const TIMES: usize = 16;

/// One step of a path: a member of an object, or an element of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DocumentStep {
    Name(String),
    At(usize),
}

/// One edit of the document.
pub(super) enum JournalEdit<'v> {
    /// Sets a value, or deletes it if `None`.
    Set(Vec<DocumentStep>, Option<&'v Json<'v>>),
    /// Truncates a list to a length, and appends to it.
    Push(Vec<DocumentStep>, Option<usize>, &'v [Json<'v>]),
}

/// The document, and the edits emitted for its elements.
pub(in crate::formats::definition::run) struct JournalReplay {
    pub(super) document: Json<'static>,
    pub(super) shown: BTreeMap<usize, ShownElement>,
    /// Elements that were removed or replaced.
    pub(super) removed: Vec<ShownElement>,
    pub(super) pieces: EntryPieces,
    /// Changed elements that are decoded at the end of a portion.
    pub(super) deferred: BTreeSet<usize>,
    padding: usize,
    /// Total bytes of changes, and of elements decoded again.
    changed: usize,
    reread: usize,
}

impl Default for JournalReplay {
    fn default() -> Self {
        Self {
            document: Json::Null,
            shown: BTreeMap::new(),
            removed: Vec::new(),
            pieces: EntryPieces::new(),
            deferred: BTreeSet::new(),
            padding: PADDING,
            changed: 0,
            reread: 0,
        }
    }
}

/// The edits emitted for an element.
#[derive(Default)]
pub(super) struct ShownElement {
    /// The record that added the element.
    pub(super) origin: Option<Origin>,
    /// The counts of its readings.
    pub(super) counted: Tally,
    pub(super) edits: Vec<Edit>,
}

/// Parses a path. `None` if it is malformed, empty or too long.
pub(super) fn path_of(path: &Json<'_>) -> Option<Vec<DocumentStep>> {
    let step = |step: &Json<'_>| match step {
        Json::Integer(at) => usize::try_from(*at).ok().map(DocumentStep::At),
        step => step.str().map(|name| DocumentStep::Name(name.to_owned())),
    };
    let path: Vec<DocumentStep> = path.items().iter().map(step).collect::<Option<_>>()?;
    (1..=STEPS).contains(&path.len()).then_some(path)
}

impl JournalReplay {
    /// Applies an edit and returns the range of elements that it affects; `None` if it affects
    /// other values.
    pub(super) fn apply(
        &mut self,
        change: &JournalEdit<'_>,
        list: &str,
        record: Origin,
    ) -> Option<Range<usize>> {
        self.changed = self.changed.saturating_add(record.len as usize);
        let before = self.document.get(list).items().len();
        let (JournalEdit::Set(path, _) | JournalEdit::Push(path, ..)) = change;
        let mut document = std::mem::replace(&mut self.document, Json::Null);
        self.change(&mut document, path, change);
        self.document = document;
        let after = self.document.get(list).items().len();
        let all = before.max(after);
        let changed = match (path.as_slice(), change) {
            ([DocumentStep::Name(name), ..], _) if name != list => return None,
            ([_], JournalEdit::Push(_, from, _)) => from.unwrap_or(before).min(before)..all,
            ([_, DocumentStep::At(at), ..], _) => *at..at.saturating_add(1).min(all),
            _ => 0..all,
        };
        if path.len() <= 2 {
            let replaced = changed.clone().filter_map(|at| self.shown.remove(&at));
            self.removed.extend(replaced);
        }
        Some(changed)
    }

    /// Whether decoding the element now would exceed the limit. It is then decoded later, once for
    /// all of its changes.
    pub(super) fn is_too_expensive(&mut self, list: &str, at: usize) -> bool {
        let element = self.document.get(list).items().get(at);
        self.reread = self.reread.saturating_add(element.map_or(0, Json::weight));
        self.reread > AT_ONCE.saturating_add(self.changed.saturating_mul(TIMES))
    }

    fn change(
        &mut self,
        value: &mut Json<'static>,
        path: &[DocumentStep],
        change: &JournalEdit<'_>,
    ) {
        let Some((step, rest)) = path.split_first() else {
            match change {
                JournalEdit::Set(_, now) => {
                    *value = now.map_or(Json::Null, |now| now.clone().into_owned());
                }
                JournalEdit::Push(_, from, items) => {
                    if value.is_null() {
                        *value = Json::Array(Vec::new());
                    }
                    let Json::Array(all) = value else { return };
                    let from = from.unwrap_or(all.len());
                    self.pad(all, from);
                    all.truncate(from);
                    all.extend(items.iter().cloned().map(Json::into_owned));
                }
            }
            return;
        };
        match step {
            DocumentStep::At(at) => {
                if value.is_null() {
                    *value = Json::Array(Vec::new());
                }
                let Json::Array(items) = value else { return };
                self.pad(items, at.saturating_add(1));
                if let Some(item) = items.get_mut(*at) {
                    self.change(item, rest, change);
                }
            }
            DocumentStep::Name(name) => {
                if value.is_null() {
                    *value = Json::Object(Vec::new());
                }
                let Json::Object(members) = value else { return };
                let known = members.iter().rposition(|(known, _)| known == name);
                if rest.is_empty() && matches!(change, JournalEdit::Set(_, None)) {
                    return members.retain(|(known, _)| known != name);
                }
                let place = known.unwrap_or(members.len());
                if known.is_none() {
                    members.push((Cow::Owned(name.clone()), Json::Null));
                }
                if let Some((_, member)) = members.get_mut(place) {
                    self.change(member, rest, change);
                }
            }
        }
    }

    /// Extends a list to a length, unless that exceeds the limit of padding.
    fn pad(&mut self, items: &mut Vec<Json<'static>>, length: usize) {
        let missing = length.saturating_sub(items.len());
        if missing <= self.padding {
            self.padding -= missing;
            items.resize(length.max(items.len()), Json::Null);
        }
    }
}
