//! The lane gutter: lines in columns that show which calls are in flight beside each row of the
//! window.
//!
//! A line opens (`╭`) at the head of its call and closes (`╰`) at the last row before the result;
//! several that close at one item close row by row in the order of their results. The line of a
//! call without a result is dashed. The lines of a sub-agent are right of those in flight at its
//! start. If there are more lines than columns, the oldest keep their columns, and the last column
//! shows a sign.
//!
//! Invariant: the cost depends on the rows and entries of the window, and no row depends on the
//! gutter.

use super::sequence::Sequence;
use super::viewport::Focus;
use crate::analysis::calls::Place;
use crate::analysis::calls::flights::{Flight, Flights};
use crate::model::entry::{Entry, EntryId};
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::transcript::Transcript;
use crate::render::row::{Row, RowKind};
use crate::session::filter::Filter;

pub mod make;
mod outer;
mod spans;

use spans::{LaneSpan, VisibleRows, own_spans};

/// What a cell shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    #[default]
    None,
    /// The head of a call.
    Opens,
    /// A call in flight.
    Within,
    /// The last row before the result.
    Closes,
    /// Head and end of a call on one row.
    Single,
    /// A call in flight without a result.
    Waits,
    /// More calls than columns.
    More,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GutterCell {
    /// The part of the line.
    pub part: Stroke,
    /// Whether the call started a sub-agent.
    pub is_agent: bool,
    /// Whether the call has the focus.
    pub(crate) is_focused: bool,
}

/// The gutter of the window.
#[derive(Clone, Debug, Default)]
pub struct LaneGutter {
    /// Cells from left to right, for each line of the window; empty if the gutter is hidden.
    pub lines: Vec<Vec<GutterCell>>,
}

/// Inputs of the lines.
struct GutterContext<'a> {
    transcript: &'a Transcript,
    flights: &'a Flights,
    sequence: &'a Sequence,
    filter: Option<&'a Filter>,
    /// Whether the entries of a sub-agent are shown.
    opens: &'a dyn Fn(&Name) -> bool,
    /// Cached lines beside the entries of the last sub-agent.
    outer: Option<(Name, Vec<outer::OuterLane<'a>>)>,
}

/// Most hidden entries to skip in the search for the next shown one.
const PASSED_OVER: usize = 512;

impl<'a> GutterContext<'a> {
    /// All lines beside the visible rows of an entry.
    fn spans_of(&mut self, id: EntryId, in_sight: &VisibleRows<'_>) -> Vec<LaneSpan> {
        let Some(entry) = self.transcript.get(id) else {
            return Vec::new();
        };
        let mut passes = Vec::new();
        if let Some(lane) = &entry.lane {
            if self.outer.as_ref().is_none_or(|(known, _)| known != lane) {
                self.outer = Some((lane.clone(), outer::of(self, lane, 0)));
            }
            let rows = in_sight.rows;
            let last = rows.iter().rposition(|row| !row.kind.is_between());
            let last = last.filter(|_| in_sight.portion.is_last());
            let around = self
                .outer
                .as_ref()
                .map(|(_, outer)| outer.as_slice())
                .unwrap_or_default();
            passes.extend(
                around
                    .iter()
                    .map(|outer| outer.span_of(self, id, (last, rows.len()))),
            );
        }
        let base = passes
            .iter()
            .map(|pass: &LaneSpan| pass.column + 1)
            .max()
            .unwrap_or(0);
        passes.extend(own_spans(self, (id, entry), in_sight, base));
        passes
    }

    /// Whether the call's own rows are shown.
    fn shows(&self, call: Place) -> bool {
        let focus = Focus {
            entry: call.entry,
            block: call.block,
        };
        self.sequence.place_of(call.entry).is_some()
            && self.filter.is_none_or(|filter| filter.shows(focus))
    }

    /// Whether a flight is still open at the next shown entry.
    fn continues_after(&self, flight: &Flight, id: EntryId) -> bool {
        let (Some(until), Some((place, _))) = (flight.until, self.flights.position(id, 0)) else {
            return true;
        };
        let left = until.0.saturating_sub(place).min(PASSED_OVER);
        let behind = self.flights.following(id).iter().take(left);
        let next = behind
            .copied()
            .find(|next| self.sequence.place_of(*next).is_some());
        let first = |id: EntryId| match self.filter {
            Some(filter) => filter.blocks(id).first().copied().unwrap_or(0),
            None => 0,
        };
        next.and_then(|next| self.flights.position(next, first(next)))
            .is_some_and(|spot| spot <= until)
    }

    /// The sub-agent of a call, if its entries are shown below.
    fn agent_below(&self, entry: &'a Entry, block: usize) -> Option<&'a LaneFacts> {
        let call = entry.call(block)?;
        let is_shown = |id: &EntryId| self.sequence.place_of(*id).is_some();
        let mut open = self
            .transcript
            .lanes_of_call(&call.key)
            .filter(|lane| (self.opens)(&lane.name));
        open.find(|lane| lane.entries.iter().any(is_shown))
    }

    /// The column of a call: that of its flight, or the first free one.
    fn column(&self, call: Place) -> (usize, Option<&'a Flight>) {
        let beside: Vec<&Flight> = self.flights.overlapping(call.entry).collect();
        let known = beside.iter().find(|flight| flight.call == call);
        known.map_or_else(
            || (self.free_column(call, &beside), None),
            |flight| (flight.column, Some(*flight)),
        )
    }

    /// The first column that none of these flights uses at a call.
    fn free_column(&self, call: Place, flights: &[&Flight]) -> usize {
        let Some(spot) = self.flights.position(call.entry, call.block) else {
            return 0;
        };
        let covering = || flights.iter().filter(|flight| flight.covers(spot));
        let is_free = |column: &usize| covering().all(|flight| flight.column != *column);
        (0..=covering().count()).find(is_free).unwrap_or(0)
    }
}

fn is_gap(rows: &[Row], row: usize) -> bool {
    rows.get(row).is_some_and(|row| row.kind == RowKind::Gap)
}
