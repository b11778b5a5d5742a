//! The life of a call: when its result acknowledged it, when its work ended, when the model was told, and when it saw that.
//!
//! For most calls the result is all three. Of work that goes on after its result other records tell the end, and who is
//! told of it is another question than whether it is recorded: what is put into a queue and taken out again was told to
//! nobody.

use crate::model::body::Key;
use crate::model::entry::{EntryId, Role};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::work::Update;
use crate::model::tool::{ToolCall, ToolResult};
use crate::model::transcript::Transcript;

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
        let Some(result) = call.state.result() else { return Self::default() };
        let mut life = Self { acknowledged: result.at, ..Self::default() };
        match &result.work {
            None => {
                life.completed = Some(Completed { at: result.at, exit: exit_of(result), by: key });
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
        let went_on =
            |end: Completed<'_>| is_over || end.at.is_some_and(|at| is_answered_after(transcript, id, at));
        life.is_undelivered = life.delivered.is_none() && life.completed.is_some_and(went_on);
        life
    }

    /// The time of the first answer in the lane of the call after the model was told.
    pub(crate) fn seen(&self, transcript: &Transcript, id: EntryId) -> Option<Timestamp> {
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

/// Whether the model answered after a time, in the lane and behind the entry of a call. The newest answer mostly tells.
fn is_answered_after(transcript: &Transcript, id: EntryId, time: Timestamp) -> bool {
    let by_newest = || {
        let newest = transcript.latest_answer(transcript.lane_at(id))?;
        let is_behind = transcript.place_of(newest)? > transcript.place_of(id)?;
        Some(is_behind && transcript.get(newest)?.at? >= time)
    };
    by_newest() == Some(true) || answer_after(transcript, id, time).is_some()
}

/// What is farther behind a call is not looked through for the answer that saw its end.
const FAR: usize = 10_000;

/// The time of the first answer in the lane of an entry that came after a time.
fn answer_after(transcript: &Transcript, id: EntryId, time: Timestamp) -> Option<Timestamp> {
    let lane = transcript.lane_at(id);
    let behind = transcript.order().get(transcript.place_of(id)? + 1..)?.iter().take(FAR);
    let own = behind.filter(|other| transcript.lane_at(**other) == lane);
    let answers =
        own.filter_map(|other| transcript.get(*other)).filter(|entry| entry.role == Role::Assistant);
    answers.filter_map(|entry| entry.at).find(|at| *at >= time)
}

/// The exit code among the facts of a result, which begin with it.
fn exit_of(result: &ToolResult) -> Option<i64> {
    let facts: &Text = &result.facts;
    let code = facts.strip_prefix("exit ")?;
    code.split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse().ok()
}
