//! Layout of the gutter for the window.

use super::GutterCell;
use super::spans::{VisibleRows, place_in_columns};
use crate::app::layout::Frame;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::viewport::WindowLine;
use crate::model::text::Name;
use crate::render::row::Level;

/// Fills the gutter of the window.
pub fn arrange(text: &mut TextPane, scene: &Scene<'_>, frame: &Frame) {
    let columns = usize::from(frame.lanes);
    let is_shown = columns > 0 && text.level != Level::Prompts;
    text.gutter.lines = if is_shown {
        make(text, scene, columns)
    } else {
        Vec::new()
    };
}

fn make(text: &TextPane, scene: &Scene<'_>, columns: usize) -> Vec<Vec<GutterCell>> {
    let mut gutter = super::GutterContext {
        transcript: &scene.session.transcript,
        flights: &scene.session.indexes.flights,
        sequence: &text.sequence,
        filter: text.find.filter.as_ref(),
        opens: &|lane: &Name| text.find.filter.is_some() || text.open_lanes.contains(lane),
        outer: None,
    };
    let mut lines = Vec::with_capacity(text.view.lines.len());
    for of_entry in text
        .view
        .lines
        .chunk_by(|line, next| line.place == next.place)
    {
        let (Some(first), Some(last)) = (of_entry.first(), of_entry.last()) else {
            continue;
        };
        let portion = text.sequence.portions().at(first.place);
        let in_sight = VisibleRows {
            rows: &first.rows,
            range: first.row..last.row + 1,
            portion,
        };
        let passes = gutter.spans_of(first.entry, &in_sight);
        let cells =
            |line: &WindowLine| place_in_columns(&passes, line.row, columns, text.view.focus);
        lines.extend(of_entry.iter().map(cells));
    }
    lines
}
