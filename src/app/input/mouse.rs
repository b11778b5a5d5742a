//! The mouse: what it did, and what it drags.

use crate::app::panes::Pane;
use crate::app::text::viewport::Mark;

/// Something that the mouse did at a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// What.
    pub gesture: Gesture,
    /// Column of the screen, from 0.
    pub column: u16,
    /// Line of the screen, from 0.
    pub line: u16,
}

/// What the mouse did; buttons are the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    /// The button went down.
    Press,
    /// It went down again at the same place, soon after.
    Double,
    /// It moved while the button was down.
    Drag,
    /// The button went up.
    Release,
    /// The wheel turned towards the beginning.
    WheelUp,
    /// The wheel turned towards the end.
    WheelDown,
}

/// The mouse.
#[derive(Debug, Default)]
pub struct Mouse {
    /// Whether the terminal reports it.
    pub is_on: bool,
    /// What it drags.
    pub(crate) dragged: Option<Dragged>,
}

impl Mouse {
    /// Turns it on or off. Says what that means.
    pub(crate) fn switch(&mut self, is_on: bool) -> &'static str {
        *self = Self {
            is_on,
            dragged: None,
        };
        if is_on {
            "mouse on; with shift the terminal selects text as usual"
        } else {
            "mouse off"
        }
    }
}

/// What is being dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dragged {
    /// The divider of a pane.
    Divider(Pane),
    /// Rows are selected from this one on.
    Rows(Mark),
}
