//! The facts of a found session: what its own decoder tells of the beginning and the end of its file,
//! and what lies beside it.
//!
//! Invariant: of no file more than [`HEAD`] and [`STEP`] bytes are read.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::candidates::Candidate;
use crate::formats::decoder::{Decoder, Format, Place, feed};
use crate::formats::json;
use crate::formats::roots::{Listing, file_name};
use crate::ingest::plan::read_head;
use crate::ingest::probe::{self, HEAD};
use crate::ingest::target::Target;
use crate::model::edit::{Batch, Edit, MetaEdit, saturating_u32};
use crate::model::moment::Moment;
use crate::model::pairing::identifies;
use crate::model::record::{FileId, Origin, Record, Shape};
use crate::model::text::Text;
use crate::model::transcript::Transcript;
use crate::source::document::split;
use crate::source::lines::{Line, LineBuffer};
use crate::source::process;
use crate::source::stamp::{Stamp, read_range};

/// How much is read at a time: the beginning until a title is known, and once at the end.
const STEP: usize = 32 << 10;
/// How large an index of sessions may be: real ones repeat prompts of the system for each session.
const INDEX: usize = 16 << 20;
/// A session that was written to so lately is taken for a running one.
const FRESH_MS: u64 = 60_000;

/// A session that was found. What is not known is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file or database that it lies in.
    pub path: PathBuf,
    /// Its name within a database.
    pub session: Option<String>,
    /// The name of its format.
    pub format: &'static str,
    /// Its id.
    pub id: Text,
    /// Another name that its agent gives it.
    pub key: Option<Text>,
    /// The name of the agent in it.
    pub agent: Option<Text>,
    /// Its title: the user's, the agent's, or the first prompt.
    pub title: Option<Text>,
    /// The working directory.
    pub cwd: Option<Text>,
    /// The model that answered last.
    pub model: Option<Text>,
    /// When its first entry was made.
    pub started: Option<Moment>,
    /// When something was last written to it.
    pub modified: Option<Moment>,
    /// Length of its file in bytes.
    pub size: Option<u64>,
    /// Whether it runs.
    pub live: Option<bool>,
}

impl Found {
    /// What to open.
    pub fn target(&self) -> Target {
        Target { path: self.path.clone(), session: self.session.clone() }
    }
}

/// Reads facts, and keeps the indexes that it came by.
pub struct Facts {
    now: Moment,
    opened: usize,
    indexes: HashMap<PathBuf, Vec<Listing>>,
}

/// What a file tells.
struct Glance {
    format: &'static dyn Format,
    /// Whether another session started it.
    is_child: bool,
    /// Whether the file is only one of many.
    is_part: bool,
    decoder: Box<dyn Decoder>,
    out: Batch,
}

impl Facts {
    /// At this time.
    pub fn new(now: Moment) -> Self {
        Self { now, opened: 0, indexes: HashMap::new() }
    }

    /// How many files were opened so far.
    pub fn files_opened(&self) -> usize {
        self.opened
    }

    /// The facts of a candidate. `None`: it is no session, or one that another one started.
    pub fn read(&mut self, candidate: Candidate) -> Option<Found> {
        if candidate.row.is_some() {
            return self.of_row(candidate);
        }
        self.opened += 1;
        let glance = match glance(&candidate) {
            Ok(glance) => glance?,
            // A file that cannot be read is there all the same.
            Err(_) => Glance::nothing(candidate.format?),
        };
        self.of_file(candidate, glance)
    }

    /// What the index beside a session says of it.
    pub fn listing(&mut self, candidate: &Candidate, format: &dyn Format) -> Option<Listing> {
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

    fn of_row(&self, candidate: Candidate) -> Option<Found> {
        let live = self.fresh(&candidate);
        let (row, format) = (candidate.row?, candidate.format?);
        row.parent.is_none().then(|| Found {
            path: candidate.path,
            session: Some(row.id.clone()),
            format: format.name(),
            id: Text::clean(&row.id),
            agent: candidate.agent.as_deref().map(Text::clean),
            title: row.title.or_else(|| row.key.as_deref().map(Text::clean)),
            key: row.key.as_deref().map(Text::clean),
            cwd: None,
            model: None,
            started: None,
            modified: candidate.modified,
            size: None,
            live,
        })
    }

    fn of_file(&mut self, candidate: Candidate, mut glance: Glance) -> Option<Found> {
        let format = glance.format;
        let beside = format.beside(&candidate.path);
        let process = beside.manifest.and_then(|path| self.manifest(&path, &mut glance));
        let listing = self.listing(&candidate, format).unwrap_or_default();
        let is_other =
            glance.is_child || listing.parent.is_some() || beside.instead.is_some_and(|path| path.exists());
        if is_other && !candidate.is_asked {
            return None;
        }
        let is_part = glance.is_part;
        let transcript = glance.transcript();
        let meta = transcript.meta();
        let live = live(beside.lock.and_then(|path| self.lock(&path)), meta.live, process);
        let own = meta.id.clone().filter(|id| candidate.format.is_none() && identifies(id));
        let named = format.named(&candidate.path).map_or(candidate.id.as_str(), |named| named.id);
        let key = Some(Text::clean(&listing.key)).filter(|key| !key.is_blank());
        Some(Found {
            session: None,
            format: format.name(),
            id: own.unwrap_or_else(|| Text::clean(named)),
            agent: candidate.agent.as_deref().map(Text::clean).or_else(|| meta.agent.clone()),
            title: listing.title.or_else(|| meta.title().cloned()).or_else(|| key.clone()),
            key,
            cwd: meta.cwd.clone(),
            model: meta.model.clone().or(listing.model),
            started: transcript.entries().find_map(|entry| entry.at),
            modified: candidate.modified,
            size: candidate.size.filter(|_| !is_part),
            live: live.or_else(|| self.fresh(&candidate)),
            path: candidate.path,
        })
    }

    /// What was written to lately is taken for running; what was put aside runs no more.
    fn fresh(&self, candidate: &Candidate) -> Option<bool> {
        let is_fresh = candidate.modified.is_some_and(|at| self.now.since(at) < FRESH_MS);
        if candidate.is_archive { Some(false) } else { is_fresh.then_some(true) }
    }

    /// Feeds the manifest to the decoder. Answers which process it names.
    fn manifest(&mut self, path: &Path, glance: &mut Glance) -> Option<i64> {
        let bytes = small(path, HEAD)?;
        self.opened += 1;
        glance.tell(1, 0, &bytes, Place::File(path));
        json::parse(&String::from_utf8_lossy(&bytes)).ok()?.get("pid").int()
    }

    /// Whether the process that holds a lock runs; `None` if there is no lock.
    fn lock(&mut self, path: &Path) -> Option<bool> {
        let bytes = small(path, STEP)?;
        self.opened += 1;
        let text = String::from_utf8_lossy(&bytes);
        Some(json::parse(&text).ok()?.get("pid").int().is_some_and(process::is_running))
    }
}

/// A lock tells best; who claims to run must name a process that does, or name none.
fn live(lock: Option<bool>, told: Option<bool>, process: Option<i64>) -> Option<bool> {
    let is_alive = process.is_none_or(process::is_running);
    lock.or_else(|| told.map(|told| told && is_alive))
}

impl Glance {
    fn nothing(format: &'static dyn Format) -> Self {
        let mut out = Batch::default();
        out.stubs_only = true;
        Self { format, is_child: false, is_part: false, decoder: format.decoder(), out }
    }

    fn tell(&mut self, file: u32, at: u64, bytes: &[u8], place: Place<'_>) {
        let origin = Origin { file: FileId(file), at, len: saturating_u32(bytes.len()), line: 0 };
        feed(&mut *self.decoder, Record { origin, bytes }, place, &mut self.out);
    }

    fn has_title(&self) -> bool {
        self.out.edits.iter().any(|edit| matches!(edit, Edit::Meta(MetaEdit::Title { .. })))
    }

    fn transcript(mut self) -> Transcript {
        self.decoder.finish(&mut self.out);
        let mut transcript = Transcript::new();
        transcript.apply(self.out);
        transcript
    }
}

/// What the beginning and the end of a file tell. `None`: it is no session.
fn glance(candidate: &Candidate) -> io::Result<Option<Glance>> {
    let path = &candidate.path;
    let is_packed = path.extension().is_some_and(|extension| extension == "zst" || extension == "gz");
    let is_lines = file_name(path).contains(".jsonl") && !is_packed;
    if let Some(format) = candidate.format.filter(|_| is_lines) {
        let mut glance = Glance::nothing(format);
        glance_at_lines(&File::open(path)?, &mut glance)?;
        return Ok(Some(glance));
    }
    let (head, is_whole) = read_head(path)?;
    let Some((format, shape)) = format_of(candidate, &head, is_whole) else { return Ok(None) };
    let mut glance = Glance::nothing(format);
    match shape {
        _ if probe::foreign(&head).is_some() => {}
        Shape::Lines | Shape::Stream | Shape::Rows if is_packed => {
            LineBuffer::new(FileId(0)).feed(&head, |line| tell_line(line, &mut glance));
        }
        Shape::Lines | Shape::Stream | Shape::Rows => glance_at_lines(&File::open(path)?, &mut glance)?,
        Shape::Document => glance_at_document(&head, &mut glance),
        Shape::Folder => {
            let text = String::from_utf8_lossy(&head);
            glance.is_part = true;
            glance.is_child = json::parse(&text).is_ok_and(|session| !session.get("parentID").is_null());
            glance.tell(0, 0, &head, Place::File(path));
        }
    }
    Ok(Some(glance))
}

/// Who wrote a file, and how it is to be read. What no agent wrote is a session only if it was named.
fn format_of(candidate: &Candidate, head: &[u8], is_whole: bool) -> Option<(&'static dyn Format, Shape)> {
    if probe::foreign(head).is_some() {
        // It may be an archive that cannot be looked into: its place and name say what it is.
        return candidate.format.map(|format| (format, Shape::Lines));
    }
    let detection = probe::detect_file(&candidate.path, head, is_whole);
    let told = Some((detection.format, detection.verdict.shape));
    if candidate.is_asked {
        return told.filter(|_| !probe::is_unclaimed(&detection));
    }
    if probe::is_certain_of_agent(&detection) {
        return told.filter(|(format, _)| format.named(&candidate.path).is_some());
    }
    candidate.format.map(|format| (format, detection.verdict.shape))
}

fn glance_at_lines(file: &File, glance: &mut Glance) -> io::Result<()> {
    let len = Stamp::of_file(file)?.len;
    let mut buffer = LineBuffer::new(FileId(0));
    let mut at = 0;
    while at < len && at < HEAD as u64 && (at == 0 || !glance.has_title()) {
        let chunk = read_range(file, at, STEP)?;
        if chunk.is_empty() {
            return Ok(());
        }
        at += chunk.len() as u64;
        buffer.feed(&chunk, |line| tell_line(line, glance));
    }
    let end = at.max(len.saturating_sub(STEP as u64));
    let mut chunk = read_range(file, end, STEP)?;
    if end > at {
        let first = memchr::memchr(b'\n', &chunk).map_or(chunk.len(), |newline| newline + 1);
        chunk.drain(..first);
        buffer = LineBuffer::in_the_middle(FileId(0), end + first as u64);
    }
    buffer.feed(&chunk, |line| tell_line(line, glance));
    let is_ended =
        |line: &Line<'_>| matches!(line, Line::Whole(record) if record.bytes.trim_ascii().ends_with(b"}"));
    if let Some(line) = buffer.unfinished().filter(is_ended) {
        tell_line(line, glance);
    }
    Ok(())
}

fn tell_line(line: Line<'_>, glance: &mut Glance) {
    if let Line::Whole(Record { origin, bytes }) = line {
        glance.tell(0, origin.at, bytes, Place::Line);
    }
}

/// The header and the messages that are complete in the beginning.
fn glance_at_document(head: &[u8], glance: &mut Glance) {
    let Some(split) = split(head) else { return };
    if let Some(header) = &split.header {
        glance.tell(0, split.root.start as u64, header, Place::Header);
    }
    for element in split.elements {
        let at = element.start as u64;
        glance.tell(0, at, head.get(element).unwrap_or_default(), Place::Element);
    }
}

fn listings(index: &Path, format: &dyn Format) -> Option<Vec<Listing>> {
    let bytes = small(index, INDEX)?;
    let text = String::from_utf8_lossy(&bytes);
    json::parse(&text).ok().map(|index| format.listings(&index))
}

/// A file of at most `max` bytes.
fn small(path: &Path, max: usize) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let is_small = Stamp::of_file(&file).is_ok_and(|stamp| stamp.len <= max as u64);
    read_range(&file, 0, max).ok().filter(|_| is_small)
}
