//! Reads a whole session with one decoder: the main file, its companions, and the files that its
//! records reference. Reads step by step, so that the caller can do other work in between.

mod companions;
pub(crate) mod registry;
mod rows_beside;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use self::registry::Registry;
use self::rows_beside::DatabaseBeside;
use super::bodies::Bodies;
use super::earlier::{self, FilePart, is_packed};
use super::emitter::Emitter;
use super::files::{FileKind, FileTable};
use super::line_file::{LineFile, emit_line};
use super::packed_file::PackedFile;
use super::plan::Plan;
use super::rows::{Databases, RowFollower};
use super::whole::{Small, emit_whole, is_complete, kind_of};
use crate::model::edit::{Feed, LinkState, MetaEdit};
use crate::model::record::{FileId, Shape};
use crate::model::text::Text;
use crate::source::budget;
use crate::source::folder::PatternFiles;
use crate::source::follow::FollowChange;
use crate::source::lines::LineBuffer;
use crate::source::regular::Fence;
use crate::source::rewritten::{RewriteCheck, Rewritten};
use crate::source::stream::StreamPiece;
use crate::source::watch::Hints;

/// Bytes of a line file that are read at once; small enough to stay in the processor's cache.
const ROOM: usize = 128 << 10;
/// Sum of bytes above which small files keep their bodies on disk; so do all where there are very
/// many files.
const SMALL_SUM: u64 = 32 << 20;
const MANY_SMALLS: usize = 2_000;

/// Result of a poll of the files.
#[derive(Debug, Default)]
pub struct PollResult {
    /// Changes of the opened file's state, in order.
    pub(crate) links: Vec<LinkState>,
    /// Whether the opened file has new bytes.
    pub(crate) has_grown: bool,
    /// Set if the opened file must be read again, with the reason; empty if it was only rewritten
    /// with more.
    pub(crate) anew: Option<String>,
}

pub struct SessionReader<'o> {
    plan: Plan,
    files: FileTable,
    bodies: Bodies,
    /// Decodes and sends the records.
    pub(crate) emitter: Emitter<'o>,
    main: Main,
    line_files: Vec<LineFile>,
    line_file_at: HashMap<PathBuf, usize>,
    /// A database with rows about the session.
    rows_beside: Option<DatabaseBeside>,
    smalls: Vec<Small>,
    small_at: HashMap<Arc<Path>, usize>,
    small_sum: u64,
    folder: PatternFiles,
    requested: HashSet<Text>,
    queue: VecDeque<PendingStep>,
    /// Companions that could not be opened; tried again at each poll.
    unopened: BTreeSet<PathBuf>,
    /// The process that has the session open.
    registry: Option<Registry>,
    room: Vec<u8>,
}

enum Main {
    Lines {
        line_file: Box<LineFile>,
        has_more: bool,
    },
    Document {
        file: Rewritten,
        id: FileId,
        content: Option<Vec<u8>>,
    },
    Packed(Box<PackedFile>),
    Folder,
    Rows(Box<RowFollower>),
}

enum PendingStep {
    LineFile(usize),
    Small(usize, Option<Vec<u8>>),
    /// A small file that was deleted.
    Lost(PathBuf),
    /// Rows of the database beside the session.
    RowsBeside,
    /// A text that is read once: a part of an earlier file of the session, or a compressed
    /// companion.
    Text(FileKind, FilePart),
}

impl<'o> SessionReader<'o> {
    /// Prepares the reading of a session. Fails if its file cannot be opened.
    pub(crate) fn new(
        plan: &Plan,
        files: &FileTable,
        bodies: Bodies,
        emitter: Emitter<'o>,
        (now, databases): (Instant, &Databases),
    ) -> io::Result<Self> {
        files.set_format(plan.format, &plan.path);
        if let Some(packed) = plan.packed {
            let main = Main::Packed(Box::new(PackedFile::open(plan, packed, files)?));
            let emitter = emitter.of_pipe(plan.is_paged).within(budget::HELD);
            let mut reader = Self::with(main, plan, files, Bodies::InMemory, emitter);
            reader.find_files(now);
            return Ok(reader);
        }
        let main = match plan.shape {
            Shape::Document | Shape::Values | Shape::Text => {
                let kind = kind_of(plan.shape);
                let mut file = Rewritten::new(&*plan.path, Fence::default());
                let mut content = Some(file.read()?);
                if bodies.is_live()
                    && !content
                        .as_deref()
                        .is_some_and(|bytes| is_complete(kind, bytes))
                {
                    (file, content) = (file.restarted(), None);
                }
                Main::Document {
                    id: files.number(&plan.path, kind),
                    file,
                    content,
                }
            }
            Shape::Folder => Main::Folder,
            Shape::Rows => Main::Rows(Box::new(RowFollower::open(plan, files, bodies, databases)?)),
            Shape::Lines | Shape::Stream => {
                let line_file =
                    LineFile::open(&plan.path, FileKind::Lines, files, now)?.planned(plan);
                Main::Lines {
                    line_file: Box::new(line_file),
                    has_more: true,
                }
            }
        };
        let mut reader = Self::with(main, plan, files, bodies, emitter);
        if !reader.emitter.is_counting() {
            reader.registry = Registry::of(plan.format, &plan.path);
        }
        reader.find_files(now);
        reader.poll_registry(&Hints::default(), now);
        Ok(reader)
    }

    fn with(
        main: Main,
        plan: &Plan,
        files: &FileTable,
        bodies: Bodies,
        emitter: Emitter<'o>,
    ) -> Self {
        Self {
            plan: plan.clone(),
            files: files.clone(),
            bodies,
            emitter,
            main,
            line_files: Vec::new(),
            line_file_at: HashMap::new(),
            rows_beside: None,
            smalls: Vec::new(),
            small_at: HashMap::new(),
            small_sum: 0,
            folder: PatternFiles::default(),
            requested: HashSet::new(),
            queue: VecDeque::new(),
            unopened: BTreeSet::new(),
            registry: None,
            room: Vec::new(),
        }
    }

    /// Frees the buffers while there is nothing to read.
    pub(crate) fn free_buffer(&mut self) {
        self.room = Vec::new();
        if let Main::Lines { line_file, .. } = &mut self.main {
            line_file.buffer.free();
        }
        self.line_files
            .iter_mut()
            .for_each(|line_file| line_file.buffer.free());
    }

    /// Closes the opened file until there is something to read. While it is closed, a move of the
    /// file cannot be traced.
    pub(crate) fn close(&mut self) {
        match &mut self.main {
            Main::Lines {
                line_file,
                has_more: false,
            } => line_file.follower.close(),
            Main::Rows(rows) => rows.close(),
            Main::Lines { .. } | Main::Document { .. } | Main::Packed(_) | Main::Folder => {}
        }
    }

    /// Reads a step further. Returns whether there is more to read.
    pub(crate) fn step(&mut self, now: Instant) -> bool {
        let comes_first = match self.queue.front() {
            Some(PendingStep::Text(kind, _)) => *kind == FileKind::Lines,
            // For a session in a database, the lines of a file beside it come before the rows.
            Some(PendingStep::LineFile(_)) => matches!(self.main, Main::Rows(_)),
            _ => false,
        };
        let is_reading = !comes_first && self.step_main(now);
        if !is_reading {
            match self.queue.pop_front() {
                Some(PendingStep::LineFile(index)) => self.read_line_file(index, now),
                Some(PendingStep::Small(index, content)) => self.read_small(index, content, now),
                Some(PendingStep::Lost(path)) => self.emitter.emit_deleted(&path),
                Some(PendingStep::RowsBeside) => self.read_rows_beside(),
                Some(PendingStep::Text(kind, part)) => self.read_text(kind, &part),
                None => return false,
            }
        }
        self.add_requested(now);
        true
    }

    /// Bytes of the opened file read, and all.
    pub(crate) fn progress(&self) -> (u64, u64) {
        match &self.main {
            Main::Lines { line_file, .. } => (line_file.follower.offset, line_file.follower.len()),
            Main::Document { .. } => (0, 0),
            Main::Packed(file) => file.progress(),
            Main::Rows(rows) => rows.progress(),
            Main::Folder => (
                self.smalls.len().saturating_sub(self.queue.len()) as u64,
                self.smalls.len() as u64,
            ),
        }
    }

    /// Ends a reading: last lines, pending records of the decoder, the last batch. Returns whether
    /// there is more to read after all.
    pub(crate) fn finish_reading(&mut self, now: Instant, is_final: bool) -> bool {
        // Companions of a compressed file are read once, too.
        let is_final = is_final || matches!(self.main, Main::Packed(_));
        match &mut self.main {
            Main::Lines { line_file, .. } => {
                line_file.emit_unfinished(&mut self.emitter, now, is_final);
            }
            Main::Rows(rows) => rows.end_first_reading(),
            Main::Document { .. } | Main::Packed(_) | Main::Folder => {}
        }
        for line_file in &mut self.line_files {
            line_file.emit_unfinished(&mut self.emitter, now, is_final);
        }
        self.emitter.finish();
        self.add_requested(now);
        let has_more = !self.queue.is_empty();
        if !has_more {
            self.emitter.flush(true);
        }
        has_more
    }

    /// Whether anything is pending.
    pub(crate) fn has_more(&self) -> bool {
        let main = match &self.main {
            Main::Lines { has_more, .. } => *has_more,
            Main::Document { content, .. } => content.is_some(),
            Main::Packed(file) => file.has_more(),
            Main::Rows(rows) => rows.has_more(),
            Main::Folder => false,
        };
        main || !self.queue.is_empty()
    }

    /// When to poll without an event.
    pub(crate) fn due(&self) -> Option<Instant> {
        let main = match &self.main {
            Main::Lines { line_file, .. } => line_file
                .due()
                .into_iter()
                .chain(line_file.follower.retry_at())
                .min(),
            Main::Document { file, .. } => file.retry_at(),
            Main::Packed(file) => file.due(),
            Main::Rows(rows) => rows.due(),
            Main::Folder => None,
        };
        let line_files = self.line_files.iter().filter_map(LineFile::due);
        let smalls = self.smalls.iter().filter_map(|small| small.file.retry_at());
        let registry = self.registry.as_ref().and_then(Registry::due);
        main.into_iter()
            .chain(line_files)
            .chain(smalls)
            .chain(registry)
            .min()
    }

    /// Whether the opened file is complete and will not be written again.
    pub(crate) fn is_over(&self) -> bool {
        matches!(&self.main, Main::Packed(file) if file.is_over())
    }

    /// Whether the time of the next poll has passed.
    pub(crate) fn is_overdue(&self, now: Instant) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    /// The paths to watch, the most important ones first.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &Path> {
        let main = Some(self.plan.path.as_path());
        let registry = self.registry.as_ref().and_then(Registry::folder);
        let beside = self.rows_beside.as_ref().and_then(DatabaseBeside::folder);
        let folders = self
            .plan
            .path
            .parent()
            .into_iter()
            .chain(registry)
            .chain(beside);
        main.into_iter()
            .chain(folders)
            .chain(self.folder.directories())
    }

    /// Polls all files for changes, which the next steps read.
    pub(crate) fn poll(&mut self, hints: &Hints, now: Instant) -> PollResult {
        let mut seen = PollResult::default();
        if self.poll_registry(hints, now) {
            self.emitter.flush(false);
        }
        self.poll_main(now, &mut seen);
        let census = self.folder.poll(hints);
        if self.plan.shape == Shape::Folder && !census.removed.is_empty() {
            seen.anew = Some("files were removed".to_owned());
        }
        let looked_at: Vec<Arc<Path>> = census.due.iter().chain(&census.removed).cloned().collect();
        let retries = self
            .line_files
            .iter()
            .map(|line_file| line_file.follower.retry_at());
        let named = looked_at
            .iter()
            .filter_map(|path| self.line_file_at.get(&**path))
            .copied();
        for index in due(retries, named, now) {
            let Some(line_file) = self.line_files.get_mut(index) else {
                continue;
            };
            match line_file.follower.poll(now) {
                FollowChange::Grown => {
                    self.folder.touch(line_file.follower.path());
                    self.queue.push_back(PendingStep::LineFile(index));
                }
                FollowChange::Replaced(why) => {
                    seen.anew = Some(format!("{}: {why}", line_file.follower.path().display()));
                }
                FollowChange::Unreadable(why) => {
                    report_unreadable(&mut self.emitter, line_file, &why);
                    self.emitter.flush(false);
                }
                FollowChange::Quiet
                | FollowChange::Emptied
                | FollowChange::Deleted
                | FollowChange::Moved(_)
                | FollowChange::Back => {}
            }
        }
        if seen.anew.is_some() {
            self.restart(now);
            return seen;
        }
        self.poll_smalls(&census.due, now);
        self.poll_rows_beside();
        census
            .removed
            .iter()
            .for_each(|path| self.remove_small(path));
        self.add_files(
            self.unopened
                .iter()
                .map(|path| Arc::from(&**path))
                .collect(),
            false,
            now,
        );
        self.add_files(census.new, false, now);
        seen
    }

    fn poll_smalls(&mut self, looked_at: &[Arc<Path>], now: Instant) {
        let retries = self.smalls.iter().map(|small| small.file.retry_at());
        let named = looked_at
            .iter()
            .filter_map(|path| self.small_at.get(path))
            .copied();
        for index in due(retries, named, now) {
            let Some(small) = self.smalls.get_mut(index) else {
                continue;
            };
            if let RewriteCheck::Content(bytes) | RewriteCheck::Broken(bytes) = small.poll(now) {
                self.folder.touch(small.file.path());
                self.queue.push_back(PendingStep::Small(index, Some(bytes)));
            }
        }
    }

    /// Handles the deletion of a small file. If it comes back, it is read even with equal content.
    fn remove_small(&mut self, path: &Path) {
        let small = self
            .small_at
            .get(path)
            .and_then(|index| self.smalls.get_mut(*index));
        if let Some(small) = small {
            small.file = small.file.restarted();
            self.queue.push_back(PendingStep::Lost(path.to_owned()));
        }
    }

    /// Polls the process that has the session open. Returns whether its state changed.
    fn poll_registry(&mut self, hints: &Hints, now: Instant) -> bool {
        let Some(registry) = &mut self.registry else {
            return false;
        };
        let is_news = registry.poll(hints, now);
        if is_news {
            self.emitter.emit_fact(MetaEdit::Running(registry.last));
        }
        is_news
    }

    fn poll_main(&mut self, now: Instant, seen: &mut PollResult) {
        match &mut self.main {
            Main::Lines {
                line_file,
                has_more,
            } => loop {
                match line_file.follower.poll(now) {
                    FollowChange::Quiet => return,
                    FollowChange::Grown => {
                        seen.has_grown = true;
                        *has_more = true;
                        return;
                    }
                    FollowChange::Replaced(why) => {
                        seen.anew = Some(why.to_owned());
                        return;
                    }
                    FollowChange::Emptied => seen.links.push(LinkState::Emptied),
                    FollowChange::Deleted => seen.links.push(LinkState::Deleted),
                    FollowChange::Moved(path) => seen
                        .links
                        .push(line_file.moved_state(self.plan.format, path)),
                    FollowChange::Back => seen.links.push(LinkState::Live),
                    FollowChange::Unreadable(why) => {
                        seen.links.push(LinkState::Unreadable(Text::clean(&why)));
                    }
                }
            },
            Main::Document { file, content, .. } => {
                let before = file.len();
                let kind = kind_of(self.plan.shape);
                match file.poll(now, |bytes| is_complete(kind, bytes)) {
                    RewriteCheck::Quiet => {}
                    RewriteCheck::Content(bytes) | RewriteCheck::Broken(bytes) => {
                        let why = if file.len() > before { "" } else { "rewritten" };
                        seen.anew = Some(why.to_owned());
                        *content = Some(bytes);
                    }
                    RewriteCheck::Deleted => seen.links.push(LinkState::Deleted),
                    RewriteCheck::Back => seen.links.push(LinkState::Live),
                    RewriteCheck::Unreadable(why) => {
                        seen.links.push(LinkState::Unreadable(Text::clean(&why)));
                    }
                }
            }
            Main::Packed(file) => {
                let (link, is_other) = file.poll();
                seen.links.extend(link);
                seen.anew = is_other.then(String::new);
            }
            Main::Rows(rows) => {
                let (links, anew) = rows.poll(&mut self.emitter, now);
                seen.links.extend(links);
                seen.anew = anew;
            }
            Main::Folder => {}
        }
    }

    /// Begins a replacement: everything is read again from the beginning.
    fn restart(&mut self, now: Instant) {
        self.emitter.restart(self.plan.decoder());
        self.line_files.clear();
        self.line_file_at.clear();
        self.rows_beside = None;
        self.smalls.clear();
        self.small_at.clear();
        self.small_sum = 0;
        self.requested.clear();
        self.queue.clear();
        self.unopened.clear();
        self.folder.restart();
        match &mut self.main {
            Main::Lines {
                line_file,
                has_more,
            } => {
                if line_file.follower.offset > 0 && line_file.follower.seek(0).is_err() {
                    // The next poll finds the reason.
                    self.emitter.notice(
                        FileId(0),
                        "the file could not be read again from its beginning",
                    );
                }
                line_file.restart();
                *has_more = true;
            }
            Main::Document { file, content, .. } => {
                *content = content.take().or_else(|| file.read().ok());
            }
            Main::Packed(file) => file.begin(),
            Main::Rows(rows) => rows.restart(),
            Main::Folder => {}
        }
        if let Some(running) = self.registry.as_ref().and_then(|registry| registry.last) {
            self.emitter.emit_fact(MetaEdit::Running(Some(running)));
        }
        self.find_files(now);
    }

    fn step_main(&mut self, now: Instant) -> bool {
        match &mut self.main {
            Main::Lines {
                line_file,
                has_more: has_more @ true,
            } => {
                self.room.resize(ROOM, 0);
                match line_file.read(&mut self.emitter, &mut self.room, self.bodies, now) {
                    Ok(read) => *has_more = read > 0,
                    Err(error) => {
                        *has_more = false;
                        if let FollowChange::Unreadable(why) =
                            line_file.follower.failed(&error, now)
                        {
                            self.emitter
                                .send(Feed::Link(LinkState::Unreadable(Text::clean(&why))));
                        }
                    }
                }
                true
            }
            Main::Document { id, content, .. } => {
                let Some(bytes) = content.take() else {
                    return false;
                };
                emit_whole(
                    &mut self.emitter,
                    kind_of(self.plan.shape),
                    *id,
                    &bytes,
                    self.bodies,
                );
                true
            }
            Main::Packed(file) => file.step(&mut self.emitter),
            Main::Rows(rows) => rows.step(&mut self.emitter, now),
            Main::Lines { .. } | Main::Folder => false,
        }
    }

    fn read_line_file(&mut self, index: usize, now: Instant) {
        let Some(line_file) = self.line_files.get_mut(index) else {
            return;
        };
        self.room.resize(ROOM, 0);
        match line_file.read(&mut self.emitter, &mut self.room, self.bodies, now) {
            Ok(0) => line_file.follower.close(),
            Ok(_) => self.queue.push_front(PendingStep::LineFile(index)),
            Err(error) => {
                if let FollowChange::Unreadable(why) = line_file.follower.failed(&error, now) {
                    report_unreadable(&mut self.emitter, line_file, &why);
                }
            }
        }
    }

    /// Reads a text once: lines of the session before the opened file, or a compressed companion.
    fn read_text(&mut self, kind: FileKind, FilePart { path, bytes }: &FilePart) {
        let emitter = &mut self.emitter;
        let id = self.files.announce(Arc::from(&**path), kind, emitter);
        // Compressed text cannot be read again by position.
        emitter.set_stubs_only(!is_packed(path) && self.bodies.is_away_at(0, *bytes));
        let mut buffer = LineBuffer::new(id);
        let mut end = None;
        for piece in earlier::read(path, *bytes, &self.files) {
            match piece {
                StreamPiece::Bytes(read) => {
                    buffer.feed(&read, |line| emit_line(line, kind, path, emitter));
                }
                StreamPiece::End(why) => end = why,
            }
        }
        buffer
            .unfinished()
            .into_iter()
            .for_each(|line| emit_line(line, kind, path, emitter));
        if let Some(error) = end {
            emitter.notice(id, &format!("{} cannot be read: {error}", path.display()));
        }
    }

    fn read_small(&mut self, index: usize, content: Option<Vec<u8>>, now: Instant) {
        let are_many = self.smalls.len() > MANY_SMALLS;
        let Some(small) = self.smalls.get_mut(index) else {
            return;
        };
        let read = match content {
            Some(bytes) => Ok(bytes),
            None if !self.bodies.is_live() => small.file.read().map_err(|error| error.to_string()),
            None => match small.poll(now) {
                RewriteCheck::Content(bytes) | RewriteCheck::Broken(bytes) => Ok(bytes),
                RewriteCheck::Unreadable(why) => Err(why),
                RewriteCheck::Quiet | RewriteCheck::Deleted | RewriteCheck::Back => return,
            },
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(why) => {
                let what = format!("{} cannot be read: {why}", small.file.path().display());
                return self.emitter.notice(small.id, &what);
            }
        };
        self.small_sum += bytes.len() as u64;
        let is_large = self.small_sum > SMALL_SUM || are_many;
        let away = self.bodies == Bodies::OnDisk || (self.bodies == Bodies::Recent && is_large);
        self.emitter.set_stubs_only(away);
        small.emit(&mut self.emitter, &bytes);
    }
}

/// There may be thousands, so only those are polled whose turn it is, and those with pending data.
fn due(
    retries: impl Iterator<Item = Option<Instant>>,
    named: impl Iterator<Item = usize>,
    now: Instant,
) -> BTreeSet<usize> {
    let waiting = retries
        .enumerate()
        .filter(|(_, retry)| retry.is_some_and(|retry| retry <= now));
    waiting.map(|(index, _)| index).chain(named).collect()
}

/// Reports that a companion cannot be read; what was read of it stays.
fn report_unreadable(emitter: &mut Emitter<'_>, line_file: &LineFile, why: &str) {
    emitter.notice(
        line_file.id,
        &format!(
            "{} cannot be read: {why}",
            line_file.follower.path().display()
        ),
    );
}
