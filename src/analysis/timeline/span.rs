//! Spans: an activity with start, end, outcome and precision.

use std::collections::HashMap;

use super::ends::SpanEnd;
use crate::analysis::account::{Class, TimeSpan};
use crate::analysis::activity::IDLE_AFTER_MS;
use crate::analysis::calls::{Outcome, Place, lifetime_of};
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, ToolCall};

/// Id of a span; sorted by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SpanId {
    pub(crate) from: Timestamp,
    /// The entry at its end, or with the call that ran.
    pub(crate) entry: EntryId,
    /// The block of the call that ran.
    pub(crate) block: Option<u32>,
}

impl SpanId {
    /// A bound before all spans that begin at `from`.
    pub(crate) fn first_at(from: Timestamp) -> Self {
        Self {
            from,
            entry: EntryId(0),
            block: None,
        }
    }

    /// The position of the call, if it is one.
    pub(crate) fn call(&self) -> Option<Place> {
        Some(Place {
            entry: self.entry,
            block: usize::try_from(self.block?).ok()?,
        })
    }
}

/// A span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub(crate) id: SpanId,
    /// The end; `None` if it is not recorded.
    pub(crate) to: Option<Timestamp>,
    /// Class of the time.
    pub(crate) class: Class,
    /// The tool that ran.
    pub(crate) tool: Option<Name>,
    /// Outcome of the call.
    pub(crate) outcome: Outcome,
    /// Whether the start is a lower bound: it is the timestamp of the call's message.
    pub(crate) from_is_bound: bool,
    /// Whether the end is an upper bound: several results have the same timestamp in one record.
    pub(crate) to_is_bound: bool,
    /// The number of the lane of its entry.
    pub(crate) lane: usize,
    /// When the model was told of the end of background work, if that was later.
    pub(crate) reported: Option<Timestamp>,
    /// When the result acknowledged background work, so that the caller stopped waiting.
    pub(crate) acknowledged: Option<Timestamp>,
    /// Whether its work continued after the result.
    pub(crate) is_detached: bool,
}

impl Span {
    /// The end; if unknown, `now` for open spans, and otherwise the start.
    pub(crate) fn end(&self, now: Option<Timestamp>) -> Timestamp {
        let open = now
            .filter(|_| self.outcome == Outcome::Open)
            .unwrap_or(self.id.from);
        self.to.unwrap_or(open).max(self.id.from)
    }

    /// Marks an open span as lost if `is_left`.
    pub(super) fn lost_if(mut self, is_left: bool) -> Self {
        if is_left && self.outcome == Outcome::Open {
            self.outcome = Outcome::Lost;
        }
        self
    }

    /// Whether it is work, or a question to the human.
    pub(super) fn is_work(&self) -> bool {
        match self.class {
            Class::Model | Class::Tool | Class::Retry => true,
            Class::Human | Class::Background | Class::Idle => self.id.block.is_some(),
            Class::Unknown => self.end(None).since(self.id.from) <= IDLE_AFTER_MS,
        }
    }

    /// Whether the agent itself was working.
    pub(super) fn is_busy(&self) -> bool {
        self.is_work() && self.class != Class::Human && self.to.is_some_and(|to| self.id.from <= to)
    }

    pub(super) fn end_key(&self) -> Option<SpanEnd> {
        // The caller waited no longer than until the result.
        let to = if self.is_detached {
            self.acknowledged
        } else {
            self.to
        };
        let to = to.filter(|to| self.is_work() && self.id.from <= *to)?;
        Some(SpanEnd::new(self.lane, to, self.id))
    }
}

/// The spans of an entry's calls, with `lane` unset, and the number of calls without timestamps.
pub(super) fn spans_of_calls(id: EntryId, entry: &Entry) -> (Vec<Span>, usize) {
    // Results with the same timestamp from the same record were written at once.
    let stamp = |call: &ToolCall| {
        call.state
            .result()
            .map(|result| (result.body.from, result.at))
    };
    let mut stamps = HashMap::new();
    entry
        .calls()
        .filter_map(stamp)
        .for_each(|stamp| *stamps.entry(stamp).or_insert(0) += 1);
    let (mut spans, mut untimed) = (Vec::new(), 0);
    for (block, call) in entry.numbered_calls() {
        let Ok(block) = u32::try_from(block) else {
            continue;
        };
        let is_stamped_at_once = stamp(call)
            .and_then(|stamp| stamps.get(&stamp))
            .is_some_and(|calls| *calls > 1);
        match span_of_call(id, block, entry, call, is_stamped_at_once) {
            Some(span) => spans.push(span),
            None => untimed += 1,
        }
    }
    (spans, untimed)
}

/// The span of a call; `None` if it has no timestamp.
fn span_of_call(
    id: EntryId,
    block: u32,
    entry: &Entry,
    call: &ToolCall,
    is_stamped_at_once: bool,
) -> Option<Span> {
    let span = lifetime_of(call, entry.call_time(call));
    let (from, to) = match span {
        Some((from, to)) => (from, Some(to)),
        None => (call.started.or(entry.at)?, None),
    };
    let work = call.state.work();
    let reported = work
        .and_then(|work| work.delivered()?.at)
        .filter(|at| to.is_some_and(|to| to < *at));
    let is_measured = call
        .duration(entry.call_time(call))
        .is_some_and(|took| took.by == Clocked::Measured);
    Some(Span {
        id: SpanId {
            from,
            entry: id,
            block: Some(block),
        },
        to,
        class: Class::of_call(call, entry.call_time(call)),
        tool: Some(call.name.clone()),
        outcome: Outcome::of(&call.state),
        from_is_bound: call.started.is_none() && !is_measured,
        to_is_bound: to.is_some() && !is_measured && is_stamped_at_once,
        lane: 0,
        reported,
        acknowledged: work.and_then(|_| call.state.result()?.at),
        is_detached: work.is_some(),
    })
}

/// The span for a time of the account.
pub(super) fn span_of_time(time: &TimeSpan, lane: usize) -> Span {
    Span {
        id: SpanId {
            from: time.from,
            entry: time.entry,
            block: None,
        },
        to: Some(time.to),
        class: time.class,
        tool: None,
        outcome: Outcome::Done,
        from_is_bound: false,
        to_is_bound: false,
        lane,
        reported: None,
        acknowledged: None,
        is_detached: false,
    }
}
