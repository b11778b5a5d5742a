//! Typing a shell command that gets the records of items on its standard input.

use tui_input::{Input, InputRequest};

use super::clipboard::actions::items_from;
use super::clipboard::origins_of;
use super::effect::Effect;
use super::mode::Mode;
use super::state::App;
use super::viewport::Focus;
use crate::model::record::Origin;

/// Begins to type a command for the focused item and, with a count, for those behind it.
pub fn begin(app: &mut App, times: usize) {
    if let Some(focus) = app.reader.text.view.focus {
        let items = items_from(&app.reader, focus, times);
        open(app, &items);
    }
}

/// Begins to type a command for items.
pub fn open(app: &mut App, items: &[Focus]) {
    let origins = origins_of(&app.reader.session, items);
    if origins.is_empty() {
        return app.reader.screen.say("nothing is focused");
    }
    app.history.commands.rest();
    app.mode = Mode::Pipe { input: Input::default(), origins };
}

/// Changes what is typed.
pub(crate) fn type_on(app: &mut App, request: InputRequest) {
    if let Mode::Pipe { input, .. } = &mut app.mode {
        input.handle(request);
    }
}

/// Takes the command that was typed before, or after, in its place.
pub(crate) fn recall(app: &mut App, is_older: bool) {
    let Mode::Pipe { input, .. } = &mut app.mode else { return };
    if let Some(line) = app.history.commands.recall(is_older, input.value()) {
        *input = Input::new(line);
    }
}

/// The command is typed; without one nothing happens.
pub(crate) fn accept(app: &mut App) -> Vec<Effect> {
    let Mode::Pipe { input, origins } = std::mem::take(&mut app.mode) else { return Vec::new() };
    run(app, input.value().trim(), origins)
}

/// Pipes the focused item to a command that was typed elsewhere.
pub(crate) fn run_on_focus(app: &mut App, command: &str) -> Vec<Effect> {
    let origins =
        app.reader.text.view.focus.map(|focus| origins_of(&app.reader.session, &[focus])).unwrap_or_default();
    run(app, command, origins)
}

fn run(app: &mut App, command: &str, origins: Vec<Origin>) -> Vec<Effect> {
    if command.is_empty() || origins.is_empty() {
        return Vec::new();
    }
    app.history.commands.keep(command);
    vec![Effect::Pipe { command: command.to_owned(), origins }]
}
