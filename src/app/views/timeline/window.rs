//! The part of the time that is shown: the whole session, the turn of the cursor, or a zoomed
//! range.
//!
//! Invariant: the window never exceeds the session, and is never shorter than [`LEAST_MS`].

use crate::analysis::timeline::{SpanId, Timeline};
use crate::model::timestamp::Timestamp;

/// The shortest window, in ms.
const LEAST_MS: u64 = 50;

/// What the window shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowScope {
    /// The whole session, with a row per turn.
    #[default]
    Turns,
    /// The whole session, with a row per model, human, tool or sub-agent.
    Session,
    /// The turn of the cursor.
    Turn,
    /// A range of time.
    Part {
        from: Timestamp,
        to: Timestamp,
        /// Whether it moves with the end of the session.
        is_at_end: bool,
    },
}

/// A window on a session.
pub(crate) struct TimelineWindow<'a> {
    pub(crate) timeline: &'a Timeline,
    /// The range of the session, up to now if the agent is at work.
    pub(crate) reach: (Timestamp, Timestamp),
    /// The span of the cursor.
    pub(crate) chosen: Option<SpanId>,
    /// The current time, if the agent is at work.
    pub(crate) now: Option<Timestamp>,
    /// The range of the cursor's turn, if turns of several sessions run side by side.
    pub(crate) turn: Option<(Timestamp, Timestamp)>,
}

impl TimelineWindow<'_> {
    /// The time between two timestamps without gaps, in ms.
    fn work(&self, from: Timestamp, to: Timestamp) -> u64 {
        let gaps = self.timeline.gaps(from, to);
        let gaps: u64 = gaps
            .map(|(start, end)| end.min(to).since(start.max(from)))
            .sum();
        to.since(from).saturating_sub(gaps)
    }

    /// The timestamp `ms` after `from`, without gaps.
    fn later(&self, from: Timestamp, ms: u64) -> Timestamp {
        let end = self.reach.1;
        let (mut at, mut left) = (from, ms);
        for (start, over) in self.timeline.gaps(from, end) {
            let before = start.since(at);
            if before >= left {
                break;
            }
            left -= before;
            at = over.max(at);
        }
        Timestamp(at.0.saturating_add(i64::try_from(left).unwrap_or(i64::MAX))).min(end)
    }

    /// The timestamp `ms` before `from`, without gaps.
    fn earlier(&self, from: Timestamp, ms: u64) -> Timestamp {
        let (mut at, mut left) = (from, ms);
        let gaps: Vec<(Timestamp, Timestamp)> = self.timeline.gaps(self.reach.0, from).collect();
        for (start, over) in gaps.into_iter().rev() {
            let after = at.since(over);
            if after >= left {
                break;
            }
            left -= after;
            at = start.min(at);
        }
        Timestamp(at.0.saturating_sub(i64::try_from(left).unwrap_or(i64::MAX))).max(self.reach.0)
    }

    /// The range of time of a scope.
    pub(crate) fn range(&self, scope: WindowScope) -> (Timestamp, Timestamp) {
        match scope {
            WindowScope::Turns | WindowScope::Session => self.reach,
            WindowScope::Turn => self.turn(),
            WindowScope::Part {
                from,
                to,
                is_at_end,
            } => {
                let late = if is_at_end { self.reach.1.since(to) } else { 0 };
                (
                    self.later(from, late),
                    Timestamp(to.0.saturating_add_unsigned(late)).min(self.reach.1),
                )
            }
        }
    }

    fn turn(&self) -> (Timestamp, Timestamp) {
        let Some(chosen) = self.chosen else {
            return self.reach;
        };
        if let Some(turn) = self.turn {
            return turn;
        }
        let (from, to) = self.timeline.work_at(chosen.from);
        let is_last = self.timeline.turn_at(chosen.from).1 == Timestamp(i64::MAX);
        let now = self.now.filter(|_| is_last);
        // Waiting for the next prompt is shown with the turn before it, when the cursor is on it.
        let own = self.timeline.get(chosen).map(|(span, _)| span.end(now));
        (
            from.min(chosen.from),
            own.into_iter().chain(now).fold(to, Timestamp::max),
        )
    }

    /// Zooms around the cursor by `times` halvings or doublings. `None` at the limit.
    pub(crate) fn zoom(
        &self,
        scope: WindowScope,
        closer: bool,
        times: usize,
    ) -> Option<WindowScope> {
        let (from, to) = self.range(scope);
        let length = self.work(from, to).max(LEAST_MS);
        let times = u32::try_from(times).unwrap_or(u32::MAX).min(40);
        let factor = 2_u64.saturating_pow(times);
        let wanted = if closer {
            length / factor
        } else {
            length.saturating_mul(factor)
        }
        .max(LEAST_MS);
        if closer && length <= LEAST_MS || !closer && (from, to) == self.reach {
            return None;
        }
        let centre = self.chosen.map_or(from, |id| id.from).clamp(from, to);
        // The relative position of the cursor in the window stays the same.
        let before = u128::from(self.work(from, centre)) * u128::from(wanted) / u128::from(length);
        let start = self.earlier(centre, u64::try_from(before).unwrap_or(wanted));
        Some(self.part(start, self.later(start, wanted)))
    }

    /// A window around the cursor's span, `times` as long as it.
    pub(crate) fn around(&self, times: u64) -> Option<WindowScope> {
        let id = self.chosen?;
        let end = self.timeline.get(id)?.0.end(self.now);
        let length = end.since(id.from).max(LEAST_MS / 2);
        let beside = length.saturating_mul(times.saturating_sub(1)) / 2;
        Some(self.part(
            self.earlier(id.from, beside),
            self.later(end, beside.max(1)),
        ))
    }

    /// The window moved by quarters of its length. `None` at the end of the session.
    pub(crate) fn pan(
        &self,
        scope: WindowScope,
        quarters: usize,
        later: bool,
    ) -> Option<WindowScope> {
        let (from, to) = self.range(scope);
        let length = self.work(from, to).max(LEAST_MS);
        let by = (length / 4).max(1).saturating_mul(quarters as u64);
        let part = if later {
            let to = self.later(to, by);
            (self.earlier(to, length), to)
        } else {
            let from = self.earlier(from, by);
            (from, self.later(from, length))
        };
        (part != (from, to)).then(|| self.part(part.0, part.1))
    }

    /// The window moved so that it shows the cursor.
    pub(crate) fn reveal(&self, scope: WindowScope) -> WindowScope {
        let (from, to) = self.range(scope);
        let Some(id) = self.chosen else { return scope };
        let end = self
            .timeline
            .get(id)
            .map_or(id.from, |(span, _)| span.end(self.now));
        let is_seen = (id.from >= from && id.from < to) || (id.from < from && end > from);
        if is_seen || !matches!(scope, WindowScope::Part { .. }) {
            return scope;
        }
        let length = self.work(from, to).max(LEAST_MS);
        let start = self.earlier(id.from, length / 4);
        self.part(start, self.later(start, length))
    }

    fn part(&self, from: Timestamp, to: Timestamp) -> WindowScope {
        if from <= self.reach.0 && to >= self.reach.1 {
            return WindowScope::Session;
        }
        let to = to.max(Timestamp(from.0.saturating_add(1)));
        WindowScope::Part {
            from,
            to,
            is_at_end: to >= self.reach.1,
        }
    }
}
