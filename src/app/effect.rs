//! What the viewer wants from the world outside.
//!
//! Invariant: effects are orders, not deeds; only the runtime carries them out.

use super::alarms::Notice;
use crate::analysis::expression::Expr;
use crate::analysis::ledger::counting::Question;
use crate::model::body::Image;
use crate::model::entry::EntryId;
use crate::model::found::{Found, Place};
use crate::model::record::Origin;
use crate::model::text::Text;
use crate::render::picture::canvas::Choice;
use crate::session::filter::FilterJob;
use crate::session::search::Job;

/// What the runtime is to do; the state itself touches nothing outside.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Read bodies again.
    Page {
        /// Entries that wait for them.
        entries: Vec<EntryId>,
        /// Their records.
        origins: Vec<Origin>,
    },
    /// Read what records hold that no block shows.
    Details {
        /// The records.
        origins: Vec<Origin>,
        /// Whether all that they hold is wanted.
        is_whole: bool,
    },
    /// Search on a thread.
    Search(Job),
    /// Stop searching.
    CancelSearch,
    /// Read texts for a filter on a thread.
    Filter(FilterJob),
    /// Stop reading them.
    CancelFilter,
    /// Put text on the clipboard.
    Copy(String),
    /// Put the JSON of records on the clipboard.
    CopyRecords(Vec<Origin>),
    /// Show records raw.
    ShowRecords(Vec<Origin>),
    /// Read records for the inspector.
    Inspect(Vec<Origin>),
    /// Give the JSON of records to a shell command, one a line.
    Pipe {
        /// The command.
        command: String,
        /// The records.
        origins: Vec<Origin>,
    },
    /// Open a file in the editor.
    Edit(Origin),
    /// Run the command, word by word, by which the agent goes on with the session; in this folder.
    Resume {
        /// The command.
        words: Vec<String>,
        /// The folder.
        folder: Option<String>,
    },
    /// Open an image with the program that the system has for it.
    View(Image),
    /// Use the colours with this name.
    Theme(String),
    /// Show images so.
    Images(Choice),
    /// Show the session again over which a list was opened to choose another one. Without one, do this.
    GoBack(Instead),
    /// Look for sessions, and go on looking.
    Seek,
    /// Stop looking.
    EndSeeking,
    /// Read what a session is about.
    Preview(Box<Found>),
    /// Look for sessions whose text has all of these words in one line, and no longer for others.
    SearchTexts {
        /// For which answers are awaited.
        generation: u32,
        /// The words; none ends it.
        words: Vec<String>,
    },
    /// Follow all sessions of the last hours.
    FollowAll,
    /// Follow them no longer.
    LeaveAll,
    /// Watch all of them for these.
    WatchAll(Vec<Expr>),
    /// Count what all sessions came to, if that is not done already, and answer this.
    Count(Question),
    /// Count it anew.
    CountAnew(Question),
    /// Open a session in place of this one.
    Open(Place),
    /// Open the session with this id, in which the one that is shown goes on.
    GoOn(Text),
    /// The same, at this entry and with this text searched for.
    OpenAt {
        /// The session.
        place: Place,
        /// The key of the entry.
        entry: String,
        /// The text.
        text: String,
    },
    /// Leave the session for the picker, or the wall.
    Leave,
    /// Notify the reader that something came about that was watched.
    Notify(Notice),
    /// Keep the marks for the next time.
    Remember,
    /// Delete what is kept of the session.
    Forget,
    /// Read the session at this path as one with what is shown.
    Join(String),
    /// Read the session anew.
    Reload,
    /// Draw everything anew.
    Redraw,
    /// Ask the terminal to report the mouse, or no longer to.
    Mouse(bool),
    /// Stop until `fg`.
    Suspend,
    /// End the program.
    Quit,
}

/// What is done where no session lies below a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The program ends.
    Quit,
    /// The sessions to choose from are shown.
    Sessions,
}
