//! Reads bodies that are on disk again, by their origin.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memchr;

use super::emitter::{body_of_fault, mask_edits};
use super::files::{FileKind, FileTable};
use super::joined::of_file;
use super::rows::unpacked;
use crate::formats::decoder::{RecordPlace, feed, masked};
use crate::formats::details::Detailing;
use crate::formats::json;
use crate::model::body::{Body, Held, Tree};
use crate::model::edit::{Batch, Edit, saturating_u32};
use crate::model::entry::details::Details;
use crate::model::record::{FileId, Origin, Record};
use crate::model::text::{Text, prefix};
use crate::model::timestamp::Timestamp;
use crate::source::document::{split, split_values};
use crate::source::fs::{self, File, Metadata};
use crate::source::lines::held_of;
use crate::source::packed::packing_of;
use crate::source::read::read_range;
use crate::source::regular::LARGEST;
use crate::source::rows::{Database, SqlValue};

/// Reads records of a session, or of joined sessions, again by their origin. It has file handles of
/// its own, so several pagers can work in parallel.
pub struct Pager(Vec<SessionPager>);

/// Reads records of one of the sessions.
#[derive(Default)]
struct SessionPager {
    files: FileTable,
    /// The file that was read last, which usually holds the next record too.
    open: Option<(PathBuf, Arc<File>, Metadata)>,
    database: Option<Database>,
    /// The decompressed archive that was read last, by session.
    archive: Option<(usize, Vec<u8>)>,
    /// What was read last: several questions may be about one record.
    window: Option<FileWindow>,
}

/// A record that is read again by its origin.
struct RereadRecord<'b> {
    record: Record<'b>,
    path: &'b Path,
    kind: FileKind,
}

impl RereadRecord<'_> {
    fn place(&self) -> RecordPlace<'_> {
        self.kind.place(self.path, self.record.origin.line)
    }

    /// Whether it spans several lines, each with a piece of a body.
    fn is_multi_line(&self) -> bool {
        self.kind.is_lines() && memchr(b'\n', self.record.bytes).is_some()
    }
}

/// Bytes that are read at once when records are read in sequence.
const WINDOW: usize = 256 << 10;

/// Limit in bytes; a larger record is shown as the beginning of its text.
const LARGEST_TREE: usize = 4 << 20;

/// A part of a line file, or one record of another source.
struct FileWindow {
    of: Origin,
    bytes: Vec<u8>,
}

impl FileWindow {
    fn record(&self, origin: Origin, kind: FileKind) -> Option<&[u8]> {
        if !kind.is_lines() {
            return (self.of == origin).then_some(&self.bytes);
        }
        let start = usize::try_from(origin.at.checked_sub(self.of.at)?).ok()?;
        let end = start.checked_add(held_of(origin.len))?;
        self.bytes
            .get(start..end)
            .filter(|_| self.of.file == origin.file)
    }
}

impl Pager {
    pub(super) fn new(sessions: impl Iterator<Item = FileTable>) -> Self {
        let session = |files| SessionPager {
            files,
            ..SessionPager::default()
        };
        Self(sessions.map(session).collect())
    }

    /// The session that a record belongs to, and its origin there.
    fn session(&mut self, origin: Origin) -> Option<(&mut SessionPager, Origin)> {
        let (session, file) = of_file(origin.file, self.0.len())?;
        Some((self.0.get_mut(session)?, Origin { file, ..origin }))
    }

    /// Calls a function with a record; `None` if it is gone.
    fn with<T>(
        &mut self,
        origin: Origin,
        act: impl FnOnce(&mut SessionPager, &RereadRecord<'_>) -> Option<T>,
    ) -> Option<T> {
        let (session, origin) = self.session(origin)?;
        let (path, kind) = session.files.get(origin.file)?;
        let bytes = session.bytes_of(origin, &path, kind)?;
        act(
            session,
            &RereadRecord {
                record: Record {
                    origin,
                    bytes: &bytes,
                },
                path: &path,
                kind,
            },
        )
    }

    /// Contents of all bodies of a record in slot order; empty if the record is gone.
    pub fn read(&mut self, origin: Origin) -> Vec<Held> {
        self.with(origin, |session, reread| Some(session.decode(reread)))
            .unwrap_or_default()
    }

    /// A record as a tree, or its beginning if it is very large; `None` if it is gone.
    pub fn tree(&mut self, origin: Origin) -> Option<Tree> {
        let bytes = self.bytes(origin)?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end();
        if text.len() > LARGEST_TREE {
            return Some(Tree::Text(Text::clean(prefix(text, LARGEST_TREE))));
        }
        Some(
            json::parse(text)
                .map_or_else(|_| Tree::Text(Text::clean(text)), |value| value.to_tree()),
        )
    }

    /// Fields of a record that no entry shows, or the whole record; empty if it is gone.
    pub fn details(&mut self, origin: Origin, is_whole: bool) -> Details {
        if is_whole {
            return Details {
                record: self.tree(origin).map(|tree| (origin, tree)),
                ..Details::default()
            };
        }
        let found = self.with(origin, |session, reread| {
            if session.is_fault(reread) {
                return None;
            }
            let mut decoder = Detailing::new(session.files.format().decoder(None));
            feed(
                &mut decoder,
                reread.record,
                reread.place(),
                &mut Batch::default(),
            );
            Some(decoder.found)
        });
        found.unwrap_or_default()
    }

    /// Timestamp that a record itself has; `None` if it has none, or is gone.
    pub(crate) fn time(&mut self, origin: Origin) -> Option<Timestamp> {
        self.with(origin, |session, reread| {
            session
                .batch(reread)
                .edits
                .iter()
                .find_map(|edit| match edit {
                    Edit::Entry(entry) => entry.at,
                    Edit::Result { result, .. } => result.at,
                    _ => None,
                })
        })
    }

    /// Like [`Pager::read`], for records in sequence: a line file is read in large pieces, and a record
    /// whose bytes `is_worth` rejects is not decoded.
    pub fn read_next(&mut self, origin: Origin, is_worth: &dyn Fn(&[u8]) -> bool) -> Vec<Held> {
        self.session(origin)
            .and_then(|(session, origin)| session.read_next(origin, is_worth))
            .unwrap_or_default()
    }

    /// Frees the pieces that [`Pager::read_next`] has read ahead.
    pub fn free_window(&mut self) {
        self.0.iter_mut().for_each(|session| session.window = None);
    }

    /// The bytes of a record.
    pub fn bytes(&mut self, origin: Origin) -> Option<Vec<u8>> {
        self.with(origin, |_, reread| {
            let bytes = reread.record.bytes;
            Some(masked(bytes, reread.place()).unwrap_or_else(|| bytes.to_vec()))
        })
    }
}

impl SessionPager {
    fn decode(&mut self, reread: &RereadRecord<'_>) -> Vec<Held> {
        let record = reread.record;
        if self.is_fault(reread) {
            let masked = masked(record.bytes, RecordPlace::Passage);
            let bytes = masked.as_deref().unwrap_or(record.bytes);
            return vec![body_of_fault(bytes, &mut Batch::default()).held];
        }
        // A record over several lines has the bodies that come from all of them.
        let is_several = reread.is_multi_line();
        contents(&self.batch(reread), |body| {
            !is_several || body.from == record.origin
        })
    }

    fn read_next(&mut self, origin: Origin, is_worth: &dyn Fn(&[u8]) -> bool) -> Option<Vec<Held>> {
        let (path, kind) = self.files.get(origin.file)?;
        let decode = |session: &mut Self, bytes: &[u8]| {
            let record = Record { origin, bytes };
            let reread = RereadRecord {
                record,
                path: &path,
                kind,
            };
            // A match may be split between lines.
            (is_worth(bytes) || reread.is_multi_line()).then(|| session.decode(&reread))
        };
        let known = self.window.take();
        let known = known.filter(|window| window.record(origin, kind).is_some());
        let window = known.or_else(|| self.window_at(origin, &path, kind))?;
        let held = window
            .record(origin, kind)
            .and_then(|bytes| decode(self, bytes));
        self.window = Some(window);
        held
    }

    /// Decodes a record by itself.
    fn batch(&self, reread: &RereadRecord<'_>) -> Batch {
        let mut batch = Batch::default();
        let mut decoder = self.files.format().decoder(None);
        if reread.is_multi_line() {
            for line in lines_of(reread.record) {
                feed(
                    &mut *decoder,
                    line,
                    reread.kind.place(reread.path, line.origin.line),
                    &mut batch,
                );
            }
        } else {
            feed(&mut *decoder, reread.record, reread.place(), &mut batch);
        }
        decoder.finish(&mut batch);
        mask_edits(&mut batch);
        batch
    }

    /// Whether a record was sent as a fault although it could be decoded by itself: a line above
    /// the size limit, or the incomplete end of a document.
    fn is_fault(&mut self, reread: &RereadRecord<'_>) -> bool {
        let origin = reread.record.origin;
        match reread.kind {
            kind if kind.is_lines() => held_of(origin.len) as u64 != u64::from(origin.len),
            FileKind::Document if origin.line == 0 => false,
            kind @ (FileKind::Document | FileKind::Values) => {
                self.is_cut(origin, reread.path, kind).unwrap_or(false)
            }
            _ => false,
        }
    }

    fn is_cut(&mut self, origin: Origin, path: &Path, kind: FileKind) -> Option<bool> {
        let file = self.file(path).ok()?;
        if file.metadata().ok()?.len != origin.at + u64::from(origin.len) {
            return Some(false);
        }
        let all = read_all(&file)?;
        let split = if kind == FileKind::Values {
            split_values(&all)
        } else {
            split(&all)
        };
        Some(split?.cut.is_some_and(|cut| cut.start as u64 == origin.at))
    }

    fn window_at(&mut self, of: Origin, path: &Path, kind: FileKind) -> Option<FileWindow> {
        let bytes = if kind.is_lines() {
            let len = held_of(of.len).max(WINDOW);
            read_range(&*self.file(path).ok()?, of.at, len).ok()?
        } else {
            self.bytes_of(of, path, kind)?
        };
        Some(FileWindow { of, bytes })
    }

    fn bytes_of(&mut self, origin: Origin, path: &Path, kind: FileKind) -> Option<Vec<u8>> {
        match kind {
            FileKind::Row { session, table, .. } | FileKind::RowLine { session, table, .. } => {
                return self.row(session, table, origin.at);
            }
            FileKind::Archive { session, .. } => return self.archived(session, origin),
            FileKind::Lines
            | FileKind::CompanionLines
            | FileKind::Values
            | FileKind::Document
            | FileKind::Passages
            | FileKind::Small
            | FileKind::Text => {}
        }
        let file = self.file(path).ok()?;
        if kind == FileKind::Document && origin.line == 0 {
            // The header is the document without its messages; if that is broken, it may hold
            // several values, each a record.
            let split = split(&read_all(&file)?)?;
            let start = usize::try_from(origin.at)
                .ok()?
                .checked_sub(split.root.start)?;
            let end = start.checked_add(usize::try_from(origin.len).ok()?)?;
            return Some(split.header?.get(start..end)?.to_vec());
        }
        let len = if kind.is_lines() {
            held_of(origin.len)
        } else {
            usize::try_from(origin.len).ok()?
        };
        let bytes = read_range(&file, origin.at, len).ok()?;
        (bytes.len() == len).then_some(bytes)
    }

    fn row(&mut self, session: usize, table: usize, at: u64) -> Option<Vec<u8>> {
        let (queries, _) = self.files.queries()?;
        let one = &queries.tables.get(table)?.one;
        let id = self.files.session_id(session)?;
        let cell = self
            .database()?
            .value(
                one,
                &[SqlValue::from(id.as_str()), SqlValue::Int(at.cast_signed())],
            )
            .ok()??;
        Some(unpacked(&cell.content()).ok()?.into_owned())
    }

    fn archived(&mut self, session: usize, origin: Origin) -> Option<Vec<u8>> {
        if self.archive.as_ref().is_none_or(|(of, _)| *of != session) {
            let (queries, _) = self.files.queries()?;
            let id = self.files.session_id(session)?;
            let cell = self
                .database()?
                .value(queries.archive.as_ref()?, &[SqlValue::from(id.as_str())])
                .ok()??;
            self.archive = Some((session, unpacked(&cell.content()).ok()?.into_owned()));
        }
        let (_, text) = self.archive.as_ref()?;
        let start = usize::try_from(origin.at).ok()?;
        Some(
            text.get(start..start.checked_add(usize::try_from(origin.len).ok()?)?)?
                .to_vec(),
        )
    }

    /// The database, unless its rows have moved since they were numbered.
    fn database(&mut self) -> Option<&Database> {
        let (path, _) = self.files.get(FileId(0))?;
        let (_, schema) = self.files.queries()?;
        if !self.database.as_ref().is_some_and(Database::is_current) {
            self.archive = None;
            self.database = Some(Database::open(&path).ok()?);
        }
        let database = self.database.as_ref()?;
        (database.schema().ok()? == schema).then_some(database)
    }

    fn file(&mut self, path: &Path) -> io::Result<Arc<File>> {
        let first = self.files.get(FileId(0));
        let is_first = first.is_some_and(|(first, _)| first == path);
        if let Some(copy) = self.files.copy().filter(|_| is_first) {
            return Ok(copy);
        }
        let now = fs::metadata(path)?;
        if let Some((known, file, was)) = &self.open
            && known == path
            && was.is_same_file(&now)
        {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(self.files.fence_of(path).open(path)?);
        // Origins in a compressed file are offsets in its decompressed text.
        if packing_of(&file)?.is_some() {
            return Err(io::Error::from(io::ErrorKind::Unsupported));
        }
        self.open = Some((path.to_owned(), Arc::clone(&file), file.metadata()?));
        Ok(file)
    }
}

fn read_all(file: &File) -> Option<Vec<u8>> {
    read_range(file, 0, usize::try_from(LARGEST).unwrap_or(usize::MAX)).ok()
}

fn lines_of(record: Record<'_>) -> impl Iterator<Item = Record<'_>> {
    let Record { mut origin, bytes } = record;
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(move |line| {
            let here = Origin {
                len: saturating_u32(line.trim_ascii_end().len()),
                ..origin
            };
            origin.at += line.len() as u64;
            origin.line += 1;
            Record {
                origin: here,
                bytes: line.trim_ascii_end(),
            }
        })
}

/// Contents of the bodies that a record brought and `is_meant` accepts, by slot; [`Held::Stub`]
/// where the stub is the content.
pub fn contents(batch: &Batch, is_meant: impl Fn(&Body) -> bool) -> Vec<Held> {
    let mut held = Vec::new();
    let mut put = |body: &Body| {
        if !is_meant(body) {
            return;
        }
        let slot = usize::from(body.slot);
        if held.len() <= slot {
            held.resize(slot + 1, Held::Stub);
        }
        // A text that no record holds is its own stub, and has no slot.
        if let Some(place) = held.get_mut(slot).filter(|_| body.held != Held::Stub) {
            *place = body.held.clone();
        }
    };
    for edit in &batch.edits {
        match edit {
            Edit::Entry(entry) => {
                entry
                    .blocks
                    .iter()
                    .flat_map(|block| block.kind.bodies())
                    .for_each(&mut put);
            }
            Edit::Result { result, .. } => {
                put(&result.body);
                result.patch.iter().for_each(&mut put);
            }
            Edit::State { state, .. } => state.live_output().into_iter().for_each(&mut put),
            Edit::Update { .. }
            | Edit::Usage { .. }
            | Edit::Link { .. }
            | Edit::Meta(_)
            | Edit::Retire(_)
            | Edit::RetirePiece { .. }
            | Edit::Copied { .. }
            | Edit::CopiedWith(_)
            | Edit::Complete { .. } => {}
        }
    }
    held
}
