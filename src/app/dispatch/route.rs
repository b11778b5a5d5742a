//! Key presses to actions, by the mode and the table of bindings.

use tui_input::InputRequest;

use crate::app::input::action::{Action, Tab, View, Way, What};
use crate::app::input::chord::Keys;
use crate::app::input::keymap::Match;
use crate::app::input::keys::{Code, Press};
use crate::app::mode::Mode;
use crate::app::panes::Pane;
use crate::app::picker::{self, Picker};
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::model::timestamp::Timestamp;

/// What a key press asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// An action, so many times.
    Act(Action, usize),
    /// A view, unless the next key makes the digit that names it a count.
    Try(View),
    /// A change of the line that is being typed.
    Type(InputRequest),
    /// The typed line is finished.
    Accept,
    /// Complete the typed line, or show more of what is chosen.
    Complete,
    /// Another line that was typed before; an older one if `true`.
    Recall(bool),
    /// Regular expression or literal text.
    ToggleLiteral,
    /// Scroll a pop-up by lines; far beyond its ends stops there.
    ScrollPopUp(isize),
    /// Nothing yet.
    Wait,
}

/// What the meaning of a key depends on.
pub(crate) struct Around<'a> {
    /// What keys mean.
    mode: &'a Mode,
    /// It is now.
    now: Timestamp,
    /// Lines of the screen.
    height: u16,
    /// Lines of the list of sessions.
    lines_to_choose_from: u16,
    /// The tab of the inspector, while that has the keys.
    tab: Option<Tab>,
    /// Whether a view has the keys.
    is_in_view: bool,
    /// Whether rows are selected.
    is_selecting: bool,
}

impl<'a> Around<'a> {
    /// All of it, as things are.
    pub(crate) fn of(mode: &'a Mode, reader: &Reader, picker: &Picker) -> Self {
        let is_of_all = mode.is_of_all();
        Self {
            mode,
            now: reader.screen.now,
            height: reader.screen.size.1,
            lines_to_choose_from: picker::actions::divide(picker, &reader.screen).lines,
            tab: (!is_of_all && reader.focused() == Pane::Inspector)
                .then_some(reader.inspector.tab),
            is_in_view: is_of_all || reader.focused() == Pane::View,
            is_selecting: !is_of_all && reader.text.view.selection.is_some(),
        }
    }
}

/// More is no sensible count.
const MAX_COUNT: usize = 99_999;

/// What a key press means just now. Keeps the keys of unfinished chords and counts in the state.
pub(crate) fn route(keys: &mut Keys, around: &Around<'_>, press: Press) -> Request {
    match around.mode {
        Mode::Search { .. } => match (press.code, press.ctrl) {
            (Code::Char('r'), true) => Request::ToggleLiteral,
            _ => recalling(press),
        },
        Mode::Filter { .. } | Mode::Pipe { .. } => recalling(press),
        Mode::Help {
            is_typing: true, ..
        }
        | Mode::OnWall { .. } => typing(press),
        Mode::Palette(_) => choosing(press),
        Mode::Picker => picking(around.lines_to_choose_from, press),
        Mode::Help { .. } if press.typed() == Some('/') => Request::Type(InputRequest::GoToEnd),
        Mode::Resume(_) => resuming(press),
        Mode::Raw(view) => raw(keys, view.is_list, around.height, press),
        Mode::Help { .. } => pop_up(around.height, press),
        Mode::Normal | Mode::Wall | Mode::Ledger => normal(keys, around, press),
    }
}

fn normal(keys: &mut Keys, around: &Around<'_>, press: Press) -> Request {
    if let Some(tab) = tab_of(keys, around.tab, press) {
        return Request::Act(Action::Inspect(tab), 1);
    }
    if let Some(digit) = digit_of_count(keys, press).filter(|_| !around.is_in_view) {
        // One digit may be a key of its own; two are a count.
        let own = own_meaning(keys, press).filter(|_| keys.count.is_none() && !around.is_selecting);
        return match own {
            Some(Action::View(view)) => {
                (keys.count, keys.typed_digit) = (Some(digit), Some(around.now));
                Request::Try(view)
            }
            Some(action) => Request::Act(action, 1),
            None => {
                keys.count = Some((keys.count.unwrap_or(0) * 10 + digit).min(MAX_COUNT));
                Request::Wait
            }
        };
    }
    // What is selected can only be copied as it is: no second key says what of it.
    if around.is_selecting && keys.pressed.is_empty() && press.typed() == Some('y') {
        keys.count = None;
        return Request::Act(Action::Copy(What::Text), 1);
    }
    let cancels = press.code == Code::Esc && (!keys.pressed.is_empty() || keys.count.is_some());
    keys.pressed.push(press);
    match keys.keymap.look_up(&keys.pressed) {
        _ if cancels => {
            keys.pressed.clear();
            keys.count = None;
            Request::Wait
        }
        Match::Action(action) => {
            keys.letter = press.typed();
            keys.pressed.clear();
            Request::Act(action, keys.count.take().unwrap_or(1).max(1))
        }
        Match::Prefix => Request::Wait,
        Match::None => {
            keys.pressed.clear();
            keys.count = None;
            Request::Wait
        }
    }
}

/// In how many ms the next frame would show more, because the cursor rests.
pub fn rests_for(app: &App) -> Option<u64> {
    app.reader.inspector.rests_for(app.reader.screen.now)
}

/// What a key means that no other one has followed.
fn own_meaning(keys: &Keys, press: Press) -> Option<Action> {
    match keys.keymap.look_up(&[press]) {
        Match::Action(action) => Some(action),
        Match::Prefix | Match::None => None,
    }
}

/// While the inspector has the keys, digits choose its tabs, and what folds and unfolds elsewhere chooses
/// the one beside; `enter` goes to what a row names.
fn tab_of(keys: &Keys, here: Option<Tab>, press: Press) -> Option<Tab> {
    let here = here.filter(|_| keys.pressed.is_empty())?;
    if let Some(digit) = press.typed().and_then(|typed| typed.to_digit(10)) {
        return Tab::of(usize::try_from(digit).ok()?);
    }
    match keys.keymap.look_up(&[press]) {
        Match::Action(Action::Expand) if press.code != Code::Enter => {
            here.beside(Way::Next).or(Some(here))
        }
        Match::Action(Action::Collapse) => here.beside(Way::Previous).or(Some(here)),
        _ => None,
    }
}

/// Digits count only at the start of a key sequence, and 0 only after another digit.
fn digit_of_count(keys: &Keys, press: Press) -> Option<usize> {
    if !keys.pressed.is_empty() {
        return None;
    }
    let digit = usize::try_from(press.typed()?.to_digit(10)?).ok()?;
    (digit > 0 || keys.count.is_some()).then_some(digit)
}

fn typing(press: Press) -> Request {
    match (press.code, press.ctrl) {
        (Code::Enter, _) => Request::Accept,
        (Code::Esc, _) | (Code::Char('c' | 'g'), true) => Request::Act(Action::Cancel, 1),
        (Code::Backspace, false) | (Code::Char('h'), true) => {
            Request::Type(InputRequest::DeletePrevChar)
        }
        (Code::Delete, _) => Request::Type(InputRequest::DeleteNextChar),
        (Code::Left, false) => Request::Type(InputRequest::GoToPrevChar),
        (Code::Right, false) => Request::Type(InputRequest::GoToNextChar),
        (Code::Left, true) => Request::Type(InputRequest::GoToPrevWord),
        (Code::Right, true) => Request::Type(InputRequest::GoToNextWord),
        (Code::Home, _) | (Code::Char('a'), true) => Request::Type(InputRequest::GoToStart),
        (Code::End, _) | (Code::Char('e'), true) => Request::Type(InputRequest::GoToEnd),
        (Code::Char('w') | Code::Backspace, true) => Request::Type(InputRequest::DeletePrevWord),
        (Code::Char('u'), true) => Request::Type(InputRequest::DeleteLine),
        _ => press.typed().map_or(Request::Wait, |c| {
            Request::Type(InputRequest::InsertChar(c))
        }),
    }
}

/// Lines that were typed before can be called back.
fn recalling(press: Press) -> Request {
    match (press.code, press.ctrl) {
        (Code::Up, _) | (Code::Char('p'), true) => Request::Recall(true),
        (Code::Down, _) | (Code::Char('n'), true) => Request::Recall(false),
        _ => typing(press),
    }
}

/// While a command is typed, what could be meant can be chosen.
fn choosing(press: Press) -> Request {
    match (press.code, press.ctrl) {
        (Code::Up, _) | (Code::Char('p' | 'k'), true) => Request::ScrollPopUp(-1),
        (Code::Down, _) | (Code::Char('n' | 'j'), true) => Request::ScrollPopUp(1),
        (Code::PageUp, _) => Request::ScrollPopUp(-10),
        (Code::PageDown, _) => Request::ScrollPopUp(10),
        (Code::Tab, _) => Request::Complete,
        _ => typing(press),
    }
}

/// While a session is chosen, what is typed narrows the list, and the list moves.
fn picking(lines: u16, press: Press) -> Request {
    let page = isize::try_from(lines.saturating_sub(1))
        .unwrap_or(10)
        .max(1);
    match (press.code, press.ctrl) {
        (Code::PageUp, _) => Request::ScrollPopUp(-page),
        (Code::PageDown, _) => Request::ScrollPopUp(page),
        (Code::Home, _) => Request::ScrollPopUp(isize::MIN / 2),
        (Code::End, _) => Request::ScrollPopUp(isize::MAX / 2),
        (Code::F(1), _) => Request::Act(Action::Help, 1),
        // As in a session, where it is the money of that.
        (Code::F(4), _) => Request::Act(Action::Usage, 1),
        (Code::Char('c'), true) => Request::Act(Action::QuitNow, 1),
        (Code::Char('z'), true) => Request::Act(Action::Suspend, 1),
        (Code::Char('l'), true) => Request::Act(Action::Redraw, 1),
        _ => choosing(press),
    }
}

/// While a command is chosen by which the agent goes on.
fn resuming(press: Press) -> Request {
    match (press.code, press.ctrl) {
        (Code::Enter, _) => Request::Accept,
        (Code::Char('j'), false) | (Code::Down | Code::Tab, _) => Request::ScrollPopUp(1),
        (Code::Char('k'), false) | (Code::Up | Code::BackTab, _) => Request::ScrollPopUp(-1),
        (Code::Char('y'), false) => Request::Act(Action::Copy(What::Command), 1),
        (Code::Char('Q'), false) | (Code::Char('c'), true) => Request::Act(Action::QuitNow, 1),
        (Code::Char('z'), true) => Request::Act(Action::Suspend, 1),
        (Code::Char('l'), true) => Request::Act(Action::Redraw, 1),
        (Code::Esc | Code::Char('q'), false) | (Code::Char('r'), true) => {
            Request::Act(Action::Cancel, 1)
        }
        _ => Request::Wait,
    }
}

/// In the raw record `y` waits for what is to be copied.
fn raw(keys: &mut Keys, is_list: bool, height: u16, press: Press) -> Request {
    let is_copying = !std::mem::take(&mut keys.pressed).is_empty();
    match (is_copying, press.typed()) {
        (false, Some('y')) if is_list => Request::Act(Action::Copy(What::Json), 1),
        (false, Some('y')) => {
            keys.pressed.push(press);
            Request::Wait
        }
        (false, _) => pop_up(height, press),
        (true, Some('y' | 'j')) => Request::Act(Action::Copy(What::Json), 1),
        (true, Some('q')) => Request::Act(Action::Copy(What::Query), 1),
        (true, _) => Request::Wait,
    }
}

fn pop_up(height: u16, press: Press) -> Request {
    let page = isize::try_from(height.saturating_sub(4))
        .unwrap_or(10)
        .max(1);
    match (press.code, press.ctrl) {
        (Code::Char('j'), false) | (Code::Down, _) => Request::ScrollPopUp(1),
        (Code::Char('k'), false) | (Code::Up, _) => Request::ScrollPopUp(-1),
        (Code::Char(' ') | Code::PageDown, _) => Request::ScrollPopUp(page),
        (Code::Char('b') | Code::PageUp, _) => Request::ScrollPopUp(-page),
        (Code::Char('d'), true) => Request::ScrollPopUp(page / 2),
        (Code::Char('u'), true) => Request::ScrollPopUp(-page / 2),
        (Code::Char('g'), false) | (Code::Home, _) => Request::ScrollPopUp(isize::MIN / 2),
        (Code::Char('G'), false) | (Code::End, _) => Request::ScrollPopUp(isize::MAX / 2),
        (Code::Char('Q'), false) | (Code::Char('c'), true) => Request::Act(Action::QuitNow, 1),
        (Code::Char('z'), true) => Request::Act(Action::Suspend, 1),
        (Code::Char('l'), true) => Request::Act(Action::Redraw, 1),
        (Code::Esc | Code::Char('q' | '?' | 'r') | Code::F(1), _) => {
            Request::Act(Action::Cancel, 1)
        }
        _ => Request::Wait,
    }
}
