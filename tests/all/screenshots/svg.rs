//! Writes a terminal screen as SVG: a window frame, backgrounds, then runs of text with the same
//! style.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

use super::strokes::{self, Place};

const CELL: (f64, f64) = (8.4, 19.0);
const FONT: f64 = 14.0;
const MARGIN: f64 = 14.0;
const BAR: f64 = 34.0;
/// Colours of a terminal.
pub(super) struct Palette {
    ground: &'static str,
    ink: &'static str,
    frame: &'static str,
    basic: [&'static str; 16],
}

/// A dark terminal.
pub(super) const DARK: Palette = Palette {
    ground: "#16181d",
    ink: "#d5d8df",
    frame: "#3a3f4b",
    basic: [
        "#2a2e37", "#ef6b73", "#8fc97a", "#e5c07b", "#6cb2f2", "#c792ea", "#5ccfd6", "#c3c8d1",
        "#6b7280", "#ff8f94", "#aee59a", "#f5d898", "#91c9ff", "#dcb3f5", "#86e3e8", "#f4f6fa",
    ],
};

/// A light terminal.
pub(super) const LIGHT: Palette = Palette {
    ground: "#fbfbf9",
    ink: "#2b2f36",
    frame: "#c9ccd3",
    basic: [
        "#2b2f36", "#c0333c", "#2f7d32", "#946200", "#1f62b0", "#8a3fa6", "#0f7480", "#767c88",
        "#5d636e", "#d2424b", "#388e3c", "#a86f00", "#2a72c9", "#9c50b8", "#138693", "#111318",
    ],
};

/// How cells look; neighbours with one look are drawn together.
#[derive(Clone, PartialEq)]
struct Look {
    ink: String,
    ground: Option<String>,
    bold: bool,
    italic: bool,
    underline: bool,
    dim: bool,
}

impl Look {
    fn plain(palette: &Palette) -> Self {
        let ink = palette.ink.to_owned();
        Self {
            ink,
            ground: None,
            bold: false,
            italic: false,
            underline: false,
            dim: false,
        }
    }
}

/// Draws a screen under a window title.
pub(super) fn draw(screen: &Screen, title: &str, palette: &Palette) -> String {
    let (rows, cols) = screen.size();
    let (rows, cols) = (rows.get(), cols.get());
    let width = f64::from(cols) * CELL.0 + 2.0 * MARGIN;
    let height = f64::from(rows) * CELL.1 + BAR + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         font-family=\"'JetBrains Mono','Cascadia Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace\" \
         font-size=\"{FONT}\">\n"
    );
    writeln!(
        out,
        "<rect x=\"0.5\" y=\"0.5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"10\" fill=\"{}\" stroke=\"{}\"/>",
        width - 1.0,
        height - 1.0,
        palette.ground,
        palette.frame
    )
    .unwrap();
    for (n, colour) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
        let x = MARGIN + 6.0 + 18.0 * f64::from(u8::try_from(n).unwrap());
        writeln!(
            out,
            "<circle cx=\"{x}\" cy=\"17\" r=\"5.5\" fill=\"{colour}\"/>"
        )
        .unwrap();
    }
    writeln!(
        out,
        "<text x=\"{:.0}\" y=\"21.5\" fill=\"#8a909c\" font-size=\"12.5\" text-anchor=\"middle\">{}</text>",
        width / 2.0,
        escaped(title)
    )
    .unwrap();
    for row in 0..rows {
        out += &self::row(screen, row, cols, palette);
    }
    out + "</svg>\n"
}

fn row(screen: &Screen, row: u16, cols: u16, palette: &Palette) -> String {
    let mut texts = grounds(screen, row, cols, palette);
    let mut col = 0;
    while col < cols {
        let (text, look, width) = stretch(screen, (row, col), cols, palette);
        let (x, y) = (
            MARGIN + f64::from(col) * CELL.0,
            BAR + f64::from(row) * CELL.1,
        );
        let place = Place {
            x,
            y,
            width: f64::from(width) * CELL.0,
            height: CELL.1,
        };
        let shape = text
            .chars()
            .next()
            .and_then(|c| strokes::shape(c, place, &look.ink));
        match shape {
            Some(shape) => texts += &shape,
            None if text.trim().is_empty() => {}
            None => texts += &run(&text, &look, place),
        }
        col += width;
    }
    texts
}

/// The backgrounds of a row: one shape for neighbours of one colour, or seams would show.
fn grounds(screen: &Screen, row: u16, cols: u16, palette: &Palette) -> String {
    let ground = |col: u16| {
        screen
            .cell(row, col)
            .and_then(|cell| look(cell, palette).ground)
    };
    let mut shapes = String::new();
    let mut start = 0;
    for col in 1..=cols {
        if col < cols && ground(col) == ground(start) {
            continue;
        }
        if let Some(colour) = ground(start) {
            let (x, y) = (
                MARGIN + f64::from(start) * CELL.0,
                BAR + f64::from(row) * CELL.1,
            );
            let width = f64::from(col - start) * CELL.0;
            shapes += &format!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{}\" fill=\"{colour}\"/>\n",
                CELL.1
            );
        }
        start = col;
    }
    shapes
}

/// The text from a column on that can be drawn in one go, its look and its width. Characters of an
/// unusual width or with a shape of their own stand alone: fonts disagree on them.
fn stretch(
    screen: &Screen,
    (row, start): (u16, u16),
    cols: u16,
    palette: &Palette,
) -> (String, Look, u16) {
    let mut text = String::new();
    let mut look_of_all = None;
    let mut col = start;
    while let Some(cell) = screen.cell(row, col).filter(|_| col < cols) {
        let look = look(cell, palette);
        if *look_of_all.get_or_insert_with(|| look.clone()) != look {
            break;
        }
        let contents = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        let stands_alone = !contents.is_ascii();
        if stands_alone && !text.is_empty() {
            break;
        }
        text.push_str(contents);
        col += if cell.is_wide() { 2 } else { 1 };
        if stands_alone {
            break;
        }
    }
    (
        text,
        look_of_all.unwrap_or_else(|| Look::plain(palette)),
        (col - start).max(1),
    )
}

fn run(text: &str, look: &Look, place: Place) -> String {
    let (x, y, width) = (place.x, place.y + FONT, place.width);
    let mut style = format!("fill=\"{}\"", look.ink);
    let styles = [
        (look.bold, " font-weight=\"bold\""),
        (look.italic, " font-style=\"italic\""),
        (look.underline, " text-decoration=\"underline\""),
        (look.dim, " opacity=\"0.6\""),
    ];
    for (is_set, word) in styles {
        if is_set {
            style.push_str(word);
        }
    }
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{width:.1}\" lengthAdjust=\"spacing\" xml:space=\"preserve\" \
         {style}>{}</text>\n",
        escaped(text)
    )
}

fn look(cell: &Cell, palette: &Palette) -> Look {
    let (mut ink, mut ground) = (
        colour(cell.fgcolor(), palette),
        colour(cell.bgcolor(), palette),
    );
    if cell.inverse() {
        (ink, ground) = (
            Some(ground.unwrap_or_else(|| palette.ground.to_owned())),
            Some(ink.unwrap_or_else(|| palette.ink.to_owned())),
        );
    }
    Look {
        ink: ink.unwrap_or_else(|| palette.ink.to_owned()),
        ground,
        bold: cell.bold(),
        italic: cell.italic(),
        underline: cell.underline(),
        dim: cell.dim(),
    }
}

fn colour(colour: Color, palette: &Palette) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(n @ 0..16) => Some(palette.basic[usize::from(n)].to_owned()),
        Color::Idx(n @ 16..232) => {
            let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
            let n = n - 16;
            Some(hex(level(n / 36), level(n / 6 % 6), level(n % 6)))
        }
        Color::Idx(n) => {
            let grey = 8 + 10 * (n - 232);
            Some(hex(grey, grey, grey))
        }
        Color::Rgb(r, g, b) => Some(hex(r, g, b)),
    }
}

fn hex(r: u8, g: u8, b: u8) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
