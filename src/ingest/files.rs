//! The files of a session by number, shared by those who read and those who page.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use crate::formats::decoder::{Format, Place};
use crate::formats::generic::Generic;
use crate::model::record::FileId;

/// What the records of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Lines of the opened file.
    Lines,
    /// Lines of a file beside it.
    CompanionLines,
    /// The parts of a document.
    Document,
    /// The whole file is one record.
    Small,
    /// The whole file is the text of one body.
    Text,
}

impl Kind {
    /// The place of a record. Number 0 is a document's header.
    pub fn place(self, path: &Path, number: u32) -> Place<'_> {
        match self {
            Self::Lines => Place::Line,
            Self::CompanionLines => Place::CompanionLine(path),
            Self::Document if number == 0 => Place::Header,
            Self::Document => Place::Element,
            Self::Small => Place::File(path),
            Self::Text => Place::Text(path),
        }
    }
}

/// The table of files. A file keeps its number as long as the session is open.
#[derive(Clone, Default)]
pub struct Files(Arc<RwLock<Table>>);

#[derive(Default)]
struct Table {
    format: Option<&'static dyn Format>,
    files: Vec<(PathBuf, Kind)>,
    numbers: HashMap<PathBuf, FileId>,
}

impl Files {
    /// The number of a file, and whether it is new.
    pub fn number(&self, path: &Path, kind: Kind) -> (FileId, bool) {
        let mut table = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = table.numbers.get(path).copied() {
            if let Some(known) = usize::try_from(id.0).ok().and_then(|place| table.files.get_mut(place)) {
                known.1 = kind;
            }
            return (id, false);
        }
        let id = FileId(u32::try_from(table.files.len()).unwrap_or(u32::MAX));
        table.files.push((path.to_owned(), kind));
        table.numbers.insert(path.to_owned(), id);
        (id, true)
    }

    /// Who wrote the files. May become clearer while they are read.
    pub fn set_format(&self, format: &'static dyn Format) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).format = Some(format);
    }

    /// Who wrote the files.
    pub fn format(&self) -> &'static dyn Format {
        self.0.read().unwrap_or_else(PoisonError::into_inner).format.unwrap_or(&Generic)
    }

    /// The file with a number.
    pub fn get(&self, id: FileId) -> Option<(PathBuf, Kind)> {
        let table = self.0.read().unwrap_or_else(PoisonError::into_inner);
        table.files.get(usize::try_from(id.0).ok()?).cloned()
    }
}
