//! The command line: arguments (`Args`) and environment ([`Surroundings`]) become a [`Config`]
//! with everything resolved.
//!
//! Invariant: [`Config::resolve`] only reads what its arguments name.

mod blame;
mod charset;
mod check;
mod export;
mod format_name;
mod formats;
mod grep;
mod listing;
mod naming;
mod opening;
mod pages;
mod roff;
mod status;
mod strict;
mod suggesting;
mod surroundings;
mod top;
mod usage;
mod wait;

use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use suggesting::Suggesting;

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use self::blame::{BlameArgs, FileArgs};
pub use self::charset::{charset, redacts};
use self::check::CheckArgs;
use self::export::ExportArgs;
use self::format_name::FormatName;
use self::formats::FormatsCommand;
pub use self::formats::define;
use self::grep::GrepArgs;
use self::listing::{EverywhereArgs, ListingArgs, WasteArgs};
use self::naming::{has_several, session, single_session, slip, target_of, with_entry};
pub use self::opening::apply_settings;
use self::opening::{read_settings, view, view_of};
use self::status::StatusArgs;
use self::strict::StrictArgs;
pub use self::surroundings::Surroundings;
use self::top::TopArgs;
use self::usage::UsageArgs;
use self::wait::WaitArgs;

use crate::analysis::expression::When;
use crate::ingest::find::{DiscoveryQuery, Environment};
use crate::ingest::{OpenError, Target, WatchMode};
use crate::model::text::outlet::OutletForm;
use crate::model::text::secrets;
use crate::model::timestamp::Timestamp;
use crate::render::row::Level;
use crate::report::check::CheckForm;
use crate::report::listing::{ListKind, ListingForm};
use crate::report::outcome::{ReportError, ReportOutcome};
use crate::report::rows::Paper;
use crate::report::sessions::grep::GrepForm;
use crate::report::{self, brief, doctor, list, manual, printer, reading, stats, themes};
use crate::runtime::config::{DemoSpeed, Start, ViewConfig};
use crate::runtime::theme_choice;

/// Width of text that is not written to a terminal.
const PAPER_WIDTH: u16 = 100;
/// Least width that text is laid out in.
const MIN_WIDTH: u16 = 20;

/// What to do, with all of its options.
#[derive(Debug)]
pub enum Config {
    /// View sessions on the screen.
    View(Box<ViewConfig>),
    /// Answer a tv elsewhere.
    Serve(Environment),
    /// Write a report.
    Report(PendingReport),
}

/// A report that is still to be written.
pub struct PendingReport {
    /// How its output is cleaned.
    pub form: OutletForm,
    write: Box<dyn FnOnce(Output<'_>) -> Written>,
}

pub type Written = Result<ReportOutcome, ReportError>;

/// What a report is written with.
pub struct Output<'a> {
    pub now: fn() -> Timestamp,
    /// Is told how much is done, of how much.
    pub progress: &'a mut dyn FnMut(usize, usize),
    pub out: &'a mut dyn Write,
}

impl PendingReport {
    pub fn write(self, output: Output<'_>) -> Written {
        (self.write)(output)
    }
}

impl fmt::Debug for PendingReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a report as {:?}", self.form)
    }
}

/// A report that is JSON or text.
fn text_or_json(is_json: bool, write: impl FnOnce(Output<'_>) -> Written + 'static) -> Config {
    let form = if is_json {
        OutletForm::Json
    } else {
        OutletForm::Text
    };
    report_as(form, write)
}

fn report_as(form: OutletForm, write: impl FnOnce(Output<'_>) -> Written + 'static) -> Config {
    Config::Report(PendingReport {
        form,
        write: Box::new(write),
    })
}

/// A report that only says that an argument names no single session.
fn refuse(refusal: OpenError) -> Config {
    report_as(OutletForm::Text, |_| {
        Ok(ReportOutcome::Failed(vec![refusal]))
    })
}

fn show_report(options: printer::PrintOptions) -> Config {
    text_or_json(options.json, move |to| {
        report::show::write(&options, to.now, to.out)
    })
}

fn list_report(options: list::ListOptions) -> Config {
    text_or_json(options.json, move |to| {
        list::write(&options, (to.now)(), to.out)
    })
}

/// The arguments.
#[derive(Debug, Parser)]
#[command(
    name = "tv",
    version,
    about = "Terminal transcript viewer for AI-agent sessions",
    long_about = "Opens the session file of any AI agent, shows every record of it and follows it live.",
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = "A session is a file, a folder of sessions, folder#session or database#session, the id of a \
                  session or the beginning of it, or - for standard input; HOST: in front means another machine. `tv list` shows what is there."
)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The session to view, written as text if the output is not a terminal. Several are read as one, merged by time;
    /// of a folder or a database, and without any, the picker lists all
    #[arg(value_name = "SESSION")]
    sessions: Vec<OsString>,
    /// Read all sessions of the folder or database as one, merged by time
    #[arg(long, requires = "sessions")]
    join: bool,
    #[command(flatten)]
    look: LookArgs,
    /// Write nothing but ASCII
    #[arg(long, global = true)]
    ascii: bool,
    /// Of a folder or a database take the newest session alone
    #[arg(long, global = true)]
    newest: bool,
    /// Mask keys, tokens and passwords of known shapes; a report says on standard error how many
    #[arg(long, global = true)]
    redact: bool,
    /// Read sessions by this format and no other: a name that `tv formats` lists, or a definition (see
    /// `tv help definitions`)
    #[arg(long, global = true, value_name = "NAME|FILE.toml")]
    format: Option<String>,
}

#[derive(Debug, clap::Args)]
struct LookArgs {
    /// Colours: dark, light, mono, catppuccin, catppuccin-latte, gruvbox, gruvbox-light, nord, solarized,
    /// solarized-light, or one of your own; without it by the terminal's background
    #[arg(long, value_name = "THEME")]
    theme: Option<String>,
    /// Detail: 1 prompts, 2 outline, 3 previews (the default), 4 everything, 5 records as JSON trees
    #[arg(short, long, value_parser = clap::value_parser!(u8).range(1..=5))]
    level: Option<u8>,
    /// Notice changes by looking often, for file systems without events
    #[arg(long)]
    poll: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the transcript as text
    Show(ShowArgs),
    /// Tell what was asked and done, what failed, what it cost, and the last answer
    Brief {
        /// The sessions
        #[arg(required = true, value_name = "SESSION")]
        sessions: Vec<OsString>,
        /// One JSON object a line (schema tv.brief/2)
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Markdown, for a pull request
        #[arg(long)]
        markdown: bool,
        #[command(flatten)]
        strict: StrictArgs,
    },
    /// Count records, entries, turns, calls, tokens and cost
    Stats {
        /// The sessions
        #[arg(required = true, value_name = "SESSION")]
        sessions: Vec<OsString>,
        /// One JSON object a line (schema tv.stats/2)
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        strict: StrictArgs,
    },
    /// List the tool calls of sessions; without one sum up those of all
    Tools {
        #[command(flatten)]
        listing: ListingArgs,
        /// The tools against each other instead: calls, failures, times
        #[arg(long)]
        sums: bool,
        #[command(flatten)]
        everywhere: EverywhereArgs,
    },
    /// List files that were read or changed, those that were changed most first
    Files(ListingArgs),
    /// Write which session wrote each line of a file
    Blame(Box<BlameArgs>),
    /// Write a file as it was after a call; 1 if not all of it is known
    File(FileArgs),
    /// List what was paid for and came to nothing, the dearest first
    Waste(WasteArgs),
    /// Tell where two runs parted, and what each came to; 1 if they part
    Diff(DiffArgs),
    /// Tell how a session, or all that there are, was understood, and what was not
    Doctor(DoctorArgs),
    /// Check calls and results against the rules of the providers; 1 if an error is found
    Check(CheckArgs),
    /// Wait until something comes about in a session; 0 if it did, 1 if it will not
    Wait(WaitArgs),
    /// List the sessions of all agents, newest first
    List(ListArgs),
    /// Show how all sessions of the last hours stand, those that need somebody first
    Top(TopArgs),
    /// Write one line for tmux or a prompt: who needs you, what today cost
    Status(Box<StatusArgs>),
    /// Search all sessions, newest first; 1 if nothing is found
    Grep(Box<GrepArgs>),
    /// Sum up tokens and cost of all sessions, by day or by something else
    Usage(Box<UsageArgs>),
    /// Write sessions in a form for other programs, or for people elsewhere
    Export(Box<ExportArgs>),
    /// List the formats of all agents; show one, or check a definition of your own
    Formats {
        #[command(subcommand)]
        command: Option<FormatsCommand>,
    },
    /// Let a tv elsewhere read the sessions of this machine; it runs this by itself
    Serve {
        /// On standard input and output, until the input ends
        #[arg(long, required = true)]
        stdio: bool,
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
    /// Read the manual: its topics, the page on one, or what a command takes
    Help {
        /// A topic of the manual, or a command
        topic: Option<String>,
    },
    /// Write a page for `man`: of tv, of a command, or on a topic of the manual
    Man {
        /// A topic of the manual, or a command
        topic: Option<String>,
    },
    /// Write which keys do what
    Keys,
    /// Write which colours there are, with samples on a terminal
    Themes {
        /// When to write colours
        #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
        color: ColorChoice,
    },
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// The sessions
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<OsString>,
    #[command(flatten)]
    paper: PaperArgs,
    /// Detail: 1 prompts, 2 outline, 3 previews, 4 everything, 5 records as JSON trees
    #[arg(short, long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=5))]
    level: u8,
    /// Go on with what is appended, until interrupted
    #[arg(short, long)]
    follow: bool,
    /// `all` in file order, `active`, or the number of a branch that the session left (see `tv stats`)
    #[arg(long, default_value = "all", value_parser = branch, conflicts_with = "follow")]
    branch: printer::BranchChoice,
    /// Entries as JSON, one a line (schema tv.entry/2)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    strict: StrictArgs,
    /// Notice changes by looking often, for file systems without events
    #[arg(long)]
    poll: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prompts and calls are aligned by tool and arguments, wherever they stand; folders, ids, times, temporary names and the \
order of keys do not count, nor how answers are worded. SESSION#KEY is the run that an entry, a call or a sub-agent \
belongs to: its sub-agent, or its branch.

Exit code: 0 they are the same, 1 they part, 2 one cannot be read.

    tv diff before.jsonl after.jsonl
    tv diff SESSION SESSION#KEY
    tv diff SESSION --files")]
struct DiffArgs {
    /// A session, or SESSION#KEY
    #[arg(value_name = "A")]
    one: OsString,
    /// The other one
    #[arg(value_name = "B", required_unless_present = "files")]
    other: Option<OsString>,
    /// All that A changed, as one unified diff: of each file from what was known of it first to what was last
    #[arg(long, conflicts_with_all = ["other", "json"])]
    files: bool,
    /// One JSON object (schema tv.diff/1)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    paper: PaperArgs,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a session this is the page for a report of a bug: by agent and version how many sessions and records there are, \
what in them tv does not know, from when to when they are, and what could not be read. It has no content and no paths.")]
struct DoctorArgs {
    /// The session
    session: Option<OsString>,
    /// One JSON object (schema tv.doctor/2); without a session one a line for each version of an agent (tv.health/1)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    strict: StrictArgs,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Files, databases, folders or sessions to list instead of all that agents keep
    #[arg(value_name = "SESSION")]
    sessions: Vec<OsString>,
    /// Only sessions of one agent
    #[arg(long, value_name = "FORMAT", value_parser = FormatName)]
    agent: Option<String>,
    /// Only sessions that were written to from then on: 2h, 7d, today, monday, 2026-01, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = Suggesting::time(grep::time), hide_possible_values = true)]
    since: Option<When>,
    /// Only sessions that were last written to before
    #[arg(long, value_name = "TIME", value_parser = Suggesting::time(grep::time), hide_possible_values = true)]
    until: Option<When>,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// One JSON object a line (schema tv.list/1)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    strict: StrictArgs,
    #[command(flatten)]
    paper: PaperArgs,
}

/// Width and colours of output.
#[derive(Debug, clap::Args)]
struct PaperArgs {
    /// Columns; by default those of the terminal, else 100
    #[arg(long, value_parser = clap::value_parser!(u16).range(i64::from(MIN_WIDTH)..))]
    width: Option<u16>,
    /// When to write colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ColorChoice {
    /// If the output is a terminal and NO_COLOR is not set
    #[default]
    Auto,
    Always,
    Never,
}

impl Config {
    /// Resolves arguments, of which the first is the program's name. The error is to be printed;
    /// `--help` and `--version` are errors, too.
    pub fn resolve(
        arguments: impl IntoIterator<Item = OsString>,
        surroundings: Surroundings,
    ) -> Result<Self, clap::Error> {
        let mut command = command();
        let matches = command.try_get_matches_from_mut(arguments)?;
        let args = Args::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        let typed = surroundings::GlobalOptions {
            ascii: args.ascii,
            newest: args.newest,
            redact: args.redact,
        };
        let surroundings = Surroundings {
            typed,
            ..surroundings
        };
        let first = args.sessions.first();
        if let Some(slip) = first.and_then(|word| slip(word, &command, &surroundings.environment)) {
            return Err(Args::command().error(ErrorKind::InvalidSubcommand, slip));
        }
        match (args.command, args.sessions.split_first()) {
            (Some(command), _) => Self::of_command(command, surroundings),
            (None, Some((session, others))) => {
                Ok(
                    Self::of_sessions(session, others, args.join, &args.look, surroundings)
                        .unwrap_or_else(refuse),
                )
            }
            (None, None) if surroundings.can_view() => Ok(Self::View(Box::new(view(
                Start::Picker,
                &args.look,
                surroundings,
            )))),
            (None, None) => {
                let what =
                    "name a session to view, see which there are with `tv list`, or try `tv demo`";
                Err(Args::command().error(ErrorKind::MissingRequiredArgument, what))
            }
        }
    }

    /// Views sessions, or writes them if there is no screen.
    fn of_sessions(
        session: &OsString,
        others: &[OsString],
        join: bool,
        look: &LookArgs,
        surroundings: Surroundings,
    ) -> Result<Self, OpenError> {
        let (target, entry) = with_entry(session, &surroundings)?;
        let others = others.iter().map(|other| target_of(other, &surroundings));
        let mut joined = others.collect::<Result<Vec<_>, _>>()?;
        let is_choice = joined.is_empty() && !join && has_several(&target, &surroundings);
        let mut target = target;
        if join {
            let named = StrictArgs::default().sessions(Vec::new(), &surroundings);
            let all = [target].into_iter().chain(joined);
            let sessions = all.map(|target| named.sessions_of(&target));
            joined = sessions.collect::<Result<Vec<_>, _>>()?.concat();
            target = joined.remove(0);
        }
        if surroundings.can_view() {
            let view = view_of(target, &joined, is_choice, look, surroundings);
            return Ok(Self::View(Box::new(ViewConfig { entry, ..view })));
        }
        if is_choice {
            return Ok(list_report(choices(target, surroundings)));
        }
        if let Some(entry) = entry {
            reading::read(&target, true)?.find(&entry)?;
        }
        let targets: Vec<_> = [target].into_iter().chain(joined).map(Ok).collect();
        Ok(show_report(show_instead(targets, look, &surroundings)))
    }

    fn of_command(command: Command, surroundings: Surroundings) -> Result<Self, clap::Error> {
        Ok(match command {
            Command::Show(args) => show_report(show_options(&args, &surroundings)),
            Command::Brief {
                sessions,
                json,
                markdown,
                strict,
            } => {
                let form = match (json, markdown) {
                    (true, _) => brief::BriefForm::Json,
                    (false, true) => brief::BriefForm::Markdown,
                    (false, false) => brief::BriefForm::Text,
                };
                let options = brief::BriefOptions {
                    sessions: strict.named(&sessions, &surroundings),
                    form,
                };
                text_or_json(json, move |to| brief::write(&options, (to.now)(), to.out))
            }
            Command::Stats {
                sessions,
                json,
                strict,
            } => {
                let options = stats::StatsOptions {
                    sessions: strict.named(&sessions, &surroundings),
                    json,
                };
                text_or_json(json, move |to| stats::write(&options, (to.now)(), to.out))
            }
            Command::Tools {
                listing,
                everywhere,
                ..
            } if everywhere.has_sums() || listing.sessions.is_empty() => {
                let EverywhereArgs { by, since } = everywhere;
                let options = listing.sums(by.as_deref(), since, &surroundings);
                text_or_json(options.form == ListingForm::Json, move |to| {
                    report::sessions::tools::write(&options, (to.now)(), to.out)
                })
            }
            Command::Tools { listing, sums, .. } => {
                let kind = if sums {
                    ListKind::Tools
                } else {
                    ListKind::Calls
                };
                listing.report(kind, &surroundings)
            }
            Command::Files(listing) if listing.sessions.is_empty() => {
                let what = "name the sessions whose files to list";
                return Err(Args::command().error(ErrorKind::MissingRequiredArgument, what));
            }
            Command::Files(listing) => listing.report(ListKind::Files, &surroundings),
            Command::Blame(args) => match args.options(&surroundings) {
                Ok(options) => text_or_json(
                    options.form == report::sessions::blame::Form::Json,
                    move |to| report::sessions::blame::write(&options, (to.now)(), to.out),
                ),
                Err(refusal) => refuse(refusal),
            },
            Command::File(args) => {
                let options = args.options(&surroundings);
                let form = if options.is_terminal {
                    OutletForm::Text
                } else {
                    OutletForm::Bytes
                };
                report_as(form, move |to| report::file::write(&options, to.out))
            }
            Command::Diff(DiffArgs {
                one, files: true, ..
            }) => {
                let session = with_entry(&one, &surroundings);
                report_as(OutletForm::Text, move |to| {
                    report::file::write_changes(&session, to.out)
                })
            }
            Command::Waste(WasteArgs { listing, by, since }) => {
                let options = listing.sums(by.as_deref(), since, &surroundings);
                text_or_json(options.form == ListingForm::Json, move |to| {
                    report::sessions::waste::write(&options, (to.now)(), to.out)
                })
            }
            Command::Diff(args) => {
                let options = report::diff::DiffOptions {
                    runs: [Some(&args.one), args.other.as_ref()]
                        .map(|run| with_entry(run.unwrap_or(&args.one), &surroundings)),
                    json: args.json,
                    paper: args.paper.paper(&surroundings),
                };
                text_or_json(args.json, move |to| report::diff::write(&options, to.out))
            }
            Command::Doctor(args) => Self::doctor(args, &surroundings),
            Command::Check(args) if args.rules => {
                let form = args.form();
                text_or_json(form != CheckForm::Text, move |to| {
                    report::check::write_rules(form, to.out)
                })
            }
            Command::Check(args) if args.secrets => {
                let options = report::check::secrets::SecretsOptions {
                    sessions: args.strict.named(&args.sessions, &surroundings),
                    json: args.json,
                };
                text_or_json(args.json, move |to| {
                    secrets::list();
                    report::check::secrets::write(&options, to.out)
                })
            }
            Command::Check(args) => {
                let options = report::check::CheckOptions {
                    sessions: args.strict.named(&args.sessions, &surroundings),
                    form: args.form(),
                    least: args.least(),
                };
                text_or_json(options.form != CheckForm::Text, move |to| {
                    report::check::write(&options, to.out)
                })
            }
            Command::Wait(args) => match session(&args.session, &surroundings)
                .and_then(|target| single_session(target, &surroundings))
            {
                Ok(target) => {
                    let mode = watch(args.poll);
                    let options = args.options(target, mode);
                    report_as(OutletForm::Text, move |to| {
                        report::wait::write(&options, to.now, to.out)
                    })
                }
                Err(refusal) => refuse(refusal),
            },
            Command::Formats { command } => match formats::options(command, surroundings) {
                Ok(options) => report_as(OutletForm::Text, move |to| {
                    report::formats::write(&options, to.out)
                }),
                Err(refusal) => refuse(refusal),
            },
            Command::List(args) => list_report(list_options(args, surroundings)),
            Command::Top(args) => Self::top(args, surroundings),
            Command::Status(args) => report_as(OutletForm::Text, move |to| {
                args.write(&surroundings, (to.now)(), to.out)
            }),
            Command::Grep(args) => {
                let options = args.options(surroundings);
                text_or_json(options.form == GrepForm::Json, move |to| {
                    report::sessions::grep::write(&options, (to.now)(), to.out)
                })
            }
            Command::Usage(args) => {
                let options = args.options(&surroundings);
                text_or_json(options.form == ListingForm::Json, move |to| {
                    report::sessions::usage::write(&options, (to.now)(), to.out)
                })
            }
            Command::Export(args) => {
                let options = args.options(&surroundings);
                text_or_json(!options.form.is_for_people(), move |to| {
                    if options.is_redacted {
                        secrets::redact();
                    }
                    report::export::write(&options, (to.now)(), to.progress, to.out)
                })
            }
            Command::Serve { stdio: _ } => Self::Serve(surroundings.environment),
            Command::Demo { speed, look } if surroundings.can_view() => Self::View(Box::new(view(
                Start::Demo(DemoSpeed(speed)),
                &look,
                surroundings,
            ))),
            Command::Demo { .. } => {
                let what = "the demo needs a terminal to draw on";
                return Err(Args::command().error(ErrorKind::InvalidValue, what));
            }
            Command::Completions { shell } => plain(completions(shell)),
            Command::Man { topic } => plain(pages::manual(self::command(), topic.as_deref())?),
            Command::Help { topic } => {
                let width = surroundings
                    .columns
                    .is_none()
                    .then_some(manual::PLAIN_WIDTH);
                let options = manual::ManualOptions {
                    page: pages::help(self::command(), topic.as_deref())?,
                    paper: paper(width, ColorChoice::Auto, &surroundings),
                };
                report_as(OutletForm::Text, move |to| manual::write(&options, to.out))
            }
            Command::Keys => plain(read_settings(&surroundings).1.listing().into_bytes()),
            Command::Themes { color } => {
                let options = themes::ThemeOptions {
                    themes: theme_choice::all(surroundings.settings_folder.as_deref()),
                    depth: surroundings.depth(),
                    paper: paper(None, color, &surroundings),
                };
                report_as(OutletForm::Text, move |to| themes::write(&options, to.out))
            }
        })
    }
}

impl Config {
    fn doctor(args: DoctorArgs, surroundings: &Surroundings) -> Self {
        let (
            DoctorArgs {
                session: name,
                json,
                strict,
            },
            environment,
        ) = (args, &surroundings.environment);
        if let Some(name) = name {
            let options = doctor::DoctorOptions {
                sessions: strict.named(&[name], surroundings),
                json,
            };
            return text_or_json(json, move |to| doctor::write(&options, (to.now)(), to.out));
        }
        let search = DiscoveryQuery {
            environment: environment.clone(),
            ..DiscoveryQuery::default()
        };
        let options = doctor::health::HealthOptions {
            search,
            json,
            strict: strict.strict,
        };
        text_or_json(json, move |to| {
            doctor::health::write(&options, (to.now)(), to.progress, to.out)
        })
    }
}

fn plain(bytes: Vec<u8>) -> Config {
    report_as(OutletForm::Text, move |to| {
        to.out.write_all(&bytes)?;
        Ok(ReportOutcome::Complete)
    })
}

/// The clap command, with the topics of the manual and the names of the commands as values of
/// `help` and `man`.
fn command() -> clap::Command {
    let command = Args::command();
    let names = pages::names(&command);
    let naming = |asking: clap::Command| {
        asking.mut_arg("topic", |topic| {
            topic.value_parser(PossibleValuesParser::new(names.clone()))
        })
    };
    command
        .mut_subcommand("help", naming)
        .mut_subcommand("man", naming)
}

/// The completion script for a shell.
pub fn completions(shell: clap_complete::Shell) -> Vec<u8> {
    pages::completions(command(), shell)
}

/// Lists the sessions of a database instead of letting the user choose one on the screen.
fn choices(target: Target, surroundings: Surroundings) -> list::ListOptions {
    list::ListOptions {
        paper: paper(None, ColorChoice::Auto, &surroundings),
        search: DiscoveryQuery::among(surroundings.environment, [Ok(target)], None),
        hint: true,
        since: None,
        until: None,
        limit: None,
        json: false,
        strict: false,
    }
}

/// Writes a transcript instead of showing it on the screen.
fn show_instead(
    targets: Vec<Result<Target, OpenError>>,
    look: &LookArgs,
    surroundings: &Surroundings,
) -> printer::PrintOptions {
    let color = if look.theme.as_deref() == Some("mono") {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    };
    printer::PrintOptions {
        is_joined: targets.len() > 1,
        sessions: StrictArgs::default().sessions(targets, surroundings),
        paper: paper(None, color, surroundings),
        level: look.level.map_or(Level::Preview, Level::of),
        json: false,
        follow: None,
        branch: printer::BranchChoice::All,
    }
}

fn show_options(args: &ShowArgs, surroundings: &Surroundings) -> printer::PrintOptions {
    let mut sessions = args.strict.named(&args.sessions, surroundings);
    if args.follow {
        let follow =
            |target: Result<_, _>| target.and_then(|target| single_session(target, surroundings));
        sessions.targets = sessions.targets.into_iter().map(follow).collect();
    }
    printer::PrintOptions {
        sessions,
        is_joined: false,
        paper: args.paper.paper(surroundings),
        level: Level::of(args.level),
        json: args.json,
        follow: args.follow.then(|| watch(args.poll)),
        branch: args.branch,
    }
}

fn list_options(args: ListArgs, surroundings: Surroundings) -> list::ListOptions {
    list::ListOptions {
        paper: args.paper.paper(&surroundings),
        search: grep::search(&args.sessions, args.agent, &surroundings),
        hint: false,
        since: args.since,
        until: args.until,
        limit: args.limit,
        json: args.json,
        strict: args.strict.strict,
    }
}

impl PaperArgs {
    fn paper(&self, surroundings: &Surroundings) -> Paper {
        paper(self.width, self.color, surroundings)
    }
}

fn paper(width: Option<u16>, color: ColorChoice, surroundings: &Surroundings) -> Paper {
    let is_dumb = surroundings.term.as_deref() == Some("dumb");
    let colour = match color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => surroundings.columns.is_some() && !surroundings.no_color && !is_dumb,
    };
    let columns = surroundings.columns.map(|columns| columns.max(MIN_WIDTH));
    Paper {
        width: width.or(columns).unwrap_or(PAPER_WIDTH),
        colour,
        ascii: surroundings.is_ascii(),
    }
}

fn watch(poll: bool) -> WatchMode {
    if poll {
        WatchMode::Poll
    } else {
        WatchMode::Native
    }
}

fn branch(argument: &str) -> Result<printer::BranchChoice, String> {
    match (argument, argument.parse()) {
        ("all", _) => Ok(printer::BranchChoice::All),
        ("active", _) => Ok(printer::BranchChoice::Active),
        (_, Ok(number)) if number > 0 => Ok(printer::BranchChoice::Number(number)),
        _ => Err("must be `all`, `active` or a number from 1".to_owned()),
    }
}

fn speed(argument: &str) -> Result<f64, String> {
    let speed: f64 = argument.parse().map_err(|error| format!("{error}"))?;
    if speed.is_finite() && speed > 0.0 {
        Ok(speed)
    } else {
        Err("must be greater than 0".to_owned())
    }
}

#[cfg(test)]
mod tests;
