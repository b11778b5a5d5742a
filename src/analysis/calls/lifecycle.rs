//! The lifecycle of a call: when its result acknowledged it, when its work ended, when the model
//! was told, and when it answered.
//!
//! For most calls the result is all of these. The end of work that continues after the result is in
//! other records, and a recorded end is not necessarily delivered: a notice that is queued and
//! removed again was told to nobody.

use std::sync::OnceLock;

use super::Place;
use crate::model::body::Key;
use crate::model::entry::sender::SenderKind;
use crate::model::entry::{Entry, EntryId, Role};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, Update, Work, WorkEnd};
use crate::model::tool::{ToolCall, ToolResult};
use crate::model::transcript::Transcript;

/// Default of the setting for late notices, in ms after the end.
const USUALLY_LATE_MS: u64 = 5 * 60 * 1000;
static LATE_MS: OnceLock<u64> = OnceLock::new();

/// A notice that is later than this after the end, in ms, is late.
pub(crate) fn late_ms() -> u64 {
    *LATE_MS.get().unwrap_or(&USUALLY_LATE_MS)
}

/// Sets the limit of late notices. To be called once, before anything is judged; later calls have
/// no effect.
pub(crate) fn install_late(ms: u64) {
    // A second call would judge one session by two limits.
    let _ = LATE_MS.set(ms);
}

/// The lifecycle of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lifecycle<'a> {
    /// The timestamp of its own result.
    pub(crate) acknowledged: Option<Timestamp>,
    /// Polls of its work by the model.
    pub(crate) polls: Vec<&'a Update>,
    /// The end of its work.
    pub(crate) completed: Option<Completed<'a>>,
    /// When the model was told, and the key of the record.
    pub(crate) delivered: Option<(Option<Timestamp>, &'a Key)>,
    /// Whether its work continued after its result.
    pub(crate) is_detached: bool,
    /// Whether its work is still running.
    pub(crate) is_running: bool,
    /// Whether its end is recorded, but the model continued, or the session ended, without having
    /// been told.
    pub(crate) is_undelivered: bool,
}

/// The end of a call's work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Completed<'a> {
    pub(crate) at: Option<Timestamp>,
    /// The exit code of a command.
    pub(crate) exit: Option<i64>,
    /// The key of the entry that records it.
    pub(crate) by: &'a Key,
}

impl<'a> Lifecycle<'a> {
    /// The lifecycle of a call. `key` is that of its entry. `is_over`: the session gets no more
    /// records.
    pub(crate) fn of(
        transcript: &Transcript,
        (id, key): (EntryId, &'a Key),
        call: &'a ToolCall,
        is_over: bool,
    ) -> Self {
        let Some(result) = call.state.result() else {
            return Self::default();
        };
        let mut life = Self {
            acknowledged: result.at,
            ..Self::default()
        };
        match &result.work {
            None => {
                life.completed = Some(Completed {
                    at: result.at,
                    exit: exit_of(result),
                    by: key,
                });
                life.delivered = Some((result.at, key));
            }
            Some(work) => {
                life.is_detached = true;
                life.polls = work.polls().collect();
                life.completed = work.completed().map(|(end, update)| Completed {
                    at: end.at,
                    exit: end.exit,
                    by: &update.by,
                });
                life.delivered = work.delivered().map(|update| (update.at, &update.by));
            }
        }
        life.is_running = life.is_detached && life.completed.is_none() && !is_over;
        let is_queued = result.work.as_ref().is_some_and(|work| work.is_queued());
        let is_reported = (result.work.as_ref()).is_none_or(|work| work.is_reported());
        let is_past = |at: Timestamp| {
            is_answered_after(transcript, id, at)
                || is_queued && message_since(transcript, id, at).is_some()
        };
        let went_on = |end: Completed<'_>| is_over || end.at.is_some_and(is_past);
        life.is_undelivered =
            life.delivered.is_none() && is_reported && life.completed.is_some_and(went_on);
        life
    }

    /// The entry in its lane after its end that should have delivered the notice.
    pub(crate) fn undelivered_by(&self, transcript: &Transcript, id: EntryId) -> Option<EntryId> {
        let entry = message_since(transcript, id, self.completed?.at?)?;
        transcript.find(&entry.key)
    }

    /// The first answer in the call's lane after the model was told, and its timestamp.
    pub(crate) fn first_answer(
        &self,
        transcript: &Transcript,
        id: EntryId,
    ) -> Option<(EntryId, Timestamp)> {
        let (at, _) = self.delivered?;
        answer_after(transcript, id, at?)
    }

    /// The delay of the notice after the end, in ms.
    pub(crate) fn delay(&self) -> Option<u64> {
        let (update, _) = self.delivered?;
        let (ended, update) = (self.completed?.at?, update?);
        (self.is_detached && ended < update).then(|| update.since(ended))
    }
}

/// The end of background work according to an entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct EndReport<'a> {
    /// The call that began the work.
    pub(crate) call: &'a ToolCall,
    pub(crate) end: WorkEnd,
    /// The duration in ms.
    pub(crate) ran: Option<u64>,
    /// The role of the entry among all that report this end.
    pub(crate) part: EndRole,
}

/// The role of a record among all that report one end of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndRole {
    /// It told the model; with the delay after the end in ms.
    First(Option<u64>),
    /// It told the model once more.
    Again,
    /// It is or was queued for the model.
    Queued,
    /// It is for the program only.
    Noted,
    /// No record told the model.
    Missed,
}

/// The ends of work that an entry reports. `is_over`: the session gets no more records.
pub(crate) fn reports<'a>(
    transcript: &'a Transcript,
    entry: &'a Entry,
    is_over: bool,
) -> Vec<EndReport<'a>> {
    let mut all = Vec::new();
    for (id, call) in transcript.reported_by(&entry.key) {
        let Some(caller) = transcript.get(id) else {
            continue;
        };
        let endings = call.state.work().map(Work::endings).unwrap_or_default();
        for (number, ending) in endings.iter().enumerate() {
            let Some((update, (end, _))) = ending.of_record(&entry.key).zip(ending.first()) else {
                continue;
            };
            let is_foremost = ending.representative() == Some(update);
            let is_missed = || {
                let is_last = number + 1 == endings.len();
                !is_last
                    || Lifecycle::of(transcript, (id, &caller.key), call, is_over).is_undelivered
            };
            let late = || end.at.zip(update.at).filter(|(end, at)| end < at);
            let part = match update.carrier {
                Carrier::Delivered | Carrier::Notice | Carrier::Poll if is_foremost => {
                    EndRole::First(late().map(|(end, at)| at.since(end)))
                }
                Carrier::Notice | Carrier::Poll => EndRole::Again,
                Carrier::Queue | Carrier::Record if is_foremost && is_missed() => EndRole::Missed,
                Carrier::Queue => EndRole::Queued,
                Carrier::Delivered | Carrier::Record => EndRole::Noted,
            };
            let began = call.started.or(caller.call_time(call));
            let ran = began.zip(end.at).filter(|(began, end)| began <= end);
            all.push(EndReport {
                call,
                end,
                ran: ran.map(|(began, end)| end.since(began)),
                part,
            });
        }
    }
    all
}

/// Whether the model answered after a time, in the lane and after the entry of a call. Checks the
/// newest answer first, which mostly suffices.
fn is_answered_after(transcript: &Transcript, id: EntryId, time: Timestamp) -> bool {
    let by_newest = || {
        let newest = transcript.latest_answer(transcript.lane_at(id))?;
        let is_behind = transcript.place_of(newest)? > transcript.place_of(id)?;
        Some(is_behind && transcript.get(newest)?.at? >= time)
    };
    by_newest() == Some(true) || answer_after(transcript, id, time).is_some()
}

/// The first unanswered prompt or notice in a call's lane after a time. A notice that was queued by
/// then should have been delivered with it.
fn message_since(transcript: &Transcript, id: EntryId, time: Timestamp) -> Option<&Entry> {
    let since = transcript.lane_backwards(transcript.lane_at(id)).take(FAR);
    let mut since = since.take_while(|entry| entry.at.is_none_or(|at| at > time));
    let is_notice = |entry: &Entry| {
        entry
            .from
            .as_ref()
            .is_some_and(|from| from.kind == SenderKind::Task)
    };
    since.find(|entry| entry.at.is_some() && (entry.marks.prompt || is_notice(entry)))
}

/// Limit of entries that are searched.
const FAR: usize = 10_000;

/// The first answer in an entry's lane at or after a time, and its timestamp.
fn answer_after(
    transcript: &Transcript,
    id: EntryId,
    time: Timestamp,
) -> Option<(EntryId, Timestamp)> {
    let mut behind = transcript
        .following_in_lane(id, FAR)
        .filter(|(_, entry)| entry.role == Role::Assistant);
    behind.find_map(|(id, entry)| Some((id, entry.at.filter(|at| *at >= time)?)))
}

/// The positions in the lifecycle of a call with background work: the call, the first record of its
/// end, the record that told the model, and the first answer after it. The result of a poll is at
/// the polling call.
pub(crate) fn positions(transcript: &Transcript, call: Place) -> Vec<Place> {
    let Some(entry) = transcript.get(call.entry) else {
        return Vec::new();
    };
    let Some(own) = entry
        .call(call.block)
        .filter(|call| call.state.work().is_some())
    else {
        return Vec::new();
    };
    let life = Lifecycle::of(transcript, (call.entry, &entry.key), own, false);
    let records = [
        life.completed.map(|end| end.by),
        life.delivered.map(|(_, by)| by),
    ];
    let records = records
        .into_iter()
        .flatten()
        .filter_map(|key| position_of_key(transcript, call.entry, key));
    let seen = life
        .first_answer(transcript, call.entry)
        .map(|(entry, _)| Place { entry, block: 0 });
    let mut all = vec![call];
    for place in records.chain(seen) {
        if !all
            .iter()
            .any(|known| known.entry == place.entry && known.entry != call.entry)
        {
            all.push(place);
        }
    }
    all
}

/// The calls that an item is about: its own if it has background work, the one whose work it
/// reports, and the one whose end it answers: that is reported between it and the answer before, or
/// by a call of that.
pub(crate) fn subjects(transcript: &Transcript, item: Place) -> Vec<Place> {
    let Some(entry) = transcript.get(item.entry) else {
        return Vec::new();
    };
    let own = entry.call(item.block);
    let about = |key: &Key| {
        let (entry, call) = transcript.reported_by(key).next()?;
        let block = transcript
            .get(entry)?
            .blocks
            .iter()
            .position(|block| block.call() == Some(call))?;
        Some(Place { entry, block })
    };
    let by_call = |call: &ToolCall| about(&call.key).or_else(|| about(&call.state.result()?.key));
    let seen = || {
        let place = transcript
            .place_of(item.entry)
            .filter(|_| entry.role == Role::Assistant)?;
        let before = transcript.order().get(..place)?.iter().rev().take(FAR);
        let lane = transcript.lane_at(item.entry);
        for id in before.filter(|id| transcript.lane_at(**id) == lane) {
            let other = transcript.get(*id)?;
            let found = about(&other.key).or_else(|| other.calls().find_map(by_call));
            if found.is_some() || other.role == Role::Assistant {
                return found;
            }
        }
        None
    };
    let works = own.filter(|call| call.state.work().is_some()).map(|_| item);
    let reported = own.map_or_else(|| about(&entry.key), by_call);
    works.into_iter().chain(reported).chain(seen()).collect()
}

/// The position of a key: that of an entry, of a call's id or of its result.
fn position_of_key(transcript: &Transcript, from: EntryId, key: &Key) -> Option<Place> {
    if let Some(entry) = transcript.find(key) {
        return Some(Place { entry, block: 0 });
    }
    let is_it = |call: &ToolCall| {
        call.key == *key || call.state.result().is_some_and(|own| own.key == *key)
    };
    transcript
        .following_in_lane(from, FAR)
        .find_map(|(id, entry)| {
            let block = entry
                .blocks
                .iter()
                .position(|block| block.call().is_some_and(is_it))?;
            Some(Place { entry: id, block })
        })
}

/// The exit code, which is the first of a result's facts.
fn exit_of(result: &ToolResult) -> Option<i64> {
    let facts: &Text = &result.facts;
    let code = facts.strip_prefix("exit ")?;
    code.split(|c: char| !c.is_ascii_digit() && c != '-')
        .next()?
        .parse()
        .ok()
}
