//! Sessions that were found, as far as they are known without opening them.
//!
//! Invariant: a [`Place`] names one session; what is known of it changes while its agent writes.

use std::ops::Range;
use std::path::PathBuf;

use super::text::Text;
use super::timestamp::Timestamp;

/// Where a session lies: what names it while everything else about it changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file or database.
    pub path: PathBuf,
    /// Its name within a database.
    pub session: Option<String>,
}

/// A session that was found. What is not known is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file or database that it lies in.
    pub path: PathBuf,
    /// Its name within a database.
    pub session: Option<String>,
    /// The name of its format.
    pub format: &'static str,
    /// Its id.
    pub id: Text,
    /// Another name that its agent gives it.
    pub key: Option<Text>,
    /// The name of the agent in it.
    pub agent: Option<Text>,
    /// Its title: the user's, the agent's, or the first prompt.
    pub title: Option<Text>,
    /// The working directory.
    pub cwd: Option<Text>,
    /// The folder of the project that it counts to: where it began.
    pub project: Option<Text>,
    /// The model that answered last.
    pub model: Option<Text>,
    /// When its first entry was made.
    pub started: Option<Timestamp>,
    /// When the last of what its end tells was, at most when its file was written: a copy is written later. Of one whose
    /// end tells no time, when its file was written.
    pub modified: Option<Timestamp>,
    /// Length of its file in bytes.
    pub size: Option<u64>,
    /// Whether it runs.
    pub live: Option<bool>,
    /// Why what lies there cannot be read as a session. It has a row of its own all the same: that it is not among the
    /// sessions must not pass for that there is none.
    pub unreadable: Option<Text>,
}

impl Place {
    /// What opens the session on the command line.
    pub fn address(&self) -> String {
        let session = self
            .session
            .as_ref()
            .map(|session| format!("#{session}"))
            .unwrap_or_default();
        format!("{}{session}", self.path.display())
    }
}

impl Found {
    /// A session of which nothing else is known yet.
    pub fn new(place: Place, format: &'static str, id: Text) -> Self {
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

    /// A file, database or folder in the place of an agent that cannot be read, and why.
    pub(crate) fn unreadable(path: PathBuf, format: &'static str, why: Text) -> Self {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let place = Place {
            path,
            session: None,
        };
        Self {
            unreadable: Some(why),
            ..Self::new(place, format, Text::clean(&name))
        }
    }

    /// What stands in place of its title if it cannot be read.
    pub fn fault(&self) -> Option<Text> {
        self.unreadable
            .as_ref()
            .map(|why| Text::clean(&format!("cannot be read: {why}")))
    }

    /// The same with what it is that cannot be read, for where it has no row.
    pub fn unread_line(&self) -> String {
        let fault = self.fault().unwrap_or_default();
        format!("{}: {fault}", self.place().address())
    }

    /// Where it lies.
    pub fn place(&self) -> Place {
        Place {
            path: self.path.clone(),
            session: self.session.clone(),
        }
    }

    /// Whether this is the session that a place names.
    pub(crate) fn is_at(&self, place: &Place) -> bool {
        self.path == place.path && self.session == place.session
    }
}

/// The first line of a session's text that has what is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextHit {
    /// The session.
    pub found: Found,
    /// The key of the entry.
    pub entry: Text,
    /// The line, or what of it is around the hit.
    pub line: Text,
    /// Where in it the hit is, in bytes.
    pub at: Range<usize>,
}

/// What whoever looks for sessions comes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sighting {
    /// A session, for the first time or because it changed.
    Found(Box<Found>),
    /// A session is there no more.
    Gone(Place),
    /// Why places cannot be looked at: all that cannot be now.
    Refused(Vec<Text>),
    /// All that is there now was sent.
    Complete,
}
