//! Walks over rows from a position. The cost depends on the number of entries passed.

use std::sync::Arc;

use super::Focus;
use crate::model::entry::EntryId;
use crate::render::row::{Row, item_at, rows_of};

/// A source of rows by portion: one portion for most entries, several for entries with many blocks.
pub trait RowSource {
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The entry of a portion, and its first block.
    fn start(&self, place: usize) -> Option<Focus>;
    /// Index of the portion that has a block.
    fn place(&self, focus: Focus) -> Option<usize>;
    /// The rows of a portion, in the order of their blocks.
    fn rows(&mut self, place: usize) -> Arc<Vec<Row>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowPosition {
    /// Index of the portion.
    pub(super) place: usize,
    /// Index of the row in the portion.
    pub(super) row: usize,
}

/// The block of a row, and the index of the row in the block.
pub(super) fn within_block(laid: &[Row], row: usize) -> (usize, usize) {
    let block = laid.get(row).map_or(0, |row| row.block);
    (block, row.saturating_sub(rows_of(laid, block).start))
}

/// The position of a row of a block; the last row if the block has become shorter. For a hidden
/// block, the first row of the block that [`focusable_neighbour`] finds.
pub(super) fn position_of(
    rows: &mut dyn RowSource,
    focus: Focus,
    row: usize,
) -> Option<RowPosition> {
    let place = rows.place(focus)?;
    let own = rows_of(&rows.rows(place), focus.block);
    if !own.is_empty() {
        return Some(RowPosition {
            place,
            row: own.start + row.min(own.len() - 1),
        });
    }
    let instead = focusable_neighbour(rows, focus).and_then(|instead| extent(rows, instead));
    Some(instead.map_or(RowPosition { place, row: 0 }, |(start, _)| start))
}

/// First and last row of an item, without the gap after it.
pub(super) fn extent(rows: &mut dyn RowSource, focus: Focus) -> Option<(RowPosition, RowPosition)> {
    let place = rows.place(focus)?;
    let (first, last) = item_at(&rows.rows(place), focus.block)?;
    Some((
        RowPosition { place, row: first },
        RowPosition { place, row: last },
    ))
}

/// The item after or before another one.
pub(super) fn neighbour(rows: &mut dyn RowSource, focus: Focus, forward: bool) -> Option<Focus> {
    let place = rows.place(focus)?;
    let own = rows_of(&rows.rows(place), focus.block);
    let from = if forward { own.end } else { own.start };
    item_from(rows, RowPosition { place, row: from }, forward, None)
}

/// The nearest item from a row on, forward or back; within one entry, if one is given.
fn item_from(
    rows: &mut dyn RowSource,
    from: RowPosition,
    forward: bool,
    within: Option<EntryId>,
) -> Option<Focus> {
    let is_item = |row: &&Row| !row.kind.is_between();
    let RowPosition { mut place, mut row } = from;
    loop {
        let entry = rows.start(place)?.entry;
        if within.is_some_and(|within| within != entry) {
            return None;
        }
        let laid = rows.rows(place);
        let found = if forward {
            laid.get(row..).unwrap_or_default().iter().find(is_item)
        } else {
            laid.get(..row.min(laid.len()))
                .unwrap_or_default()
                .iter()
                .rfind(is_item)
        };
        if let Some(found) = found {
            return Some(Focus {
                entry,
                block: found.block,
            });
        }
        (place, row) = if forward {
            (place + 1, 0)
        } else {
            (place.checked_sub(1)?, usize::MAX)
        };
    }
}

/// The row `lines` above, or the first row; `None` if there are no rows.
pub(super) fn walk_up(
    rows: &mut dyn RowSource,
    from: RowPosition,
    lines: usize,
) -> Option<RowPosition> {
    let mut left = lines;
    let mut spot = from;
    loop {
        if spot.row >= left && spot.place < rows.len() {
            return Some(RowPosition {
                row: spot.row - left,
                ..spot
            });
        }
        left -= spot.row.min(left);
        let Some(before) = spot.place.checked_sub(1) else {
            return (!rows.is_empty()).then_some(RowPosition { place: 0, row: 0 });
        };
        spot = RowPosition {
            place: before,
            row: rows.rows(before).len(),
        };
    }
}

/// The row `lines` below, or the last row.
pub(super) fn walk_down(rows: &mut dyn RowSource, from: RowPosition, lines: usize) -> RowPosition {
    let mut left = lines;
    let mut spot = from;
    loop {
        let count = rows.rows(spot.place).len();
        if spot.row + left < count {
            return RowPosition {
                row: spot.row + left,
                ..spot
            };
        }
        if spot.place + 1 >= rows.len() {
            // The last entries may have no rows.
            let end = RowPosition {
                place: rows.len(),
                row: 0,
            };
            return walk_up(rows, end, 1).unwrap_or(spot);
        }
        left -= (count - spot.row).min(left);
        spot = RowPosition {
            place: spot.place + 1,
            row: 0,
        };
    }
}

/// The item to focus instead of one without rows: the next of the same entry, or the one before.
pub(super) fn focusable_neighbour(rows: &mut dyn RowSource, focus: Focus) -> Option<Focus> {
    let place = rows.place(focus)?;
    let own = rows_of(&rows.rows(place), focus.block);
    let within = Some(focus.entry);
    item_from(
        rows,
        RowPosition {
            place,
            row: own.start,
        },
        true,
        within,
    )
    .or_else(|| {
        item_from(
            rows,
            RowPosition {
                place,
                row: own.start,
            },
            false,
            within,
        )
    })
}
