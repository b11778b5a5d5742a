//! How a terminal shows images, and how many of its cells an image takes.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Means {
    /// None: images are shown as words.
    Off,
    /// Half blocks, which are ordinary cells.
    #[default]
    Blocks,
    /// The kitty graphics protocol with Unicode placeholders.
    Kitty,
    /// The inline images of iTerm2 (OSC 1337), one per row of cells.
    ITerm2,
    /// Sixels, one per row of cells.
    Sixel,
}

/// The user's choice of [`Means`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageProtocol {
    /// The best protocol that the terminal reports or is known to support.
    #[default]
    Auto,
    /// This protocol, whatever the terminal replies.
    Only(Means),
}

/// The names of the choices.
pub(crate) const CHOICES: [(&str, ImageProtocol); 6] = [
    ("auto", ImageProtocol::Auto),
    ("kitty", ImageProtocol::Only(Means::Kitty)),
    ("iterm2", ImageProtocol::Only(Means::ITerm2)),
    ("sixel", ImageProtocol::Only(Means::Sixel)),
    ("blocks", ImageProtocol::Only(Means::Blocks)),
    ("off", ImageProtocol::Only(Means::Off)),
];

impl FromStr for ImageProtocol {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let found = CHOICES.iter().find(|(name, _)| *name == typed.trim());
        found
            .map(|(_, choice)| *choice)
            .ok_or_else(|| "images are auto, kitty, iterm2, sixel, blocks or off".to_owned())
    }
}

impl fmt::Display for ImageProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = CHOICES
            .iter()
            .find(|(_, choice)| choice == self)
            .map_or("auto", |(name, _)| name);
        f.write_str(name)
    }
}

/// The surface for images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Canvas {
    pub means: Means,
    /// Size of a cell in pixels; never 0.
    pub cell: (u16, u16),
    /// Whether sequences must pass through tmux.
    pub in_tmux: bool,
}

impl Canvas {
    /// Half blocks: a cell shows two pixels, one above the other.
    pub const BLOCKS: Self = Self {
        means: Means::Blocks,
        cell: (1, 2),
        in_tmux: false,
    };

    /// Whether images are drawn over the cells.
    pub(crate) fn is_graphic(self) -> bool {
        matches!(self.means, Means::Kitty | Means::ITerm2 | Means::Sixel)
    }

    /// Columns and rows of an image: in proportion, not larger than its pixels or than the
    /// available cells, and at least one.
    pub(crate) fn fit(self, size: (u32, u32), room: (u16, u16)) -> (u16, u16) {
        let whole = |number: u16| u64::from(number.max(1));
        let (cell_width, cell_height) = (whole(self.cell.0), whole(self.cell.1));
        let (columns, rows) = (whole(room.0), whole(room.1));
        let (width, height) = (u64::from(size.0.max(1)), u64::from(size.1.max(1)));
        let natural = (width.div_ceil(cell_width), height.div_ceil(cell_height));
        let fitted = if natural.0 <= columns && natural.1 <= rows {
            natural
        } else if columns * cell_width * height <= rows * cell_height * width {
            (
                columns,
                rounded(height * columns * cell_width, width * cell_height).clamp(1, rows),
            )
        } else {
            (
                rounded(width * rows * cell_height, height * cell_width).clamp(1, columns),
                rows,
            )
        };
        let cells = |count: u64| u16::try_from(count).unwrap_or(u16::MAX);
        (cells(fitted.0), cells(fitted.1))
    }
}

fn rounded(number: u64, by: u64) -> u64 {
    (number + by / 2) / by.max(1)
}

#[cfg(test)]
mod tests {
    use super::{CHOICES, Canvas, ImageProtocol, Means};

    #[test]
    fn images_keep_their_shape_within_any_room() {
        let blocks = Canvas::BLOCKS;
        assert_eq!(blocks.fit((1_920, 1_080), (96, 32)), (96, 27));
        assert_eq!(blocks.fit((10, 4), (96, 32)), (10, 2));
        assert_eq!(blocks.fit((12_000, 1), (96, 32)), (96, 1));
        let sixel = Canvas {
            means: Means::Sixel,
            cell: (10, 20),
            in_tmux: false,
        };
        assert_eq!(
            sixel.fit((640, 480), (96, 32)),
            (64, 24),
            "as large as it is"
        );
        assert_eq!(sixel.fit((640, 480), (96, 12)), (32, 12));
        assert_eq!(sixel.fit((16, 16), (96, 12)), (2, 1));
        for size in [(1, 12_000), (12_000, 12_000), (0, 0), (7, 3)] {
            for columns in 1..120 {
                let (width, height) = sixel.fit(size, (columns, 9));
                assert!(
                    (1..=columns).contains(&width) && (1..=9).contains(&height),
                    "{size:?} {columns}"
                );
            }
        }
    }

    #[test]
    fn choices_print_as_they_are_parsed() {
        for (name, choice) in CHOICES {
            assert_eq!(name.parse(), Ok(choice));
            assert_eq!(choice.to_string(), name);
        }
        assert!("warp".parse::<ImageProtocol>().is_err());
    }
}
