//! Finds the depth to which a tree can be open within a budget of rows.
//!
//! Invariant: visits no more nodes than there are rows in the budget.

use super::{PAGE, TreeValue, has_children};
use crate::model::body::Tree;

/// The greatest depth at which a tree takes about `budget` rows; at least the root is open.
pub(super) fn fitting(value: TreeValue<'_>, budget: usize) -> usize {
    let TreeValue::Tree(tree) = value else {
        return 1;
    };
    let mut level = vec![tree];
    let mut rows = 0_usize;
    let mut depth = 0;
    while !level.is_empty() {
        let mut below = Vec::new();
        for tree in level {
            rows += push_children(&mut below, tree);
            if rows > budget {
                return depth.max(1);
            }
        }
        depth += 1;
        level = below;
    }
    usize::MAX
}

/// Adds the children that have children; returns the rows of all children when closed.
fn push_children<'t>(below: &mut Vec<&'t Tree>, tree: &'t Tree) -> usize {
    let mut add = |child: &'t Tree| {
        if has_children(child) {
            below.push(child);
        }
    };
    match tree {
        Tree::Map(members) => members
            .iter()
            .take(PAGE.0)
            .for_each(|(_, child)| add(child)),
        Tree::List(items) => items.iter().take(PAGE.0).for_each(add),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => {}
    }
    let count = match tree {
        Tree::Map(members) => members.len(),
        Tree::List(items) => items.len(),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_) => 0,
    };
    count.min(PAGE.0 + 1)
}
