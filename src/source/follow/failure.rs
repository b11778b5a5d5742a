//! A file that cannot be read for now: reported once, and retried at growing intervals.

use std::time::{Duration, Instant};

/// The delay before the second attempt; each further one doubles it, up to the last.
const FIRST_RETRY: Duration = Duration::from_millis(250);
const LAST_RETRY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct FollowFailure {
    pub(super) what: String,
    delay: Duration,
    pub(super) retry: Instant,
    /// Whether reading the bytes failed, and not only opening the path.
    pub(super) in_reading: bool,
}

impl FollowFailure {
    /// The failure that follows an earlier one.
    pub(super) fn after(last: Option<&Self>, what: String, now: Instant, in_reading: bool) -> Self {
        let delay = last.map_or(FIRST_RETRY, |last| (last.delay * 2).min(LAST_RETRY));
        Self {
            what,
            delay,
            retry: now + delay,
            in_reading,
        }
    }
}
