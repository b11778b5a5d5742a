//! What the terminal has of drawings: which images it keeps, and what lies over the cells of the screen.
//!
//! Rows that lie over half blocks are written again when they moved, or when something that covered them
//! went; where one goes, the cells under it are written even if they did not change.
//!
//! Invariant: the terminal keeps few images at a time, and none after [`Gallery::farewell`].

use std::sync::Arc;

use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::Rect;

use crate::render::picture::drawing::Drawing;
use crate::render::picture::kitty;
use crate::ui::pictures::Placed;

/// Images that the terminal keeps at most, besides those in sight.
const MOST: usize = 24;

/// The books of it.
#[derive(Debug, Default)]
pub(crate) struct Gallery {
    /// Images that the terminal keeps; those first that were not seen for the longest time.
    kept: Vec<Kept>,
    /// What lies over cells.
    shown: Vec<Shown>,
    /// The screen that it lies on.
    screen: Rect,
}

#[derive(Debug)]
struct Kept {
    id: u32,
    in_tmux: bool,
    /// Whether the terminal may have lost it.
    is_doubtful: bool,
}

#[derive(Debug)]
struct Shown {
    id: u32,
    row: u16,
    /// All cells of it that were written.
    area: Rect,
    /// Whether nothing was painted over it since.
    is_whole: bool,
}

impl Gallery {
    /// What must be sent before a frame with these drawings, and for those that are let go.
    pub(crate) fn send(&mut self, drawings: &[Arc<Drawing>]) -> String {
        let mut out = String::new();
        for drawing in drawings {
            let place = self.kept.iter().position(|kept| kept.id == drawing.id);
            let known = place.map(|place| self.kept.remove(place));
            if known.is_none_or(|known| known.is_doubtful) {
                let Some(transmission) = drawing.transmission() else {
                    continue;
                };
                out.push_str(&transmission);
            }
            let in_tmux = drawing.shape.canvas.in_tmux;
            self.kept.push(Kept {
                id: drawing.id,
                in_tmux,
                is_doubtful: false,
            });
        }
        let too_many = self.kept.len().saturating_sub(MOST.max(drawings.len()));
        for kept in self.kept.drain(..too_many) {
            out.push_str(&kitty::delete(kept.id, kept.in_tmux));
        }
        out
    }

    /// What must be written over a frame when it is out. Cells that lost what lay over them are marked to
    /// be written.
    pub(crate) fn lay(&mut self, placed: &[Placed], buffer: &mut Buffer) -> String {
        if self.screen != buffer.area {
            // The terminal was cleared for its new size.
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
            let is_same = |shown: &Shown| {
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
                self.shown.push(Shown {
                    id,
                    row,
                    area,
                    is_whole,
                });
            }
        }
        for gone in earlier {
            for position in gone.area.intersection(buffer.area).positions() {
                // What is written over these is whole, or as it was.
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

    /// The screen is painted anew: nothing lies over it, and the terminal may have lost all images.
    pub(crate) fn forget(&mut self) {
        self.shown.clear();
        self.doubt();
    }

    /// The terminal may have lost images: those in sight are sent once more.
    pub(crate) fn doubt(&mut self) {
        for kept in &mut self.kept {
            kept.is_doubtful = true;
        }
    }

    /// What makes the terminal forget all images.
    pub(crate) fn farewell(&self) -> String {
        self.kept
            .iter()
            .map(|kept| kitty::delete(kept.id, kept.in_tmux))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ratatui::buffer::{Buffer, CellDiffOption};
    use ratatui::layout::Rect;

    use super::{Gallery, MOST};
    use crate::render::picture::canvas::{Canvas, Means};
    use crate::render::picture::drawing::{Drawing, Shape};
    use crate::ui::pictures::Placed;

    fn shape(means: Means) -> Shape {
        Shape {
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
        let mut gallery = Gallery::default();
        let drawing = kitty();
        let sent = gallery.send(&[Arc::clone(&drawing)]);
        assert_eq!(Some(sent), drawing.transmission());
        assert_eq!(gallery.send(&[Arc::clone(&drawing)]), "");
        assert_eq!(gallery.send(&[]), "");
        gallery.doubt();
        assert_eq!(gallery.send(&[]), "", "nothing of it is in sight");
        assert_eq!(
            Some(gallery.send(&[Arc::clone(&drawing)])),
            drawing.transmission()
        );
        assert_eq!(
            gallery.farewell(),
            format!("\x1b_Ga=d,d=I,q=2,i={}\x1b\\", drawing.id)
        );
        assert_eq!(
            gallery.send(&[sixel()]),
            "",
            "a sixel is not kept by the terminal"
        );
    }

    #[test]
    fn the_terminal_keeps_few_images() {
        let mut gallery = Gallery::default();
        let drawings: Vec<Arc<Drawing>> = (0..MOST + 3).map(|_| kitty()).collect();
        let mut sent = String::new();
        for drawing in &drawings {
            gallery.send(&[Arc::clone(&drawings[0])]);
            sent = gallery.send(&[Arc::clone(drawing)]);
        }
        assert!(
            sent.contains(&format!("a=d,d=I,q=2,i={}", drawings[3].id)),
            "the one seen longest ago goes"
        );
        assert_eq!(gallery.farewell().matches("a=d").count(), MOST);
        assert!(
            gallery
                .farewell()
                .contains(&format!("i={}\x1b", drawings[0].id))
        );
        gallery.send(&drawings);
        assert_eq!(
            gallery.farewell().matches("a=d").count(),
            MOST + 3,
            "what is in sight stays"
        );
    }

    /// What is written over a screen of 10 by 6 with a row of a drawing in these columns, and how many cells
    /// must be written again.
    fn lay(gallery: &mut Gallery, placed: &[Placed]) -> (String, usize) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 6));
        let out = gallery.lay(placed, &mut buffer);
        let again =
            |cell: &&ratatui::buffer::Cell| cell.diff_option == CellDiffOption::AlwaysUpdate;
        (out, buffer.content.iter().filter(again).count())
    }

    fn placed(drawing: &Arc<Drawing>, row: u16, x: u16, y: u16, width: u16) -> Placed {
        let area = Rect {
            x,
            y,
            width,
            height: 1,
        };
        Placed {
            drawing: Arc::clone(drawing),
            row,
            area,
            is_whole: width == 4,
        }
    }

    #[test]
    fn rows_are_written_when_they_come_or_move_and_not_otherwise() {
        let mut gallery = Gallery::default();
        let drawing = sixel();
        let at = |y| {
            [
                placed(&drawing, 0, 2, y, 4),
                placed(&drawing, 1, 2, y + 1, 4),
            ]
        };
        let both = |y: u16| format!("\x1b7\x1b[{y};3H<top>\x1b[{};3H<end>\x1b8", y + 1);
        assert_eq!(lay(&mut gallery, &at(1)), (both(2), 0));
        assert_eq!(lay(&mut gallery, &at(1)), (String::new(), 0));
        assert_eq!(
            lay(&mut gallery, &at(2)),
            (both(3), 4),
            "the line that it left is written"
        );
        assert_eq!(lay(&mut gallery, &at(2)), (String::new(), 0));
        assert_eq!(lay(&mut gallery, &[]), (String::new(), 8));
        assert_eq!(
            lay(&mut gallery, &at(4)).0,
            "\x1b7\x1b[5;3H<top>\x1b8",
            "not on the last line"
        );
        gallery.forget();
        assert_eq!(lay(&mut gallery, &at(1)), (both(2), 0));
    }

    #[test]
    fn a_row_that_was_covered_is_written_when_it_is_free_again() {
        let mut gallery = Gallery::default();
        let drawing = sixel();
        let whole = [placed(&drawing, 0, 2, 1, 4)];
        let covered = [placed(&drawing, 0, 2, 1, 1), placed(&drawing, 0, 5, 1, 1)];
        lay(&mut gallery, &whole);
        assert_eq!(
            lay(&mut gallery, &covered),
            (String::new(), 0),
            "what is left of it stays"
        );
        assert_eq!(lay(&mut gallery, &covered), (String::new(), 0));
        assert_eq!(lay(&mut gallery, &whole).0, "\x1b7\x1b[2;3H<top>\x1b8");
        lay(&mut gallery, &covered);
        assert_eq!(lay(&mut gallery, &[]).1, 4, "all of it goes");
        assert_eq!(
            lay(&mut gallery, &covered),
            (String::new(), 0),
            "a part is never written"
        );
    }
}
