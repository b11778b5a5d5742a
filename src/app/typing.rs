//! Lines that are typed: a search, a command, what the help is narrowed to.

use tui_input::{Input, InputRequest};

use super::command::Command;
use super::effect::Effect;
use super::filtering;
use super::mode::Mode;
use super::palette;
use super::picker;
use super::piping;
use super::searching;
use super::state::State;
use crate::model::text::Text;

/// A longer paste was meant for something else.
const LONGEST_PASTE: usize = 1_000;

/// Changes the line that is being typed.
pub fn type_on(state: &mut State, request: InputRequest) -> Vec<Effect> {
    match &mut state.mode {
        Mode::Search { .. } => searching::type_on(state, request),
        Mode::Filter { .. } => filtering::type_on(state, request),
        Mode::Pipe { .. } => piping::type_on(state, request),
        Mode::Palette(_) => palette::type_on(state, request),
        Mode::Picker => picker::type_on(state, request),
        Mode::Help { top, wanted, is_typing, .. } => {
            *is_typing = true;
            *top = 0;
            wanted.handle(request);
        }
        Mode::Raw { .. } | Mode::Normal => {}
    }
    Vec::new()
}

/// Pasted text becomes part of what is typed, on one line. What it means is looked at when all of it is there.
pub fn paste(state: &mut State, text: &str) -> Vec<Effect> {
    let text = Text::clean(text);
    let mut typed = text.chars().filter(|c| *c != '\n' && *c != '\t');
    let Some(line) = line(state) else { return Vec::new() };
    let mut taken: Vec<char> = typed.by_ref().take(LONGEST_PASTE).collect();
    let Some(last) = taken.pop() else { return Vec::new() };
    for c in taken {
        line.handle(InputRequest::InsertChar(c));
    }
    if typed.next().is_some() {
        state.screen.say(format!("cut after {LONGEST_PASTE} characters"));
    }
    type_on(state, InputRequest::InsertChar(last))
}

/// The line that is being typed.
fn line(state: &mut State) -> Option<&mut Input> {
    match &mut state.mode {
        Mode::Search { input, .. } | Mode::Filter { input } | Mode::Pipe { input, .. } => Some(input),
        Mode::Palette(palette) => Some(&mut palette.input),
        Mode::Picker => Some(&mut state.picker.input),
        Mode::Help { wanted, .. } => Some(wanted),
        Mode::Raw { .. } | Mode::Normal => None,
    }
}

/// Another line that was typed before takes the place of this one.
pub fn recall(state: &mut State, is_older: bool) -> Vec<Effect> {
    match &state.mode {
        Mode::Search { .. } => return searching::recall(state, is_older),
        Mode::Filter { .. } => filtering::recall(state, is_older),
        Mode::Pipe { .. } => piping::recall(state, is_older),
        Mode::Palette(_) | Mode::Picker | Mode::Help { .. } | Mode::Raw { .. } | Mode::Normal => {}
    }
    Vec::new()
}

/// What a finished line asks for.
pub enum Finished {
    /// A command.
    Command(Command),
    /// These effects.
    Effects(Vec<Effect>),
}

/// The line is finished.
pub fn accept(state: &mut State) -> Finished {
    let effects = match &mut state.mode {
        Mode::Search { .. } => searching::accept(state),
        Mode::Filter { .. } => filtering::accept(state),
        Mode::Pipe { .. } => piping::accept(state),
        Mode::Palette(_) => match palette::accept(state) {
            Some(command) => return Finished::Command(command),
            None => Vec::new(),
        },
        Mode::Help { is_typing, .. } => {
            *is_typing = false;
            Vec::new()
        }
        Mode::Raw { .. } | Mode::Normal | Mode::Picker => Vec::new(),
    };
    Finished::Effects(effects)
}

/// Tab: completes the line, or shows more of what is chosen.
pub fn complete(state: &mut State) {
    match state.mode {
        Mode::Palette(_) => palette::complete(state),
        Mode::Picker => picker::toggle_preview(state),
        Mode::Normal
        | Mode::Search { .. }
        | Mode::Filter { .. }
        | Mode::Pipe { .. }
        | Mode::Help { .. }
        | Mode::Raw { .. } => {}
    }
}

/// Leaves a pop-up, the typing, or the search, one at a time.
pub fn cancel(state: &mut State) -> Vec<Effect> {
    match std::mem::take(&mut state.mode) {
        Mode::Help { wanted, is_typing, is_over_picker, .. } if is_typing || !wanted.value().is_empty() => {
            state.mode = Mode::Help { top: 0, wanted: Input::default(), is_typing: false, is_over_picker };
            Vec::new()
        }
        Mode::Help { is_over_picker: true, .. } => {
            state.mode = Mode::Picker;
            Vec::new()
        }
        Mode::Help { .. } | Mode::Raw { .. } | Mode::Palette(_) | Mode::Filter { .. } | Mode::Pipe { .. } => {
            Vec::new()
        }
        Mode::Search { from, .. } => searching::give_up(state, &from),
        Mode::Picker => {
            state.mode = Mode::Picker;
            picker::cancel(state)
        }
        Mode::Normal if state.find.next_filter.is_some() => filtering::cancel(state),
        Mode::Normal => searching::end(state),
    }
}
