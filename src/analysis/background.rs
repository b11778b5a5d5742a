//! All background work of a session: how many calls are running, and since when an end has not been
//! told to the model.

use super::activity::Activity;
use super::calls::lifecycle::Lifecycle;
use crate::model::entry::EntryId;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::transcript::Transcript;

/// The calls with running background work, in file order. Empty unless the session is live by its
/// activity.
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
    let mut calls: Vec<_> = own_calls_with_work(transcript).filter(goes_on).collect();
    calls.sort_by_key(|(id, call)| (transcript.place_of(*id), call.started));
    calls
}

/// The number of running calls and sub-agents in the background.
pub(crate) fn count_running(transcript: &Transcript, activity: &Activity) -> usize {
    let calls = calls(transcript, activity);
    let begins_agent = |(id, call): &&(EntryId, &ToolCall)| {
        transcript.lanes_begun(*id, &call.key).next().is_some()
    };
    // Sub-agents whose calls are counted are not counted again.
    let agents = calls.iter().filter(begins_agent).count();
    calls.len() + activity.agents().saturating_sub(agents)
}

/// Since when the end of background work has not been told to the model; the earliest such time.
pub(crate) fn undelivered_since(transcript: &Transcript) -> Option<Timestamp> {
    let undelivered = own_calls_with_work(transcript)
        .filter(|(id, _)| transcript.is_main_lane(transcript.lane_at(*id)));
    let ends = undelivered.filter_map(|(id, call)| {
        let entry = transcript.get(id)?;
        call.state.work().filter(|work| work.is_reported())?;
        let life = Lifecycle::of(transcript, (id, &entry.key), call, false);
        life.completed?.at.filter(|_| life.delivered.is_none())
    });
    ends.min()
}

/// The calls with background work, without copies.
fn own_calls_with_work(transcript: &Transcript) -> impl Iterator<Item = (EntryId, &ToolCall)> {
    let is_own = |id: EntryId| transcript.marks(id).is_some_and(|marks| !marks.copy);
    transcript
        .calls_with_work()
        .filter(move |(id, _)| is_own(*id))
}
