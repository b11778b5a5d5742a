//! The line that is being typed: a search, a filter, a command, or filter text of the help or the
//! picker.

use tui_input::{Input, InputRequest};

use crate::analysis::expression::parse::{self, Subject, time_words, words};
use crate::app::copying::piping;
use crate::app::effect::Effect;
use crate::app::input::history::HistoryKind;
use crate::app::ledger;
use crate::app::mode::{Mode, WallLine};
use crate::app::picker::sheet::toggle_preview;
use crate::app::pop_ups::palette::Commands;
use crate::app::screen::Screen;
use crate::app::state::App;
use crate::app::text::find::{filter, search};
use crate::app::wall;
use crate::model::text::Text;

/// Limit of a paste, in characters; a longer one was meant for another program.
const LONGEST_PASTE: usize = 1_000;

pub(crate) fn edit_input(app: &mut App, request: InputRequest) {
    match &mut app.mode {
        Mode::Search { input } => {
            input.handle(request);
            search::set_typed(&mut app.reader.text, input.value());
        }
        Mode::Filter { input } | Mode::Pipe { input, .. } | Mode::OnWall { input, .. } => {
            input.handle(request);
        }
        Mode::Palette(palette) => {
            let commands = Commands::of(&app.keys, &app.history, palette.below);
            palette.edit_input(commands, request);
        }
        Mode::Picker => app.picker.edit_input(request),
        Mode::Help {
            top,
            filter: wanted,
            is_typing,
            ..
        } => {
            *is_typing = true;
            *top = 0;
            wanted.handle(request);
        }
        Mode::Raw { .. } | Mode::Resume(_) | Mode::Normal | Mode::Wall | Mode::Ledger => {}
    }
}

/// Inserts pasted text into the typed line. Only the last character triggers the search or filter,
/// so that a long paste searches once.
pub(crate) fn paste(app: &mut App, text: &str) {
    let text = Text::clean(text);
    let mut typed = text.chars().filter(|c| *c != '\n' && *c != '\t');
    let line = match &mut app.mode {
        Mode::Search { input }
        | Mode::Filter { input }
        | Mode::Pipe { input, .. }
        | Mode::OnWall { input, .. } => input,
        Mode::Palette(palette) => &mut palette.input,
        Mode::Picker => &mut app.picker.input,
        Mode::Help { filter: wanted, .. } => wanted,
        Mode::Raw { .. } | Mode::Resume(_) | Mode::Normal | Mode::Wall | Mode::Ledger => return,
    };
    let mut taken: Vec<char> = typed.by_ref().take(LONGEST_PASTE).collect();
    let Some(last) = taken.pop() else { return };
    for c in taken {
        line.handle(InputRequest::InsertChar(c));
    }
    if typed.next().is_some() {
        app.reader
            .screen
            .set_status(format!("cut after {LONGEST_PASTE} characters"));
    }
    edit_input(app, InputRequest::InsertChar(last));
}

/// The history of the line that is being typed.
pub(crate) fn kind_of(mode: &Mode) -> Option<HistoryKind> {
    match mode {
        Mode::Search { .. } => Some(HistoryKind::Search),
        Mode::Filter { .. } => Some(HistoryKind::Filter),
        Mode::Pipe { .. } => Some(HistoryKind::Command),
        Mode::Palette(_)
        | Mode::Picker
        | Mode::Wall
        | Mode::Ledger
        | Mode::OnWall { .. }
        | Mode::Help { .. }
        | Mode::Raw { .. }
        | Mode::Resume(_)
        | Mode::Normal => None,
    }
}

/// Replaces the typed line by an older or newer one of its history.
pub(crate) fn recall(app: &mut App, is_older: bool) -> Vec<Effect> {
    let Some(kind) = kind_of(&app.mode) else {
        return Vec::new();
    };
    let (Mode::Search { input } | Mode::Filter { input } | Mode::Pipe { input, .. }) =
        &mut app.mode
    else {
        return Vec::new();
    };
    if let Some(line) = app.history.of(kind).recall(is_older, input.value()) {
        *input = Input::new(line);
    }
    if kind != HistoryKind::Search {
        return Vec::new();
    }
    search::set_typed(&mut app.reader.text, input.value());
    app.reader.with_text(search::run_typed)
}

/// Accepts the typed line, or opens the selected row; the dispatcher runs commands.
pub(crate) fn accept(app: &mut App) -> Vec<Effect> {
    match &mut app.mode {
        Mode::Search { input } => {
            let typed = input.value().to_owned();
            app.mode = Mode::Normal;
            app.history.of(HistoryKind::Search).add(&typed);
            let last = app.history.of(HistoryKind::Search).lines.last().cloned();
            app.reader
                .with_text(|text, scene| search::accept(text, scene, &typed, last))
        }
        Mode::Filter { input } => {
            let typed = input.value().trim().to_owned();
            let done = app
                .reader
                .with_text(|text, scene| filter::accept(text, scene, &typed));
            if done.is_some() {
                app.mode = Mode::Normal;
            }
            done.unwrap_or_default()
        }
        Mode::Pipe { input, origins } => {
            let (typed, origins) = (input.value().trim().to_owned(), std::mem::take(origins));
            app.mode = Mode::Normal;
            app.reader
                .with_text(|_, scene| piping::run(scene, &typed, origins))
        }
        Mode::Help { is_typing, .. } => {
            *is_typing = false;
            Vec::new()
        }
        Mode::Picker => app.picker.accept(app.reader.screen.now),
        Mode::OnWall { line, input } => {
            let (line, typed) = (*line, input.value().trim().to_owned());
            if line == WallLine::Since {
                return ledger::actions::accept(app, &typed);
            }
            wall::actions::accept(app, line, &typed)
        }
        Mode::Resume(view) => {
            let (folder, words) = (
                view.folder.clone(),
                view.chosen().map(|choice| choice.words.clone()),
            );
            app.mode = Mode::Normal;
            words
                .map(|words| Effect::Resume { words, folder })
                .into_iter()
                .collect()
        }
        // The dispatcher runs commands.
        Mode::Palette(_) | Mode::Raw { .. } | Mode::Normal | Mode::Wall | Mode::Ledger => {
            Vec::new()
        }
    }
}

/// Tab: completes the command or the expression, or shows or hides the preview of the picker.
pub(crate) fn complete(app: &mut App) {
    match &mut app.mode {
        Mode::Palette(palette) => {
            let commands = Commands::of(&app.keys, &app.history, palette.below);
            match palette.expression().filter(|_| !palette.has_moved) {
                Some((command, input, about)) => {
                    let mut input = Input::new(input.to_owned());
                    let command = command.to_owned();
                    complete_words(&mut input, words(about), &mut app.reader.screen);
                    palette.input = Input::new(format!("{command} {}", input.value()));
                }
                None => palette.complete(commands),
            }
        }
        Mode::Picker => toggle_preview(&mut app.picker, &mut app.reader.screen),
        Mode::Filter { input } => {
            complete_words(input, words(Subject::Blocks), &mut app.reader.screen);
        }
        Mode::OnWall { line, input } => {
            let words = match line {
                WallLine::Filter => words(Subject::Sessions),
                WallLine::Watch => words(Subject::Alarm),
                WallLine::Since => time_words(),
            };
            complete_words(input, words, &mut app.reader.screen);
        }
        Mode::Normal
        | Mode::Wall
        | Mode::Ledger
        | Mode::Search { .. }
        | Mode::Pipe { .. }
        | Mode::Help { .. }
        | Mode::Resume(_)
        | Mode::Raw { .. } => {}
    }
}

/// Completes the last word of an expression, or shows a message with the possible completions.
fn complete_words(input: &mut Input, words: Vec<&'static str>, screen: &mut Screen) {
    let (completed, fitting) = parse::complete(input.value(), words);
    if completed == input.value() && fitting.len() != 1 {
        screen.set_status(fitting.join(" "));
    }
    *input = Input::new(completed);
}

/// Closes the pop-up, the typed line or the search, one level at a time.
pub(crate) fn cancel(app: &mut App) -> Vec<Effect> {
    let cancel = |app: &mut App| app.reader.with_text(|text, _| filter::cancel(text));
    match std::mem::take(&mut app.mode) {
        Mode::Help {
            filter: wanted,
            is_typing,
            below,
            here,
            ..
        } if is_typing || !wanted.value().is_empty() => {
            app.mode = Mode::Help {
                top: 0,
                filter: Input::default(),
                is_typing: false,
                below,
                here,
            };
            Vec::new()
        }
        mode @ (Mode::Help { .. }
        | Mode::Raw(_)
        | Mode::OnWall { .. }
        | Mode::Wall
        | Mode::Ledger
        | Mode::Resume(_)
        | Mode::Palette(_)
        | Mode::Filter { .. }
        | Mode::Pipe { .. }) => {
            app.mode = mode.screen().mode();
            Vec::new()
        }
        Mode::Search { .. } => app.reader.with_text(|text, _| search::cancel(text)),
        Mode::Picker => {
            app.mode = Mode::Picker;
            if app.picker.clear_input() {
                Vec::new()
            } else {
                app.leave_list()
            }
        }
        Mode::Normal if app.reader.text.find.next_filter.is_some() => cancel(app),
        Mode::Normal => app.reader.with_text(|text, _| search::end(text)),
    }
}
