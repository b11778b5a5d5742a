//! Events and actions to changes of the state. All meaning is here; no I/O, no clock.

use tui_input::Input;

use super::action::Action;
use super::alarms;
use super::apply;
use super::as_of;
use super::branch_folds;
use super::clipboard::{self, focused_origins};
use super::command::Command;
use super::details;
use super::effect::Effect;
use super::filtering;
use super::folding::{collapse, expand, fold_all, set_level, toggle_fold};
use super::help;
use super::inspector::{self, Records};
use super::keys::Press;
use super::marks;
use super::mode::Mode;
use super::mouse::{self, Pointer};
use super::moving::{follow, pair, same_id, scroll, seek_on, to_branch};
use super::palette;
use super::panes;
use super::picker;
use super::piping;
use super::raw;
use super::route::{self, Request, route};
use super::search::Hit;
use super::searching;
use super::selecting;
use super::state::State;
use super::typing::{self, Finished};
use super::viewport::{Focus, Motion};
use super::views;
use super::wrapping;
use crate::analysis::activity::LastWrite;
use crate::model::body::{Held, Tree};
use crate::model::details::Details;
use crate::model::edit::Feed;
use crate::model::entry::EntryId;
use crate::model::found::{Place, Preview, Sighting};
use crate::model::pages::WasPacked;
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;
use crate::render::row::Level;

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

/// Carries out an event.
pub fn update(state: &mut State, event: Event) -> Vec<Effect> {
    match event {
        Event::Key(press) => {
            let request = route(state, press);
            return carry_out(state, request);
        }
        Event::Mouse(pointer) => return mouse::take(state, pointer),
        Event::Paste(text) => return typing::paste(state, &text),
        Event::Resize(columns, lines) => {
            state.screen.size = (columns, lines);
            state.look_changed();
            help::fit_page(state);
            if state.text.view.selection.is_some() {
                state.text.view.ask(Motion::Select);
            }
        }
        Event::Feed(feed) => return apply::take(state, *feed),
        Event::Tick { now } => {
            state.screen.tick(now);
            let mut effects = alarms::look(state);
            if let Some(action) = route::settle_digit(state) {
                effects.extend(panes::act(state, action, 1));
            }
            return effects;
        }
        Event::Written(at) => state.session.file.last_write = Some(LastWrite::seen(at)),
        Event::Paged { entries, contents } => {
            apply::fill(state, &entries, &contents);
            return clipboard::resume(state);
        }
        Event::Detailed { is_whole, found } => details::take(state, is_whole, found),
        Event::Packed(page) => state.session.take_back(page),
        Event::Searched { generation, number, hits } => {
            return searching::found(state, generation, number, hits);
        }
        Event::Filtered { generation, percent, matched } => {
            filtering::answered(state, generation, percent, matched.as_deref());
        }
        Event::Seen(sighting) => state.picker.see(sighting),
        Event::Previewed(place, preview) => picker::take(state, &place, preview),
        Event::Inspected(records) => inspector::take(state, records),
        Event::Records { title, trees } => raw::show(state, title, &trees),
        Event::Background(is_light) if is_light != state.screen.theme.is_light => {
            return vec![Effect::Theme(if is_light { "light" } else { "dark" }.to_owned())];
        }
        // The next arrangement sees that the colours have changed.
        Event::Coloured | Event::Background(_) => {}
        Event::Say(text) => state.screen.say(text),
    }
    Vec::new()
}

/// Scrolls a pop-up; its last line stays at the foot.
pub fn scroll_pop_up(state: &mut State, by: isize) {
    let height = usize::from(state.screen.size.1).saturating_sub(2);
    let (top, lines) = match &mut state.mode {
        Mode::Help { top, wanted, .. } => (top, help::lines(&state.keys.keymap, wanted.value()).len()),
        Mode::Raw(view) => return view.scroll(by, height),
        Mode::Palette(palette) => return palette::select(palette, by),
        Mode::Picker => return picker::select(state, by),
        Mode::Normal | Mode::Search { .. } | Mode::Filter { .. } | Mode::Pipe { .. } => return,
    };
    *top = top.saturating_add_signed(by).min(lines.saturating_sub(height));
}

fn carry_out(state: &mut State, request: Request) -> Vec<Effect> {
    let goes_on = matches!(request, Request::Wait | Request::Act(Action::NextHit | Action::PreviousHit, _));
    if !goes_on {
        state.find.sought = None;
    }
    if matches!(request, Request::Type(_)) {
        return act_on(state, request);
    }
    let mut effects = searching::catch_up(state);
    effects.extend(act_on(state, request));
    effects
}

fn act_on(state: &mut State, request: Request) -> Vec<Effect> {
    match request {
        Request::Act(action, times) => panes::act(state, action, times),
        Request::Type(request) => typing::type_on(state, request),
        Request::Complete => {
            typing::complete(state);
            Vec::new()
        }
        Request::Accept if matches!(state.mode, Mode::Picker) => picker::accept(state),
        Request::Accept => match typing::accept(state) {
            Finished::Command(command) => run(state, command),
            Finished::Effects(effects) => effects,
        },
        Request::Recall(is_older) => typing::recall(state, is_older),
        Request::ToggleLiteral => searching::toggle_literal(state),
        Request::ScrollPopUp(by) => {
            scroll_pop_up(state, by);
            Vec::new()
        }
        Request::Wait => Vec::new(),
    }
}

/// Carries out a command.
fn run(state: &mut State, command: Command) -> Vec<Effect> {
    match command {
        Command::Act(action) => panes::act(state, action, 1),
        Command::Goto(place) => {
            palette::go(state, place);
            Vec::new()
        }
        Command::Set(setting) => palette::set(state, setting),
        Command::Pipe(command) => piping::run_on_focus(state, &command),
        Command::Filter(expr) => {
            let typed = expr.to_string();
            filtering::set(state, &typed, expr)
        }
        Command::Context => {
            as_of::list(state);
            Vec::new()
        }
        Command::Help(page) => {
            help::open_page(state, page);
            Vec::new()
        }
        Command::Watch(wish) => {
            alarms::watch(state, wish);
            Vec::new()
        }
        Command::Watched => {
            alarms::list(state);
            Vec::new()
        }
        Command::Unwatch(name) => {
            alarms::unwatch(state, &name);
            Vec::new()
        }
        Command::Forget => {
            state.places.marks.clear();
            (state.places.seen, state.places.news) = (None, None);
            state.look_changed();
            vec![Effect::Forget]
        }
    }
}

fn open_help(state: &mut State) {
    let is_over_picker = matches!(state.mode, Mode::Picker);
    state.mode = Mode::Help { top: 0, wanted: Input::default(), is_typing: false, is_over_picker };
}

fn to_top(state: &mut State) -> Vec<Effect> {
    state.remember_place();
    let effects = apply::to_beginning(state);
    scroll(state, Motion::Top);
    effects
}

fn to_bottom(state: &mut State) -> Vec<Effect> {
    state.remember_place();
    follow(state)
}

fn toggle_thinking(state: &mut State) {
    state.text.shows_thinking = !state.text.shows_thinking;
    state.look_changed();
}

fn edit(state: &mut State) -> Option<Effect> {
    focused_origins(state)?.first().copied().map(Effect::Edit)
}

/// Carries out an action so many times, whichever pane has the keys.
pub fn act(state: &mut State, action: Action, times: usize) -> Vec<Effect> {
    if matches!(state.mode, Mode::Normal)
        && let Some(effects) = selecting::act(state, action)
    {
        return effects;
    }
    state.session.ends.forget_wish();
    let n = isize::try_from(times).unwrap_or(isize::MAX);
    match action {
        Action::Next => scroll(state, Motion::Items(n)),
        Action::Previous => scroll(state, Motion::Items(-n)),
        Action::LineDown => scroll(state, Motion::Lines(n)),
        Action::LineUp => scroll(state, Motion::Lines(-n)),
        // Even numbers of half pages are whole pages.
        Action::PageDown => scroll(state, Motion::HalfPages(n.saturating_mul(2))),
        Action::PageUp => scroll(state, Motion::HalfPages(n.saturating_mul(-2))),
        Action::HalfDown => (0..times.min(1_000)).for_each(|_| scroll(state, Motion::HalfPages(1))),
        Action::HalfUp => (0..times.min(1_000)).for_each(|_| scroll(state, Motion::HalfPages(-1))),
        Action::Top => return to_top(state),
        Action::Bottom => return to_bottom(state),
        Action::ToggleFollow if state.text.view.follows() => scroll(state, Motion::Pause),
        Action::ToggleFollow => return follow(state),
        Action::Seek(kind, way) => (0..times.min(1_000)).for_each(|_| seek_on(state, kind, way)),
        // As in other pagers: half down is `50%`.
        Action::Pair if times > 1 => palette::go_down(state, times.min(100) as u64, 100),
        Action::Pair => pair(state),
        Action::Collapse => collapse(state),
        Action::Expand => return expand(state),
        Action::ToggleFold => toggle_fold(state),
        Action::FoldBranch => branch_folds::toggle(state),
        Action::Branch => to_branch(state, times),
        Action::OpenAll => fold_all(state, Level::Full),
        Action::CloseAll => fold_all(state, Level::Outline),
        Action::LevelUp => set_level(state, state.text.level.number() + 1),
        Action::LevelDown => set_level(state, state.text.level.number() - 1),
        Action::Level(number) => set_level(state, number),
        Action::ToggleThinking => toggle_thinking(state),
        Action::ToggleAsOf => as_of::switch(state, !state.text.as_of.is_on),
        Action::ToggleTools => set_level(state, if state.text.level == Level::Preview { 4 } else { 3 }),
        Action::Search | Action::NextHit | Action::PreviousHit | Action::Mention(_) => {
            return searching::act(state, action, times);
        }
        Action::SameId(way) => (0..times.min(1_000)).for_each(|_| same_id(state, way)),
        Action::Filter | Action::Quick(_) => return filtering::act(state, action),
        Action::SetMark | Action::ToMark | Action::Back | Action::Forward => {
            return marks::act(state, action, times);
        }
        Action::Copy(what) if matches!(state.mode, Mode::Raw(_)) => return raw::copy(state, what),
        Action::Copy(what) => return clipboard::copy(state, what, times),
        Action::Pipe => piping::begin(state, times),
        Action::ToggleMouse => return mouse::switch(state, !state.screen.has_mouse),
        // Taken by the selection.
        Action::Select => {}
        Action::Raw => return focused_origins(state).map(Effect::ShowRecords).into_iter().collect(),
        Action::Edit => return edit(state).into_iter().collect(),
        Action::Inspect(tab) => inspector::choose(state, tab),
        Action::Panes(change) => panes::change(state, change, times),
        Action::ToggleWrap | Action::Sideways(_) | Action::ToggleGutter => {
            wrapping::act(state, action, times);
        }
        Action::View(view) => views::open(state, view),
        // Taken by the views.
        Action::Shift(_) | Action::Reverse => state.screen.say("this is for the views; 2 to 7 open them"),
        Action::Sessions => return picker::open(state),
        Action::Palette => palette::open(state),
        Action::Help => open_help(state),
        Action::Reload => return vec![Effect::Reload],
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return vec![Effect::Suspend],
        Action::Cancel => return typing::cancel(state),
        Action::Quit if state.is_picked => return vec![Effect::Leave],
        Action::Quit | Action::QuitNow => return vec![Effect::Quit],
    }
    Vec::new()
}
