//! Images encoded for a terminal with graphics, in the size at which they are shown.
//!
//! Terminals that cannot refer to a part of an image get one image per row of cells, so that a
//! partly visible or covered image is correct to the row.
//!
//! Invariant: what is sent to the terminal is encoded here from pixels; no byte of a file is
//! passed on.

use super::canvas::Canvas;
use super::kitty;

/// Limit of pixels; terminals that scale get smaller images instead.
#[cfg(feature = "images")]
const MOST_PIXELS: u32 = 4 << 20;

/// Size and surface of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DrawingShape {
    /// Columns and rows.
    pub(crate) cells: (u16, u16),
    pub(crate) canvas: Canvas,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Drawing {
    /// Unique in this process.
    pub id: u32,
    /// Its size and surface.
    pub(crate) shape: DrawingShape,
    form: DrawingForm,
}

#[derive(Debug, PartialEq, Eq)]
enum DrawingForm {
    Whole(Vec<u8>),
    /// A sequence per row of cells, from the top.
    Strips(Vec<String>),
}

impl Drawing {
    /// A drawing as a PNG that the terminal stores.
    #[cfg_attr(
        not(any(feature = "images", test)),
        expect(dead_code, reason = "without images nothing is drawn")
    )]
    pub(crate) fn whole(shape: DrawingShape, png: Vec<u8>) -> Self {
        Self {
            id: kitty::next_id(),
            shape,
            form: DrawingForm::Whole(png),
        }
    }

    /// A drawing as a sequence per row of cells.
    #[cfg_attr(
        not(any(feature = "images", test)),
        expect(dead_code, reason = "without images nothing is drawn")
    )]
    pub(crate) fn strips(shape: DrawingShape, strips: Vec<String>) -> Self {
        Self {
            id: kitty::next_id(),
            shape,
            form: DrawingForm::Strips(strips),
        }
    }

    /// The sequence that must be sent before its cells are shown.
    pub(crate) fn transmission(&self) -> Option<String> {
        match &self.form {
            DrawingForm::Whole(png) => Some(kitty::transmit(
                self.id,
                self.shape.cells,
                png,
                self.shape.canvas.in_tmux,
            )),
            DrawingForm::Strips(_) => None,
        }
    }

    /// The sequence that draws a row at the cursor.
    pub(crate) fn strip(&self, row: u16) -> Option<&str> {
        match &self.form {
            DrawingForm::Whole(_) => None,
            DrawingForm::Strips(strips) => strips.get(usize::from(row)).map(String::as_str),
        }
    }

    /// Size in memory.
    pub(crate) fn bytes(&self) -> usize {
        match &self.form {
            DrawingForm::Whole(png) => png.len(),
            DrawingForm::Strips(strips) => strips.iter().map(String::len).sum(),
        }
    }
}

/// Encodes a drawing of an image.
#[cfg(feature = "images")]
pub(crate) fn draw(data: &[u8], shape: DrawingShape) -> Result<Drawing, String> {
    use super::canvas::Means;
    use image::imageops::{FilterType, resize};
    let whole = super::decoding::flat(&super::decoding::open(data)?.into_rgba8());
    let (columns, rows) = (
        u32::from(shape.cells.0.max(1)),
        u32::from(shape.cells.1.max(1)),
    );
    let mut cell = (
        u32::from(shape.canvas.cell.0.max(1)),
        u32::from(shape.canvas.cell.1.max(1)),
    );
    while columns * cell.0 * rows * cell.1 > MOST_PIXELS {
        if shape.canvas.means == Means::Sixel || cell.0 < 2 || cell.1 < 2 {
            return Err("too large to be shown".to_owned());
        }
        cell = (cell.0 / 2, cell.1 / 2);
    }
    let pixels = resize(
        &whole,
        columns * cell.0,
        rows * cell.1,
        FilterType::Triangle,
    );
    let strip =
        |row: u32| image::imageops::crop_imm(&pixels, 0, row * cell.1, pixels.width(), cell.1);
    match shape.canvas.means {
        Means::Kitty => Ok(Drawing::whole(shape, png(&pixels)?)),
        Means::ITerm2 => {
            let strips =
                (0..rows).map(|row| Ok(inline(&png(&strip(row).to_image())?, shape.cells.0)));
            Ok(Drawing::strips(
                shape,
                strips.collect::<Result<_, String>>()?,
            ))
        }
        Means::Sixel => {
            let height = usize::try_from(cell.1).unwrap_or(1);
            Ok(Drawing::strips(
                shape,
                super::sixel::strips(&pixels, height),
            ))
        }
        Means::Off | Means::Blocks => Err("drawn in cells".to_owned()),
    }
}

/// Without the decoders nothing can be drawn.
#[cfg(not(feature = "images"))]
pub(crate) fn draw(_data: &[u8], _shape: DrawingShape) -> Result<Drawing, String> {
    Err("not shown: this program was built without images".to_owned())
}

/// Encodes pixels quickly rather than small.
#[cfg(feature = "images")]
fn png(pixels: &image::RgbImage) -> Result<Vec<u8>, String> {
    use image::ImageEncoder;
    use image::codecs::png::{CompressionType, FilterType, PngEncoder};
    let mut data = Vec::new();
    let encoder =
        PngEncoder::new_with_quality(&mut data, CompressionType::Fast, FilterType::Adaptive);
    let (width, height) = pixels.dimensions();
    encoder
        .write_image(
            pixels.as_raw(),
            width,
            height,
            image::ExtendedColorType::Rgb8,
        )
        .map_err(|error| error.to_string())?;
    Ok(data)
}

/// Draws a PNG over one row of cells, and leaves the cursor in place.
#[cfg(feature = "images")]
fn inline(png: &[u8], columns: u16) -> String {
    use base64::Engine as _;
    let data = base64::engine::general_purpose::STANDARD.encode(png);
    let size = png.len();
    format!(
        "\x1b]1337;File=inline=1;size={size};width={columns};height=1;preserveAspectRatio=0;\
         doNotMoveCursor=1:{data}\x07"
    )
}

#[cfg(feature = "images")]
#[cfg(test)]
mod tests {
    use super::super::canvas::{Canvas, Means};
    use super::super::tests::png;
    use super::{DrawingShape, draw, inline};
    use base64::Engine as _;

    fn shape(means: Means, cells: (u16, u16)) -> DrawingShape {
        DrawingShape {
            cells,
            canvas: Canvas {
                means,
                cell: (10, 20),
                in_tmux: false,
            },
        }
    }

    fn decoded(png: &[u8]) -> image::RgbImage {
        image::load_from_memory(png).unwrap().into_rgb8()
    }

    #[test]
    fn kitty_gets_a_png_of_the_size_of_the_cells() {
        let drawing = draw(&png(300, 200), shape(Means::Kitty, (12, 4))).unwrap();
        let sent = drawing.transmission().unwrap();
        assert!(
            sent.contains(&format!("i={},c=12,r=4,m=", drawing.id)),
            "{}",
            drawing.id
        );
        let data: String = sent
            .split_terminator("\x1b\\")
            .map(|piece| piece.split_once(';').unwrap().1)
            .collect();
        let data = base64::engine::general_purpose::STANDARD
            .decode(data)
            .unwrap();
        let seen = decoded(&data);
        assert_eq!(seen.dimensions(), (120, 80));
        assert_eq!(
            (seen.get_pixel(5, 5).0, seen.get_pixel(5, 75).0),
            ([255, 0, 0], [0, 0, 255])
        );
        assert_eq!(drawing.strip(0), None);
    }

    #[test]
    fn iterm2_gets_a_png_for_each_row_of_cells() {
        assert_eq!(
            inline(b"abc", 7),
            "\x1b]1337;File=inline=1;size=3;width=7;height=1;preserveAspectRatio=0;doNotMoveCursor=1:YWJj\x07"
        );
        let drawing = draw(&png(300, 200), shape(Means::ITerm2, (12, 4))).unwrap();
        assert_eq!(drawing.transmission(), None);
        assert_eq!(drawing.strip(4), None);
        for (row, colour) in [(0, [255, 0, 0]), (3, [0, 0, 255])] {
            let data = drawing.strip(row).unwrap().split_once(':').unwrap().1;
            let data = data.strip_suffix('\x07').unwrap();
            let seen = decoded(
                &base64::engine::general_purpose::STANDARD
                    .decode(data)
                    .unwrap(),
            );
            assert_eq!(seen.dimensions(), (120, 20));
            assert_eq!(seen.get_pixel(60, 10).0, colour);
        }
    }

    #[test]
    fn what_is_too_large_is_made_smaller_or_not_at_all() {
        let large = |means| {
            let canvas = Canvas {
                means,
                cell: (60, 120),
                in_tmux: false,
            };
            draw(
                &png(8, 8),
                DrawingShape {
                    cells: (96, 32),
                    canvas,
                },
            )
        };
        assert!(large(Means::Sixel).is_err());
        assert_eq!(large(Means::Kitty).unwrap().shape.cells, (96, 32));
    }
}
