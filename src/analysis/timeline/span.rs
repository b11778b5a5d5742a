//! Spans: what took time, how it ended, and how much of that is known.

use std::collections::HashMap;

use super::ends::End;
use crate::analysis::account::{Class, TimeSpan};
use crate::analysis::activity::IDLE_AFTER_MS;
use crate::analysis::calls::{Outcome, Place, life_of};
use crate::model::entry::{Entry, EntryId};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, ToolCall};

/// Names a span; in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SpanId {
    /// When it began.
    pub(crate) from: Timestamp,
    /// The entry that ended it, or whose call ran.
    pub(crate) entry: EntryId,
    /// The block of the call that ran.
    pub(crate) block: Option<u32>,
}

impl SpanId {
    /// Before all others that begin then.
    pub(crate) fn first_at(from: Timestamp) -> Self {
        Self {
            from,
            entry: EntryId(0),
            block: None,
        }
    }

    /// The call, if it is one.
    pub(crate) fn call(&self) -> Option<Place> {
        Some(Place {
            entry: self.entry,
            block: usize::try_from(self.block?).ok()?,
        })
    }
}

/// The time that one thing took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its name.
    pub(crate) id: SpanId,
    /// When it ended; nothing if there is no end in the file.
    pub(crate) to: Option<Timestamp>,
    /// What it was spent on.
    pub(crate) class: Class,
    /// The tool that ran.
    pub(crate) tool: Option<Name>,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// Whether it began no earlier than that: its message has a time, it has none.
    pub(crate) from_is_bound: bool,
    /// Whether it ended no later than that: several results were stamped at once.
    pub(crate) to_is_bound: bool,
    /// The lane whose entry it is.
    pub(crate) lane: usize,
    /// When the model was told that work in the background had ended, if that was later.
    pub(crate) reported: Option<Timestamp>,
    /// When a result came after which the work went on: who called did not wait any longer.
    pub(crate) acknowledged: Option<Timestamp>,
    /// Whether work went on after the result.
    pub(crate) is_detached: bool,
}

impl Span {
    /// When it ended; if that is not known, `now` for what is waited for, and its beginning for all else.
    pub(crate) fn end(&self, now: Option<Timestamp>) -> Timestamp {
        let open = now
            .filter(|_| self.outcome == Outcome::Open)
            .unwrap_or(self.id.from);
        self.to.unwrap_or(open).max(self.id.from)
    }

    /// The same, if it is not waited for any more.
    pub(super) fn left(mut self, is_left: bool) -> Self {
        if is_left && self.outcome == Outcome::Open {
            self.outcome = Outcome::Lost;
        }
        self
    }

    /// Whether something was done meanwhile, or a human was asked for it.
    pub(super) fn is_work(&self) -> bool {
        match self.class {
            Class::Model | Class::Tool | Class::Retry => true,
            Class::Human | Class::Background | Class::Idle => self.id.block.is_some(),
            Class::Unknown => self.end(None).since(self.id.from) <= IDLE_AFTER_MS,
        }
    }

    /// Whether the agent itself was busy meanwhile.
    pub(super) fn is_busy(&self) -> bool {
        self.is_work() && self.class != Class::Human && self.to.is_some_and(|to| self.id.from <= to)
    }

    pub(super) fn end_key(&self) -> Option<End> {
        // Who called waited no longer than until the result.
        let to = if self.is_detached {
            self.acknowledged
        } else {
            self.to
        };
        let to = to.filter(|to| self.is_work() && self.id.from <= *to)?;
        Some(End::new(self.lane, to, self.id))
    }
}

/// The spans of the calls of an entry, but for the lane, and how many have no time at all.
pub(super) fn spans_of_calls(id: EntryId, entry: &Entry) -> (Vec<Span>, usize) {
    // Results that have their time from the same record were stamped at once.
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

/// The span of a call; nothing if it has no time at all.
fn span_of_call(
    id: EntryId,
    block: u32,
    entry: &Entry,
    call: &ToolCall,
    is_stamped_at_once: bool,
) -> Option<Span> {
    let span = life_of(call, entry.said(call));
    let (from, to) = match span {
        Some((from, to)) => (from, Some(to)),
        None => (call.started.or(entry.at)?, None),
    };
    let work = call.state.work();
    let reported = work
        .and_then(|work| work.delivered()?.at)
        .filter(|at| to.is_some_and(|to| to < *at));
    let is_measured = call
        .took(entry.said(call))
        .is_some_and(|took| took.by == Clocked::Measured);
    Some(Span {
        id: SpanId {
            from,
            entry: id,
            block: Some(block),
        },
        to,
        class: Class::of_call(call, entry.said(call)),
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

/// The span of what the account judged.
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
