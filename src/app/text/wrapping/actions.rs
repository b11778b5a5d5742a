//! Actions on wrapping and margins.

use super::{Numbers, Wrapping};
use crate::app::input::action::{Action, Way};
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::viewport::{Anchor, Focus};
use crate::app::text::window::rows_of_block;
use crate::render::row::Row;

/// Columns that a key scrolls sideways.
const STEP: usize = 16;

const FARTHEST: u16 = 20_000;

/// Carries out an action on wrapping or numbers.
pub fn act(text: &mut TextPane, scene: &mut Scene<'_>, action: Action, times: usize) {
    match action {
        Action::ToggleWrap => wrap(text, scene, text.wrapping.sideways.is_some()),
        Action::Sideways(way) => sideways(text, scene, way, times),
        _ => number(text, scene, text.wrapping.numbers.next()),
    }
}

/// Wraps long lines, or cuts them.
pub fn wrap(text: &mut TextPane, scene: &mut Scene<'_>, wraps: bool) {
    if wraps != text.wrapping.sideways.is_none() {
        keeping_place(text, scene, |wrapping| {
            wrapping.sideways = (!wraps).then_some(0);
        });
    }
    scene.say(if wraps {
        "long lines are wrapped"
    } else {
        "long lines are cut; zl and zh scroll"
    });
}

/// Scrolls long lines sideways.
fn sideways(text: &mut TextPane, scene: &mut Scene<'_>, way: Way, times: usize) {
    let Some(from) = text.wrapping.sideways else {
        return scene.say("long lines are wrapped; w cuts them");
    };
    let by = u16::try_from(times.saturating_mul(STEP)).unwrap_or(FARTHEST);
    let to = match way {
        Way::Next => from.saturating_add(by).min(FARTHEST),
        Way::Previous => from.saturating_sub(by),
    };
    text.wrapping.sideways = Some(to);
    text.invalidate_rows();
    scene.say(format!("from column {} on", to + 1));
}

/// Shows this kind of numbers.
pub fn number(text: &mut TextPane, scene: &mut Scene<'_>, numbers: Numbers) {
    if numbers != text.wrapping.numbers {
        keeping_place(text, scene, |wrapping| wrapping.numbers = numbers);
    }
    scene.say(match numbers {
        Numbers::None => "no numbers",
        Numbers::Lines => "lines of the file",
        Numbers::Bytes => "bytes of the file",
    });
}

/// Shows lanes of calls in flight, or not.
pub(crate) fn show_lanes(text: &mut TextPane, scene: &mut Scene<'_>, is_shown: bool) {
    if is_shown != text.wrapping.lanes {
        keeping_place(text, scene, |wrapping| wrapping.lanes = is_shown);
    }
    scene.say(if is_shown {
        "lanes of calls in flight"
    } else {
        "no lanes"
    });
}

/// Shows long times between entries, or not.
pub(crate) fn show_rulers(text: &mut TextPane, scene: &mut Scene<'_>, is_shown: bool) {
    if is_shown != text.wrapping.rulers {
        keeping_place(text, scene, |wrapping| wrapping.rulers = is_shown);
    }
    scene.say(if is_shown {
        "long times stand between entries"
    } else {
        "no times between entries"
    });
}

/// Changes the settings and keeps the anchor: the anchored row is found again by its unwrapped line.
fn keeping_place(text: &mut TextPane, scene: &Scene<'_>, change: impl FnOnce(&mut Wrapping)) {
    let before = anchored(text, scene);
    change(&mut text.wrapping);
    text.invalidate_rows();
    let (
        Some((rows, row)),
        Anchor::Row {
            entry,
            block,
            node,
            line,
            ..
        },
    ) = (before, text.view.anchor)
    else {
        return;
    };
    let number = rows
        .iter()
        .take(row + 1)
        .filter(|row| !row.continues)
        .count();
    let Some((rows, _)) = anchored(text, scene) else {
        return;
    };
    let starts = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.continues)
        .map(|(place, _)| place);
    let row = starts.take(number).last().unwrap_or(0);
    text.view.anchor = Anchor::Row {
        entry,
        block,
        row,
        node,
        line,
    };
}

/// The rows of the anchored block, and the index of the anchored one.
fn anchored(text: &mut TextPane, scene: &Scene<'_>) -> Option<(Vec<Row>, usize)> {
    let Anchor::Row {
        entry, block, row, ..
    } = text.view.anchor
    else {
        return None;
    };
    let rows = rows_of_block(text, scene, Focus { entry, block });
    (!rows.is_empty()).then_some((rows, row))
}
