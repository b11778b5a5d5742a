//! The palette: the command line after `:`, with the commands that match.

mod actions;

use tui_input::Input;

/// The typed line, and the matching commands.
#[derive(Clone, Debug, Default)]
pub struct Palette {
    /// The line.
    pub input: Input,
    /// Commands that match, the best first.
    pub choices: Vec<CommandChoice>,
    /// Which of them is chosen.
    pub selected: usize,
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
}
