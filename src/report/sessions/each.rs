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
    /// What is to be known of one of them.
    Session(Box<T>),
    /// One was looked at.
    Done,
    /// Why a place or a session that was named could not be read, or not to its end.
    Failure(OpenError),
    /// The same of what was come by.
    Unreadable(Box<Found>),
}

/// What was read of a session.
pub(crate) struct Outline<T> {
    /// What is to be known of it.
    pub(crate) what: T,
    /// Its files.
    pub(crate) files: Vec<PathBuf>,
    /// Why it could not be read to its end.
    pub(crate) failure: Option<OpenError>,
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
    /// What is to be known of it, and its files.
    Session(Box<T>, Vec<PathBuf>),
    /// It is none, or one that another one started.
    Other(usize),
    /// It is of another format, or cannot be read.
    Passed,
    /// Why it could not be read, or not to its end.
    Failure(Failure),
}

/// Reads the sessions that were written to since then, the oldest first, or those of the named places, until nobody takes
/// what comes of it.
pub(crate) fn each<T: Send>(
    search: &Search,
    since: Option<Timestamp>,
    now: Timestamp,
    read: impl Fn(&Target, Found) -> Result<Outline<T>, OpenError> + Sync,
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
    // Of copies that tell no times the one in the older session was said first.
    sessions.reverse();
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
            Message::Session(_, own) => {
                files.extend(std::mem::take(own));
                pass_on(message, &mut take)
            }
            Message::Passed | Message::Failure(_) => pass_on(message, &mut take),
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
    read: &(impl Fn(&Target, Found) -> Result<Outline<T>, OpenError> + Sync),
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
        Message::Session(session, _) => take(Step::Session(session)) && take(Step::Done),
        Message::Other(_) | Message::Passed => take(Step::Done),
        Message::Failure(Failure::Named(failure)) => take(Step::Failure(failure)),
        Message::Failure(Failure::CameBy(found)) => take(Step::Unreadable(found)),
    }
}

/// Reads a session that is listed, or any.
fn read_one<T>(
    (reader, (number, unread)): (&mut find::Reader, (usize, &Unread)),
    (search, is_listed): (&Search, bool),
    read: &impl Fn(&Target, Found) -> Result<Outline<T>, OpenError>,
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
        match read(&unread.target(), found) {
            Ok(Outline {
                what,
                files,
                failure,
            }) => {
                let is_wanted = say(Message::Session(Box::new(what), files));
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
