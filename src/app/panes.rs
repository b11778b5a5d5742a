//! The panes of a session: visibility, widths, and which has the focus.

pub(crate) mod actions;

/// Columns by which a key moves a divider.
const STEP: u16 = 2;

/// A pane that can have the focus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// The outline: turns, branches, checks, files.
    Outline,
    #[default]
    Transcript,
    View,
    Inspector,
}

/// The user's choices for the panes; `None` leaves them to the size of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Panes {
    /// Whether the outline is shown.
    pub wants_outline: Option<bool>,
    /// Whether the inspector is shown on screens that are wide enough for it.
    pub wants_inspector: Option<bool>,
    /// Width of the outline with its divider, in columns.
    pub outline_width: Option<u16>,
    /// Width of the inspector with its divider, in columns.
    pub inspector_width: Option<u16>,
    /// The pane that has the focus while it is shown;
    /// [`LayoutInput::focused`](super::layout::LayoutInput::focused) computes the focused pane.
    pub focus: Pane,
    /// Whether the inspector covers the transcript on a screen that is too narrow for both.
    pub is_pushed: bool,
}
