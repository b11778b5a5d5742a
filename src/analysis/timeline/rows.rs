//! Rows of spans that do not overlap, with sums, so that any part of a row is judged by two searches.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Ending, Span, SpanId, What};
use crate::model::timestamp::Timestamp;

/// A row.
#[derive(Clone, Debug)]
pub struct TimelineRow {
    /// The lane in which it is shown.
    pub(crate) lane: usize,
    /// What it shows.
    pub(crate) what: What,
    /// How many rows of the same stand above it.
    pub(crate) number: usize,
    spans: Vec<Span>,
    /// Of each span and all before it: time in ms, and how many did not end well.
    sums: Vec<(u64, usize)>,
    /// The sums hold up to here.
    settled: usize,
}

impl TimelineRow {
    /// An empty one.
    fn new(lane: usize, what: What, number: usize) -> Self {
        Self { lane, what, number, spans: Vec::new(), sums: Vec::new(), settled: 0 }
    }

    /// Whether no span of the row is in the way.
    fn fits(&self, span: &Span) -> bool {
        let place = self.spans.partition_point(|one| one.id < span.id);
        let before = place.checked_sub(1).and_then(|before| self.spans.get(before));
        before.is_none_or(|before| taken_until(before) <= span.id.from)
            && self.spans.get(place).is_none_or(|next| taken_until(span) <= next.id.from)
    }

    fn insert(&mut self, span: Span) {
        let place = self.spans.partition_point(|one| one.id < span.id);
        self.spans.insert(place, span);
        self.settled = self.settled.min(place);
    }

    fn remove(&mut self, id: SpanId) -> Option<Span> {
        let place = self.place(id)?;
        self.settled = self.settled.min(place);
        Some(self.spans.remove(place))
    }

    fn settle(&mut self) {
        self.sums.truncate(self.settled);
        let (mut ms, mut bad) = self.sums.last().copied().unwrap_or_default();
        for span in self.spans.iter().skip(self.settled) {
            ms += span.end(None).since(span.id.from);
            bad += usize::from(span.ending == Ending::Failed);
            self.sums.push((ms, bad));
        }
        self.settled = self.spans.len();
    }

    fn place(&self, id: SpanId) -> Option<usize> {
        self.spans.binary_search_by(|one| one.id.cmp(&id)).ok()
    }

    /// The span of this name.
    pub(crate) fn find(&self, id: SpanId) -> Option<&Span> {
        self.spans.get(self.place(id)?)
    }

    /// Its spans, in order.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The places of spans that reach into the time from one timestamp to before the other; what is waited
    /// for reaches to `now`.
    pub(crate) fn within(&self, from: Timestamp, to: Timestamp, now: Option<Timestamp>) -> Range<usize> {
        // Ends rise with beginnings, for spans do not overlap; one that is open may only be the last.
        let first = self.spans.partition_point(|span| {
            let end = span.end(now);
            end < from || (end == from && span.id.from < from)
        });
        let end = self.spans.partition_point(|span| span.id.from < to);
        first..end.max(first)
    }

    /// Time of spans at these places, in ms, and how many of them failed.
    pub(crate) fn sum(&self, places: &Range<usize>) -> (u64, usize) {
        let up_to = |place: usize| {
            place.checked_sub(1).and_then(|last| self.sums.get(last)).copied().unwrap_or_default()
        };
        let ((from, bad_before), (to, bad)) = (up_to(places.start), up_to(places.end));
        (to.saturating_sub(from), bad.saturating_sub(bad_before))
    }
}

/// All rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    list: Vec<TimelineRow>,
    /// Rows of a lane that show the same, the uppermost first.
    alike: HashMap<(usize, What), Vec<usize>>,
    /// Rows whose sums do not hold.
    unsettled: HashSet<usize>,
}

impl Rows {
    /// In the order in which they were needed.
    pub(super) fn list(&self) -> &[TimelineRow] {
        &self.list
    }

    /// The row of a number.
    pub(super) fn get(&self, number: usize) -> Option<&TimelineRow> {
        self.list.get(number)
    }

    /// The first row of a lane that shows this.
    pub(super) fn first_of(&self, lane: usize, what: &What) -> Option<usize> {
        self.alike.get(&(lane, what.clone()))?.first().copied()
    }

    /// The first row of a lane that shows this and has room for a span; a new one if there is none; says whether it is new.
    pub(super) fn room_for(&mut self, span: &Span, lane: usize, what: What) -> (usize, bool) {
        let alike = self.alike.entry((lane, what.clone())).or_default();
        let free = alike.iter().copied().find(|n| self.list.get(*n).is_some_and(|row| row.fits(span)));
        if let Some(number) = free {
            return (number, false);
        }
        let number = self.list.len();
        self.list.push(TimelineRow::new(lane, what, alike.len()));
        alike.push(number);
        (number, true)
    }

    /// Puts a span into a row.
    pub(super) fn insert(&mut self, number: usize, span: Span) {
        if let Some(row) = self.list.get_mut(number) {
            row.insert(span);
            self.unsettled.insert(number);
        }
    }

    /// Takes a span out of its row.
    pub(super) fn remove(&mut self, number: usize, id: SpanId) -> Option<Span> {
        let span = self.list.get_mut(number)?.remove(id)?;
        self.unsettled.insert(number);
        Some(span)
    }

    /// Makes all sums hold.
    pub(super) fn settle(&mut self) {
        for number in std::mem::take(&mut self.unsettled) {
            if let Some(row) = self.list.get_mut(number) {
                row.settle();
            }
        }
    }
}

/// Until when nothing else can stand in its row. What is waited for has the row to itself.
fn taken_until(span: &Span) -> Timestamp {
    match span.ending {
        Ending::Open if span.to.is_none() => Timestamp(i64::MAX),
        _ => span.end(None).max(Timestamp(span.id.from.0.saturating_add(1))),
    }
}
