//! What keys mean just now.

use tui_input::Input;

use crate::app::below::Below;
use crate::app::pop_ups::palette::Palette;
use crate::app::pop_ups::raw::RawView;
use crate::app::pop_ups::resuming::Resuming;
use crate::model::record::Origin;

/// What keys mean.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// As in the bindings.
    #[default]
    Normal,
    /// A search is being typed.
    Search {
        /// What is typed so far.
        input: Input,
    },
    /// A filter is being typed.
    Filter {
        /// What is typed so far.
        input: Input,
    },
    /// A command is being typed.
    Palette(Palette),
    /// A shell command is being typed that gets records.
    Pipe {
        /// What is typed so far.
        input: Input,
        /// The records.
        origins: Vec<Origin>,
    },
    /// A session is being chosen.
    Picker,
    /// All sessions are looked at.
    Wall,
    /// What all sessions came to is looked at.
    Ledger,
    /// A line is being typed about all of them.
    OnWall {
        /// What for.
        line: WallLine,
        /// What is typed so far.
        input: Input,
    },
    /// The help is open.
    Help {
        /// First line shown.
        top: usize,
        /// What it is narrowed to.
        wanted: Input,
        /// Whether that is being typed.
        is_typing: bool,
        /// What leaving it leads back to.
        below: Below,
    },
    /// A record is shown raw.
    Raw(RawView),
    /// A command is being chosen by which the agent goes on with the session.
    Resume(Resuming),
}

/// What a line is typed for that is about all sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallLine {
    /// Which of them are shown.
    Filter,
    /// What is watched for in all of them.
    Watch,
    /// A command.
    Command,
}

impl Mode {
    /// Whether the wall is on the screen.
    pub fn is_wall(&self) -> bool {
        matches!(self, Self::Wall | Self::OnWall { .. })
    }

    /// Whether no session is on the screen.
    pub fn is_of_all(&self) -> bool {
        self.is_wall() || matches!(self, Self::Picker | Self::Ledger)
    }
}
