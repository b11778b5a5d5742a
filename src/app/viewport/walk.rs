//! Walking over the rows of entries, a few steps from where one stands. Nothing here looks at more
//! entries than it passes.

use std::sync::Arc;

use super::Focus;
use crate::model::entry::EntryId;
use crate::render::row::Row;

/// Gives the rows of the entries of a sequence.
pub trait Rows {
    /// Number of entries.
    fn len(&self) -> usize;
    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The entry at a place.
    fn id(&self, place: usize) -> Option<EntryId>;
    /// Where an entry stands.
    fn place(&self, id: EntryId) -> Option<usize>;
    /// The rows of the entry at a place.
    fn rows(&mut self, place: usize) -> Arc<Vec<Row>>;
}

/// A row of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    /// Place of the entry in the sequence.
    pub(super) place: usize,
    /// Row of the entry.
    pub(super) row: usize,
}

/// The block that a row belongs to, and which of its rows it is.
pub(super) fn within_block(laid: &[Row], row: usize) -> (usize, usize) {
    let block = laid.get(row).map_or(0, |row| row.block);
    let first = laid.iter().position(|row| row.block == block).unwrap_or(0);
    (block, row.saturating_sub(first))
}

/// A row of a block; the nearest one if the block has become shorter or is gone.
pub(super) fn spot_of(rows: &mut dyn Rows, entry: EntryId, block: usize, row: usize) -> Option<Spot> {
    let place = rows.place(entry)?;
    let laid = rows.rows(place);
    let count = laid.iter().filter(|row| row.block == block).count();
    let first = laid.iter().position(|row| row.block >= block).unwrap_or(laid.len().saturating_sub(1));
    Some(Spot { place, row: first + row.min(count.saturating_sub(1)) })
}

/// First and last row of an item, without the gap after it.
pub(super) fn extent(rows: &mut dyn Rows, focus: Focus) -> Option<(Spot, Spot)> {
    let place = rows.place(focus.entry)?;
    let laid = rows.rows(place);
    let of_block = |row: &&Row| row.block == focus.block && !row.kind.is_between();
    let first = laid.iter().position(|row| of_block(&row))?;
    let last = laid.iter().rposition(|row| of_block(&row))?;
    Some((Spot { place, row: first }, Spot { place, row: last }))
}

/// The item after or before another one.
pub(super) fn neighbour(rows: &mut dyn Rows, focus: Focus, forward: bool) -> Option<Focus> {
    let place = rows.place(focus.entry)?;
    let within = items(&rows.rows(place));
    let at = within.iter().position(|block| *block == focus.block);
    let next = match (at, forward) {
        (Some(at), true) => within.get(at + 1),
        (Some(at), false) => at.checked_sub(1).and_then(|before| within.get(before)),
        (None, _) => None,
    };
    if let Some(block) = next {
        return Some(Focus { entry: focus.entry, block: *block });
    }
    let mut place = place;
    loop {
        place = if forward { place + 1 } else { place.checked_sub(1)? };
        let entry = rows.id(place)?;
        let blocks = items(&rows.rows(place));
        let block = if forward { blocks.first() } else { blocks.last() };
        if let Some(block) = block {
            return Some(Focus { entry, block: *block });
        }
    }
}

/// Blocks that have rows, in order.
fn items(laid: &[Row]) -> Vec<usize> {
    let mut blocks: Vec<usize> =
        laid.iter().filter(|row| !row.kind.is_between()).map(|row| row.block).collect();
    blocks.dedup();
    blocks
}

/// The row `lines` above; the first one if there are not so many. Nothing if there are no rows at all.
pub(super) fn walk_up(rows: &mut dyn Rows, from: Spot, lines: usize) -> Option<Spot> {
    let mut left = lines;
    let mut spot = from;
    loop {
        if spot.row >= left && spot.place < rows.len() {
            return Some(Spot { row: spot.row - left, ..spot });
        }
        left -= spot.row.min(left);
        let Some(before) = spot.place.checked_sub(1) else {
            return (!rows.is_empty()).then_some(Spot { place: 0, row: 0 });
        };
        spot = Spot { place: before, row: rows.rows(before).len() };
    }
}

/// The row `lines` below, or the last one.
pub(super) fn walk_down(rows: &mut dyn Rows, from: Spot, lines: usize) -> Spot {
    let mut left = lines;
    let mut spot = from;
    loop {
        let count = rows.rows(spot.place).len();
        if spot.row + left < count {
            return Spot { row: spot.row + left, ..spot };
        }
        if spot.place + 1 >= rows.len() {
            return Spot { row: count.saturating_sub(1), ..spot };
        }
        left -= (count - spot.row).min(left);
        spot = Spot { place: spot.place + 1, row: 0 };
    }
}

/// The item nearest to one that has no rows, in the same entry.
pub(super) fn beside(rows: &mut dyn Rows, focus: Focus) -> Option<Focus> {
    let place = rows.place(focus.entry)?;
    let blocks = items(&rows.rows(place));
    let block = *blocks.iter().min_by_key(|block| block.abs_diff(focus.block))?;
    Some(Focus { block, ..focus })
}
