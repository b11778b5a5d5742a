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
use super::state::App;
use crate::model::text::Text;

/// A longer paste was meant for something else.
const LONGEST_PASTE: usize = 1_000;

/// Changes the line that is being typed.
pub(crate) fn type_on(app: &mut App, request: InputRequest) -> Vec<Effect> {
    match &mut app.mode {
        Mode::Search { .. } => searching::type_on(app, request),
        Mode::Filter { .. } => filtering::type_on(app, request),
        Mode::Pipe { .. } => piping::type_on(app, request),
        Mode::Palette(_) => palette::actions::type_on(app, request),
        Mode::Picker => picker::actions::type_on(app, request),
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
pub fn paste(app: &mut App, text: &str) -> Vec<Effect> {
    let text = Text::clean(text);
    let mut typed = text.chars().filter(|c| *c != '\n' && *c != '\t');
    let Some(line) = line(app) else { return Vec::new() };
    let mut taken: Vec<char> = typed.by_ref().take(LONGEST_PASTE).collect();
    let Some(last) = taken.pop() else { return Vec::new() };
    for c in taken {
        line.handle(InputRequest::InsertChar(c));
    }
    if typed.next().is_some() {
        app.reader.screen.say(format!("cut after {LONGEST_PASTE} characters"));
    }
    type_on(app, InputRequest::InsertChar(last))
}

/// The line that is being typed.
fn line(app: &mut App) -> Option<&mut Input> {
    match &mut app.mode {
        Mode::Search { input } | Mode::Filter { input } | Mode::Pipe { input, .. } => Some(input),
        Mode::Palette(palette) => Some(&mut palette.input),
        Mode::Picker => Some(&mut app.picker.input),
        Mode::Help { wanted, .. } => Some(wanted),
        Mode::Raw { .. } | Mode::Normal => None,
    }
}

/// Another line that was typed before takes the place of this one.
pub(crate) fn recall(app: &mut App, is_older: bool) -> Vec<Effect> {
    match &app.mode {
        Mode::Search { .. } => return searching::recall(app, is_older),
        Mode::Filter { .. } => filtering::recall(app, is_older),
        Mode::Pipe { .. } => piping::recall(app, is_older),
        Mode::Palette(_) | Mode::Picker | Mode::Help { .. } | Mode::Raw { .. } | Mode::Normal => {}
    }
    Vec::new()
}

/// What a finished line asks for.
pub(crate) enum Finished {
    /// A command.
    Command(Command),
    /// These effects.
    Effects(Vec<Effect>),
}

/// The line is finished.
pub(crate) fn accept(app: &mut App) -> Finished {
    let effects = match &mut app.mode {
        Mode::Search { .. } => searching::accept(app),
        Mode::Filter { .. } => filtering::accept(app),
        Mode::Pipe { .. } => piping::accept(app),
        Mode::Palette(_) => match palette::actions::accept(app) {
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
pub fn complete(app: &mut App) {
    match app.mode {
        Mode::Palette(_) => palette::actions::complete(app),
        Mode::Picker => picker::actions::toggle_preview(app),
        Mode::Normal
        | Mode::Search { .. }
        | Mode::Filter { .. }
        | Mode::Pipe { .. }
        | Mode::Help { .. }
        | Mode::Raw { .. } => {}
    }
}

/// Leaves a pop-up, the typing, or the search, one at a time.
pub fn cancel(app: &mut App) -> Vec<Effect> {
    match std::mem::take(&mut app.mode) {
        Mode::Help { wanted, is_typing, is_over_picker, .. } if is_typing || !wanted.value().is_empty() => {
            app.mode = Mode::Help { top: 0, wanted: Input::default(), is_typing: false, is_over_picker };
            Vec::new()
        }
        Mode::Help { is_over_picker: true, .. } => {
            app.mode = Mode::Picker;
            Vec::new()
        }
        Mode::Help { .. } | Mode::Raw { .. } | Mode::Palette(_) | Mode::Filter { .. } | Mode::Pipe { .. } => {
            Vec::new()
        }
        Mode::Search { .. } => searching::give_up(&mut app.reader),
        Mode::Picker => {
            app.mode = Mode::Picker;
            picker::actions::cancel(app)
        }
        Mode::Normal if app.reader.find.next_filter.is_some() => filtering::cancel(&mut app.reader),
        Mode::Normal => searching::end(&mut app.reader),
    }
}
