//! Walking over the rows of entries, a few steps from where one stands. Nothing here looks at more
//! entries than it passes.

use std::sync::Arc;

use super::Focus;
use crate::model::entry::EntryId;
use crate::render::row::{Row, item_at, rows_of};

/// Gives the rows of the entries of a sequence, in portions: one for most entries, several for those with many blocks.
pub trait Rows {
    /// Number of portions.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The entry of the portion at a place, and the first block that it may have.
    fn start(&self, place: usize) -> Option<Focus>;
    /// Where the portion with a block stands.
    fn place(&self, focus: Focus) -> Option<usize>;
    /// The rows of the portion at a place, in the order of their blocks.
    fn rows(&mut self, place: usize) -> Arc<Vec<Row>>;
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    /// Place of the portion.
    pub(super) place: usize,
    /// Row of the portion.
    pub(super) row: usize,
}

/// The block that a row belongs to, and which of its rows it is.
pub(super) fn within_block(laid: &[Row], row: usize) -> (usize, usize) {
    let block = laid.get(row).map_or(0, |row| row.block);
    (block, row.saturating_sub(rows_of(laid, block).start))
}

/// A row of a block; the nearest one if the block has become shorter. If it is gone, the beginning of the
/// block that [`beside`] finds in its place.
pub(super) fn spot_of(rows: &mut dyn Rows, focus: Focus, row: usize) -> Option<Spot> {
    let place = rows.place(focus)?;
    let own = rows_of(&rows.rows(place), focus.block);
    if !own.is_empty() {
        return Some(Spot {
            place,
            row: own.start + row.min(own.len() - 1),
        });
    }
    let instead = beside(rows, focus).and_then(|instead| extent(rows, instead));
    Some(instead.map_or(Spot { place, row: 0 }, |(start, _)| start))
}

/// First and last row of an item, without the gap after it.
pub(super) fn extent(rows: &mut dyn Rows, focus: Focus) -> Option<(Spot, Spot)> {
    let place = rows.place(focus)?;
    let (first, last) = item_at(&rows.rows(place), focus.block)?;
    Some((Spot { place, row: first }, Spot { place, row: last }))
}

/// The item after or before another one.
pub(super) fn neighbour(rows: &mut dyn Rows, focus: Focus, forward: bool) -> Option<Focus> {
    let place = rows.place(focus)?;
    let own = rows_of(&rows.rows(place), focus.block);
    let from = if forward { own.end } else { own.start };
    item_from(rows, Spot { place, row: from }, forward, None)
}

/// The nearest item from a row on, or before it; within one entry, if that is asked for.
fn item_from(
    rows: &mut dyn Rows,
    from: Spot,
    forward: bool,
    within: Option<EntryId>,
) -> Option<Focus> {
    let is_item = |row: &&Row| !row.kind.is_between();
    let Spot { mut place, mut row } = from;
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

/// The row `lines` above; the first one if there are not so many. Nothing if there are no rows at all.
pub(super) fn walk_up(rows: &mut dyn Rows, from: Spot, lines: usize) -> Option<Spot> {
    let mut left = lines;
    let mut spot = from;
    loop {
        if spot.row >= left && spot.place < rows.len() {
            return Some(Spot {
                row: spot.row - left,
                ..spot
            });
        }
        left -= spot.row.min(left);
        let Some(before) = spot.place.checked_sub(1) else {
            return (!rows.is_empty()).then_some(Spot { place: 0, row: 0 });
        };
        spot = Spot {
            place: before,
            row: rows.rows(before).len(),
        };
    }
}

/// The row `lines` below, or the last one.
pub(super) fn walk_down(rows: &mut dyn Rows, from: Spot, lines: usize) -> Spot {
    let mut left = lines;
    let mut spot = from;
    loop {
        let count = rows.rows(spot.place).len();
        if spot.row + left < count {
            return Spot {
                row: spot.row + left,
                ..spot
            };
        }
        if spot.place + 1 >= rows.len() {
            // What comes last may have no rows.
            let end = Spot {
                place: rows.len(),
                row: 0,
            };
            return walk_up(rows, end, 1).unwrap_or(spot);
        }
        left -= (count - spot.row).min(left);
        spot = Spot {
            place: spot.place + 1,
            row: 0,
        };
    }
}

/// What takes the place of an item that has no rows: the next one of the same entry, or else the last.
pub(super) fn beside(rows: &mut dyn Rows, focus: Focus) -> Option<Focus> {
    let place = rows.place(focus)?;
    let own = rows_of(&rows.rows(place), focus.block);
    let within = Some(focus.entry);
    item_from(
        rows,
        Spot {
            place,
            row: own.start,
        },
        true,
        within,
    )
    .or_else(|| {
        item_from(
            rows,
            Spot {
                place,
                row: own.start,
            },
            false,
            within,
        )
    })
}
