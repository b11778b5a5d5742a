//! The files of a session, and the state of reading them.

use std::path::Path;
use std::sync::Arc;

use crate::analysis::activity::LastWrite;
use crate::model::edit::{LinkState, OpenedSession, Polled};
use crate::model::record::FileId;
use crate::model::text::Text;

/// Limit of file numbers; a larger one does not come from reading.
const MOST_FILES: usize = 1_000_000;

/// State of the session's files.
#[derive(Debug, Default)]
pub struct FileState {
    /// What was found out when the session was opened.
    pub(crate) opened: Option<OpenedSession>,
    /// Command-line argument that opens this session; `None` for a pipe.
    pub address: Option<String>,
    /// The same of the session that this one was opened over.
    pub beside: Option<String>,
    /// When the file last changed.
    pub last_write: Option<LastWrite>,
    /// State of the followed file.
    pub(crate) link: LinkState,
    /// Why the files are polled frequently, if they are.
    pub(crate) polled: Option<Polled>,
    /// Bytes read and bytes of the file, while the whole is being read.
    pub(crate) progress: Option<(u64, u64)>,
    /// Whether everything that existed at the start is shown.
    pub is_caught_up: bool,
    /// Why the reading thread stopped.
    pub(crate) fault: Option<Text>,
    paths: Vec<Arc<Path>>,
}

impl FileState {
    /// What is wrong with the file, in a few words.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.fault.is_some() {
            return Some("reading stopped".to_owned());
        }
        match &self.link {
            LinkState::Live | LinkState::Reread(_) | LinkState::Closed | LinkState::InPart(_) => {
                None
            }
            LinkState::Emptied => Some("file emptied".to_owned()),
            LinkState::Deleted => Some("file gone".to_owned()),
            LinkState::Moved(None) => Some("file moved".to_owned()),
            LinkState::Moved(Some(name)) => Some(format!("moved to {name}")),
            LinkState::Archived(name) => Some(format!("archived as {name}")),
            LinkState::Unreadable(why) => Some(format!("unreadable: {why}")),
        }
    }

    /// Path of the file with a number; `None` if there is none.
    pub(crate) fn path(&self, id: FileId) -> Option<&Arc<Path>> {
        self.paths.get(usize::try_from(id.0).ok()?)
    }

    pub(super) fn name(&mut self, id: FileId, path: Arc<Path>) {
        let number = usize::try_from(id.0).unwrap_or(usize::MAX);
        if number >= MOST_FILES {
            return;
        }
        if self.paths.len() <= number {
            self.paths.resize(number + 1, Arc::from(Path::new("")));
        }
        if let Some(place) = self.paths.get_mut(number) {
            *place = path;
        }
    }
}
