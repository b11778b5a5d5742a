//! The state of the viewer: the open session, and everything that sessions share: keys, mouse,
//! picker, wall, ledger.

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

/// The state of the viewer.
pub struct App {
    /// The current session, with its panes.
    pub reader: Reader,
    /// The keymap, and the pressed keys of an unfinished chord.
    pub keys: KeyState,
    /// State of the mouse.
    pub mouse: Mouse,
    /// The mode, which decides what keys do.
    pub mode: Mode,
    /// Histories of typed lines.
    pub history: Histories,
    /// Whether times are shown in UTC.
    pub is_utc: bool,
    /// How the user is notified of alarms.
    pub notify: NotifyMeans,
    /// Preparation of text for the clipboard.
    pub copying: CopyOptions,
    /// The picker of sessions.
    pub picker: Picker,
    /// The wall of live sessions.
    pub wall: Wall,
    /// The ledger: usage of all sessions.
    pub ledger: LedgerView,
    /// Names of the built-in themes.
    pub themes: Vec<&'static str>,
    /// Stack of the screens below the current one. A session in it is the open one, or one that the
    /// runtime has parked.
    pub below: Vec<AppScreen>,
}

impl App {
    /// Whether the screen changes every second without an event.
    pub fn ticks(&self) -> bool {
        self.reader.ticks() || self.mode.is_wall() && self.wall.ticks(self.reader.screen.now)
    }

    /// Milliseconds until the inspector follows the cursor; `None` if it is not about to.
    pub fn ms_until_follow(&self) -> Option<u64> {
        self.reader
            .inspector
            .ms_until_follow(self.reader.screen.now)
    }

    /// Whether work remains for the next frame although no event has come.
    pub fn is_unfinished(&self) -> bool {
        match self.mode {
            Mode::Picker => self.picker.is_at_work(),
            Mode::Wall | Mode::OnWall { .. } | Mode::Ledger => false,
            _ => self.reader.is_unfinished(),
        }
    }
}
