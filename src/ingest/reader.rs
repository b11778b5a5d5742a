//! All of one session through one decoder: the main file, the files beside it, and those that its
//! records ask for. Reads step by step, so that its caller can do other things in between.

mod gathering;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::bodies::Bodies;
use super::files::{Files, Kind};
use super::plan::Plan;
use super::rows::Rows;
use super::strand::{Step, Strand, tell_line};
use super::teller::Teller;
use super::whole::{Small, is_whole_document, kind_of, tell_whole};
use crate::model::edit::{Feed, LinkState};
use crate::model::record::{FileId, Shape};
use crate::model::text::Text;
use crate::source::folder::Folder;
use crate::source::follow::Change;
use crate::source::lines::LineBuffer;
use crate::source::packed::{self, packing_of};
use crate::source::regular::Fence;
use crate::source::rewritten::{Look, Rewritten};
use crate::source::watch::Hints;

/// How much of a line file is read at once.
const ROOM: usize = 1 << 20;
/// Small files beyond this sum leave their bodies on disk, and all of them where there are so many.
const SMALL_SUM: u64 = 32 << 20;
const MANY_SMALLS: usize = 2_000;

/// What a look at the files showed.
#[derive(Debug, Default)]
pub struct Seen {
    /// How the opened file fares, in order.
    pub links: Vec<LinkState>,
    /// The opened file has new bytes.
    pub has_grown: bool,
    /// It is another text now, and why.
    pub anew: Option<String>,
}

/// Reads one session.
pub struct Reader<'o> {
    plan: Plan,
    files: Files,
    bodies: Bodies,
    /// Who tells what is read.
    pub teller: Teller<'o>,
    main: Main,
    strands: Vec<Strand>,
    strand_at: HashMap<PathBuf, usize>,
    smalls: Vec<Small>,
    small_at: HashMap<Arc<Path>, usize>,
    small_sum: u64,
    folder: Folder,
    asked: HashSet<Text>,
    queue: VecDeque<Todo>,
    /// Files beside the session that could not be opened; tried again at each look.
    unopened: BTreeSet<PathBuf>,
    room: Vec<u8>,
}

/// The opened file.
enum Main {
    Lines { strand: Box<Strand>, has_more: bool },
    Document { file: Rewritten, id: FileId, content: Option<Vec<u8>> },
    Folder,
    Rows(Box<Rows>),
}

/// What waits to be read.
enum Todo {
    Strand(usize),
    Small(usize, Option<Vec<u8>>),
    /// A small file that is gone.
    Lost(PathBuf),
    /// A compressed line file, to be read once.
    Packed(FileId, PathBuf),
}

impl<'o> Reader<'o> {
    /// Gets ready to read a session. Fails if its file cannot be opened.
    pub fn new(
        plan: &Plan,
        files: &Files,
        bodies: Bodies,
        teller: Teller<'o>,
        now: Instant,
    ) -> io::Result<Self> {
        files.set_format(plan.format, &plan.path);
        let main = match plan.shape {
            Shape::Document | Shape::Values => {
                let kind = kind_of(plan.shape);
                let mut file = Rewritten::new(&*plan.path, Fence::default());
                let mut content = Some(file.read()?);
                if bodies.is_live() && !content.as_deref().is_some_and(is_whole_document) {
                    (file, content) = (Rewritten::new(&*plan.path, Fence::default()), None);
                }
                Main::Document { id: files.number(&plan.path, kind).0, file, content }
            }
            Shape::Folder => Main::Folder,
            Shape::Rows => Main::Rows(Box::new(Rows::open(plan, files, bodies)?)),
            Shape::Lines | Shape::Stream => {
                let strand = Strand::open(&plan.path, Kind::Lines, files, now)?;
                Main::Lines { strand: Box::new(strand), has_more: true }
            }
        };
        let mut reader = Self {
            plan: plan.clone(),
            files: files.clone(),
            bodies,
            teller,
            main,
            strands: Vec::new(),
            strand_at: HashMap::new(),
            smalls: Vec::new(),
            small_at: HashMap::new(),
            small_sum: 0,
            folder: Folder::default(),
            asked: HashSet::new(),
            queue: VecDeque::new(),
            unopened: BTreeSet::new(),
            room: vec![0; ROOM],
        };
        reader.find_files(now);
        Ok(reader)
    }

    /// Reads on a little, and does `between` every now and then. Answers whether there is more to read.
    pub fn step(&mut self, now: Instant, between: &mut dyn FnMut()) -> bool {
        let is_reading = self.step_main(now, between);
        if !is_reading {
            match self.queue.pop_front() {
                Some(Todo::Strand(index)) => self.read_strand(index, now, between),
                Some(Todo::Small(index, content)) => self.read_small(index, content, now),
                Some(Todo::Lost(path)) => self.teller.lost(&path),
                Some(Todo::Packed(id, path)) => self.read_packed(id, &path),
                None => return false,
            }
        }
        self.follow_up(now);
        true
    }

    /// How far the opened file is read: bytes done, and all.
    pub fn progress(&self) -> (u64, u64) {
        match &self.main {
            Main::Lines { strand, .. } => (strand.follower.offset(), strand.follower.len()),
            Main::Document { .. } => (0, 0),
            Main::Rows(rows) => rows.progress(),
            Main::Folder => {
                (self.smalls.len().saturating_sub(self.queue.len()) as u64, self.smalls.len() as u64)
            }
        }
    }

    /// The end of a reading: last lines, what the decoder held back, the last batch. Answers whether
    /// more is to be read after all.
    pub fn rest(&mut self, now: Instant, is_final: bool) -> bool {
        match &mut self.main {
            Main::Lines { strand, .. } => strand.rest(&mut self.teller, now, is_final),
            Main::Rows(rows) => rows.rest(),
            Main::Document { .. } | Main::Folder => {}
        }
        for strand in &mut self.strands {
            strand.rest(&mut self.teller, now, is_final);
        }
        self.teller.finish();
        self.follow_up(now);
        let has_more = !self.queue.is_empty();
        if !has_more {
            self.teller.flush(true);
        }
        has_more
    }

    /// Whether something waits to be read.
    pub fn has_more(&self) -> bool {
        let main = match &self.main {
            Main::Lines { has_more, .. } => *has_more,
            Main::Document { content, .. } => content.is_some(),
            Main::Rows(rows) => rows.has_more(),
            Main::Folder => false,
        };
        main || !self.queue.is_empty()
    }

    /// When to look again without any event.
    pub fn due(&self) -> Option<Instant> {
        let main = match &self.main {
            Main::Lines { strand, .. } => strand.due().into_iter().chain(strand.follower.retry_at()).min(),
            Main::Document { file, .. } => file.retry_at(),
            Main::Rows(rows) => rows.due(),
            Main::Folder => None,
        };
        let strands = self.strands.iter().filter_map(Strand::due);
        let smalls = self.smalls.iter().filter_map(|small| small.file.retry_at());
        main.into_iter().chain(strands).chain(smalls).min()
    }

    /// Whether the time of the next look has come.
    pub fn is_overdue(&self, now: Instant) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    /// The paths to be watched, the most important ones first.
    pub fn watched(&self) -> impl Iterator<Item = &Path> {
        let main = Some(self.plan.path.as_path());
        main.into_iter().chain(self.plan.path.parent()).chain(self.folder.directories())
    }

    /// Looks for changes of all files; what it finds is read in the next steps.
    pub fn poll(&mut self, hints: &Hints, now: Instant) -> Seen {
        let mut seen = Seen::default();
        self.poll_main(now, &mut seen);
        let census = self.folder.poll(hints);
        if self.plan.shape == Shape::Folder && !census.gone.is_empty() {
            seen.anew = Some("files were removed".to_owned());
        }
        for index in self.due_strands(&census.due, now) {
            let Some(strand) = self.strands.get_mut(index) else { continue };
            match strand.follower.poll(now) {
                Change::Grown => {
                    self.folder.touch(strand.follower.path());
                    self.queue.push_back(Todo::Strand(index));
                }
                Change::Anew(why) => seen.anew = Some(format!("{}: {why}", strand.follower.path().display())),
                Change::Quiet | Change::Gone | Change::Moved(_) | Change::Back | Change::Unreadable(_) => {}
            }
        }
        if seen.anew.is_some() {
            self.restart(now);
            return seen;
        }
        self.poll_smalls(&census.due, now);
        census.gone.iter().for_each(|path| self.lose_small(path));
        self.add_files(self.unopened.iter().map(|path| Arc::from(&**path)).collect(), false, now);
        self.add_files(census.new, false, now);
        seen
    }

    /// There may be thousands, so those are looked at whose turn it is, and those that wait to be.
    fn due_strands(&self, due: &[Arc<Path>], now: Instant) -> BTreeSet<usize> {
        let is_waiting = |strand: &Strand| strand.follower.retry_at().is_some_and(|retry| retry <= now);
        let waiting = self.strands.iter().enumerate().filter(|(_, strand)| is_waiting(strand));
        let named = due.iter().filter_map(|path| self.strand_at.get(&**path)).copied();
        waiting.map(|(index, _)| index).chain(named).collect()
    }

    fn poll_smalls(&mut self, due: &[Arc<Path>], now: Instant) {
        let waiting = self.smalls.iter().enumerate();
        let waiting = waiting.filter(|(_, small)| small.file.retry_at().is_some_and(|retry| retry <= now));
        let mut indices: Vec<usize> = waiting.map(|(index, _)| index).collect();
        indices.extend(due.iter().filter_map(|path| self.small_at.get(path)));
        for index in indices {
            let Some(small) = self.smalls.get_mut(index) else { continue };
            if let Look::Content(bytes) | Look::Broken(bytes) =
                small.file.poll(now, Small::is_whole(small.kind()))
            {
                self.folder.touch(small.file.path());
                self.queue.push_back(Todo::Small(index, Some(bytes)));
            }
        }
    }

    /// A small file is gone. Should it come back, it is news even with the same content.
    fn lose_small(&mut self, path: &Path) {
        let small = self.small_at.get(path).and_then(|index| self.smalls.get_mut(*index));
        if let Some(small) = small {
            small.file = small.file.anew();
            self.queue.push_back(Todo::Lost(path.to_owned()));
        }
    }

    fn poll_main(&mut self, now: Instant, seen: &mut Seen) {
        match &mut self.main {
            Main::Lines { strand, has_more } => loop {
                match strand.follower.poll(now) {
                    Change::Quiet => return,
                    Change::Grown => {
                        seen.has_grown = true;
                        *has_more = true;
                        return;
                    }
                    Change::Anew(why) => {
                        seen.anew = Some(why.to_owned());
                        return;
                    }
                    Change::Gone => seen.links.push(LinkState::Gone),
                    Change::Moved(path) => seen.links.push(strand.whereabouts(self.plan.format, path)),
                    Change::Back => seen.links.push(LinkState::Live),
                    Change::Unreadable(why) => seen.links.push(LinkState::Unreadable(Text::clean(&why))),
                }
            },
            Main::Document { file, content, .. } => match file.poll(now, is_whole_document) {
                Look::Quiet => {}
                Look::Content(bytes) | Look::Broken(bytes) => {
                    seen.anew = Some("rewritten".to_owned());
                    *content = Some(bytes);
                }
                Look::Gone => seen.links.push(LinkState::Gone),
                Look::Back => seen.links.push(LinkState::Live),
                Look::Unreadable(why) => seen.links.push(LinkState::Unreadable(Text::clean(&why))),
            },
            Main::Rows(rows) => {
                let (links, anew) = rows.poll(&mut self.teller, now);
                seen.links.extend(links);
                seen.anew = anew;
            }
            Main::Folder => {}
        }
    }

    /// Begins a new telling: everything is read again from its beginning.
    fn restart(&mut self, now: Instant) {
        self.teller.restart(self.plan.decoder());
        self.strands.clear();
        self.strand_at.clear();
        self.smalls.clear();
        self.small_at.clear();
        self.small_sum = 0;
        self.asked.clear();
        self.queue.clear();
        self.unopened.clear();
        self.folder.restart();
        match &mut self.main {
            Main::Lines { strand, has_more } => {
                self.teller.of_other_file();
                if strand.follower.offset() > 0 && strand.follower.seek(0).is_err() {
                    // The next look finds out why.
                    self.teller.notice(FileId(0), "the file could not be read again from its beginning");
                }
                strand.restart();
                *has_more = true;
            }
            Main::Document { file, content, .. } => *content = content.take().or_else(|| file.read().ok()),
            Main::Rows(rows) => rows.restart(),
            Main::Folder => {}
        }
        self.find_files(now);
    }

    fn step_main(&mut self, now: Instant, between: &mut dyn FnMut()) -> bool {
        match &mut self.main {
            Main::Lines { strand, has_more: has_more @ true } => {
                let step = Step { room: &mut self.room, bodies: self.bodies, now, between };
                match strand.read(&mut self.teller, step) {
                    Ok(read) => *has_more = read > 0,
                    Err(error) => {
                        *has_more = false;
                        if let Change::Unreadable(why) = strand.follower.failed(&error, now) {
                            self.teller.send(Feed::Link(LinkState::Unreadable(Text::clean(&why))));
                        }
                    }
                }
                true
            }
            Main::Document { id, content, .. } => {
                let Some(bytes) = content.take() else { return false };
                tell_whole(&mut self.teller, kind_of(self.plan.shape), *id, &bytes, self.bodies);
                true
            }
            Main::Rows(rows) => rows.step(&mut self.teller, now),
            Main::Lines { .. } | Main::Folder => false,
        }
    }

    fn read_strand(&mut self, index: usize, now: Instant, between: &mut dyn FnMut()) {
        let Some(strand) = self.strands.get_mut(index) else { return };
        let step = Step { room: &mut self.room, bodies: self.bodies, now, between };
        match strand.read(&mut self.teller, step) {
            Ok(0) => strand.follower.rest(),
            Ok(_) => self.queue.push_front(Todo::Strand(index)),
            Err(error) => {
                if let Change::Unreadable(why) = strand.follower.failed(&error, now) {
                    let what = format!("{} cannot be read: {why}", strand.follower.path().display());
                    self.teller.notice(strand.id(), &what);
                }
            }
        }
    }

    fn read_packed(&mut self, id: FileId, path: &Path) {
        self.teller.leave_bodies(false);
        let teller = &mut self.teller;
        let mut buffer = LineBuffer::new(id);
        let end = self.files.fence_of(path).open(path).and_then(|file| {
            let mut text = match packing_of(&file)? {
                Some(packing) => packed::open(file, packing)?,
                None => Box::new(file),
            };
            while let Some(bytes) = read_some(&mut *text, &mut self.room)? {
                buffer.feed(bytes, |line| tell_line(line, Kind::CompanionLines, path, teller));
            }
            Ok(())
        });
        buffer.unfinished().into_iter().for_each(|line| tell_line(line, Kind::CompanionLines, path, teller));
        if let Err(error) = end {
            teller.notice(id, &format!("{} cannot be read: {error}", path.display()));
        }
    }

    fn read_small(&mut self, index: usize, content: Option<Vec<u8>>, now: Instant) {
        let are_many = self.smalls.len() > MANY_SMALLS;
        let Some(small) = self.smalls.get_mut(index) else { return };
        let read = match content {
            Some(bytes) => Ok(bytes),
            None if !self.bodies.is_live() => small.file.read().map_err(|error| error.to_string()),
            None => match small.file.poll(now, Small::is_whole(small.kind())) {
                Look::Content(bytes) | Look::Broken(bytes) => Ok(bytes),
                Look::Unreadable(why) => Err(why),
                Look::Quiet | Look::Gone | Look::Back => return,
            },
        };
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(why) => {
                let what = format!("{} cannot be read: {why}", small.file.path().display());
                return self.teller.notice(small.id(), &what);
            }
        };
        self.small_sum += bytes.len() as u64;
        let is_large = self.small_sum > SMALL_SUM || are_many;
        let away = self.bodies == Bodies::Away || (self.bodies == Bodies::Recent && is_large);
        self.teller.leave_bodies(away);
        small.tell(&mut self.teller, &bytes);
    }
}

/// The next bytes; `None` at the end.
fn read_some<'b>(text: &mut dyn Read, chunk: &'b mut [u8]) -> io::Result<Option<&'b [u8]>> {
    let read = loop {
        match text.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    Ok(chunk.get(..read).filter(|bytes| !bytes.is_empty()))
}
