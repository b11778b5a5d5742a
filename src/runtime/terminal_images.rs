//! Images in the terminal: which ones it stores, and which rows of them lie over cells of the
//! screen.
//!
//! Rows of images are written again when they moved, or when something that covered them went
//! away; where one goes away, the cells below it are written even if they did not change.
//!
//! Invariant: the terminal stores few images at a time, and none after
//! [`TerminalImages::delete_all`].

use std::sync::Arc;

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::Rect;

use crate::render::picture::drawing::Drawing;
use crate::render::picture::kitty;
use crate::ui::pictures::PlacedRow;

/// Limit of stored images, besides the visible ones.
const MOST_STORED: usize = 24;

/// What the terminal stores and shows.
#[derive(Debug, Default)]
pub(crate) struct TerminalImages {
    /// Images that the terminal stores, the least recently used first.
    stored: Vec<StoredImage>,
    /// Rows of images over cells.
    shown: Vec<ShownRow>,
    /// The area of the last frame.
    screen: Rect,
}

#[derive(Debug)]
struct StoredImage {
    id: u32,
    in_tmux: bool,
    /// Whether the terminal may have dropped it.
    may_be_lost: bool,
}

#[derive(Debug)]
struct ShownRow {
    id: u32,
    row: u16,
    /// The cells that were written.
    area: Rect,
    /// Whether nothing has been drawn over it since.
    is_whole: bool,
}

impl TerminalImages {
    /// Sequences to be written before a frame with these images: transmissions of new ones,
    /// deletions of old ones.
    pub(crate) fn send(&mut self, drawings: &[Arc<Drawing>]) -> String {
        let mut out = String::new();
        for drawing in drawings {
            let place = self
                .stored
                .iter()
                .position(|stored| stored.id == drawing.id);
            let known = place.map(|place| self.stored.remove(place));
            if known.is_none_or(|known| known.may_be_lost) {
                let Some(transmission) = drawing.transmission() else {
                    continue;
                };
                out.push_str(&transmission);
            }
            let in_tmux = drawing.shape.canvas.in_tmux;
            self.stored.push(StoredImage {
                id: drawing.id,
                in_tmux,
                may_be_lost: false,
            });
        }
        let too_many = self
            .stored
            .len()
            .saturating_sub(MOST_STORED.max(drawings.len()));
        for stored in self.stored.drain(..too_many) {
            out.push_str(&kitty::delete(stored.id, stored.in_tmux));
        }
        out
    }

    /// Sequences to be written after a frame. Cells that were below a row that went away are
    /// marked to be written again.
    pub(crate) fn overlay(&mut self, placed: &[PlacedRow], buffer: &mut Buffer) -> String {
        if self.screen != buffer.area {
            // A resized terminal was cleared.
            self.screen = buffer.area;
            self.shown.clear();
        }
        // A sixel that ends on the last line may scroll the screen.
        let last_line = buffer.area.bottom().saturating_sub(1);
        let mut earlier = std::mem::take(&mut self.shown);
        let mut out = String::new();
        for place in placed.iter().filter(|place| place.area.y < last_line) {
            let Some(strip) = place.drawing.strip(place.row) else {
                continue;
            };
            let is_same = |shown: &ShownRow| {
                (shown.id, shown.row) == (place.drawing.id, place.row)
                    && shown.area.y == place.area.y
                    && shown.area.intersects(place.area)
                    && (!place.is_whole || shown.area == place.area)
            };
            let known = earlier
                .iter()
                .position(is_same)
                .map(|at| earlier.remove(at));
            let area = known.as_ref().map_or(place.area, |known| known.area);
            if known.is_none() && !place.is_whole {
                continue;
            }
            if place.is_whole && known.is_none_or(|known| !known.is_whole) {
                let (line, column) = (place.area.y + 1, place.area.x + 1);
                out.push_str(&format!("\x1b[{line};{column}H{strip}"));
            }
            let (id, row, is_whole) = (place.drawing.id, place.row, place.is_whole);
            if !self
                .shown
                .iter()
                .any(|shown| (shown.id, shown.row, shown.area) == (id, row, area))
            {
                self.shown.push(ShownRow {
                    id,
                    row,
                    area,
                    is_whole,
                });
            }
        }
        for gone in earlier {
            for position in gone.area.intersection(buffer.area).positions() {
                // Cells below a row that stays are not visible.
                let is_covered = self.shown.iter().any(|shown| shown.area.contains(position));
                if let Some(cell) = buffer.cell_mut(position).filter(|_| !is_covered)
                    && cell.diff_option == CellDiffOption::None
                {
                    cell.set_diff_option(CellDiffOption::AlwaysUpdate);
                }
            }
        }
        if out.is_empty() {
            out
        } else {
            format!("\x1b7{out}\x1b8")
        }
    }

    /// The screen is redrawn: nothing lies over it, and the terminal may have dropped all images.
    pub(crate) fn clear(&mut self) {
        self.shown.clear();
        self.invalidate();
    }

    /// The terminal may have dropped images: visible ones are transmitted again.
    pub(crate) fn invalidate(&mut self) {
        for stored in &mut self.stored {
            stored.may_be_lost = true;
        }
    }

    /// The sequence that deletes all images.
    pub(crate) fn delete_all(&self) -> String {
        self.stored
            .iter()
            .map(|stored| kitty::delete(stored.id, stored.in_tmux))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ratatui::buffer::{Buffer, CellDiffOption};
    use ratatui::layout::Rect;

    use super::{MOST_STORED, TerminalImages};
    use crate::render::picture::canvas::{Canvas, Means};
    use crate::render::picture::drawing::{Drawing, DrawingShape};
    use crate::ui::pictures::PlacedRow;

    fn shape(means: Means) -> DrawingShape {
        DrawingShape {
            cells: (4, 2),
            canvas: Canvas {
                means,
                cell: (10, 20),
                in_tmux: false,
            },
        }
    }

    fn kitty() -> Arc<Drawing> {
        Arc::new(Drawing::whole(shape(Means::Kitty), b"png".to_vec()))
    }

    fn sixel() -> Arc<Drawing> {
        Arc::new(Drawing::strips(
            shape(Means::Sixel),
            vec!["<top>".to_owned(), "<end>".to_owned()],
        ))
    }

    #[test]
    fn an_image_is_sent_once_and_taken_away_in_the_end() {
        let mut images = TerminalImages::default();
        let drawing = kitty();
        let sent = images.send(&[Arc::clone(&drawing)]);
        assert_eq!(Some(sent), drawing.transmission());
        assert_eq!(images.send(&[Arc::clone(&drawing)]), "");
        assert_eq!(images.send(&[]), "");
        images.invalidate();
        assert_eq!(images.send(&[]), "", "nothing of it is in sight");
        assert_eq!(
            Some(images.send(&[Arc::clone(&drawing)])),
            drawing.transmission()
        );
        assert_eq!(
            images.delete_all(),
            format!("\x1b_Ga=d,d=I,q=2,i={}\x1b\\", drawing.id)
        );
        assert_eq!(
            images.send(&[sixel()]),
            "",
            "a sixel is not stored by the terminal"
        );
    }

    #[test]
    fn the_terminal_keeps_few_images() {
        let mut images = TerminalImages::default();
        let drawings: Vec<Arc<Drawing>> = (0..MOST_STORED + 3).map(|_| kitty()).collect();
        let mut sent = String::new();
        for drawing in &drawings {
            images.send(&[Arc::clone(&drawings[0])]);
            sent = images.send(&[Arc::clone(drawing)]);
        }
        assert!(
            sent.contains(&format!("a=d,d=I,q=2,i={}", drawings[3].id)),
            "the one seen longest ago goes"
        );
        assert_eq!(images.delete_all().matches("a=d").count(), MOST_STORED);
        assert!(
            images
                .delete_all()
                .contains(&format!("i={}\x1b", drawings[0].id))
        );
        images.send(&drawings);
        assert_eq!(
            images.delete_all().matches("a=d").count(),
            MOST_STORED + 3,
            "what is in sight stays"
        );
    }

    /// What is written over a screen of 10 by 6 with a row of a drawing in these columns, and how many cells
    /// must be written again.
    fn overlay(images: &mut TerminalImages, placed: &[PlacedRow]) -> (String, usize) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 6));
        let out = images.overlay(placed, &mut buffer);
        let again =
            |cell: &&ratatui::buffer::Cell| cell.diff_option == CellDiffOption::AlwaysUpdate;
        (out, buffer.content.iter().filter(again).count())
    }

    fn placed(drawing: &Arc<Drawing>, row: u16, x: u16, y: u16, width: u16) -> PlacedRow {
        let area = Rect {
            x,
            y,
            width,
            height: 1,
        };
        PlacedRow {
            drawing: Arc::clone(drawing),
            row,
            area,
            is_whole: width == 4,
        }
    }

    #[test]
    fn rows_are_written_when_they_come_or_move_and_not_otherwise() {
        let mut images = TerminalImages::default();
        let drawing = sixel();
        let at = |y| {
            [
                placed(&drawing, 0, 2, y, 4),
                placed(&drawing, 1, 2, y + 1, 4),
            ]
        };
        let both = |y: u16| format!("\x1b7\x1b[{y};3H<top>\x1b[{};3H<end>\x1b8", y + 1);
        assert_eq!(overlay(&mut images, &at(1)), (both(2), 0));
        assert_eq!(overlay(&mut images, &at(1)), (String::new(), 0));
        assert_eq!(
            overlay(&mut images, &at(2)),
            (both(3), 4),
            "the line that it left is written"
        );
        assert_eq!(overlay(&mut images, &at(2)), (String::new(), 0));
        assert_eq!(overlay(&mut images, &[]), (String::new(), 8));
        assert_eq!(
            overlay(&mut images, &at(4)).0,
            "\x1b7\x1b[5;3H<top>\x1b8",
            "not on the last line"
        );
        images.clear();
        assert_eq!(overlay(&mut images, &at(1)), (both(2), 0));
    }

    #[test]
    fn a_row_that_was_covered_is_written_when_it_is_free_again() {
        let mut images = TerminalImages::default();
        let drawing = sixel();
        let whole = [placed(&drawing, 0, 2, 1, 4)];
        let covered = [placed(&drawing, 0, 2, 1, 1), placed(&drawing, 0, 5, 1, 1)];
        overlay(&mut images, &whole);
        assert_eq!(
            overlay(&mut images, &covered),
            (String::new(), 0),
            "what is left of it stays"
        );
        assert_eq!(overlay(&mut images, &covered), (String::new(), 0));
        assert_eq!(overlay(&mut images, &whole).0, "\x1b7\x1b[2;3H<top>\x1b8");
        overlay(&mut images, &covered);
        assert_eq!(overlay(&mut images, &[]).1, 4, "all of it goes");
        assert_eq!(
            overlay(&mut images, &covered),
            (String::new(), 0),
            "a part is never written"
        );
    }
}
