//! The window over the rows of the transcript.
//!
//! **The window is anchored to a row of a block**, if possible of the focused one, never to a line
//! number. Rows are laid out from the anchor on; rows far above or below are not. Motions are
//! queued until the next layout, since rows exist only then; heights of entries elsewhere are
//! estimates for the scrollbar.

use std::sync::Arc;

use crate::analysis::calls::lookup::Lookup;
use crate::app::input::action::Way;
use crate::model::entry::EntryId;
use crate::render::nodes::NodeId;
use crate::render::row::{Row, RowKind};

mod nodes;
mod select;
mod steps;
mod walk;

pub use select::{RowRef, Selection, row_ref_of};
pub use walk::RowSource;
use walk::{
    RowPosition, extent, focusable_neighbour, position_of, walk_down, walk_up, within_block,
};

/// The position of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// At the end: new entries scroll the window. This state is what *following* means.
    #[default]
    Tail,
    /// A row of a block at a line of the window.
    Row {
        entry: EntryId,
        /// Index of the block in the entry.
        block: usize,
        /// Row within the block.
        row: usize,
        /// The tree node that the row shows; the row is found by it after nodes open and close.
        node: Option<NodeId>,
        /// Line of the window.
        line: usize,
    },
}

impl Anchor {
    /// Maps the anchor to another transcript of the session; to the end if its entry does not exist
    /// there.
    #[must_use]
    pub(crate) fn remap(self, lookup: &Lookup<'_>) -> Self {
        match self {
            Self::Row {
                entry,
                block,
                row,
                node,
                line,
            } => lookup.entry(entry).map_or(Self::Tail, |entry| Self::Row {
                entry,
                block,
                row,
                node,
                line,
            }),
            Self::Tail => Self::Tail,
        }
    }
}

/// The item that has the focus is named by its entry and block.
pub use crate::analysis::calls::Place as Focus;

/// A motion, queued for the next layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// Scroll by so many lines.
    Lines(isize),
    /// Scroll by half pages.
    HalfPages(isize),
    /// Focus the item that is so many further.
    Items(isize),
    /// Go to the beginning.
    Top,
    /// Go to the end, and follow.
    Tail,
    /// Stop following the end.
    Pause,
    /// Focus this item and scroll to it.
    Show(Focus),
    /// Focus this item and scroll to this row of it.
    ShowRow(Focus, usize),
    /// Start a selection, or scroll to its cursor.
    Select,
    /// Go to a node of the focused item's tree.
    ToNode(NodeId),
}

#[derive(Clone, Debug)]
pub struct WindowLine {
    pub entry: EntryId,
    /// Index of the portion among the portions of all entries.
    pub place: usize,
    /// Rows of the portion; for most entries these are all rows.
    pub rows: Arc<Vec<Row>>,
    /// Index of the row in the portion.
    pub row: usize,
}

impl WindowLine {
    pub fn row(&self) -> Option<&Row> {
        self.rows.get(self.row)
    }

    fn position(&self) -> RowPosition {
        RowPosition {
            place: self.place,
            row: self.row,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Viewport {
    pub(crate) anchor: Anchor,
    pub focus: Option<Focus>,
    /// The current node within the tree of an item.
    at_node: Option<(Focus, NodeId)>,
    /// Lines from the top; set by [`Viewport::arrange`].
    pub lines: Vec<WindowLine>,
    pub selection: Option<Selection>,
    /// First and last selected line of the window; set by [`Viewport::arrange`].
    pub selected: Option<(usize, usize)>,
    /// Whether the last line shows the last row of the session; set by [`Viewport::arrange`].
    pub(crate) is_at_end: bool,
    motions: Vec<Motion>,
    /// The anchor before the end of the rows forced the window up, and the anchor since. When rows
    /// are added below, the window goes back, unless it was moved in between.
    before_clamp: Option<(Anchor, Anchor)>,
    /// Whether to follow again if the end is still visible after the next layout.
    would_follow: bool,
}

impl Viewport {
    /// Maps window, focus and selection to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        let held = self.anchor.remap(lookup);
        self.anchor = if held == Anchor::Tail {
            self.nearest_anchor(lookup)
        } else {
            held
        };
        self.before_clamp = None;
        self.focus = self.focus.and_then(|focus| lookup.block(focus));
        self.selection = self.selection.and_then(|selection| selection.remap(lookup));
        self.lines.clear();
    }

    /// An anchor at the line nearest to the current one whose entry exists in the other transcript.
    fn nearest_anchor(&self, lookup: &Lookup<'_>) -> Anchor {
        let Anchor::Row { line: held, .. } = self.anchor else {
            return Anchor::Tail;
        };
        let mut lines: Vec<(usize, &WindowLine)> = self.lines.iter().enumerate().collect();
        lines.sort_by_key(|(line, _)| line.abs_diff(held));
        let there = lines.into_iter().find_map(|(line, shown)| {
            let (block, row) = within_block(&shown.rows, shown.row);
            let node = nodes::first_row_of(&shown.rows, shown.row);
            Some(Anchor::Row {
                entry: lookup.entry(shown.entry)?,
                block,
                row,
                node,
                line,
            })
        });
        there.unwrap_or_default()
    }

    /// Whether new entries scroll the window.
    pub fn follows(&self) -> bool {
        self.anchor == Anchor::Tail
    }

    /// Queues a motion for the next layout.
    pub fn push_motion(&mut self, motion: Motion) {
        // Equal motions are merged, since the wheel may turn a thousand times between two frames.
        match (self.motions.last_mut(), motion) {
            (Some(Motion::Lines(lines)), Motion::Lines(more))
                if lines.signum() == more.signum() =>
            {
                *lines = lines.saturating_add(more);
            }
            _ => self.motions.push(motion),
        }
    }

    /// Whether motions are queued.
    pub(crate) fn is_moving(&self) -> bool {
        !self.motions.is_empty()
    }

    /// The end of the transcript that the last queued motion goes to; the focus is not there yet.
    /// `None` if it does not go to an end.
    pub(crate) fn pending_end(&self) -> Option<Way> {
        match self.motions.last()? {
            Motion::Top => Some(Way::Previous),
            Motion::Tail => Some(Way::Next),
            _ => None,
        }
    }

    /// Anchors a following window to the focused item, so that a fold opens below its head. The
    /// window follows again if the end stays visible.
    pub fn pin(&mut self) {
        let head = self
            .lines
            .iter()
            .position(|line| focus_of(line) == self.focus);
        if let Some((line, shown)) = head.and_then(|line| Some((line, self.lines.get(line)?)))
            && self.follows()
        {
            let (block, row) = within_block(&shown.rows, shown.row);
            let node = nodes::first_row_of(&shown.rows, shown.row);
            self.anchor = Anchor::Row {
                entry: shown.entry,
                block,
                row,
                node,
                line,
            };
            self.would_follow = true;
        }
    }

    /// Runs the queued motions, then fills the window with `height` lines.
    pub fn arrange(&mut self, rows: &mut dyn RowSource, height: usize) {
        let held = self.anchor;
        let is_clamped = self.fill(rows, height);
        let motions = std::mem::take(&mut self.motions);
        if !motions.is_empty() || self.before_clamp.is_some_and(|(_, since)| since != held) {
            self.before_clamp = None;
        }
        if motions.is_empty() && is_clamped && !self.follows() {
            self.before_clamp.get_or_insert((held, held));
        }
        for motion in motions {
            self.apply_motion(motion, rows, height);
        }
        self.is_at_end = self.is_at_end(rows);
        self.finish_motions(rows);
        if let Some((_, since)) = &mut self.before_clamp {
            *since = self.anchor;
        }
        self.update_selected(rows);
    }

    /// Gives up the anchor from before the end forced the window up: no more rows will be read.
    pub(crate) fn accept_clamp(&mut self) {
        self.before_clamp = None;
    }

    /// Goes back to the anchor from before the end forced the window up, since rows were added
    /// below.
    pub(crate) fn restore_place(&mut self) {
        if let Some((before, _)) = self
            .before_clamp
            .take()
            .filter(|(_, since)| *since == self.anchor)
        {
            self.anchor = before;
        }
    }

    // === filling ===

    /// Fills the lines around the anchor. Returns whether the end forced the window up: then the
    /// last row is on the last line, and the anchor is not on its own line.
    fn fill(&mut self, rows: &mut dyn RowSource, height: usize) -> bool {
        self.lines.clear();
        if height == 0 || rows.is_empty() {
            return false;
        }
        let wanted = match self.anchor {
            Anchor::Tail => None,
            Anchor::Row {
                entry,
                block,
                row,
                node,
                line,
            } => {
                // A window that has shrunk keeps its anchor visible.
                let spot = nodes::position_of(rows, Focus { entry, block }, node);
                spot.or_else(|| position_of(rows, Focus { entry, block }, row))
                    .map(|spot| (spot, line.min(height - 1)))
            }
        };
        let top = match wanted {
            Some((spot, line)) => walk_up(rows, spot, line),
            None => None,
        };
        match top {
            Some(top) => self.fill_down(rows, top, height),
            None => self.fill_from_end(rows, height),
        }
        let is_clamped = self.lines.len() < height;
        if is_clamped {
            self.fill_from_end(rows, height);
        }
        is_clamped
    }

    fn fill_down(&mut self, rows: &mut dyn RowSource, top: RowPosition, height: usize) {
        self.lines.clear();
        let mut first = top.row;
        for place in top.place..rows.len() {
            let Some(Focus { entry, .. }) = rows.start(place) else {
                break;
            };
            let laid = rows.rows(place);
            for row in first..laid.len() {
                if self.lines.len() == height {
                    return;
                }
                self.lines.push(WindowLine {
                    entry,
                    place,
                    rows: Arc::clone(&laid),
                    row,
                });
            }
            first = 0;
        }
    }

    fn fill_from_end(&mut self, rows: &mut dyn RowSource, height: usize) {
        let end = RowPosition {
            place: rows.len(),
            row: 0,
        };
        if let Some(top) = walk_up(rows, end, height) {
            self.fill_down(rows, top, height);
        }
    }

    // === motions ===

    fn apply_motion(&mut self, motion: Motion, rows: &mut dyn RowSource, height: usize) {
        if self.selection.is_some() {
            return self.extend(motion, rows, height);
        }
        match motion {
            Motion::Select => self.begin_selection(rows, height),
            Motion::Lines(by) => self.scroll(by, rows, height),
            Motion::HalfPages(by) => {
                self.scroll(lines_of_half_pages(by, height), rows, height);
                self.focus_in_window(0);
            }
            Motion::Items(by) => self.step_by(by, rows, height),
            Motion::Top => {
                self.anchor_at(rows, RowPosition { place: 0, row: 0 }, 0);
                self.fill(rows, height);
                self.focus = self.lines.first().and_then(focus_of);
            }
            Motion::Tail => {
                self.anchor = Anchor::Tail;
                self.fill(rows, height);
                self.focus = self.lines.last().and_then(focus_of);
            }
            Motion::Pause => self.anchor_to_window(rows),
            Motion::Show(focus) => self.show(focus, None, rows, height),
            Motion::ShowRow(focus, row) => self.show(focus, Some(row), rows, height),
            Motion::ToNode(node) => self.go_to_node(node, rows, height),
        }
    }

    fn scroll(&mut self, by: isize, rows: &mut dyn RowSource, height: usize) {
        let Some(top) = self.lines.first().map(WindowLine::position) else {
            return;
        };
        let target = if by < 0 {
            walk_up(rows, top, by.unsigned_abs())
        } else {
            Some(walk_down(rows, top, by.unsigned_abs()))
        };
        if let Some(spot) = target {
            self.anchor_at(rows, spot, 0);
            self.fill(rows, height);
            self.anchor_to_window(rows);
        }
    }

    /// A jump scrolls the item to a quarter from the top, so that the entries before it are
    /// visible.
    fn show(&mut self, focus: Focus, row: Option<usize>, rows: &mut dyn RowSource, height: usize) {
        let Some((start, end)) = extent(rows, focus) else {
            return;
        };
        self.focus = Some(focus);
        let target = RowPosition {
            row: (start.row + row.unwrap_or(0)).min(end.row),
            ..start
        };
        let in_sight: Vec<RowPosition> = self.lines.iter().map(WindowLine::position).collect();
        let shows_all = in_sight.contains(&target) && (row.is_some() || in_sight.contains(&end));
        if shows_all {
            self.anchor_to_window(rows);
            return;
        }
        self.anchor_at(
            rows,
            target,
            if target.row == 0 && target.place == 0 {
                0
            } else {
                height / 4
            },
        );
        self.fill(rows, height);
        self.anchor_to_window(rows);
    }

    // === anchors ===

    fn is_at_end(&self, rows: &mut dyn RowSource) -> bool {
        let Some(last) = self.lines.last() else {
            return true;
        };
        last.row + 1 == last.rows.len()
            && (last.place + 1..rows.len()).all(|below| rows.rows(below).is_empty())
    }

    fn anchor_at(&mut self, rows: &mut dyn RowSource, spot: RowPosition, line: usize) {
        let Some(Focus { entry, block }) = rows.start(spot.place) else {
            return;
        };
        let laid = rows.rows(spot.place);
        let (block, row) = if laid.is_empty() {
            (block, 0)
        } else {
            within_block(&laid, spot.row)
        };
        let node = nodes::first_row_of(&laid, spot.row);
        self.anchor = Anchor::Row {
            entry,
            block,
            row,
            node,
            line,
        };
    }

    /// Anchors to the head of the focused item if it is visible, or to the top line.
    fn anchor_to_window(&mut self, rows: &mut dyn RowSource) {
        let head = self
            .lines
            .iter()
            .position(|line| focus_of(line) == self.focus && self.focus.is_some());
        let line = self.line_of_node().or(head).unwrap_or(0);
        let Some(spot) = self.lines.get(line).map(WindowLine::position) else {
            return;
        };
        self.anchor_at(rows, spot, line);
    }

    fn focus_if_lost(&mut self) {
        match self.anchor {
            Anchor::Row { line, .. } if self.focus.is_none() => self.focus_in_window(line),
            Anchor::Row { .. } | Anchor::Tail => {}
        }
    }

    /// Focuses the item whose head is nearest to a line, unless the focus is visible.
    fn focus_in_window(&mut self, near: usize) {
        let is_in_sight = self
            .lines
            .iter()
            .any(|line| self.focus.is_some() && focus_of(line) == self.focus);
        if !is_in_sight {
            let is_head = |row: &Row| row.kind != RowKind::Body && !row.kind.is_between();
            let heads = self
                .lines
                .iter()
                .enumerate()
                .filter(|(_, line)| line.row().is_some_and(is_head));
            let nearest = heads
                .min_by_key(|(place, _)| place.abs_diff(near))
                .map(|(_, line)| line);
            self.focus = nearest.or(self.lines.first()).and_then(focus_of);
        }
    }

    /// After all motions, a following window focuses its last item; any other keeps its position.
    fn finish_motions(&mut self, rows: &mut dyn RowSource) {
        if std::mem::take(&mut self.would_follow) && self.is_at_end {
            self.anchor = Anchor::Tail;
        }
        if self.follows() {
            self.focus = self
                .lines
                .iter()
                .rev()
                .find(|line| line.row().is_some_and(|row| !row.kind.is_between()))
                .and_then(focus_of);
        } else {
            // A hidden item, such as thinking, loses the focus.
            if self.focus.is_none_or(|focus| extent(rows, focus).is_none()) {
                self.focus = self
                    .focus
                    .and_then(|focus| focusable_neighbour(rows, focus));
                self.focus_if_lost();
            }
            self.anchor_to_window(rows);
        }
    }
}

/// Half pages in lines. A whole page repeats two lines.
fn lines_of_half_pages(by: isize, height: usize) -> isize {
    let at_least_one = |lines: usize| isize::try_from(lines).unwrap_or(1).max(1);
    if by % 2 == 0 {
        by / 2 * at_least_one(height.saturating_sub(2))
    } else {
        by * at_least_one(height / 2)
    }
}

/// The item that a line belongs to.
pub fn focus_of(line: &WindowLine) -> Option<Focus> {
    Some(Focus {
        entry: line.entry,
        block: line.row()?.block,
    })
}

#[cfg(test)]
mod tests;
