//! Schedules scans of a database: soon after a change, rarely while nothing happens, and with
//! growing delays while it cannot be read.

use std::time::{Duration, Instant};

use crate::model::edit::LinkState;
use crate::model::text::Text;
use crate::source::rows::DatabaseFailure;

/// A second change may come within the same clock tick as the first: a scan after this delay finds
/// it.
const SETTLE: Duration = Duration::from_millis(100);
/// Minimum pause between scans, so that a burst of changes is one.
const PAUSE: Duration = Duration::from_millis(25);
/// Maximum pause: some file systems report no changes of a log.
const SAFETY: Duration = Duration::from_secs(2);
/// Delays between attempts while a database cannot be read.
const FIRST_RETRY: Duration = Duration::from_millis(50);
const LAST_RETRY: Duration = Duration::from_secs(2);
/// If a writer keeps the database busy for longer, that is reported; until then it is tried again
/// often.
const QUIET: Duration = Duration::from_secs(2);
const BUSY_RETRY: Duration = Duration::from_millis(200);

/// Time of the next scan, and result of the last one.
#[derive(Default)]
pub(super) struct Schedule {
    next: Option<Instant>,
    /// Scans that take long are less frequent.
    not_before: Option<Instant>,
    is_settled: bool,
    failure: Option<Failing>,
}

/// Why the database cannot be read.
struct Failing {
    why: DatabaseFailure,
    since: Instant,
    delay: Duration,
    is_said: bool,
}

impl Schedule {
    /// When to scan without an event.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Whether a scan is due regardless of events.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next.is_some_and(|at| at <= now)
    }

    /// Whether it is too soon after the last scan; the next one is scheduled as early as possible.
    pub(super) fn defers(&mut self, now: Instant) -> bool {
        let not_before = self.not_before.filter(|at| now < *at);
        self.next = not_before.or(self.next);
        not_before.is_some()
    }

    /// Records a scan and its duration; it is settled if it found no changes.
    pub(super) fn record_scan(&mut self, now: Instant, cost: Duration, is_settled: bool) {
        self.is_settled = is_settled;
        // On a busy machine a scan takes long, too; changes wait no longer for that than SAFETY or
        // the duration of the scan.
        let most = SAFETY.max(cost);
        let pause = if is_settled {
            SAFETY.max(cost * 100)
        } else {
            SETTLE.max((cost * 10).min(most))
        };
        self.next = Some(now + pause);
        self.not_before = Some(now + PAUSE.max((cost * 4).min(most)));
    }

    /// Whether the last scan found no changes.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Whether the database could not be read the last time.
    pub(super) fn is_failing(&self) -> bool {
        self.failure.is_some()
    }

    /// Records a failure. Returns the state to report, if it is new. That a writer is active
    /// usually passes soon.
    pub(super) fn fail(&mut self, failure: DatabaseFailure, now: Instant) -> Option<LinkState> {
        let known = self.failure.take();
        let delay = known.as_ref().map_or(FIRST_RETRY, |known| known.delay * 2);
        let same = known.filter(|known| known.why == failure);
        let (since, was_said) = same.map_or((now, false), |same| (same.since, same.is_said));
        let is_quiet = failure == DatabaseFailure::Busy && now.duration_since(since) < QUIET;
        let link = match &failure {
            DatabaseFailure::Deleted => LinkState::Deleted,
            other => LinkState::Unreadable(Text::clean(&other.words())),
        };
        let delay = delay.min(if is_quiet { BUSY_RETRY } else { LAST_RETRY });
        self.next = Some(now + delay);
        let is_said = was_said || !is_quiet;
        self.failure = Some(Failing {
            why: failure,
            since,
            delay,
            is_said,
        });
        (is_said && !was_said).then_some(link)
    }

    /// Records a success. Returns the state to report, if it is new.
    pub(super) fn recover(&mut self) -> Option<LinkState> {
        self.failure
            .take()
            .filter(|failing| failing.is_said)
            .map(|_| LinkState::Live)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Schedule;
    use crate::model::edit::LinkState;
    use crate::source::rows::DatabaseFailure;

    #[test]
    fn a_writer_at_work_is_said_of_when_it_takes_long() {
        let (begun, mut schedule) = (Instant::now(), Schedule::default());
        let after = |ms| begun + Duration::from_millis(ms);
        assert!(schedule.fail(DatabaseFailure::Busy, after(0)).is_none());
        assert!(schedule.fail(DatabaseFailure::Busy, after(1900)).is_none());
        assert!(
            schedule.recover().is_none(),
            "what was not said is not taken back"
        );
        assert!(schedule.fail(DatabaseFailure::Busy, after(2000)).is_none());
        assert!(
            schedule.next().is_some_and(|next| next <= after(2200)),
            "it is tried again soon"
        );
        assert!(matches!(
            schedule.fail(DatabaseFailure::Busy, after(4100)),
            Some(LinkState::Unreadable(_))
        ));
        assert!(
            schedule.fail(DatabaseFailure::Busy, after(4200)).is_none(),
            "once is enough"
        );
        assert_eq!(schedule.recover(), Some(LinkState::Live));
        assert_eq!(
            schedule.fail(DatabaseFailure::Deleted, after(5000)),
            Some(LinkState::Deleted)
        );
    }
}
