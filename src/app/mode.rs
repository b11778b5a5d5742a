//! What keys mean just now, and what a mode that is given up goes back to.

use tui_input::Input;

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
    /// The help is open.
    Help {
        /// First line shown.
        top: usize,
        /// What it is narrowed to.
        wanted: Input,
        /// Whether that is being typed.
        is_typing: bool,
        /// Whether leaving it leads back to the sessions.
        is_over_picker: bool,
    },
    /// A record is shown raw.
    Raw(RawView),
    /// A command is being chosen by which the agent goes on with the session.
    Resume(Resuming),
}
