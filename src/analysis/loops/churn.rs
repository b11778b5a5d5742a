//! Finds edits that a later one undoes by replacing the new text with the old.
//!
//! Only replacements with both texts count, if they were ever in memory.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::steps::{StepFact, TextChange};
use crate::analysis::calls::Place;
use crate::analysis::derived::Facts;
use crate::model::entry::EntryId;
use crate::model::text::Text;

/// An edit that was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Undone {
    pub(crate) edit: Place,
    /// The edit that undoes it.
    pub(crate) by: Place,
    /// The path of the file.
    pub(crate) path: Text,
}

/// The state of the pass over edits.
pub(super) struct Churn<'a> {
    facts: &'a Facts<StepFact>,
    /// Replacements in effect, each with its newest edit.
    in_effect: HashMap<(u32, u64, u64), Place>,
    found: BTreeMap<Place, Undone>,
}

impl<'a> Churn<'a> {
    pub(super) fn new(facts: &'a Facts<StepFact>) -> Self {
        Self {
            facts,
            in_effect: HashMap::new(),
            found: BTreeMap::new(),
        }
    }

    /// Adds the rows of the next entry.
    pub(super) fn add(&mut self, entry: EntryId, rows: &[StepFact]) {
        for row in rows {
            let StepFact::Hunk(TextChange {
                old,
                new,
                path,
                block,
            }) = *row
            else {
                continue;
            };
            let by = Place {
                entry,
                block: block as usize,
            };
            let back = (path, new, old);
            let edit = self.in_effect.get(&back).copied().filter(|edit| *edit < by);
            self.in_effect.insert((path, old, new), by);
            if let Some(edit) = edit {
                self.in_effect.remove(&back);
                self.found.insert(
                    by,
                    Undone {
                        edit,
                        by,
                        path: self.facts.name(path),
                    },
                );
            }
        }
    }

    /// In the order in which they were undone.
    pub(super) fn undone(self) -> Vec<Undone> {
        self.found.into_values().collect()
    }
}
