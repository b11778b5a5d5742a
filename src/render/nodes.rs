//! Nodes of trees, which fold one by one, and the folds set by hand.
//!
//! A node is identified by a hash of its path from the root, so folds and positions in a tree stay
//! valid when it is laid out again or grows at its end.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::model::fingerprint::hash_of;

/// The hash of a node's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u64);

impl NodeId {
    /// The root of a tree; `part` distinguishes the trees of a block.
    pub(crate) fn root(block: usize, part: u8) -> Self {
        Self(hash_of(&(block, part)))
    }

    /// The member of an object.
    #[must_use]
    pub(crate) fn member(self, key: &str) -> Self {
        self.step(('k', key))
    }

    /// The item of a list.
    #[must_use]
    pub(crate) fn item(self, index: usize) -> Self {
        self.step(('i', index))
    }

    /// The row for the hidden children from an index on.
    #[must_use]
    pub(crate) fn more(self, index: usize) -> Self {
        self.step(('r', index))
    }

    fn step(self, part: impl Hash) -> Self {
        Self(hash_of(&(self.0, part)))
    }
}

/// The node that a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueNode {
    pub(crate) id: NodeId,
    /// Its parent; `None` below the root.
    pub(crate) parent: Option<NodeId>,
    /// Whether it is open; `None` if it cannot be folded.
    pub(crate) is_open: Option<bool>,
}

/// Folds of the nodes of an entry, set by hand.
#[derive(Clone, Debug, Default)]
pub struct NodeFolds {
    by_hand: HashMap<NodeId, bool>,
    whole: HashSet<usize>,
}

impl NodeFolds {
    /// The fold of a node, if it was set by hand.
    pub(crate) fn get(&self, node: NodeId) -> Option<bool> {
        self.by_hand.get(&node).copied()
    }

    /// Opens or closes a node.
    pub(crate) fn set(&mut self, node: NodeId, is_open: bool) {
        self.by_hand.insert(node, is_open);
    }

    /// Whether all nodes of a block are open, whatever their depth.
    pub(crate) fn is_fully_open(&self, block: usize) -> bool {
        self.whole.contains(&block)
    }

    /// Opens all nodes of a block, including those that were closed by hand.
    pub(crate) fn open_all(&mut self, block: usize) {
        self.by_hand.retain(|_, is_open| *is_open);
        self.whole.insert(block);
    }

    /// Undoes [`Self::open_all`].
    pub(crate) fn close_all(&mut self, block: usize) {
        self.whole.remove(&block);
    }
}

/// The folds of the trees of one body.
#[derive(Clone, Copy)]
pub(crate) struct ValueNodes<'a> {
    /// Folds of the entry.
    folds: Option<&'a NodeFolds>,
    block: usize,
    /// The root of the tree.
    pub(crate) root: NodeId,
}

impl<'a> ValueNodes<'a> {
    /// The folds of one tree of a block: of its input or its result.
    pub(crate) fn of(folds: Option<&'a NodeFolds>, block: usize, part: u8) -> Self {
        Self {
            folds,
            block,
            root: NodeId::root(block, part),
        }
    }

    /// The fold of a node, if it was set by hand.
    pub(crate) fn get(&self, node: NodeId) -> Option<bool> {
        self.folds.and_then(|folds| folds.get(node))
    }

    /// Whether all nodes are open, whatever their depth.
    pub(crate) fn is_fully_open(&self) -> bool {
        self.folds
            .is_some_and(|folds| folds.is_fully_open(self.block))
    }
}

#[cfg(test)]
mod tests {
    use super::{NodeFolds, NodeId};

    #[test]
    fn paths_have_numbers_of_their_own() {
        let root = NodeId::root(0, 1);
        let mut all = vec![
            root,
            NodeId::root(1, 0),
            NodeId::root(0, 0),
            root.member("a"),
            root.item(0),
        ];
        all.extend([
            root.item(1),
            root.more(1),
            root.member("a").member("b"),
            root.member("ab"),
        ]);
        for (place, node) in all.iter().enumerate() {
            assert!(!all[..place].contains(node), "{place}");
        }
        assert_eq!(
            root.member("a").item(3),
            NodeId::root(0, 1).member("a").item(3)
        );
    }

    #[test]
    fn opening_all_leaves_nothing_closed() {
        let (mut folds, node) = (NodeFolds::default(), NodeId::root(2, 0).item(1));
        folds.set(node, false);
        folds.open_all(2);
        assert_eq!(
            (
                folds.get(node),
                folds.is_fully_open(2),
                folds.is_fully_open(1)
            ),
            (None, true, false)
        );
    }
}
