//! Sessions found by a scan, with what is recorded about them without opening them.
//!
//! Invariant: the [`Target`] of a found session identifies it; all other fields change while its agent
//! writes.

use std::ops::Range;
use std::path::PathBuf;

use super::text::Text;
use super::timestamp::Timestamp;

/// What can be opened: a file, folder or database, and the name of the session in it. Of a session
/// that was found it is the identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target {
    /// A file, a folder, or `-` for standard input.
    pub path: PathBuf,
    /// The session within a folder or database (`path#session`); `None` for a file, or for all that
    /// is there.
    pub session: Option<String>,
}

/// A session found by a scan. Fields that are unknown are `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSession {
    /// Path of the file or database.
    pub path: PathBuf,
    /// Name within a database; `None` for a file.
    pub session: Option<String>,
    /// Name of the format.
    pub format: &'static str,
    pub id: Text,
    /// Another name that the agent gives it.
    pub key: Option<Text>,
    /// Name of the agent.
    pub agent: Option<Text>,
    /// The title: set by the user, made by the agent, or the first prompt.
    pub title: Option<Text>,
    pub cwd: Option<Text>,
    /// Folder of the project it counts to: where the session began.
    pub project: Option<Text>,
    /// The model that answered last.
    pub model: Option<Text>,
    /// Timestamp of the first entry.
    pub started: Option<Timestamp>,
    /// Latest timestamp at the end of the file, at most the file's modification time, because
    /// copies are written later. The modification time itself if the end has no timestamp.
    pub modified: Option<Timestamp>,
    /// Length of the file in bytes.
    pub size: Option<u64>,
    /// Whether it is running; `None` if unknown.
    pub live: Option<bool>,
    /// Why the file cannot be read as a session. It gets a row all the same, so that it does not
    /// seem to be missing.
    pub unreadable: Option<Text>,
}

impl Target {
    /// All that is at a path.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            session: None,
        }
    }

    /// Whether it is standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// The argument that opens it on the command line.
    pub fn address(&self) -> String {
        let path = self.path.display();
        match &self.session {
            Some(session) => format!("{path}#{session}"),
            None => path.to_string(),
        }
    }
}

/// A format with the name of the agent in it: `openclaw/main`.
pub(crate) fn agent_name(format: &str, agent: Option<&str>) -> String {
    match agent {
        Some(agent) => format!("{format}/{agent}"),
        None => format.to_owned(),
    }
}

impl FoundSession {
    /// Its format and agent, as lists show them.
    pub(crate) fn agent_name(&self) -> String {
        agent_name(self.format, self.agent.as_deref())
    }

    /// A session of which only the identity is known.
    pub fn new(place: Target, format: &'static str, id: Text) -> Self {
        Self {
            path: place.path,
            session: place.session,
            format,
            id,
            key: None,
            agent: None,
            title: None,
            cwd: None,
            project: None,
            model: None,
            started: None,
            modified: None,
            size: None,
            live: None,
            unreadable: None,
        }
    }

    /// A file, database or folder at an agent's path that cannot be read, with the reason.
    pub(crate) fn unreadable(path: PathBuf, format: &'static str, why: Text) -> Self {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let place = Target::at(path);
        Self {
            unreadable: Some(why),
            ..Self::new(place, format, Text::clean(&name))
        }
    }

    /// Text for the title column if the session cannot be read.
    pub fn fault(&self) -> Option<Text> {
        self.unreadable
            .as_ref()
            .map(|why| Text::clean(&format!("cannot be read: {why}")))
    }

    /// Like [`Self::fault`], with the path, for lists without a row for it.
    pub fn unread_line(&self) -> String {
        let fault = self.fault().unwrap_or_default();
        format!("{}: {fault}", self.place().address())
    }

    /// Like [`Self::unread_line`], with the reason first, for rows that are cut at their end.
    pub(crate) fn unread_row(&self) -> Text {
        let fault = self.fault().unwrap_or_default();
        Text::clean(&format!("{fault}: {}", self.place().address()))
    }

    /// The identity of the session.
    pub fn place(&self) -> Target {
        Target {
            path: self.path.clone(),
            session: self.session.clone(),
        }
    }

    /// Whether it has this identity.
    pub(crate) fn is_at(&self, place: &Target) -> bool {
        self.path == place.path && self.session == place.session
    }
}

/// The first line of a session's text that matches a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextHit {
    pub found: FoundSession,
    /// Key of the entry.
    pub entry: Text,
    /// The line, or the part around the match.
    pub line: Text,
    /// Byte range of the match in `line`.
    pub at: Range<usize>,
}

/// Events of a scan for sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// A session is new or has changed.
    Found(Box<FoundSession>),
    /// A session no longer exists.
    Removed(Target),
    /// Reasons why folders cannot be scanned: the complete list as of now.
    Refused(Vec<Text>),
    /// All existing sessions were sent.
    Complete,
}
