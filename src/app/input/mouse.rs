//! Gestures of the mouse, and the target of a drag.

use crate::app::panes::Pane;
use crate::app::text::viewport::RowRef;

/// A gesture at a cell of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    pub gesture: Gesture,
    /// Column of the screen, from 0.
    pub column: u16,
    /// Line of the screen, from 0.
    pub line: u16,
}

/// A gesture; the button is the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    /// The button went down.
    Press,
    /// The button went down again at the same cell, soon after.
    Double,
    /// The mouse moved while the button was down.
    Drag,
    /// The button went up.
    Release,
    /// The wheel turned up, towards the beginning.
    WheelUp,
    /// The wheel turned down, towards the end.
    WheelDown,
}

/// State of the mouse.
#[derive(Debug, Default)]
pub struct Mouse {
    /// Whether the terminal reports the mouse.
    pub is_on: bool,
    pub(crate) dragged: Option<Dragged>,
}

/// The target of a drag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dragged {
    Divider(Pane),
    /// The end of a selection that started at this row.
    Rows(RowRef),
}
