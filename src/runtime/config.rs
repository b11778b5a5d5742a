//! The viewer's configuration, with everything resolved.

pub(crate) mod settings_file;

use std::path::PathBuf;

use super::clipboard::Clipboard;
use super::graphics::Setup;
use crate::app::alarms::{Alarms, Ring, Wish};
use crate::app::copying::clipboard::Copying;
use crate::app::input::keymap::Keymap;
use crate::app::reader::Reader;
use crate::app::state::App;
use crate::app::text::wrapping::Wrapping;
use crate::ingest::find::Environment;
use crate::ingest::{Target, WatchMode};
use crate::model::timestamp::Zone;
use crate::render::colour::Depth;
use crate::render::row::Level;

/// Everything the viewer needs to know from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewConfig {
    /// What to show first.
    pub start: Start,
    /// Where the sessions are that the picker lists; without any, it lists all that agents keep.
    pub listed: Vec<Target>,
    /// What is read as one with the session that is shown first.
    pub joined: Vec<Target>,
    /// Which of them are on the wall.
    pub wall: WallChoice,
    /// Where the agents' roots are.
    pub environment: Environment,
    /// Which colours.
    pub theme: ThemeChoice,
    /// Folder of the reader's own theme files.
    pub themes: Option<PathBuf>,
    /// What is known of the terminal, and how it is used.
    pub(crate) terminal: TerminalConfig,
    /// How changes of the file are noticed.
    pub watch: WatchMode,
    /// What of a session is shown from the start.
    pub(crate) defaults: ViewDefaults,
    /// What becomes of copies.
    pub copying: Copying,
    /// What is watched in every session.
    pub watched: Vec<Wish>,
    /// How alarms are announced.
    pub notify: Ring,
    /// Which keys do what.
    pub keymap: Keymap,
    /// Where marks and the like are kept for the next time, if they are.
    pub state: Option<PathBuf>,
    /// What of the settings could not be understood, for the reader.
    pub complaint: Option<String>,
    /// Whether the mouse is on from the start.
    pub mouse: bool,
    /// The key of the entry to go to first.
    pub entry: Option<String>,
    /// `$VISUAL`, else `$EDITOR`.
    pub editor: Option<String>,
    /// For tests of the terminal's restoration: where to panic, `ui` or `worker`.
    pub(crate) test_panic: Option<String>,
}

/// Which sessions are on the wall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WallChoice {
    /// Only those of the format with this name.
    pub(crate) format: Option<String>,
    /// Those that were written to in so many ms.
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

/// What is known of the terminal, and how it is used.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TerminalConfig {
    /// `$TERM`.
    pub(crate) term: Option<String>,
    /// How many colours it has.
    pub(crate) depth: Depth,
    /// `NO_COLOR` is set: no colour at all, whatever the theme.
    pub(crate) no_color: bool,
    /// Only ASCII glyphs: asked for, or the locale is not UTF-8.
    pub(crate) ascii: bool,
    /// Whether the addresses of links are written to it.
    pub(crate) links: bool,
    /// `$COLORFGBG`, by which some terminals give their background.
    pub(crate) colorfgbg: Option<String>,
    /// How images are shown, as far as it need not be asked.
    pub(crate) graphics: Setup,
    /// How the clipboard is reached.
    pub(crate) clipboard: Clipboard,
}

/// What of a session is shown from the start.
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
    /// Whether the outline is shown; `None`: if there is room.
    pub(crate) outline: Option<bool>,
    /// Whether the inspector is shown, likewise.
    pub(crate) inspector: Option<bool>,
    /// Whether the line of hints is shown.
    pub(crate) hints: bool,
    /// Whether what the model did not see at the cursor is dimmed.
    pub(crate) asof: bool,
    /// Whether characters that are not seen have marks in the text.
    pub(crate) marks: bool,
    /// What becomes of long lines, and what stands beside the text.
    pub(crate) wrapping: Wrapping,
}

impl ViewDefaults {
    /// Shows that much in the panes of a session.
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
    /// Gives the viewer what the reader set.
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

    /// Gives the panes of a session what the reader set.
    pub(crate) fn apply_to(&self, reader: &mut Reader) {
        self.defaults.apply_to(reader);
        reader.alarms = Alarms::of(&self.watched, self.notify);
    }
}

/// What the viewer shows first.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// A session.
    Session(Target),
    /// Sessions to choose from.
    Picker,
    /// All sessions of the last hours.
    Wall,
    /// The embedded session as if it happened now, at this speed.
    Demo(DemoSpeed),
}

/// Which colours the viewer uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ThemeChoice {
    /// Dark or light, by the terminal's background.
    #[default]
    Auto,
    /// The theme with this name.
    Named(String),
    /// The theme with this name, which the settings wish for; without it one by the background.
    Preferred(String),
}

/// How many times faster than it was recorded the demo runs; always positive and finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DemoSpeed(pub(crate) f64);
