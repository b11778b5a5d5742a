//! The palette: the command line after `:`, with the commands that match.

pub(crate) mod actions;

use tui_input::Input;

use crate::app::input::keymap::Keymap;
use crate::app::screens::AppScreen;

/// The typed line, and the matching commands.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// The line.
    pub input: Input,
    /// Commands that match, the best first.
    pub choices: Vec<CommandChoice>,
    /// Which of them is chosen.
    pub selected: usize,
    below: AppScreen,
    /// Whether the reader has chosen it.
    has_moved: bool,
}

/// A command that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandChoice {
    /// The name of the command.
    pub name: String,
    /// What must follow the name; empty if nothing.
    pub argument: String,
    /// A key of the same action.
    pub keys: String,
    /// What it does.
    pub doc: &'static str,
    also: &'static str,
    /// Whether it has the typed words, and not only their letters.
    is_meant: bool,
}

/// What commands are chosen from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commands<'a> {
    pub(crate) keymap: &'a Keymap,
    /// Names of commands that were run, the newest last.
    pub(crate) ran: &'a [String],
    /// The screen that they are for.
    pub(crate) below: AppScreen,
}
