//! How a viewer begins: without a session, each setting at the default of its row.

use std::sync::Arc;

use super::alarms::NotifyMeans;
use super::copying::clipboard::CopyOptions;
use super::input::history::Histories;
use super::input::key_state::KeyState;
use super::input::mouse::Mouse;
use super::input::setting;
use super::ledger::LedgerView;
use super::mode::Mode;
use super::picker::Picker;
use super::reader::Reader;
use super::state::App;
use super::wall::Wall;
use crate::model::timestamp::Timestamp;
use crate::render::code::Colours;
use crate::render::row::Level;
use crate::render::theme::Theme;

impl App {
    /// Creates a viewer without a session, in which all settings have their defaults.
    pub fn new(theme: Theme, level: Level, colours: Arc<Colours>, now: Timestamp) -> Self {
        let mut app = Self {
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
            themes: Vec::new(),
            below: Vec::new(),
        };
        setting::apply_defaults(&mut app);
        app
    }
}
