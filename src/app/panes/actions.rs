//! What actions do to the panes: which are shown, how wide they are, which has the keys.

use super::Pane;
use super::moved;
use super::step;
use crate::app::action::{Action, Change, Kind, Way};
use crate::app::effect::Effect;
use crate::app::layout::{INSPECTOR_FROM, divide, focused};
use crate::app::moving::jump;
use crate::app::reader::Reader;

/// Changes what is shown, how wide it is, or which pane has the keys.
pub fn change(reader: &mut Reader, change: Change, times: usize) {
    let frame = divide(reader);
    match change {
        Change::Outline => show_outline(reader, frame.outline.width == 0),
        Change::Inspector => show_inspector(reader, frame.inspector.width == 0),
        Change::Focus(Way::Next) => cycle(reader, times),
        // All the way round but for so many steps.
        Change::Focus(Way::Previous) => cycle(reader, frame.panes().count().saturating_sub(1) * times),
        Change::DividerLeft => move_divider(reader, -step(times)),
        Change::DividerRight => move_divider(reader, step(times)),
    }
}

/// What the outline does with an action.
pub(crate) fn within_outline(reader: &mut Reader, action: Action, times: usize) -> Option<Vec<Effect>> {
    let times = isize::try_from(times).unwrap_or(isize::MAX);
    let page = isize::try_from(reader.outline.height()).unwrap_or(1).max(1);
    match action {
        Action::Next | Action::LineDown => reader.outline.step(times),
        Action::Previous | Action::LineUp => reader.outline.step(-times),
        Action::PageDown => reader.outline.step(page.saturating_mul(times)),
        Action::PageUp => reader.outline.step(page.saturating_mul(-times)),
        Action::HalfDown => reader.outline.step((page / 2).max(1).saturating_mul(times)),
        Action::HalfUp => reader.outline.step((page / 2).max(1).saturating_mul(-times)),
        Action::Top => reader.outline.step(isize::MIN / 2),
        Action::Bottom => reader.outline.step(isize::MAX / 2),
        Action::Seek(Kind::Prompt, way) => reader.outline.step_section(way == Way::Next),
        Action::Expand => {
            match reader.outline.target(
                &reader.session.transcript,
                &reader.session.indexes.files,
                &reader.checks,
            ) {
                Some(focus) => {
                    reader.panes.focus = Pane::Transcript;
                    jump(reader, focus);
                }
                None => reader.screen.say("this leads nowhere"),
            }
        }
        action => return leave(reader, action),
    }
    Some(Vec::new())
}

/// Back to the transcript.
pub(crate) fn leave(reader: &mut Reader, action: Action) -> Option<Vec<Effect>> {
    if !matches!(action, Action::Cancel | Action::Quit) {
        return None;
    }
    reader.panes.is_pushed &= reader.panes.focus != Pane::Inspector && focused(reader) != Pane::Inspector;
    reader.panes.focus = Pane::Transcript;
    Some(Vec::new())
}

fn cycle(reader: &mut Reader, by: usize) {
    let shown: Vec<Pane> = divide(reader).panes().collect();
    let here = focused(reader);
    let at = shown.iter().position(|pane| *pane == here).unwrap_or(0);
    let next = shown.get((at + by) % shown.len().max(1)).copied().unwrap_or_default();
    if next == here {
        reader.screen.say("nothing else is shown; i opens the inspector, I the outline");
    }
    reader.panes.focus = next;
}

/// Shows the outline, or hides it.
pub(crate) fn show_outline(reader: &mut Reader, is_shown: bool) {
    reader.panes.wants_outline = Some(is_shown);
    reader.look_changed();
}

/// Shows the inspector beside the transcript, or over it where there is no room; or hides it.
pub(crate) fn show_inspector(reader: &mut Reader, is_shown: bool) {
    if reader.screen.size.0 >= INSPECTOR_FROM {
        reader.panes.wants_inspector = Some(is_shown);
    } else {
        reader.panes.is_pushed = is_shown;
        reader.panes.focus = if is_shown { Pane::Inspector } else { Pane::Transcript };
    }
    reader.look_changed();
}

/// Moves the divider of the pane that has the keys; of the transcript the one at its right, else the one at
/// its left.
fn move_divider(reader: &mut Reader, by: i32) {
    let frame = divide(reader);
    let is_inspector_beside = frame.inspector_divider.width > 0;
    match focused(reader) {
        Pane::Inspector | Pane::Transcript | Pane::View if is_inspector_beside => {
            widen_inspector(reader, frame.inspector.width, -by);
        }
        Pane::Outline | Pane::Transcript | Pane::View if frame.outline.width > 0 => {
            widen_outline(reader, frame.outline.width, by);
        }
        Pane::Outline | Pane::Transcript | Pane::View | Pane::Inspector => {
            reader.screen.say("there is no divider to move");
        }
    }
}

fn widen_outline(reader: &mut Reader, now: u16, by: i32) {
    reader.panes.outline_width = Some(moved(now + 1, by));
    reader.panes.outline_width = Some(divide(reader).outline.width + 1);
    reader.look_changed();
}

fn widen_inspector(reader: &mut Reader, now: u16, by: i32) {
    reader.panes.inspector_width = Some(moved(now + 1, by));
    reader.panes.inspector_width = Some(divide(reader).inspector.width + 1);
    reader.look_changed();
}

/// Moves a divider to a column of the screen, as a mouse does.
pub(crate) fn drag_divider(reader: &mut Reader, pane: Pane, column: u16) {
    let frame = divide(reader);
    match pane {
        Pane::Outline if frame.outline.width > 0 => {
            let by = i32::from(column) - i32::from(frame.outline_divider.x);
            widen_outline(reader, frame.outline.width, by);
        }
        Pane::Inspector if frame.inspector_divider.width > 0 => {
            let by = i32::from(frame.inspector_divider.x) - i32::from(column);
            widen_inspector(reader, frame.inspector.width, by);
        }
        Pane::Outline | Pane::Inspector | Pane::View | Pane::Transcript => {}
    }
}
