//! `tv usage`: what all sessions came to, in tokens and money, as a table, as CSV, or as JSON (schema `tv.usage/1`, only
//! ever added to).
//!
//! **It is the same account.** A session is read as every other report reads it, and what it spent are the charges of
//! its bill (`analysis::money::spending::statement`). What is new here is that a request may stand in several files:
//! see `analysis::ledger`.
//!
//! Invariant: every request counts once, wherever it stands, so the rows of each grouping add up to the same.

mod options;
mod print;
mod read;

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

pub use self::options::{Form, Options};
pub use self::read::spender;
use self::read::{Message, read};
use super::leave_named;
use super::walk::walk;
use crate::analysis::expression::{When, judge};
use crate::analysis::ledger::{Ledger, Spender};
use crate::ingest::find::{self, Search, Unread};
use crate::ingest::{OpenError, Target};
use crate::model::timestamp::Timestamp;
use crate::report::outcome::{Outcome, ReportError};

/// Writes what was spent.
pub fn write(options: &Options, now: Timestamp, out: &mut dyn Write) -> Result<Outcome, ReportError> {
    let moment = |when: Option<When>| when.and_then(|when| judge::moment_of(when, Some(now)));
    let (since, until) = (moment(options.since), moment(options.until));
    let mut failures = options.refused.clone();
    let mut ledger = Ledger::new(since..until);
    count(&options.search, &options.targets, since, now, |step| {
        match step {
            Step::Session(session) => ledger.add(*session),
            Step::Failure(failure) => failures.push(failure),
            Step::Found(_) | Step::Done => {}
        }
        true
    });
    print::write(&ledger, options, now, out)?;
    Ok(Outcome::of(failures))
}

/// What comes of counting.
#[derive(Debug)]
pub enum Step {
    /// So many sessions are looked at.
    Found(usize),
    /// What one of them spent.
    Session(Box<Spender>),
    /// One was looked at.
    Done,
    /// Why a place or a session could not be read, or not to its end.
    Failure(OpenError),
}

/// Reads what all sessions spent that were written to since then, or those of the named places, until nobody takes it.
pub fn count(
    search: &Search,
    targets: &[Target],
    since: Option<Timestamp>,
    now: Timestamp,
    mut take: impl FnMut(Step) -> bool,
) {
    let (mut sessions, mut refused) = find::unread(search);
    refused.extend(leave_named(&mut sessions, targets));
    if !refused.into_iter().all(|refused| take(Step::Failure(refused))) {
        return;
    }
    sessions.retain(|session| since.is_none_or(|since| session.is_since(since)));
    // Of copies that tell no times the one in the older session was said first.
    sessions.reverse();
    if !take(Step::Found(sessions.len())) {
        return;
    }
    let mut files: HashSet<PathBuf> = HashSet::new();
    let all: Vec<(usize, &Unread)> = sessions.iter().enumerate().collect();
    let mut others = HashSet::new();
    let format = search.format.as_deref();
    let is_over = |is_wanted: bool| if is_wanted { Ok(()) } else { Err(()) };
    let end = walk(
        &all,
        || find::Reader::new(now),
        |reader, unit, say| read(reader, *unit, (format, true), say),
        |message| {
            is_over(match message {
                Message::Session(session) => {
                    files.extend(session.files.iter().cloned());
                    take(Step::Session(session)) && take(Step::Done)
                }
                Message::Other(number) => {
                    others.insert(number);
                    true
                }
                Message::Passed => take(Step::Done),
                Message::Failure(failure) => take(Step::Failure(failure)),
            })
        },
    );
    if end.is_err() {
        return;
    }
    // What other sessions started was read with them, unless they are gone.
    let is_read = |session: &Unread| files.contains(session.path());
    let rest = all.into_iter().filter(|(number, _)| others.contains(number));
    let (read_before, rest): (Vec<_>, Vec<_>) = rest.partition(|(_, session)| is_read(session));
    if !read_before.iter().all(|_| take(Step::Done)) {
        return;
    }
    let _ = walk(
        &rest,
        || find::Reader::new(now),
        |reader, unit, say| read(reader, *unit, (format, false), say),
        |message| {
            is_over(match message {
                Message::Session(session) => take(Step::Session(session)) && take(Step::Done),
                Message::Failure(failure) => take(Step::Failure(failure)),
                Message::Other(_) | Message::Passed => take(Step::Done),
            })
        },
    );
}
