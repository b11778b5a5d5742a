//! Scrolling sideways, and the line that does not move when a setting changes.

use crate::app::input::action::Way;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::viewport::{Anchor, Focus};
use crate::app::text::window::rows_of_block;
use crate::render::row::Row;

/// Columns per key press.
const STEP: u16 = 16;

const FARTHEST: u16 = 20_000;

/// Scrolls long lines sideways.
pub(crate) fn sideways(text: &mut TextPane, scene: &mut Scene<'_>, way: Way) {
    if text.wrapping.wraps {
        return scene.set_status("long lines are wrapped; w cuts them");
    }
    let from = text.wrapping.first_column;
    let to = match way {
        Way::Next => from.saturating_add(STEP).min(FARTHEST),
        Way::Previous => from.saturating_sub(STEP),
    };
    text.wrapping.first_column = to;
    text.invalidate_rows();
    scene.set_status(format!("from column {} on", to + 1));
}

/// Number of the anchored line: how many unwrapped lines of its block begin up to the anchored row.
pub(crate) fn anchored_line(text: &mut TextPane, scene: &Scene<'_>) -> Option<usize> {
    let (rows, row) = anchored(text, scene)?;
    let up_to = rows.iter().take(row + 1);
    Some(up_to.filter(|row| !row.continues).count())
}

/// Anchors the row at which the line with this number begins in the new layout.
pub(crate) fn restore_line(text: &mut TextPane, scene: &Scene<'_>, number: Option<usize>) {
    let (Some(number), Some((rows, _))) = (number, anchored(text, scene)) else {
        return;
    };
    let starts = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.continues)
        .map(|(place, _)| place);
    let to = starts.take(number).last().unwrap_or(0);
    if let Anchor::Row { row, .. } = &mut text.view.anchor {
        *row = to;
    }
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
