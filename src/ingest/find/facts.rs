//! Facts about a found session: from its beginning and end, and from the files beside it.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use super::candidates::{Candidate, is_companion};
use super::glance::{self, SessionGlance};
use crate::formats;
use crate::formats::decoder::{Format, RecordPlace, masked};
use crate::formats::generic::Generic;
use crate::formats::json::{self, Json};
use crate::formats::roots::{FileRole, ListedSession, Pattern, file_name};
use crate::ingest::far;
use crate::ingest::open;
use crate::ingest::reader::registry::Registry;
use crate::model::found::FoundSession;
use crate::model::text::Text;
use crate::model::text::secrets;
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::transcript::Transcript;
use crate::source::discover::files_matching;
use crate::source::fs;
use crate::source::read::read_range;
use crate::source::{process, regular};

/// Limit of a manifest or a lock, in bytes.
const SMALL: usize = 256 << 10;
/// Limit of an index of sessions, in bytes: real ones repeat system prompts for each session.
const INDEX: usize = 16 << 20;
/// Limit of a file that is searched for references, in bytes.
const LARGEST_ASKER: usize = 64 << 20;
/// Limit of the files in a folder that are searched.
const MOST_ASKERS: usize = 4_000;
/// Number of folders above its own that may hold the file which references one.
const ABOVE: usize = 2;

/// A session that was written to within this time, in ms, counts as running.
const FRESH_MS: u64 = 60_000;

/// Reads facts, and caches the indexes beside sessions.
pub(crate) struct FactReader {
    now: Timestamp,
    indexes: HashMap<PathBuf, Vec<ListedSession>>,
    /// Whether sessions that started others still exist.
    starters: HashMap<Text, bool>,
    asked: ReferencedFiles,
}

impl FactReader {
    /// A reader for this time.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            now,
            indexes: HashMap::new(),
            starters: HashMap::new(),
            asked: ReferencedFiles::default(),
        }
    }

    /// The facts of a candidate; if it cannot be read, the reason. `None`: it is no session, or
    /// another session started it.
    pub(crate) fn read(&mut self, candidate: Candidate) -> Option<FoundSession> {
        if candidate.row.is_some() {
            return self.of_row(candidate);
        }
        match glance::read_file(&candidate, true) {
            Ok(glance) => self.of_file(candidate, glance?),
            // It was deleted since the scan.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                let why = Text::clean(&open::why_unread(&candidate.path, &error));
                Some(unreadable(candidate, why))
            }
        }
    }

    /// Whether another session references the file of this one, and includes it.
    pub(crate) fn is_part(&mut self, found: &FoundSession) -> bool {
        found.session.is_none()
            && formats::named(found.format)
                .is_some_and(|format| self.asked.is_part(&found.path, format))
    }

    /// The line for a session in the index beside it.
    pub(crate) fn listing(
        &mut self,
        candidate: &Candidate,
        format: &dyn Format,
    ) -> Option<ListedSession> {
        let index = format.file(&candidate.path, FileRole::Index)?;
        if !self.indexes.contains_key(&index) {
            let read = listings(&index, format).unwrap_or_default();
            self.indexes.insert(index.clone(), read);
        }
        let listings = self.indexes.get(&index)?;
        let name = file_name(&candidate.path);
        let by_file = || {
            listings
                .iter()
                .find(|listing| listing.file.as_deref() == Some(name))
        };
        // An id in an index means the current session, not an archive.
        let is_its = |listing: &&ListedSession| {
            listing.file.is_none() && !candidate.is_archive && listing.id == candidate.id
        };
        let by_id = || listings.iter().find(is_its);
        by_file().or_else(by_id).cloned()
    }

    fn of_row(&self, candidate: Candidate) -> Option<FoundSession> {
        let format = candidate.format?;
        let row = candidate.row.clone().filter(|_| !candidate.is_child)?;
        // Rows that cannot be read at the moment exist all the same.
        let glance = glance::read_rows(&candidate, format, true)
            .unwrap_or_else(|_| SessionGlance::empty(format, &candidate.path, true));
        let known = FoundSession {
            key: row.key.as_deref().map(Text::clean),
            title: row.title.map(secrets::shown),
            agent: candidate.agent.as_deref().map(Text::clean),
            modified: candidate.modified,
            ..FoundSession::new(candidate.place(), format.name(), Text::clean(&row.id))
        };
        Some(self.completed(&candidate, known, &glance.transcript()))
    }

    /// Completes the facts of a session from its transcript.
    fn completed(
        &self,
        candidate: &Candidate,
        known: FoundSession,
        transcript: &Transcript,
    ) -> FoundSession {
        let meta = transcript.meta();
        let there = |folder: &Text| far::folder_of(&candidate.path, folder);
        // A recent write means running, unless the session is archived or says that it ended.
        let is_fresh = known
            .modified
            .is_some_and(|at| self.now.since(at) < FRESH_MS);
        let has_ended = candidate.is_archive || transcript.has_ended();
        let fresh = if has_ended {
            Some(false)
        } else {
            is_fresh.then_some(true)
        };
        FoundSession {
            agent: meta.agent.clone().or(known.agent),
            title: known
                .title
                .or_else(|| meta.title().cloned())
                .or_else(|| known.key.clone()),
            cwd: meta.cwd.as_ref().map(there),
            project: meta.project().map(there),
            model: meta.model.clone().or(known.model),
            started: first_time(transcript),
            live: known.live.or(fresh),
            ..known
        }
    }

    fn of_file(&mut self, candidate: Candidate, mut glance: SessionGlance) -> Option<FoundSession> {
        let format = glance.format;
        let beside = |role| format.file(&candidate.path, role);
        let manifest = beside(FileRole::Manifest);
        // The state at the beginning of a run may not hold at its end.
        let says_live = glance.has_end || manifest.is_some();
        let process = manifest.and_then(|path| read_manifest(&path, &mut glance));
        let listing = self.listing(&candidate, format).unwrap_or_default();
        let is_part = glance.is_part;
        let is_child = glance.is_child;
        let (transcript, last) = glance.dated_transcript();
        let tally = transcript.tally();
        // A file without any record that an agent may have written can be anything.
        if candidate.format.is_some()
            && tally.records() == tally.faulty
            && let Some(why) = open::why_no_session(&candidate.path)
        {
            return Some(unreadable(candidate, why));
        }
        let meta = transcript.meta();
        // If the parent session was deleted, nothing else shows what its sub-agents did.
        let is_there = |by: &Text| {
            *self.starters.entry(by.clone()).or_insert_with(|| {
                let is_at = |Pattern(place): &Pattern| !files_matching(place).is_empty();
                let places = format.files(&candidate.path, FileRole::Starter(by));
                places.iter().any(is_at)
            })
        };
        let is_started = is_child || meta.fact("started by").is_some_and(is_there);
        let owner = meta
            .id
            .as_deref()
            .and_then(|id| format.file(&candidate.path, FileRole::OwnerById(id)));
        let is_other = is_started
            || owner.is_some_and(|owner| fs::exists(&owner))
            || listing.parent.is_some()
            || (candidate.format.is_none() && is_companion(format, &candidate.path))
            || beside(FileRole::Instead).is_some_and(|path| fs::exists(&path));
        if !candidate.is_asked && (is_other || self.asked.is_part(&candidate.path, format)) {
            return None;
        }
        let is_open = || {
            Registry::of(format, &candidate.path)?
                .newest_process()
                .map(|_| true)
        };
        let lock = beside(FileRole::Lock)
            .and_then(|path| is_locked(&path))
            .or_else(is_open);
        let live = is_running(
            &candidate.path,
            lock,
            meta.live.filter(|_| says_live),
            process,
        );
        // A file that was copied or restored was written later than its records.
        let modified = candidate
            .modified
            .map(|at| last.map_or(at, |last| last.min(at)));
        let place = format.session_name(&candidate.path);
        let named = place.map_or(candidate.id.as_str(), |place| place.id);
        let is_own = |id: &Text| candidate.format.is_none() || matches_name_end(id, named);
        let own = meta.id.clone().filter(|id| identifies(id) && is_own(id));
        let known = FoundSession {
            key: Some(Text::clean(&listing.key)).filter(|key| !key.is_blank()),
            agent: place.and_then(|place| place.agent).map(Text::clean),
            title: listing.title,
            model: listing.model,
            modified,
            size: candidate.size().filter(|_| !is_part),
            live,
            ..FoundSession::new(
                candidate.place(),
                format.name(),
                own.unwrap_or_else(|| Text::clean(named)),
            )
        };
        Some(self.completed(&candidate, known, &transcript))
    }
}

/// The session id that a file records, whatever its name.
pub(crate) fn recorded_id(candidate: &Candidate) -> Option<Text> {
    if candidate.row.is_some() {
        return None;
    }
    let mut glance = glance::read_file(candidate, true).ok()??;
    if let Some(manifest) = glance.format.file(&candidate.path, FileRole::Manifest) {
        read_manifest(&manifest, &mut glance);
    }
    glance
        .transcript()
        .meta()
        .id
        .clone()
        .filter(|id| identifies(id))
}

/// Passes the manifest to the decoder. Returns the process that it names.
fn read_manifest(path: &Path, glance: &mut SessionGlance) -> Option<i64> {
    let bytes = small(path, SMALL)?;
    glance.feed(1, 0, &bytes, RecordPlace::File(path));
    json::parse(&String::from_utf8_lossy(&bytes))
        .ok()?
        .get("pid")
        .int()
}

/// Whether the process that holds a lock runs; `None` if there is no lock.
fn is_locked(path: &Path) -> Option<bool> {
    let bytes = small(path, SMALL)?;
    let text = String::from_utf8_lossy(&bytes);
    Some(
        json::parse(&text)
            .ok()?
            .get("pid")
            .int()
            .is_some_and(|number| process::is_running(path, number)),
    )
}

/// Files that are parts of others beside them, by folder; only the others' records say so. Applies
/// only to formats whose records reference files (`Format::asks`). The files of a folder are
/// searched once for the keyword; those with it are decoded.
#[derive(Default)]
struct ReferencedFiles(HashMap<(&'static str, PathBuf), Askers>);

/// Files that reference others, with those.
type Askers = HashMap<PathBuf, HashSet<PathBuf>>;

impl ReferencedFiles {
    /// Whether a file beside this one, or above it, references it. Of two files that reference each
    /// other neither is a part.
    fn is_part(&mut self, path: &Path, format: &'static dyn Format) -> bool {
        let Some(word) = format.head().files_word else {
            return false;
        };
        path.ancestors().skip(1).take(ABOVE).any(|folder| {
            let place = (format.name(), folder.to_owned());
            let askers = self
                .0
                .entry(place)
                .or_insert_with(|| askers(folder, format, word));
            let asks = |asker: &Path, file: &Path| {
                askers.get(asker).is_some_and(|files| files.contains(file))
            };
            askers
                .keys()
                .any(|asker| asker != path && asks(asker, path) && !asks(path, asker))
        })
    }
}

fn askers(folder: &Path, format: &'static dyn Format, word: &str) -> Askers {
    let names = fs::entries(folder).unwrap_or_default().into_iter();
    let names = names.map(|(name, _)| name);
    let is_json = |name: &PathBuf| {
        name.extension()
            .is_some_and(|ending| ending == "json" || ending == "jsonl")
    };
    let word = Finder::new(word);
    let asker = |name: PathBuf| {
        let path = folder.join(name);
        let bytes = read_range(&regular::open(&path).ok()?, 0, LARGEST_ASKER).ok()?;
        word.find(&bytes)?;
        let files: HashSet<PathBuf> = glance::referenced_files(&path, format, &bytes)
            .into_iter()
            .collect();
        (!files.is_empty()).then_some((path, files))
    };
    names
        .map(PathBuf::from)
        .filter(is_json)
        .take(MOST_ASKERS)
        .filter_map(asker)
        .collect()
}

/// A candidate that cannot be read. The agent of a file in a folder that the user named is unknown.
fn unreadable(candidate: Candidate, why: Text) -> FoundSession {
    let format = candidate.format.map_or(Generic.name(), Format::name);
    let agent = candidate.agent.as_deref().map(Text::clean);
    FoundSession {
        agent,
        modified: candidate.modified,
        ..FoundSession::unreadable(candidate.path, format, why)
    }
}

/// Earliest timestamp: copied histories may be in any order.
fn first_time(transcript: &Transcript) -> Option<Timestamp> {
    transcript
        .entries()
        .filter(|entry| !entry.is_aside())
        .filter_map(|entry| entry.times().min())
        .min()
}

/// Latest timestamp in a file beside a session; `None` if it has none.
pub(super) fn last_companion_time(path: &Path, format: &'static dyn Format) -> Option<Timestamp> {
    glance::of_companion(path, format)?.dated_transcript().1
}

/// Whether a session runs: a lock is the best evidence; a recorded state counts only if the process
/// it names runs, or it names none.
fn is_running(
    at: &Path,
    lock: Option<bool>,
    recorded: Option<bool>,
    process: Option<i64>,
) -> Option<bool> {
    let is_alive = process.is_none_or(|number| process::is_running(at, number));
    lock.or_else(|| recorded.map(|is_live| is_live && is_alive))
}

fn listings(index: &Path, format: &dyn Format) -> Option<Vec<ListedSession>> {
    let bytes = small(index, INDEX)?;
    let text = String::from_utf8_lossy(&bytes);
    if let Ok(index) = json::parse(&text) {
        return Some(format.listings(&index));
    }
    // An index that grows has a line for each change.
    Some(format.listings(&Json::Array(text.lines().filter_map(json::read).collect())))
}

/// The content of a file of at most `max` bytes.
fn small(path: &Path, max: usize) -> Option<Vec<u8>> {
    let bytes = regular::read_small(path, max)?;
    Some(masked(&bytes, RecordPlace::File(path)).unwrap_or(bytes))
}

/// Whether an id, or its beginning, matches a file name that ends with the first letters of the
/// session's id, as Gemini's do.
pub(super) fn matches_name_end(id: &str, name: &str) -> bool {
    const LEAST: usize = 8;
    let Some((_, end)) = name.rsplit_once('-').filter(|(_, end)| end.len() == LEAST) else {
        return false;
    };
    id.len() >= LEAST && id.starts_with(end)
}

#[cfg(test)]
mod tests {
    use super::matches_name_end;

    #[test]
    fn ids_go_with_names_that_end_with_their_beginning() {
        let name = "session-2026-11-20T10-00-e435870b";
        assert!(matches_name_end(
            "e435870b-1111-4222-8333-444444444444",
            name
        ));
        assert!(matches_name_end("e435870b", name));
        assert!(!matches_name_end("e43587", name), "the beginning of many");
        assert!(!matches_name_end(
            "e435870b",
            "01a1f866-0d00-7000-8000-e435870b0000"
        ));
    }
}
