//! The mode: the screen, pop-up or typed line that receives keys.

use tui_input::Input;

use crate::app::pop_ups::palette::Palette;
use crate::app::pop_ups::raw::RawView;
use crate::app::pop_ups::resume::ResumeDialog;
use crate::app::screens::AppScreen;
use crate::model::record::Origin;

/// The receiver of keys.
#[derive(Clone, Debug, Default)]
pub enum Mode {
    /// The session, with the keymap.
    #[default]
    Normal,
    /// A search is being typed.
    Search {
        /// The text typed so far.
        input: Input,
    },
    /// A filter is being typed.
    Filter {
        /// The text typed so far.
        input: Input,
    },
    /// A command is being typed.
    Palette(Palette),
    /// A shell command that receives records is being typed.
    Pipe {
        /// The text typed so far.
        input: Input,
        /// Positions of the records.
        origins: Vec<Origin>,
    },
    Picker,
    Wall,
    Ledger,
    /// A line is being typed on the wall or in the ledger.
    OnWall {
        /// Purpose of the line.
        line: WallLine,
        /// The text typed so far.
        input: Input,
    },
    Help {
        top: usize,
        /// Filter text of the help.
        filter: Input,
        /// Whether the filter text is being typed.
        is_typing: bool,
        below: AppScreen,
        /// What had the focus when the help was opened.
        here: HelpSubject,
    },
    /// Records, a list or a page of the manual in a pop-up.
    Raw(RawView),
    /// The dialog of commands that resume the session in its agent.
    Resume(ResumeDialog),
}

/// What the help explains first.
#[derive(Clone, Debug, Default)]
pub struct HelpSubject {
    /// The kind of the chosen row, and its marks.
    pub signs: Vec<(String, &'static str)>,
    pub keys: Vec<(String, &'static str)>,
}

/// Purpose of a line typed on the wall or in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallLine {
    Filter,
    /// Set an alarm for all sessions.
    Watch,
    /// Set the start of the counted time, in the ledger.
    Since,
}

impl Mode {
    /// Whether the wall is the screen of the mode.
    pub fn is_wall(&self) -> bool {
        matches!(self, Self::Wall)
            || matches!(self, Self::OnWall { line, .. } if *line != WallLine::Since)
    }

    /// Whether the screen lists sessions instead of showing one.
    pub fn is_of_all(&self) -> bool {
        self.screen() != AppScreen::Session
    }
}
