//! What the mouse does where it is.

use super::Dragged;
use super::Gesture;
use super::Pointer;
use super::part::{Part, Touched, part_at, touched};
use crate::app::action::{Action, Way};
use crate::app::dispatch::{act, scroll_pop_up};
use crate::app::effect::Effect;
use crate::app::folding;
use crate::app::inspector;
use crate::app::layout::{Frame, divide};
use crate::app::mode::Mode;
use crate::app::moving::jump;
use crate::app::palette;
use crate::app::panes::Pane;
use crate::app::panes::actions::drag_divider;
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::app::viewport::{Mark, Motion, Selection, focus_of, mark_of};
use crate::app::views;

/// Lines that the wheel scrolls by.
const WHEEL: isize = 3;

/// Carries out what the mouse did.
pub fn take(app: &mut App, pointer: Pointer) -> Vec<Effect> {
    if !app.mouse.is_on {
        return Vec::new();
    }
    let wheel = match pointer.gesture {
        Gesture::WheelUp => Some(-WHEEL),
        Gesture::WheelDown => Some(WHEEL),
        Gesture::Press | Gesture::Double | Gesture::Drag | Gesture::Release => None,
    };
    match (&app.mode, wheel) {
        (Mode::Help { .. } | Mode::Raw(_), Some(by)) => scroll_pop_up(app, by),
        (Mode::Picker | Mode::Palette(_), Some(by)) => scroll_pop_up(app, by.signum()),
        (_, Some(by)) => return turn_wheel(&mut app.reader, pointer, by),
        (Mode::Normal, None) => return touch(app, pointer),
        (_, None) => {}
    }
    Vec::new()
}

fn turn_wheel(reader: &mut Reader, pointer: Pointer, by: isize) -> Vec<Effect> {
    match part_at(&divide(reader), pointer.column, pointer.line) {
        Part::Outline(_) => {
            let way = if by < 0 { Way::Previous } else { Way::Next };
            crate::app::moving::seek_on(reader, crate::app::action::Kind::Prompt, way);
        }
        Part::Inspector => {
            let action = if by < 0 { Action::LineUp } else { Action::LineDown };
            return inspector::actions::act(reader, action, by.unsigned_abs()).unwrap_or_default();
        }
        Part::View(_) => {
            let action = if by < 0 { Action::LineUp } else { Action::LineDown };
            return views::actions::act(reader, action, by.unsigned_abs()).unwrap_or_default();
        }
        _ => reader.text.view.ask(Motion::Lines(by)),
    }
    Vec::new()
}

fn touch(app: &mut App, pointer: Pointer) -> Vec<Effect> {
    let frame = divide(&app.reader);
    let part = part_at(&frame, pointer.column, pointer.line);
    match (pointer.gesture, app.mouse.dragged) {
        (Gesture::Release, _) => app.mouse.dragged = None,
        (Gesture::Drag, Some(Dragged::Divider(pane))) => drag_divider(&mut app.reader, pane, pointer.column),
        (Gesture::Drag, Some(Dragged::Rows(anchor))) => {
            select_to(&mut app.reader, anchor, &frame, pointer.line);
        }
        (Gesture::Press | Gesture::Double, _) => return press(app, &frame, part, pointer.gesture),
        (Gesture::Drag | Gesture::WheelUp | Gesture::WheelDown, _) => {}
    }
    Vec::new()
}

fn press(app: &mut App, frame: &Frame, part: Part, gesture: Gesture) -> Vec<Effect> {
    app.mouse.dragged = None;
    match part {
        Part::Divider(pane) => app.mouse.dragged = Some(Dragged::Divider(pane)),
        Part::Outline(line) => to_outline_row(&mut app.reader, line),
        Part::Spine(line) => {
            app.reader.panes.focus = Pane::Transcript;
            let last = frame.spine.height.saturating_sub(1).max(1);
            palette::actions::go_down(&mut app.reader, u64::from(line), u64::from(last));
        }
        Part::Inspector => app.reader.panes.focus = Pane::Inspector,
        Part::View(line) => views::actions::press(&mut app.reader, line, gesture == Gesture::Double),
        Part::Pill => return act(app, Action::Bottom, 1),
        Part::Text(line, column) => return press_row(app, frame, (line, column), gesture),
        Part::Other => {}
    }
    Vec::new()
}

/// A row of the transcript: its item gets the focus; marks of what is folded away open.
fn press_row(app: &mut App, frame: &Frame, (line, column): (usize, u16), gesture: Gesture) -> Vec<Effect> {
    app.reader.panes.focus = Pane::Transcript;
    let Some(shown) = app.reader.text.view.lines.get(line) else { return Vec::new() };
    let (Some(focus), Some(mark), Some(row)) = (focus_of(shown), mark_of(shown), shown.row()) else {
        return Vec::new();
    };
    let within = column.checked_sub(frame.numbers + frame.left());
    let touched = touched(row, within, frame.text(), app.reader.screen.theme.glyphs());
    let was_selecting = app.reader.text.view.selection.take().is_some();
    app.mouse.dragged = Some(Dragged::Rows(mark));
    app.reader.text.view.focus = Some(focus);
    app.reader.text.view.ask(Motion::Pause);
    match touched {
        _ if gesture == Gesture::Double => return act(app, Action::Expand, 1),
        // The click that ends a selection does nothing else.
        _ if was_selecting => {}
        Touched::Hidden => folding::open(&mut app.reader, focus),
        Touched::Closed => return act(app, Action::Expand, 1),
        Touched::Open => return act(app, Action::Collapse, 1),
        Touched::Text => {}
    }
    Vec::new()
}

/// Selects the rows from one to that of a line of the screen; beyond the window it scrolls.
fn select_to(reader: &mut Reader, anchor: Mark, frame: &Frame, line: u16) {
    let area = frame.transcript;
    if line < area.y {
        reader.text.view.ask(Motion::Lines(-1));
    } else if line >= area.bottom() {
        reader.text.view.ask(Motion::Lines(1));
    }
    let within = usize::from(line.saturating_sub(area.y)).min(reader.text.view.lines.len().saturating_sub(1));
    let Some(cursor) = reader.text.view.lines.get(within).and_then(mark_of) else { return };
    if reader.text.view.selection.is_some() || cursor != anchor {
        reader.text.view.selection = Some(Selection { anchor, cursor });
        reader.text.view.ask(Motion::Select);
    }
}

fn to_outline_row(reader: &mut Reader, line: usize) {
    if let Some(focus) =
        reader.outline.click(line, &reader.session.transcript, &reader.session.indexes.files, &reader.checks)
    {
        jump(reader, focus);
    }
}
