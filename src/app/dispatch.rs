//! Who carries an action out: the pane that has the keys, the session, or the viewer.

use super::action::Action;
use super::alarms;
use super::as_of;
use super::command::Command;
use super::effect::Effect;
use super::filtering;
use super::help;
use super::inspector::{self};
use super::layout::focused;
use super::marks;
use super::mode::Mode;
use super::palette;
use super::panes;
use super::panes::Pane;
use super::picker;
use super::piping;
use super::raw;
use super::reading;
use super::route::Request;
use super::searching;
use super::selecting;
use super::state::App;
use super::typing::{self, Finished};
use super::views;
use tui_input::Input;

/// Carries out an action: the pane that has the keys takes what is its own, the rest is for the transcript.
pub(crate) fn dispatch(app: &mut App, action: Action, times: usize) -> Vec<Effect> {
    let own = match focused(&app.reader) {
        _ if !matches!(app.mode, Mode::Normal) => None,
        // The page below it is what was opened last.
        Pane::Transcript if action == Action::Quit => views::actions::act(&mut app.reader, action, times),
        Pane::Transcript => None,
        Pane::Outline => panes::actions::within_outline(&mut app.reader, action, times),
        Pane::View => views::actions::act(&mut app.reader, action, times),
        Pane::Inspector => inspector::actions::act(&mut app.reader, action, times)
            .or_else(|| panes::actions::leave(&mut app.reader, action)),
    };
    own.unwrap_or_else(|| act(app, action, times))
}

/// Scrolls a pop-up; its last line stays at the foot.
pub(crate) fn scroll_pop_up(app: &mut App, by: isize) {
    let height = usize::from(app.reader.screen.size.1).saturating_sub(2);
    let (top, lines) = match &mut app.mode {
        Mode::Help { top, wanted, .. } => (top, help::lines(&app.keys.keymap, wanted.value()).len()),
        Mode::Raw(view) => return view.scroll(by, height),
        Mode::Palette(palette) => return palette::select(palette, by),
        Mode::Picker => return picker::actions::select(app, by),
        Mode::Normal | Mode::Search { .. } | Mode::Filter { .. } | Mode::Pipe { .. } => return,
    };
    *top = top.saturating_add_signed(by).min(lines.saturating_sub(height));
}

/// Carries out what keys asked for.
pub(crate) fn carry_out(app: &mut App, request: Request) -> Vec<Effect> {
    let goes_on = matches!(request, Request::Wait | Request::Act(Action::NextHit | Action::PreviousHit, _));
    if !goes_on {
        app.reader.find.sought = None;
    }
    if matches!(request, Request::Type(_)) {
        return act_on(app, request);
    }
    let mut effects = searching::catch_up(&mut app.reader);
    effects.extend(act_on(app, request));
    effects
}

fn act_on(app: &mut App, request: Request) -> Vec<Effect> {
    match request {
        Request::Act(action, times) => dispatch(app, action, times),
        Request::Type(request) => typing::type_on(app, request),
        Request::Complete => {
            typing::complete(app);
            Vec::new()
        }
        Request::Accept if matches!(app.mode, Mode::Picker) => picker::actions::accept(app),
        Request::Accept => match typing::accept(app) {
            Finished::Command(command) => run(app, command),
            Finished::Effects(effects) => effects,
        },
        Request::Recall(is_older) => typing::recall(app, is_older),
        Request::ToggleLiteral => searching::toggle_literal(&mut app.reader),
        Request::ScrollPopUp(by) => {
            scroll_pop_up(app, by);
            Vec::new()
        }
        Request::Wait => Vec::new(),
    }
}

/// Carries out a command.
fn run(app: &mut App, command: Command) -> Vec<Effect> {
    match command {
        Command::Act(action) => dispatch(app, action, 1),
        Command::Goto(place) => {
            palette::actions::go(&mut app.reader, place);
            Vec::new()
        }
        Command::Set(setting) => palette::actions::set(app, setting),
        Command::Pipe(command) => piping::run_on_focus(app, &command),
        Command::Filter(expr) => {
            let typed = expr.to_string();
            filtering::set(&mut app.reader, &typed, expr)
        }
        Command::Context => {
            as_of::make::list(app);
            Vec::new()
        }
        Command::Help(page) => {
            help::open_page(app, page);
            Vec::new()
        }
        Command::Watch(wish) => {
            alarms::actions::watch(&mut app.reader, wish);
            Vec::new()
        }
        Command::Watched => {
            alarms::actions::list(app);
            Vec::new()
        }
        Command::Unwatch(name) => {
            alarms::actions::unwatch(&mut app.reader, &name);
            Vec::new()
        }
        Command::Forget => {
            app.reader.places.marks.clear();
            (app.reader.places.seen, app.reader.places.news) = (None, None);
            app.reader.look_changed();
            vec![Effect::Forget]
        }
    }
}

fn open_help(app: &mut App) {
    let is_over_picker = matches!(app.mode, Mode::Picker);
    app.mode = Mode::Help { top: 0, wanted: Input::default(), is_typing: false, is_over_picker };
}

/// Carries out an action so many times, whichever pane has the keys.
pub fn act(app: &mut App, action: Action, times: usize) -> Vec<Effect> {
    if matches!(app.mode, Mode::Normal)
        && let Some(effects) = selecting::act(app, action)
    {
        return effects;
    }
    app.reader.session.ends.forget_wish();
    match action {
        Action::Search | Action::NextHit | Action::PreviousHit | Action::Mention(_) => {
            return searching::act(app, action, times);
        }
        Action::Filter | Action::Quick(_) => return filtering::act(app, action),
        Action::SetMark | Action::ToMark | Action::Back | Action::Forward => {
            return marks::act(app, action, times);
        }
        Action::Copy(what) if matches!(app.mode, Mode::Raw(_)) => return raw::actions::copy(app, what),
        Action::Pipe => piping::begin(app, times),
        Action::ToggleMouse => return palette::actions::switch_mouse(app, !app.mouse.is_on),
        Action::Sessions => return picker::actions::open(app),
        Action::Palette => palette::actions::open(app),
        Action::Help => open_help(app),
        Action::Reload => return vec![Effect::Reload],
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return vec![Effect::Suspend],
        Action::Cancel => return typing::cancel(app),
        Action::Quit if app.is_picked => return vec![Effect::Leave],
        Action::Quit | Action::QuitNow => return vec![Effect::Quit],
        action => return reading::act(&mut app.reader, action, times),
    }
    Vec::new()
}
