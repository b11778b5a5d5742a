//! Walks along a lane, and classifies the time between each entry and the one before.

use super::{Class, Sums, TimeSpan};
use crate::analysis::activity::IDLE_AFTER_MS;
use crate::analysis::calls::span_of;
use crate::model::edit::saturating_u32;
use crate::model::entry::sender::SenderKind;
use crate::model::entry::{BlockKind, Break, Entry, EntryId, Role, Stop};
use crate::model::meta::LaneFacts;
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, ToolCall, ToolKind, ToolResult};
use crate::model::transcript::Transcript;

/// Tolerance in ms for records that are older than the one before, which were written out of order.
/// Beyond it the clock was set back.
const OVERTAKEN_MS: u64 = 10_000;

/// The state before an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeState {
    /// The time up to here is classified.
    until: Option<Timestamp>,
    /// The timestamp of the entry before.
    last: Option<Timestamp>,
    after: After,
    /// Whether since `until` there was an entry without timestamp, or a call without result.
    is_blurred: bool,
    /// Work time since the last prompt, in ms.
    worked: u64,
    /// Part of `worked` in calls that were not measured, which may include waiting for permission.
    called: u64,
    /// Part of `worked` in measured calls.
    measured: u64,
    /// The latest end of background work.
    background: Option<Timestamp>,
}

/// Who spoke last: it decides whose time the pause until the next entry is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum After {
    #[default]
    Nothing,
    Prompt,
    /// The model, without a call.
    Answer,
    /// The model, with stop reason `Done`: what follows was initiated by somebody.
    Done,
    /// The model with calls, or their results.
    Calls,
    Failure,
}

/// What an entry indicates about the time before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Prompt,
    Answer,
    Calls,
    Failure,
    /// The end of the work, or an interruption.
    Stop,
    Compaction,
    Resumed,
    /// A message to the model that is not from a human: a background task, a flush of its memory.
    Note,
}

/// Tolerance in ms between recorded durations and timestamps.
const HELD_MS: u64 = 2_000;

/// Time in ms by which the entries of a turn exceed the work time that the agent recorded: the
/// machine may have slept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Excess {
    /// In calls that were not measured: they waited for the human.
    called: u64,
    /// In calls that were measured by a clock that kept running.
    measured: u64,
    /// The time of the model's answers.
    answered: u64,
}

/// The correction by the work time that the agent recorded for a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkCorrection {
    /// A part of the time until then was not work.
    Less(Timestamp, Excess),
    /// The work time in ms, where no entry has a timestamp.
    Worked(u64),
}

impl WorkCorrection {
    /// Applies it to the time by the entries.
    pub(crate) fn add_to(self, sums: &mut Sums) {
        match self {
            Self::Less(
                _,
                Excess {
                    called,
                    measured,
                    answered,
                },
            ) => {
                sums.reclassify(Class::Tool, Class::Human, called);
                sums.reclassify(Class::Tool, Class::Unknown, measured);
                sums.reclassify(Class::Model, Class::Unknown, answered);
            }
            Self::Worked(ms) => sums.add(Class::Model, ms),
        }
    }
}

/// Emits the spans that end with an entry and with its calls. Returns the correction by a duration
/// that the agent recorded.
pub(crate) fn sweep(
    transcript: &Transcript,
    carry: &mut TimeState,
    id: EntryId,
    entry: &Entry,
    emit: &mut dyn FnMut(TimeSpan),
) -> Option<WorkCorrection> {
    if entry.marks.copy {
        return None;
    }
    let took = recorded_work_ms(entry);
    let Some(sign) = sign_of(entry) else {
        return excess(carry, took?);
    };
    process(transcript, carry, id, entry, sign, emit);
    // The record at the end of a run may cover its last part only, so timestamps take precedence.
    took.filter(|_| carry.until.is_none())
        .map(WorkCorrection::Worked)
}

fn process(
    transcript: &Transcript,
    carry: &mut TimeState,
    id: EntryId,
    entry: &Entry,
    sign: Sign,
    emit: &mut dyn FnMut(TimeSpan),
) {
    // While the model works, further messages to it have no bearing on time.
    if sign == Sign::Note && (carry.after != After::Done || entry.at.is_none()) {
        return;
    }
    if sign == Sign::Prompt {
        (carry.worked, carry.called, carry.measured) = (0, 0, 0);
    }
    match entry.at {
        Some(at) => SpanEmitter { carry, id, emit }.emit_up_to_entry(entry, at, sign),
        None => carry.is_blurred = true,
    }
    match sign {
        // After a compaction the work continues with the rest; a complete answer before it stays
        // complete.
        Sign::Compaction if matches!(carry.after, After::Answer | After::Done) => {}
        Sign::Prompt | Sign::Compaction => carry.after = After::Prompt,
        Sign::Answer if entry.stop == Stop::Done => carry.after = After::Done,
        Sign::Answer | Sign::Stop | Sign::Resumed => carry.after = After::Answer,
        Sign::Note => {}
        Sign::Calls => {
            carry.after = After::Calls;
            calls(transcript, carry, id, entry, emit);
        }
        Sign::Failure => carry.after = After::Failure,
    }
    // Calls may begin before the message is complete.
    if let Some(ended) = entry.ended {
        let TimeState {
            until, is_blurred, ..
        } = *carry;
        let is_long = until.is_some_and(|until| ended.since(until) > IDLE_AFTER_MS);
        let class = if is_long {
            Class::Unknown
        } else {
            Class::Model
        };
        SpanEmitter { carry, id, emit }.emit_up_to(ended, class, None);
        carry.is_blurred = is_blurred;
    }
}

/// The work time that the agent recorded, in ms.
fn recorded_work_ms(entry: &Entry) -> Option<u64> {
    entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Break(Break::Took(ms)) => Some(*ms),
        _ => None,
    })
}

/// The recorded duration of a compaction, in ms.
fn compaction_ms(entry: &Entry) -> Option<u64> {
    entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Break(Break::Compaction {
            took,
            partial: false,
            ..
        }) => *took,
        _ => None,
    })
}

/// The correction for a recorded work time: the excess was waiting in calls that were not measured,
/// and the remainder is unknown.
fn excess(carry: &mut TimeState, took: u64) -> Option<WorkCorrection> {
    let TimeState {
        worked,
        called,
        measured,
        ..
    } = *carry;
    (carry.worked, carry.called, carry.measured) = (0, 0, 0);
    let more = worked.saturating_sub(took);
    let of_model = worked.saturating_sub(called).saturating_sub(measured);
    let called = more.min(called);
    let slept = more - called;
    // The machine fell asleep during one activity only.
    let measured = if slept <= measured { slept } else { 0 };
    let excess = Excess {
        called,
        measured,
        answered: (slept - measured).min(of_model),
    };
    Some(WorkCorrection::Less(carry.until?, excess)).filter(|_| more > HELD_MS)
}

/// A call with the time from request to result.
struct OpenCall<'a> {
    from: Timestamp,
    to: Timestamp,
    block: usize,
    call: &'a ToolCall,
}

/// Emits the time of an entry's calls in order; parallel calls count once.
fn calls(
    transcript: &Transcript,
    carry: &mut TimeState,
    id: EntryId,
    entry: &Entry,
    emit: &mut dyn FnMut(TimeSpan),
) {
    let mut open: Vec<OpenCall<'_>> = Vec::new();
    let mut ends: Vec<Timestamp> = Vec::new();
    for (block, call) in entry.numbered_calls() {
        let work = call.state.result().filter(|result| result.work.is_some());
        carry.background = carry.background.max(work.and_then(ToolResult::ended));
        if let Some((from, to)) = span_of(call, entry.call_time(call)) {
            open.push(OpenCall {
                from,
                to,
                block,
                call,
            });
            continue;
        }
        carry.is_blurred = true;
        // The switch from the model's time to the tool's is somewhere before this result.
        let is_timeless = call.started.or(entry.at).is_none();
        ends.extend(
            call.state
                .result()
                .and_then(|result| result.at)
                .filter(|_| is_timeless),
        );
    }
    let waits = human_waits(transcript, id, entry, &open);
    let mut emitter = SpanEmitter { carry, id, emit };
    if let Some(ended) = ends.into_iter().max().filter(|_| open.is_empty()) {
        emitter.emit_up_to(ended, Class::Unknown, None);
    }
    let mut standing = CallsByStart::of(&open);
    let mut ran: Vec<(Timestamp, Timestamp, &OpenCall<'_>)> = Vec::new();
    for one in &open {
        let lane = transcript.lane_of_call(&one.call.key);
        let running = running_spans(transcript, one, entry, lane, 0);
        // A call that ended during a wait for the human did not itself wait.
        let waited = || {
            waits
                .iter()
                .copied()
                .filter(|(_, answered)| *answered <= one.to)
        };
        let worked = running
            .into_iter()
            .flat_map(|ran| subtract_spans(ran, waited()));
        ran.extend(worked.map(|(from, to)| (from, to, one)));
    }
    ran.sort_by_key(|(from, to, one)| (*from, *to, one.block));
    for (from, to, one) in ran {
        let call = one.call;
        // Between the message and the call the model is still writing, unless another call ran or
        // was held up.
        emitter.wait(&waits, from, |emitter, until| {
            emitter.emit_stalled(&mut standing, until);
            emitter.emit_up_to(until, Class::Model, None);
        });
        let (class, worked) = (
            Class::of_call(call, entry.call_time(call)),
            emitter.carry.worked,
        );
        emitter.emit_up_to(to, class, Some(one.block));
        // The waiting of a sub-agent is part of its time, however that was measured.
        let is_measured = call
            .duration(entry.call_time(call))
            .is_some_and(|took| took.by == Clocked::Measured);
        let TimeState {
            called,
            measured,
            worked: now,
            ..
        } = emitter.carry;
        let sum = if !is_measured || call.kind == ToolKind::Delegate {
            called
        } else {
            measured
        };
        *sum = sum.saturating_add(*now - worked);
    }
    if let Some(end) = open.iter().map(|one| one.to).max() {
        emitter.wait(&waits, end, |emitter, until| {
            emitter.emit_stalled(&mut standing, until);
        });
    }
}

/// Limit of entries after a call that are searched for a permission.
const BEHIND: usize = 512;

/// Waits for the human while calls of an entry were open, in order: by the entries after it in its
/// lane, and in the lanes of the sub-agents that they started.
fn human_waits(
    transcript: &Transcript,
    id: EntryId,
    entry: &Entry,
    open: &[OpenCall<'_>],
) -> Vec<(Timestamp, Timestamp)> {
    let times = || open.iter().map(|one| one.from).chain(entry.at);
    let Some((from, to)) = times().min().zip(open.iter().map(|one| one.to).max()) else {
        return Vec::new();
    };
    if to.since(from) <= HELD_MS {
        return Vec::new();
    }
    let behind = transcript.following_in_lane(id, BEHIND);
    let own = behind
        .map(|(_, other)| other)
        .take_while(|other| other.at.is_none_or(|at| at < to));
    let lanes = open
        .iter()
        .filter_map(|one| transcript.lane_of_call(&one.call.key));
    let beside = lanes
        .flat_map(|lane| &lane.entries)
        .filter_map(|id| transcript.get(*id));
    let mut waits: Vec<(Timestamp, Timestamp)> =
        own.chain(beside).filter_map(question_span).collect();
    waits.retain(|(asked, answered)| *asked < to && from < *answered);
    waits.sort();
    waits
}

/// Start and end of a question to the human in an entry.
fn question_span(entry: &Entry) -> Option<(Timestamp, Timestamp)> {
    let [block] = entry.blocks.as_slice() else {
        return None;
    };
    let is_answered =
        entry.role == Role::Harness && matches!(block.kind, BlockKind::Break(Break::Setting(_)));
    entry.at.zip(entry.ended.filter(|_| is_answered))
}

/// What remains of a span after subtracting others, which are sorted.
fn subtract_spans(
    (mut from, to): (Timestamp, Timestamp),
    others: impl Iterator<Item = (Timestamp, Timestamp)>,
) -> Vec<(Timestamp, Timestamp)> {
    let mut left = Vec::new();
    for (start, end) in others.take_while(|(start, _)| *start < to) {
        if from < start && start < to {
            left.push((from, start));
        }
        from = from.max(end);
    }
    // A call without duration has a span as well.
    if from < to || left.is_empty() && from == to {
        left.push((from, to));
    }
    left
}

/// The calls of an entry by start. An answer may have a hundred thousand parallel calls, so queries
/// must go forward in time, and each call is visited twice at most.
struct CallsByStart<'a> {
    open: Vec<&'a OpenCall<'a>>,
    /// Index of the first call that may still be open.
    first: usize,
    /// Index of the first call that starts after the queried span.
    next: usize,
    /// Latest end of the calls before `next`.
    latest: Option<Timestamp>,
}

impl<'a> CallsByStart<'a> {
    fn of(open: &'a [OpenCall<'a>]) -> Self {
        let mut open: Vec<&OpenCall<'_>> = open.iter().collect();
        open.sort_by_key(|one| (one.from, one.block));
        Self {
            open,
            first: 0,
            next: 0,
            latest: None,
        }
    }

    /// The first call that was open at some time in the span, and the latest end of the calls begun
    /// before its end.
    fn between(
        &mut self,
        from: Timestamp,
        until: Timestamp,
    ) -> Option<(&'a OpenCall<'a>, Timestamp)> {
        while let Some(one) = self.open.get(self.next).filter(|one| one.from < until) {
            self.latest = self.latest.max(Some(one.to));
            self.next += 1;
        }
        let begun = self.open.get(..self.next)?;
        self.first += begun
            .get(self.first..)?
            .iter()
            .take_while(|one| one.to <= from)
            .count();
        Some((*begun.get(self.first)?, self.latest?))
    }
}

/// The spans in which an open call ran. It was held up if the agent measured less: until it was
/// permitted, or while the machine slept. A sub-agent was held up during gaps without any entry
/// that are too long for work, and where all its own calls were.
fn running_spans(
    transcript: &Transcript,
    open: &OpenCall<'_>,
    entry: &Entry,
    lane: Option<&LaneFacts>,
    depth: u8,
) -> Vec<(Timestamp, Timestamp)> {
    let OpenCall { from, to, call, .. } = *open;
    let said = entry.call_time(call);
    if !Class::of_call(call, said).is_work() {
        return vec![(from, to)];
    }
    let measured = call
        .duration(said)
        .filter(|took| took.by == Clocked::Measured)
        .map(|took| took.ms);
    if let Some(ms) = measured.filter(|ms| to.since(from).saturating_sub(*ms) > HELD_MS) {
        let began = i64::try_from(ms).ok().and_then(|ms| to.0.checked_sub(ms));
        return vec![(began.map_or(from, Timestamp), to)];
    }
    // Pauses this short do not count, and recursion through sub-agents is limited.
    if to.since(from) <= HELD_MS || depth == DEEPEST {
        return vec![(from, to)];
    }
    let mut inner = Inner::default();
    for id in lane.into_iter().flat_map(|lane| &lane.entries) {
        inner.add(transcript, *id, (from, to), depth + 1);
    }
    inner.worked_spans((from, to))
}

/// Limit of nesting of sub-agents.
const DEEPEST: u8 = 8;

/// The work of a sub-agent by its entries.
#[derive(Default)]
struct Inner {
    signs: Vec<Timestamp>,
    /// The last timestamp, and whether its answer was complete.
    last: Option<(Timestamp, bool)>,
    /// Spans in which its calls ran.
    ran: Vec<(Timestamp, Timestamp)>,
    /// Spans in which calls ran that started sub-agents.
    nested: Vec<(Timestamp, Timestamp)>,
    /// Spans in which its calls were held up.
    still: Vec<(Timestamp, Timestamp)>,
}

impl Inner {
    /// Adds an entry of the sub-agent, within a span.
    fn add(
        &mut self,
        transcript: &Transcript,
        id: EntryId,
        (from, to): (Timestamp, Timestamp),
        depth: u8,
    ) {
        let Some(entry) = transcript.get(id) else {
            return;
        };
        self.signs
            .extend(entry.times().filter(|at| from < *at && *at < to));
        let last = entry.last_time().map(|at| (at, entry.stop == Stop::Done));
        self.last = self.last.max(last);
        for call in entry.calls() {
            let Some((began, ended)) = span_of(call, entry.call_time(call)) else {
                continue;
            };
            let open = OpenCall {
                from: began,
                to: ended,
                block: 0,
                call,
            };
            let is_work = Class::of_call(call, entry.call_time(call)).is_work();
            // A repeated call started nothing.
            let lane = transcript.lanes_begun(id, &call.key).next();
            let ran = if is_work {
                running_spans(transcript, &open, entry, lane, depth)
            } else {
                Vec::new()
            };
            let still = subtract_spans((began, ended), ran.iter().copied());
            self.still.extend(
                still
                    .into_iter()
                    .filter(|(from, to)| to.since(*from) > HELD_MS),
            );
            if lane.is_some() {
                self.nested.extend(&ran);
            }
            self.ran.extend(ran);
        }
    }

    /// Spans in which the sub-agent worked, within a span.
    fn worked_spans(mut self, (from, to): (Timestamp, Timestamp)) -> Vec<(Timestamp, Timestamp)> {
        if self.signs.is_empty() {
            return vec![(from, to)];
        }
        // The result of a parallel call may have waited for the others.
        self.signs
            .extend(self.last.is_none_or(|(_, is_done)| !is_done).then_some(to));
        self.signs.sort();
        let mut ran = vec![(from, from)];
        for sign in self.signs {
            match ran.last_mut() {
                Some(last) if sign.since(last.1) <= IDLE_AFTER_MS => last.1 = sign,
                _ => ran.push((sign, sign)),
            }
        }
        if !self.still.is_empty() {
            self.ran.sort();
            let busy = || self.ran.iter().copied();
            let mut still: Vec<_> = self
                .still
                .into_iter()
                .flat_map(|still| subtract_spans(still, busy()))
                .collect();
            still.sort();
            ran = ran
                .into_iter()
                .flat_map(|ran| subtract_spans(ran, still.iter().copied()))
                .collect();
        }
        let nested = self
            .nested
            .into_iter()
            .map(|(began, ended)| (began.max(from), ended.min(to)));
        ran.extend(nested.filter(|(from, to)| from < to));
        ran.sort();
        ran
    }
}

struct SpanEmitter<'a> {
    carry: &'a mut TimeState,
    id: EntryId,
    emit: &'a mut dyn FnMut(TimeSpan),
}

impl SpanEmitter<'_> {
    /// Emits the span up to an entry, classified by its sign.
    fn emit_up_to_entry(&mut self, entry: &Entry, at: Timestamp, sign: Sign) {
        if self
            .carry
            .last
            .is_some_and(|last| last.since(at) > OVERTAKEN_MS)
        {
            // The clock was set back: its new time applies from here on.
            self.carry.until = self.carry.until.map(|until| until.min(at));
        }
        self.carry.last = Some(at);
        // A recorded duration of a compaction is the model's time; a compaction between two turns
        // was requested by the human.
        let took = compaction_ms(entry).filter(|_| sign == Sign::Compaction);
        let began = took
            .and_then(|ms| at.0.checked_sub(i64::try_from(ms).ok()?))
            .map(Timestamp);
        if let Some(began) = began {
            let is_between = matches!(
                self.carry.after,
                After::Answer | After::Done | After::Failure
            );
            let before = if is_between { Sign::Prompt } else { sign };
            if let Some(class) = class_of(self.carry, before, began) {
                self.emit_up_to(began, class, None);
            }
            let worked = self.carry.worked;
            self.emit_up_to(at, Class::Model, None);
            if is_between {
                // It is not included in the work time recorded for a turn.
                self.carry.worked = worked;
            }
            return;
        }
        if matches!(self.carry.after, After::Answer | After::Done)
            && matches!(sign, Sign::Prompt | Sign::Note)
        {
            self.emit_background(at);
        }
        let Some(class) = class_of(self.carry, sign, at) else {
            return;
        };
        // Before a wake-up by a machine nobody was waiting for the human.
        let is_wake = sign == Sign::Note
            && entry
                .from
                .as_deref()
                .is_some_and(|sender| sender.kind != SenderKind::Channel);
        let class = if is_wake { Class::Unknown } else { class };
        // A message without a call is one span until it is complete.
        let is_said = class == Class::Model && sign == Sign::Answer;
        let ended = entry
            .ended
            .filter(|ended| is_said && ended.since(at) <= IDLE_AFTER_MS);
        self.emit_up_to(ended.unwrap_or(at), class, None);
    }

    /// Emits background work: while it runs and will wake the model, the agent is not waiting for
    /// anybody else.
    fn emit_background(&mut self, at: Timestamp) {
        let TimeState {
            background,
            until,
            is_blurred,
            ..
        } = *self.carry;
        if let Some(end) = background.filter(|end| until.is_some_and(|until| until < *end)) {
            self.emit_up_to(end.min(at), Class::Background, None);
            self.carry.is_blurred = is_blurred;
        }
    }

    /// Emits a span without running calls: waits are the human's time, the parts between are passed
    /// to `rest`.
    fn wait(
        &mut self,
        waits: &[(Timestamp, Timestamp)],
        to: Timestamp,
        mut rest: impl FnMut(&mut Self, Timestamp),
    ) {
        for (asked, answered) in waits.iter().filter(|(asked, _)| *asked < to) {
            if self.carry.until.is_some_and(|until| until < *answered) {
                rest(self, *asked);
                self.emit_up_to((*answered).min(to), Class::Human, None);
            }
        }
        rest(self, to);
    }

    /// Emits the time before `until` in which calls were open and held up.
    fn emit_stalled(&mut self, open: &mut CallsByStart<'_>, until: Timestamp) {
        let Some(from) = self.carry.until else { return };
        let Some((first, to)) = open.between(from, until) else {
            return;
        };
        self.emit_up_to(first.from.max(from), Class::Model, None);
        self.emit_up_to(to.min(until), Class::Unknown, Some(first.block));
    }

    /// Emits a span of a class up to `to`.
    fn emit_up_to(&mut self, to: Timestamp, class: Class, block: Option<usize>) {
        let Some(from) = self.carry.until else {
            self.carry.until = Some(to);
            return;
        };
        if to > from {
            let ms = if class.is_work() { to.since(from) } else { 0 };
            self.carry.worked = self.carry.worked.saturating_add(ms);
            let block = block.map(saturating_u32);
            (self.emit)(TimeSpan {
                from,
                to,
                class,
                entry: self.id,
                block,
            });
            self.carry.until = Some(to);
            self.carry.is_blurred = false;
        }
    }
}

/// The class of the time before a sign; `None` if the sign does not determine it.
fn class_of(carry: &TimeState, sign: Sign, at: Timestamp) -> Option<Class> {
    let ms = carry.until.map_or(0, |until| at.since(until));
    let of_work = |class: Class| {
        if ms > IDLE_AFTER_MS {
            Class::Unknown
        } else {
            class
        }
    };
    let of_leisure = if ms > IDLE_AFTER_MS {
        Class::Idle
    } else {
        Class::Human
    };
    let class = match (carry.after, sign) {
        (After::Nothing, _)
        | (After::Prompt | After::Calls, Sign::Prompt)
        | (After::Answer | After::Done | After::Failure, Sign::Compaction)
        | (After::Failure, Sign::Stop) => Class::Unknown,
        (_, Sign::Resumed)
        | (After::Answer | After::Done | After::Failure, Sign::Prompt)
        | (After::Done, Sign::Note) => of_leisure,
        (After::Failure, Sign::Answer | Sign::Calls | Sign::Failure) => of_work(Class::Retry),
        // What an agent does between its answer and its stop belongs to no class.
        (_, Sign::Note) | (After::Answer | After::Done, Sign::Stop) => return None,
        (_, Sign::Answer | Sign::Calls | Sign::Failure | Sign::Stop | Sign::Compaction) => {
            of_work(Class::Model)
        }
    };
    Some(if carry.is_blurred && class != Class::Idle {
        Class::Unknown
    } else {
        class
    })
}

/// The sign of an entry; `None` for bookkeeping and what the harness adds.
fn sign_of(entry: &Entry) -> Option<Sign> {
    let of_break = entry.blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Break(Break::Error(_)) => Some(Sign::Failure),
        BlockKind::Break(
            Break::Interrupted(_) | Break::Ended(_) | Break::Continued(_) | Break::Waiting(_),
        ) => Some(Sign::Stop),
        kind if kind.is_compaction() => Some(Sign::Compaction),
        BlockKind::Break(Break::Resumed(_)) => Some(Sign::Resumed),
        _ => None,
    });
    let is_call = |kind: &BlockKind| matches!(kind, BlockKind::Call(_) | BlockKind::Result(_));
    let is_said = |kind: &BlockKind| match kind {
        BlockKind::Text(_) | BlockKind::Thinking(_) | BlockKind::Image(_) => {
            entry.role == Role::Assistant
        }
        BlockKind::Call(_) | BlockKind::Result(_) => true,
        BlockKind::Break(_) | BlockKind::Raw(_) | BlockKind::Aside(..) => false,
    };
    if entry.marks.prompt {
        Some(Sign::Prompt)
    } else if entry.has(is_call) {
        Some(Sign::Calls)
    } else if of_break.is_some() {
        of_break
    } else if entry.has(is_said) {
        Some(Sign::Answer)
    } else {
        let is_note = |kind: &BlockKind| matches!(kind, BlockKind::Text(_) | BlockKind::Raw(_));
        let asks = !entry.marks.trace && matches!(entry.role, Role::User | Role::Harness);
        (asks && entry.has(is_note)).then_some(Sign::Note)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::{CallsByStart, OpenCall};
    use crate::model::edit::Batch;
    use crate::model::samples;
    use crate::model::timestamp::Timestamp;

    proptest! {
        #[test]
        fn open_calls_are_those_that_a_look_at_all_finds(
            spans in prop::collection::vec((0i64..20, 0i64..9), 1..12),
            asked in prop::collection::vec((0i64..6, 0i64..6), 1..12),
        ) {
            let call = samples::call(&mut Batch::default(), "c");
            let open: Vec<OpenCall<'_>> = spans
                .iter()
                .enumerate()
                .map(|(block, (from, ms))| OpenCall { from: Timestamp(*from), to: Timestamp(from + ms), block, call: &call })
                .collect();
            let mut standing = CallsByStart::of(&open);
            let (mut from, mut until) = (0, 0);
            for (later_from, later_until) in asked {
                (from, until) = (from + later_from, until + later_until);
                let (from, until) = (Timestamp(from), Timestamp(until));
                let of_all = || open.iter().filter(|one| one.from < until && one.to > from);
                let first = of_all().min_by_key(|one| (one.from, one.block));
                let last = of_all().map(|one| one.to).max();
                let found = standing.between(from, until);
                assert_eq!(found.map(|(one, _)| one.block), first.map(|one| one.block));
                assert_eq!(found.map(|(_, to)| to), last);
            }
        }
    }
}
