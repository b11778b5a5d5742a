//! The critical path of a turn: what decided when it ended.
//!
//! Back from the end of the turn: what ended last before a timestamp is what was waited for; from its
//! beginning on backwards it goes on. Where that is a call that started a sub-agent, the path goes through
//! the sub-agent too. So of calls that ran side by side only the last to end is on the path.
//!
//! Invariant: a path is walked back only as far as somebody looks, and goes on from there.

use std::collections::{HashMap, HashSet};

use super::ends::End;
use super::{SpanId, Timeline};
use crate::model::timestamp::Timestamp;

/// Sub-agents of sub-agents so deep.
const DEPTH: usize = 8;
/// A lane that was started in the background may have been waited for where its starter did nothing for
/// longer than this, in ms.
const SLACK_MS: u64 = 1_000;

/// The critical path of a turn, as far as it was walked.
#[derive(Clone, Debug, Default)]
struct Path {
    on: HashSet<SpanId>,
    /// Where the walk goes on.
    next: Option<End>,
    /// How far back it was walked.
    walked: Option<Timestamp>,
}

/// Critical paths by the beginnings of their turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    by_turn: HashMap<Timestamp, Path>,
    /// The generation of the timeline that they were walked in.
    generation: u64,
}

impl Paths {
    /// Forgets all of them if the timeline is another one by now.
    pub(crate) fn keep(&mut self, generation: u64) {
        if self.generation != generation {
            *self = Self {
                generation,
                ..Self::default()
            };
        }
    }

    /// Walks the critical path of the turn that a timestamp belongs to, back to `until`.
    pub(crate) fn walk(&mut self, timeline: &Timeline, at: Timestamp, until: Timestamp) {
        let (start, end) = timeline.turn_at(at);
        let path = self
            .by_turn
            .entry(start)
            .or_insert_with(|| timeline.start_of_path(start, end));
        if path.walked.is_none_or(|walked| walked > until) {
            path.walked = Some(until);
            if let Some(next) = path.next.take() {
                path.next = timeline.back(next, start, until, DEPTH, &mut path.on);
            }
        }
    }

    /// Whether a span is on the path of the turn that begins at a timestamp, as far as it was walked.
    pub(crate) fn holds(&self, turn: Timestamp, id: SpanId) -> bool {
        self.by_turn
            .get(&turn)
            .is_some_and(|path| path.on.contains(&id))
    }

    /// Whether the path of a turn was walked at all.
    pub(crate) fn knows(&self, turn: Timestamp) -> bool {
        self.by_turn.contains_key(&turn)
    }
}

impl Timeline {
    /// From when to when a turn was worked on: the sub-agents that it started are part of it, waiting for
    /// the next prompt is not.
    pub(crate) fn work_at(&self, at: Timestamp) -> (Timestamp, Timestamp) {
        let (start, end) = self.turn_at(at);
        let from = if start == Timestamp(i64::MIN) {
            self.first().map_or(at, |id| id.from)
        } else {
            start
        };
        let last = self
            .ends
            .before(End::after(0, end))
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

    /// What is still waited for decides when the turn will end: the call that has run for longest.
    fn start_of_path(&self, start: Timestamp, end: Timestamp) -> Path {
        let mut path = Path::default();
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
                    self.whole(lane, id.from, DEPTH, &mut path.on);
                }
                id.from
            }
            None => end,
        };
        path.next = Some(End::after(0, from));
        path
    }

    /// Calls of a lane that are waited for.
    pub(crate) fn open_calls(&self, lane: usize) -> impl Iterator<Item = SpanId> + '_ {
        self.lanes
            .list
            .get(lane)
            .into_iter()
            .flat_map(|lane| &lane.open)
            .copied()
    }

    /// The path through a lane that is still at work, or in whose end nobody else has a part.
    fn whole(&self, lane: usize, floor: Timestamp, depth: usize, on: &mut HashSet<SpanId>) {
        let open = self.open_calls(lane).min();
        let to = match open {
            Some(id) => {
                on.insert(id);
                if let Some(inner) = self.starts.get(&id).copied().filter(|_| depth > 0) {
                    self.whole(inner, id.from, depth - 1, on);
                }
                id.from
            }
            None => Timestamp(i64::MAX - 1),
        };
        self.back(End::after(lane, to), floor, Timestamp(i64::MIN), depth, on);
    }

    /// Goes back through a lane from an end, at least until a timestamp, but never before its floor. Says
    /// where to go on.
    fn back(
        &self,
        mut next: End,
        floor: Timestamp,
        until: Timestamp,
        depth: usize,
        on: &mut HashSet<SpanId>,
    ) -> Option<End> {
        let lane = next.lane;
        while next.to > until {
            let last = self.ends.before(next).filter(|end| end.from() >= floor);
            let idle_from = last.map_or(floor, |end| end.to);
            if next.to.since(idle_from) > SLACK_MS
                && let Some(came_back) =
                    self.in_background(lane, (idle_from, next.to), floor, depth, on)
            {
                next = End::after(lane, came_back);
                continue;
            }
            let last = last?;
            on.insert(last.id);
            if let Some(inner) = self.starts.get(&last.id).copied().filter(|_| depth > 0) {
                self.back(
                    End::after(inner, last.to),
                    last.from(),
                    Timestamp(i64::MIN),
                    depth - 1,
                    on,
                );
            }
            next = End::after(lane, last.from()).min(last);
        }
        Some(next)
    }

    /// A lane that this one started, that outlasted its call and was the last to end in this time: the
    /// path goes through it. Says when it began.
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
        self.back(End::after(number, to), from, Timestamp(i64::MIN), depth, on);
        // The call that started it is part of the path, and what came before it.
        let call = self.lanes.list.get(number)?.caller?.1;
        on.insert(call);
        Some(from.min(after))
    }
}
