//! What a pane sees beside itself, and what it asks for.
//!
//! Invariant: the session is read by all panes and changed by none. What a pane wants of others it asks for, so that
//! several readers can be looked at side by side, and a pane be read without the rest.

use super::checks::Checks;
use super::effect::Effect;
use super::input::action::{Action, View};
use super::input::history::Kind;
use super::layout::{Frame, Margin, Wishes};
use super::mode::Mode;
use super::panes::{Pane, Panes};
use super::screen::Screen;
use super::text::viewport::{Focus, Motion};
use crate::session::Session;

/// What stands around a pane.
pub struct Scene<'a> {
    /// The session.
    pub session: &'a Session,
    /// Size, colours and time.
    pub screen: &'a Screen,
    /// Which panes are shown.
    pub panes: &'a Panes,
    /// What is wrong with the session.
    pub checks: &'a Checks,
    /// The page that is open.
    pub view: Option<View>,
    /// What the pane asks for.
    pub asks: Vec<Ask>,
}

/// What a pane asks the viewer for.
#[derive(Clone, Debug)]
pub enum Ask {
    /// A message for the reader.
    Say(String),
    /// Keys mean something else from now on: a line is typed, or something is shown over the panes.
    Enter(Box<Mode>),
    /// A line that is worth being called back.
    Keep(Kind, String),
    /// An action, as if its key were pressed.
    Act(Action),
    /// To go to an item, and to remember where from.
    Jump(Focus),
    /// A motion of the text.
    Motion(Motion),
    /// The keys for a pane.
    Focus(Pane),
    /// To go to the end, and on with it.
    Follow,
    /// Something of the world outside.
    Order(Effect),
    /// That the inspector no longer lies over the text.
    ShowText,
    /// To show the inspector, or to hide it.
    ShowInspector(bool),
}

impl Scene<'_> {
    /// Says something to the reader.
    pub(crate) fn say(&mut self, words: impl Into<String>) {
        self.asks.push(Ask::Say(words.into()));
    }

    /// Asks for a mode.
    pub(crate) fn enter(&mut self, mode: Mode) {
        self.asks.push(Ask::Enter(Box::new(mode)));
    }

    /// Where the parts of the screen are, with this beside the text.
    pub(crate) fn divide(&self, margin: Margin) -> Frame {
        self.wishes(margin).divide()
    }

    /// The pane that has the keys, with this beside the text.
    pub(crate) fn focused(&self, margin: Margin) -> Pane {
        self.wishes(margin).focused()
    }

    fn wishes(&self, margin: Margin) -> Wishes<'_> {
        Wishes {
            screen: self.screen,
            panes: self.panes,
            view: self.view,
            margin,
        }
    }
}
