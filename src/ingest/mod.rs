//! An open session: a source and a decoder, whose records become a feed on a bounded channel.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use crossbeam_channel::Sender;

use crate::model::edit::{Feed, Opened};
use crate::model::entry::Held;
use crate::model::record::Origin;

/// What to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// A file, a folder, or `-` for standard input.
    pub path: PathBuf,
    /// The session within a folder or database (`path#session`).
    pub session: Option<String>,
}

impl Target {
    /// Reads `path` or `path#session`; an existing path that contains `#` is taken as a path.
    pub fn parse(argument: &str) -> Self {
        Self { path: PathBuf::from(argument), session: None }
    }
}

/// Why something cannot be opened: one sentence that says what was found and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError(pub String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}

/// How changes of files are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchMode {
    /// Events of the operating system, and a poll as a safety net.
    #[default]
    Native,
    /// The poll alone.
    Poll,
}

/// A session that can be read, followed and paged.
pub struct Session {
    /// What was found.
    pub opened: Opened,
}

/// Ids of the sessions in a folder, newest first; one empty id for a plain file.
pub fn sessions(target: &Target) -> Result<Vec<String>, OpenError> {
    let _ = target;
    Ok(Vec::new())
}

/// Opens a session: finds out its format and shape, reads nothing else.
pub fn open(target: &Target) -> Result<Session, OpenError> {
    Err(OpenError(format!("{}: not yet", target.path.display())))
}

impl Session {
    /// Reads all that is there now, companions included, and ends with [`Feed::CaughtUp`].
    pub fn read_whole(self, stubs_only: bool, sink: &mut dyn FnMut(Feed)) {
        let _ = (stubs_only, sink);
    }

    /// A reader of bodies that are away.
    pub fn pager(&self) -> Pager {
        Pager {}
    }

    /// Reads and follows on a thread of its own until `stop` is set or the receiver is gone.
    /// `wake` is called after each message.
    pub fn follow(
        self,
        feed: Sender<Feed>,
        mode: WatchMode,
        stop: Arc<AtomicBool>,
        wake: Box<dyn Fn() + Send>,
    ) -> JoinHandle<()> {
        let _ = (feed, mode, stop, wake);
        std::thread::spawn(|| {})
    }
}

/// Reads records again, by their origin. Has file handles of its own; several may work side by side.
pub struct Pager {}

impl Pager {
    /// The contents of all bodies of a record in slot order; nothing if the record is gone.
    pub fn read(&mut self, origin: Origin) -> Vec<Held> {
        let _ = origin;
        Vec::new()
    }

    /// The bytes of a record.
    pub fn bytes(&mut self, origin: Origin) -> Option<Vec<u8>> {
        let _ = origin;
        None
    }
}
