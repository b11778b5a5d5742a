//! Motions between the nodes of a tree, as between items elsewhere.

use super::walk::RowPosition;
use super::{Focus, RowSource, Viewport, WindowLine, focus_of};
use crate::render::nodes::{NodeId, ValueNode};
use crate::render::row::{Row, rows_of};

/// The first row that shows a node.
pub(super) fn position_of(
    rows: &mut dyn RowSource,
    focus: Focus,
    node: Option<NodeId>,
) -> Option<RowPosition> {
    let (node, place) = (node?, rows.place(focus)?);
    let is_it = |row: &Row| row.node.is_some_and(|shown| shown.id == node);
    let laid = rows.rows(place);
    let own = rows_of(&laid, focus.block);
    Some(RowPosition {
        place,
        row: own.start + laid.get(own)?.iter().position(is_it)?,
    })
}

/// The node of a row, if it is the first row of that node.
pub(super) fn first_row_of(laid: &[Row], row: usize) -> Option<NodeId> {
    let id = |row: usize| laid.get(row).and_then(|row| row.node).map(|node| node.id);
    let above = row.checked_sub(1).and_then(id);
    id(row).filter(|node| Some(*node) != above)
}

/// First rows of the nodes of an item.
fn node_starts(laid: &[Row], block: usize) -> Vec<(usize, NodeId)> {
    rows_of(laid, block)
        .filter_map(|row| Some((row, first_row_of(laid, row)?)))
        .collect()
}

impl Viewport {
    /// The current node of the focused item's tree; `None` if it is not visible.
    pub fn node(&self) -> Option<ValueNode> {
        self.lines
            .iter()
            .find_map(|line| self.is_at_node(line).then(|| line.row()?.node)?)
    }

    /// Whether a line is the first row of the current node.
    pub fn is_at_node(&self, line: &WindowLine) -> bool {
        let Some((focus, node)) = self.at_node.filter(|(focus, _)| Some(*focus) == self.focus)
        else {
            return false;
        };
        focus_of(line) == Some(focus) && first_row_of(&line.rows, line.row) == Some(node)
    }

    pub(super) fn line_of_node(&self) -> Option<usize> {
        self.lines.iter().position(|line| self.is_at_node(line))
    }

    /// Goes to a node of the focused item.
    pub(super) fn go_to_node(&mut self, node: NodeId, rows: &mut dyn RowSource, height: usize) {
        let Some(focus) = self.focus else { return };
        let Some(spot) = position_of(rows, focus, Some(node)) else {
            return;
        };
        self.at_node = Some((focus, node));
        if self.line_of_node().is_none() {
            self.anchor_at(rows, spot, height / 4);
            self.fill(rows, height);
        }
        self.anchor_to_window(rows);
    }

    /// Steps to the next or previous node of the focused item. Returns `false` if there is none and
    /// no row on the way to it.
    pub(super) fn step_in_tree(
        &mut self,
        focus: Focus,
        forward: bool,
        rows: &mut dyn RowSource,
        height: usize,
    ) -> bool {
        let Some(place) = rows.place(focus) else {
            return false;
        };
        let stops = node_starts(&rows.rows(place), focus.block);
        let in_sight = |row: usize, view: &Self| {
            view.lines
                .iter()
                .any(|line| line.position() == RowPosition { place, row })
        };
        let here = self
            .at_node
            .filter(|(at, _)| *at == focus)
            .and_then(|(_, node)| stops.iter().position(|(_, stop)| *stop == node))
            .filter(|at| stops.get(*at).is_some_and(|(row, _)| in_sight(*row, self)));
        let next = match (here, forward) {
            (Some(at), true) => stops.get(at + 1),
            (Some(at), false) => match at.checked_sub(1) {
                Some(before) => stops.get(before),
                None => return self.leave_tree(focus, rows, height),
            },
            (None, true) => stops.iter().find(|(row, _)| in_sight(*row, self)),
            (None, false) => stops.iter().rev().find(|(row, _)| in_sight(*row, self)),
        };
        let Some((row, node)) = next.copied() else {
            return false;
        };
        if !in_sight(row, self) {
            // Rows in between scroll line by line, as in any tall item.
            self.scroll(if forward { 1 } else { -1 }, rows, height);
        }
        if in_sight(row, self) {
            self.at_node = Some((focus, node));
            self.anchor_to_window(rows);
        }
        true
    }

    /// Goes from the first node to the head of its item.
    fn leave_tree(&mut self, focus: Focus, rows: &mut dyn RowSource, height: usize) -> bool {
        let Some((start, _)) = super::extent(rows, focus) else {
            return false;
        };
        let is_in_sight = self.lines.iter().any(|line| line.position() == start);
        if !is_in_sight {
            self.scroll(-1, rows, height);
            return true;
        }
        self.at_node = None;
        self.anchor_to_window(rows);
        true
    }

    /// Leaves the tree, so that no node is current.
    pub(crate) fn clear_node(&mut self) {
        self.at_node = None;
    }
}
