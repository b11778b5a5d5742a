//! The configuration of the viewer, complete: arguments, settings and environment are resolved.

pub(crate) mod settings_file;

use std::path::PathBuf;

use super::clipboard::Clipboard;
use super::graphics::GraphicsSetup;
use crate::app::alarms::{AlarmSpec, Alarms};
use crate::app::input::keymap::Keymap;
use crate::app::input::setting::Assignment;
use crate::app::state::App;
use crate::ingest::find::Environment;
use crate::ingest::{Target, WatchMode};
use crate::model::timestamp::Zone;
use crate::render::colour::Depth;
use crate::render::row::Level;

/// The configuration of the viewer.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewConfig {
    pub start: Start,
    /// What the picker lists; if empty, the sessions of all agents.
    pub listed: Vec<Target>,
    /// Sessions joined to the first one.
    pub joined: Vec<Target>,
    /// Which sessions the wall shows.
    pub wall: WallChoice,
    /// Where agents store sessions.
    pub environment: Environment,
    pub theme: ThemeChoice,
    /// Folder of the user's theme files.
    pub themes: Option<PathBuf>,
    /// What is known of the terminal.
    pub(crate) terminal: TerminalConfig,
    /// How changes of files are noticed.
    pub watch: WatchMode,
    /// The level of detail at the start.
    pub(crate) level: Level,
    /// The settings of the settings file.
    pub(crate) settings: Vec<Assignment>,
    /// Alarms of every session.
    pub watched: Vec<AlarmSpec>,
    pub keymap: Keymap,
    /// The state folder; `None` if no state is saved.
    pub state: Option<PathBuf>,
    /// What was wrong with the settings.
    pub complaint: Option<String>,
    /// Key of the entry to start at.
    pub entry: Option<String>,
    /// `$VISUAL`, else `$EDITOR`.
    pub editor: Option<String>,
    /// Where a test provokes a panic: `ui` or `worker`.
    pub(crate) test_panic: Option<String>,
}

/// Which sessions are on the wall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WallChoice {
    /// Only sessions of the format with this name.
    pub(crate) format: Option<String>,
    /// Only sessions written to within this time.
    pub(crate) recent_ms: u64,
}

impl Default for WallChoice {
    fn default() -> Self {
        Self {
            format: None,
            recent_ms: 3 * 60 * 60 * 1000,
        }
    }
}

/// What is known of the terminal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TerminalConfig {
    /// `$TERM`.
    pub(crate) term: Option<String>,
    pub(crate) depth: Depth,
    /// `NO_COLOR` is set: no colours, whatever the theme.
    pub(crate) no_color: bool,
    /// Only ASCII: by option, by setting, or because the locale is not UTF-8.
    pub(crate) ascii: bool,
    /// Whether links are written with their addresses (OSC 8).
    pub(crate) links: bool,
    /// `$COLORFGBG`, in which some terminals tell their background.
    pub(crate) colorfgbg: Option<String>,
    /// How images are shown, as far as is known without queries.
    pub(crate) graphics: GraphicsSetup,
    /// The ways to the clipboard.
    pub(crate) clipboard: Clipboard,
}

impl ViewConfig {
    /// Whether the mouse is on at the start.
    pub(crate) fn has_mouse(&self) -> bool {
        let mut settings = self.settings.iter();
        settings.any(|value| value.setting.name == "mouse" && value.is_on())
    }

    /// Applies the configuration to a new app.
    pub fn apply(&self, app: &mut App) {
        app.keys.keymap = self.keymap.clone();
        for value in &self.settings {
            value.apply(app);
        }
        if app.is_utc {
            Zone::show_utc(true);
        }
        app.wall.alarms.clone_from(&self.watched);
        app.wall.recent_ms = self.wall.recent_ms;
        app.reader.alarms = Alarms::of(&self.watched);
    }
}

/// The first screen of the viewer.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    Session(Target),
    Picker,
    Wall,
    /// The embedded session, replayed at this speed.
    Demo(DemoSpeed),
}

/// How the theme is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ThemeChoice {
    /// Dark or light, by the terminal's background.
    #[default]
    Auto,
    Named(String),
    /// The theme with this name, from the settings; if it does not exist, one by the background.
    Preferred(String),
}

/// How many times faster than recorded the demo runs; positive and finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemoSpeed(pub(crate) f64);
