//! Places images over the half blocks of a painted frame.
//!
//! The painter of the transcript marks each cell of an image that is ready with its image, row and
//! column, encoded as the colour of an underline that is not drawn. Painting anything else over the
//! cell removes the mark. At the end, the cells that still have marks become cells that refer to
//! their image (kitty), or rows that are written after the frame.
//!
//! Invariant: no mark remains in a buffer that went through [`place`].

use std::num::NonZeroU16;
use std::sync::Arc;

use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use crate::app::reader::Reader;
use crate::render::picture::canvas::Means;
use crate::render::picture::drawing::Drawing;
use crate::render::picture::half_blocks::HALF_BLOCK;
use crate::render::picture::{Tile, kitty};

/// A row of a drawing that is to be written over its half blocks.
#[derive(Clone, Debug)]
pub struct PlacedRow {
    pub drawing: Arc<Drawing>,
    /// The row of the drawing.
    pub row: u16,
    /// The visible cells of the row.
    pub area: Rect,
    /// Whether all cells of the row are visible.
    pub is_whole: bool,
}

/// The drawings in the window from the top, each once.
pub fn in_sight(reader: &Reader) -> Vec<Arc<Drawing>> {
    let mut found: Vec<Arc<Drawing>> = Vec::new();
    for tile in reader
        .text
        .view
        .lines
        .iter()
        .filter_map(|line| line.row()?.tile.as_ref())
    {
        if found.last().is_none_or(|last| last.id != tile.drawing.id)
            && !found.iter().any(|known| known.id == tile.drawing.id)
        {
            found.push(Arc::clone(&tile.drawing));
        }
    }
    found
}

/// Marks the cells of a row of a drawing, from the start of the half blocks on.
pub fn mark(tile: &Tile, drawings: &[Arc<Drawing>], line: Rect, buffer: &mut Buffer) {
    let place = drawings
        .iter()
        .position(|drawing| drawing.id == tile.drawing.id);
    let (Some(place), Ok(row)) = (
        place.and_then(|place| u8::try_from(place).ok()),
        u8::try_from(tile.row),
    ) else {
        return;
    };
    let is_block = |x: &u16| {
        buffer
            .cell((*x, line.y))
            .is_some_and(|cell| cell.symbol().starts_with(HALF_BLOCK))
    };
    let Some(first) = (line.x..line.right()).find(is_block) else {
        return;
    };
    let columns = tile.drawing.shape.cells.0;
    for (x, column) in (first..line.right()).zip(0..columns) {
        if let (Some(cell), Ok(column)) = (buffer.cell_mut((x, line.y)), u8::try_from(column)) {
            cell.underline_color = Color::Rgb(place, row, column);
        }
    }
}

/// Places the drawings of a painted frame: as cells if the protocol has them; otherwise returns
/// their rows.
pub fn place(drawings: &[Arc<Drawing>], buffer: &mut Buffer) -> Vec<PlacedRow> {
    let mut placed: Vec<PlacedRow> = Vec::new();
    if drawings.is_empty() {
        return placed;
    }
    let area = buffer.area;
    for (x, y) in (area.y..area.bottom()).flat_map(|y| (area.x..area.right()).map(move |x| (x, y)))
    {
        let Some(cell) = buffer.cell_mut((x, y)) else {
            continue;
        };
        let Color::Rgb(number, row, column) = cell.underline_color else {
            continue;
        };
        cell.underline_color = Color::Reset;
        let Some(drawing) = drawings.get(usize::from(number)) else {
            continue;
        };
        if drawing.shape.canvas.means == Means::Kitty {
            name(drawing.id, row.into(), column.into(), cell);
            continue;
        }
        let is_next = |last: &PlacedRow| {
            (last.drawing.id, last.row, last.area.y) == (drawing.id, row.into(), y)
                && last.area.right() == x
        };
        match placed.last_mut().filter(|last| is_next(last)) {
            Some(last) => last.area.width += 1,
            None => placed.push(PlacedRow {
                drawing: Arc::clone(drawing),
                row: row.into(),
                area: Rect {
                    x,
                    y,
                    width: 1,
                    height: 1,
                },
                is_whole: false,
            }),
        }
        if let Some(last) = placed.last_mut() {
            last.is_whole = last.area.width == drawing.shape.cells.0;
        }
    }
    placed
}

/// Makes a cell refer to the part of the image that it shows.
fn name(id: u32, row: u16, column: u16, cell: &mut Cell) {
    let Some(symbol) = kitty::symbol(id, row, column) else {
        return;
    };
    cell.set_symbol(&symbol)
        .set_fg(Color::Indexed(kitty::colour(id)))
        .set_bg(Color::Reset);
    cell.modifier = Modifier::empty();
    cell.set_diff_option(CellDiffOption::ForcedWidth(NonZeroU16::MIN));
}
