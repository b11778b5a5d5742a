//! `tv usage`: what all sessions came to, in tokens and money, as a table, as CSV, or as JSON (schema `tv.usage/1`, only
//! ever added to).
//!
//! **It is the same account.** A session is read as every other report reads it, and what it spent are the charges of
//! its bill (`analysis::money::spending::statement`). What is new here is that a request may stand in several files:
//! see `ledger`.
//!
//! Invariant: every request counts once, wherever it stands, so the rows of each grouping add up to the same.

mod ledger;
mod options;
mod print;
mod read;

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use self::ledger::Ledger;
pub use self::options::{By, Form, Options};
use self::read::{Message, read};
use super::walk::walk;
use crate::analysis::expression::{When, judge};
use crate::ingest::find::{self, Unread};
use crate::model::timestamp::Timestamp;
use crate::report::outcome::{Outcome, ReportError};

/// Writes what was spent.
pub fn write(options: &Options, now: Timestamp, out: &mut dyn Write) -> Result<Outcome, ReportError> {
    let moment = |when: Option<When>| when.and_then(|when| judge::moment_of(when, Some(now)));
    let (since, until) = (moment(options.since), moment(options.until));
    let (mut sessions, refused) = find::unread(&options.search);
    let mut failures = options.refused.clone();
    failures.extend(refused);
    if options.targets.iter().any(|target| target.session.is_some()) {
        sessions.retain(|session| options.targets.iter().any(|target| session.is_of(target)));
    }
    sessions.retain(|session| session.modified().is_none_or(|at| since.is_none_or(|since| at >= since)));
    // What was copied belongs to the session that it was copied from, which is the older one.
    sessions.reverse();

    let mut ledger = Ledger::new(&options.by, since..until);
    let mut files: HashSet<PathBuf> = HashSet::new();
    let all: Vec<(usize, &Unread)> = sessions.iter().enumerate().collect();
    let mut others = HashSet::new();
    let format = options.search.format.as_deref();
    let mut take = |message, others: &mut HashSet<usize>| match message {
        Message::Session(session) => {
            files.extend(session.files.iter().cloned());
            ledger.add(*session);
        }
        Message::Other(number) => _ = others.insert(number),
        Message::Failure(failure) => failures.push(failure),
    };
    walk(
        &all,
        || find::Reader::new(now),
        |reader, unit, say| read(reader, *unit, (format, true), say),
        |message| {
            take(message, &mut others);
            Ok::<(), ReportError>(())
        },
    )?;
    // What other sessions started was read with them, unless they are gone.
    let rest: Vec<(usize, &Unread)> = all.into_iter().filter(|(number, _)| others.contains(number)).collect();
    let rest: Vec<_> = rest.into_iter().filter(|(_, session)| !files.contains(session.path())).collect();
    walk(
        &rest,
        || find::Reader::new(now),
        |reader, unit, say| read(reader, *unit, (format, false), say),
        |message| match message {
            Message::Session(session) => {
                ledger.add(*session);
                Ok(())
            }
            Message::Failure(failure) => {
                failures.push(failure);
                Ok(())
            }
            Message::Other(_) => Ok::<(), ReportError>(()),
        },
    )?;
    print::write(&ledger, options, out)?;
    Ok(Outcome::of(failures))
}
