//! Mouse gestures in each part of the screen.

use super::hit_test::{RowPart, ScreenPart, part_at, row_part_at};
use crate::app::effect::Effect;
use crate::app::input::action::{Action, LandmarkKind, Way};
use crate::app::input::mouse::{Dragged, Gesture, Mouse, Pointer};
use crate::app::layout::Frame;
use crate::app::panes::Pane;
use crate::app::reader::Reader;
use crate::app::scene::{Ask, Scene};
use crate::app::text::goto::go_down;
use crate::app::text::jumps::seek;
use crate::app::text::viewport::{Motion, RowRef, Selection, focus_of, row_ref_of};
use crate::app::text::{TextPane, folding};
use crate::app::{outline, views};

/// Lines per step of the wheel.
const WHEEL: isize = 3;

/// Lines to scroll for a gesture; `None` if it is not the wheel.
pub(crate) fn wheel_of(gesture: Gesture) -> Option<isize> {
    match gesture {
        Gesture::WheelUp => Some(-WHEEL),
        Gesture::WheelDown => Some(WHEEL),
        Gesture::Press | Gesture::Double | Gesture::Drag | Gesture::Release => None,
    }
}

/// Scrolls the pane under the mouse.
pub(crate) fn turn_wheel(reader: &mut Reader, pointer: Pointer, by: isize) -> Vec<Effect> {
    let action = if by < 0 {
        Action::LineUp
    } else {
        Action::LineDown
    };
    let times = by.unsigned_abs();
    match part_at(&reader.frame(), pointer.column, pointer.line) {
        ScreenPart::Outline(_) => {
            let way = if by < 0 { Way::Previous } else { Way::Next };
            reader.with_text(|text, scene| seek(text, scene, LandmarkKind::Prompt, way));
        }
        ScreenPart::Inspector => {
            return reader
                .act_in(Pane::Inspector, action, times)
                .unwrap_or_default();
        }
        ScreenPart::View(_) => return reader.act_in(Pane::View, action, times).unwrap_or_default(),
        _ => reader.text.view.push_motion(Motion::Lines(by)),
    }
    Vec::new()
}

/// Applies a button gesture to the panes.
pub(crate) fn handle_gesture(mouse: &mut Mouse, reader: &mut Reader, pointer: Pointer) {
    let frame = reader.frame();
    let part = part_at(&frame, pointer.column, pointer.line);
    match (pointer.gesture, mouse.dragged) {
        (Gesture::Release, _) => mouse.dragged = None,
        (Gesture::Drag, Some(Dragged::Divider(pane))) => reader.drag_divider(pane, pointer.column),
        (Gesture::Drag, Some(Dragged::Rows(anchor))) => {
            select_to(&mut reader.text, anchor, &frame, pointer.line);
        }
        (Gesture::Press | Gesture::Double, _) => {
            mouse.dragged = press(reader, &frame, part, pointer.gesture);
        }
        (Gesture::Drag | Gesture::WheelUp | Gesture::WheelDown, _) => {}
    }
}

/// Applies a button press. Returns the target of the drag that starts with it.
fn press(
    reader: &mut Reader,
    frame: &Frame,
    part: ScreenPart,
    gesture: Gesture,
) -> Option<Dragged> {
    let is_double = gesture == Gesture::Double;
    reader.with_panes(|panes, scene| {
        match part {
            ScreenPart::Divider(pane) => return Some(Dragged::Divider(pane)),
            ScreenPart::Outline(line) => outline::actions::press(panes.outline, scene, line),
            ScreenPart::Spine(line) => {
                scene.requests.push(Ask::Focus(Pane::Transcript));
                let last = frame.spine.height.saturating_sub(1).max(1);
                go_down(panes.text, scene, u64::from(line), u64::from(last));
            }
            ScreenPart::Inspector => scene.requests.push(Ask::Focus(Pane::Inspector)),
            ScreenPart::View(line) => {
                views::actions::press(panes.views, panes.text, scene, line, is_double);
            }
            ScreenPart::Pill => scene.requests.push(Ask::Act(Action::Bottom)),
            ScreenPart::Text(line, column) => {
                return press_row(panes.text, scene, frame, (line, column), is_double);
            }
            ScreenPart::Other => {}
        }
        None
    })
}

/// A press on a row of the transcript focuses its item; on the sign of a fold it toggles the fold.
fn press_row(
    text: &mut TextPane,
    scene: &mut Scene<'_>,
    frame: &Frame,
    (line, column): (usize, u16),
    is_double: bool,
) -> Option<Dragged> {
    scene.requests.push(Ask::Focus(Pane::Transcript));
    let shown = text.view.lines.get(line)?;
    let (Some(focus), Some(mark), Some(row)) = (focus_of(shown), row_ref_of(shown), shown.row())
    else {
        return None;
    };
    let within = column.checked_sub(frame.numbers + frame.left());
    let touched = row_part_at(row, within, frame.text(), scene.screen.theme.glyphs());
    let was_selecting = text.view.selection.take().is_some();
    text.view.focus = Some(focus);
    text.view.push_motion(Motion::Pause);
    match touched {
        _ if is_double => scene.requests.push(Ask::Act(Action::Expand)),
        // The click that ends a selection does nothing else.
        _ if was_selecting => {}
        RowPart::Hidden => folding::open(text, scene, focus),
        RowPart::Closed => scene.requests.push(Ask::Act(Action::Expand)),
        RowPart::Open => scene.requests.push(Ask::Act(Action::Collapse)),
        RowPart::Text => {}
    }
    Some(Dragged::Rows(mark))
}

/// Selects the rows from the anchor to a line of the screen, and scrolls at the edges of the window.
fn select_to(text: &mut TextPane, anchor: RowRef, frame: &Frame, line: u16) {
    let area = frame.transcript;
    if line < area.y {
        text.view.push_motion(Motion::Lines(-1));
    } else if line >= area.bottom() {
        text.view.push_motion(Motion::Lines(1));
    }
    let within =
        usize::from(line.saturating_sub(area.y)).min(text.view.lines.len().saturating_sub(1));
    let Some(cursor) = text.view.lines.get(within).and_then(row_ref_of) else {
        return;
    };
    if text.view.selection.is_some() || cursor != anchor {
        text.view.selection = Some(Selection { anchor, cursor });
        text.view.push_motion(Motion::Select);
    }
}
