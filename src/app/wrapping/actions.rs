//! What actions do to long lines and to the numbers beside the text.

use super::Numbers;
use crate::app::action::{Action, Way};
use crate::app::layout::divide;
use crate::app::reader::Reader;
use crate::app::viewport::{Anchor, Focus, Rows};
use crate::app::window::with_layouts;
use crate::render::row::Row;

/// So far a key scrolls sideways.
const STEP: usize = 16;

/// Nobody scrolls farther.
const FARTHEST: u16 = 20_000;

/// Carries out an action of this room.
pub fn act(reader: &mut Reader, action: Action, times: usize) {
    match action {
        Action::ToggleWrap => wrap(reader, reader.text.wrapping.sideways.is_some()),
        Action::Sideways(way) => sideways(reader, way, times),
        _ => number(reader, reader.text.wrapping.numbers.next()),
    }
}

/// Wraps long lines, or cuts them.
pub fn wrap(reader: &mut Reader, wraps: bool) {
    if wraps != reader.text.wrapping.sideways.is_none() {
        keeping_place(reader, |reader| reader.text.wrapping.sideways = (!wraps).then_some(0));
    }
    reader.screen.say(if wraps { "long lines are wrapped" } else { "long lines are cut; zl and zh scroll" });
}

/// Scrolls long lines sideways.
fn sideways(reader: &mut Reader, way: Way, times: usize) {
    let Some(from) = reader.text.wrapping.sideways else {
        return reader.screen.say("long lines are wrapped; w cuts them");
    };
    let by = u16::try_from(times.saturating_mul(STEP)).unwrap_or(FARTHEST);
    let to = match way {
        Way::Next => from.saturating_add(by).min(FARTHEST),
        Way::Previous => from.saturating_sub(by),
    };
    reader.text.wrapping.sideways = Some(to);
    reader.look_changed();
    reader.screen.say(format!("from column {} on", to + 1));
}

/// Shows this kind of numbers.
pub fn number(reader: &mut Reader, numbers: Numbers) {
    if numbers != reader.text.wrapping.numbers {
        keeping_place(reader, |reader| reader.text.wrapping.numbers = numbers);
    }
    reader.screen.say(match numbers {
        Numbers::None => "no numbers",
        Numbers::Lines => "lines of the file",
        Numbers::Bytes => "bytes of the file",
    });
}

/// Shows lanes of calls in flight, or not.
pub(crate) fn show_lanes(reader: &mut Reader, is_shown: bool) {
    if is_shown != reader.text.wrapping.lanes {
        keeping_place(reader, |reader| reader.text.wrapping.lanes = is_shown);
    }
    reader.screen.say(if is_shown { "lanes of calls in flight" } else { "no lanes" });
}

/// Shows long times between entries, or not.
pub(crate) fn show_rulers(reader: &mut Reader, is_shown: bool) {
    if is_shown != reader.text.wrapping.rulers {
        keeping_place(reader, |reader| reader.text.wrapping.rulers = is_shown);
    }
    reader.screen.say(if is_shown { "long times stand between entries" } else { "no times between entries" });
}

/// Changes how lines are laid out. The row that holds the window is found again by the line that it is of.
fn keeping_place(reader: &mut Reader, change: impl FnOnce(&mut Reader)) {
    let before = anchored(reader);
    change(reader);
    reader.look_changed();
    let (Some((rows, row)), Anchor::Row { entry, block, node, line, .. }) = (before, reader.text.view.anchor)
    else {
        return;
    };
    let number = rows.iter().take(row + 1).filter(|row| !row.continues).count();
    let Some((rows, _)) = anchored(reader) else { return };
    let starts = rows.iter().enumerate().filter(|(_, row)| !row.continues).map(|(place, _)| place);
    let row = starts.take(number).last().unwrap_or(0);
    reader.text.view.anchor = Anchor::Row { entry, block, row, node, line };
}

/// The rows of the block that holds the window, and which of them does.
fn anchored(reader: &mut Reader) -> Option<(Vec<Row>, usize)> {
    let Anchor::Row { entry, block, row, .. } = reader.text.view.anchor else { return None };
    let frame = divide(reader);
    let laid =
        with_layouts(reader, frame, |layouts, _| Some(layouts.rows(layouts.place(Focus { entry, block })?)))?;
    Some((laid.iter().filter(|row| row.block == block).cloned().collect(), row))
}
