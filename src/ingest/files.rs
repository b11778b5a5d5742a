//! The files of a session by number, shared by readers and pagers.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::emitter::Emitter;
use crate::formats::decoder::{Format, RecordPlace};
use crate::formats::generic::Generic;
use crate::formats::tables::Queries;
use crate::model::edit::Feed;
use crate::model::record::FileId;
use crate::source::fs::{self, File};
use crate::source::pattern::from_root;
use crate::source::regular::Fence;

/// Kind of the records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Lines of the opened file.
    Lines,
    CompanionLines,
    /// The parts of a document.
    Document,
    /// JSON values over several lines each.
    Values,
    /// Passages of a plain text.
    Passages,
    /// The whole file is one record.
    Small,
    /// Rows of a session, in the table with this number.
    Row {
        session: usize,
        table: usize,
        name: &'static str,
    },
    /// Rows of a session that are equivalent to lines of a file, in the table with this number.
    RowLine {
        session: usize,
        table: usize,
        is_lane: bool,
    },
    /// Lines of a session that its database stores in one value.
    Archive {
        session: usize,
        is_lane: bool,
    },
    /// The whole file is the text of one body.
    Text,
}

impl FileKind {
    /// Whether each line of the file is a record.
    pub(crate) fn is_lines(self) -> bool {
        matches!(self, Self::Lines | Self::CompanionLines)
    }

    /// The place of a record for its decoder. Number 0 is a document's header.
    pub(crate) fn place(self, path: &Path, number: u32) -> RecordPlace<'_> {
        match self {
            Self::CompanionLines => RecordPlace::CompanionLine(path),
            Self::Document if number == 0 => RecordPlace::Header,
            Self::Document => RecordPlace::Element,
            Self::Small => RecordPlace::File(path),
            Self::Row { name, .. } => RecordPlace::Row(name),
            Self::RowLine { is_lane: true, .. } | Self::Archive { is_lane: true, .. } => {
                RecordPlace::CompanionLine(path)
            }
            Self::Passages => RecordPlace::Passage,
            Self::Text => RecordPlace::Text(path),
            Self::Lines | Self::Values | Self::RowLine { .. } | Self::Archive { .. } => {
                RecordPlace::Line
            }
        }
    }
}

/// The table of files. Numbers are stable while the session is open.
#[derive(Clone, Default)]
pub(crate) struct FileTable(Arc<RwLock<FileEntries>>);

#[derive(Default)]
struct FileEntries {
    format: Option<&'static dyn Format>,
    fence: Fence,
    files: Vec<(Arc<Path>, FileKind)>,
    numbers: HashMap<Arc<Path>, FileId>,
    /// The copy of a pipe, to be read again; an unlinked file, freed with its last reader.
    copy: Option<Arc<File>>,
    /// Sessions of a database by number.
    sessions: Vec<String>,
    /// How the rows of a database are read, and the schema version that this is for.
    queries: Option<(Arc<Queries>, i64)>,
}

impl FileTable {
    fn table(&self) -> RwLockReadGuard<'_, FileEntries> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, FileEntries> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a file.
    pub(crate) fn number(&self, path: &Path, kind: FileKind) -> FileId {
        self.number_of(path, || Arc::from(path), kind).0
    }

    /// The number of a file; sends an event if it is new.
    pub(crate) fn announce(
        &self,
        path: Arc<Path>,
        kind: FileKind,
        emitter: &mut Emitter<'_>,
    ) -> FileId {
        let (id, is_new) = self.number_of(&path, || Arc::clone(&path), kind);
        if is_new {
            emitter.send(Feed::File { id, path });
        }
        id
    }

    /// The number of a file, and whether it is new.
    fn number_of(
        &self,
        path: &Path,
        share: impl FnOnce() -> Arc<Path>,
        kind: FileKind,
    ) -> (FileId, bool) {
        let mut table = self.change();
        if let Some(id) = table.numbers.get(path).copied() {
            if let Some(known) = usize::try_from(id.0)
                .ok()
                .and_then(|place| table.files.get_mut(place))
            {
                known.1 = kind;
            }
            return (id, false);
        }
        let id = FileId(u32::try_from(table.files.len()).unwrap_or(u32::MAX));
        let path = share();
        table.files.push((Arc::clone(&path), kind));
        table.numbers.insert(path, id);
        (id, true)
    }

    /// Sets the format; the file at this path was opened. The format may become clearer during
    /// reading.
    pub(crate) fn set_format(&self, format: &'static dyn Format, path: &Path) {
        let (home, path) = (format.home(&from_root(path)), path.to_owned());
        let fence = Fence::around(move || {
            let real = fs::canonicalize(&path)
                .ok()
                .and_then(|path| path.parent().map(Path::to_owned));
            std::iter::once(home).chain(real).collect()
        });
        let mut table = self.change();
        (table.format, table.fence) = (Some(format), fence);
    }

    /// Where a file may be: the opened one anywhere, others in the agent's folders.
    pub(crate) fn fence_of(&self, path: &Path) -> Fence {
        let table = self.table();
        let is_named = table
            .files
            .first()
            .is_some_and(|(first, _)| **first == *path);
        if is_named {
            Fence::default()
        } else {
            table.fence.clone()
        }
    }

    /// The copy of a pipe.
    pub(crate) fn copy(&self) -> Option<Arc<File>> {
        self.table().copy.clone()
    }

    pub(crate) fn format(&self) -> &'static dyn Format {
        self.table().format.unwrap_or(&Generic)
    }

    /// The number of a session in a database.
    pub(crate) fn session(&self, id: &str) -> usize {
        let mut table = self.change();
        let known = table.sessions.iter().position(|known| known == id);
        known.unwrap_or_else(|| {
            table.sessions.push(id.to_owned());
            table.sessions.len() - 1
        })
    }

    pub(crate) fn session_id(&self, number: usize) -> Option<String> {
        let table = self.table();
        table.sessions.get(number).cloned()
    }

    /// Sets how the rows of a database are read while its schema version is this.
    pub(crate) fn set_queries(&self, queries: Arc<Queries>, schema: i64) {
        self.change().queries = Some((queries, schema));
    }

    /// How the rows of a database are read, and the schema version that this is for.
    pub(crate) fn queries(&self) -> Option<(Arc<Queries>, i64)> {
        self.table().queries.clone()
    }

    /// Path and kind of the file with a number.
    pub(crate) fn get(&self, id: FileId) -> Option<(PathBuf, FileKind)> {
        let table = self.table();
        table
            .files
            .get(usize::try_from(id.0).ok()?)
            .map(|(path, kind)| (path.to_path_buf(), *kind))
    }
}

/// The text of a source that cannot be read again, in an unlinked file, for showing records as
/// written.
pub(crate) struct TextCopy {
    files: FileTable,
    is_wanted: bool,
    file: Option<std::fs::File>,
}

impl TextCopy {
    /// A copy for these files, if records may be requested.
    pub(crate) fn of(files: &FileTable, is_wanted: bool) -> Self {
        Self {
            files: files.clone(),
            is_wanted,
            file: None,
        }
    }

    /// Starts an empty copy. Records are read from the previous one until [`Self::show`].
    pub(crate) fn begin(&mut self) {
        self.file = self.is_wanted.then(|| tempfile::tempfile().ok()).flatten();
    }

    /// Makes records be read from this copy.
    pub(crate) fn show(&self) {
        let file = self.file.as_ref().and_then(|file| file.try_clone().ok());
        self.files.change().copy = file.map(|file| Arc::new(File::from(file)));
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // An incomplete copy would yield wrong bytes for some records; without a copy they are
        // reported as gone.
        if self
            .file
            .as_ref()
            .is_some_and(|mut file| file.write_all(bytes).is_err())
        {
            self.file = None;
            self.show();
        }
    }
}
