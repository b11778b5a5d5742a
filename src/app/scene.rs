//! The context of a pane: the state that it may read besides its own, and the requests that it may
//! push.
//!
//! Invariant: panes read the session and do not change it, nor each other. So each can be
//! understood and tested by itself, and several readers can be shown side by side.

use super::checks::Checks;
use super::input::action::{Action, View};
use super::input::history::HistoryKind;
use super::layout::{Frame, LayoutInput, Margin};
use super::mode::Mode;
use super::panes::{Pane, Panes};
use super::screen::Screen;
use super::text::viewport::{Focus, Motion};
use crate::session::Session;

/// The state that a pane may read, and the requests that it pushes.
pub struct Scene<'a> {
    pub session: &'a Session,
    /// Size, colours and time.
    pub screen: &'a Screen,
    /// Visibility and widths of the panes.
    pub panes: &'a Panes,
    /// Problems of the session.
    pub checks: &'a Checks,
    pub view: Option<View>,
    /// Requests, run when the pane has returned.
    pub requests: Vec<Ask>,
}

/// A request of a pane to the reader or the viewer.
#[derive(Clone, Debug)]
pub enum Ask {
    Status(String),
    /// Enter a mode: a typed line or a pop-up.
    Enter(Box<Mode>),
    /// Add a line to a history.
    Keep(HistoryKind, String),
    /// Run an action, as if its key was pressed.
    Act(Action),
    /// Jump to an item, and push the current position onto the jump list.
    Jump(Focus),
    /// Move the window of the transcript.
    Motion(Motion),
    Focus(Pane),
    /// Go to the end, and follow.
    Follow,
    /// Hide the inspector if it covers the text.
    ShowText,
    /// Show or hide the inspector.
    ShowInspector(bool),
}

impl Scene<'_> {
    pub(crate) fn set_status(&mut self, words: impl Into<String>) {
        self.requests.push(Ask::Status(words.into()));
    }

    pub(crate) fn enter(&mut self, mode: Mode) {
        self.requests.push(Ask::Enter(Box::new(mode)));
    }

    /// The areas of the screen.
    pub(crate) fn divide(&self, margin: Margin) -> Frame {
        self.layout_input(margin).divide()
    }

    pub(crate) fn focused(&self, margin: Margin) -> Pane {
        self.layout_input(margin).focused()
    }

    fn layout_input(&self, margin: Margin) -> LayoutInput<'_> {
        LayoutInput {
            screen: self.screen,
            panes: self.panes,
            view: self.view,
            margin,
        }
    }
}
