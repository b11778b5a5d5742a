//! How a session stands that nobody follows.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use super::member::{Inbox, Member};
use crate::analysis::wall::Glance;
use crate::ingest::Databases;
use crate::ingest::find;
use crate::model::found::Found;
use crate::model::timestamp::Timestamp;

/// Of a larger file only the end is read.
const WHOLE: u64 = 32 << 20;
/// So long is read without a pause.
const SLICE: Duration = Duration::from_millis(50);

/// Reads how a session stands, until nobody wants to know any more.
pub fn glance(found: &Found, now: Timestamp, is_wanted: impl Fn() -> bool) -> Option<Glance> {
    let inbox: Inbox = RefCell::default();
    let outlet = |feed| {
        inbox.borrow_mut().push(feed);
        true
    };
    let mut member = Member::new(found.clone(), Databases::default(), &[]);
    member.begin(&outlet, &inbox, now);
    let is_short = found.size.is_none_or(|size| size <= WHOLE);
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
        prompt: find::first_prompt(found),
        counts: member.counts(),
    })
}
