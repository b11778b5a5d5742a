//! Which sessions were written to lately, looked for again and again.
//!
//! Invariant: a file is opened when it is seen for the first time or has changed since it was no session; all others
//! are asked for their stamps only.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::candidates::{Candidate, Databases, Search, Unreadable, collect};
use super::facts::Facts;
use crate::ingest::target::OpenError;
use crate::model::found::{Found, Place};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// What is known from earlier looks.
pub(crate) struct Lookout {
    search: Search,
    databases: Databases,
    /// Sessions that were given out.
    given: HashSet<Place>,
    /// What is no session, or one of another, as it was then.
    passed: HashMap<Place, (Option<Timestamp>, Option<u64>)>,
    refused: HashSet<String>,
    /// All files that may hold a session.
    paths: HashSet<PathBuf>,
}

/// What one look came by.
pub(crate) struct Look {
    /// Sessions that were written to lately and were not given out before, the newest first.
    pub(crate) found: Vec<Found>,
    /// Databases that cannot be read now, which were written to lately; and why.
    pub(crate) unreadable: Vec<(Found, Text)>,
    /// Why places that the reader named cannot be looked at, each once.
    pub(crate) refused: Vec<Text>,
}

impl Lookout {
    /// Nothing is known yet.
    pub(crate) fn new(search: Search) -> Self {
        Self {
            search,
            databases: Databases::default(),
            given: HashSet::new(),
            passed: HashMap::new(),
            refused: HashSet::new(),
            paths: HashSet::new(),
        }
    }

    /// Where is looked.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        self.search.places()
    }

    /// Looks for sessions that were written to at this time or later. Of what is not known when it was written to,
    /// nobody knows that it was not.
    pub(crate) fn look(&mut self, from: Timestamp, now: Timestamp) -> Look {
        let (candidates, failures) = collect(&self.search, &mut self.databases);
        let refused = failures.into_iter().filter(|OpenError(why)| self.refused.insert(why.clone()));
        let refused = refused.map(|OpenError(why)| Text::clean(&why)).collect();
        self.paths = candidates.iter().map(|candidate| candidate.path.clone()).collect();
        let mut facts = Facts::new(now);
        let recent =
            candidates.into_iter().filter(|candidate| candidate.modified.is_none_or(|at| at >= from));
        let found = recent.filter_map(|candidate| self.look_at(candidate, &mut facts)).collect();
        let is_recent = |it: &Unreadable| it.found.modified.is_none_or(|at| at >= from);
        let unreadable = std::mem::take(&mut self.databases.unreadable).into_iter().filter(is_recent);
        Look { found, unreadable: unreadable.map(|it| (it.found, it.why)).collect(), refused }
    }

    fn look_at(&mut self, candidate: Candidate, facts: &mut Facts) -> Option<Found> {
        let place = candidate.place();
        let stamp = (candidate.modified, candidate.size);
        if candidate.is_archive || self.given.contains(&place) || self.passed.get(&place) == Some(&stamp) {
            return None;
        }
        let format = self.search.format.as_deref();
        let found = facts.read(candidate).filter(|found| format.is_none_or(|format| found.format == format));
        match &found {
            Some(_) => drop(self.given.insert(place)),
            None => drop(self.passed.insert(place, stamp)),
        }
        found
    }

    /// A session is no longer of interest; it is given out again when it is written to.
    pub(crate) fn forget(&mut self, place: &Place) {
        self.given.remove(place);
    }

    /// Whether a file was there at the last look.
    pub(crate) fn knows(&self, path: &PathBuf) -> bool {
        self.paths.contains(path)
    }
}
