//! What keys mean just now, and what a mode that is given up goes back to.

use std::collections::HashSet;

use tui_input::Input;

use super::folds::Folds;
use super::palette::Palette;
use super::raw::RawView;
use super::viewport::{Anchor, Focus};
use crate::model::record::Origin;
use crate::model::text::Name;

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
        /// Where the reader stood.
        from: Box<Stand>,
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
    },
    /// A record is shown raw.
    Raw(RawView),
}

/// Where a reader stands and what is unfolded there: what a search that is given up goes back to.
#[derive(Clone, Debug, Default)]
pub struct Stand {
    /// What holds the window.
    pub anchor: Anchor,
    /// The focused item.
    pub focus: Option<Focus>,
    /// Folds by hand.
    pub folds: Folds,
    /// Sub-agents whose entries are shown.
    pub open_lanes: HashSet<Name>,
}
