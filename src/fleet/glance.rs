//! Computes the row of a session that is not followed.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::member::{FleetMember, Inbox, WINDOW};
use crate::analysis::wall::{Glance, SessionRow};
use crate::ingest::Databases;
use crate::ingest::find;
use crate::model::found::FoundSession;
use crate::model::timestamp::Timestamp;

/// Of a file above this size in bytes only the end is read.
const WHOLE: u64 = 32 << 20;
/// Time slice between two checks for cancellation.
const SLICE: Duration = Duration::from_millis(50);

/// Reads a session and returns its row; stops when `is_wanted` returns false.
pub fn glance(
    found: &FoundSession,
    now: Timestamp,
    is_wanted: impl Fn() -> bool,
) -> Option<Glance> {
    let glance = read(found, WHOLE, now, is_wanted)?;
    Some(Glance {
        prompt: find::first_prompt(found),
        ..glance
    })
}

/// The row of a session of which only the end is read, but without its cost.
pub fn end(found: &FoundSession, now: Timestamp) -> Option<SessionRow> {
    read(found, WINDOW, now, || true).map(|glance| glance.row)
}

/// Reads a session, of one above `whole` bytes only the end.
fn read(
    found: &FoundSession,
    whole: u64,
    now: Timestamp,
    is_wanted: impl Fn() -> bool,
) -> Option<Glance> {
    let inbox: Inbox = RefCell::default();
    let outlet = |feed| {
        inbox.borrow_mut().push(feed);
        true
    };
    let mut member = FleetMember::new(found.clone(), Databases::default(), &[]);
    member.begin(&outlet, &inbox, now);
    let is_short = found.size.is_none_or(|size| size <= whole);
    while is_short && member.has_more(Instant::now()) {
        if !is_wanted() {
            return None;
        }
        member.read(&outlet, &inbox, now, SLICE);
    }
    let (row, _) = member.news(now, false);
    Some(Glance {
        row: row?,
        modified: found.modified,
        prompt: None,
        counts: member.counts(),
    })
}
