//! Colours as numbers: the nearest colour that a terminal has, and the contrast of two colours.

use ratatui::style::Color;

/// Number of colours of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The sixteen ANSI colours.
    Sixteen,
    /// The 256 colours of xterm.
    #[default]
    Indexed,
    /// 24-bit colours.
    True,
}

/// Red, green, blue; 0 to 255 each.
pub(crate) type Rgb = (u8, u8, u8);

/// The sixteen colours as most terminals show them. Palettes differ, so these values serve only to
/// find the nearest one.
const SIXTEEN: [(Color, Rgb); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (205, 0, 0)),
    (Color::Green, (0, 205, 0)),
    (Color::Yellow, (205, 205, 0)),
    (Color::Blue, (0, 0, 238)),
    (Color::Magenta, (205, 0, 205)),
    (Color::Cyan, (0, 205, 205)),
    (Color::Gray, (229, 229, 229)),
    (Color::DarkGray, (127, 127, 127)),
    (Color::LightRed, (255, 0, 0)),
    (Color::LightGreen, (0, 255, 0)),
    (Color::LightYellow, (255, 255, 0)),
    (Color::LightBlue, (92, 92, 255)),
    (Color::LightMagenta, (255, 0, 255)),
    (Color::LightCyan, (0, 255, 255)),
    (Color::White, (255, 255, 255)),
];

/// Levels of each component in the cube of 216 colours.
const CUBE: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Parses `#rrggbb`, or the name of one of the sixteen.
pub fn parse(name: &str) -> Option<Color> {
    match rgb_of_hex(name) {
        Some((red, green, blue)) => Some(Color::Rgb(red, green, blue)),
        None => name
            .parse()
            .ok()
            .filter(|colour| !matches!(colour, Color::Rgb(..))),
    }
}

fn rgb_of_hex(name: &str) -> Option<Rgb> {
    let digits = name.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |range: std::ops::Range<usize>| u8::from_str_radix(digits.get(range)?, 16).ok();
    Some((part(0..2)?, part(2..4)?, part(4..6)?))
}

/// The colour, or the nearest one that the terminal has.
pub fn fit(colour: Color, depth: Depth) -> Color {
    match (colour, depth) {
        (Color::Rgb(red, green, blue), Depth::Indexed) => nearest_indexed((red, green, blue)),
        (Color::Rgb(..) | Color::Indexed(16..), Depth::Sixteen) => {
            rgb(colour).map_or(colour, nearest_of_sixteen)
        }
        _ => colour,
    }
}

fn nearest_of_sixteen(wanted: Rgb) -> Color {
    let nearest = SIXTEEN.iter().min_by_key(|(_, rgb)| distance(*rgb, wanted));
    nearest.map_or(Color::Reset, |(colour, _)| *colour)
}

fn nearest_indexed(wanted: Rgb) -> Color {
    let nearest = (16..=255).min_by_key(|index| distance(indexed(*index), wanted));
    Color::Indexed(nearest.unwrap_or(15))
}

/// The fixed colours of the 256: a cube and a ramp of greys.
fn indexed(index: u8) -> Rgb {
    if index >= 232 {
        let grey = 8 + (index - 232) * 10;
        return (grey, grey, grey);
    }
    let place = index.saturating_sub(16);
    let level = |n: u8| CUBE.get(usize::from(n % 6)).copied().unwrap_or(0);
    (level(place / 36), level(place / 6), level(place))
}

/// The components of a colour; `None` if they depend on the terminal.
pub(crate) fn rgb(colour: Color) -> Option<Rgb> {
    match colour {
        Color::Rgb(red, green, blue) => Some((red, green, blue)),
        Color::Indexed(index @ 16..) => Some(indexed(index)),
        Color::Indexed(index) => SIXTEEN.get(usize::from(index)).map(|(_, rgb)| *rgb),
        other => SIXTEEN
            .iter()
            .find(|(known, _)| *known == other)
            .map(|(_, rgb)| *rgb),
    }
}

/// Distance of two colours; green has the greatest weight, as in the eye.
fn distance(a: Rgb, b: Rgb) -> u32 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    3 * square(a.0, b.0) + 6 * square(a.1, b.1) + square(a.2, b.2)
}

/// The contrast of two colours by WCAG 2: 1 is none, 21 is black on white.
pub(crate) fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Luminance of a colour, 0 to 1.
pub(crate) fn luminance((red, green, blue): Rgb) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::{Depth, contrast, fit, parse};

    #[test]
    fn fewer_colours_get_the_nearest() {
        let orange = parse("#ff8700").unwrap();
        assert_eq!(fit(orange, Depth::True), Color::Rgb(255, 135, 0));
        assert_eq!(fit(orange, Depth::Indexed), Color::Indexed(208));
        assert_eq!(fit(parse("#fdfdfd").unwrap(), Depth::Sixteen), Color::White);
        assert_eq!(fit(Color::Indexed(245), Depth::Sixteen), Color::DarkGray);
        assert_eq!(fit(Color::Cyan, Depth::Sixteen), Color::Cyan);
        assert_eq!(parse("lightblue"), Some(Color::LightBlue));
        assert_eq!(parse("#12345"), None);
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 0.01);
        assert!((contrast((119, 119, 119), (255, 255, 255)) - 4.48).abs() < 0.01);
    }
}
