//! The configuration of the viewer, complete: arguments, settings and environment are resolved.

pub(crate) mod settings_file;

use std::path::PathBuf;

use super::clipboard::Clipboard;
use super::graphics::GraphicsSetup;
use crate::app::alarms::{AlarmSpec, Alarms, NotifyMeans};
use crate::app::copying::clipboard::CopyOptions;
use crate::app::input::keymap::Keymap;
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::app::text::wrapping::Wrapping;
use crate::ingest::find::Environment;
use crate::ingest::{Target, WatchMode};
use crate::model::timestamp::Zone;
use crate::render::colour::Depth;
use crate::render::row::Level;

/// The configuration of the viewer.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewConfig {
    /// The first screen.
    pub start: Start,
    /// What the picker lists; if empty, the sessions of all agents.
    pub listed: Vec<Target>,
    /// Sessions joined to the first one.
    pub joined: Vec<Target>,
    /// Which sessions the wall shows.
    pub wall: WallChoice,
    /// Where agents store sessions.
    pub environment: Environment,
    /// The theme.
    pub theme: ThemeChoice,
    /// Folder of the user's theme files.
    pub themes: Option<PathBuf>,
    /// What is known of the terminal.
    pub(crate) terminal: TerminalConfig,
    /// How changes of files are noticed.
    pub watch: WatchMode,
    /// Initial settings of a session's view.
    pub(crate) defaults: ViewDefaults,
    /// How copied text is changed.
    pub copying: CopyOptions,
    /// Alarms of every session.
    pub watched: Vec<AlarmSpec>,
    /// How alarms are announced.
    pub notify: NotifyMeans,
    /// The key bindings.
    pub keymap: Keymap,
    /// The state folder; `None` if no state is saved.
    pub state: Option<PathBuf>,
    /// What was wrong with the settings.
    pub complaint: Option<String>,
    /// Whether the mouse is on at the start.
    pub mouse: bool,
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
    /// Number of colours.
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

/// Initial settings of a session's view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ViewDefaults {
    /// The level of detail.
    pub(crate) level: Level,
    /// Whether thinking is shown.
    pub(crate) thinking: bool,
    /// Whether calls say what they are for.
    pub(crate) intents: bool,
    /// Whether times are shown in UTC.
    pub(crate) utc: bool,
    /// Whether the outline is shown; `None`: if it fits.
    pub(crate) outline: Option<bool>,
    /// Whether the inspector is shown; `None`: if it fits.
    pub(crate) inspector: Option<bool>,
    /// Whether the line of hints is shown.
    pub(crate) hints: bool,
    /// Whether what the model could not see at the cursor is dimmed.
    pub(crate) asof: bool,
    /// Whether invisible characters are marked.
    pub(crate) marks: bool,
    /// Wrapping, line numbers, lanes and rulers.
    pub(crate) wrapping: Wrapping,
}

impl ViewDefaults {
    fn apply_to(&self, reader: &mut Reader) {
        reader.text.shows.thinking = self.thinking;
        reader.text.shows.intents = self.intents;
        reader.text.as_of.is_on = self.asof;
        reader.text.wrapping = self.wrapping;
        reader.panes.wants_outline = self.outline;
        reader.panes.wants_inspector = self.inspector;
        reader.screen.shows_hints = self.hints;
        reader.screen.theme.has_marks = self.marks;
    }
}

impl ViewConfig {
    /// Applies the configuration to a new app.
    pub fn apply(&self, app: &mut App) {
        app.keys.keymap = self.keymap.clone();
        app.mouse.is_on |= self.mouse;
        if self.defaults.utc {
            Zone::show_utc(true);
        }
        app.copying = self.copying;
        app.wall.wishes.clone_from(&self.watched);
        app.wall.means = self.notify;
        app.wall.recent_ms = self.wall.recent_ms;
        self.apply_to(&mut app.reader);
    }

    /// Applies the configuration to a new session.
    pub(crate) fn apply_to(&self, reader: &mut Reader) {
        self.defaults.apply_to(reader);
        reader.alarms = Alarms::of(&self.watched, self.notify);
    }
}

/// The first screen of the viewer.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// A session.
    Session(Target),
    /// The picker.
    Picker,
    /// The wall.
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
    /// The theme with this name.
    Named(String),
    /// The theme with this name, from the settings; if it does not exist, one by the background.
    Preferred(String),
}

/// How many times faster than recorded the demo runs; positive and finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemoSpeed(pub(crate) f64);
