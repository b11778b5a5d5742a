//! The life of a call: when its result acknowledged it, when its work ended, when the model was told, and when it saw that.
//!
//! For most calls the result is all three. Of work that goes on after its result other records tell the end, and who is
//! told of it is another question than whether it is recorded: what is put into a queue and taken out again was told to
//! nobody.

use std::sync::OnceLock;

use super::Place;
use crate::model::body::Key;
use crate::model::entry::sender::SenderKind;
use crate::model::entry::{Entry, EntryId, Role};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::{Carrier, End, Update, Work};
use crate::model::tool::{ToolCall, ToolResult};
use crate::model::transcript::Transcript;

/// What is told later than so many ms after the end is late, if the reader's settings say nothing else.
const USUALLY_LATE_MS: u64 = 5 * 60 * 1000;
static LATE_MS: OnceLock<u64> = OnceLock::new();

/// What is told later than so many ms after the end is late.
pub(crate) fn late_ms() -> u64 {
    *LATE_MS.get().unwrap_or(&USUALLY_LATE_MS)
}

/// Sets how many ms that are. To be called once, before anything is judged; later calls change nothing.
pub(crate) fn install_late(ms: u64) {
    // A second call would judge one session by two limits.
    let _ = LATE_MS.set(ms);
}

/// The life of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lifecycle<'a> {
    /// When its own result came.
    pub(crate) acknowledged: Option<Timestamp>,
    /// When the model asked how it stands.
    pub(crate) polls: Vec<&'a Update>,
    /// How its work ended.
    pub(crate) completed: Option<Completed<'a>>,
    /// When the model was told, and the key of what told it.
    pub(crate) delivered: Option<(Option<Timestamp>, &'a Key)>,
    /// Whether work went on after its result.
    pub(crate) is_detached: bool,
    /// Whether its work goes on.
    pub(crate) is_running: bool,
    /// Whether its end is recorded, and the model went on, or nothing goes on any more, without having been told.
    pub(crate) is_undelivered: bool,
}

/// How the work of a call ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Completed<'a> {
    /// When.
    pub(crate) at: Option<Timestamp>,
    /// The exit code of a command.
    pub(crate) exit: Option<i64>,
    /// The key of the entry whose record tells it.
    pub(crate) by: &'a Key,
}

impl<'a> Lifecycle<'a> {
    /// The life of a call of an entry with this key. `is_over`: nothing will come of the session any more.
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
                || is_queued && said_since(transcript, id, at).is_some()
        };
        let went_on = |end: Completed<'_>| is_over || end.at.is_some_and(is_past);
        life.is_undelivered =
            life.delivered.is_none() && is_reported && life.completed.is_some_and(went_on);
        life
    }

    /// What was said in its lane after its end, where the model should have been told of that.
    pub(crate) fn left_out_by(&self, transcript: &Transcript, id: EntryId) -> Option<EntryId> {
        let entry = said_since(transcript, id, self.completed?.at?)?;
        transcript.find(&entry.key)
    }

    /// The first answer in the lane of the call after the model was told, and its time.
    pub(crate) fn seen(
        &self,
        transcript: &Transcript,
        id: EntryId,
    ) -> Option<(EntryId, Timestamp)> {
        let (at, _) = self.delivered?;
        answer_after(transcript, id, at?)
    }

    /// How long after the end the model was told, in ms.
    pub(crate) fn delay(&self) -> Option<u64> {
        let (update, _) = self.delivered?;
        let (ended, update) = (self.completed?.at?, update?);
        (self.is_detached && ended < update).then(|| update.since(ended))
    }
}

/// What an entry tells of the end of work in the background.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Report<'a> {
    /// The call whose work it was.
    pub(crate) call: &'a ToolCall,
    /// How it ended.
    pub(crate) end: End,
    /// How long it took, in ms.
    pub(crate) ran: Option<u64>,
    /// What it is among all that tells of this end.
    pub(crate) part: Part,
}

/// What a record is among all that tell of one end of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It told the model, so many ms after the end.
    First(Option<u64>),
    /// It told the model once more.
    Again,
    /// It waits to be told, or waited.
    Queued,
    /// The program noted it for itself.
    Noted,
    /// It is all there is: the model was never told.
    Missed,
}

/// What an entry tells of ends of work. `is_over`: nothing will come of the session any more.
pub(crate) fn reports<'a>(
    transcript: &'a Transcript,
    entry: &'a Entry,
    is_over: bool,
) -> Vec<Report<'a>> {
    let mut all = Vec::new();
    for (id, call) in transcript.reported_by(&entry.key) {
        let Some(caller) = transcript.get(id) else {
            continue;
        };
        let endings = call.state.work().map(Work::endings).unwrap_or_default();
        for (number, ending) in endings.iter().enumerate() {
            let Some((update, (end, _))) = ending.by(&entry.key).zip(ending.first()) else {
                continue;
            };
            let is_foremost = ending.foremost() == Some(update);
            let is_missed = || {
                let is_last = number + 1 == endings.len();
                !is_last
                    || Lifecycle::of(transcript, (id, &caller.key), call, is_over).is_undelivered
            };
            let late = || end.at.zip(update.at).filter(|(end, at)| end < at);
            let part = match update.carrier {
                Carrier::Delivered | Carrier::Notice | Carrier::Poll if is_foremost => {
                    Part::First(late().map(|(end, at)| at.since(end)))
                }
                Carrier::Notice | Carrier::Poll => Part::Again,
                Carrier::Queue | Carrier::Record if is_foremost && is_missed() => Part::Missed,
                Carrier::Queue => Part::Queued,
                Carrier::Delivered | Carrier::Record => Part::Noted,
            };
            let began = call.started.or(caller.said(call));
            let ran = began.zip(end.at).filter(|(began, end)| began <= end);
            all.push(Report {
                call,
                end,
                ran: ran.map(|(began, end)| end.since(began)),
                part,
            });
        }
    }
    all
}

/// Whether the model answered after a time, in the lane and behind the entry of a call. The newest answer mostly tells.
fn is_answered_after(transcript: &Transcript, id: EntryId, time: Timestamp) -> bool {
    let by_newest = || {
        let newest = transcript.latest_answer(transcript.lane_at(id))?;
        let is_behind = transcript.place_of(newest)? > transcript.place_of(id)?;
        Some(is_behind && transcript.get(newest)?.at? >= time)
    };
    by_newest() == Some(true) || answer_after(transcript, id, time).is_some()
}

/// What was put into the conversation in the lane of a call after a time, to which no answer came so far: a prompt, or a
/// notice of other work. What waited to be told at that time was left out then.
fn said_since(transcript: &Transcript, id: EntryId, time: Timestamp) -> Option<&Entry> {
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

/// What is farther behind a call is not looked through for the answer that saw its end.
const FAR: usize = 10_000;

/// The first answer in the lane of an entry that came after a time, and when that was.
fn answer_after(
    transcript: &Transcript,
    id: EntryId,
    time: Timestamp,
) -> Option<(EntryId, Timestamp)> {
    let mut behind = transcript
        .behind_in_lane(id, FAR)
        .filter(|(_, entry)| entry.role == Role::Assistant);
    behind.find_map(|(id, entry)| Some((id, entry.at.filter(|at| *at >= time)?)))
}

/// The stations of a call whose work goes on after its result: the call, what first tells the end, what told the model,
/// and the answer that saw it. What the model got by asking stands with the call that asked.
pub(crate) fn stations(transcript: &Transcript, call: Place) -> Vec<Place> {
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
        .filter_map(|key| holder(transcript, call.entry, key));
    let seen = life
        .seen(transcript, call.entry)
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

/// The calls that an item has to do with: one whose work goes on after its result, one about whose work it tells, one of
/// which it is the answer that saw the end: what stands between it and the answer before, and what that asked, tells it.
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

/// The item that a key names: an entry, or the call that has this id or this result.
fn holder(transcript: &Transcript, from: EntryId, key: &Key) -> Option<Place> {
    if let Some(entry) = transcript.find(key) {
        return Some(Place { entry, block: 0 });
    }
    let is_it = |call: &ToolCall| {
        call.key == *key || call.state.result().is_some_and(|own| own.key == *key)
    };
    transcript
        .behind_in_lane(from, FAR)
        .find_map(|(id, entry)| {
            let block = entry
                .blocks
                .iter()
                .position(|block| block.call().is_some_and(is_it))?;
            Some(Place { entry: id, block })
        })
}

/// The exit code among the facts of a result, which begin with it.
fn exit_of(result: &ToolResult) -> Option<i64> {
    let facts: &Text = &result.facts;
    let code = facts.strip_prefix("exit ")?;
    code.split(|c: char| !c.is_ascii_digit() && c != '-')
        .next()?
        .parse()
        .ok()
}
