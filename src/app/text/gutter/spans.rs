//! Lines beside the rows of one entry: the rows on which each begins and ends, and its column.

use std::cmp::Reverse;
use std::ops::Range;

use super::{GutterCell, GutterContext, Stroke, is_gap};
use crate::analysis::calls::Place;
use crate::analysis::calls::flights::Flight;
use crate::app::text::portions::EntryPortion;
use crate::app::text::viewport::Focus;
use crate::model::entry::{Entry, EntryId};
use crate::render::row::{Row, item_at};

/// A line beside rows of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneSpan {
    pub(crate) call: Place,
    /// Column, from 0.
    pub(crate) column: usize,
    /// Index of the row at which the line opens; `None` if it opened in an earlier entry.
    pub(crate) opens: Option<usize>,
    /// Index of the row at which the line closes; `None` if it does not close in this entry.
    pub(crate) closes: Option<usize>,
    /// Index of the last row of the line in this entry.
    pub(crate) stops: usize,
    /// Whether the call has no result.
    pub(crate) is_open: bool,
    /// Whether the call started a sub-agent.
    pub(crate) is_agent: bool,
}

impl LaneSpan {
    fn part(&self, row: usize) -> Stroke {
        if row < self.opens.unwrap_or(0) || row > self.stops {
            return Stroke::None;
        }
        match (
            self.opens == Some(row),
            self.closes == Some(row),
            self.is_open,
        ) {
            (true, true, _) => Stroke::Single,
            (true, false, true) if self.stops == row => Stroke::Waits,
            (true, false, _) => Stroke::Opens,
            (false, true, _) => Stroke::Closes,
            (false, false, true) => Stroke::Waits,
            (false, false, false) => Stroke::Within,
        }
    }
}

/// The rows of a portion of an entry, and the range of them that is visible.
pub(crate) struct VisibleRows<'a> {
    pub(crate) rows: &'a [Row],
    pub(crate) range: Range<usize>,
    pub(crate) portion: EntryPortion,
}

/// The first and the last row of a block.
#[derive(Clone, Copy)]
struct BlockRows {
    block: usize,
    first: usize,
    last: usize,
}

impl VisibleRows<'_> {
    /// Blocks with visible rows.
    fn blocks(&self) -> Vec<usize> {
        let rows = self.rows.get(self.range.clone()).unwrap_or_default();
        let mut blocks: Vec<usize> = rows.iter().map(|row| row.block).collect();
        blocks.dedup();
        blocks
    }

    fn extent(&self, block: usize) -> Option<BlockRows> {
        item_at(self.rows, block).map(|(first, last)| BlockRows { block, first, last })
    }

    /// The last block that has rows, up to this one.
    fn extent_up_to(&self, block: usize) -> Option<BlockRows> {
        let before = self.rows.partition_point(|row| row.block <= block);
        let last = self
            .rows
            .get(..before)?
            .iter()
            .rfind(|row| !row.kind.is_between())?;
        self.extent(last.block)
    }
}

/// The end of a line within the entry.
struct LaneEnd {
    pass: usize,
    at: BlockRows,
    rank: (i64, (usize, usize)),
    is_own: bool,
}

/// The lines of the entry's own calls, and of earlier calls of its lane in flight; columns count
/// from `base`.
pub(crate) fn own_spans(
    scene: &GutterContext<'_>,
    (id, entry): (EntryId, &Entry),
    in_sight: &VisibleRows<'_>,
    base: usize,
) -> Vec<LaneSpan> {
    let mut passes: Vec<LaneSpan> = Vec::new();
    let mut ends: Vec<LaneEnd> = Vec::new();
    let blocks = in_sight.blocks();
    let spot = |block: Option<&usize>| {
        scene
            .flights
            .position(id, block.copied().unwrap_or(0))
            .unwrap_or_default()
    };
    let (first, last) = (spot(blocks.first()), spot(blocks.last()));
    let is_near =
        |flight: &&Flight| flight.from <= last && flight.until.is_none_or(|until| first <= until);
    let beside: Vec<&Flight> = scene.flights.overlapping(id).filter(is_near).collect();
    let mut flights: Vec<Flight> = beside
        .iter()
        .copied()
        .filter(|flight| scene.shows(flight.call))
        .copied()
        .collect();
    flights.extend(without_column(scene, (id, entry), &blocks, &beside));
    // A call that runs alone needs no line, unless the entries of its sub-agent follow.
    let has_agent = |flight: &Flight| {
        flight.is_agent
            || flight.call.entry == id && scene.agent_below(entry, flight.call.block).is_some()
    };
    flights.retain(|flight| {
        !flight.is_answered || has_agent(flight) || scene.flights.overlaps(id, flight)
    });
    for flight in flights {
        let is_here = flight.call.entry == id;
        let head = in_sight.extent(flight.call.block).filter(|_| is_here);
        let own = in_sight.portion.blocks();
        if is_here && head.is_none() && own.contains(&flight.call.block) {
            continue;
        }
        let below = is_here && scene.agent_below(entry, flight.call.block).is_some();
        let mut pass = LaneSpan {
            call: flight.call,
            column: base + flight.column,
            opens: head.map(|extent| extent.first),
            closes: None,
            stops: in_sight.rows.len(),
            is_open: !flight.is_answered,
            is_agent: flight.is_agent,
        };
        if !below && !scene.continues_after(&flight, id) {
            let until = flight
                .until
                .filter(|(place, _)| scene.flights.position(id, 0).map(|at| at.0) == Some(*place));
            let block = until.map_or(usize::MAX, |(_, block)| block);
            if block >= own.end && !in_sight.portion.is_last() {
                passes.push(pass);
                continue;
            }
            let Some(at) = in_sight.extent_up_to(block) else {
                continue;
            };
            pass.stops = at.last;
            if flight.is_answered {
                let is_own = is_here && at.block == flight.call.block;
                ends.push(LaneEnd {
                    pass: passes.len(),
                    at,
                    rank: (flight.rank, flight.from),
                    is_own,
                });
            }
        }
        passes.push(pass);
    }
    for end in closing_rows(ends, in_sight.rows) {
        if let Some(pass) = passes.get_mut(end.0) {
            (pass.closes, pass.stops) = (Some(end.1), end.1);
        }
    }
    passes
}

/// Calls of the entry without a flight in the index; their lines end with their own rows.
fn without_column(
    scene: &GutterContext<'_>,
    (id, entry): (EntryId, &Entry),
    blocks: &[usize],
    beside: &[&Flight],
) -> Vec<Flight> {
    let calls = blocks.iter().copied().filter_map(|block| {
        let call = entry.call(block)?;
        let place = Place { entry: id, block };
        let has_column = beside.iter().any(|flight| flight.call == place);
        let spot = scene.flights.position(id, block).unwrap_or((0, block));
        (!has_column).then(|| Flight {
            call: place,
            from: spot,
            until: Some(spot),
            column: scene.free_column(place, beside),
            rank: 0,
            is_answered: !call.state.is_open(),
            is_agent: false,
        })
    });
    calls.collect()
}

/// The indexes of the rows at which lines close. Lines that end at one item close row by row in the
/// order of their results: before the item's own result within the item, after it in the gap below.
fn closing_rows(mut ends: Vec<LaneEnd>, rows: &[Row]) -> Vec<(usize, usize)> {
    ends.sort_by_key(|end| (end.at.last, end.rank, Reverse(end.is_own)));
    let mut out = Vec::with_capacity(ends.len());
    for group in ends.chunk_by(|end, next| end.at.last == next.at.last) {
        let own = group
            .iter()
            .position(|end| end.is_own)
            .unwrap_or(group.len() - 1);
        for (number, end) in group.iter().enumerate() {
            let BlockRows { first, last, .. } = end.at;
            let row = match number.checked_sub(own) {
                None => last.saturating_sub(own - number).max(first),
                Some(0) => last,
                Some(_) if is_gap(rows, last + 1) => last + 1,
                Some(_) => last,
            };
            out.push((end.pass, row));
        }
    }
    out
}

/// The cells beside a row. The oldest lines keep their columns; the last column shows a sign if
/// there are more.
pub(crate) fn place_in_columns(
    passes: &[LaneSpan],
    row: usize,
    columns: usize,
    focus: Option<Focus>,
) -> Vec<GutterCell> {
    let mut cells = vec![GutterCell::default(); columns];
    let mut beyond: Option<GutterCell> = None;
    for pass in passes {
        let part = pass.part(row);
        if part == Stroke::None {
            continue;
        }
        let is_focused = focus == Some(pass.call);
        match cells.get_mut(pass.column) {
            Some(cell) if cell.part == Stroke::None => {
                *cell = GutterCell {
                    part,
                    is_agent: pass.is_agent,
                    is_focused,
                }
            }
            Some(_) => {}
            None => {
                let known = beyond.is_some_and(|cell| cell.is_focused);
                beyond = Some(GutterCell {
                    part: Stroke::More,
                    is_agent: false,
                    is_focused: known || is_focused,
                });
            }
        }
    }
    if let (Some(last), Some(more)) = (cells.last_mut(), beyond) {
        *last = GutterCell {
            is_focused: more.is_focused || last.is_focused,
            ..more
        };
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::{LaneSpan, Stroke, place_in_columns};
    use crate::analysis::calls::Place;
    use crate::app::text::gutter::GutterCell;
    use crate::model::entry::EntryId;

    fn pass(block: usize, column: usize, rows: (usize, usize)) -> LaneSpan {
        LaneSpan {
            call: Place {
                entry: EntryId(0),
                block,
            },
            column,
            opens: Some(rows.0),
            closes: Some(rows.1),
            stops: rows.1,
            is_open: false,
            is_agent: false,
        }
    }

    #[test]
    fn the_oldest_keep_their_columns() {
        let passes = [
            pass(0, 0, (0, 6)),
            pass(1, 1, (1, 5)),
            pass(2, 2, (2, 4)),
            pass(3, 3, (3, 3)),
        ];
        let parts = |row: usize, columns: usize| -> Vec<Stroke> {
            let cells: Vec<GutterCell> = place_in_columns(&passes, row, columns, None);
            cells.into_iter().map(|cell| cell.part).collect()
        };
        assert_eq!(parts(1, 2), [Stroke::Within, Stroke::Opens]);
        assert_eq!(parts(2, 2), [Stroke::Within, Stroke::More]);
        assert_eq!(parts(4, 2), [Stroke::Within, Stroke::More]);
        assert_eq!(parts(5, 2), [Stroke::Within, Stroke::Closes]);
        assert_eq!(
            parts(3, 4),
            [
                Stroke::Within,
                Stroke::Within,
                Stroke::Within,
                Stroke::Single
            ]
        );
        assert_eq!(parts(7, 4), [Stroke::None; 4]);
    }

    #[test]
    fn who_waits_for_ever_is_dashed() {
        let waits = LaneSpan {
            closes: None,
            stops: 9,
            is_open: true,
            ..pass(0, 0, (2, 0))
        };
        let parts = [1, 2, 3, 9].map(|row| waits.part(row));
        assert_eq!(
            parts,
            [Stroke::None, Stroke::Opens, Stroke::Waits, Stroke::Waits]
        );
        let alone = LaneSpan { stops: 2, ..waits };
        assert_eq!(alone.part(2), Stroke::Waits, "a head row by itself");
    }
}
