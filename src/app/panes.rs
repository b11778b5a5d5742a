//! The panes of a session: which of them are shown, how wide they are, and which one has the keys.

pub(crate) mod actions;

/// Columns by which a key moves a divider.
const STEP: u16 = 2;

/// A pane that can have the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pane {
    /// Turns, branches, checks and files.
    Outline,
    /// The text.
    #[default]
    Transcript,
    /// A page over the text, or below it.
    View,
    /// All about the focused item.
    Inspector,
}

/// The reader's wishes for the panes; `None` leaves a thing to the size of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Panes {
    /// Whether the outline is shown.
    pub wants_outline: Option<bool>,
    /// Whether the inspector is shown where it has room beside the transcript.
    pub wants_inspector: Option<bool>,
    /// Columns of the outline with its divider.
    pub outline_width: Option<u16>,
    /// Columns of the inspector with its divider.
    pub inspector_width: Option<u16>,
    /// The pane that has the keys, as long as it is shown: ask [`focused`].
    pub focus: Pane,
    /// Whether the inspector lies over the transcript, where it has no room beside it.
    pub is_pushed: bool,
}
