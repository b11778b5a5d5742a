//! Events and actions to changes of the state. All meaning is here; no I/O, no clock.

use tui_input::Input;

use super::action::Action;
use super::alarms;
use super::apply;
use super::arrange;
use super::as_of;
use super::clipboard::{self};
use super::command::Command;
use super::details;
use super::effect::Effect;
use super::filtering;
use super::help;
use super::inspector::{self, Records};
use super::keys::Press;
use super::marks;
use super::mode::Mode;
use super::mouse::{self, Pointer};
use super::palette;
use super::panes;
use super::picker;
use super::piping;
use super::raw;
use super::reading;
use super::route::{self, Request, route};
use super::search::Hit;
use super::searching;
use super::selecting;
use super::state::App;
use super::typing::{self, Finished};
use super::viewport::{Focus, Motion};
use crate::analysis::activity::LastWrite;
use crate::model::body::{Held, Tree};
use crate::model::details::Details;
use crate::model::edit::Feed;
use crate::model::entry::EntryId;
use crate::model::found::{Place, Preview, Sighting};
use crate::model::pages::WasPacked;
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;

/// What can happen.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(Press),
    /// The mouse did something.
    Mouse(Pointer),
    /// Text was pasted.
    Paste(String),
    /// The screen has this many columns and lines.
    Resize(u16, u16),
    /// The session says something.
    Feed(Box<Feed>),
    /// Time has passed.
    Tick {
        /// It is now.
        now: Timestamp,
    },
    /// The file was changed at this time.
    Written(Timestamp),
    /// Bodies that were asked for.
    Paged {
        /// The entries that wait for them.
        entries: Vec<EntryId>,
        /// Contents by record.
        contents: Vec<(Origin, Vec<Held>)>,
    },
    /// What records hold that no block tells.
    Detailed {
        /// Whether all that the records hold was wanted.
        is_whole: bool,
        /// What was found.
        found: Vec<(Origin, Details)>,
    },
    /// Entries that were to be packed.
    Packed(WasPacked),
    /// Results of the search on the thread.
    Searched {
        /// For which search.
        generation: u32,
        /// Which portion was searched.
        number: u32,
        /// Its hits.
        hits: Vec<Hit>,
    },
    /// How far the thread is that reads texts for a filter.
    Filtered {
        /// For which filter.
        generation: u32,
        /// How much has been read.
        percent: u8,
        /// At the end, the blocks that match, with the state of their entries.
        matched: Option<Vec<(Focus, u32)>>,
    },
    /// Records that were asked for, as trees.
    Records {
        /// What they are.
        title: String,
        /// A title and the value of each.
        trees: Vec<(String, Tree)>,
    },
    /// Records that the inspector asked for.
    Inspected(Records),
    /// Sessions that were looked for.
    Seen(Sighting),
    /// What a session is about.
    Previewed(Place, Preview),
    /// Colours that were asked for are ready.
    Coloured,
    /// The terminal has said whether its background is light.
    Background(bool),
    /// Something to tell the reader.
    Say(String),
}

/// Fills what is in sight, before a frame. Says what must be read for it.
pub fn arrange(app: &mut App) -> Vec<Effect> {
    match app.mode {
        Mode::Picker => picker::arrange(app),
        _ => arrange::arrange(&mut app.reader),
    }
}

/// Carries out an event.
pub fn update(app: &mut App, event: Event) -> Vec<Effect> {
    match event {
        Event::Key(press) => {
            let request = route(app, press);
            return carry_out(app, request);
        }
        Event::Mouse(pointer) => return mouse::take(app, pointer),
        Event::Paste(text) => return typing::paste(app, &text),
        Event::Resize(columns, lines) => {
            app.reader.screen.size = (columns, lines);
            app.reader.look_changed();
            help::fit_page(app);
            if app.reader.text.view.selection.is_some() {
                app.reader.text.view.ask(Motion::Select);
            }
        }
        Event::Feed(feed) => return apply::take(&mut app.reader, *feed),
        Event::Tick { now } => {
            app.reader.screen.tick(now);
            let mut effects = alarms::look(&mut app.reader);
            if let Some(action) = route::settle_digit(app) {
                effects.extend(panes::act(app, action, 1));
            }
            return effects;
        }
        Event::Written(at) => app.reader.session.file.last_write = Some(LastWrite::seen(at)),
        Event::Paged { entries, contents } => {
            apply::fill(&mut app.reader, &entries, &contents);
            return clipboard::resume(&mut app.reader);
        }
        Event::Detailed { is_whole, found } => details::take(&mut app.reader, is_whole, found),
        Event::Packed(page) => app.reader.session.take_back(page),
        Event::Searched { generation, number, hits } => {
            return searching::found(&mut app.reader, generation, number, hits);
        }
        Event::Filtered { generation, percent, matched } => {
            filtering::answered(&mut app.reader, generation, percent, matched.as_deref());
        }
        Event::Seen(sighting) => app.picker.see(sighting),
        Event::Previewed(place, preview) => picker::take(app, &place, preview),
        Event::Inspected(records) => inspector::take(&mut app.reader, records),
        Event::Records { title, trees } => raw::show(app, title, &trees),
        Event::Background(is_light) if is_light != app.reader.screen.theme.is_light => {
            return vec![Effect::Theme(if is_light { "light" } else { "dark" }.to_owned())];
        }
        // The next arrangement sees that the colours have changed.
        Event::Coloured | Event::Background(_) => {}
        Event::Say(text) => app.reader.screen.say(text),
    }
    Vec::new()
}

/// Scrolls a pop-up; its last line stays at the foot.
pub fn scroll_pop_up(app: &mut App, by: isize) {
    let height = usize::from(app.reader.screen.size.1).saturating_sub(2);
    let (top, lines) = match &mut app.mode {
        Mode::Help { top, wanted, .. } => (top, help::lines(&app.keys.keymap, wanted.value()).len()),
        Mode::Raw(view) => return view.scroll(by, height),
        Mode::Palette(palette) => return palette::select(palette, by),
        Mode::Picker => return picker::select(app, by),
        Mode::Normal | Mode::Search { .. } | Mode::Filter { .. } | Mode::Pipe { .. } => return,
    };
    *top = top.saturating_add_signed(by).min(lines.saturating_sub(height));
}

fn carry_out(app: &mut App, request: Request) -> Vec<Effect> {
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
        Request::Act(action, times) => panes::act(app, action, times),
        Request::Type(request) => typing::type_on(app, request),
        Request::Complete => {
            typing::complete(app);
            Vec::new()
        }
        Request::Accept if matches!(app.mode, Mode::Picker) => picker::accept(app),
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
        Command::Act(action) => panes::act(app, action, 1),
        Command::Goto(place) => {
            palette::go(&mut app.reader, place);
            Vec::new()
        }
        Command::Set(setting) => palette::set(app, setting),
        Command::Pipe(command) => piping::run_on_focus(app, &command),
        Command::Filter(expr) => {
            let typed = expr.to_string();
            filtering::set(&mut app.reader, &typed, expr)
        }
        Command::Context => {
            as_of::list(app);
            Vec::new()
        }
        Command::Help(page) => {
            help::open_page(app, page);
            Vec::new()
        }
        Command::Watch(wish) => {
            alarms::watch(&mut app.reader, wish);
            Vec::new()
        }
        Command::Watched => {
            alarms::list(app);
            Vec::new()
        }
        Command::Unwatch(name) => {
            alarms::unwatch(&mut app.reader, &name);
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
        Action::Copy(what) if matches!(app.mode, Mode::Raw(_)) => return raw::copy(app, what),
        Action::Pipe => piping::begin(app, times),
        Action::ToggleMouse => return mouse::switch(app, !app.mouse.is_on),
        Action::Sessions => return picker::open(app),
        Action::Palette => palette::open(app),
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
