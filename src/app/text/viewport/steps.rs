//! Motions between items.
//!
//! Invariant: the number of steps is bounded, whatever the count.

use super::walk::{RowSource, extent, neighbour, walk_up};
use super::{Focus, Motion, RowPosition, Viewport, focus_of};

/// Limit of single steps; greater counts go by entries.
const MOST_STEPS: usize = 500;

impl Viewport {
    /// Steps `by` items. The first [`MOST_STEPS`] go from item to item; a greater count goes on by
    /// entries, without laying them out.
    pub(super) fn step_by(&mut self, by: isize, rows: &mut dyn RowSource, height: usize) {
        let steps = by.unsigned_abs();
        for _ in 0..steps.min(MOST_STEPS) {
            let before = (self.anchor, self.focus, self.at_node);
            self.step(by > 0, rows, height);
            if before == (self.anchor, self.focus, self.at_node) {
                return;
            }
        }
        let left = steps.saturating_sub(MOST_STEPS);
        let here = self.focus.and_then(|focus| rows.place(focus));
        let Some(here) = here.filter(|_| left > 0) else {
            return;
        };
        let far = if by > 0 {
            here.saturating_add(left)
        } else {
            here.saturating_sub(left)
        };
        let far = far.min(rows.len().saturating_sub(1));
        let motion = match far {
            0 => Motion::Top,
            far if far + 1 == rows.len() => Motion::Tail,
            far => match rows.start(far) {
                Some(start) => Motion::Show(start),
                None => return,
            },
        };
        self.apply_motion(motion, rows, height);
    }

    /// Focuses the next or previous item; scrolls first if the item is taller than the window.
    fn step(&mut self, forward: bool, rows: &mut dyn RowSource, height: usize) {
        let Some(focus) = self.focus.filter(|focus| rows.place(*focus).is_some()) else {
            self.focus_in_window(0);
            return;
        };
        let Some((top, bottom)) = self.ends() else {
            return;
        };
        if self.step_in_tree(focus, forward, rows, height) {
            return;
        }
        let Some((start, end)) = extent(rows, focus) else {
            return;
        };
        let is_in_sight = self.lines.iter().any(|line| focus_of(line) == Some(focus));
        if is_in_sight && forward && bottom < end {
            return self.scroll(1, rows, height);
        }
        if is_in_sight && !forward && top > start {
            return self.scroll(-1, rows, height);
        }
        if let Some(next) = neighbour(rows, focus, forward) {
            let was_tail = self.follows();
            self.focus = Some(next);
            self.bring_into_view(next, forward, rows, height);
            if was_tail && !forward {
                self.anchor_to_window(rows);
            }
        } else if forward {
            self.scroll(1, rows, height);
        } else {
            self.scroll(-1, rows, height);
        }
    }

    /// The positions of the first and the last line of the window.
    fn ends(&self) -> Option<(RowPosition, RowPosition)> {
        let (first, last) = (self.lines.first()?, self.lines.last()?);
        Some((first.position(), last.position()))
    }

    fn bring_into_view(
        &mut self,
        focus: Focus,
        forward: bool,
        rows: &mut dyn RowSource,
        height: usize,
    ) {
        let Some((start, end)) = extent(rows, focus) else {
            return;
        };
        let Some((top, bottom)) = self.ends() else {
            return;
        };
        let tall = end.place == start.place && end.row - start.row + 1 >= height;
        if start < top {
            let spot = if tall && !forward {
                walk_up(rows, end, height - 1).unwrap_or(start)
            } else {
                start
            };
            self.anchor_at(rows, spot, 0);
        } else if end > bottom {
            if tall {
                self.anchor_at(rows, start, 0);
            } else {
                self.anchor_at(rows, end, height - 1);
            }
        } else {
            return;
        }
        self.fill(rows, height);
        self.anchor_to_window(rows);
    }
}
