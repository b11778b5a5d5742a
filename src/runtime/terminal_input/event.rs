//! One thing that came from the terminal, once its bytes are understood.

use crate::app::input::keys::Press;
use crate::app::input::mouse::Pointer;

/// Something that came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputEvent {
    /// A key.
    Key(Press),
    /// The mouse; a press is never reported as a double one.
    Mouse(Pointer),
    /// Pasted text, or the beginning of it.
    Paste(String),
    /// Its background is light, or dark.
    Background(bool),
    /// It knows the kitty graphics protocol.
    Kitty,
    /// Its name and version.
    Name(String),
    /// Pixels of a cell, across and down.
    Cell(u16, u16),
    /// What it can do (DA1); 4 are sixels.
    Attributes(Vec<u16>),
}
