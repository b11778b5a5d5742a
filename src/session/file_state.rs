//! The files of a session, and how reading them fares.

use std::path::Path;
use std::sync::Arc;

use crate::analysis::activity::LastWrite;
use crate::model::edit::{LinkState, Opened, Polled};
use crate::model::record::FileId;
use crate::model::text::Text;

/// A larger number of a file is no number that reading has given.
const MOST_FILES: usize = 1_000_000;

/// What is known of the session's files.
#[derive(Debug, Default)]
pub struct FileState {
    /// What was found when the session was opened.
    pub(crate) opened: Option<Opened>,
    /// What opens this session on the command line, if anything does.
    pub address: Option<String>,
    /// When the file last changed.
    pub last_write: Option<LastWrite>,
    /// Whether the file is followed.
    pub(crate) link: LinkState,
    /// Why the files are looked at a few times a second, if they are.
    pub(crate) polled: Option<Polled>,
    /// Bytes read and bytes in the file, while the whole is being read.
    pub(crate) progress: Option<(u64, u64)>,
    /// Whether everything that was there at the start is shown.
    pub is_caught_up: bool,
    /// Why no more will come, if the reading thread gave up.
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
            LinkState::Gone => Some("file gone".to_owned()),
            LinkState::Moved(None) => Some("file moved".to_owned()),
            LinkState::Moved(Some(name)) => Some(format!("moved to {name}")),
            LinkState::Archived(name) => Some(format!("archived as {name}")),
            LinkState::Unreadable(why) => Some(format!("unreadable: {why}")),
        }
    }

    /// The path of a file by its number; `None` if no such file was named.
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
