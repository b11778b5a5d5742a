//! The lanes beside the rows of the window.

use super::Cell;
use super::Scene;
use super::passes::{InSight, place_in_columns};
use crate::app::layout::Frame;
use crate::app::reader::Reader;
use crate::app::viewport::Line;
use crate::model::text::Name;
use crate::render::row::Level;

/// Finds the lanes beside the rows of the window.
pub fn arrange(reader: &mut Reader, frame: &Frame) {
    let columns = usize::from(frame.lanes);
    let is_shown = columns > 0 && reader.text.level != Level::Prompts;
    reader.text.gutter.lines = if is_shown { make(reader, columns) } else { Vec::new() };
}

fn make(reader: &Reader, columns: usize) -> Vec<Vec<Cell>> {
    let mut scene = Scene {
        transcript: &reader.session.transcript,
        flights: &reader.session.indexes.flights,
        sequence: &reader.text.sequence,
        filter: reader.find.filter.as_ref(),
        opens: &|lane: &Name| reader.find.filter.is_some() || reader.text.open_lanes.contains(lane),
        outer: None,
    };
    let mut lines = Vec::with_capacity(reader.text.view.lines.len());
    for of_entry in reader.text.view.lines.chunk_by(|line, next| line.place == next.place) {
        let (Some(first), Some(last)) = (of_entry.first(), of_entry.last()) else { continue };
        let portion = reader.text.sequence.portions().at(first.place);
        let in_sight = InSight { rows: &first.rows, range: first.row..last.row + 1, portion };
        let passes = scene.passes(first.entry, &in_sight);
        let cells = |line: &Line| place_in_columns(&passes, line.row, columns, reader.text.view.focus);
        lines.extend(of_entry.iter().map(cells));
    }
    lines
}
