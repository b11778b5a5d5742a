//! The panes of a session: which are shown, how wide they are, and which has the keys.

pub(crate) mod actions;

/// Columns by which a key moves a divider.
const STEP: u16 = 2;

/// A pane that can have the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// The outline: turns, branches, checks, files.
    Outline,
    /// The transcript.
    #[default]
    Transcript,
    /// The open view.
    View,
    /// The inspector.
    Inspector,
}

/// What the user chose for the panes; `None` leaves it to the size of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Panes {
    /// Whether the outline is shown.
    pub wants_outline: Option<bool>,
    /// Whether the inspector is shown on screens that are wide enough for it.
    pub wants_inspector: Option<bool>,
    /// Columns of the outline with its divider.
    pub outline_width: Option<u16>,
    /// Columns of the inspector with its divider.
    pub inspector_width: Option<u16>,
    /// The pane that has the keys if it is shown; [`LayoutInput::focused`](super::layout::LayoutInput::focused) says
    /// which has them.
    pub focus: Pane,
    /// Whether the inspector covers the transcript on a screen that is too narrow for it.
    pub is_pushed: bool,
}
