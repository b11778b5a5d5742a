//! Repeated scans for sessions that were written to recently.
//!
//! Invariant: a file is opened when it is new, or has changed since it turned out to be no session;
//! of all others only the stamps are read.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::candidates::{Candidate, DatabaseCache, DiscoveryQuery, collect};
use super::facts::{FactReader, last_companion_time};
use crate::ingest::target::OpenError;
use crate::model::found::{FoundSession, Target};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::source::discover::on_two_threads;
use crate::source::fs;
use crate::source::remote;
use crate::source::rows;

/// Results of earlier scans.
#[derive(Default)]
pub(crate) struct Lookout {
    search: DiscoveryQuery,
    databases: DatabaseCache,
    /// Sessions that were returned, with their stamps at the last scan.
    returned: HashMap<Target, FileStamp>,
    /// Files that cannot be read.
    unreadable: Vec<FoundSession>,
    /// Files that are no session, or belong to another one, with their stamps then.
    passed: HashMap<Target, FileStamp>,
    /// Sessions at rest, with their stamps and last timestamps then.
    idle: HashMap<Target, (FileStamp, Option<Timestamp>)>,
    /// Files beside sessions, with their time of modification and last timestamp.
    companions: HashMap<PathBuf, (Timestamp, Timestamp)>,
    /// Paths that the last scan could not read.
    refused: Vec<OpenError>,
    /// Candidates that the last scan skipped, because they were not written to recently.
    older: Vec<Candidate>,
    /// All files that may hold a session.
    paths: HashSet<PathBuf>,
    /// Folders in which a session may begin or continue, the latest changed first.
    pub(crate) folders: Vec<PathBuf>,
}

type FileStamp = (Option<Timestamp>, Option<u64>);

/// Result of one scan.
pub(crate) struct LookoutScan {
    /// Sessions that were written to recently and not returned before, newest first.
    pub(crate) found: Vec<FoundSession>,
    /// Files that cannot be read at the moment, whatever their age.
    pub(crate) unreadable: Vec<FoundSession>,
    /// Why paths cannot be read, if that changed since the last scan.
    pub(crate) refused: Option<Vec<Text>>,
    /// Duration of the scan, without reading new sessions.
    pub(crate) duration: Duration,
}

impl Lookout {
    /// A scan without earlier results.
    pub(crate) fn new(search: DiscoveryQuery) -> Self {
        Self {
            search,
            ..Self::default()
        }
    }

    /// The folders to search.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        self.search.places()
    }

    /// Scans for sessions that were written to since `from`. Candidates without a time of
    /// modification are included.
    pub(crate) fn scan(&mut self, from: Timestamp, now: Timestamp) -> LookoutScan {
        let begun = Instant::now();
        let scan = collect(&self.search, &mut self.databases);
        let took = begun.elapsed();
        let is_news = self.refused != scan.refused;
        self.refused = scan.refused;
        let refused = is_news.then(|| {
            self.refused
                .iter()
                .map(|OpenError(why)| Text::clean(why))
                .collect()
        });
        let rests = |candidate: &Candidate| {
            self.idle
                .get(&candidate.place())
                .is_some_and(|(stamp, _)| *stamp == candidate.stamp())
        };
        let is_recent = |candidate: &Candidate| {
            candidate.modified.is_none_or(|at| at >= from) && !rests(candidate)
        };
        let (recent, older): (Vec<Candidate>, _) = scan.candidates.into_iter().partition(is_recent);
        self.older = older;
        self.paths = recent
            .iter()
            .map(|candidate| candidate.path.clone())
            .collect();
        let found = self.find_new(recent, from, now);
        self.folders = self.folders_of(scan.folders);
        let unreadable = self.unreadable.iter().cloned().chain(scan.unreadable);
        LookoutScan {
            found,
            unreadable: unreadable
                .filter(|found| self.search.matches(found))
                .collect(),
            refused,
            duration: took,
        }
    }

    /// The folders that a scan searched, and those of sessions that it skipped.
    fn folders_of(&self, searched: Vec<PathBuf>) -> Vec<PathBuf> {
        let older = self
            .older
            .iter()
            .filter_map(|candidate| candidate.path.parent().map(Path::to_owned));
        let all: HashSet<PathBuf> = searched.into_iter().chain(older).collect();
        // If the home folder is a root, it holds projects and everything else.
        let home = self.search.environment.home.as_ref();
        let mut folders: Vec<PathBuf> = all
            .into_iter()
            .filter(|folder| Some(folder) != home)
            .collect();
        folders.sort_by_cached_key(|folder| Reverse(fs::written(folder)));
        folders
    }

    /// Whether the last scan skipped candidates that may be of interest.
    pub(crate) fn has_older(&self) -> bool {
        !self.older.is_empty()
    }

    /// The skipped sessions with files beside them that have timestamps since `from`: a sub-agent
    /// may work for long while nothing is written to the session that waits for it.
    pub(crate) fn scan_companions(&mut self, from: Timestamp, now: Timestamp) -> Vec<FoundSession> {
        let older = std::mem::take(&mut self.older);
        self.paths
            .extend(older.iter().map(|candidate| candidate.path.clone()));
        let mut recent = Vec::new();
        for candidate in older {
            let last = self.last_companion_time(&candidate, from);
            recent.extend(last.map(|at| Candidate {
                modified: Some(at),
                ..candidate
            }));
        }
        let mut all = Vec::new();
        for (candidate, found) in self.read(recent, now) {
            self.returned.insert(candidate.place(), candidate.stamp());
            all.push(FoundSession {
                modified: candidate.modified,
                ..found
            });
        }
        all
    }

    /// The last timestamp of the files beside a session, if it is not before `from`.
    fn last_companion_time(&mut self, candidate: &Candidate, from: Timestamp) -> Option<Timestamp> {
        let format = candidate.format?;
        let written = candidate.companion_times().filter(|(_, at)| *at >= from);
        let last = written.map(|(path, written)| {
            let (known_at, last) = self.companions.get(&path).copied().unzip();
            let last = last.filter(|_| known_at == Some(written));
            last.unwrap_or_else(|| {
                let last =
                    last_companion_time(&path, format).map_or(written, |last| last.min(written));
                self.companions.insert(path, (written, last));
                last
            })
        });
        last.max().filter(|last| *last >= from)
    }

    /// The new sessions among the candidates, newest first. A session that grows is at work,
    /// whatever its timestamps.
    fn find_new(
        &mut self,
        candidates: Vec<Candidate>,
        from: Timestamp,
        now: Timestamp,
    ) -> Vec<FoundSession> {
        let mut all = Vec::new();
        for (candidate, mut found) in self.read(candidates, now) {
            let (place, stamp) = (candidate.place(), candidate.stamp());
            let before = self.idle.remove(&place);
            if before.is_some_and(|((_, size), _)| size != candidate.size()) {
                found.modified = candidate.modified;
            }
            if found.modified.is_none_or(|at| at >= from) {
                self.returned.insert(place, stamp);
                all.push(found);
            } else {
                self.idle.insert(place, (stamp, found.modified));
                self.older.push(candidate);
            }
        }
        all.sort_by_key(|found| Reverse(found.modified));
        all
    }

    /// Reads the candidates that were not returned before, on two threads, because the first rows
    /// wait for all of them. Unreadable files are tried in every scan.
    fn read(
        &mut self,
        mut candidates: Vec<Candidate>,
        now: Timestamp,
    ) -> Vec<(Candidate, FoundSession)> {
        candidates.retain(|candidate| {
            let (place, stamp) = (candidate.place(), candidate.stamp());
            let given = self.returned.get_mut(&place).map(|given| *given = stamp);
            !candidate.is_archive && given.is_none() && self.passed.get(&place) != Some(&stamp)
        });
        let halves: Vec<&[Candidate]> = candidates
            .chunks(candidates.len().div_ceil(2).max(1))
            .collect();
        let read = on_two_threads(&halves, |half| {
            let mut facts = FactReader::new(now);
            let chunks = half.chunks(remote::AHEAD).flat_map(|chunk| {
                remote::expect(chunk.iter().map(|candidate| &*candidate.path));
                chunk
            });
            chunks
                .map(|candidate| facts.read(candidate.clone()))
                .collect::<Vec<_>>()
        });
        let places: HashSet<&PathBuf> =
            candidates.iter().map(|candidate| &candidate.path).collect();
        self.unreadable.retain(|found| {
            !places.contains(&found.path) && fs::symlink_metadata(&found.path).is_ok()
        });
        let mut all = Vec::new();
        for (candidate, found) in candidates.into_iter().zip(read.into_iter().flatten()) {
            match found.filter(|found| self.search.matches(found)) {
                Some(found) if found.unreadable.is_some() => self.unreadable.push(found),
                Some(found) => all.push((candidate, found)),
                None => drop(self.passed.insert(candidate.place(), candidate.stamp())),
            }
        }
        all
    }

    /// A session is not followed any more; it is returned again when it is written to.
    pub(crate) fn set_idle(&mut self, place: Target, last: Option<Timestamp>) {
        if let Some(stamp) = self.returned.remove(&place) {
            self.idle.insert(place, (stamp, last));
        }
    }

    /// Number of sessions at rest with a timestamp since `from`.
    pub(crate) fn count_idle(&self, from: Timestamp) -> usize {
        self.idle
            .values()
            .filter(|(_, last)| last.is_none_or(|at| at >= from))
            .count()
    }

    /// Whether the last scan found a file, or the database whose log it is.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        self.paths.contains(&*rows::written_with(path))
    }
}
