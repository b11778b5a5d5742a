//! The palette: the command line after `:`, with the commands that match.

pub(crate) mod actions;

use std::borrow::Cow;

use tui_input::Input;

use crate::app::input::history::Histories;
use crate::app::input::key_state::KeyState;
use crate::app::input::keymap::Keymap;
use crate::app::screens::AppScreen;

/// The typed line, and the matching commands.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    pub input: Input,
    /// Commands that match, the best first.
    pub choices: Vec<CommandChoice>,
    /// Index of the selected command.
    pub selected: usize,
    pub(crate) below: AppScreen,
    /// Commands with arguments that exist here: sessions, runs, branches, alarms.
    offered: Vec<CommandChoice>,
    /// Whether the user has moved the selection.
    pub(crate) has_moved: bool,
}

/// A command that matches.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandChoice {
    pub name: String,
    /// The placeholder of its argument; empty if it takes none.
    pub argument: String,
    /// A key of the same action.
    pub keys: String,
    pub doc: Cow<'static, str>,
    also: &'static str,
    /// Whether it matches the typed words, and not only their letters.
    is_meant: bool,
}

impl CommandChoice {
    /// The name, and the blank before its argument unless the name ends with a sign.
    pub(crate) fn before_argument(&self) -> String {
        let is_word = self.name.ends_with(char::is_alphanumeric);
        let gap = if is_word && !self.argument.is_empty() {
            " "
        } else {
            ""
        };
        format!("{}{gap}", self.name)
    }
}

/// The commands to choose from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Commands<'a> {
    pub(crate) keymap: &'a Keymap,
    /// Names of commands that were run, the newest last.
    pub(crate) ran: &'a [String],
    /// The screen below the palette.
    pub(crate) below: AppScreen,
}

impl<'a> Commands<'a> {
    pub(crate) fn of(keys: &'a KeyState, history: &'a Histories, below: AppScreen) -> Self {
        Self {
            keymap: &keys.keymap,
            ran: &history.ran.lines,
            below,
        }
    }
}
