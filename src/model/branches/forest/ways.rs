//! Paths from records to the root: where two of them meet, and which entries of a path were not
//! abandoned before.

use super::{Forest, NodeNumber};
use crate::model::fingerprint::Print;

/// The path up from each record, by node number. Where parents form a cycle, the path ends at one
/// of its records.
pub(crate) struct Ways {
    steps: Vec<ForestStep>,
    /// By node number: the node itself, or an ancestor if it was abandoned; the number of nodes at
    /// the root.
    unclaimed: Vec<usize>,
    /// Records visited; a measure of the work.
    pub(crate) work: u64,
}

#[derive(Clone, Copy)]
struct ForestStep {
    /// Number of records on the path, including this one; 0 while unknown.
    depth: u32,
    parent: Option<NodeNumber>,
    /// An ancestor to jump to, so that any depth is reached in few steps; the root's is the root.
    jump: NodeNumber,
}

/// What was abandoned when the session moved to another path.
pub(crate) struct AbandonedPath {
    /// Entries not abandoned before, as positions in the main lane, unordered.
    pub(crate) entries: Vec<usize>,
    /// The entry with which the abandoned path begins, where the two paths fork.
    pub(crate) first: Option<usize>,
}

impl Ways {
    /// Builds the paths of a forest.
    pub(crate) fn of(forest: &Forest) -> Self {
        let count = forest.parents.len();
        let mut ways = Self {
            steps: Vec::with_capacity(count),
            unclaimed: (0..=count).collect(),
            work: count as u64,
        };
        ways.steps
            .extend((0..count).map_while(NodeNumber::of).map(|node| ForestStep {
                depth: 0,
                parent: None,
                jump: node,
            }));
        let mut path: Vec<NodeNumber> = Vec::new();
        for start in (0..count).map_while(NodeNumber::of) {
            let mut at = Some(start);
            while let Some(node) = at.filter(|node| ways.depth(*node) == 0) {
                ways.set(node, |step| step.depth = u32::MAX);
                path.push(node);
                at = forest.parent(node);
            }
            let mut up = at.filter(|node| ways.depth(*node) < u32::MAX);
            while let Some(node) = path.pop() {
                let far = up.map(|up| ways.jump_from(up));
                let depth = up.map_or(0, |up| ways.depth(up)) + 1;
                ways.set(node, |step| {
                    *step = ForestStep {
                        depth,
                        parent: up,
                        jump: far.unwrap_or(node),
                    }
                });
                up = Some(node);
            }
        }
        ways
    }

    /// The jump target of a node below this one. Jump lengths are those of a skew binary number, so
    /// any ancestor is reached in logarithmic time.
    fn jump_from(&self, up: NodeNumber) -> NodeNumber {
        let far = self.jump(up);
        let further = self.jump(far);
        let length = |from: NodeNumber, to: NodeNumber| self.depth(from) - self.depth(to);
        if length(up, far) == length(far, further) {
            further
        } else {
            up
        }
    }

    fn set(&mut self, node: NodeNumber, set: impl FnMut(&mut ForestStep)) {
        self.steps.get_mut(node.number()).into_iter().for_each(set);
    }

    fn depth(&self, node: NodeNumber) -> u32 {
        self.steps.get(node.number()).map_or(0, |step| step.depth)
    }

    fn parent(&self, node: NodeNumber) -> Option<NodeNumber> {
        self.steps.get(node.number())?.parent
    }

    fn jump(&self, node: NodeNumber) -> NodeNumber {
        self.steps.get(node.number()).map_or(node, |step| step.jump)
    }

    /// The ancestor of `from` at this depth.
    fn at_depth(&mut self, from: NodeNumber, depth: u32) -> Option<NodeNumber> {
        let mut at = from;
        while self.depth(at) > depth {
            self.work += 1;
            let far = self.jump(at);
            at = if self.depth(far) >= depth {
                far
            } else {
                self.parent(at)?
            };
        }
        Some(at)
    }

    /// The lowest common ancestor of two nodes.
    fn meeting(&mut self, one: NodeNumber, other: NodeNumber) -> Option<NodeNumber> {
        let depth = self.depth(one).min(self.depth(other));
        let (mut one, mut other) = (self.at_depth(one, depth)?, self.at_depth(other, depth)?);
        while one != other {
            self.work += 1;
            let far = (self.jump(one), self.jump(other));
            let apart = far.0 != far.1 && self.depth(one) > 1;
            (one, other) = if apart {
                far
            } else {
                (self.parent(one)?, self.parent(other)?)
            };
        }
        Some(one)
    }

    /// What was abandoned at `tip` when the session continued with `next`. No entry is returned
    /// twice, so the total cost is linear in the session.
    pub(crate) fn abandon(&mut self, forest: &Forest, tip: Print, next: Print) -> AbandonedPath {
        let mut left = AbandonedPath {
            entries: Vec::new(),
            first: None,
        };
        let Some(tip) = forest.node(tip) else {
            return left;
        };
        let meeting = forest.node(next).and_then(|next| self.meeting(tip, next));
        let depth = meeting.map_or(0, |meeting| self.depth(meeting));
        if self.depth(tip) > depth {
            left.first = self
                .at_depth(tip, depth + 1)
                .and_then(|first| forest.entry_of(first));
        }
        let mut at = tip;
        loop {
            let number = compressed_end(&mut self.unclaimed, at.number());
            let Some(node) = NodeNumber::of(number).filter(|node| self.depth(*node) > depth) else {
                return left;
            };
            self.work += 1;
            left.entries.extend(forest.entry_of(node));
            let up = self
                .parent(node)
                .map_or(self.steps.len(), NodeNumber::number);
            self.unclaimed
                .get_mut(number)
                .into_iter()
                .for_each(|next| *next = up);
            at = node;
        }
    }
}

/// Follows the pointers from `from` to the end and compresses the path for later calls.
pub(crate) fn compressed_end(ways: &mut [usize], from: usize) -> usize {
    let mut at = from;
    while let Some(next) = ways.get(at).copied().filter(|next| *next != at) {
        let behind = ways.get(next).copied().unwrap_or(next);
        ways.get_mut(at).into_iter().for_each(|way| *way = behind);
        at = behind;
    }
    at
}
