//! A file that cannot be read for now: that is reported once, and tried again less and less often.

use std::time::{Duration, Instant};

/// Delays between tries while a file cannot be read.
const FIRST_RETRY: Duration = Duration::from_millis(250);
const LAST_RETRY: Duration = Duration::from_secs(5);

/// What is wrong, and when it is tried again.
#[derive(Debug)]
pub(super) struct Failure {
    /// What is wrong, in words.
    pub(super) what: String,
    delay: Duration,
    /// When it is tried again.
    pub(super) retry: Instant,
    /// The bytes themselves cannot be read, not only the name.
    pub(super) in_reading: bool,
}

impl Failure {
    /// What went wrong now, after what went wrong before.
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
