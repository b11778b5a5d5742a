//! Edits that a later one turns back: what was put in is taken out again, and what was taken out is back.
//!
//! Only replacements that name the old and the new text are known, and only those that were in memory once.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::steps::{Hunk, Row};
use crate::analysis::calls::Place;
use crate::analysis::derived::Facts;
use crate::model::entry::EntryId;
use crate::model::text::Text;

/// An edit that was turned back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Undone {
    /// The edit.
    pub(crate) edit: Place,
    /// The one that turned it back.
    pub(crate) by: Place,
    /// The file.
    pub(crate) path: Text,
}

/// Edits that a later one turns back.
pub(super) struct Churn<'a> {
    facts: &'a Facts<Row>,
    /// Replacements that stand, with the newest edit that made each.
    stand: HashMap<(u32, u64, u64), Place>,
    found: BTreeMap<(EntryId, usize), Undone>,
}

impl<'a> Churn<'a> {
    pub(super) fn new(facts: &'a Facts<Row>) -> Self {
        Self {
            facts,
            stand: HashMap::new(),
            found: BTreeMap::new(),
        }
    }

    /// Takes in what the next entry does.
    pub(super) fn add(&mut self, entry: EntryId, rows: &[Row]) {
        for row in rows {
            let Row::Hunk(Hunk {
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
            let edit = self
                .stand
                .get(&back)
                .copied()
                .filter(|edit| super::rank(*edit) < super::rank(by));
            self.stand.insert((path, old, new), by);
            if let Some(edit) = edit {
                self.stand.remove(&back);
                self.found.insert(
                    super::rank(by),
                    Undone {
                        edit,
                        by,
                        path: self.facts.name(path),
                    },
                );
            }
        }
    }

    /// In the order in which that happened.
    pub(super) fn undone(self) -> Vec<Undone> {
        self.found.into_values().collect()
    }
}
