//! The clock.
//!
//! Invariant: the layers below get the time from here.

use std::time::UNIX_EPOCH;

use crate::model::timestamp::Timestamp;

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the clock for the viewer"
)]
pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
