//! Reads each of many sessions once: first those that are listed, then sub-agent sessions that were
//! not read with the session that started them.
//!
//! Invariant: every session that could not be read is reported, whether that is found before or
//! during reading.

use std::collections::HashSet;
use std::path::PathBuf;

use super::walk::walk;
use crate::ingest::find::{self, Looked, Search, Unread};
use crate::ingest::{OpenError, Target};
use crate::model::found::Found;
use crate::model::timestamp::Timestamp;

/// A message about the progress of reading.
#[derive(Debug)]
pub enum Step<T> {
    /// The number of sessions that will be read.
    Found(usize),
    /// The result for a session, or the next part of it.
    Session(Box<T>),
    /// One session is done.
    Done,
    /// A named path or session could not be read, or not to its end.
    Failure(OpenError),
    /// A session that was found in a search could not be read, or not to its end.
    Unreadable(Box<Found>),
}

/// The end of a session whose results were sent.
#[derive(Default)]
pub(crate) struct ReadToEnd {
    pub(crate) files: Vec<PathBuf>,
    /// Why it could not be read to its end.
    pub(crate) failure: Option<OpenError>,
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

/// Why a session cannot be read, or not to its end.
#[derive(Debug)]
pub(super) enum Failure {
    /// For a session that the user named.
    Named(OpenError),
    /// For a session that was found in a search.
    CameBy(Box<Found>),
}

impl Failure {
    pub(super) fn of(session: &Unread, search: &Search, why: OpenError) -> Self {
        if search.paths.iter().any(|path| path == session.path()) {
            return Self::Named(why);
        }
        Self::CameBy(Box::new(session.unreadable(why.about(session.path()))))
    }
}

/// A message from a reading thread.
enum Message<T> {
    /// The result for a session, or the next part of it.
    Part(Box<T>),
    /// A session is complete; these are its files.
    Session(Vec<PathBuf>),
    /// Not a session, or one that another session started.
    Other(usize),
    /// Of another format, or unreadable.
    Passed,
    /// The session could not be read, or not to its end.
    Failure(Failure),
}

/// Reads the sessions that were written to since then, or those at the named paths, until `take`
/// returns false. `read` sends the result for a session, in parts if it is large.
pub(crate) fn each<T: Send>(
    search: &Search,
    (since, which): (Option<Timestamp>, WhichFiles),
    now: Timestamp,
    read: impl Fn(&Target, Found, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError> + Sync,
    mut take: impl FnMut(Step<T>) -> bool,
) {
    let Looked {
        mut sessions,
        unreadable,
        refused,
        ..
    } = find::unread(search);
    let unreadable = unreadable
        .into_iter()
        .map(|found| Step::Unreadable(Box::new(found)));
    if !refused
        .into_iter()
        .map(Step::Failure)
        .chain(unreadable)
        .all(&mut take)
    {
        return;
    }
    sessions.retain(|session| since.is_none_or(|since| session.is_since(since)));
    match which {
        WhichFiles::Newest => find::leave_newest(&mut sessions),
        WhichFiles::All => sessions.reverse(),
    }
    if !take(Step::Found(sessions.len())) {
        return;
    }
    let all: Vec<(usize, &Unread)> = sessions.iter().enumerate().collect();
    let (mut files, mut others) = (HashSet::new(), HashSet::new());
    let end = read_all(
        &all,
        (search, true),
        now,
        &read,
        |mut message| match &mut message {
            Message::Other(number) => {
                others.insert(*number);
                true
            }
            Message::Session(own) => {
                files.extend(std::mem::take(own));
                pass_on(message, &mut take)
            }
            Message::Part(_) | Message::Passed | Message::Failure(_) => pass_on(message, &mut take),
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
    if read_before.iter().all(|_| take(Step::Done)) {
        let _ = read_all(&rest, (search, false), now, &read, |message| {
            pass_on(message, &mut take)
        });
    }
}

/// Reads sessions until `take` returns false.
fn read_all<T: Send>(
    units: &[(usize, &Unread)],
    (search, is_listed): (&Search, bool),
    now: Timestamp,
    read: &(impl Fn(&Target, Found, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError> + Sync),
    mut take: impl FnMut(Message<T>) -> bool,
) -> Result<(), ()> {
    walk(
        units,
        |(_, session)| session.path(),
        || find::Reader::new(now),
        |reader, unit, say| read_one((reader, *unit), (search, is_listed), read, say),
        |message| if take(message) { Ok(()) } else { Err(()) },
    )
}

fn pass_on<T>(message: Message<T>, take: &mut impl FnMut(Step<T>) -> bool) -> bool {
    match message {
        Message::Part(part) => take(Step::Session(part)),
        Message::Session(_) | Message::Other(_) | Message::Passed => take(Step::Done),
        Message::Failure(Failure::Named(failure)) => take(Step::Failure(failure)),
        Message::Failure(Failure::CameBy(found)) => take(Step::Unreadable(found)),
    }
}

/// Reads a session if it is listed; any session if `is_listed` is false.
fn read_one<T>(
    (reader, (number, unread)): (&mut find::Reader, (usize, &Unread)),
    (search, is_listed): (&Search, bool),
    read: &impl Fn(&Target, Found, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError>,
    say: &mut dyn FnMut(Message<T>) -> bool,
) {
    let found = if is_listed {
        reader.listed(unread)
    } else {
        reader.found(unread)
    };
    let Some(found) = found.filter(|found| !is_listed || !reader.is_part(found)) else {
        say(Message::Other(number));
        return;
    };
    if search
        .format
        .as_ref()
        .is_some_and(|format| found.format != format)
    {
        say(Message::Passed);
        return;
    }
    let failure = if found.unreadable.is_some() {
        Failure::CameBy(Box::new(found))
    } else {
        let mut say_part = |part| say(Message::Part(Box::new(part)));
        match read(&unread.target(), found, &mut say_part) {
            Ok(ReadToEnd { files, failure }) => {
                let is_wanted = say(Message::Session(files));
                let failure = failure
                    .filter(|_| is_wanted)
                    .map(|why| Failure::of(unread, search, why));
                if let Some(failure) = failure {
                    say(Message::Failure(failure));
                }
                return;
            }
            Err(why) => Failure::of(unread, search, why),
        }
    };
    if say(Message::Failure(failure)) {
        say(Message::Passed);
    }
}
