//! Edits that a later one turns back: what was put in is taken out again, and what was taken out is back.
//!
//! Only replacements that name the old and the new text are known, and only those that were in memory when
//! their entry came.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::analysis::calls::Place;
use crate::model::body::Tree;
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolKind, ToolState};

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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Hunk {
    path: Text,
    old: u64,
    new: u64,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Churn {
    of_entry: HashMap<EntryId, Vec<(usize, Hunk)>>,
    /// Replacements that stand, with the newest edit that made each.
    stand: HashMap<Hunk, Place>,
    found: BTreeMap<(EntryId, usize), Undone>,
}

impl Churn {
    /// Notes an entry that is new or has changed. Says whether something was found or is no longer true.
    pub(crate) fn note(&mut self, id: EntryId, entry: &Entry) -> bool {
        let known = self.of_entry.get(&id).cloned().unwrap_or_default();
        let mut hunks: Vec<(usize, Hunk)> = Vec::new();
        for (block, one) in entry.blocks.iter().enumerate().filter(|_| !entry.marks.copy) {
            let BlockKind::Call(call) = &one.kind else { continue };
            let is_edit = call.kind == ToolKind::Edit;
            if !is_edit
                || matches!(
                    call.state,
                    ToolState::Failed(_) | ToolState::Refused(_) | ToolState::Stopped(_) | ToolState::Lost
                )
            {
                continue;
            }
            if let Some(tree) = call.input.tree() {
                hunks.extend(hunks_of(call, tree).into_iter().map(|hunk| (block, hunk)));
            } else {
                let of_block = known.partition_point(|(at, _)| *at < block)..;
                let of_block = known.get(of_block).into_iter().flatten();
                hunks.extend(of_block.take_while(|(at, _)| *at == block).cloned());
            }
        }
        if hunks == known {
            return false;
        }
        let mut is_news = self.take_back(id, &known);
        for (block, hunk) in &hunks {
            is_news |= self.add(Place { entry: id, block: *block }, hunk);
        }
        self.of_entry.insert(id, hunks);
        is_news
    }

    fn take_back(&mut self, id: EntryId, known: &[(usize, Hunk)]) -> bool {
        let mut is_news = false;
        for (block, hunk) in known {
            let place = Place { entry: id, block: *block };
            if self.stand.get(hunk) == Some(&place) {
                self.stand.remove(hunk);
            }
            if let Some(undone) = self.found.remove(&super::rank(place)) {
                let back = Hunk { path: hunk.path.clone(), old: hunk.new, new: hunk.old };
                self.stand.insert(back, undone.edit);
                is_news = true;
            }
        }
        is_news
    }

    fn add(&mut self, place: Place, hunk: &Hunk) -> bool {
        let back = Hunk { path: hunk.path.clone(), old: hunk.new, new: hunk.old };
        let edit = self.stand.get(&back).copied().filter(|edit| super::rank(*edit) < super::rank(place));
        self.stand.insert(hunk.clone(), place);
        let Some(edit) = edit else { return false };
        self.stand.remove(&back);
        let undone = Undone { edit, by: place, path: hunk.path.clone() };
        self.found.insert(super::rank(place), undone).is_none()
    }

    /// All of them, in the order in which they were turned back.
    pub(crate) fn found(&self) -> impl Iterator<Item = &Undone> {
        self.found.values()
    }
}

const PATHS: [&str; 5] = ["file_path", "path", "filePath", "file", "absolutePath"];
const OLD: [&str; 5] = ["old_string", "oldText", "oldString", "old_str", "old_text"];
const NEW: [&str; 5] = ["new_string", "newText", "newString", "new_str", "new_text"];

fn hunks_of(call: &ToolCall, tree: &Tree) -> Vec<Hunk> {
    let text = |tree: &Tree, names: &[&str]| names.iter().find_map(|name| tree.get(name)?.as_text().cloned());
    let path = text(tree, &PATHS).unwrap_or_else(|| call.headline.clone());
    let hunk = |tree: &Tree| {
        let (old, new) = (text(tree, &OLD)?, text(tree, &NEW)?);
        let is_said = old != new && !old.is_blank() && !new.is_blank();
        is_said.then(|| Hunk { path: path.clone(), old: number(&old), new: number(&new) })
    };
    let edits = tree.get("edits").map(Tree::items).unwrap_or_default();
    std::iter::once(tree).chain(edits).filter_map(hunk).collect()
}

fn number(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
