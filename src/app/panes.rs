//! The panes of the screen: where each part is, which of them are shown, how wide they are, and which one
//! has the keys.
//!
//! Invariant: [`divide`] alone says where things are. Painters and motions use its rectangles; no two of
//! them overlap, but for a pushed inspector, which lies over the transcript.

use ratatui::layout::Rect;

use super::action::{Action, Change, Kind, Way};
use super::effect::Effect;
use super::inspector;
use super::mode::Mode;
use super::moving::jump;
use super::state::State;
use super::update;
use super::views::{self, View};
use super::wrapping::width_of_numbers;

/// Columns of the lane gutter; more of them where the text has all the room that it needs.
const LANES: (u16, u16) = (2, 4);
/// Columns beside the lane gutter: the focus mark before it, one of air behind it.
const MARK_AND_AIR: u16 = 2;
/// Columns after the text: one of air, the spine.
pub const RIGHT: u16 = 2;
/// Longer lines are hard to read: what is beyond them belongs to the inspector.
const TEXT_MOST: u16 = 100;
/// With so many columns it reads well: more go to the panes beside it first.
const TEXT_GOOD: u16 = 88;
/// The transcript keeps so many columns, however far the dividers are moved.
const TRANSCRIPT_LEAST: u16 = 28;
/// The outline needs this many columns of screen, unless it is asked for.
const OUTLINE_FROM: u16 = 100;
/// And this many if it is.
const OUTLINE_LEAST_SCREEN: u16 = 60;
/// Columns of the outline with its divider.
const OUTLINE: (u16, u16) = (32, 60);
/// The inspector is a pane on screens with this many columns; on others it lies over the transcript.
const INSPECTOR_FROM: u16 = 160;
/// Columns of the inspector with its divider, at least.
const INSPECTOR: u16 = 44;
/// With so many of them its tabs have their names.
const INSPECTOR_NAMED: u16 = 59;
/// No pane is narrower.
const NARROWEST: u16 = 16;
/// Lines of screen that the time strip needs, unless it is asked for.
const STRIP_FROM: u16 = 30;
/// And if it is.
const STRIP_LEAST_SCREEN: u16 = 12;
/// Columns by which a key moves a divider.
const STEP: u16 = 2;

/// A pane that can have the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// Turns, branches, checks and files.
    Outline,
    /// The text.
    #[default]
    Transcript,
    /// A page over the text, or below it.
    View,
    /// All about the focused item.
    Inspector,
}

/// The reader's wishes for the panes; `None` leaves a thing to the size of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Panes {
    /// Whether the outline is shown.
    pub wants_outline: Option<bool>,
    /// Whether the inspector is shown where it has room beside the transcript.
    pub wants_inspector: Option<bool>,
    /// Whether the time strip is shown.
    pub wants_strip: Option<bool>,
    /// Columns of the outline with its divider.
    pub outline_width: Option<u16>,
    /// Columns of the inspector with its divider.
    pub inspector_width: Option<u16>,
    /// The pane that has the keys, as long as it is shown: ask [`focused`].
    pub focus: Pane,
    /// Whether the inspector lies over the transcript, where it has no room beside it.
    pub is_pushed: bool,
}

/// Where the parts of the screen are; what is not shown has no columns or no lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The first line.
    pub header: Rect,
    /// The outline.
    pub outline: Rect,
    /// The line between outline and transcript.
    pub outline_divider: Rect,
    /// Numbers, focus mark, lane gutter, text and a column of air.
    pub transcript: Rect,
    /// Columns of the numbers.
    pub numbers: u16,
    /// Columns of the lane gutter.
    pub lanes: u16,
    /// The column right of the transcript.
    pub spine: Rect,
    /// The line between transcript and inspector.
    pub inspector_divider: Rect,
    /// The inspector.
    pub inspector: Rect,
    /// Whether the inspector lies over transcript and spine.
    pub is_pushed: bool,
    /// The page of a view: over transcript, spine and pill, or below all panes.
    pub view: Rect,
    /// Whether it lies over them.
    pub covers: bool,
    /// What arrived below, under the transcript.
    pub pill: Rect,
    /// The time strip.
    pub strip: Rect,
    /// The status line.
    pub status: Rect,
    /// The line of hints.
    pub hints: Rect,
}

impl Frame {
    /// Columns of the text, at least 1.
    pub fn text(&self) -> u16 {
        let beside = self.numbers + self.left() + RIGHT;
        (self.transcript.width + self.spine.width).saturating_sub(beside).max(1)
    }

    /// Columns between the numbers and the text: focus mark, lane gutter, air.
    pub fn left(&self) -> u16 {
        self.lanes + MARK_AND_AIR
    }

    /// Lines of the transcript.
    pub fn lines(&self) -> u16 {
        self.transcript.height
    }

    /// The panes that are in sight, from left to right.
    pub fn panes(&self) -> impl Iterator<Item = Pane> {
        let outline = (self.outline.width > 0).then_some(Pane::Outline);
        let middle = if self.covers { Pane::View } else { Pane::Transcript };
        let middle = (!self.is_pushed).then_some(middle);
        let inspector = (self.inspector.width > 0).then_some(Pane::Inspector);
        let below = (self.view.width > 0 && !self.covers).then_some(Pane::View);
        [outline, middle, inspector, below].into_iter().flatten()
    }
}

/// Divides the screen. Tiny screens give up hints, status and header in this order.
pub fn divide(state: &State) -> Frame {
    divide_with(state, state.views.open())
}

/// Divides the screen as it is with a view.
pub fn divide_with(state: &State, view: Option<View>) -> Frame {
    let (columns, lines) = state.screen.size;
    let mut rest = Rect { x: 0, y: 0, width: columns, height: lines };
    let is_strip_shown = match state.panes.wants_strip {
        Some(is_wanted) => is_wanted && lines >= STRIP_LEAST_SCREEN,
        None => lines >= STRIP_FROM,
    };
    let header = from_top(&mut rest, lines >= 3);
    let hints = from_bottom(&mut rest, state.screen.shows_hints && lines >= 10);
    let status = from_bottom(&mut rest, lines >= 2);
    let strip = from_bottom(&mut rest, is_strip_shown);
    let below = lines_from_bottom(&mut rest, view.map_or(0, |view| view.lines_below(lines)));
    let covers = view.is_some() && below.height == 0;
    let (outline, outline_divider) = split_outline(state, covers, &mut rest);
    let (mut inspector, inspector_divider) = split_inspector(state, columns, &mut rest);
    let view = match view {
        Some(_) if covers => rest,
        Some(_) => below,
        None => Rect { width: 0, ..rest },
    };
    let pill = from_bottom(&mut rest, !state.text.view.follows() && state.text.unseen > 0 && lines >= 6);
    let is_pushed = state.panes.is_pushed && columns < INSPECTOR_FROM;
    if is_pushed {
        inspector = Rect { height: rest.height + pill.height, ..rest };
    }
    let spine_width = rest.width.min(1);
    let transcript = Rect { width: rest.width - spine_width, ..rest };
    let spine = Rect { x: transcript.right(), width: spine_width, ..rest };
    let numbers = width_of_numbers(state);
    let numbers = if transcript.width >= numbers + TRANSCRIPT_LEAST { numbers } else { 0 };
    Frame {
        header,
        numbers,
        lanes: width_of_lanes(state, rest.width.saturating_sub(numbers)),
        outline,
        outline_divider,
        transcript,
        spine,
        inspector_divider,
        inspector,
        is_pushed,
        view,
        covers,
        pill,
        strip,
        status,
        hints,
    }
}

/// Columns of the lane gutter where text and gutters have so many.
fn width_of_lanes(state: &State, columns: u16) -> u16 {
    if !state.text.wrapping.lanes {
        return 0;
    }
    let (least, most) = LANES;
    let spare = columns.saturating_sub(TEXT_MOST + least + MARK_AND_AIR + RIGHT);
    least + spare.min(most - least)
}

/// Columns of the outline where the reader did not choose any: half of what others can spare.
fn width_of_outline(state: &State, columns: u16) -> u16 {
    let (least, most) = OUTLINE;
    let inspector = if has_inspector_beside(state, columns) { INSPECTOR_NAMED } else { 0 };
    let taken = least + inspector + TEXT_GOOD + LANES.1 + MARK_AND_AIR + RIGHT;
    (least + columns.saturating_sub(taken) / 2).min(most)
}

/// Whether the inspector is a pane of its own.
fn has_inspector_beside(state: &State, columns: u16) -> bool {
    columns >= INSPECTOR_FROM && state.panes.wants_inspector != Some(false)
}

/// A page needs the room of the outline, unless the reader asked for that. On wide screens the
/// text keeps its width whatever the session holds; on others one turn needs no outline.
fn split_outline(state: &State, is_paging: bool, rest: &mut Rect) -> (Rect, Rect) {
    let is_wide = rest.width >= INSPECTOR_FROM || state.session.transcript.turns().len() > 1;
    let is_shown = match state.panes.wants_outline {
        Some(is_wanted) => is_wanted && rest.width >= OUTLINE_LEAST_SCREEN,
        None => rest.width >= OUTLINE_FROM && is_wide && !is_paging,
    };
    if !is_shown {
        return (Rect { width: 0, ..*rest }, Rect { width: 0, ..*rest });
    }
    let width = state.panes.outline_width.unwrap_or_else(|| width_of_outline(state, rest.width));
    let width = within(width, rest.width);
    let pane = Rect { width: width - 1, ..*rest };
    let divider = Rect { x: pane.right(), width: 1, ..*rest };
    rest.x += width;
    rest.width -= width;
    (pane, divider)
}

fn split_inspector(state: &State, columns: u16, rest: &mut Rect) -> (Rect, Rect) {
    if !has_inspector_beside(state, columns) {
        let nowhere = Rect { x: rest.right(), width: 0, ..*rest };
        return (nowhere, nowhere);
    }
    let beside = |text: u16| rest.width.saturating_sub(text + LANES.1 + MARK_AND_AIR + RIGHT);
    let least = if beside(TEXT_GOOD) >= INSPECTOR_NAMED { INSPECTOR_NAMED } else { INSPECTOR };
    let width = within(state.panes.inspector_width.unwrap_or(beside(TEXT_MOST).max(least)), rest.width);
    rest.width -= width;
    let divider = Rect { x: rest.right(), width: 1, ..*rest };
    (Rect { x: divider.right(), width: width - 1, ..*rest }, divider)
}

/// A width that leaves the transcript its share.
fn within(width: u16, columns: u16) -> u16 {
    width.min(columns.saturating_sub(TRANSCRIPT_LEAST)).max(NARROWEST)
}

fn from_top(rest: &mut Rect, is_shown: bool) -> Rect {
    let height = u16::from(is_shown).min(rest.height);
    let taken = Rect { height, ..*rest };
    rest.y += height;
    rest.height -= height;
    taken
}

fn from_bottom(rest: &mut Rect, is_shown: bool) -> Rect {
    lines_from_bottom(rest, u16::from(is_shown))
}

fn lines_from_bottom(rest: &mut Rect, lines: u16) -> Rect {
    let height = lines.min(rest.height);
    rest.height -= height;
    Rect { y: rest.bottom(), height, ..*rest }
}

/// The pane that has the keys: one that is not in sight cannot have them.
pub fn focused(state: &State) -> Pane {
    let frame = divide(state);
    let wanted = state.panes.focus;
    if frame.panes().any(|pane| pane == wanted) {
        wanted
    } else if frame.is_pushed {
        Pane::Inspector
    } else if frame.covers {
        Pane::View
    } else {
        Pane::Transcript
    }
}

/// Carries out an action: the pane that has the keys takes what is its own, the rest is for the transcript.
pub fn act(state: &mut State, action: Action, times: usize) -> Vec<Effect> {
    let own = match focused(state) {
        _ if !matches!(state.mode, Mode::Normal) => None,
        // The page below it is what was opened last.
        Pane::Transcript if action == Action::Quit => views::act(state, action, times),
        Pane::Transcript => None,
        Pane::Outline => within_outline(state, action, times),
        Pane::View => views::act(state, action, times),
        Pane::Inspector => inspector::act(state, action, times).or_else(|| leave(state, action)),
    };
    own.unwrap_or_else(|| update::act(state, action, times))
}

/// Changes what is shown, how wide it is, or which pane has the keys.
pub fn change(state: &mut State, change: Change, times: usize) {
    let frame = divide(state);
    match change {
        Change::Outline => show_outline(state, frame.outline.width == 0),
        Change::Inspector => show_inspector(state, frame.inspector.width == 0),
        Change::Focus(Way::Next) => cycle(state, times),
        // All the way round but for so many steps.
        Change::Focus(Way::Previous) => cycle(state, frame.panes().count().saturating_sub(1) * times),
        Change::DividerLeft => move_divider(state, -step(times)),
        Change::DividerRight => move_divider(state, step(times)),
    }
}

/// What the outline does with an action.
fn within_outline(state: &mut State, action: Action, times: usize) -> Option<Vec<Effect>> {
    let times = isize::try_from(times).unwrap_or(isize::MAX);
    let page = isize::try_from(state.outline.height()).unwrap_or(1).max(1);
    match action {
        Action::Next | Action::LineDown => state.outline.step(times),
        Action::Previous | Action::LineUp => state.outline.step(-times),
        Action::PageDown => state.outline.step(page.saturating_mul(times)),
        Action::PageUp => state.outline.step(page.saturating_mul(-times)),
        Action::HalfDown => state.outline.step((page / 2).max(1).saturating_mul(times)),
        Action::HalfUp => state.outline.step((page / 2).max(1).saturating_mul(-times)),
        Action::Top => state.outline.step(isize::MIN / 2),
        Action::Bottom => state.outline.step(isize::MAX / 2),
        Action::Seek(Kind::Prompt, way) => state.outline.step_section(way == Way::Next),
        Action::Expand => {
            match state.outline.target(&state.session.transcript, &state.session.indexes.files, &state.checks)
            {
                Some(focus) => {
                    state.panes.focus = Pane::Transcript;
                    jump(state, focus);
                }
                None => state.screen.say("this leads nowhere"),
            }
        }
        action => return leave(state, action),
    }
    Some(Vec::new())
}

/// Back to the transcript.
fn leave(state: &mut State, action: Action) -> Option<Vec<Effect>> {
    if !matches!(action, Action::Cancel | Action::Quit) {
        return None;
    }
    state.panes.is_pushed &= state.panes.focus != Pane::Inspector && focused(state) != Pane::Inspector;
    state.panes.focus = Pane::Transcript;
    Some(Vec::new())
}

fn cycle(state: &mut State, by: usize) {
    let shown: Vec<Pane> = divide(state).panes().collect();
    let here = focused(state);
    let at = shown.iter().position(|pane| *pane == here).unwrap_or(0);
    let next = shown.get((at + by) % shown.len().max(1)).copied().unwrap_or_default();
    if next == here {
        state.screen.say("nothing else is shown; i opens the inspector, I the outline");
    }
    state.panes.focus = next;
}

/// Shows the outline, or hides it.
pub fn show_outline(state: &mut State, is_shown: bool) {
    state.panes.wants_outline = Some(is_shown);
    state.look_changed();
}

/// Shows the inspector beside the transcript, or over it where there is no room; or hides it.
pub fn show_inspector(state: &mut State, is_shown: bool) {
    if state.screen.size.0 >= INSPECTOR_FROM {
        state.panes.wants_inspector = Some(is_shown);
    } else {
        state.panes.is_pushed = is_shown;
        state.panes.focus = if is_shown { Pane::Inspector } else { Pane::Transcript };
    }
    state.look_changed();
}

fn step(times: usize) -> i32 {
    i32::try_from(times.min(200)).unwrap_or(1) * i32::from(STEP)
}

/// Moves the divider of the pane that has the keys; of the transcript the one at its right, else the one at
/// its left.
fn move_divider(state: &mut State, by: i32) {
    let frame = divide(state);
    let is_inspector_beside = frame.inspector_divider.width > 0;
    match focused(state) {
        Pane::Inspector | Pane::Transcript | Pane::View if is_inspector_beside => {
            widen_inspector(state, frame.inspector.width, -by);
        }
        Pane::Outline | Pane::Transcript | Pane::View if frame.outline.width > 0 => {
            widen_outline(state, frame.outline.width, by);
        }
        Pane::Outline | Pane::Transcript | Pane::View | Pane::Inspector => {
            state.screen.say("there is no divider to move");
        }
    }
}

fn widen_outline(state: &mut State, now: u16, by: i32) {
    state.panes.outline_width = Some(moved(now + 1, by));
    state.panes.outline_width = Some(divide(state).outline.width + 1);
    state.look_changed();
}

fn widen_inspector(state: &mut State, now: u16, by: i32) {
    state.panes.inspector_width = Some(moved(now + 1, by));
    state.panes.inspector_width = Some(divide(state).inspector.width + 1);
    state.look_changed();
}

fn moved(width: u16, by: i32) -> u16 {
    u16::try_from((i32::from(width) + by).max(0)).unwrap_or(u16::MAX)
}

/// Moves a divider to a column of the screen, as a mouse does.
pub fn drag_divider(state: &mut State, pane: Pane, column: u16) {
    let frame = divide(state);
    match pane {
        Pane::Outline if frame.outline.width > 0 => {
            let by = i32::from(column) - i32::from(frame.outline_divider.x);
            widen_outline(state, frame.outline.width, by);
        }
        Pane::Inspector if frame.inspector_divider.width > 0 => {
            let by = i32::from(frame.inspector_divider.x) - i32::from(column);
            widen_inspector(state, frame.inspector.width, by);
        }
        Pane::Outline | Pane::Inspector | Pane::View | Pane::Transcript => {}
    }
}
