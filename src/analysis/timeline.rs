//! The session on a time axis: what ran from when to when, in rows whose spans do not overlap, and which
//! of it decided when a turn ended.
//!
//! What time was spent on is the account's judgement ([`super::account`]); calls run from and to when
//! [`super::calls::span_of`] says. Nothing is judged here a second time.
//!
//! Invariant: spans of a row neither overlap nor run backwards; a span has one row. An entry that comes or
//! changes costs its own spans and a page of the account; a question costs a search in sorted spans.

use std::collections::{BTreeMap, HashMap};

use super::account::{Account, Class, TimeSpan};
use super::calls::awaited::Awaited;
use super::context::is_request;
use super::index::{Index, Live};
use crate::model::entry::{BlockKind, Entry, EntryId};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::{Touched, Transcript};

mod ends;
mod gaps;
mod lanes;
mod path;
mod questions;
mod rows;
mod span;
mod turns;

pub(crate) use gaps::QUIET_MS;
pub(crate) use lanes::Lane;
pub(crate) use path::Paths;
pub(crate) use questions::Request;
pub(crate) use rows::TimelineRow;
pub(crate) use span::{Ending, Span, SpanId};

use ends::Ends;
use gaps::Busy;
use lanes::Lanes;
use rows::Rows;
use span::{span_of_call, span_of_time};
use turns::Turns;

/// What a row shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// The calls that started or continued this sub-agent.
    Caller,
    /// The model, requests made again, and time of which nothing is known.
    Model,
    /// The human who was waited for, and what asked one.
    Human,
    /// Calls of a tool.
    Tool(Name),
}

/// What was taken from an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Taken {
    lane: usize,
    spans: Vec<(SpanId, usize)>,
    request: Option<Timestamp>,
    prompt: Option<Timestamp>,
    untimed: usize,
}

/// The index.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Entries that were taken in.
    read: usize,
    /// How far the account was read: its revision, and how often it has begun again.
    judged: u64,
    beginnings: u32,
    taken: HashMap<EntryId, Taken>,
    /// Spans that came from a page of the account.
    pages: HashMap<(usize, usize), Vec<(Span, usize)>>,
    lanes: Lanes,
    rows: Rows,
    by_time: BTreeMap<SpanId, usize>,
    ends: Ends,
    starts: HashMap<SpanId, usize>,
    busy: Busy,
    busy_is_stale: bool,
    removed: Vec<(SpanId, Option<Timestamp>)>,
    turns: Turns,
    requests: BTreeMap<(Timestamp, EntryId), Request>,
    untimed: usize,
    awaited: Awaited,
    /// Entries with calls that have no result, but may get one, or may again; and which of it is so.
    waiting: BTreeMap<EntryId, bool>,
}

impl Index for Timeline {
    type Reads = Live<Account>;

    fn add(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        self.know_lanes(transcript);
        self.read = place + 1;
        self.take(transcript, place, id);
    }

    fn change(&mut self, transcript: &Transcript, place: usize, id: EntryId) -> bool {
        self.take(transcript, place, id);
        true
    }

    fn note(&mut self, touched: &Touched) {
        if touched.lanes {
            self.lanes.look_again();
        }
    }

    fn begin_again(&mut self) {
        *self = Self { turns: self.turns.begin_again(), ..Self::default() };
    }

    fn settle(&mut self, transcript: &Transcript, account: &Live<Account>, _most: usize) -> bool {
        self.awaited = Awaited::of(transcript);
        self.know_lanes(transcript);
        self.judge_waiting(transcript);
        if self.beginnings != account.beginnings() {
            (self.beginnings, self.judged) = (account.beginnings(), 0);
            for (lane, page) in self.pages.keys().copied().collect::<Vec<_>>() {
                self.take_page(lane, page, std::iter::empty());
            }
        }
        for judged in account.judged_since(self.judged) {
            let lane = self.lanes.number(judged.lane);
            self.take_page(lane, judged.page, judged.spans());
        }
        self.judged = account.revision();
        self.put_in_order();
        true
    }
}

impl Timeline {
    /// Calls that were read before it was known which lane they started move to that lane.
    fn know_lanes(&mut self, transcript: &Transcript) {
        for id in self.lanes.know(transcript) {
            self.take_again(transcript, id);
        }
    }

    // === entries ===

    fn take_again(&mut self, transcript: &Transcript, id: EntryId) {
        if let Some(place) = transcript.place_of(id).filter(|place| *place < self.read) {
            self.take(transcript, place, id);
        }
    }

    fn take(&mut self, transcript: &Transcript, place: usize, id: EntryId) {
        let (Ok(rank), Some(entry)) = (u32::try_from(place), transcript.get(id)) else { return };
        if let Some(before) = self.taken.remove(&id) {
            for (span, row) in &before.spans {
                self.remove(*span, *row);
            }
            self.untimed -= before.untimed;
            if let Some(at) = before.prompt {
                self.turns.remove(at, id);
            }
            before.request.map(|at| self.requests.remove(&(at, id)));
            if let Some(lane) = self.lanes.get_mut(before.lane) {
                lane.open.remove(&(rank, id));
            }
        }
        if entry.marks.copy {
            return;
        }
        let lane = self.lanes.number(entry.lane.as_ref());
        let mut taken = Taken { lane, ..Taken::default() };
        let is_left = !self.wait_for(transcript, id, rank, entry, lane);
        for (block, one) in entry.blocks.iter().enumerate() {
            let (BlockKind::Call(call), Ok(number)) = (&one.kind, u32::try_from(block)) else { continue };
            let starts = call.lane.as_ref().or_else(|| self.lanes.started_by(&call.key)).cloned();
            match span_of_call(id, number, entry, call, lane) {
                Some(span) => taken.spans.push(self.add_call(span.left(is_left), starts.as_ref())),
                None => taken.untimed += 1,
            }
        }
        self.untimed += taken.untimed;
        if let (0, Some(at)) = (lane, entry.at) {
            taken.prompt = entry.marks.prompt.then_some(at);
            if let Some(at) = taken.prompt {
                self.turns.touch(at, None);
                self.turns.insert(at, id);
            }
            if let Some(usage) = entry.usage.as_ref().filter(|_| is_request(entry)) {
                taken.request = Some(at);
                self.requests.insert((at, id), Request { at, entry: id, tokens: usage.total() });
            }
        }
        if taken != (Taken { lane, ..Taken::default() }) {
            self.taken.insert(id, taken);
        }
    }

    /// Notes calls of an entry that have no result. Says whether one may still come.
    fn wait_for(
        &mut self,
        transcript: &Transcript,
        id: EntryId,
        rank: u32,
        entry: &Entry,
        lane: usize,
    ) -> bool {
        self.waiting.remove(&id);
        if !entry.calls().any(|call| call.state.is_open()) {
            return true;
        }
        // As long as nobody knows, it is judged again.
        let is_awaited = !transcript.knows_turns() || self.awaited.has(transcript, id);
        if is_awaited && let Some(lane) = self.lanes.get_mut(lane) {
            lane.open.insert((rank, id));
        }
        if is_awaited || transcript.latest_answer(entry.lane.as_ref()) == Some(id) {
            self.waiting.insert(id, is_awaited);
        }
        is_awaited
    }

    /// Takes entries again whose calls are not waited for any more, or are once more.
    fn judge_waiting(&mut self, transcript: &Transcript) {
        if !transcript.knows_turns() {
            return;
        }
        let others = self.waiting.iter().filter(|(id, was)| self.awaited.has(transcript, **id) != **was);
        let others: Vec<EntryId> = others.map(|(id, _)| *id).collect();
        for id in others {
            self.take_again(transcript, id);
        }
        self.waiting.retain(|id, is_awaited| {
            *is_awaited || transcript.latest_answer(transcript.lane_at(*id)) == Some(*id)
        });
    }

    fn add_call(&mut self, span: Span, starts: Option<&Name>) -> (SpanId, usize) {
        let id = span.id;
        let starts = starts.map(|name| self.lanes.number(Some(name))).filter(|lane| *lane != span.lane);
        let (lane, what) = match (starts, span.class, &span.tool) {
            (Some(lane), ..) => (lane, What::Caller),
            (None, Class::Human, _) | (None, _, None) => (span.lane, What::Human),
            (None, _, Some(tool)) => (span.lane, What::Tool(tool.clone())),
        };
        if let Some(started) = starts {
            self.starts.insert(id, started);
            if let Some(lane) = self.lanes.get_mut(started) {
                lane.caller = Some((span.lane, id));
            }
        }
        (id, self.add(span, lane, what))
    }

    // === the account ===

    fn take_page(&mut self, lane: usize, page: usize, times: impl Iterator<Item = TimeSpan>) {
        let mut known = self.pages.remove(&(lane, page)).unwrap_or_default();
        // Calls are read from their entries.
        let spans: Vec<Span> =
            times.filter(|one| one.block.is_none()).map(|one| span_of_time(&one, lane)).collect();
        let same = known.iter().zip(&spans).take_while(|((known, _), span)| known == *span).count();
        for (span, row) in known.drain(same..) {
            self.remove(span.id, row);
        }
        for span in spans.into_iter().skip(same) {
            let is_leisure = matches!(span.class, Class::Human | Class::Idle);
            let what = if is_leisure { What::Human } else { What::Model };
            let row = self.add(span.clone(), lane, what);
            known.push((span, row));
        }
        self.pages.insert((lane, page), known);
    }

    // === spans ===

    fn add(&mut self, span: Span, lane: usize, what: What) -> usize {
        let (number, is_new) = self.rows.room_for(&span, lane, what);
        if let Some(lane) = self.lanes.get_mut(lane).filter(|_| is_new) {
            lane.rows.push(number);
        }
        self.turns.touch(span.id.from, span.to);
        self.by_time.insert(span.id, number);
        if let Some(end) = span.end_key() {
            if span.is_busy() {
                self.busy.add(end.from(), end.to());
            }
            self.ends.insert(end);
        }
        let reach = (span.id.from, span.end(None));
        for lane in [Some(lane), (lane != span.lane).then_some(span.lane)].into_iter().flatten() {
            if let Some(lane) = self.lanes.get_mut(lane) {
                let (from, to) = lane.reach.unwrap_or(reach);
                lane.reach = Some((from.min(reach.0), to.max(reach.1)));
            }
        }
        self.rows.insert(number, span);
        number
    }

    fn remove(&mut self, id: SpanId, number: usize) {
        let Some(span) = self.rows.remove(number, id) else { return };
        self.turns.touch(id.from, span.to);
        self.by_time.remove(&id);
        self.starts.remove(&id);
        if let Some(end) = span.end_key() {
            self.ends.remove(&end);
        }
        if span.is_busy() {
            self.removed.push((id, span.to));
        }
    }

    fn span(&self, id: SpanId) -> Option<&Span> {
        self.rows.get(*self.by_time.get(&id)?)?.find(id)
    }

    /// Brings in order what depends on all of it.
    fn put_in_order(&mut self) {
        for (id, to) in std::mem::take(&mut self.removed) {
            let is_back = self.span(id).is_some_and(|span| span.is_busy() && span.to >= to);
            self.busy_is_stale |= !is_back;
        }
        if std::mem::take(&mut self.busy_is_stale) {
            self.busy = Busy::default();
            for span in self.rows.list().iter().flat_map(TimelineRow::spans).filter(|span| span.is_busy()) {
                self.busy.add(span.id.from, span.end(None));
            }
        }
        self.rows.settle();
    }
}

#[cfg(test)]
mod tests;
