//! Routing of key presses to actions: by the keymap on a session or a list, by fixed keys
//! elsewhere.

use tui_input::InputRequest;

use crate::app::input::action::{Action, CopyTarget, Tab, View, Way};
use crate::app::input::key_state::KeyState;
use crate::app::input::keymap::{KeyMatch, shown};
use crate::app::input::keys::{Code, Press};
use crate::app::mode::Mode;
use crate::app::panes::Pane;
use crate::app::state::App;

/// The action of a key in the current mode; `None` while a chord is unfinished, which is stored in
/// `app.keys`.
pub(crate) fn route(app: &mut App, press: Press) -> Option<Action> {
    let height = app.reader.screen.size.1;
    let action = match &app.mode {
        Mode::Search { .. } => match (press.code, press.ctrl) {
            (Code::Char('r'), true) => Some(Action::ToggleLiteral),
            _ => recalling(press),
        },
        Mode::Filter { .. } | Mode::OnWall { .. } if press.code == Code::Tab => {
            Some(Action::Complete)
        }
        Mode::Filter { .. } | Mode::Pipe { .. } => recalling(press),
        Mode::Help {
            is_typing: true, ..
        }
        | Mode::OnWall { .. } => typing(press),
        Mode::Palette(_) => choosing(press),
        Mode::Picker => {
            let is_typing = app.picker.is_typing();
            let action = picking(app.picker.visible_count(), !is_typing, press);
            if is_typing {
                action
            } else {
                before_letters(&app.keys, app.picker.has_two_marked(), press).or(action)
            }
        }
        Mode::Help { .. } if press.typed() == Some('/') => {
            Some(Action::Type(InputRequest::GoToEnd))
        }
        Mode::Resume(_) => resuming(press),
        // The key that opens a pop-up closes it.
        Mode::Raw(_) if press.typed() == Some('r') && app.keys.pressed.is_empty() => {
            Some(Action::Cancel)
        }
        Mode::Help { .. } if press.typed() == Some('?') || press.code == Code::F(1) => {
            Some(Action::Cancel)
        }
        Mode::Raw(view) => raw(&mut app.keys, view.is_list, height, press),
        Mode::Help { .. } => pop_up(height, press),
        Mode::Ledger if app.keys.pressed.is_empty() && group_of(press).is_some() => group_of(press),
        Mode::Normal | Mode::Wall | Mode::Ledger => return normal(app, press),
    };
    if action.is_none() && app.keys.pressed.is_empty() && app.keys.is_first(&[press]) {
        let words = format!("{press} does nothing here");
        app.reader.screen.set_status(words);
    }
    action
}

/// The grouping that a digit chooses in the ledger.
fn group_of(press: Press) -> Option<Action> {
    let digit = press.typed()?.to_digit(10)?;
    let number = usize::try_from(digit).ok()?;
    (1..=7).contains(&number).then_some(Action::GroupBy(number))
}

fn normal(app: &mut App, press: Press) -> Option<Action> {
    let reader = &app.reader;
    let has_session = !app.mode.is_of_all();
    let is_inspector = has_session && reader.focused() == Pane::Inspector;
    let tab = is_inspector.then_some(reader.inspector.tab);
    let is_selecting = has_session && reader.text.view.selection.is_some();
    let keys = &mut app.keys;
    if let Some(tab) = tab_of(keys, tab, press) {
        return Some(Action::Inspect(tab));
    }
    // Selected rows are copied as they are: `y` needs no second key.
    if is_selecting && keys.pressed.is_empty() && press.typed() == Some('y') {
        return Some(Action::Copy(CopyTarget::Text));
    }
    let cancels = press.code == Code::Esc && !keys.pressed.is_empty();
    keys.pressed.push(press);
    match keys.keymap.find(&keys.pressed) {
        KeyMatch::Action(action) if !cancels => {
            keys.letter = press.typed();
            keys.pressed.clear();
            Some(action)
        }
        KeyMatch::Prefix if !cancels => None,
        KeyMatch::Action(_) | KeyMatch::Prefix => {
            keys.pressed.clear();
            None
        }
        KeyMatch::None => {
            let pressed = std::mem::take(&mut keys.pressed);
            if !cancels && keys.is_first(&pressed) {
                let help = keys.keymap.keys_of(Action::Help).next().unwrap_or_default();
                let words = format!("{} does nothing; {help} lists the keys", shown(&pressed));
                app.reader.screen.set_status(words);
            }
            None
        }
    }
}

/// While the inspector has the focus, the keys of collapse and expand switch to the previous and
/// next tab; `enter` goes to the item that a row names.
fn tab_of(keys: &KeyState, here: Option<Tab>, press: Press) -> Option<Tab> {
    let here = here.filter(|_| keys.pressed.is_empty())?;
    match keys.keymap.find(&[press]) {
        KeyMatch::Action(Action::Expand) if press.code != Code::Enter => {
            here.neighbour(Way::Next).or(Some(here))
        }
        KeyMatch::Action(Action::Collapse) => here.neighbour(Way::Previous).or(Some(here)),
        _ => None,
    }
}

fn typing(press: Press) -> Option<Action> {
    match (press.code, press.ctrl) {
        (Code::Enter, _) => Some(Action::Accept),
        (Code::Esc, _) | (Code::Char('c' | 'g'), true) => Some(Action::Cancel),
        (Code::Backspace, false) | (Code::Char('h'), true) => {
            Some(Action::Type(InputRequest::DeletePrevChar))
        }
        (Code::Delete, _) => Some(Action::Type(InputRequest::DeleteNextChar)),
        (Code::Left, false) => Some(Action::Type(InputRequest::GoToPrevChar)),
        (Code::Right, false) => Some(Action::Type(InputRequest::GoToNextChar)),
        (Code::Left, true) => Some(Action::Type(InputRequest::GoToPrevWord)),
        (Code::Right, true) => Some(Action::Type(InputRequest::GoToNextWord)),
        (Code::Home, _) | (Code::Char('a'), true) => Some(Action::Type(InputRequest::GoToStart)),
        (Code::End, _) | (Code::Char('e'), true) => Some(Action::Type(InputRequest::GoToEnd)),
        (Code::Char('w') | Code::Backspace, true) => {
            Some(Action::Type(InputRequest::DeletePrevWord))
        }
        (Code::Char('u'), true) => Some(Action::Type(InputRequest::DeleteLine)),
        _ => press
            .typed()
            .map(|c| Action::Type(InputRequest::InsertChar(c))),
    }
}

/// Keys of a typed line with a history.
fn recalling(press: Press) -> Option<Action> {
    match (press.code, press.ctrl) {
        (Code::Up, _) | (Code::Char('p'), true) => Some(Action::Recall(true)),
        (Code::Down, _) | (Code::Char('n'), true) => Some(Action::Recall(false)),
        _ => typing(press),
    }
}

/// Keys of a typed line with a list of choices.
fn choosing(press: Press) -> Option<Action> {
    match (press.code, press.ctrl) {
        (Code::Up, _) | (Code::Char('p' | 'k'), true) => Some(Action::Scroll(-1)),
        (Code::Down, _) | (Code::Char('n' | 'j'), true) => Some(Action::Scroll(1)),
        (Code::PageUp, _) => Some(Action::Scroll(-10)),
        (Code::PageDown, _) => Some(Action::Scroll(10)),
        (Code::Tab, _) => Some(Action::Complete),
        _ => typing(press),
    }
}

/// Keys of the picker: characters narrow the list, other keys move in it.
fn picking(lines: usize, may_mark: bool, press: Press) -> Option<Action> {
    let page = isize::try_from(lines.saturating_sub(1))
        .unwrap_or(10)
        .max(1);
    match (press.code, press.ctrl) {
        (Code::PageUp, _) => Some(Action::Scroll(-page)),
        (Code::PageDown, _) => Some(Action::Scroll(page)),
        (Code::Home, _) => Some(Action::Scroll(isize::MIN / 2)),
        (Code::End, _) => Some(Action::Scroll(isize::MAX / 2)),
        // The typed text does not begin with a blank.
        (Code::Char(' '), false) if may_mark => Some(Action::Pick),
        (Code::Char(' '), true) => Some(Action::Pick),
        (Code::F(1), _) => Some(Action::Help),
        (Code::F(12), _) => Some(Action::ToggleMouse),
        _ => of_program(press).or_else(|| choosing(press)),
    }
}

/// Keys of the picker that open other screens or sort while nothing is typed; after `/` they are letters, too.
fn before_letters(keys: &KeyState, can_compare: bool, press: Press) -> Option<Action> {
    press.typed()?;
    let KeyMatch::Action(action) = keys.keymap.find(&[press]) else {
        return None;
    };
    let leads = matches!(
        action,
        Action::Search
            | Action::Wall
            | Action::Usage
            | Action::Palette
            | Action::Filter
            | Action::Shift(_)
            | Action::Help
    );
    let compares = can_compare && action == Action::View(View::Diff);
    (leads || compares).then_some(action)
}

/// Keys of the dialog of resume commands.
fn resuming(press: Press) -> Option<Action> {
    match (press.code, press.ctrl) {
        (Code::Enter, _) => Some(Action::Accept),
        (Code::Char('j'), false) | (Code::Down | Code::Tab, _) => Some(Action::Scroll(1)),
        (Code::Char('k'), false) | (Code::Up | Code::BackTab, _) => Some(Action::Scroll(-1)),
        (Code::Char('y'), false) => Some(Action::Copy(CopyTarget::Command)),
        (Code::Char('Q'), false) => Some(Action::QuitNow),
        (Code::Esc | Code::Char('q'), false) | (Code::Char('r'), true) => Some(Action::Cancel),
        _ => of_program(press),
    }
}

/// Keys of the raw pop-up: `y` waits for a second key that chooses what to copy.
fn raw(keys: &mut KeyState, is_list: bool, height: u16, press: Press) -> Option<Action> {
    let is_copying = !std::mem::take(&mut keys.pressed).is_empty();
    match (is_copying, press.typed()) {
        (false, Some('y')) if is_list => Some(Action::Copy(CopyTarget::Json)),
        (false, Some('y')) => {
            keys.pressed.push(press);
            None
        }
        (false, _) => pop_up(height, press),
        (true, Some('y' | 'j')) => Some(Action::Copy(CopyTarget::Json)),
        (true, Some('q')) => Some(Action::Copy(CopyTarget::Query)),
        (true, _) => None,
    }
}

fn pop_up(height: u16, press: Press) -> Option<Action> {
    let page = isize::try_from(height.saturating_sub(4))
        .unwrap_or(10)
        .max(1);
    match (press.code, press.ctrl) {
        (Code::Char('j'), false) | (Code::Down, _) => Some(Action::Scroll(1)),
        (Code::Char('k'), false) | (Code::Up, _) => Some(Action::Scroll(-1)),
        (Code::Char(' ') | Code::PageDown, _) => Some(Action::Scroll(page)),
        (Code::Char('b') | Code::PageUp, _) => Some(Action::Scroll(-page)),
        (Code::Char('d'), true) => Some(Action::Scroll(page / 2)),
        (Code::Char('u'), true) => Some(Action::Scroll(-page / 2)),
        (Code::Char('g'), false) | (Code::Home, _) => Some(Action::Scroll(isize::MIN / 2)),
        (Code::Char('G'), false) | (Code::End, _) => Some(Action::Scroll(isize::MAX / 2)),
        (Code::Char('Q'), false) => Some(Action::QuitNow),
        (Code::Esc | Code::Char('q'), false) => Some(Action::Cancel),
        _ => of_program(press),
    }
}

/// Keys that cannot be rebound on any list or pop-up.
fn of_program(press: Press) -> Option<Action> {
    match (press.code, press.ctrl) {
        (Code::Char('c'), true) => Some(Action::QuitNow),
        (Code::Char('z'), true) => Some(Action::Suspend),
        (Code::Char('l'), true) => Some(Action::Redraw),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::route;
    use crate::app::input::action::Action;
    use crate::app::input::keys::{Code, Press};
    use crate::app::mode::{HelpSubject, Mode};
    use crate::app::panes::Pane;
    use crate::app::pop_ups::raw::RawView;
    use crate::app::pop_ups::resume::ResumeDialog;
    use crate::app::screens::AppScreen;
    use crate::app::state::App;
    use crate::model::timestamp::Timestamp;
    use crate::render::code::Colours;
    use crate::render::row::Level;
    use crate::render::theme::Theme;

    /// Keys that mean something else on a screen, and why they may.
    const OTHERWISE: &[(&str, &str, &str)] = &[
        (
            "inspector",
            "h l left right",
            "its tabs lie side by side; no row of it opens or closes",
        ),
        (
            "ledger",
            "1 2 3 4 5 6 7",
            "as over a session, a digit opens a page: the same sums by something else",
        ),
        (
            "picker",
            "space",
            "a typed line does not begin with a blank",
        ),
        (
            "picker",
            "tab ctrl-n ctrl-p",
            "the keys of every typed line with choices below it",
        ),
        (
            "list",
            "y",
            "there is only one thing to copy, so no second key says what",
        ),
        (
            "resume",
            "y",
            "there is only one thing to copy, so no second key says what",
        ),
        (
            "resume",
            "tab shift-tab",
            "chooses among the commands as in any dialog",
        ),
        ("list", "r", "the key that opens a pop-up closes it"),
        ("record", "r", "the key that opens a pop-up closes it"),
        ("help", "? F1", "the key that opens a pop-up closes it"),
        ("resume", "ctrl-r", "the key that opens a pop-up closes it"),
    ];

    /// All screens and pop-ups on which letters are keys.
    fn screens() -> Vec<(&'static str, App)> {
        let raw = |is_list| {
            let mut view = RawView::default();
            view.is_list = is_list;
            Mode::Raw(view)
        };
        let resume = Mode::Resume(ResumeDialog {
            choices: Vec::new(),
            at: 0,
            folder: None,
            back: "",
        });
        let help = Mode::Help {
            top: 0,
            filter: tui_input::Input::default(),
            is_typing: false,
            below: AppScreen::Session,
            here: HelpSubject::default(),
        };
        let modes = [
            ("text", Mode::Normal),
            ("inspector", Mode::Normal),
            ("wall", Mode::Wall),
            ("ledger", Mode::Ledger),
            ("picker", Mode::Picker),
            ("list", raw(true)),
            ("record", raw(false)),
            ("resume", resume),
            ("help", help),
        ];
        let screen = |(name, mode)| {
            let colours = Arc::new(Colours::never());
            let mut app = App::new(Theme::dark(), Level::Preview, colours, Timestamp(0));
            app.reader.screen.size = (200, 60);
            app.mode = mode;
            if name == "inspector" {
                app.reader.panes.wants_inspector = Some(true);
                app.reader.panes.focus = Pane::Inspector;
                assert_eq!(app.reader.focused(), Pane::Inspector);
            }
            (name, app)
        };
        modes.into_iter().map(screen).collect()
    }

    fn all_keys() -> Vec<Press> {
        let named = [
            "enter",
            "esc",
            "tab",
            "shift-tab",
            "up",
            "down",
            "left",
            "right",
            "home",
            "end",
            "pgup",
            "pgdn",
            "space",
        ];
        let of = |name: &str| Press::parse(name).unwrap_or_else(|| panic!("{name}"));
        let mut all: Vec<Press> = named.iter().map(|name| of(name)).collect();
        all.extend(('!'..='~').map(|c| Press::plain(Code::Char(c))));
        all.extend((1..=12).map(|number| Press::plain(Code::F(number))));
        all.extend(('a'..='z').map(|c| of(&format!("ctrl-{c}"))));
        all.extend(('1'..='9').map(|c| of(&format!("alt-{c}"))));
        all
    }

    /// Whether a screen does with a key what the text does: lists and pop-ups move by rows, and are left.
    fn is_same(here: Action, there: Option<Action>, app: &App) -> bool {
        let page = match app.mode {
            Mode::Picker => app.picker.visible_count().saturating_sub(1),
            _ => usize::from(app.reader.screen.size.1).saturating_sub(4),
        };
        let in_text = there.and_then(|there| there.steps(page, 1));
        match here {
            Action::Type(_) => true,
            Action::Scroll(by) => in_text == Some(by),
            Action::Accept => there == Some(Action::Unfold),
            Action::Cancel => matches!(there, Some(Action::Cancel | Action::Quit)),
            here => there == Some(here),
        }
    }

    #[test]
    fn a_key_means_the_same_on_every_screen() {
        let mut used = BTreeSet::new();
        for press in all_keys() {
            let (_, mut text) = screens().swap_remove(0);
            let there = route(&mut text, press);
            let begins = !text.keys.pressed.is_empty();
            // What the text leaves alone has its only meaning elsewhere.
            if there.is_none() && !begins {
                continue;
            }
            for (name, mut app) in screens().into_iter().skip(1) {
                let here = route(&mut app, press);
                let is_same = here.is_none_or(|here| is_same(here, there, &app));
                let key = press.to_string();
                let mut excused = OTHERWISE.iter().filter(|(screen, keys, _)| {
                    *screen == name && keys.split(' ').any(|known| known == key)
                });
                let excuse = excused.next();
                assert!(
                    is_same || excuse.is_some(),
                    "{key} is {there:?} in the text, but {here:?} in {name}"
                );
                if let (false, Some((screen, ..))) = (is_same, excuse) {
                    used.insert((*screen, key));
                }
            }
        }
        for (screen, keys, why) in OTHERWISE {
            for key in keys.split(' ') {
                let is_used = used.contains(&(*screen, key.to_owned()));
                assert!(is_used, "{key} in {screen} needs no reason: {why}");
            }
        }
    }
}
