//! Each session of many, read once, whatever is to be known of it: those that are listed, and then those that others
//! started and that were not read with them.
//!
//! Invariant: what could not be read is told as such, whether it was found out before anything was read or while it was.

use std::collections::HashSet;
use std::path::PathBuf;

use super::walk::walk;
use crate::ingest::find::{self, Looked, Search, Unread};
use crate::ingest::{OpenError, Target};
use crate::model::found::Found;
use crate::model::timestamp::Timestamp;

/// What comes of reading.
#[derive(Debug)]
pub enum Step<T> {
    /// So many sessions are looked at.
    Found(usize),
    /// What is to be known of one of them, or the next part of it.
    Session(Box<T>),
    /// One was looked at.
    Done,
    /// Why a place or a session that was named could not be read, or not to its end.
    Failure(OpenError),
    /// The same of what was come by.
    Unreadable(Box<Found>),
}

/// A session that was read, after what is to be known of it was said.
#[derive(Default)]
pub(crate) struct ReadToEnd {
    /// Its files.
    pub(crate) files: Vec<PathBuf>,
    /// Why it could not be read to its end.
    pub(crate) failure: Option<OpenError>,
}

/// Which files of sessions are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhichFiles {
    /// The newest of each session, which goes on from others of it; newest first.
    Newest,
    /// All, the oldest first: of copies that tell no times the one in the older session was said first.
    All,
}

/// Why a session cannot be read, or not to its end.
#[derive(Debug)]
pub(super) enum Failure {
    /// Of one that the reader named.
    Named(OpenError),
    /// Of one that was come by.
    CameBy(Box<Found>),
}

impl Failure {
    /// For this reason.
    pub(super) fn of(session: &Unread, search: &Search, why: OpenError) -> Self {
        if search.paths.iter().any(|path| path == session.path()) {
            return Self::Named(why);
        }
        Self::CameBy(Box::new(session.unreadable(why.about(session.path()))))
    }
}

/// What comes of a session.
enum Message<T> {
    /// What is to be known of it, or the next part of it.
    Part(Box<T>),
    /// All was said of it; these are its files.
    Session(Vec<PathBuf>),
    /// It is none, or one that another one started.
    Other(usize),
    /// It is of another format, or cannot be read.
    Passed,
    /// Why it could not be read, or not to its end.
    Failure(Failure),
}

/// Reads the sessions that were written to since then, or those of the named places, until nobody takes what comes of it.
/// `read` says what is to be known of a session, in parts if it is much.
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
    // What other sessions started was read with them, unless they are gone.
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

/// Reads sessions until nobody takes what comes of them.
fn read_all<T: Send>(
    units: &[(usize, &Unread)],
    (search, is_listed): (&Search, bool),
    now: Timestamp,
    read: &(impl Fn(&Target, Found, &mut dyn FnMut(T) -> bool) -> Result<ReadToEnd, OpenError> + Sync),
    mut take: impl FnMut(Message<T>) -> bool,
) -> Result<(), ()> {
    walk(
        units,
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

/// Reads a session that is listed, or any.
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
