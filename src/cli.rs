//! The command line: what was typed (`Args`) and what the surroundings say ([`Surroundings`]) become
//! a [`Config`] with everything resolved.
//!
//! Invariant: the only reader of the environment; [`Config::resolve`] is pure.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use crate::ingest::{Target, WatchMode};
use crate::render::row::Level;
use crate::report::rows::Paper;
use crate::report::{doctor, show, stats};
use crate::runtime::config::{DemoSpeed, ThemeChoice, ViewConfig};

/// Columns of text that does not go to a terminal.
const PAPER_WIDTH: u16 = 100;
/// Narrower text cannot be laid out in a useful way.
const MIN_WIDTH: u16 = 20;

/// What the program is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Config {
    /// Open the viewer.
    View(Box<ViewConfig>),
    /// Write a transcript.
    Show(show::Options),
    /// Write a transcript because there is no screen to view it on.
    Print(show::Options),
    /// Write figures.
    Stats(stats::Options),
    /// Write how a file was understood.
    Doctor(doctor::Options),
    /// Write a completion script.
    Completions(clap_complete::Shell),
}

/// What was typed.
#[derive(Debug, Parser)]
#[command(
    name = "tv",
    version,
    about = "Terminal transcript viewer for AI-agent sessions",
    long_about = "Opens the session file of any AI agent, shows every record of it and follows it live.",
    args_conflicts_with_subcommands = true,
    after_help = "A session is a file, a database or a folder of sessions, database#session or folder#session, \
                  or - for standard input."
)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The session to view; written as text if the output is not a terminal
    session: Option<OsString>,
    #[command(flatten)]
    look: LookArgs,
}

#[derive(Debug, clap::Args)]
struct LookArgs {
    /// Colours for a dark or a light background, or none
    #[arg(long, value_enum, default_value_t, value_name = "THEME")]
    theme: ThemeChoice,
    /// Detail: 1 prompts, 2 outline, 3 previews, 4 everything, 5 records as JSON trees
    #[arg(short, long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
    level: u8,
    /// Use only ASCII glyphs
    #[arg(long)]
    ascii: bool,
    /// Notice changes by looking often, for file systems without events
    #[arg(long)]
    poll: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the transcript as text
    Show(ShowArgs),
    /// Count records, entries, turns, calls, tokens and cost
    Stats {
        /// The sessions
        #[arg(required = true, value_name = "SESSION")]
        sessions: Vec<OsString>,
        /// One JSON object a line (schema tv.stats/1)
        #[arg(long)]
        json: bool,
    },
    /// Tell how a file was understood, and what in it was not
    Doctor {
        /// The session
        session: OsString,
        /// One JSON object (schema tv.doctor/1)
        #[arg(long)]
        json: bool,
    },
    /// View a session that is being written right now, to try things out
    Demo {
        /// How many times faster than it was recorded
        #[arg(long, default_value_t = 1.0, value_parser = speed)]
        speed: f64,
        #[command(flatten)]
        look: LookArgs,
    },
    /// Write a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The session
    session: OsString,
    /// Columns; by default those of the terminal, else 100
    #[arg(long, value_parser = clap::value_parser!(u16).range(i64::from(MIN_WIDTH)..))]
    width: Option<u16>,
    /// When to write colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
    /// Detail: 1 prompts, 2 outline, 3 previews, 4 everything, 5 records as JSON trees
    #[arg(short, long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
    level: u8,
    /// Go on with what is appended, until interrupted
    #[arg(short, long)]
    follow: bool,
    /// Entries as JSON, one a line (schema tv.entry/1)
    #[arg(long)]
    json: bool,
    /// Use only ASCII glyphs
    #[arg(long)]
    ascii: bool,
    /// Notice changes by looking often, for file systems without events
    #[arg(long)]
    poll: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ColorChoice {
    /// If the output is a terminal and NO_COLOR is not set
    #[default]
    Auto,
    Always,
    Never,
}

/// What the environment and the terminal say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// `NO_COLOR` is set and not empty.
    pub no_color: bool,
    /// `$VISUAL`, else `$EDITOR`.
    pub editor: Option<String>,
    /// `$COLORFGBG`.
    pub colorfgbg: Option<String>,
    /// `$TERM`.
    pub term: Option<String>,
    /// The locale for characters: `$LC_ALL`, else `$LC_CTYPE`, else `$LANG`.
    pub locale: Option<String>,
    /// `$TV_TEST_PANIC`.
    pub test_panic: Option<String>,
    /// Columns of the terminal that the output goes to; `None` if it goes elsewhere.
    pub columns: Option<u16>,
}

impl Surroundings {
    /// Reads them.
    pub fn read() -> Self {
        Self {
            no_color: variable("NO_COLOR").is_some(),
            editor: variable("VISUAL").or_else(|| variable("EDITOR")),
            colorfgbg: variable("COLORFGBG"),
            term: variable("TERM"),
            locale: variable("LC_ALL").or_else(|| variable("LC_CTYPE")).or_else(|| variable("LANG")),
            test_panic: variable("TV_TEST_PANIC"),
            columns: columns(),
        }
    }

    /// Whether the locale names a character set that lacks the glyphs. No locale at all says nothing.
    fn is_ascii(&self) -> bool {
        self.locale.as_deref().is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            !locale.contains("utf-8") && !locale.contains("utf8")
        })
    }

    fn can_view(&self) -> bool {
        self.columns.is_some() && self.term.as_deref() != Some("dumb")
    }
}

/// A variable of the environment that is not empty.
fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "this is the one reader of the environment")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Columns of the terminal that stdout is; some terminals do not know their size.
fn columns() -> Option<u16> {
    let stdout = rustix::stdio::stdout();
    if !rustix::termios::isatty(stdout) {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stdout);
    Some(size.map_or(0, |size| size.ws_col)).map(|columns| if columns == 0 { 80 } else { columns })
}

impl Config {
    /// What arguments, the first being the program's name, ask for in these surroundings. The error
    /// is to be printed; it is also how `--help` and `--version` come out.
    pub fn resolve(
        arguments: impl IntoIterator<Item = OsString>,
        surroundings: Surroundings,
    ) -> Result<Self, clap::Error> {
        let args = Args::try_parse_from(arguments)?;
        match (args.command, args.session) {
            (Some(command), _) => Self::of_command(command, surroundings),
            (None, Some(session)) if surroundings.can_view() => {
                Ok(view(target(session), &args.look, None, surroundings))
            }
            (None, Some(session)) => Ok(Self::Print(show_instead(session, &args.look, &surroundings))),
            (None, None) => {
                let what = "name a session to view, or try `tv demo`";
                Err(Args::command().error(ErrorKind::MissingRequiredArgument, what))
            }
        }
    }

    fn of_command(command: Command, surroundings: Surroundings) -> Result<Self, clap::Error> {
        Ok(match command {
            Command::Show(args) => Self::Show(show_options(args, &surroundings)),
            Command::Stats { sessions, json } => {
                Self::Stats(stats::Options { targets: sessions.into_iter().map(target).collect(), json })
            }
            Command::Doctor { session, json } => {
                Self::Doctor(doctor::Options { target: target(session), json })
            }
            Command::Demo { speed, look } if surroundings.can_view() => {
                let nothing = Target { path: PathBuf::new(), session: None };
                view(nothing, &look, Some(DemoSpeed(speed)), surroundings)
            }
            Command::Demo { .. } => {
                let what = "the demo needs a terminal to draw on";
                return Err(Args::command().error(ErrorKind::InvalidValue, what));
            }
            Command::Completions { shell } => Self::Completions(shell),
        })
    }
}

/// The completion script for a shell.
pub fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "tv", &mut script);
    script
}

fn view(target: Target, look: &LookArgs, demo: Option<DemoSpeed>, surroundings: Surroundings) -> Config {
    let ascii = look.ascii || surroundings.is_ascii();
    let Surroundings { no_color, editor, colorfgbg, term, test_panic, .. } = surroundings;
    Config::View(Box::new(ViewConfig {
        target,
        theme: look.theme,
        no_color,
        ascii,
        watch: watch(look.poll),
        level: Level::of(look.level),
        editor,
        colorfgbg,
        term,
        test_panic,
        demo,
    }))
}

/// The viewer's arguments, when there is no screen to view on.
fn show_instead(session: OsString, look: &LookArgs, surroundings: &Surroundings) -> show::Options {
    let args = ShowArgs {
        session,
        width: None,
        color: if look.theme == ThemeChoice::Mono { ColorChoice::Never } else { ColorChoice::Auto },
        level: look.level,
        follow: false,
        json: false,
        ascii: look.ascii,
        poll: look.poll,
    };
    show_options(args, surroundings)
}

fn show_options(args: ShowArgs, surroundings: &Surroundings) -> show::Options {
    let is_dumb = surroundings.term.as_deref() == Some("dumb");
    let colour = match args.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => surroundings.columns.is_some() && !surroundings.no_color && !is_dumb,
    };
    let columns = surroundings.columns.map(|columns| columns.max(MIN_WIDTH));
    show::Options {
        target: target(args.session),
        paper: Paper {
            width: args.width.or(columns).unwrap_or(PAPER_WIDTH),
            colour,
            ascii: args.ascii || surroundings.is_ascii(),
        },
        level: Level::of(args.level),
        json: args.json,
        follow: args.follow.then(|| watch(args.poll)),
    }
}

fn target(argument: OsString) -> Target {
    match argument.to_str() {
        Some(argument) => Target::parse(argument),
        // Not UTF-8, so it can only be a path.
        None => Target { path: PathBuf::from(argument), session: None },
    }
}

fn watch(poll: bool) -> WatchMode {
    if poll { WatchMode::Poll } else { WatchMode::Native }
}

fn speed(argument: &str) -> Result<f64, String> {
    let speed: f64 = argument.parse().map_err(|error| format!("{error}"))?;
    if speed.is_finite() && speed > 0.0 { Ok(speed) } else { Err("must be greater than 0".to_owned()) }
}

#[cfg(test)]
mod tests;
