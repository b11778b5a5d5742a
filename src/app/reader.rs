//! A session on the screen: the session, and all panes that show it.

use std::sync::Arc;

use super::alarms::Alarms;
use super::checks::Checks;
use super::find::Find;
use super::inspector::Inspector;
use super::outline::Outline;
use super::panes::Panes;
use super::places::Places;
use super::screen::Screen;
use super::strip::Strip;
use super::text::TextPane;
use super::views::Views;
use crate::model::timestamp::Timestamp;
use crate::render::code::Colours;
use crate::render::row::Level;
use crate::render::theme::Theme;
use crate::session::Session;

/// A session and its panes. Several of them do not know of each other.
pub struct Reader {
    /// The session.
    pub session: Session,
    /// The window onto its text.
    pub text: TextPane,
    /// What is searched for, and what a filter hides.
    pub find: Find,
    /// Places that the reader marked, came from, or has not seen.
    pub places: Places,
    /// What is wrong with the session, or may be.
    pub checks: Checks,
    /// The outline.
    pub outline: Outline,
    /// All about the focused item.
    pub inspector: Inspector,
    /// The turn's time on one line.
    pub strip: Strip,
    /// Pages over the transcript.
    pub views: Views,
    /// Alarms that the reader set.
    pub alarms: Alarms,
    /// Which panes are shown, how wide, and which has the keys.
    pub panes: Panes,
    /// The part of the screen that they have, and how it looks.
    pub screen: Screen,
}

impl Reader {
    /// Nothing read yet.
    pub fn new(theme: Theme, level: Level, colours: Arc<Colours>, now: Timestamp) -> Self {
        Self {
            session: Session::default(),
            text: TextPane::new(level),
            find: Find::default(),
            places: Places::default(),
            checks: Checks::default(),
            outline: Outline::default(),
            inspector: Inspector::default(),
            strip: Strip::default(),
            views: Views::default(),
            alarms: Alarms::default(),
            panes: Panes::default(),
            screen: Screen::new(theme, colours, now),
        }
    }

    /// Whether what is shown changes with every second: a second hand, or a message that goes away. The
    /// clocks of calls run only while the agent is at work.
    pub fn ticks(&self) -> bool {
        let is_at_work = self.session.is_at_work(self.screen.now);
        is_at_work || self.screen.message.is_some() || self.alarms.needs_clock()
    }

    /// Whether the next frame would show more, though nothing has happened.
    pub fn is_unfinished(&self) -> bool {
        self.session.indexes.is_behind() || self.outline.is_behind()
    }

    /// Forgets all rows, because the look changed.
    pub fn look_changed(&mut self) {
        self.text.cache.clear();
        self.inspector.forget_rows();
        self.text.stale.spine = true;
    }

    /// The turn of the focused item, or the last one.
    pub(crate) fn focused_turn(&self) -> Option<usize> {
        let Session { transcript, indexes, .. } = &self.session;
        match self.text.view.focus {
            Some(focus) => indexes.account.turn_of(transcript, focus.entry),
            None => transcript.turns().len().checked_sub(1),
        }
    }

    /// Remembers where a jump starts.
    pub(crate) fn remember_place(&mut self) {
        self.places.remember(&self.session.transcript, self.text.view.focus);
    }
}
