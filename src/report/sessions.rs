//! Reports over many sessions: all that agents keep, or those that were named.
//!
//! **They share one walk.** Sessions are found without being opened, read on two threads, and what comes of each is
//! taken in the order in which they were found (`walk`).

pub mod grep;
pub mod usage;
mod walk;

use crate::ingest::find::Unread;
use crate::ingest::{self, OpenError, Target};
use crate::report::reading::shown;

/// Leaves those that were named, if some were. What was named and is not among them is a failure.
fn leave_named(sessions: &mut Vec<Unread>, targets: &[Target]) -> Vec<OpenError> {
    if !targets.iter().any(|target| target.session.is_some()) {
        return Vec::new();
    }
    sessions.retain(|session| targets.iter().any(|target| session.is_of(target)));
    let is_named = |target: &&Target| target.session.is_some();
    let is_missing = |target: &&Target| !sessions.iter().any(|session| session.is_of(target));
    let missing = targets.iter().filter(is_named).filter(is_missing);
    let why = |target: &Target| {
        let (path, name) = (shown(&target.path), target.session.as_deref().unwrap_or_default());
        let started = format!("{path}#{name}: another session started it, and is read with it; name that");
        ingest::open(target).err().unwrap_or(OpenError(started))
    };
    missing.map(why).collect()
}
