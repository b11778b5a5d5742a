//! Selection of rows, from an anchor to a cursor that motions move. Both are rows of blocks, so
//! appends and folds elsewhere do not change them.

use super::walk::{RowPosition, RowSource, position_of, walk_down, walk_up, within_block};
use super::{Focus, Motion, Viewport, WindowLine, focus_of, lines_of_half_pages};
use crate::analysis::calls::lookup::Lookup;
use crate::model::entry::EntryId;
use crate::render::row::RowKind;

/// A row of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRef {
    pub entry: EntryId,
    /// Index of the block in the entry.
    pub(crate) block: usize,
    /// Row within the block.
    pub(crate) row: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    pub(crate) anchor: RowRef,
    /// The end of the selection that motions move.
    pub cursor: RowRef,
}

impl Selection {
    pub(crate) fn at(mark: RowRef) -> Self {
        Self {
            anchor: mark,
            cursor: mark,
        }
    }

    /// Maps the selection to another transcript of the session.
    pub(crate) fn remap(self, lookup: &Lookup<'_>) -> Option<Self> {
        let mark = |mark: RowRef| {
            Some(RowRef {
                entry: lookup.entry(mark.entry)?,
                ..mark
            })
        };
        Some(Self {
            anchor: mark(self.anchor)?,
            cursor: mark(self.cursor)?,
        })
    }

    /// The selection with anchor and cursor swapped.
    #[must_use]
    pub(crate) fn swapped(self) -> Self {
        Self {
            anchor: self.cursor,
            cursor: self.anchor,
        }
    }
}

fn position_of_mark(rows: &mut dyn RowSource, mark: RowRef) -> Option<RowPosition> {
    position_of(
        rows,
        Focus {
            entry: mark.entry,
            block: mark.block,
        },
        mark.row,
    )
}

fn mark(rows: &mut dyn RowSource, spot: RowPosition) -> Option<RowRef> {
    let Focus { entry, .. } = rows.start(spot.place)?;
    let (block, row) = within_block(&rows.rows(spot.place), spot.row);
    Some(RowRef { entry, block, row })
}

/// The row that a line of the window shows.
pub fn row_ref_of(line: &WindowLine) -> Option<RowRef> {
    let (block, row) = within_block(&line.rows, line.row);
    line.row().map(|_| RowRef {
        entry: line.entry,
        block,
        row,
    })
}

impl Viewport {
    /// Starts a selection at the first visible row of the focused item.
    pub(super) fn begin_selection(&mut self, rows: &mut dyn RowSource, height: usize) {
        let is_of_focus = |line: &&WindowLine| self.focus.is_some() && focus_of(line) == self.focus;
        let first = self.lines.iter().find(is_of_focus).or(self.lines.first());
        self.selection = first.and_then(row_ref_of).map(Selection::at);
        self.anchor_to_window(rows);
        self.scroll_to_cursor(rows, height);
    }

    /// Runs a motion on the cursor of the selection.
    pub(super) fn extend(&mut self, motion: Motion, rows: &mut dyn RowSource, height: usize) {
        let Some(from) = self
            .selection
            .and_then(|selection| position_of_mark(rows, selection.cursor))
        else {
            return;
        };
        let to = match motion {
            Motion::Items(by) => step(rows, from, by),
            Motion::HalfPages(by) => step(rows, from, lines_of_half_pages(by, height)),
            Motion::Top => Some(RowPosition { place: 0, row: 0 }),
            Motion::Tail => {
                let end = RowPosition {
                    place: rows.len(),
                    row: 0,
                };
                walk_up(rows, end, 1)
            }
            Motion::Show(focus) => position_of(rows, focus, 0),
            Motion::ShowRow(focus, row) => position_of(rows, focus, row),
            Motion::Lines(by) => return self.scroll(by, rows, height),
            Motion::Select => {
                // The mouse may have set anchor and cursor.
                return self.scroll_to_cursor(rows, height);
            }
            // No node is current while rows are selected.
            Motion::Pause | Motion::ToNode(_) => return self.anchor_to_window(rows),
        };
        let to = to
            .map(|to| skip_gaps(rows, to, from))
            .and_then(|to| mark(rows, to));
        if let (Some(selection), Some(to)) = (&mut self.selection, to) {
            selection.cursor = to;
        }
        self.scroll_to_cursor(rows, height);
    }

    /// Scrolls to the cursor, and focuses its item.
    fn scroll_to_cursor(&mut self, rows: &mut dyn RowSource, height: usize) {
        let Some(cursor) = self.selection.map(|selection| selection.cursor) else {
            return;
        };
        let Some(at) = position_of_mark(rows, cursor) else {
            return;
        };
        self.focus = Some(Focus {
            entry: cursor.entry,
            block: cursor.block,
        });
        let top = self.lines.first().map(WindowLine::position);
        let bottom = self.lines.last().map(WindowLine::position);
        if top.is_some_and(|top| at < top) {
            self.anchor_at(rows, at, 0);
        } else if bottom.is_some_and(|bottom| at > bottom) {
            self.anchor_at(rows, at, height.saturating_sub(1));
        } else {
            return self.anchor_cursor(rows, at);
        }
        self.fill(rows, height);
        self.anchor_cursor(rows, at);
    }

    /// Anchors the window to the cursor's row.
    fn anchor_cursor(&mut self, rows: &mut dyn RowSource, at: RowPosition) {
        if let Some(line) = self.lines.iter().position(|line| line.position() == at) {
            self.anchor_at(rows, at, line);
        }
    }

    /// Finds the selected lines of the window; drops a selection whose ends no longer exist.
    pub(super) fn update_selected(&mut self, rows: &mut dyn RowSource) {
        self.selected = None;
        let Some(selection) = self.selection else {
            return;
        };
        let (Some(one), Some(other)) = (
            position_of_mark(rows, selection.anchor),
            position_of_mark(rows, selection.cursor),
        ) else {
            self.selection = None;
            return;
        };
        let range = one.min(other)..=one.max(other);
        let inside: Vec<usize> = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, line)| range.contains(&line.position()))
            .map(|(at, _)| at)
            .collect();
        self.selected = inside.first().copied().zip(inside.last().copied());
    }
}

fn step(rows: &mut dyn RowSource, from: RowPosition, by: isize) -> Option<RowPosition> {
    if by < 0 {
        walk_up(rows, from, by.unsigned_abs())
    } else {
        Some(walk_down(rows, from, by.unsigned_abs()))
    }
}

/// Skips gaps between entries, in the direction of the motion.
fn skip_gaps(rows: &mut dyn RowSource, to: RowPosition, from: RowPosition) -> RowPosition {
    let mut at = to;
    for _ in 0..8 {
        let is_gap = rows
            .rows(at.place)
            .get(at.row)
            .is_some_and(|row| row.kind == RowKind::Gap);
        let next = match (is_gap, to < from) {
            (false, _) => return at,
            (true, true) => walk_up(rows, at, 1).unwrap_or(at),
            (true, false) => walk_down(rows, at, 1),
        };
        if next == at {
            break;
        }
        at = next;
    }
    // No rows but gaps up to the end.
    if to < from {
        from
    } else {
        walk_up(rows, to, 1).unwrap_or(from)
    }
}
