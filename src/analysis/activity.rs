//! What the agent is doing right now, as far as the file tells.

use crate::model::moment::Moment;
use crate::model::text::Text;
use crate::model::transcript::Transcript;

/// What the agent is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum Activity {
    /// A tool runs.
    Tool {
        /// Its name.
        name: Text,
        /// Since when.
        since: Option<Moment>,
    },
    /// The model is answering.
    Model {
        /// Since when.
        since: Option<Moment>,
    },
    /// It waits for its user: a question, a permission, or simply the next prompt.
    Waiting {
        /// Since when.
        since: Option<Moment>,
        /// For what.
        what: Text,
    },
    /// Nothing has happened for a long time.
    Idle {
        /// Since when.
        since: Option<Moment>,
    },
    /// The session ended cleanly.
    Ended,
    /// It stopped in the middle of work.
    Unclean,
    /// The file does not tell.
    Unknown,
}

impl Activity {
    /// The word used in JSON outputs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Model { .. } => "model",
            Self::Waiting { .. } => "waiting",
            Self::Idle { .. } => "idle",
            Self::Ended => "ended",
            Self::Unclean => "unclean",
            Self::Unknown => "unknown",
        }
    }
}

/// Judges from the end of the transcript. `last_write` is when the file last changed.
pub fn judge(transcript: &Transcript, last_write: Option<Moment>, now: Moment) -> Activity {
    let _ = (transcript, last_write, now);
    Activity::Unknown
}
