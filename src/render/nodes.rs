//! Nodes of trees that the reader can fold one by one, and which ones were folded by hand.
//!
//! **Trees fold by their paths.** A row of a tree knows its node, and a node is a number made of its path, so folds
//! and the reader's place in a tree hold when it is laid out anew or has grown. A tree is open as deep as its rows
//! fit; JSON that is too large for a tree is read as a text, as far as it is shown.
//!
//! Invariant: a node is known by its path from the root, so folds hold when a tree is laid out again or
//! grows at its end.

use std::collections::{HashMap, HashSet};

/// The path of a node, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u64);

impl NodeId {
    /// The root of a tree: `part` distinguishes trees of one block.
    pub(crate) fn root(block: usize, part: u8) -> Self {
        Self(0xcbf2_9ce4_8422_2325)
            .step(&block.to_le_bytes())
            .step(&[part])
    }

    /// The member of an object.
    #[must_use]
    pub(crate) fn member(self, key: &str) -> Self {
        self.step(b"k").step(key.as_bytes())
    }

    /// The item of a list.
    #[must_use]
    pub(crate) fn item(self, index: usize) -> Self {
        self.step(b"i").step(&index.to_le_bytes())
    }

    /// What stands for the children from an index on.
    #[must_use]
    pub(crate) fn rest(self, index: usize) -> Self {
        self.step(b"r").step(&index.to_le_bytes())
    }

    /// FNV-1a: small, and the same in every run.
    fn step(self, bytes: &[u8]) -> Self {
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(bytes.iter().fold(self.0, mix))
    }
}

/// The node that a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Which one.
    pub(crate) id: NodeId,
    /// What holds it; nothing holds children of the root.
    pub(crate) parent: Option<NodeId>,
    /// Whether it is open; `None` if there is nothing to fold.
    pub(crate) is_open: Option<bool>,
}

/// The nodes of an entry that were folded or opened by hand.
#[derive(Clone, Debug, Default)]
pub struct NodeFolds {
    by_hand: HashMap<NodeId, bool>,
    whole: HashSet<usize>,
}

impl NodeFolds {
    /// Whether a node was opened or closed by hand.
    pub(crate) fn get(&self, node: NodeId) -> Option<bool> {
        self.by_hand.get(&node).copied()
    }

    /// Opens or closes a node.
    pub(crate) fn set(&mut self, node: NodeId, is_open: bool) {
        self.by_hand.insert(node, is_open);
    }

    /// Whether all nodes of a block are open, whatever their depth.
    pub(crate) fn is_whole(&self, block: usize) -> bool {
        self.whole.contains(&block)
    }

    /// Opens all nodes of a block; the ones closed by hand too.
    pub(crate) fn open_all(&mut self, block: usize) {
        self.by_hand.retain(|_, is_open| *is_open);
        self.whole.insert(block);
    }

    /// The nodes of a block are no longer open together.
    pub(crate) fn close_all(&mut self, block: usize) {
        self.whole.remove(&block);
    }
}

/// The folds of the trees of one body.
#[derive(Clone, Copy)]
pub(crate) struct Nodes<'a> {
    /// By hand, of the whole entry.
    folds: Option<&'a NodeFolds>,
    /// The block.
    block: usize,
    /// The root of the tree.
    pub(crate) root: NodeId,
}

impl<'a> Nodes<'a> {
    /// Of a part of a block: its input, its result.
    pub(crate) fn of(folds: Option<&'a NodeFolds>, block: usize, part: u8) -> Self {
        Self {
            folds,
            block,
            root: NodeId::root(block, part),
        }
    }

    /// Of another part of the same block.
    #[must_use]
    pub(crate) fn part(self, part: u8) -> Self {
        Self::of(self.folds, self.block, part)
    }

    /// Whether a node was opened or closed by hand.
    pub(crate) fn get(&self, node: NodeId) -> Option<bool> {
        self.folds.and_then(|folds| folds.get(node))
    }

    /// Whether all nodes are open, whatever their depth.
    pub(crate) fn is_whole(&self) -> bool {
        self.folds.is_some_and(|folds| folds.is_whole(self.block))
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
            root.rest(1),
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
            (folds.get(node), folds.is_whole(2), folds.is_whole(1)),
            (None, true, false)
        );
    }
}
