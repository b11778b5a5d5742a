//! Draws lines and blocks as shapes: as characters they would leave gaps between rows.

/// A cell's corner and size.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The shape of a character, if it is one that must touch its neighbours.
pub(super) fn shape(c: char, at: Place, ink: &str) -> Option<String> {
    let Place {
        x,
        y,
        width,
        height,
    } = at;
    let (middle, centre) = (x + width / 2.0, y + height / 2.0);
    let (right, bottom) = (x + width, y + height);
    let left_to = format!("M{x:.1} {centre:.1}H");
    let top_to = format!("M{middle:.1} {y:.1}V");
    let line = match c {
        '─' | '━' => format!("{left_to}{right:.1}"),
        '│' | '┃' | '╎' | '┆' => format!("{top_to}{bottom:.1}"),
        '┼' => format!("{left_to}{right:.1}{top_to}{bottom:.1}"),
        '┬' => format!("{left_to}{right:.1}M{middle:.1} {centre:.1}V{bottom:.1}"),
        '┴' => format!("{left_to}{right:.1}{top_to}{centre:.1}"),
        '├' => format!("{top_to}{bottom:.1}M{middle:.1} {centre:.1}H{right:.1}"),
        '┤' => format!("{top_to}{bottom:.1}{left_to}{middle:.1}"),
        '╭' | '┌' => {
            format!("M{right:.1} {centre:.1}Q{middle:.1} {centre:.1} {middle:.1} {bottom:.1}")
        }
        '╮' | '┐' => {
            format!("M{x:.1} {centre:.1}Q{middle:.1} {centre:.1} {middle:.1} {bottom:.1}")
        }
        '╰' | '└' => {
            format!("M{right:.1} {centre:.1}Q{middle:.1} {centre:.1} {middle:.1} {y:.1}")
        }
        '╯' | '┘' => format!("M{x:.1} {centre:.1}Q{middle:.1} {centre:.1} {middle:.1} {y:.1}"),
        _ => return block(c, at, ink),
    };
    let weight = if matches!(c, '━' | '┃') { 2.4 } else { 1.2 };
    let dashes = if matches!(c, '╎' | '┆') {
        " stroke-dasharray=\"3 3\""
    } else {
        ""
    };
    Some(format!(
        "<path d=\"{line}\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{weight}\"{dashes}/>\n"
    ))
}

fn block(c: char, at: Place, ink: &str) -> Option<String> {
    let eighths = f64::from(u32::from(c).wrapping_sub(0x2580) % 8);
    // Left, top, width and height as parts of the cell, and the strength of the ink.
    let (left, top, width, height, strength) = match c {
        '█' => (0.0, 0.0, 1.0, 1.0, 1.0),
        '▀' => (0.0, 0.0, 1.0, 0.5, 1.0),
        '▁'..='▇' => (0.0, 1.0 - eighths / 8.0, 1.0, eighths / 8.0, 1.0),
        '▉'..='▏' => (0.0, 0.0, 1.0 - eighths / 8.0, 1.0, 1.0),
        '▐' => (0.5, 0.0, 0.5, 1.0, 1.0),
        '▕' => (0.875, 0.0, 0.125, 1.0, 1.0),
        '░' => (0.0, 0.0, 1.0, 1.0, 0.25),
        '▒' => (0.0, 0.0, 1.0, 1.0, 0.5),
        '▓' => (0.0, 0.0, 1.0, 1.0, 0.75),
        _ => return None,
    };
    let (x, y) = (at.x + left * at.width, at.y + top * at.height);
    let (width, height) = (width * at.width, height * at.height);
    Some(format!(
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{ink}\" \
         fill-opacity=\"{strength}\"/>\n"
    ))
}
