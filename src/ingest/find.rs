//! Finds sessions in the agents' folders or where the user says, newest first.
//!
//! `watch` scans repeatedly for the picker; `first_prompt` returns the prompt of one session;
//! `unread` returns sessions without reading them, for commands that go through all.
//!
//! **Listing opens no files.** The scan walks the roots that the formats define and the environment
//! moves, and sorts files by modification time. The facts of a session are read when its row is
//! needed, by its own decoder from the beginning and the end of the file; only where records name
//! files beside a session are the files of a folder read, once.
//!
//! Invariant: `candidates` come from walks that open no file; the facts of each are read only on
//! request, from its beginning and its end.

mod candidates;
mod facts;
mod glance;
mod lookout;
mod lookup;
mod prompt;
mod unread;
mod watch;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::vec;

pub use self::candidates::DiscoveryQuery;
pub(crate) use self::lookout::Lookout;
pub(crate) use self::lookup::{is_name, locate, name_of_file};
pub use self::prompt::first_prompt;
pub(crate) use self::unread::{Looked, Unread, retain_newest, unread, with_sub_agents};
pub use self::watch::{ScanWatch, watch};

use self::candidates::{Candidate, DatabaseCache};
pub(crate) use self::facts::FactReader;
use super::target::OpenError;
pub use crate::formats::roots::Environment;
use crate::formats::{self, names};
use crate::model::found::FoundSession;
use crate::model::timestamp::Timestamp;
pub(crate) use crate::source::pattern::Listings;
use crate::source::remote;

/// Sort key: time, newest first, then path and session.
type SessionOrder = (Reverse<Option<Timestamp>>, PathBuf, Option<String>);

/// Iterator over sessions, newest first, including files that cannot be read. Each is read on
/// demand.
pub struct FoundSessions {
    failures: vec::IntoIter<OpenError>,
    /// Sorted by modification time: no session is newer than that.
    candidates: VecDeque<Candidate>,
    /// How many more are read before other machines are asked for the next ones.
    expected: usize,
    /// Sessions that were read, until no candidate can be newer.
    known: BTreeMap<SessionOrder, FoundSession>,
    search: DiscoveryQuery,
    facts: FactReader,
}

/// Finds sessions. Missing paths come first, as errors.
pub fn sessions(search: &DiscoveryQuery, now: Timestamp) -> FoundSessions {
    let scan = candidates::collect(search, &mut DatabaseCache::default());
    let mut sessions = FoundSessions {
        failures: scan.refused.into_iter(),
        candidates: scan.candidates.into(),
        expected: 0,
        known: BTreeMap::new(),
        search: search.clone(),
        facts: FactReader::new(now),
    };
    scan.unreadable
        .into_iter()
        .for_each(|found| sessions.add(found));
    sessions
}

impl FoundSessions {
    fn add(&mut self, found: FoundSession) {
        let key = (
            Reverse(found.modified),
            found.path.clone(),
            found.session.clone(),
        );
        self.known.insert(key, found);
    }
}

impl Iterator for FoundSessions {
    type Item = Result<FoundSession, OpenError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(failure) = self.failures.next() {
            return Some(Err(failure));
        }
        loop {
            let newest = self.known.values().next().map(|found| found.modified);
            let may_be_newer =
                |candidate: &Candidate| newest.is_none_or(|at| candidate.modified > at);
            if self.candidates.front().is_some_and(may_be_newer)
                && let Some(candidate) = self.candidates.pop_front()
            {
                // Half of those asked for are still on their way when the next ones are.
                if self.expected == 0 {
                    let next = self.candidates.iter().take(remote::AHEAD);
                    remote::expect(next.map(|candidate| &*candidate.path));
                    self.expected = remote::AHEAD / 2;
                }
                self.expected -= 1;
                if let Some(found) = self.facts.read(candidate) {
                    self.add(found);
                }
                continue;
            }
            let (_, found) = self.known.pop_first()?;
            if self.search.matches(&found) {
                return Some(Ok(found));
            }
        }
    }
}

/// Files that exist but cannot be read, newest first. Takes no time, because it does not tell which
/// sessions run.
pub(crate) fn unreadable(search: &DiscoveryQuery) -> impl Iterator<Item = FoundSession> {
    sessions(search, Timestamp(0))
        .flatten()
        .filter(|found| found.unreadable.is_some())
}

/// Number of sessions of each format.
pub(crate) fn counts(environment: &Environment, now: Timestamp) -> HashMap<&'static str, usize> {
    let mut counts = HashMap::new();
    let search = DiscoveryQuery {
        environment: environment.clone(),
        ..DiscoveryQuery::default()
    };
    for found in sessions(&search, now)
        .flatten()
        .filter(|found| found.unreadable.is_none())
    {
        *counts.entry(found.format).or_default() += 1;
    }
    counts
}

/// Names of all formats.
pub(crate) fn formats() -> Vec<&'static str> {
    names().collect()
}

/// Whether sessions of a format may extend over several files.
pub fn may_be_continued(format: &str) -> bool {
    formats::named(format).is_some_and(|format| format.head().continued.is_some())
}
