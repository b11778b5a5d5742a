//! Which blocks the reader folded or opened by hand. Keyed by the entry's key, so that folds survive
//! when the session is read anew.

use std::collections::{HashMap, HashSet};

use crate::model::body::Key;
use crate::render::nodes::{NodeFolds, NodeId};
use crate::render::row::Fold;

/// Folds by entry and place of the block.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    by_hand: HashMap<Key, Vec<Fold>>,
    nodes: HashMap<Key, NodeFolds>,
    /// Numbers of branches of which only one row is shown.
    branches: HashSet<usize>,
}

impl Folds {
    /// The folds of an entry's blocks; missing ones follow the level.
    pub(crate) fn of(&self, entry: &Key) -> &[Fold] {
        self.by_hand.get(entry).map_or(&[], Vec::as_slice)
    }

    /// The fold of one block.
    pub fn get(&self, entry: &Key, block: usize) -> Fold {
        self.of(entry).get(block).copied().unwrap_or_default()
    }

    /// Folds a block by hand.
    pub(crate) fn set(&mut self, entry: &Key, block: usize, fold: Fold) {
        let folds = self.by_hand.entry(entry.clone()).or_default();
        if folds.len() <= block {
            folds.resize(block + 1, Fold::ByLevel);
        }
        if let Some(place) = folds.get_mut(block) {
            *place = fold;
        }
    }

    /// The nodes of an entry's trees that were folded by hand, if any were.
    pub(crate) fn nodes(&self, entry: &Key) -> Option<&NodeFolds> {
        self.nodes.get(entry)
    }

    /// Opens or closes a node of a tree.
    pub(crate) fn set_node(&mut self, entry: &Key, node: NodeId, is_open: bool) {
        self.nodes.entry(entry.clone()).or_default().set(node, is_open);
    }

    /// Opens all nodes of a block. Answers whether that is news.
    pub(crate) fn open_nodes(&mut self, entry: &Key, block: usize) -> bool {
        let nodes = self.nodes.entry(entry.clone()).or_default();
        let was_whole = nodes.is_whole(block);
        nodes.open_all(block);
        !was_whole
    }

    /// The branches that are folded.
    pub(crate) fn branches(&self) -> &HashSet<usize> {
        &self.branches
    }

    /// Folds a branch, or unfolds it.
    pub(crate) fn set_branch(&mut self, number: usize, is_folded: bool) {
        if is_folded {
            self.branches.insert(number);
        } else {
            self.branches.remove(&number);
        }
    }

    /// Forgets all folds.
    pub(crate) fn clear(&mut self) {
        self.by_hand.clear();
        self.nodes.clear();
        self.branches.clear();
    }
}
