//! Parsed input of the terminal.

use crate::app::input::keys::Press;
use crate::app::input::mouse::Pointer;

/// A key press, a mouse event, a paste or a reply to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputEvent {
    Key(Press),
    /// A press is never reported as a double one here.
    Mouse(Pointer),
    /// The pasted text, cut at a limit.
    Paste(String),
    /// Reply: whether the background is light.
    Background(bool),
    /// Reply: the kitty graphics protocol is supported.
    Kitty,
    /// Reply: name and version.
    Name(String),
    /// Reply: width and height of a cell in pixels.
    Cell(u16, u16),
    /// Reply: the attributes (DA1); 4 is sixel.
    Attributes(Vec<u16>),
}
