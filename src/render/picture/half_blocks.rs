//! Pictures as rows of half blocks: each cell shows two pixels, one above the other.

use std::ops::Range;
use std::sync::Arc;

use ratatui::style::{Color, Style};
use ratatui::text::Span;

use super::drawing::Drawing;
use super::{Picture, Tile};
use crate::render::colour::fit;
use crate::render::row::Row;
use crate::render::theme::Theme;
use crate::render::wrap::Piece;

/// The character of half blocks.
pub(crate) const HALF_BLOCK: char = '▀';

/// The rows of a picture in this many columns and rows, with the drawing over them.
pub(crate) fn rows(
    picture: &Picture,
    cells: (u16, u16),
    drawing: Option<&Arc<Drawing>>,
    theme: &Theme,
) -> Vec<Row> {
    let (columns, halves) = (usize::from(cells.0.max(1)), usize::from(cells.1.max(1)) * 2);
    let height = picture.pixels.len() / picture.width.max(1);
    let colour = |x: usize, y: usize| {
        let across = span(x, columns, picture.width);
        let [r, g, b] = picture.mean(across, span(y, halves, height));
        fit(Color::Rgb(r, g, b), theme.terminal.depth)
    };
    let mut rows = Vec::new();
    for row in 0..cells.1.max(1) {
        let y = usize::from(row) * 2;
        let mut spans: Vec<Piece> = Vec::new();
        for x in 0..columns {
            let style = Style::new().fg(colour(x, y)).bg(colour(x, y + 1));
            match spans.last_mut() {
                Some(last) if last.style == style => last.content.to_mut().push(HALF_BLOCK),
                _ => spans.push(Span::styled(HALF_BLOCK.to_string(), style)),
            }
        }
        let tile = drawing.map(|drawing| Tile {
            drawing: Arc::clone(drawing),
            row,
        });
        rows.push(Row {
            line: spans.into(),
            tile,
            ..Row::default()
        });
    }
    rows
}

/// The pixels of one of several equal parts; at least one.
fn span(part: usize, parts: usize, pixels: usize) -> Range<usize> {
    let first = part * pixels / parts.max(1);
    first..((part + 1) * pixels / parts.max(1)).max(first + 1)
}

impl Picture {
    /// The mean colour of an area.
    fn mean(&self, across: Range<usize>, down: Range<usize>) -> [u8; 3] {
        let mut sums = [0_usize; 3];
        let mut count = 0;
        for y in down {
            let line = y * self.width;
            for pixel in self
                .pixels
                .get(line + across.start..line + across.end)
                .unwrap_or_default()
            {
                for (sum, part) in sums.iter_mut().zip(pixel) {
                    *sum += usize::from(*part);
                }
                count += 1;
            }
        }
        sums.map(|sum| u8::try_from(sum / count.max(1)).unwrap_or(u8::MAX))
    }
}

#[cfg(feature = "images")]
#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::rows;
    use crate::render::colour::Depth;
    use crate::render::picture::canvas::Canvas;
    use crate::render::picture::tests::png;
    use crate::render::picture::{cells, decode};
    use crate::render::theme::Theme;

    #[test]
    fn two_pixels_stand_in_a_cell() {
        let theme = Theme::dark().with_depth(Depth::True);
        let shown = rows(&decode(&png(3, 2)).unwrap(), (3, 1), None, &theme);
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].line.to_string(), "▀▀▀");
        let style = shown[0].line.spans[0].style;
        assert_eq!(
            (style.fg, style.bg),
            (Some(Color::Rgb(255, 0, 0)), Some(Color::Rgb(0, 0, 255)))
        );
    }

    #[test]
    fn pictures_fill_the_cells_they_are_given() {
        let picture = decode(&png(300, 200)).unwrap();
        assert_eq!(picture.size, (300, 200));
        for columns in 1..120 {
            let cells = cells(picture.size, columns, 10, Canvas::BLOCKS);
            let shown = rows(&picture, cells, None, &Theme::dark());
            assert_eq!(shown.len(), usize::from(cells.1));
            assert!(
                shown
                    .iter()
                    .all(|row| row.line.width() == usize::from(cells.0))
            );
            let (top, bottom) = (
                &shown[0].line.spans[0],
                &shown[shown.len() - 1].line.spans[0],
            );
            assert_ne!(top.style.fg, bottom.style.bg);
        }
    }

    #[test]
    fn what_is_transparent_is_grey() {
        let mut data = std::io::Cursor::new(Vec::new());
        let made = image::RgbaImage::from_pixel(2, 2, image::Rgba([255, 255, 255, 0]));
        made.write_to(&mut data, image::ImageFormat::Png).unwrap();
        let shown = rows(
            &decode(&data.into_inner()).unwrap(),
            (2, 1),
            None,
            &Theme::dark().with_depth(Depth::True),
        );
        assert_eq!(
            shown[0].line.spans[0].style.fg,
            Some(Color::Rgb(128, 128, 128))
        );
    }
}
