//! The turn that each lane belongs to, and usage recorded beside the entries.

use std::collections::HashMap;

use crate::model::entry::EntryId;
use crate::model::meta::LaneFacts;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::totals::Totals;
use crate::model::transcript::Transcript;
use crate::model::turn::TurnFacts;

/// Lanes by turn, which is identified by its prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    pub(super) of_lane: HashMap<Name, EntryId>,
    /// Sums of lanes and of usage beside entries, by turn: there may be thousands of lanes.
    pub(super) sums: HashMap<EntryId, TurnFacts>,
    /// Number of calls whose sub-agent's records exist, by turn; `None` for overhead.
    pub(super) callers: HashMap<Option<EntryId>, u32>,
    /// Usage beside the entries of a lane.
    pub(super) outside_entries: HashMap<Name, Totals>,
}

impl Homes {
    /// Assigns all lanes. `sum` returns the sums of a lane.
    pub(super) fn of(transcript: &Transcript, sum: &dyn Fn(&Name) -> TurnFacts) -> Self {
        let mut homes = Self::default();
        homes.find(transcript, sum);
        homes.sum_charges(transcript);
        homes
    }

    /// Finds the turns of lanes.
    fn find(&mut self, transcript: &Transcript, sum: &dyn Fn(&Name) -> TurnFacts) {
        let mut began: HashMap<usize, Vec<(Timestamp, usize)>> = HashMap::new();
        let agents = transcript.lanes().iter().filter(|lane| !lane.is_session);
        for lane in agents {
            let top = transcript.top_lane(lane).unwrap_or(lane);
            let caller = transcript.caller(top);
            let turn = match caller {
                _ if top.is_helper => None,
                Some(caller) => transcript.turn_of(caller),
                None => {
                    let session = transcript
                        .session_of_lane(&top.name)
                        .map_or(0, |(session, _)| session);
                    let began = began
                        .entry(session)
                        .or_insert_with(|| beginnings(transcript, session));
                    by_time(transcript, top, began)
                }
            };
            let turn = turn.and_then(|turn| transcript.turns().get(turn));
            let first = lane
                .call
                .as_ref()
                .and_then(|call| transcript.lane_of_call(call));
            // Copies of its answers have no usage.
            let is_here = lane
                .entries
                .iter()
                .rev()
                .any(|id| transcript.marks(*id).is_some_and(|marks| !marks.copy));
            if first.is_some_and(|first| first.name == lane.name) && is_here {
                *self
                    .callers
                    .entry(turn.map(|turn| turn.prompt))
                    .or_default() += 1;
            }
            if let Some(turn) = turn {
                self.of_lane.insert(lane.name.clone(), turn.prompt);
                self.sums
                    .entry(turn.prompt)
                    .or_default()
                    .merge(&sum(&lane.name));
            }
        }
    }

    fn sum_charges(&mut self, transcript: &Transcript) {
        for (_, aside) in transcript.asides() {
            let Some(after) = aside.after.filter(|_| aside.usage.scope.is_of_requests()) else {
                continue;
            };
            if let Some(lane) = transcript.lane_at(after) {
                let sum = self.outside_entries.entry(lane.clone()).or_default();
                sum.add(&aside.usage, aside.model.as_ref());
            }
            let prompt = match transcript.lane_at(after) {
                Some(lane) if !transcript.is_main_lane(Some(lane)) => {
                    self.of_lane.get(lane).copied()
                }
                _ => transcript
                    .turn_of(after)
                    .and_then(|turn| transcript.turns().get(turn))
                    .map(|turn| turn.prompt),
            };
            if let Some(prompt) = prompt {
                let sum = &mut self.sums.entry(prompt).or_default().totals;
                sum.add(&aside.usage, aside.model.as_ref());
            }
        }
    }
}

/// Start times of a session's turns, made monotonic: a clock that was set back moves no turn before
/// another.
fn beginnings(transcript: &Transcript, session: usize) -> Vec<(Timestamp, usize)> {
    let mut last = Timestamp(i64::MIN);
    let at = |prompt: EntryId| transcript.get(prompt).and_then(|entry| entry.at);
    let rising = transcript.turns_of(session).iter().filter_map(|number| {
        last = at(transcript.turns().get(*number)?.prompt).map_or(last, |at| at.max(last));
        Some((last, *number))
    });
    rising.collect()
}

/// The turn in whose time a lane began; without timestamps, the turn at its position in the order.
fn by_time(
    transcript: &Transcript,
    lane: &LaneFacts,
    began: &[(Timestamp, usize)],
) -> Option<usize> {
    match transcript.lane_began(lane) {
        Some(at) => {
            let after = began.partition_point(|(began, _)| *began <= at);
            began.get(after.checked_sub(1)?).map(|(_, turn)| *turn)
        }
        None => transcript.turn_of(*lane.entries.first()?),
    }
}
