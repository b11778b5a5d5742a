//! The mode: which screen, pop-up or typed line gets the keys.

use tui_input::Input;

use crate::app::pop_ups::palette::Palette;
use crate::app::pop_ups::raw::RawView;
use crate::app::pop_ups::resume::ResumeDialog;
use crate::app::screens::AppScreen;
use crate::model::record::Origin;

/// What gets the keys.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// The session, with the keymap.
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
        /// Where the records are.
        origins: Vec<Origin>,
    },
    /// The picker.
    Picker,
    /// The wall.
    Wall,
    /// The ledger.
    Ledger,
    /// A line is being typed on the wall or in the ledger.
    OnWall {
        /// What the line is for.
        line: WallLine,
        /// What is typed so far.
        input: Input,
    },
    /// The help is open.
    Help {
        /// First line shown.
        top: usize,
        /// The words that narrow it.
        wanted: Input,
        /// Whether they are being typed.
        is_typing: bool,
        /// The screen below it.
        below: AppScreen,
        /// The keys of what was focused there.
        here: Vec<(String, &'static str)>,
    },
    /// Records, a list or a page of the manual in a pop-up.
    Raw(RawView),
    /// A command that resumes the session in its agent is being chosen.
    Resume(ResumeDialog),
}

/// What a line typed on the wall or in the ledger is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallLine {
    /// Filter the sessions.
    Filter,
    /// Set an alarm for all sessions.
    Watch,
    /// In the ledger: count what was spent since then.
    Since,
}

impl Mode {
    /// Whether the wall is on the screen.
    pub fn is_wall(&self) -> bool {
        matches!(self, Self::Wall)
            || matches!(self, Self::OnWall { line, .. } if *line != WallLine::Since)
    }

    /// Whether the screen lists sessions instead of showing one.
    pub fn is_of_all(&self) -> bool {
        self.screen() != AppScreen::Session
    }
}
