//! Effects: I/O that the state requests.
//!
//! Invariant: the app returns effects as values; only the runtime performs them.

use super::alarms::AlarmNotice;
use super::comparison::OtherRun;
use crate::analysis::expression::Expr;
use crate::analysis::ledger::counting::Question;
use crate::model::body::{Image, Key};
use crate::model::entry::EntryId;
use crate::model::found::{FoundSession, Target};
use crate::model::record::Origin;
use crate::model::text::Text;
use crate::render::picture::canvas::ImageProtocol;
use crate::session::filter::FilterJob;
use crate::session::search::Job;

/// An operation for the runtime to perform.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Read bodies from disk.
    Page {
        /// Entries that need the bodies.
        entries: Vec<EntryId>,
        /// Records of the bodies.
        origins: Vec<Origin>,
    },
    /// Read the fields of records that no block shows.
    Details {
        origins: Vec<Origin>,
        /// Whether to read all fields.
        is_whole: bool,
    },
    /// Search on a thread.
    Search(Job),
    CancelSearch,
    /// Read texts for a filter on a thread.
    Filter(FilterJob),
    /// Stop reading texts for a filter.
    CancelFilter,
    /// Put text on the clipboard.
    Copy(String),
    /// Put the JSON of records on the clipboard.
    CopyRecords(Vec<Origin>),
    ShowRecords(Vec<Origin>),
    /// Read records for the raw tab of the inspector.
    Inspect(Vec<Origin>),
    /// Pipe the JSON of records, one per line, to a shell command.
    Pipe {
        command: String,
        origins: Vec<Origin>,
    },
    /// Open a file in the editor.
    Edit(Origin),
    /// Suspend, and resume the session in its own agent.
    Resume {
        /// The command as an argument list; no shell parses it.
        words: Vec<String>,
        /// The folder to run it in.
        folder: Option<String>,
    },
    /// Open an image with the system's program for it.
    View(Image),
    /// Use the colours with this name.
    Theme(String),
    /// Choose how images are drawn.
    Images(ImageProtocol),
    /// Start the scan for sessions on disk.
    Seek,
    /// Stop the scan for sessions.
    EndSeeking,
    /// Read the status of these sessions, and cancel earlier requests.
    Glance(Vec<FoundSession>),
    OpenJoined(Vec<Target>),
    /// Open the first of these sessions, and compare it with the second.
    OpenCompared(Vec<Target>),
    /// Search all sessions for lines with all of these words; replaces the previous search.
    SearchTexts {
        /// Generation of the search; the answers carry it.
        generation: u32,
        /// The words; empty ends the search.
        words: Vec<String>,
    },
    /// Follow all sessions of the last hours.
    FollowAll,
    /// Stop following all sessions.
    LeaveAll,
    /// Set the alarms of all followed sessions.
    WatchAll(Vec<Expr>),
    /// Query the ledger; the first query starts counting all sessions.
    Count(Question),
    /// Count all sessions again, then query.
    CountAnew(Question),
    /// Open a session in place of the current one.
    Open(Target),
    /// Open the session with this id, which continues the open one.
    OpenContinuation(Text),
    /// Open a session at an entry, and search it for a text.
    OpenAt {
        place: Target,
        /// The key of the entry.
        entry: String,
        /// The text; `None` searches nothing.
        text: Option<String>,
    },
    /// Go back to the screen below: to a list after closing the session, or to a parked session.
    /// Without a screen below, the program ends.
    Back,
    /// Tell the user that an alarm rang.
    Notify(AlarmNotice),
    /// Save the marks.
    Remember,
    /// Delete the saved state of the session.
    Forget,
    /// Join the session at this path to the open one.
    Join(String),
    /// Read a run of the session, by the key of an entry or the main agent's, and another one.
    Compare {
        /// What both are called.
        names: [String; 2],
        /// The run of the session.
        run: Option<String>,
        other: OtherRun,
    },
    /// Write the session as a page, or the entries with these keys, of which a turn has one.
    Export(PageForm, PageExtent, Vec<Key>),
    /// Read the session again from its start.
    Reload,
    /// Repaint the whole terminal.
    Redraw,
    /// Turn mouse reporting of the terminal on or off.
    Mouse(bool),
    /// Stop the process until `fg`.
    Suspend,
    Quit,
}

/// A form of an exported page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageForm {
    Html,
    Markdown,
}

impl PageForm {
    /// Its name, which is the ending of its files, too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
        }
    }
}

/// How much is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageExtent {
    Session,
    /// The turn of the cursor.
    Turn,
    /// The entries of the selected rows.
    Rows,
    /// The entries marked with letters.
    Marks,
}

impl PageExtent {
    pub(crate) const ALL: [Self; 4] = [Self::Session, Self::Turn, Self::Rows, Self::Marks];

    /// Description for the palette.
    pub(crate) fn doc(self) -> &'static str {
        match self {
            Self::Session => "the session",
            Self::Turn => "this turn",
            Self::Rows => "the selected rows (V)",
            Self::Marks => "what is marked (m)",
        }
    }

    /// The word for it behind the form; of the whole session none.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Session => "",
            Self::Turn => "turn",
            Self::Rows => "rows",
            Self::Marks => "marks",
        }
    }
}
