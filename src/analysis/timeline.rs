//! The session on a time axis: spans in rows without overlaps, and the critical path of each turn.
//!
//! Classes of time are those of the account ([`super::account`]); start and end of calls are those
//! of [`super::calls::lifetime_of`]. Nothing is judged here a second time.
//!
//! Invariant: spans of a row neither overlap nor run backwards; a span is in one row. A query costs
//! a search in sorted spans.

use std::collections::HashMap;

use super::account::{Account, Class};
use super::calls::Outcome;
use super::calls::awaited::Awaited;
use super::context::is_request;
use super::derived::{Derived, Facts, Out};
use crate::model::entry::{Entry, EntryId};
use crate::model::fingerprint::Print;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;

mod ends;
mod gaps;
mod lanes;
mod path;
mod questions;
mod rows;
mod span;

pub(crate) use gaps::QUIET_MS;
pub(crate) use lanes::Lane;
pub(crate) use path::CriticalPaths;
pub(crate) use questions::ContextRequest;
pub(crate) use rows::TimelineRow;
pub(crate) use span::{Span, SpanId};

use ends::SpanEnds;
use gaps::Busy;
use lanes::TimelineLanes;
use rows::Rows;
use span::{span_of_time, spans_of_calls};

/// What a row shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowContent {
    /// The calls that started or resumed this sub-agent.
    Caller,
    /// The model, retries, and unknown time.
    Model,
    /// Waiting for the human, and calls that ask one.
    Human,
    /// Calls of a tool.
    Tool(Name),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EntryTimes {
    /// Of the main agent: timestamp, whether it is a prompt, and the tokens of its request.
    main: Option<(Timestamp, bool, Option<u64>)>,
    calls: Box<[TimedCall]>,
    untimed: usize,
}

/// A call with a timestamp.
#[derive(Clone, Debug, PartialEq)]
struct TimedCall {
    span: Span,
    key: Print,
    /// The sub-agent that its record says it started.
    starts: Option<Name>,
}

/// The spans of a session by lane and row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    lanes: TimelineLanes,
    rows: Rows,
    /// Spans in order of time, each with its row.
    by_time: Vec<(SpanId, usize)>,
    /// Spans of calls in order of entry ids.
    by_call: Vec<SpanId>,
    ends: SpanEnds,
    /// Lanes by the calls that started them.
    starts: HashMap<SpanId, usize>,
    busy: Busy,
    /// Prompts of the main agent, in order of time.
    prompts: Vec<(Timestamp, EntryId)>,
    /// Requests of the main agent, in order of time.
    requests: Vec<ContextRequest>,
    pub(crate) untimed: usize,
}

impl Derived for Timeline {
    /// One per entry with times.
    type Row = EntryTimes;
    type Reads = Account;

    fn rows(
        transcript: &Transcript,
        (id, entry): (EntryId, &Entry),
        _before: &[EntryTimes],
        out: &mut Out<'_, EntryTimes>,
    ) {
        if entry.marks.copy {
            return;
        }
        let (spans, untimed) = spans_of_calls(id, entry);
        let called = |span: Span| {
            let call = entry.call(usize::try_from(span.id.block?).ok()?)?;
            Some(TimedCall {
                span,
                key: transcript.print_of(&call.key),
                starts: call.lane.clone(),
            })
        };
        let calls: Box<[TimedCall]> = spans.into_iter().filter_map(called).collect();
        let usage = entry.usage.as_ref().filter(|_| is_request(entry));
        let request = usage.map(|usage| usage.total());
        let is_of_main = entry.lane.is_none() && (entry.marks.prompt || request.is_some());
        let main = entry
            .at
            .filter(|_| is_of_main)
            .map(|at| (at, entry.marks.prompt, request));
        if main.is_some() || !calls.is_empty() || untimed > 0 {
            out.push(EntryTimes {
                main,
                calls,
                untimed,
            });
        }
    }

    fn of(transcript: &Transcript, facts: &Facts<EntryTimes>, account: &Account) -> Self {
        let mut timeline = Self {
            lanes: TimelineLanes::of(transcript),
            ..Self::default()
        };
        let mut spans = RowSpans::default();
        let awaited = Awaited::of(transcript);
        for (_, id, rows) in facts.in_order(transcript) {
            let fact = rows.first();
            let name = transcript.lane_at(id);
            if fact.is_none()
                && (name.is_none() || transcript.marks(id).is_some_and(|marks| marks.copy))
            {
                continue;
            }
            let lane = timeline.lanes.number(name);
            if let Some(times) = fact {
                // As long as the turns are unknown, results may come.
                let is_awaited = || !transcript.has_all_turns() || awaited.has(transcript, id);
                timeline.add_entry(id, lane, times, (is_awaited, awaited.has_ended), &mut spans);
            }
        }
        for (lane, time) in account.spans() {
            let lane = timeline.lanes.number(lane);
            // Spans of calls are made from their entries.
            if time.block.is_none() {
                let is_leisure =
                    matches!(time.class, Class::Human | Class::Background | Class::Idle);
                let what = if is_leisure {
                    RowContent::Human
                } else {
                    RowContent::Model
                };
                spans.add(span_of_time(&time, lane), lane, what);
            }
        }
        timeline.sort_spans(spans);
        timeline
    }
}

/// Spans by row group.
#[derive(Default)]
struct RowSpans {
    /// By lane and content, in the order of their first spans.
    groups: Vec<((usize, RowContent), Vec<Span>)>,
    numbers: HashMap<(usize, RowContent), usize>,
}

impl RowSpans {
    fn add(&mut self, span: Span, lane: usize, what: RowContent) {
        let number = *self
            .numbers
            .entry((lane, what.clone()))
            .or_insert(self.groups.len());
        match self.groups.get_mut(number) {
            Some((_, spans)) => spans.push(span),
            None => self.groups.push(((lane, what), vec![span])),
        }
    }
}

impl Timeline {
    fn add_entry(
        &mut self,
        id: EntryId,
        lane: usize,
        times: &EntryTimes,
        (is_awaited, has_ended): (impl FnOnce() -> bool, bool),
        spans: &mut RowSpans,
    ) {
        self.untimed += times.untimed;
        let is_open = times
            .calls
            .iter()
            .any(|called| called.span.outcome == Outcome::Open);
        let is_left = is_open && !is_awaited();
        // Background work may outlast the turn, but not the session.
        let is_left = |span: &Span| if span.is_detached { has_ended } else { is_left };
        for TimedCall { span, key, starts } in &times.calls {
            let span = Span {
                lane,
                ..span.clone()
            }
            .lost_if(is_left(span));
            let started = starts
                .clone()
                .or_else(|| self.lanes.callers.get(key).cloned());
            let started = started
                .map(|name| self.lanes.number(Some(&name)))
                .filter(|started| *started != lane);
            let (shown_in, what) = match (started, span.class, &span.tool) {
                (Some(started), ..) => (started, RowContent::Caller),
                (None, Class::Human, _) | (None, _, None) => (lane, RowContent::Human),
                (None, _, Some(tool)) => (lane, RowContent::Tool(tool.clone())),
            };
            if let Some(started) = started {
                self.starts.insert(span.id, started);
                self.lanes
                    .list
                    .get_mut(started)
                    .into_iter()
                    .for_each(|one| one.caller = Some((lane, span.id)));
            }
            if span.outcome == Outcome::Open && !span.is_detached {
                self.lanes
                    .list
                    .get_mut(lane)
                    .into_iter()
                    .for_each(|one| one.open.push(span.id));
            }
            self.by_call.push(span.id);
            spans.add(span, shown_in, what);
        }
        if let Some((at, is_prompt, request)) = times.main {
            self.prompts.extend(is_prompt.then_some((at, id)));
            self.requests.extend(request.map(|tokens| ContextRequest {
                at,
                entry: id,
                tokens,
            }));
        }
    }

    fn extend_reach(&mut self, lane: usize, span: &Span) {
        let Some(lane) = self.lanes.list.get_mut(lane) else {
            return;
        };
        let (from, to) = (span.id.from, span.end(None));
        let known = lane.reach.unwrap_or((from, to));
        lane.reach = Some((known.0.min(from), known.1.max(to)));
    }

    fn sort_spans(&mut self, spans: RowSpans) {
        let (mut ends, mut busy) = (Vec::new(), Vec::new());
        for ((lane, what), spans) in spans.groups {
            for span in &spans {
                if let Some(end) = span.end_key() {
                    ends.push(end);
                    busy.extend(span.is_busy().then_some((end.from(), end.to)));
                }
                self.extend_reach(lane, span);
                if lane != span.lane {
                    self.extend_reach(span.lane, span);
                }
            }
            for row in self.rows.add(lane, what, spans) {
                self.lanes
                    .list
                    .get_mut(lane)
                    .into_iter()
                    .for_each(|lane| lane.rows.push(row));
            }
        }
        self.ends = SpanEnds::of(ends);
        self.busy = Busy::of(busy);
        let rows = self.rows.list.iter().enumerate();
        self.by_time = rows
            .flat_map(|(number, row)| row.spans.iter().map(move |span| (span.id, number)))
            .collect();
        self.by_time.sort_unstable();
        self.prompts.sort_unstable();
        self.requests
            .sort_unstable_by_key(|request| (request.at, request.entry));
    }

    /// The number of spans that begin before this one.
    fn number_before(&self, id: SpanId) -> usize {
        self.by_time.partition_point(|(one, _)| *one < id)
    }
}

#[cfg(test)]
mod tests;
