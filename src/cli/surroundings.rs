//! Reads the environment: variables, terminal, settings files.
//!
//! Invariant: no other module reads the environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ingest::find::Environment;
use crate::ingest::remote::Transport;
use crate::model::timestamp::Zone;
use crate::render::colour::Depth;
use crate::runtime::clipboard::{Clipboard, Multiplexer, programs};
use crate::runtime::config::settings_file;
use crate::runtime::graphics;

/// State of the environment, the terminal and the settings files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `NO_OSC8` is set and not empty.
    pub no_links: bool,
    /// The ways to the clipboard.
    pub clipboard: Clipboard,
    /// `$VISUAL`, or `$EDITOR` if that is not set.
    pub editor: Option<String>,
    /// `$COLORFGBG`.
    pub colorfgbg: Option<String>,
    /// `$TERM`.
    pub term: Option<String>,
    /// The locale that determines the charset: `$LC_ALL`, `$LC_CTYPE` or `$LANG`, in this order.
    pub locale: Option<String>,
    /// Options of all commands, set after parsing the arguments.
    pub typed: GlobalOptions,
    /// `$TV_TEST_PANIC`.
    pub test_panic: Option<String>,
    /// The name of this machine.
    pub host: Option<String>,
    /// Width of the terminal on standard output; `None` if it is not a terminal.
    pub columns: Option<u16>,
    /// `$COLORTERM`.
    pub colorterm: Option<String>,
    /// Facts of the environment about the terminal's graphics.
    pub terminal: graphics::TerminalEnvironment,
    /// The folder of settings and themes.
    pub settings_folder: Option<PathBuf>,
    /// The state folder; `None` if `$TV_STATE` is `off` or there is no home.
    pub state_folder: Option<PathBuf>,
    /// Path and text of `config.toml`, if it exists.
    pub settings: Option<(PathBuf, String)>,
    /// Path and text of the price table that replaces the built-in one, if it exists.
    pub price_table: Option<(PathBuf, String)>,
    /// Paths and texts of the user's format definitions, by name.
    pub definitions: Vec<(PathBuf, String)>,
    /// The time zone of the environment or the system.
    pub zone: Zone,
    /// Ignored parts of the environment, a sentence each.
    pub passed_over: Vec<String>,
    /// How other machines are reached: `$TV_SSH` in place of `ssh`, `$TV_SSH_TV` in place of `tv` there,
    /// and `$TV_SSH_PATIENCE`, how many seconds it may be silent.
    pub transport: Transport,
    /// Where agents store their sessions: `$HOME`, and the variables that move their folders.
    pub environment: Environment,
}

/// Options of all commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalOptions {
    /// Write only ASCII.
    pub ascii: bool,
    /// For a folder or database take the newest session.
    pub newest: bool,
    /// Mask keys and tokens.
    pub redact: bool,
}

impl Surroundings {
    /// Reads the environment.
    pub fn read() -> Self {
        let mut passed_over = strays();
        let settings_folder = settings_folder().filter(|folder| {
            let entered = settings_file::enter(folder);
            passed_over.extend(entered.as_ref().err().cloned());
            entered.is_ok()
        });
        let folder = settings_folder.as_deref();
        let settings = file_in(folder, "config.toml", &mut passed_over);
        let price_table = file_in(folder, "prices.json", &mut passed_over);
        let definitions = definitions(folder, &mut passed_over);
        let zone = zone().unwrap_or_else(|why| {
            passed_over.push(why);
            Zone::default()
        });
        Self {
            zone,
            passed_over,
            no_color: variable("NO_COLOR").is_some(),
            no_links: variable("NO_OSC8").is_some(),
            clipboard: clipboard(),
            editor: variable("VISUAL").or_else(|| variable("EDITOR")),
            colorfgbg: variable("COLORFGBG"),
            term: variable("TERM"),
            locale: variable("LC_ALL")
                .or_else(|| variable("LC_CTYPE"))
                .or_else(|| variable("LANG")),
            typed: GlobalOptions::default(),
            test_panic: variable("TV_TEST_PANIC"),
            host: host(),
            columns: columns(),
            colorterm: variable("COLORTERM"),
            terminal: terminal(),
            settings,
            price_table,
            definitions,
            settings_folder,
            state_folder: state_folder(),
            transport: transport(),
            environment: environment(),
        }
    }

    /// Whether only ASCII may be written: because of the option, or because the locale names
    /// another charset than UTF-8. Without a locale UTF-8 is assumed.
    pub(crate) fn is_ascii(&self) -> bool {
        self.typed.ascii
            || self.locale.as_deref().is_some_and(|locale| {
                let locale = locale.to_ascii_lowercase();
                !locale.contains("utf-8") && !locale.contains("utf8")
            })
    }

    /// Number of colours of the terminal.
    pub(crate) fn depth(&self) -> Depth {
        let term = self.term.as_deref().unwrap_or_default();
        if matches!(self.colorterm.as_deref(), Some("truecolor" | "24bit"))
            || term.ends_with("-direct")
        {
            return Depth::True;
        }
        let has_few = matches!(
            term,
            "linux" | "ansi" | "vt100" | "vt220" | "xterm" | "screen" | "rxvt" | "cygwin"
        );
        if has_few {
            Depth::Sixteen
        } else {
            Depth::Indexed
        }
    }

    /// Whether links may be written with their addresses (OSC 8). Terminals without support ignore
    /// them, except for a few old ones.
    pub(crate) fn has_links(&self) -> bool {
        let term = self.term.as_deref().unwrap_or("dumb");
        let is_simple =
            matches!(term, "linux" | "dumb" | "ansi" | "cygwin") || term.starts_with("vt");
        !self.no_links && !is_simple && !term.starts_with("screen")
    }

    /// Whether there is a terminal to draw on.
    pub(crate) fn can_view(&self) -> bool {
        self.columns.is_some() && self.term.as_deref() != Some("dumb")
    }
}

/// `$XDG_CONFIG_HOME/tv`, on all systems.
fn settings_folder() -> Option<PathBuf> {
    let home = || folder_variable("HOME").map(|home| home.join(".config"));
    folder_variable("XDG_CONFIG_HOME")
        .or_else(home)
        .map(|folder| folder.join("tv"))
}

/// `$XDG_STATE_HOME/tv`, on all systems.
fn state_folder() -> Option<PathBuf> {
    if matches!(
        variable("TV_STATE").as_deref(),
        Some("off" | "0" | "no" | "false")
    ) {
        return None;
    }
    let home = || folder_variable("HOME").map(|home| home.join(".local/state"));
    folder_variable("XDG_STATE_HOME")
        .or_else(home)
        .map(|folder| folder.join("tv"))
}

/// A file in the settings folder, if it exists and can be read.
fn file_in(
    folder: Option<&Path>,
    name: &str,
    passed_over: &mut Vec<String>,
) -> Option<(PathBuf, String)> {
    text_of(folder?.join(name), passed_over)
}

fn text_of(path: PathBuf, passed_over: &mut Vec<String>) -> Option<(PathBuf, String)> {
    let text = settings_file::text(&path).unwrap_or_else(|why| {
        passed_over.push(why);
        None
    });
    text.map(|text| (path, text))
}

/// The user's format definitions, by name.
fn definitions(folder: Option<&Path>, passed_over: &mut Vec<String>) -> Vec<(PathBuf, String)> {
    let files = folder.map_or_else(
        || Ok(Vec::new()),
        |folder| settings_file::files(&folder.join("formats")),
    );
    let files = files.unwrap_or_else(|why| {
        passed_over.push(why);
        Vec::new()
    });
    files
        .into_iter()
        .filter_map(|path| text_of(path, passed_over))
        .collect()
}

/// The value of a variable; `None` if it is empty.
fn variable(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one reader of the environment"
    )]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The ways to the clipboard, determined by the variables of multiplexers, ssh and desktops.
fn clipboard() -> Clipboard {
    let has = |name: &str| variable(name).is_some();
    let is_screen = has("STY") || variable("TERM").is_some_and(|term| term.starts_with("screen"));
    let multiplexer = match (has("TMUX"), is_screen) {
        (true, _) => Multiplexer::Tmux,
        (false, true) => Multiplexer::Screen,
        (false, false) => Multiplexer::None,
    };
    let is_remote = has("SSH_CONNECTION") || has("SSH_TTY");
    Clipboard {
        multiplexer,
        programs: programs(is_remote, has),
    }
}

/// A variable that is a path, which may contain any bytes.
fn path_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// The system's variables for folders; agents have others.
const FOLDERS: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"];

/// The folder in a variable. A relative one is ignored, because it depends on where the program is started.
fn folder_variable(name: &str) -> Option<PathBuf> {
    path_variable(name).filter(|folder| folder.is_absolute())
}

/// A sentence for each folder variable that is ignored.
fn strays() -> Vec<String> {
    let stray = |name: &&str| path_variable(name).filter(|folder| !folder.is_absolute());
    let sentence = |name, folder: PathBuf| {
        format!(
            "{name} is no absolute path ({}) and is ignored",
            folder.display()
        )
    };
    FOLDERS
        .iter()
        .filter_map(|name| Some(sentence(*name, stray(name)?)))
        .collect()
}

/// The time zone of `$TZ` or the system. Read here because the C library would read any file that
/// `$TZ` names, and a lookup of the system's zone by name would list all zone folders.
fn zone() -> Result<Zone, String> {
    let Some(named) = std::env::var_os("TZ") else {
        let local = zone_file(Path::new("/etc/localtime")).and_then(|bytes| Zone::of_file(&bytes));
        return Ok(local.unwrap_or_else(Zone::system));
    };
    let text = named.to_string_lossy();
    let name = text.strip_prefix(':').unwrap_or(&text);
    if name.is_empty() {
        return Ok(Zone::default());
    }
    let within = name
        .rsplit_once("zoneinfo/")
        .map_or(name, |(_, within)| within);
    let zone = Zone::parse(within).or_else(|| Zone::of_file(&zone_file(Path::new(name))?));
    zone.ok_or_else(|| format!("TZ names no time zone ({name}); times are told in UTC"))
}

/// The bytes of a time zone file; relative paths are ignored.
fn zone_file(path: &Path) -> Option<Vec<u8>> {
    path.is_absolute()
        .then(|| settings_file::bytes(path).ok().flatten())
        .flatten()
}

fn terminal() -> graphics::TerminalEnvironment {
    let text = |name| variable(name).unwrap_or_default();
    let is_set = |name| variable(name).is_some();
    graphics::TerminalEnvironment {
        term: text("TERM"),
        program: text("TERM_PROGRAM"),
        lc_terminal: text("LC_TERMINAL"),
        is_kitty: is_set("KITTY_WINDOW_ID"),
        is_konsole: is_set("KONSOLE_VERSION"),
        is_wezterm: is_set("WEZTERM_EXECUTABLE"),
        in_tmux: is_set("TMUX"),
        in_screen: is_set("STY"),
    }
}

fn environment() -> Environment {
    let is_stray = |name: &str, value: &Path| FOLDERS.contains(&name) && !value.is_absolute();
    let named = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, PathBuf::from(value)))
    };
    let set = std::env::vars_os()
        .filter(|(_, value)| !value.is_empty())
        .filter_map(named);
    let set = set.filter(|(name, value)| !is_stray(name, value));
    // `$PWD` is not up to date if the parent process did not set it.
    let here = std::env::current_dir()
        .ok()
        .map(|folder| ("PWD".to_owned(), folder));
    let variables = set.filter(|(name, _)| name != "PWD").chain(here).collect();
    Environment {
        home: folder_variable("HOME"),
        variables,
    }
}

fn transport() -> Transport {
    let default = Transport::default();
    let typed = variable("TV_SSH").and_then(|typed| shlex::split(&typed));
    Transport {
        ssh: typed
            .filter(|words| !words.is_empty())
            .unwrap_or(default.ssh),
        tv: variable("TV_SSH_TV").unwrap_or(default.tv),
        patience: variable("TV_SSH_PATIENCE")
            .and_then(|typed| typed.parse().ok())
            .map_or(default.patience, Duration::from_secs),
    }
}

/// The host name: `$HOSTNAME`, or from the system.
fn host() -> Option<String> {
    let of_system = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = variable("HOSTNAME").or_else(of_system)?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Width of the terminal on standard output, 80 if it is unknown; `None` if the output is no terminal.
fn columns() -> Option<u16> {
    let stdout = rustix::stdio::stdout();
    if !rustix::termios::isatty(stdout) {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stdout);
    Some(size.map_or(0, |size| size.ws_col)).map(|columns| if columns == 0 { 80 } else { columns })
}
