//! Sessions that were found but not read, for commands that go through all sessions and need the
//! facts of few.
//!
//! Invariant: every file that may be a session is returned once. A file of another session that its
//! format does not list among the files beside it is returned as a session of its own.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::candidates::{self, Candidate, DatabaseCache, DiscoveryQuery, DiscoveryScan};
use super::facts::FactReader;
use crate::formats::decoder::Format;
use crate::formats::generic::Generic;
use crate::formats::roots::{FileRole, Pattern};
use crate::ingest;
use crate::ingest::plan::read_head;
use crate::ingest::probe;
use crate::ingest::sift::{self, LineSieve, Sifted};
use crate::ingest::target::OpenError;
use crate::model::edit::{Edit, Feed};
use crate::model::found::{FoundSession, Target};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::source::pattern::Listings;

/// A session that was not read.
pub(crate) struct Unread {
    pub(crate) candidate: Candidate,
    /// Its format as far as its path tells or, for a file that the user named, its beginning.
    format: Option<&'static dyn Format>,
    /// The files of its sub-agents in other folders.
    agent_files: Vec<PathBuf>,
}

/// Result of a scan.
pub(crate) struct Looked {
    /// The sessions, newest first.
    pub(crate) sessions: Vec<Unread>,
    /// Paths that cannot be read, as far as that is known without opening sessions.
    pub(crate) unreadable: Vec<FoundSession>,
    /// Named paths that do not exist.
    pub(crate) refused: Vec<OpenError>,
    /// Cached listings of the folders that were searched.
    pub(crate) listings: Arc<Listings>,
}

/// Finds sessions without reading them.
pub(crate) fn unread(search: &DiscoveryQuery) -> Looked {
    let DiscoveryScan {
        candidates,
        refused,
        mut unreadable,
        listings,
        ..
    } = candidates::files(search, &mut DatabaseCache::default());
    unreadable.retain(|found| search.matches(found));
    let all: Vec<Unread> = candidates.into_iter().map(Unread::of).collect();
    // If the user names folders and files, the scan also finds files beside sessions.
    let may_lie_beside =
        |session: &Unread| session.candidate.format.is_none() || session.candidate.is_asked;
    let has_some = all.iter().any(may_lie_beside);
    let known = all.iter().filter(|_| has_some);
    let beside = known.filter_map(|session| {
        let path = &session.candidate.path;
        let format =
            (session.format).filter(|format| !candidates::has_replacement(*format, path))?;
        Some(sift::companions(path, format))
    });
    let beside: HashSet<PathBuf> = beside.flatten().collect();
    let is_wanted = |session: &Unread| {
        let candidate = &session.candidate;
        if may_lie_beside(session) {
            return !beside.contains(&candidate.path);
        }
        // A session of a database that another one started is read with that.
        !(candidate.row.is_some() && candidate.is_child)
    };
    let sessions = all.into_iter().filter(is_wanted).collect();
    Looked {
        sessions: order_archives(sessions),
        unreadable,
        refused,
        listings,
    }
}

/// Retains the newest file of each session, which continues the others.
pub(crate) fn retain_newest(sessions: &mut Vec<Unread>) {
    candidates::remove_continued(sessions, |session| &session.candidate);
}

/// Adds the files of sub-agents to their session, if the user named its file and they are sessions
/// of their own, which only its records name.
pub(crate) fn with_sub_agents(mut sessions: Vec<Unread>) -> Vec<Unread> {
    for session in &mut sessions {
        session.agent_files = session.find_agent_files();
    }
    let agents: HashSet<PathBuf> = sessions
        .iter()
        .flat_map(|session| session.agent_files.iter().cloned())
        .collect();
    sessions.retain(|session| !agents.contains(session.path()));
    sessions
}

/// Moves an archive of a session that continues behind that session, however late it was archived.
fn order_archives(sessions: Vec<Unread>) -> Vec<Unread> {
    if !sessions.iter().any(|session| session.candidate.is_archive) {
        return sessions;
    }
    let mut goes_on: HashMap<_, Vec<Unread>> = HashMap::new();
    for session in sessions
        .iter()
        .filter(|session| !session.candidate.is_archive)
    {
        goes_on.extend(session.own_name().map(|name| (name, Vec::new())));
    }
    let mut ordered = Vec::with_capacity(sessions.len());
    for session in sessions {
        match session.own_name().and_then(|name| goes_on.get_mut(&name)) {
            Some(aside) if session.candidate.is_archive => aside.push(session),
            _ => {
                let aside = session.own_name().and_then(|name| goes_on.remove(&name));
                ordered.push(session);
                ordered.extend(aside.unwrap_or_default());
            }
        }
    }
    ordered
}

impl Unread {
    fn of(candidate: Candidate) -> Self {
        let format = match candidate.format {
            // In a named folder any file may be a part of another session.
            None if candidate.is_asked
                || candidate
                    .path
                    .extension()
                    .is_some_and(|extension| extension == "json") =>
            {
                format_of(&candidate.path)
            }
            known => known,
        };
        Self {
            candidate,
            format,
            agent_files: Vec::new(),
        }
    }

    /// Path of the file or database.
    pub(crate) fn path(&self) -> &Path {
        &self.candidate.path
    }

    fn own_name(&self) -> Option<(&'static str, String)> {
        self.session().map(|(format, id)| (format, id.to_owned()))
    }

    /// Format and id of its session, the same for all its files, if a format claims it.
    pub(crate) fn session(&self) -> Option<(&'static str, &str)> {
        Some((self.candidate.format?.name(), &self.candidate.id))
    }

    /// Whether it or a file beside it was written to since then, as far as that is known.
    pub(crate) fn is_since(&self, since: Timestamp) -> bool {
        let is_since = |at: Option<Timestamp>| at.is_none_or(|at| at >= since);
        self.candidate.is_asked
            || is_since(self.candidate.modified)
            || self.candidate.companion_times().any(|(_, at)| at >= since)
    }

    pub(crate) fn target(&self) -> Target {
        self.candidate.place()
    }

    /// Searches its bytes. A session without a file of its own must be read instead.
    pub(crate) fn search(&self, listings: &Listings, sieve: LineSieve<'_>) -> io::Result<Sifted> {
        if self.is_shared() {
            return Ok(Sifted::Whole(None));
        }
        let is_file = (self.candidate.metadata).is_some_and(|metadata| metadata.is_file());
        let file = (&*self.candidate.path, is_file);
        let sifted = sift::search(file, self.format, &self.agent_files, listings, sieve)?;
        // Only the beginning of an agent's file is predictable.
        let is_of_agent = self.candidate.format.is_some() && self.candidate.row.is_none();
        Ok(if sifted == Sifted::NotRecords && !is_of_agent {
            Sifted::Nothing
        } else {
            sifted
        })
    }

    /// The row for it if it cannot be read, for callers that do not use a [`FactReader`].
    pub(crate) fn unreadable(&self, why: &str) -> FoundSession {
        let candidate = &self.candidate;
        let format = self.format.map_or(Generic.name(), Format::name);
        let place = candidate.place();
        let found = FoundSession::unreadable(place.path, format, Text::clean(why));
        FoundSession {
            session: place.session,
            modified: candidate.modified,
            ..found
        }
    }

    /// The files of its sub-agents, if the user named it and they are sessions of their own.
    fn find_agent_files(&self) -> Vec<PathBuf> {
        let Self {
            candidate,
            format: Some(format),
            ..
        } = self
        else {
            return Vec::new();
        };
        if !candidate.is_asked {
            return Vec::new();
        }
        let id = format
            .session_name(&candidate.path)
            .map_or("", |named| named.id);
        let starter = format
            .files(&candidate.path, FileRole::Starter(id))
            .into_iter();
        let knows_starter = starter
            .into_iter()
            .any(|Pattern(place)| place != candidate.path);
        if self.is_shared() || !knows_starter {
            return Vec::new();
        }
        let (mut files, mut of_agents) = (Vec::new(), HashSet::new());
        if let Ok(session) = ingest::open(&self.target()) {
            session.read_whole(true, &mut |feed| match feed {
                Feed::File { id, path } => files.push((id, path.to_path_buf())),
                Feed::Batch { batch, .. } => {
                    of_agents.extend(batch.edits.iter().filter_map(|edit| match edit {
                        Edit::Entry(entry) if entry.lane.is_some() => Some(entry.origin.file),
                        _ => None,
                    }));
                }
                _ => {}
            });
        }
        // The session itself may have begun in another file.
        let files = files
            .into_iter()
            .filter(|(id, path)| of_agents.contains(id) && *path != candidate.path);
        files.map(|(_, path)| path).collect()
    }

    /// Whether it is in a database, or in a folder of small files.
    fn is_shared(&self) -> bool {
        let Candidate { path, id, row, .. } = &self.candidate;
        row.is_some()
            || self
                .format
                .is_some_and(|format| !format.files(path, FileRole::Part(id)).is_empty())
    }
}

impl FactReader {
    /// The facts of a session. `None`: it is none.
    pub(crate) fn found(&mut self, unread: &Unread) -> Option<FoundSession> {
        if let Some(found) = self.read(unread.candidate.clone()) {
            return Some(found);
        }
        // A session that another one started, or a file beside one.
        let is_named = unread.candidate.is_asked || unread.candidate.format.is_some();
        let is_whole = |format: &'static dyn Format| {
            is_named || !candidates::is_companion(format, unread.path())
        };
        let format = || unread.candidate.format.or_else(|| format_of(unread.path()));
        let is_agents = !unread.is_shared() && format().is_some_and(is_whole);
        let asked = Candidate {
            is_asked: true,
            ..unread.candidate.clone()
        };
        is_agents.then(|| self.read(asked)).flatten()
    }
}

/// The format of a file, from its beginning.
fn format_of(path: &Path) -> Option<&'static dyn Format> {
    let head = read_head(path)
        .ok()
        .filter(|head| probe::foreign(&head.bytes).is_none())?;
    let detection = probe::detect_file(path, &head.bytes, head.is_whole);
    probe::is_certain_of_agent(&detection).then_some(detection.format)
}
