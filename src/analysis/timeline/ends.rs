//! Index of work spans by lane and end: finds the last one to end before a timestamp.

use std::cmp::Reverse;

use super::SpanId;
use crate::model::timestamp::Timestamp;

/// The end of a work span. Of spans that end at once the longest is the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SpanEnd {
    pub(crate) lane: usize,
    pub(crate) to: Timestamp,
    from: Reverse<Timestamp>,
    pub(crate) id: SpanId,
}

impl SpanEnd {
    pub(crate) fn new(lane: usize, to: Timestamp, id: SpanId) -> Self {
        Self {
            lane,
            to,
            from: Reverse(id.from),
            id,
        }
    }

    /// A bound after all ends of a lane up to a timestamp, and before all others.
    pub(crate) fn after(lane: usize, at: Timestamp) -> Self {
        let first = SpanId::first_at(Timestamp(i64::MIN));
        Self {
            lane,
            to: Timestamp(at.0.saturating_add(1)),
            from: Reverse(Timestamp(i64::MAX)),
            id: first,
        }
    }

    /// The start of the span.
    pub(crate) fn from(&self) -> Timestamp {
        self.from.0
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanEnds(Vec<SpanEnd>);

impl SpanEnds {
    pub(crate) fn of(mut ends: Vec<SpanEnd>) -> Self {
        ends.sort_unstable();
        Self(ends)
    }

    /// The last end of the same lane before a bound.
    pub(crate) fn before(&self, bound: SpanEnd) -> Option<SpanEnd> {
        let last = self.0.partition_point(|end| *end < bound).checked_sub(1)?;
        self.0
            .get(last)
            .copied()
            .filter(|end| end.lane == bound.lane)
    }
}
