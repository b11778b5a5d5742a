//! The state of the whole viewer: the open session, and what all sessions share: keys, mouse, picker, wall, ledger.

use std::sync::Arc;

use super::alarms::NotifyMeans;
use super::copying::clipboard::CopyOptions;
use super::input::history::Histories;
use super::input::key_state::KeyState;
use super::input::mouse::Mouse;
use super::ledger::LedgerView;
use super::mode::Mode;
use super::picker::Picker;
use super::reader::Reader;
use super::screens::AppScreen;
use super::wall::Wall;
use crate::model::timestamp::Timestamp;
use crate::render::code::Colours;
use crate::render::row::Level;
use crate::render::theme::Theme;

/// The state of the viewer.
pub struct App {
    /// The session that is shown, with its panes.
    pub reader: Reader,
    /// The keymap, and the keys of an unfinished chord.
    pub keys: KeyState,
    /// The mouse.
    pub mouse: Mouse,
    /// The mode, which decides what keys do.
    pub mode: Mode,
    /// Lines that were typed before.
    pub history: Histories,
    /// Whether times are shown in UTC.
    pub is_utc: bool,
    /// How the user is notified of alarms.
    pub notify: NotifyMeans,
    /// How text is prepared for the clipboard.
    pub copying: CopyOptions,
    /// The sessions to choose from.
    pub picker: Picker,
    /// All sessions of the last hours.
    pub wall: Wall,
    /// What all sessions came to.
    pub ledger: LedgerView,
    /// The stack of screens below the present one. A session in it is the open one, or one that the runtime has parked.
    pub below: Vec<AppScreen>,
}

impl App {
    /// A viewer without a session.
    pub fn new(theme: Theme, level: Level, colours: Arc<Colours>, now: Timestamp) -> Self {
        Self {
            reader: Reader::new(theme, level, colours, now),
            keys: KeyState::default(),
            mouse: Mouse::default(),
            mode: Mode::Normal,
            history: Histories::default(),
            is_utc: false,
            notify: NotifyMeans::default(),
            copying: CopyOptions::default(),
            picker: Picker::default(),
            wall: Wall::default(),
            ledger: LedgerView::default(),
            below: Vec::new(),
        }
    }

    /// Whether the screen changes every second without an event.
    pub fn ticks(&self) -> bool {
        self.reader.ticks() || self.mode.is_wall() && self.wall.ticks(self.reader.screen.now)
    }

    /// Milliseconds until the inspector follows the cursor, if it is about to.
    pub fn rests_for(&self) -> Option<u64> {
        self.reader.inspector.rests_for(self.reader.screen.now)
    }

    /// Whether work is left for the next frame although no event has come.
    pub fn is_unfinished(&self) -> bool {
        match self.mode {
            Mode::Picker => self.picker.is_at_work(),
            Mode::Wall | Mode::OnWall { .. } | Mode::Ledger => false,
            _ => self.reader.is_unfinished(),
        }
    }
}
