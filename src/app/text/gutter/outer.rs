//! Lines beside the entries of a sub-agent: the line of the call that started it, and the lines in
//! flight at that call.

use super::spans::LaneSpan;
use super::{GutterContext, PASSED_OVER};
use crate::analysis::calls::Place;
use crate::model::entry::EntryId;
use crate::model::meta::LaneFacts;
use crate::model::text::Name;

/// Depth limit for nested sub-agents.
const MAX_DEPTH: usize = 8;

/// A line beside all entries of a sub-agent.
#[derive(Clone, Copy)]
pub(crate) struct OuterLane<'a> {
    call: Place,
    column: usize,
    is_open: bool,
    is_agent: bool,
    /// The sub-agent at whose last entry the line ends.
    ends_with: Option<&'a LaneFacts>,
}

/// The lines beside the entries of a sub-agent, from left to right.
pub fn of<'a>(scene: &GutterContext<'a>, lane: &Name, depth: usize) -> Vec<OuterLane<'a>> {
    let caller = scene
        .transcript
        .lane(lane)
        .and_then(|lane| Some((lane, scene.transcript.caller(lane)?)));
    let caller =
        caller.filter(|(_, id)| scene.sequence.place_of(*id).is_some() && depth < MAX_DEPTH);
    let Some((lane, (id, entry))) =
        caller.and_then(|(lane, id)| Some((lane, (id, scene.transcript.get(id)?))))
    else {
        return Vec::new();
    };
    let mut passes = match &entry.lane {
        Some(above) if *above != lane.name => of(scene, above, depth + 1),
        _ => Vec::new(),
    };
    let base = passes
        .iter()
        .map(|outer| outer.column + 1)
        .max()
        .unwrap_or(0);
    let beside = scene
        .flights
        .overlapping(id)
        .filter(|flight| scene.shows(flight.call));
    passes.extend(
        beside
            .filter(|flight| scene.continues_after(flight, id))
            .map(|flight| OuterLane {
                call: flight.call,
                column: base + flight.column,
                is_open: !flight.is_answered,
                is_agent: flight.is_agent,
                ends_with: None,
            }),
    );
    // The sub-agents of one entry follow each other, so the lines of later ones pass the earlier
    // ones.
    let started = entry.blocks.iter().enumerate().filter_map(|(block, _)| {
        Some((Place { entry: id, block }, scene.agent_below(entry, block)?))
    });
    for (call, agent) in started.skip_while(|(_, agent)| agent.name != lane.name) {
        let (column, flight) = scene.column(call);
        let column = base + column;
        let is_taken = passes
            .iter()
            .any(|outer| outer.column == column || outer.call == call);
        if scene.shows(call) && !is_taken {
            let is_open = flight.is_some_and(|flight| !flight.is_answered);
            passes.push(OuterLane {
                call,
                column,
                is_open,
                is_agent: true,
                ends_with: Some(agent),
            });
        }
    }
    passes
}

impl OuterLane<'_> {
    /// The line beside an entry of the sub-agent, from its last row and its number of rows.
    pub(crate) fn span_of(
        &self,
        scene: &GutterContext<'_>,
        id: EntryId,
        (last, count): (Option<usize>, usize),
    ) -> LaneSpan {
        let is_last = self
            .ends_with
            .is_some_and(|agent| !continues(scene, agent, id));
        let end = last.filter(|_| is_last);
        LaneSpan {
            call: self.call,
            column: self.column,
            opens: None,
            closes: end.filter(|_| !self.is_open),
            stops: end.unwrap_or(count),
            is_open: self.is_open,
            is_agent: self.is_agent,
        }
    }
}

/// Whether the next shown entry belongs to this sub-agent or to one that it started, or precedes
/// its entries.
fn continues(scene: &GutterContext<'_>, agent: &LaneFacts, id: EntryId) -> bool {
    let place = |id: EntryId| scene.sequence.place_of(id);
    let Some(here) = place(id) else { return false };
    let Some(next) = scene.sequence.at(here + 1) else {
        return false;
    };
    let mut at = scene.transcript.get(next);
    for _ in 0..MAX_DEPTH {
        let lane = at.and_then(|entry| entry.lane.as_ref());
        if lane == Some(&agent.name) {
            return true;
        }
        let lane = lane.and_then(|name| scene.transcript.lane(name));
        at = lane
            .and_then(|lane| scene.transcript.caller(lane))
            .and_then(|id| scene.transcript.get(id));
    }
    // The entries of an earlier sub-agent of the same message come first.
    let own = agent
        .entries
        .iter()
        .take(PASSED_OVER)
        .find_map(|id| place(*id));
    own.is_some_and(|first| first > here)
}
