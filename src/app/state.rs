//! The viewer: the session on the screen, and what is one for all sessions: keys, the mouse, the sessions to choose
//! from.

use std::sync::Arc;

use super::copying::clipboard::Copying;
use super::effect::Effect;
use super::input::chord::Keys;
use super::input::history::Histories;
use super::input::mouse::Mouse;
use super::ledger::LedgerView;
use super::mode::Mode;
use super::picker::Picker;
use super::reader::Reader;
use super::wall::Wall;
use crate::model::timestamp::Timestamp;
use crate::render::code::Colours;
use crate::render::row::Level;
use crate::render::theme::Theme;

/// The state of the viewer.
pub struct App {
    /// The session that is shown, with its panes.
    pub reader: Reader,
    /// What keys mean, and those of an unfinished chord.
    pub keys: Keys,
    /// The mouse.
    pub mouse: Mouse,
    /// What keys mean just now.
    pub mode: Mode,
    /// Lines that were typed.
    pub history: Histories,
    /// What becomes of copies.
    pub copying: Copying,
    /// The sessions to choose from.
    pub picker: Picker,
    /// All sessions of the last hours.
    pub wall: Wall,
    /// What all sessions came to.
    pub ledger: LedgerView,
    /// Where the session was chosen, so that leaving it leads back.
    pub came_from: CameFrom,
    /// Whether a session lies below, over which the one that is shown was chosen: the last list leads back to it.
    pub is_over_session: bool,
}

/// Where a session was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CameFrom {
    /// On the command line.
    #[default]
    Outside,
    /// In the picker.
    Picker,
    /// On the wall.
    Wall,
    /// In the ledger.
    Ledger,
}

impl App {
    /// Nothing read yet.
    pub fn new(theme: Theme, level: Level, colours: Arc<Colours>, now: Timestamp) -> Self {
        Self {
            reader: Reader::new(theme, level, colours, now),
            keys: Keys::default(),
            mouse: Mouse::default(),
            mode: Mode::Normal,
            history: Histories::default(),
            copying: Copying::default(),
            picker: Picker::default(),
            wall: Wall::default(),
            ledger: LedgerView::default(),
            came_from: CameFrom::default(),
            is_over_session: false,
        }
    }

    /// Turns the mouse on or off.
    pub(crate) fn switch_mouse(&mut self, is_on: bool) -> Vec<Effect> {
        self.reader.screen.say(self.mouse.switch(is_on));
        vec![Effect::Mouse(is_on)]
    }

    /// Whether what is shown changes with every second.
    pub fn ticks(&self) -> bool {
        self.reader.ticks() || self.mode.is_wall() && self.wall.ticks(self.reader.screen.now)
    }

    /// In how many ms the next frame would show more, because the cursor rests.
    pub fn rests_for(&self) -> Option<u64> {
        self.reader.inspector.rests_for(self.reader.screen.now)
    }

    /// Whether the next frame would show more, though nothing has happened.
    pub fn is_unfinished(&self) -> bool {
        match self.mode {
            Mode::Picker => self.picker.is_at_work(),
            Mode::Wall | Mode::OnWall { .. } | Mode::Ledger => false,
            _ => self.reader.is_unfinished(),
        }
    }
}
