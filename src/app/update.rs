//! Events and actions to changes of the state. All meaning is here; no I/O, no clock.

use ratatui::text::Line;

use super::action::{Action, Kind, Way, What};
use super::bindings::help_lines;
use super::branch_folds;
use super::branches;
use super::excerpt::{self, Excerpt};
use super::feeding;
use super::keys::Press;
use super::route::{Request, route};
use super::searching;
use super::seek;
use super::state::{Effect, Mode, State};
use super::viewport::{Focus, Motion};
use crate::model::body::{Held, Tree};
use crate::model::edit::Feed;
use crate::model::entry::{BlockKind, EntryId};
use crate::model::moment::Moment;
use crate::model::record::Origin;
use crate::render::row::{Fold, Level, Look, Row};
use crate::render::tree;

/// What can happen.
#[derive(Clone, Debug)]
pub enum Event {
    /// A key was pressed.
    Key(Press),
    /// Text was pasted.
    Paste(String),
    /// The screen has this many columns and lines.
    Resize(u16, u16),
    /// The session says something.
    Feed(Box<Feed>),
    /// Time has passed.
    Tick {
        /// It is now.
        now: Moment,
    },
    /// The file was changed at this time.
    Written(Moment),
    /// Bodies that were asked for.
    Paged {
        /// The entries that wait for them.
        entries: Vec<EntryId>,
        /// Contents by record.
        contents: Vec<(Origin, Vec<Held>)>,
    },
    /// Results of the search on the thread.
    Searched {
        /// For which search.
        generation: u32,
        /// New hits.
        hits: Vec<Focus>,
        /// Whether that was all.
        is_complete: bool,
    },
    /// Records that were asked for, as trees.
    Records {
        /// What they are.
        title: String,
        /// A title and the value of each.
        trees: Vec<(String, Tree)>,
    },
    /// Colours that were asked for are ready.
    Coloured,
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
        Event::Paste(text) => return searching::paste(state, &text),
        Event::Resize(columns, lines) => {
            state.size = (columns, lines);
            state.look_changed();
        }
        Event::Feed(feed) => return feeding::take(state, *feed),
        Event::Tick { now } => {
            state.now = now;
            if state.message.as_ref().is_some_and(|message| message.until <= now) {
                state.message = None;
            }
        }
        Event::Written(at) => state.last_write = Some(at),
        Event::Paged { entries, contents } => feeding::fill(state, &entries, &contents),
        Event::Searched { generation, hits, is_complete } => {
            searching::found(state, generation, hits, is_complete);
        }
        Event::Records { title, trees } => show_records(state, title, &trees),
        // The next arrangement sees that the colours have changed.
        Event::Coloured => {}
        Event::Say(text) => state.say(text),
    }
    Vec::new()
}

/// Rows of a pop-up; what is beyond them is in the file, one key (`v`) away.
const RECORD_ROWS: usize = 20_000;

fn show_records(state: &mut State, title: String, trees: &[(String, Tree)]) {
    let look = Look {
        width: state.size.0.saturating_sub(2).max(1),
        level: Level::Raw,
        thinking: true,
        times: false,
        theme: &state.theme,
        colours: &state.colours,
    };
    let mut rows = Vec::new();
    for (name, tree) in trees {
        rows.push(Row { line: Line::styled(name.clone(), state.theme.heading), ..Row::default() });
        rows.extend(tree::rows(tree, usize::from(look.width), RECORD_ROWS, &look));
        rows.push(Row::default());
    }
    state.mode = Mode::Raw { title, rows, top: 0 };
}

/// Scrolls a pop-up; its last line stays at the foot.
fn scroll_pop_up(state: &mut State, by: isize) {
    let height = usize::from(state.size.1).saturating_sub(2);
    let (top, lines) = match &mut state.mode {
        Mode::Help { top } => (top, help_lines()),
        Mode::Raw { top, rows, .. } => (top, rows.len()),
        Mode::Normal | Mode::Search { .. } => return,
    };
    *top = top.saturating_add_signed(by).min(lines.saturating_sub(height));
}

fn carry_out(state: &mut State, request: Request) -> Vec<Effect> {
    if request != Request::Wait {
        state.sought = None;
    }
    match request {
        Request::Act(action, times) => act(state, action, times),
        Request::Type(request) => searching::type_on(state, request),
        Request::Accept => searching::accept(state),
        Request::ScrollPopUp(by) => {
            scroll_pop_up(state, by);
            Vec::new()
        }
        Request::Wait => Vec::new(),
    }
}

/// Carries out an action so many times.
pub fn act(state: &mut State, action: Action, times: usize) -> Vec<Effect> {
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
        Action::Top => {
            state.remember_place();
            scroll(state, Motion::Top);
        }
        Action::Bottom => {
            state.remember_place();
            follow(state);
        }
        Action::ToggleFollow if state.view.follows() => scroll(state, Motion::Pause),
        Action::ToggleFollow => follow(state),
        Action::Seek(kind, way) => (0..times.min(1_000)).for_each(|_| seek_on(state, kind, way)),
        Action::Pair => pair(state),
        Action::Collapse => collapse(state),
        Action::Expand => return expand(state),
        Action::ToggleFold => toggle_fold(state),
        Action::FoldBranch => branch_folds::toggle(state),
        Action::Branch => to_branch(state, times),
        Action::OpenAll => fold_all(state, Level::Full),
        Action::CloseAll => fold_all(state, Level::Outline),
        Action::LevelUp => set_level(state, state.level.number() + 1),
        Action::LevelDown => set_level(state, state.level.number() - 1),
        Action::Level(number) => set_level(state, number),
        Action::ToggleThinking => {
            state.shows_thinking = !state.shows_thinking;
            state.look_changed();
        }
        Action::ToggleTools => set_level(state, if state.level == Level::Preview { 4 } else { 3 }),
        Action::Search | Action::NextHit | Action::PreviousHit => {
            return searching::act(state, action, times);
        }
        Action::Copy(what) => return copy(state, what),
        Action::Raw => {
            return focused_origins(state)
                .map_or_else(Vec::new, |origins| vec![Effect::ShowRecords(origins)]);
        }
        Action::Edit => {
            return focused_origins(state)
                .and_then(|o| o.first().copied())
                .map_or_else(Vec::new, |o| vec![Effect::Edit(o)]);
        }
        Action::Back => back(state),
        Action::ToggleOutline => {
            let is_shown = super::arrange::divide(state).outline > 0;
            state.wants_outline = Some(!is_shown);
            state.look_changed();
        }
        Action::Help => state.mode = Mode::Help { top: 0 },
        Action::Reload => return vec![Effect::Reload],
        Action::Redraw => return vec![Effect::Redraw],
        Action::Suspend => return vec![Effect::Suspend],
        Action::Cancel => return searching::cancel(state),
        Action::Quit | Action::QuitNow => return vec![Effect::Quit],
    }
    Vec::new()
}

fn scroll(state: &mut State, motion: Motion) {
    state.view.ask(motion);
}

fn back(state: &mut State) {
    match state.jumps.pop() {
        Some(focus) => state.view.ask(Motion::Show(focus)),
        None => state.say("no jump to take back"),
    }
}

fn follow(state: &mut State) {
    state.unseen = 0;
    state.view.ask(Motion::Tail);
}

fn seek_on(state: &mut State, kind: Kind, way: Way) {
    let is_hidden = kind == Kind::Thinking && !state.shows_thinking;
    let found = seek::seek(&state.transcript, &state.sequence, state.view.focus, kind, way);
    if let Some(focus) = found.filter(|_| !is_hidden) {
        return jump(state, focus);
    }
    let side = if way == Way::Next { "after" } else { "before" };
    let what = word(kind);
    let words = match kind {
        Kind::Thinking if !state.shows_thinking => "thinking is hidden; t shows it".to_owned(),
        _ if kind != Kind::Prompt && state.level == Level::Prompts => {
            format!("no {what} {side} this among prompts; + shows more")
        }
        _ => format!("no {what} {side} this"),
    };
    state.say(words);
}

/// Jumps to an item. The focus is set at once, so that several jumps before a frame add up.
pub fn jump(state: &mut State, focus: Focus) {
    state.remember_place();
    branch_folds::uncover(state, focus.entry);
    state.view.ask(Motion::Pause);
    state.view.ask(Motion::Show(focus));
    state.view.focus = Some(focus);
}

fn to_branch(state: &mut State, number: usize) {
    match branches::head_of(&state.transcript, number) {
        Some(focus) => jump(state, focus),
        None => state.say(format!("the session left no branch {number}, or went back to it")),
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Prompt => "prompt",
        Kind::Error => "error",
        Kind::Tool => "tool call",
        Kind::Message => "answer",
        Kind::Thinking => "thinking",
        Kind::Lane => "sub-agent",
        Kind::Compaction => "compaction",
        Kind::Branch => "branch",
        Kind::Image => "image",
        Kind::Open => "open call",
    }
}

/// A result stands under its call, so the pair's other half is the end of the same item, unless the
/// result is a stray.
fn pair(state: &mut State) {
    let Some(focus) = state.view.focus else { return };
    if let Some(other) = seek::pair(&state.transcript, focus) {
        return jump(state, other);
    }
    let lines: Vec<_> =
        state.view.lines.iter().filter(|line| super::viewport::focus_of(line) == Some(focus)).collect();
    let Some(line) = lines.first() else { return };
    let rows = line.rows.iter().filter(|row| row.block == focus.block).count();
    let shows_head = line.rows.iter().position(|row| row.block == focus.block) == Some(line.row);
    let block = state.transcript.get(focus.entry).and_then(|entry| entry.blocks.get(focus.block));
    let Some(BlockKind::Call(call)) = block.map(|block| &block.kind) else {
        return state.say("neither a call nor a result");
    };
    if call.state.result().is_none() {
        return state.say("the call has no result");
    }
    let is_all_in_sight = rows == lines.len();
    match (is_all_in_sight, shows_head) {
        (true, _) => state.say("the result is part of this item"),
        (false, true) => state.view.ask(Motion::ShowRow(focus, rows.saturating_sub(1))),
        (false, false) => state.view.ask(Motion::ShowRow(focus, 0)),
    }
}

// === folds ===

fn set_level(state: &mut State, number: u8) {
    let level = Level::of(number.clamp(1, 5));
    if level != state.level {
        state.level = level;
        state.folds.clear();
        state.stale.sequence = true;
        state.look_changed();
    }
}

fn fold_all(state: &mut State, level: Level) {
    state.folds.clear();
    state.stale.sequence = true;
    set_level(state, level.number());
    state.look_changed();
}

fn set_fold(state: &mut State, focus: Focus, fold: Fold) {
    let Some(key) = state.transcript.get(focus.entry).map(|entry| entry.key.clone()) else { return };
    state.folds.set(&key, focus.block, fold);
    state.cache.forget(focus.entry);
}

fn fold_of(state: &State, focus: Focus) -> Fold {
    state.transcript.get(focus.entry).map_or(Fold::ByLevel, |entry| state.folds.get(&entry.key, focus.block))
}

fn toggle_fold(state: &mut State) {
    let Some(focus) = state.view.focus else { return };
    if branch_folds::unfold(state, focus) {
        return;
    }
    let next = match fold_of(state, focus) {
        Fold::Open => Fold::Closed,
        Fold::Closed => Fold::ByLevel,
        Fold::ByLevel if state.level >= Level::Full => Fold::Closed,
        Fold::ByLevel => Fold::Open,
    };
    set_fold(state, focus, next);
}

/// First the sub-agent of a call, then its fold, then to what holds the item.
fn collapse(state: &mut State) {
    let Some(focus) = state.view.focus else { return };
    if let Some(lane) = lane_under(state, focus).filter(|lane| state.open_lanes.contains(lane)) {
        state.open_lanes.remove(&lane);
        state.stale.sequence = true;
        state.cache.forget(focus.entry);
        return;
    }
    let fold = fold_of(state, focus);
    let holder = state.transcript.get(focus.entry).and_then(|entry| seek::starter(&state.transcript, entry));
    match (fold, holder) {
        (Fold::Open, _) => set_fold(state, focus, Fold::ByLevel),
        (Fold::Closed, Some(starter)) => jump(state, starter),
        (Fold::ByLevel, Some(starter)) if state.level <= Level::Outline => jump(state, starter),
        (Fold::Closed, None) => seek_on(state, Kind::Prompt, Way::Previous),
        (Fold::ByLevel, _) => set_fold(state, focus, Fold::Closed),
    }
}

fn expand(state: &mut State) -> Vec<Effect> {
    let Some(focus) = state.view.focus else { return Vec::new() };
    if branch_folds::unfold(state, focus) {
        return Vec::new();
    }
    let fold = fold_of(state, focus);
    let lane = lane_under(state, focus);
    if let Some(lane) = lane.filter(|lane| fold != Fold::Closed && !state.open_lanes.contains(lane)) {
        state.open_lanes.insert(lane);
        state.stale.sequence = true;
        state.cache.forget(focus.entry);
        return Vec::new();
    }
    match fold {
        Fold::Closed => set_fold(state, focus, Fold::ByLevel),
        Fold::ByLevel => set_fold(state, focus, Fold::Open),
        Fold::Open => state.say("all of it is shown; r shows the raw record"),
    }
    Vec::new()
}

fn lane_under(state: &State, focus: Focus) -> Option<crate::model::text::Name> {
    let block = state.transcript.get(focus.entry)?.blocks.get(focus.block)?;
    match &block.kind {
        BlockKind::Call(call) => state.transcript.lane_of_call(&call.key).map(|lane| lane.name.clone()),
        _ => None,
    }
}

// === taking things out ===

/// The records of the focused item: those of its bodies, or of its entry.
fn focused_origins(state: &State) -> Option<Vec<Origin>> {
    let focus = state.view.focus?;
    let entry = state.transcript.get(focus.entry)?;
    let bodies = entry.blocks.get(focus.block).map(|block| block.kind.bodies()).unwrap_or_default();
    let mut origins: Vec<Origin> = Vec::new();
    for origin in bodies.iter().map(|body| body.from).chain(bodies.is_empty().then_some(entry.origin)) {
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    Some(origins)
}

fn copy(state: &mut State, what: What) -> Vec<Effect> {
    let (Some(focus), Some(origins)) = (state.view.focus, focused_origins(state)) else { return Vec::new() };
    let text = match what {
        What::Json => return vec![Effect::CopyRecords(origins)],
        What::Path => path_of(state, &origins),
        what => match state.transcript.get(focus.entry).map(|entry| excerpt::of(entry, focus.block, what)) {
            Some(Excerpt::Text(text)) => Some(text),
            Some(Excerpt::Nothing(why)) => {
                state.say(why);
                None
            }
            Some(Excerpt::Away) => {
                state.say("still being read; try again");
                None
            }
            None => None,
        },
    };
    text.map_or_else(Vec::new, |text| vec![Effect::Copy(text)])
}

fn path_of(state: &State, origins: &[Origin]) -> Option<String> {
    let origin = origins.first()?;
    let number = usize::try_from(origin.file.0).ok()?;
    let path = state.files.get(number)?;
    Some(format!("{}:{}", path.display(), origin.line))
}
