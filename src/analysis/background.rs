//! Work in the background as a whole: how much of it goes on, and since when an end waits to be told.

use super::activity::Activity;
use super::calls::lifecycle::Lifecycle;
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;

/// The calls whose work goes on while a session does this, in the order of the file. Of one that nobody writes none does.
pub(crate) fn calls<'t>(
    transcript: &'t Transcript,
    activity: &Activity,
) -> Vec<(EntryId, &'t ToolCall)> {
    let is_alive = activity.is_work() || matches!(activity, Activity::Waiting { .. });
    if !is_alive {
        return Vec::new();
    }
    let goes_on = |(id, call): &(EntryId, &ToolCall)| {
        let has_no_end = call
            .state
            .work()
            .is_some_and(|work| work.completed().is_none());
        has_no_end && !transcript.branches().abandoned.contains(id)
    };
    let mut calls: Vec<_> = works(transcript).filter(goes_on).collect();
    calls.sort_by_key(|(id, call)| (transcript.place_of(*id), call.started));
    calls
}

/// How many calls and sub-agents go on in the background while a session does this.
pub(crate) fn running(transcript: &Transcript, activity: &Activity) -> usize {
    let calls = calls(transcript, activity);
    let begins_agent = |(id, call): &&(EntryId, &ToolCall)| {
        transcript.lanes_begun(*id, &call.key).next().is_some()
    };
    // Of sub-agents whose calls are counted nothing more is counted.
    let agents = calls.iter().filter(begins_agent).count();
    calls.len() + activity.agents().saturating_sub(agents)
}

/// Since when an end waits to be told to the model, the oldest of those that nobody told.
pub(crate) fn undelivered_since(transcript: &Transcript) -> Option<Timestamp> {
    let undelivered =
        works(transcript).filter(|(id, _)| transcript.is_spoken_to(transcript.lane_at(*id)));
    let ends = undelivered.filter_map(|(id, call)| {
        let entry = transcript.get(id)?;
        call.state.work().filter(|work| work.is_reported())?;
        let life = Lifecycle::of(transcript, (id, &entry.key), call, false);
        life.completed?.at.filter(|_| life.delivered.is_none())
    });
    ends.min()
}

/// Copies are told where they come from.
fn works(transcript: &Transcript) -> impl Iterator<Item = (EntryId, &ToolCall)> {
    let is_own = |id: EntryId| transcript.marks(id).is_some_and(|marks| !marks.copy);
    transcript.works().filter(move |(id, _)| is_own(*id))
}
