//! Dispatch: from a key press to its action, and from an action to its handler: the focused pane,
//! the session, or the viewer.

pub(crate) mod hit_test;
pub(crate) mod mouse;
pub mod route;
pub(crate) mod typing;

use tui_input::Input;

use self::route::route;
use self::typing::kind_of;
use super::alarms;
use super::arrange;
use super::copying::piping;
use super::effect::Effect;
use super::effect::PageExtent;
use super::hints;
use super::input::action::{Action, View};
use super::input::command::TypedCommand;
use super::input::keymap::KeyMatch;
use super::input::keys::{Code, Press};
use super::input::setting::{Assignment, Setting};
use super::ledger;
use super::mode::{HelpSubject, Mode};
use super::picker;
use super::pop_ups::help::{self, HelpScene};
use super::pop_ups::palette::{Commands, Palette};
use super::pop_ups::resume::ResumeDialog;
use super::pop_ups::signs;
use super::reader::Reader;
use super::scene::{Ask, Scene};
use super::screens::AppScreen;
use super::state::App;
use super::text::TextPane;
use super::text::compared;
use super::text::find::{filter, search};
use super::text::places::marks;
use super::text::wrapping::actions::{anchored_line, restore_line};
use super::text::{as_of, goto, selecting};
use super::wall;
use crate::model::body::Key;

/// Runs the action of a key press; does nothing while a chord is unfinished.
pub(crate) fn press(app: &mut App, press: Press) -> Vec<Effect> {
    if is_after_escape(app, press) {
        let mut effects = self::press(app, Press::plain(Code::Esc));
        effects.extend(self::press(app, Press::plain(press.code)));
        return effects;
    }
    let action = route(app, press);
    if !matches!(action, None | Some(Action::NextHit | Action::PreviousHit)) {
        app.reader.text.find.sought = None;
    }
    // An older message would read as the answer to this key.
    if action.is_some() {
        app.reader.screen.message = None;
        app.reader.text.places.wants_beginning = false;
    }
    let mut effects = match action {
        Some(Action::Type(_)) => Vec::new(),
        _ => app.reader.with_text(search::run_typed),
    };
    if let Some(action) = action {
        effects.extend(dispatch(app, action));
    }
    effects
}

/// Whether a press with Alt is Esc and a key typed after it: a terminal sends the same bytes for
/// both, and a slow connection delivers them together.
fn is_after_escape(app: &App, press: Press) -> bool {
    press.alt
        && matches!(press.code, Code::Char(_))
        && matches!(app.mode, Mode::Normal | Mode::Wall | Mode::Ledger)
        && app.keys.pressed.is_empty()
        && matches!(app.keys.keymap.find(&[press]), KeyMatch::None)
}

/// Runs an action: in the focused pane if it handles it, otherwise in the transcript or the viewer.
fn dispatch(app: &mut App, action: Action) -> Vec<Effect> {
    match action {
        Action::Type(request) => typing::edit_input(app, request),
        Action::Complete => typing::complete(app),
        Action::Pick => app.picker.mark(),
        Action::Accept => return accept(app),
        Action::Recall(is_older) => return typing::recall(app, is_older),
        Action::ToggleLiteral => return app.reader.with_text(search::toggle_literal),
        Action::Scroll(by) => scroll_pop_up(app, by),
        action => {
            let mut effects = Vec::new();
            let own = match app.mode {
                Mode::Normal => {
                    // A key typed right behind the one that opened a view is for the rows of that view.
                    if app.reader.views.is_new() {
                        effects = arrange::arrange(&mut app.reader);
                    }
                    app.reader.act_in_pane(action)
                }
                Mode::Picker => picker::actions::act(app, action),
                Mode::Wall => wall::actions::act(app, action),
                Mode::Ledger => ledger::actions::act(app, action),
                _ => None,
            };
            let closes = action == Action::Quit && matches!(app.mode, Mode::Normal);
            let is_closed = closes && (own.is_some() || has_search(app));
            if is_closed && !std::mem::replace(&mut app.keys.knows_quit, true) {
                app.reader.screen.set_status("closed; q in the text leaves");
            }
            effects.extend(own.unwrap_or_else(|| {
                if is_closed {
                    typing::cancel(app)
                } else {
                    act(app, action)
                }
            }));
            return effects;
        }
    }
    Vec::new()
}

/// Scrolls a pop-up or moves the cursor of a list; the last line stays at the bottom.
pub(crate) fn scroll_pop_up(app: &mut App, by: isize) {
    let height = usize::from(app.reader.screen.size.1).saturating_sub(2);
    match &mut app.mode {
        Mode::Help {
            top,
            filter: wanted,
            below,
            here,
            ..
        } => {
            let scene = HelpScene {
                keymap: &app.keys.keymap,
                here,
                below: *below,
                screen: &app.reader.screen,
            };
            let lines = help::lines(scene, wanted.value()).len();
            *top = top
                .saturating_add_signed(by)
                .min(lines.saturating_sub(height));
        }
        Mode::Raw(view) => view.scroll(by, height),
        Mode::Palette(palette) => palette.select(by),
        Mode::Picker => app.picker.move_by(by),
        Mode::Wall => app.wall.move_by(by),
        Mode::Ledger => app.ledger.move_by(by),
        Mode::Resume(view) => view.choose(by),
        Mode::Normal
        | Mode::Search { .. }
        | Mode::Filter { .. }
        | Mode::Pipe { .. }
        | Mode::OnWall { .. } => {}
    }
}

/// Accepts the typed line, or opens the selected row of a list.
fn accept(app: &mut App) -> Vec<Effect> {
    let command = match &mut app.mode {
        Mode::Palette(palette) => {
            let below = palette.below;
            let commands = Commands::of(&app.keys, &app.history, below);
            let Some(parsed) = palette.accept(commands) else {
                return Vec::new();
            };
            app.mode = below.mode();
            match parsed {
                Ok(command) => {
                    if let TypedCommand::Act(action) = command {
                        app.history.ran.add(&action.to_string());
                    }
                    command_on(app, below, command)
                }
                Err(why) => {
                    app.reader.screen.set_status(why);
                    Err(Vec::new())
                }
            }
        }
        _ => Err(typing::accept(app)),
    };
    command.map_or_else(|effects| effects, |command| run(app, command))
}

/// Runs a command on a screen that lists sessions: filters and alarms apply to all sessions;
/// actions do what their keys do; settings and the manual are the same everywhere. Returns a
/// command that is still to be run, or the effects.
fn command_on(
    app: &mut App,
    screen: AppScreen,
    command: TypedCommand,
) -> Result<TypedCommand, Vec<Effect>> {
    match (screen, command) {
        (AppScreen::Session, command)
        | (_, command @ (TypedCommand::Act(_) | TypedCommand::Set(_) | TypedCommand::Help(_))) => {
            Ok(command)
        }
        (AppScreen::Wall, command) => Err(wall::actions::command(app, &command)),
        (AppScreen::Picker | AppScreen::Ledger, command) => {
            app.reader.screen.set_session_only_status(&command);
            Err(Vec::new())
        }
    }
}

fn run(app: &mut App, command: TypedCommand) -> Vec<Effect> {
    let reader = &mut app.reader;
    match command {
        TypedCommand::Act(action) => return dispatch(app, action),
        TypedCommand::Goto(place) => {
            reader.with_text(|text, scene| goto::go_to(text, scene, place));
        }
        TypedCommand::Set(assignment) => return set(app, &assignment),
        TypedCommand::Pipe(command) => {
            return reader.with_text(|text, scene| piping::run_on_focus(text, scene, &command));
        }
        TypedCommand::Filter(expr) => {
            let typed = expr.to_string();
            return reader.with_text(|text, scene| filter::set(text, scene, &typed, expr));
        }
        TypedCommand::Context => {
            let session = &mut reader.session;
            while !session
                .indexes
                .windows
                .follow(&session.transcript, usize::MAX)
            {}
            reader.with_text(as_of::make::list);
        }
        TypedCommand::From(word) => {
            return reader.with_text(|text, scene| search::seek_first(text, scene, Some(&word)));
        }
        TypedCommand::Diff(other) => return compare(reader, &other),
        TypedCommand::Join(path) => return vec![Effect::Join(path)],
        TypedCommand::Export(form, extent) => {
            return match reader.with_text(|text, scene| entries_of(extent, text, scene)) {
                Ok(keys) => vec![Effect::Export(form, extent, keys)],
                Err(why) => {
                    reader.screen.set_status(why);
                    Vec::new()
                }
            };
        }
        TypedCommand::Help(page) => {
            let below = app.mode.screen();
            app.mode = Mode::Raw(help::page(&reader.screen, page, below));
        }
        TypedCommand::Watch(wish) => {
            alarms::actions::watch(
                &mut reader.alarms,
                &mut reader.session,
                &mut reader.screen,
                wish,
            );
        }
        TypedCommand::Watched => {
            reader.with_panes(|panes, scene| alarms::actions::list(panes.alarms, scene));
        }
        TypedCommand::Unwatch(name) => {
            alarms::actions::unwatch(&mut reader.alarms, &mut reader.screen, &name);
        }
        TypedCommand::Forget => {
            let places = &mut reader.text.places;
            places.marks.clear();
            (places.last_visit, places.news) = (None, None);
            reader.text.invalidate_rows();
            return vec![Effect::Forget];
        }
    }
    Vec::new()
}

/// The keys of the entries to export, of a turn that of its prompt; else why there are none.
fn entries_of(
    extent: PageExtent,
    text: &mut TextPane,
    scene: &mut Scene<'_>,
) -> Result<Vec<Key>, &'static str> {
    let (mut keys, none): (Vec<Key>, _) = match extent {
        PageExtent::Session => return Ok(Vec::new()),
        PageExtent::Turn => {
            let transcript = &scene.session.transcript;
            let turn = text.focused_turn(scene.session);
            let turn = turn.and_then(|turn| transcript.turns().get(turn));
            let prompt = turn.and_then(|turn| transcript.get(turn.prompt));
            let key = prompt.map(|prompt| prompt.key.clone());
            (key.into_iter().collect(), "this belongs to no turn")
        }
        PageExtent::Rows => {
            let pieces = selecting::pieces(text, scene).into_iter();
            let transcript = &scene.session.transcript;
            let entries = pieces.filter_map(|piece| transcript.get(piece.focus.entry));
            let keys = entries.map(|entry| entry.key.clone()).collect();
            (keys, "no rows are selected; V selects them")
        }
        PageExtent::Marks => {
            let marked = text.places.marks.values();
            let keys = marked.map(|(key, _)| key.clone()).collect();
            (keys, "nothing is marked; m and a letter marks an item")
        }
    };
    keys.sort_unstable();
    keys.dedup();
    if keys.is_empty() { Err(none) } else { Ok(keys) }
}

/// Compares the session with another run, and opens the view that shows it.
pub fn compare(reader: &mut Reader, other: &str) -> Vec<Effect> {
    let mut effects = reader.with_text(|text, scene| compared::begin(text, scene, other));
    if !effects.is_empty() && reader.views.open() != Some(View::Diff) {
        effects.extend(reader.act(Action::View(View::Diff)));
    }
    effects
}

/// Sets a setting; the line in focus does not move.
fn set(app: &mut App, assignment: &Assignment) -> Vec<Effect> {
    let place = app
        .reader
        .with_text(|text, scene| anchored_line(text, scene));
    assignment.apply(app);
    app.reader.text.invalidate_rows();
    app.reader
        .with_text(|text, scene| restore_line(text, scene, place));
    assignment.follow(app)
}

/// Sets a setting to its next value.
fn set_next(app: &mut App, name: &str) -> Vec<Effect> {
    let next = Setting::by_name(name).and_then(|setting| setting.next(app));
    next.map_or_else(Vec::new, |next| set(app, &next))
}

/// Runs an action, whichever pane has the focus.
pub fn act(app: &mut App, action: Action) -> Vec<Effect> {
    let reader = &mut app.reader;
    if matches!(app.mode, Mode::Normal)
        && let Some(effects) = reader.with_text(|text, scene| selecting::act(text, scene, action))
    {
        return effects;
    }
    if let (Mode::Raw(view), Action::Copy(what)) = (&app.mode, action) {
        return view
            .copy(what, &mut reader.screen)
            .map(Effect::Copy)
            .into_iter()
            .collect();
    }
    if let (Mode::Resume(view), Action::Copy(_)) = (&app.mode, action) {
        return view
            .chosen()
            .map(|choice| Effect::Copy(choice.line.clone()))
            .into_iter()
            .collect();
    }
    match action {
        Action::Search
        | Action::NextHit
        | Action::PreviousHit
        | Action::Mention(_)
        | Action::FirstSeen => {
            return reader.with_text(|text, scene| search::act(text, scene, action));
        }
        Action::Filter | Action::Quick(_) => {
            return reader.with_text(|text, scene| filter::act(text, scene, action));
        }
        Action::SetMark => {
            let letter = app.keys.letter;
            return reader.with_text(|text, scene| marks::set(text, scene, letter));
        }
        Action::ToMark => {
            let letter = app.keys.letter;
            reader.with_text(|text, scene| marks::go_to(text, scene, letter));
        }
        Action::Pipe => reader.with_text(|text, scene| piping::begin(text, scene)),
        Action::ToggleThinking => return set_next(app, "thinking"),
        Action::ToggleIntents => return set_next(app, "intents"),
        Action::ToggleAsOf => return set_next(app, "asof"),
        Action::ToggleWrap => return set_next(app, "wrap"),
        Action::ToggleGutter => return set_next(app, "gutter"),
        Action::ToggleMouse => return set_next(app, "mouse"),
        Action::Sessions => return app.open_list(AppScreen::Picker),
        // The first session on the wall needs the user most.
        Action::Wall | Action::Need(_) => return app.open_list(AppScreen::Wall),
        Action::Usage => return app.open_list(AppScreen::Ledger),
        Action::Watch => app.mode = Mode::Palette(palette(app, "watch ")),
        Action::Palette => {
            app.mode = Mode::Palette(palette(app, ""));
        }
        // Without a comparison, the run to compare with is typed.
        Action::View(View::Diff) if reader.text.compared.is_none() && !app.mode.is_of_all() => {
            app.mode = Mode::Palette(palette(app, "diff "));
        }
        Action::Help => {
            let below = app.mode.screen();
            let here = HelpSubject {
                signs: signs::of_chosen(app),
                keys: hints::in_help(app),
            };
            app.mode = Mode::Help {
                top: 0,
                filter: Input::default(),
                is_typing: false,
                below,
                here,
            };
        }
        Action::Resume => match ResumeDialog::of(&reader.session) {
            Ok(view) => {
                let copy = view
                    .chosen()
                    .map(|choice| Effect::Copy(choice.line.clone()));
                app.mode = Mode::Resume(view);
                return copy.into_iter().collect();
            }
            Err(why) => reader.screen.set_status(why),
        },
        Action::Reload => return vec![Effect::Reload],
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return vec![Effect::Suspend],
        Action::Cancel => return typing::cancel(app),
        Action::Quit if !app.below.is_empty() => return vec![Effect::Back],
        Action::Quit | Action::QuitNow => return vec![Effect::Quit],
        action => return reader.act(action),
    }
    Vec::new()
}

/// The command line with the beginning of a command.
fn palette(app: &App, typed: &str) -> Palette {
    let commands = Commands::of(&app.keys, &app.history, app.mode.screen());
    Palette::of(commands, typed, arguments(app))
}

/// Number of sessions that are offered as arguments.
const SESSIONS_OFFERED: usize = 100;

/// Commands with arguments that exist here, and what each is.
fn arguments(app: &App) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (run, doc) in compared::candidates(&app.reader.text, &app.reader.session) {
        if run.starts_with("branch ") {
            found.push((format!("goto {run}"), doc.clone()));
        }
        found.push((format!("diff {run}"), doc));
    }
    for (found_session, _) in app.picker.shown().take(SESSIONS_OFFERED) {
        let address = found_session.place().address();
        let title = found_session.title.as_deref().unwrap_or_default();
        found.push((format!("join {address}"), title.to_owned()));
        found.push((format!("diff {address}"), title.to_owned()));
    }
    let alarms = app.reader.alarms.named();
    found.extend(alarms.map(|(number, alarm)| (format!("unwatch {number}"), alarm)));
    let themes = app.themes.iter();
    found.extend(themes.map(|name| (format!("set theme={name}"), "colours".to_owned())));
    found
}

/// Whether a search is active; it is closed before the session is left.
fn has_search(app: &App) -> bool {
    let find = &app.reader.text.find;
    find.search.is_some() || find.next_filter.is_some()
}

/// Runs the requests of panes that concern the whole viewer.
pub fn answer(app: &mut App) -> Vec<Effect> {
    let mut effects = Vec::new();
    for ask in std::mem::take(&mut app.reader.requests) {
        match ask {
            Ask::Enter(mode) => {
                if let Some(kind) = kind_of(&mode) {
                    app.history.of(kind).reset();
                }
                app.mode = *mode;
            }
            Ask::Keep(kind, line) => app.history.of(kind).add(&line),
            Ask::Act(action) => effects.extend(act(app, action)),
            // [`Reader::with_panes`] has already run these.
            Ask::Status(_)
            | Ask::Jump(_)
            | Ask::Motion(_)
            | Ask::Focus(_)
            | Ask::Follow
            | Ask::ShowText
            | Ask::ShowInspector(_) => {}
        }
    }
    effects
}
