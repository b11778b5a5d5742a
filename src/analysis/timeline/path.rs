//! The critical path of a turn: the spans that determined when it ended.
//!
//! It is found backwards from the end of the turn: the last span to end before a timestamp is on
//! the path, and the search continues from its start. If that span is a call that started a
//! sub-agent, the path includes the sub-agent's. So of parallel calls only the last to end is on
//! the path.
//!
//! Invariant: a path is computed only as far back as requested, and resumed from there.

use std::collections::{HashMap, HashSet};

use super::ends::SpanEnd;
use super::{SpanId, Timeline};
use crate::model::timestamp::Timestamp;

/// Limit of nesting of sub-agents.
const DEPTH: usize = 8;
/// Time in ms in which a lane did nothing, from which on it may have been waiting for a sub-agent
/// in the background.
const SLACK_MS: u64 = 1_000;

/// The critical path of a turn, as far as it was computed.
#[derive(Clone, Debug, Default)]
struct CriticalPath {
    on: HashSet<SpanId>,
    /// Where the computation resumes.
    next: Option<SpanEnd>,
    /// The earliest requested timestamp.
    walked: Option<Timestamp>,
}

/// Critical paths by the starts of their turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct CriticalPaths {
    by_turn: HashMap<Timestamp, CriticalPath>,
    /// The generation of the timeline for which they are valid.
    generation: u64,
}

impl CriticalPaths {
    /// Clears the paths if the timeline has changed.
    pub(crate) fn clear_if_stale(&mut self, generation: u64) {
        if self.generation != generation {
            *self = Self {
                generation,
                ..Self::default()
            };
        }
    }

    /// Computes the critical path of the turn at a timestamp, back to `until`.
    pub(crate) fn compute(&mut self, timeline: &Timeline, at: Timestamp, until: Timestamp) {
        let (start, end) = timeline.turn_at(at);
        let path = self
            .by_turn
            .entry(start)
            .or_insert_with(|| timeline.start_of_path(start, end));
        if path.walked.is_none_or(|walked| walked > until) {
            path.walked = Some(until);
            if let Some(next) = path.next.take() {
                path.next = timeline.add_backwards(next, start, until, DEPTH, &mut path.on);
            }
        }
    }

    /// Whether a span is on the computed part of a turn's path.
    pub(crate) fn contains(&self, turn: Timestamp, id: SpanId) -> bool {
        self.by_turn
            .get(&turn)
            .is_some_and(|path| path.on.contains(&id))
    }

    /// Whether a part of a turn's path was computed.
    pub(crate) fn has_turn(&self, turn: Timestamp) -> bool {
        self.by_turn.contains_key(&turn)
    }
}

impl Timeline {
    /// Start and end of the work of a turn: including the sub-agents that it started, without
    /// waiting for the next prompt.
    pub(crate) fn work_at(&self, at: Timestamp) -> (Timestamp, Timestamp) {
        let (start, end) = self.turn_at(at);
        let from = if start == Timestamp(i64::MIN) {
            self.first().map_or(at, |id| id.from)
        } else {
            start
        };
        let last = self
            .ends
            .before(SpanEnd::after(0, end))
            .filter(|last| last.from() >= start);
        let started = self.lanes.list.iter().filter_map(|lane| {
            let ((starter, call), (_, to)) = (lane.caller?, lane.reach?);
            (starter == 0 && call.from >= start && call.from < end).then_some(to)
        });
        let open = self
            .open_calls(0)
            .filter(|id| id.from >= start && id.from < end)
            .map(|id| id.from);
        let to = started.chain(open).chain(last.map(|last| last.to)).max();
        (from, to.unwrap_or(from).max(from))
    }

    /// The path of a turn from its end. An open turn depends on the open call that has run for
    /// longest.
    fn start_of_path(&self, start: Timestamp, end: Timestamp) -> CriticalPath {
        let mut path = CriticalPath::default();
        let open = if end == Timestamp(i64::MAX) {
            self.open_calls(0).min()
        } else {
            None
        };
        let open = open.filter(|id| id.from >= start);
        let from = match open {
            Some(id) => {
                path.on.insert(id);
                if let Some(lane) = self.starts.get(&id).copied() {
                    self.add_lane(lane, id.from, DEPTH, &mut path.on);
                }
                id.from
            }
            None => end,
        };
        path.next = Some(SpanEnd::after(0, from));
        path
    }

    pub(crate) fn open_calls(&self, lane: usize) -> impl Iterator<Item = SpanId> + '_ {
        self.lanes
            .list
            .get(lane)
            .into_iter()
            .flat_map(|lane| &lane.open)
            .copied()
    }

    /// Adds the path through a whole lane, back from its open call or its last end.
    fn add_lane(&self, lane: usize, floor: Timestamp, depth: usize, on: &mut HashSet<SpanId>) {
        let open = self.open_calls(lane).min();
        let to = match open {
            Some(id) => {
                on.insert(id);
                if let Some(inner) = self.starts.get(&id).copied().filter(|_| depth > 0) {
                    self.add_lane(inner, id.from, depth - 1, on);
                }
                id.from
            }
            None => Timestamp(i64::MAX - 1),
        };
        self.add_backwards(
            SpanEnd::after(lane, to),
            floor,
            Timestamp(i64::MIN),
            depth,
            on,
        );
    }

    /// Adds the path backwards through a lane from an end, at least to `until`, but not before
    /// `floor`. Returns where to resume.
    fn add_backwards(
        &self,
        mut next: SpanEnd,
        floor: Timestamp,
        until: Timestamp,
        depth: usize,
        on: &mut HashSet<SpanId>,
    ) -> Option<SpanEnd> {
        let lane = next.lane;
        while next.to > until {
            let last = self.ends.before(next).filter(|end| end.from() >= floor);
            let idle_from = last.map_or(floor, |end| end.to);
            if next.to.since(idle_from) > SLACK_MS
                && let Some(came_back) =
                    self.in_background(lane, (idle_from, next.to), floor, depth, on)
            {
                next = SpanEnd::after(lane, came_back);
                continue;
            }
            let last = last?;
            on.insert(last.id);
            if let Some(inner) = self.starts.get(&last.id).copied().filter(|_| depth > 0) {
                self.add_backwards(
                    SpanEnd::after(inner, last.to),
                    last.from(),
                    Timestamp(i64::MIN),
                    depth - 1,
                    on,
                );
            }
            next = SpanEnd::after(lane, last.from()).min(last);
        }
        Some(next)
    }

    /// Adds the path through the sub-agent that this lane started, that outlasted its call, and
    /// that was the last to end in an idle time. Returns its start.
    fn in_background(
        &self,
        lane: usize,
        (after, before): (Timestamp, Timestamp),
        floor: Timestamp,
        depth: usize,
        on: &mut HashSet<SpanId>,
    ) -> Option<Timestamp> {
        let depth = depth.checked_sub(1)?;
        let lanes = self
            .lanes
            .list
            .iter()
            .enumerate()
            .filter_map(|(number, one)| {
                let ((starter, call), (from, to)) = (one.caller?, one.reach?);
                let is_it =
                    starter == lane && call.from >= floor && to > after && to < before && from < to;
                is_it.then_some((to, number, call.from))
            });
        let (to, number, from) = lanes.max()?;
        self.add_backwards(
            SpanEnd::after(number, to),
            from,
            Timestamp(i64::MIN),
            depth,
            on,
        );
        // The call that started it is on the path, and what precedes the call.
        let call = self.lanes.list.get(number)?.caller?.1;
        on.insert(call);
        Some(from.min(after))
    }
}
