//! Typing a shell command that gets the records of items on its standard input.

use tui_input::{Input, InputRequest};

use super::clipboard::{items_from, origins_of};
use super::effect::Effect;
use super::mode::Mode;
use super::state::State;
use super::viewport::Focus;
use crate::model::record::Origin;

/// Begins to type a command for the focused item and, with a count, for those behind it.
pub fn begin(state: &mut State, times: usize) {
    if let Some(focus) = state.text.view.focus {
        let items = items_from(state, focus, times);
        open(state, &items);
    }
}

/// Begins to type a command for items.
pub fn open(state: &mut State, items: &[Focus]) {
    let origins = origins_of(state, items);
    if origins.is_empty() {
        return state.screen.say("nothing is focused");
    }
    state.history.commands.rest();
    state.mode = Mode::Pipe { input: Input::default(), origins };
}

/// Changes what is typed.
pub fn type_on(state: &mut State, request: InputRequest) {
    if let Mode::Pipe { input, .. } = &mut state.mode {
        input.handle(request);
    }
}

/// Takes the command that was typed before, or after, in its place.
pub fn recall(state: &mut State, is_older: bool) {
    let Mode::Pipe { input, .. } = &mut state.mode else { return };
    if let Some(line) = state.history.commands.recall(is_older, input.value()) {
        *input = Input::new(line);
    }
}

/// The command is typed; without one nothing happens.
pub fn accept(state: &mut State) -> Vec<Effect> {
    let Mode::Pipe { input, origins } = std::mem::take(&mut state.mode) else { return Vec::new() };
    run(state, input.value().trim(), origins)
}

/// Pipes the focused item to a command that was typed elsewhere.
pub fn run_on_focus(state: &mut State, command: &str) -> Vec<Effect> {
    let origins = state.text.view.focus.map(|focus| origins_of(state, &[focus])).unwrap_or_default();
    run(state, command, origins)
}

fn run(state: &mut State, command: &str, origins: Vec<Origin>) -> Vec<Effect> {
    if command.is_empty() || origins.is_empty() {
        return Vec::new();
    }
    state.history.commands.keep(command);
    vec![Effect::Pipe { command: command.to_owned(), origins }]
}
