//! Rows of spans without overlaps, with prefix sums, so that two searches give the sum of any
//! range.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use super::{RowContent, Span, SpanId};
use crate::analysis::calls::Outcome;
use crate::model::timestamp::Timestamp;

/// Spans of a lane with the same content that do not overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineRow {
    /// The lane in which it is shown.
    pub(crate) lane: usize,
    pub(crate) what: RowContent,
    /// Number of rows above it with the same lane and content.
    pub(crate) number: usize,
    pub(crate) spans: Vec<Span>,
    /// Prefix sums over the spans: time in ms, and number of failures.
    sums: Vec<(u64, usize)>,
}

impl TimelineRow {
    fn new(lane: usize, what: RowContent, number: usize, spans: Vec<Span>) -> Self {
        let sums = spans.iter().scan((0, 0), |(ms, bad), span| {
            *ms += span.end(None).since(span.id.from);
            *bad += usize::from(span.outcome == Outcome::Failed);
            Some((*ms, *bad))
        });
        Self {
            lane,
            what,
            number,
            sums: sums.collect(),
            spans,
        }
    }

    fn place(&self, id: SpanId) -> Option<usize> {
        self.spans.binary_search_by(|one| one.id.cmp(&id)).ok()
    }

    pub(crate) fn find(&self, id: SpanId) -> Option<&Span> {
        self.spans.get(self.place(id)?)
    }

    /// The indexes of spans that overlap a range; open ones extend to `now`.
    pub(crate) fn within(
        &self,
        from: Timestamp,
        to: Timestamp,
        now: Option<Timestamp>,
    ) -> Range<usize> {
        // Without overlaps, ends are sorted as well; only the last span may be open.
        let first = self.spans.partition_point(|span| {
            let end = span.end(now);
            end < from || (end == from && span.id.from < from)
        });
        let end = self.spans.partition_point(|span| span.id.from < to);
        first..end.max(first)
    }

    /// Time in ms and number of failures of a range of spans.
    pub(crate) fn sum(&self, places: &Range<usize>) -> (u64, usize) {
        let up_to = |place: usize| {
            place
                .checked_sub(1)
                .and_then(|last| self.sums.get(last))
                .copied()
                .unwrap_or_default()
        };
        let ((from, bad_before), (to, bad)) = (up_to(places.start), up_to(places.end));
        (to.saturating_sub(from), bad.saturating_sub(bad_before))
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rows {
    pub(super) list: Vec<TimelineRow>,
    /// The first row by lane and content.
    pub(super) first: HashMap<(usize, RowContent), usize>,
}

impl Rows {
    /// Distributes spans with the same content over as few rows as possible: each into the first
    /// row that is free. Returns the numbers of these rows.
    pub(super) fn add(
        &mut self,
        lane: usize,
        what: RowContent,
        mut spans: Vec<Span>,
    ) -> Range<usize> {
        spans.sort_unstable_by_key(|span| span.id);
        let mut rows: Vec<Vec<Span>> = Vec::new();
        let (mut taken, mut free) = (BinaryHeap::new(), BinaryHeap::new());
        for span in spans {
            while let Some(Reverse((until, row))) = taken.peek().copied()
                && until <= span.id.from
            {
                taken.pop();
                free.push(Reverse(row));
            }
            let number = free.pop().map_or(rows.len(), |Reverse(row)| row);
            taken.push(Reverse((occupied_until(&span), number)));
            match rows.get_mut(number) {
                Some(row) => row.push(span),
                None => rows.push(vec![span]),
            }
        }
        let first = self.list.len();
        self.first.insert((lane, what.clone()), first);
        let rows = rows.into_iter().enumerate();
        self.list.extend(
            rows.map(|(number, spans)| TimelineRow::new(lane, what.clone(), number, spans)),
        );
        first..self.list.len()
    }
}

/// Until when the span's row is occupied: by an open span for ever.
fn occupied_until(span: &Span) -> Timestamp {
    match span.outcome {
        Outcome::Open if span.to.is_none() => Timestamp(i64::MAX),
        _ => span
            .end(None)
            .max(Timestamp(span.id.from.0.saturating_add(1))),
    }
}
