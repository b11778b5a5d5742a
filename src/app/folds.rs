//! Which blocks the reader folded or opened by hand. Keyed by the entry's key, so that folds survive
//! a new telling of the session.

use std::collections::{HashMap, HashSet};

use crate::model::body::Key;
use crate::render::row::Fold;

/// Folds by entry and place of the block.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    by_hand: HashMap<Key, Vec<Fold>>,
    /// Numbers of branches of which only one row is shown.
    branches: HashSet<usize>,
}

impl Folds {
    /// The folds of an entry's blocks; missing ones follow the level.
    pub fn of(&self, entry: &Key) -> &[Fold] {
        self.by_hand.get(entry).map_or(&[], Vec::as_slice)
    }

    /// The fold of one block.
    pub fn get(&self, entry: &Key, block: usize) -> Fold {
        self.of(entry).get(block).copied().unwrap_or_default()
    }

    /// Folds a block by hand.
    pub fn set(&mut self, entry: &Key, block: usize, fold: Fold) {
        let folds = self.by_hand.entry(entry.clone()).or_default();
        if folds.len() <= block {
            folds.resize(block + 1, Fold::ByLevel);
        }
        if let Some(place) = folds.get_mut(block) {
            *place = fold;
        }
    }

    /// The branches that are folded.
    pub fn branches(&self) -> &HashSet<usize> {
        &self.branches
    }

    /// Folds a branch, or unfolds it.
    pub fn set_branch(&mut self, number: usize, is_folded: bool) {
        if is_folded {
            self.branches.insert(number);
        } else {
            self.branches.remove(&number);
        }
    }

    /// Forgets all folds.
    pub fn clear(&mut self) {
        self.by_hand.clear();
        self.branches.clear();
    }
}
