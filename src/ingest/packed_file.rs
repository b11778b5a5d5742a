//! A compressed file: read from beginning to end, with its bodies in memory, within a memory limit.
//! Nothing in it can be read again by position; an unlinked file holds its text for showing records
//! as written.
//!
//! The archive of an evaluation is read again as a whole when it is rewritten; other files are read
//! once.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crossbeam_channel::Receiver;

use super::bodies::Bodies;
use super::emitter::Emitter;
use super::files::{FileKind, FileTable, TextCopy};
use super::line_file::emit_line;
use super::plan::Plan;
use super::whole::{emit_whole, kind_of};
use crate::model::edit::{Feed, LinkState};
use crate::model::record::{FileId, Shape};
use crate::model::text::Text;
use crate::source::budget;
use crate::source::follow::{is_absence, why_unread};
use crate::source::fs::{self, File, Metadata};
use crate::source::lines::LineBuffer;
use crate::source::packed::{self, Packing};
use crate::source::rewritten::{PATIENCE, RETRY};
use crate::source::stream::{StreamPiece, start};
use crate::source::{regular, zip};

/// A compressed file that is read.
pub(crate) struct PackedFile {
    path: PathBuf,
    packing: Packing,
    kind: FileKind,
    copy: TextCopy,
    /// The handle that the text is read from, for its position.
    source: Option<File>,
    text: Option<Receiver<StreamPiece>>,
    buffer: LineBuffer,
    /// A document, until it is complete.
    document: Vec<u8>,
    has_been_read: bool,
    /// Metadata of the file that was read last.
    read: Metadata,
    /// An incomplete version, and since when.
    broken: Option<(Metadata, Instant)>,
    /// The state that was reported.
    link: LinkState,
}

impl PackedFile {
    /// Opens a file at its beginning.
    pub(crate) fn open(
        plan: &Plan,
        (packing, shape): (Packing, Shape),
        files: &FileTable,
    ) -> io::Result<Self> {
        let kind = if shape.is_rewritten() {
            kind_of(shape)
        } else {
            FileKind::Lines
        };
        files.number(&plan.path, kind);
        let mut file = Self {
            path: plan.path.clone(),
            packing,
            kind,
            copy: TextCopy::of(files, plan.is_paged),
            source: None,
            text: None,
            buffer: LineBuffer::new(FileId(0)),
            document: Vec::new(),
            has_been_read: false,
            read: fs::metadata(&plan.path)?,
            broken: None,
            link: LinkState::Live,
        };
        file.begin();
        Ok(file)
    }

    /// Restarts at the beginning.
    pub(crate) fn begin(&mut self) {
        let source = regular::open(&self.path);
        self.source = source.as_ref().ok().and_then(|file| file.try_clone().ok());
        let packing = self.packing;
        self.text = Some(start(move || packed::open(source?, packing), || ()));
        let longest = usize::try_from(budget::LONGEST).unwrap_or(usize::MAX);
        self.buffer = LineBuffer::new(FileId(0)).with_limit(longest);
        self.copy.begin();
        if !self.has_been_read {
            self.copy.show();
        }
    }

    /// Compressed bytes read, and all.
    pub(crate) fn progress(&self) -> (u64, u64) {
        let done = self.source.as_ref().and_then(|file| file.position().ok());
        (done.unwrap_or(0), self.read.len)
    }

    /// Whether there is more to read.
    pub(crate) fn has_more(&self) -> bool {
        self.text.is_some()
    }

    /// Whether it is read, and will not be rewritten.
    pub(crate) fn is_over(&self) -> bool {
        self.packing != Packing::Zip && self.text.is_none()
    }

    /// When to poll without an event.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.broken.and_then(|_| Instant::now().checked_add(RETRY))
    }

    /// Reads a step further. Returns whether there was something to read.
    pub(crate) fn step(&mut self, emitter: &mut Emitter<'_>) -> bool {
        let Some(text) = &self.text else { return false };
        emitter.set_stubs_only(false);
        let end = match text.recv() {
            Ok(StreamPiece::Bytes(bytes)) => {
                self.feed(&bytes, emitter);
                self.excess(emitter).map(Some)
            }
            Ok(StreamPiece::End(why)) => Some(why),
            Err(_) => Some(None),
        };
        if let Some(why) = end {
            self.end(why, emitter);
        }
        true
    }

    fn feed(&mut self, bytes: &[u8], emitter: &mut Emitter<'_>) {
        self.copy.add(bytes);
        if self.kind == FileKind::Lines {
            self.buffer.feed(bytes, |line| {
                emit_line(line, FileKind::Lines, Path::new("-"), emitter);
            });
        } else {
            self.document.extend_from_slice(bytes);
        }
    }

    /// Why reading stops because of the memory limit; `None` while memory remains.
    fn excess(&self, emitter: &Emitter<'_>) -> Option<io::Error> {
        let is_long = self.document.len() as u64 > budget::DOCUMENT;
        (is_long || emitter.is_full()).then(|| budget::exceeded(self.packing.name()))
    }

    fn end(&mut self, why: Option<io::Error>, emitter: &mut Emitter<'_>) {
        (self.source, self.text, self.has_been_read) = (None, None, true);
        self.copy.show();
        if self.kind == FileKind::Lines {
            let unfinished = self.buffer.unfinished().into_iter();
            unfinished.for_each(|line| emit_line(line, FileKind::Lines, Path::new("-"), emitter));
        } else {
            let all = std::mem::take(&mut self.document);
            emitter.deduct(all.len() as u64);
            emit_whole(emitter, self.kind, FileId(0), &all, Bodies::InMemory);
        }
        let Some(why) = why.or_else(|| self.excess(emitter)) else {
            return;
        };
        emitter.notice(FileId(0), &why.to_string());
        // An incomplete archive has no more to read; this one would have.
        if why.kind() == ErrorKind::FileTooLarge {
            emitter.send(Feed::Fault(Text::clean(&why.to_string())));
        }
    }

    /// Polls the file. Returns its state, if that changed, and whether it is to be read again.
    pub(crate) fn poll(&mut self) -> (Option<LinkState>, bool) {
        let (link, is_other) = match fs::metadata(&self.path) {
            Ok(stamp) => (LinkState::Live, self.has_new_version(stamp)),
            Err(error) if is_absence(&error) => (LinkState::Deleted, false),
            Err(error) => (
                LinkState::Unreadable(Text::clean(&why_unread(&error))),
                false,
            ),
        };
        let is_news = std::mem::replace(&mut self.link, link.clone()) != link;
        (is_news.then_some(link), is_other)
    }

    /// Whether it is another version than was read, and is complete or unlikely to become so.
    fn has_new_version(&mut self, stamp: Metadata) -> bool {
        if self.packing != Packing::Zip || self.read == stamp {
            return false;
        }
        let known = self.broken.filter(|(broken, _)| *broken == stamp);
        let (_, since) = *self.broken.insert(known.unwrap_or((stamp, Instant::now())));
        let is_whole = regular::open(&self.path).map_or(true, |file| zip::is_whole(&file));
        let is_other = is_whole || since.elapsed() >= PATIENCE;
        if is_other {
            (self.read, self.broken) = (stamp, None);
        }
        is_other
    }
}
