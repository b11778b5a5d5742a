//! Edits that a later one turns back: what was put in is taken out again, and what was taken out is back.
//!
//! Only replacements that name the old and the new text are known, and only those that were in memory once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashMap;

use super::steps::Row;
use crate::analysis::calls::Place;
use crate::analysis::derived::{Facts, Out};
use crate::model::body::Tree;
use crate::model::entry::EntryId;
use crate::model::text::Text;
use crate::model::tool::ToolCall;

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

/// A replacement in a file, by what it takes out and what it puts in.
#[derive(Clone, Debug, PartialEq)]
pub struct Hunk {
    old: u64,
    new: u64,
    /// The number of the path.
    path: u32,
    pub(super) block: u32,
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
        Self { facts, stand: HashMap::new(), found: BTreeMap::new() }
    }

    /// Takes in what the next entry does.
    pub(super) fn add(&mut self, entry: EntryId, rows: &[Row]) {
        for row in rows {
            let Row::Hunk(Hunk { old, new, path, block }) = *row else { continue };
            let by = Place { entry, block: block as usize };
            let back = (path, new, old);
            let edit = self.stand.get(&back).copied().filter(|edit| super::rank(*edit) < super::rank(by));
            self.stand.insert((path, old, new), by);
            if let Some(edit) = edit {
                self.stand.remove(&back);
                self.found.insert(super::rank(by), Undone { edit, by, path: self.facts.name(path) });
            }
        }
    }

    /// In the order in which that happened.
    pub(super) fn undone(self) -> Vec<Undone> {
        self.found.into_values().collect()
    }
}

const PATHS: [&str; 5] = ["file_path", "path", "filePath", "file", "absolutePath"];
const OLD: [&str; 5] = ["old_string", "oldText", "oldString", "old_str", "old_text"];
const NEW: [&str; 5] = ["new_string", "newText", "newString", "new_str", "new_text"];

/// Adds the replacements that an edit asks for.
pub(super) fn read(block: u32, call: &ToolCall, tree: &Tree, out: &mut Out<'_, Row>) {
    let text = |tree: &Tree, names: &[&str]| names.iter().find_map(|name| tree.get(name)?.as_text().cloned());
    let path = text(tree, &PATHS).unwrap_or_else(|| call.headline.clone());
    let edits = tree.get("edits").map(Tree::items).unwrap_or_default();
    for tree in std::iter::once(tree).chain(edits) {
        let Some((old, new)) = text(tree, &OLD).zip(text(tree, &NEW)) else { continue };
        if old != new && !old.is_blank() && !new.is_blank() {
            let path = out.number(&path);
            out.push(Row::Hunk(Hunk { old: hash(&old), new: hash(&new), path, block }));
        }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
