//! The files of a session by number, shared by those who read and those who page.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::emitter::Emitter;
use crate::formats::decoder::{Format, Place};
use crate::formats::generic::Generic;
use crate::formats::tables::Queries;
use crate::model::edit::Feed;
use crate::model::record::FileId;
use crate::source::pattern::from_root;
use crate::source::regular::Fence;

/// What the records of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Lines of the opened file.
    Lines,
    /// Lines of a file beside it.
    CompanionLines,
    /// The parts of a document.
    Document,
    /// Values over several lines each.
    Values,
    /// Parts of a text that is no JSON.
    Passages,
    /// The whole file is one record.
    Small,
    /// Rows of a session in the table with this number.
    Row {
        session: usize,
        table: usize,
        name: &'static str,
    },
    /// Rows of a session that are what lines of a file would be, in the table with this number.
    RowLine {
        session: usize,
        table: usize,
        is_lane: bool,
    },
    /// Lines of a session that its database keeps in one value.
    Archive { session: usize, is_lane: bool },
    /// The whole file is the text of one body.
    Text,
}

impl Kind {
    /// The place of a record. Number 0 is a document's header.
    pub(crate) fn place(self, path: &Path, number: u32) -> Place<'_> {
        match self {
            Self::CompanionLines => Place::CompanionLine(path),
            Self::Document if number == 0 => Place::Header,
            Self::Document => Place::Element,
            Self::Small => Place::File(path),
            Self::Row { name, .. } => Place::Row(name),
            Self::RowLine { is_lane: true, .. } | Self::Archive { is_lane: true, .. } => {
                Place::CompanionLine(path)
            }
            Self::Passages => Place::Passage,
            Self::Text => Place::Text(path),
            Self::Lines | Self::Values | Self::RowLine { .. } | Self::Archive { .. } => Place::Line,
        }
    }
}

/// The table of files. A file keeps its number as long as the session is open.
#[derive(Clone, Default)]
pub(crate) struct Files(Arc<RwLock<Table>>);

#[derive(Default)]
struct Table {
    format: Option<&'static dyn Format>,
    fence: Fence,
    files: Vec<(Arc<Path>, Kind)>,
    numbers: HashMap<Arc<Path>, FileId>,
    /// What came through a pipe, to be read again; it has no name, and goes with the last who reads it.
    copy: Option<Arc<File>>,
    /// Sessions of a database by number.
    sessions: Vec<String>,
    /// How the rows of a database are read, and the state of its tables for which that holds.
    queries: Option<(Arc<Queries>, i64)>,
}

impl Files {
    fn table(&self) -> RwLockReadGuard<'_, Table> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, Table> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a file, and whether it is new.
    pub(crate) fn number(&self, path: &Path, kind: Kind) -> (FileId, bool) {
        self.number_of(path, || Arc::from(path), kind)
    }

    /// The number of a file, of which whoever reads the session is told if it is new.
    pub(crate) fn announce(
        &self,
        path: Arc<Path>,
        kind: Kind,
        emitter: &mut Emitter<'_>,
    ) -> FileId {
        let (id, is_new) = self.number_of(&path, || Arc::clone(&path), kind);
        if is_new {
            emitter.send(Feed::File { id, path });
        }
        id
    }

    fn number_of(
        &self,
        path: &Path,
        share: impl FnOnce() -> Arc<Path>,
        kind: Kind,
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

    /// Who wrote the files; the one at this path was opened. May become clearer while they are read.
    pub(crate) fn set_format(&self, format: &'static dyn Format, path: &Path) {
        let (home, path) = (format.home(&from_root(path)), path.to_owned());
        let fence = Fence::around(move || {
            let real = path
                .canonicalize()
                .ok()
                .and_then(|path| path.parent().map(Path::to_owned));
            std::iter::once(home).chain(real).collect()
        });
        let mut table = self.change();
        (table.format, table.fence) = (Some(format), fence);
    }

    /// Where a file must lie: the one that was named wherever its reader says, others in the agent's folders.
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

    /// Who wrote the files.
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

    /// The session of a database with a number.
    pub(crate) fn session_id(&self, number: usize) -> Option<String> {
        let table = self.table();
        table.sessions.get(number).cloned()
    }

    /// How the rows of a database are read while its tables are in this state.
    pub(crate) fn set_queries(&self, queries: Arc<Queries>, schema: i64) {
        self.change().queries = Some((queries, schema));
    }

    /// How the rows of a database are read, and the state of its tables for which that holds.
    pub(crate) fn queries(&self) -> Option<(Arc<Queries>, i64)> {
        self.table().queries.clone()
    }

    /// The file with a number.
    pub(crate) fn get(&self, id: FileId) -> Option<(PathBuf, Kind)> {
        let table = self.table();
        table
            .files
            .get(usize::try_from(id.0).ok()?)
            .map(|(path, kind)| (path.to_path_buf(), *kind))
    }
}

/// The text of what cannot be read again, in a file without a name, for who asks for a record as it was written.
pub(crate) struct TextCopy {
    files: Files,
    is_wanted: bool,
    file: Option<Arc<File>>,
}

impl TextCopy {
    /// For these files, if somebody may ask.
    pub(crate) fn of(files: &Files, is_wanted: bool) -> Self {
        Self {
            files: files.clone(),
            is_wanted,
            file: None,
        }
    }

    /// Begins with nothing. Until it is shown, records come from the copy before.
    pub(crate) fn begin(&mut self) {
        self.file = self
            .is_wanted
            .then(|| tempfile::tempfile().ok())
            .flatten()
            .map(Arc::new);
    }

    /// Records come from it.
    pub(crate) fn show(&self) {
        self.files.change().copy.clone_from(&self.file);
    }

    /// Adds what came.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // Half a copy would give other bytes for some records; without any they are said to be gone.
        if self
            .file
            .as_deref()
            .is_some_and(|mut file| file.write_all(bytes).is_err())
        {
            self.file = None;
            self.show();
        }
    }
}
