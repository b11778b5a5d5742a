//! Reads each of many sessions once: first those that are listed, then sub-agent sessions that were
//! not read with the session that started them.
//!
//! Invariant: every session that could not be read is reported, whether that is found before or
//! during reading.

use std::collections::HashSet;
use std::path::PathBuf;

use super::walk::walk;
use crate::analysis::by::By;
use crate::analysis::expression::When;
use crate::ingest::find::{self, DiscoveryQuery, Looked, Unread};
use crate::ingest::{OpenError, Target};
use crate::model::found::FoundSession;
use crate::model::timestamp::Timestamp;
use crate::report::listing::ListingForm;
use crate::report::outcome::{Missed, ReadFailure};
use crate::report::reading::Reading;
use crate::report::rows::Paper;

/// Options of `tv tools` over all sessions, and of `tv waste`.
pub(crate) struct SumsOptions {
    /// Where to search for sessions.
    pub(crate) search: DiscoveryQuery,
    /// What sums are grouped by.
    pub(crate) by: Option<By>,
    /// Only sessions that were written to from this time on.
    pub(crate) since: Option<When>,
    pub(crate) form: ListingForm,
    /// Whether unreadable sessions count as a failure.
    pub(crate) strict: bool,
    /// Width and signs of the table.
    pub(crate) paper: Paper,
}

/// A message about the progress of reading.
#[derive(Debug)]
pub enum ReadProgress<T> {
    /// The number of sessions that will be read.
    Found(usize),
    /// The result for a session, or the next part of it.
    Session(Box<T>),
    /// One session is done.
    Done,
    /// A session could not be read, or not to its end.
    Failure(ReadFailure),
}

/// The end of a session whose results were sent.
#[derive(Default)]
pub(crate) struct ReadToEnd {
    pub(crate) files: Vec<PathBuf>,
    /// Why it could not be read to its end.
    pub(crate) failure: Option<OpenError>,
}

impl ReadToEnd {
    pub(crate) fn of(reading: &Reading) -> Self {
        let files = reading.files.values();
        Self {
            files: files.map(|path| path.to_path_buf()).collect(),
            failure: reading.failure(),
        }
    }
}

/// The files of a session that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhichFiles {
    /// Only the newest file of each session, which continues the others; newest first.
    Newest,
    /// All files, oldest first: of copies without timestamps the one in the oldest file is the
    /// original.
    All,
}

/// A message from a reading thread.
enum ReadMessage<T> {
    /// The result for a session, or the next part of it.
    Part(Box<T>),
    /// A session is complete; these are its files.
    Session(Vec<PathBuf>),
    /// Not a session, or one that another session started.
    Other(usize),
    /// Of another format, or unreadable.
    Passed,
    /// The session could not be read, or not to its end.
    Failure(ReadFailure),
}

/// Reads the sessions that were written to since then, or those at the named paths, until `take`
/// returns false. `read` sends the result for a session, in parts if it is large.
pub(crate) fn each<T: Send>(
    search: &DiscoveryQuery,
    which: (Option<Timestamp>, WhichFiles),
    now: Timestamp,
    read: impl Fn(&Target, FoundSession, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError>
    + Sync,
    take: impl FnMut(ReadProgress<T>) -> bool,
) {
    each_unless(search, which, |_| None, now, read, take);
}

/// Like [`each`], with a `take` that only gets results. Returns what could not be read.
pub(crate) fn each_result<T: Send>(
    search: &DiscoveryQuery,
    which: (Option<Timestamp>, WhichFiles),
    now: Timestamp,
    read: impl Fn(&Target, FoundSession, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError>
    + Sync,
    mut take: impl FnMut(T) -> bool,
) -> Missed {
    let mut missed = Missed::default();
    each(search, which, now, read, |step| match step {
        ReadProgress::Session(result) => take(*result),
        ReadProgress::Failure(failure) => {
            missed.push(failure);
            true
        }
        ReadProgress::Found(_) | ReadProgress::Done => true,
    });
    missed
}

/// Like [`each`], without sessions of which `known` returns a result from an earlier reading, with
/// the files that were read for it.
pub(crate) fn each_unless<T: Send>(
    search: &DiscoveryQuery,
    (since, which): (Option<Timestamp>, WhichFiles),
    known: impl Fn(&Unread) -> Option<(T, Vec<PathBuf>)>,
    now: Timestamp,
    read: impl Fn(&Target, FoundSession, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError>
    + Sync,
    mut take: impl FnMut(ReadProgress<T>) -> bool,
) {
    let Looked {
        mut sessions,
        unreadable,
        refused,
        ..
    } = find::unread(search);
    let unreadable = unreadable
        .into_iter()
        .map(|found| ReadFailure::CameBy(Box::new(found)));
    if !refused
        .into_iter()
        .map(ReadFailure::Named)
        .chain(unreadable)
        .all(|failure| take(ReadProgress::Failure(failure)))
    {
        return;
    }
    sessions.retain(|session| since.is_none_or(|since| session.is_since(since)));
    match which {
        WhichFiles::Newest => find::retain_newest(&mut sessions),
        WhichFiles::All => sessions.reverse(),
    }
    if !take(ReadProgress::Found(sessions.len())) {
        return;
    }
    let (mut files, mut others) = (HashSet::new(), HashSet::new());
    let mut all: Vec<(usize, &Unread)> = Vec::new();
    for unit in sessions.iter().enumerate() {
        match known(unit.1) {
            Some((known, own)) => {
                files.extend(own);
                if !take(ReadProgress::Session(Box::new(known))) || !take(ReadProgress::Done) {
                    return;
                }
            }
            None => all.push(unit),
        }
    }
    let end = read_all(
        &all,
        (search, true),
        now,
        &read,
        |mut message| match &mut message {
            ReadMessage::Other(number) => {
                others.insert(*number);
                true
            }
            ReadMessage::Session(own) => {
                files.extend(std::mem::take(own));
                forward(message, &mut take)
            }
            ReadMessage::Part(_) | ReadMessage::Passed | ReadMessage::Failure(_) => {
                forward(message, &mut take)
            }
        },
    );
    if end.is_err() {
        return;
    }
    // Sub-agent sessions were read with the sessions that started them, unless those are gone.
    let rest = all
        .into_iter()
        .filter(|(number, _)| others.contains(number));
    let (read_before, rest): (Vec<_>, Vec<_>) =
        rest.partition(|(_, session)| files.contains(session.path()));
    if read_before.iter().all(|_| take(ReadProgress::Done)) {
        let _ = read_all(&rest, (search, false), now, &read, |message| {
            forward(message, &mut take)
        });
    }
}

/// Reads sessions until `take` returns false.
fn read_all<T: Send>(
    units: &[(usize, &Unread)],
    (search, is_listed): (&DiscoveryQuery, bool),
    now: Timestamp,
    read: &(
         impl Fn(&Target, FoundSession, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError> + Sync
     ),
    mut take: impl FnMut(ReadMessage<T>) -> bool,
) -> Result<(), ()> {
    walk(
        units,
        |(_, session)| session.path(),
        || find::FactReader::new(now),
        |reader, unit, say| read_one((reader, *unit), (search, is_listed), read, say),
        |message| if take(message) { Ok(()) } else { Err(()) },
    )
}

fn forward<T>(message: ReadMessage<T>, take: &mut impl FnMut(ReadProgress<T>) -> bool) -> bool {
    match message {
        ReadMessage::Part(part) => take(ReadProgress::Session(part)),
        ReadMessage::Session(_) | ReadMessage::Other(_) | ReadMessage::Passed => {
            take(ReadProgress::Done)
        }
        ReadMessage::Failure(failure) => take(ReadProgress::Failure(failure)),
    }
}

/// Reads a session if it is listed; any session if `is_listed` is false.
fn read_one<T>(
    (reader, (number, unread)): (&mut find::FactReader, (usize, &Unread)),
    (search, is_listed): (&DiscoveryQuery, bool),
    read: &impl Fn(&Target, FoundSession, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError>,
    say: &mut dyn FnMut(ReadMessage<T>) -> bool,
) {
    let found = if is_listed {
        reader.read(unread.candidate.clone())
    } else {
        reader.found(unread)
    };
    let Some(found) = found.filter(|found| !is_listed || !reader.is_part(found)) else {
        say(ReadMessage::Other(number));
        return;
    };
    if search
        .format
        .as_ref()
        .is_some_and(|format| found.format != format)
    {
        say(ReadMessage::Passed);
        return;
    }
    let failure = if found.unreadable.is_some() {
        ReadFailure::CameBy(Box::new(found))
    } else {
        let mut say_part = |part| say(ReadMessage::Part(Box::new(part)));
        match read(&unread.target(), found, &mut say_part) {
            Ok(ReadToEnd { files, failure }) => {
                let is_wanted = say(ReadMessage::Session(files));
                let failure = failure
                    .filter(|_| is_wanted)
                    .map(|why| ReadFailure::of(unread, search, why));
                if let Some(failure) = failure {
                    say(ReadMessage::Failure(failure));
                }
                return;
            }
            Err(why) => ReadFailure::of(unread, search, why),
        }
    };
    if say(ReadMessage::Failure(failure)) {
        say(ReadMessage::Passed);
    }
}
