//! The facts of a found session: what a glance at it tells, and what lies beside it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::asked::Asked;
use super::candidates::{Candidate, is_beside};
use super::glance::{self, Glance};
use super::ids::goes_on_from_name;
use crate::formats;
use crate::formats::decoder::{Format, Pattern, Place, masked};
use crate::formats::generic::Generic;
use crate::formats::json::{self, Json};
use crate::formats::roots::{Listing, file_name};
use crate::ingest::open;
use crate::ingest::reader::registry::Registry;
use crate::model::found::Found;
use crate::model::text::Text;
use crate::model::text::secrets;
use crate::model::timestamp::Timestamp;
use crate::model::tool::identifies;
use crate::model::transcript::Transcript;
use crate::source::discover::named_by;
use crate::source::stamp::{Stamp, read_range};
use crate::source::{process, regular};

/// How large a manifest or a lock may be.
const SMALL: usize = 256 << 10;
/// How large an index of sessions may be: real ones repeat prompts of the system for each session.
const INDEX: usize = 16 << 20;
/// A session that was written to so lately is taken for a running one.
const FRESH_MS: u64 = 60_000;

/// Reads facts, and keeps the indexes that it came by.
pub(crate) struct Facts {
    now: Timestamp,
    opened: usize,
    indexes: HashMap<PathBuf, Vec<Listing>>,
    /// Which sessions that started others are there.
    starters: HashMap<Text, bool>,
    asked: Asked,
}

impl Facts {
    /// At this time.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { now, opened: 0, indexes: HashMap::new(), starters: HashMap::new(), asked: Asked::default() }
    }

    /// How many files were opened so far.
    pub(crate) fn files_opened(&self) -> usize {
        self.opened
    }

    /// The facts of a candidate; of one that cannot be read, why. `None`: it is no session, or one that another one started.
    pub(crate) fn read(&mut self, candidate: Candidate) -> Option<Found> {
        if candidate.row.is_some() {
            return self.of_row(candidate);
        }
        self.opened += 1;
        match glance::at_file(&candidate, true) {
            Ok(glance) => self.of_file(candidate, glance?),
            // It was there a moment ago.
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                let why = Text::clean(&open::why_unread(&candidate.path, &error));
                Some(unreadable(candidate, why))
            }
        }
    }

    /// Whether another session asks for the file of this one, and is read with it.
    pub(crate) fn is_part(&mut self, found: &Found) -> bool {
        found.session.is_none()
            && formats::named(found.format).is_some_and(|format| self.asked.is_part(&found.path, format))
    }

    /// What the index beside a session says of it.
    pub(crate) fn listing(&mut self, candidate: &Candidate, format: &dyn Format) -> Option<Listing> {
        let index = format.beside(&candidate.path).index?;
        if !self.indexes.contains_key(&index) {
            self.opened += 1;
            let read = listings(&index, format).unwrap_or_default();
            self.indexes.insert(index.clone(), read);
        }
        let listings = self.indexes.get(&index)?;
        let name = file_name(&candidate.path);
        let by_file = || listings.iter().find(|listing| listing.file.as_deref() == Some(name));
        // An id speaks of the session that goes on, not of what was put aside.
        let is_its = |listing: &&Listing| {
            listing.file.is_none() && !candidate.is_archive && listing.id == candidate.id
        };
        let by_id = || listings.iter().find(is_its);
        by_file().or_else(by_id).cloned()
    }

    /// The id that a file tells of its session, whatever it is called.
    pub(crate) fn recorded_id(&mut self, candidate: &Candidate) -> Option<Text> {
        if candidate.row.is_some() {
            return None;
        }
        self.opened += 1;
        let mut glance = glance::at_file(candidate, true).ok()??;
        if let Some(manifest) = glance.format.beside(&candidate.path).manifest {
            self.manifest(&manifest, &mut glance);
        }
        glance.transcript().meta().id.clone().filter(|id| identifies(id))
    }

    fn of_row(&mut self, candidate: Candidate) -> Option<Found> {
        let format = candidate.format?;
        let row = candidate.row.clone().filter(|_| !candidate.is_child)?;
        self.opened += 1;
        // Rows that cannot be read just now are there all the same.
        let glance = glance::at_rows(&candidate, format, true)
            .unwrap_or_else(|_| Glance::nothing(format, &candidate.path, true));
        let transcript = glance.transcript();
        let meta = transcript.meta();
        let key = row.key.as_deref().map(Text::clean);
        Some(Found {
            session: Some(row.id.clone()),
            format: format.name(),
            id: Text::clean(&row.id),
            agent: meta.agent.clone().or_else(|| candidate.agent.as_deref().map(Text::clean)),
            title: row.title.map(secrets::shown).or_else(|| meta.title().cloned()).or_else(|| key.clone()),
            key,
            cwd: meta.cwd.clone(),
            project: meta.project().cloned(),
            model: meta.model.clone(),
            started: first_time(&transcript),
            modified: candidate.modified,
            size: None,
            live: self.fresh(&candidate, candidate.modified, &transcript),
            unreadable: None,
            path: candidate.path,
        })
    }

    fn of_file(&mut self, candidate: Candidate, mut glance: Glance) -> Option<Found> {
        let format = glance.format;
        let beside = format.beside(&candidate.path);
        // What the beginning says of a run need not hold at its end.
        let says_live = glance.has_end || beside.manifest.is_some();
        let process = beside.manifest.and_then(|path| self.manifest(&path, &mut glance));
        let listing = self.listing(&candidate, format).unwrap_or_default();
        let is_part = glance.is_part;
        let is_child = glance.is_child;
        let (transcript, last) = glance.dated_transcript();
        let tally = transcript.tally();
        // What has no record that the agent may have written may be anything.
        if candidate.format.is_some()
            && tally.records() == tally.faulty
            && let Some(why) = open::why_no_session(&candidate.path)
        {
            return Some(unreadable(candidate, why));
        }
        let meta = transcript.meta();
        // Of a session that is gone nobody else tells what its sub-agents did.
        let is_there = |by: &Text| {
            *self.starters.entry(by.clone()).or_insert_with(|| {
                let is_at = |Pattern(place): &Pattern| !named_by(place).is_empty();
                format.starter(&candidate.path, by).is_none_or(|places| places.iter().any(is_at))
            })
        };
        let is_started = is_child || meta.fact("started by").is_some_and(is_there);
        let owner = meta.id.as_deref().and_then(|id| format.owner_of_id(&candidate.path, id));
        let is_other = is_started
            || owner.is_some_and(|owner| owner.exists())
            || listing.parent.is_some()
            || (candidate.format.is_none() && is_beside(format, &candidate.path))
            || beside.instead.is_some_and(|path| path.exists());
        if !candidate.is_asked && (is_other || self.asked.is_part(&candidate.path, format)) {
            return None;
        }
        let is_open = || Registry::of(format, &candidate.path)?.look().map(|_| true);
        let lock = beside.lock.and_then(|path| self.lock(&path)).or_else(is_open);
        let live = live(lock, meta.live.filter(|_| says_live), process);
        // A file that was copied or restored was written later than its records.
        let modified = candidate.modified.map(|at| last.map_or(at, |last| last.min(at)));
        let place = format.named(&candidate.path);
        let named = place.map_or(candidate.id.as_str(), |place| place.id);
        let is_own = |id: &Text| candidate.format.is_none() || goes_on_from_name(id, named);
        let own = meta.id.clone().filter(|id| identifies(id) && is_own(id));
        let key = Some(Text::clean(&listing.key)).filter(|key| !key.is_blank());
        Some(Found {
            session: None,
            format: format.name(),
            id: own.unwrap_or_else(|| Text::clean(named)),
            agent: meta.agent.clone().or_else(|| place.and_then(|place| place.agent).map(Text::clean)),
            title: listing.title.or_else(|| meta.title().cloned()).or_else(|| key.clone()),
            key,
            cwd: meta.cwd.clone(),
            project: meta.project().cloned(),
            model: meta.model.clone().or(listing.model),
            started: first_time(&transcript),
            modified,
            size: candidate.size.filter(|_| !is_part),
            live: live.or_else(|| self.fresh(&candidate, modified, &transcript)),
            unreadable: None,
            path: candidate.path,
        })
    }

    /// What was written to lately is taken for running; what was put aside, or says that it ended, runs no more.
    fn fresh(
        &self,
        candidate: &Candidate,
        modified: Option<Timestamp>,
        transcript: &Transcript,
    ) -> Option<bool> {
        let is_fresh = modified.is_some_and(|at| self.now.since(at) < FRESH_MS);
        if candidate.is_archive || transcript.has_ended() { Some(false) } else { is_fresh.then_some(true) }
    }

    /// Feeds the manifest to the decoder. Answers which process it names.
    fn manifest(&mut self, path: &Path, glance: &mut Glance) -> Option<i64> {
        let bytes = small(path, SMALL)?;
        self.opened += 1;
        glance.take(1, 0, &bytes, Place::File(path));
        json::parse(&String::from_utf8_lossy(&bytes)).ok()?.get("pid").int()
    }

    /// Whether the process that holds a lock runs; `None` if there is no lock.
    fn lock(&mut self, path: &Path) -> Option<bool> {
        let bytes = small(path, SMALL)?;
        self.opened += 1;
        let text = String::from_utf8_lossy(&bytes);
        Some(json::parse(&text).ok()?.get("pid").int().is_some_and(process::is_running))
    }
}

/// A candidate that cannot be read. Of a file in a folder that the reader named nobody knows whose it is.
fn unreadable(candidate: Candidate, why: Text) -> Found {
    let format = candidate.format.map_or(Generic.name(), Format::name);
    let agent = candidate.agent.as_deref().map(Text::clean);
    Found { agent, modified: candidate.modified, ..Found::unreadable(candidate.path, format, why) }
}

/// When the first of what was taken in was said: histories that were taken over stand in any order.
fn first_time(transcript: &Transcript) -> Option<Timestamp> {
    transcript.entries().filter(|entry| !entry.is_beside()).filter_map(|entry| entry.times().min()).min()
}

/// When the last of what a file beside a session tells was, if it tells a time.
pub(super) fn last_time_beside(path: &Path, format: &'static dyn Format) -> Option<Timestamp> {
    glance::of_companion(path, format)?.dated_transcript().1
}

/// A lock tells best; who claims to run must name a process that does, or name none.
fn live(lock: Option<bool>, recorded: Option<bool>, process: Option<i64>) -> Option<bool> {
    let is_alive = process.is_none_or(process::is_running);
    lock.or_else(|| recorded.map(|is_live| is_live && is_alive))
}

fn listings(index: &Path, format: &dyn Format) -> Option<Vec<Listing>> {
    let bytes = small(index, INDEX)?;
    let text = String::from_utf8_lossy(&bytes);
    if let Ok(index) = json::parse(&text) {
        return Some(format.listings(&index));
    }
    // An index that grows has a line for each change.
    Some(format.listings(&Json::Array(text.lines().filter_map(json::read).collect())))
}

/// A file of at most `max` bytes.
fn small(path: &Path, max: usize) -> Option<Vec<u8>> {
    let file = regular::open(path).ok()?;
    let is_small = Stamp::of_file(&file).is_ok_and(|stamp| stamp.len <= max as u64);
    let bytes = read_range(&file, 0, max).ok().filter(|_| is_small)?;
    Some(masked(&bytes, Place::File(path)).unwrap_or(bytes))
}
