//! Commands typed after `:`: every action by its name, and commands that take an argument.
//!
//! Invariant: a command prints as it is parsed, so tests, messages and the history agree.

use std::fmt;
use std::str::FromStr;

use super::action::Action;
use super::setting::Assignment;
use crate::analysis::expression::parse::Mistake;
use crate::analysis::expression::{Expr, parse};
use crate::app::alarms::AlarmSpec;
use crate::app::effect::{PageExtent, PageForm};
use crate::model::timestamp::{Clock, Timestamp};
use crate::render::manual::{self, ManualPage};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TypedCommand {
    Act(Action),
    /// Go to a position in the session.
    Goto(GotoTarget),
    Set(Assignment),
    /// Show only matching entries.
    Filter(Expr),
    /// Pipe the item's record to a shell command.
    Pipe(String),
    /// Join the session at this path to the open one.
    Join(String),
    /// Write the session, or a part of it, as a page in the folder that one works in.
    Export(PageForm, PageExtent),
    Watch(AlarmSpec),
    /// List the alarms.
    Watched,
    /// Remove an alarm by its number or expression; all alarms if empty.
    Unwatch(String),
    /// Delete the saved state of the session.
    Forget,
    /// Compare with another run: a session, a branch, a sub-agent.
    Diff(String),
    /// List what the model saw at the cursor.
    Context,
    /// Go to where the model first saw a text.
    From(String),
    /// Show a page of the manual.
    Help(&'static ManualPage),
}

/// A position in the session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GotoTarget {
    /// The entry with this number, from 1.
    Entry(usize),
    /// The entry from this line of the file, from 1, or the next one.
    Line(u32),
    /// The branch with this number, from 1.
    Branch(usize),
    /// This share of the rows, in percent.
    Percent(u8),
    /// The first entry at or after this time, on the day of the focused entry.
    Clock(Clock),
    /// The first entry at or after this time.
    Timestamp(Timestamp),
}

/// Syntax of a command with an argument, for palette and manual.
pub struct CommandUsage {
    pub name: &'static str,
    /// Placeholder of the argument.
    pub argument: &'static str,
    pub(crate) doc: &'static str,
}

/// All commands that are not actions; those of `set` are the rows of [`SETTINGS`](super::setting::SETTINGS).
pub const COMMANDS: &[CommandUsage] = &[
    CommandUsage {
        name: "goto",
        argument: "LINE",
        doc: "to the entry of this line of the file; a bare number does the same",
    },
    CommandUsage {
        name: "goto",
        argument: "#ENTRY",
        doc: "to the entry with this number",
    },
    CommandUsage {
        name: "goto",
        argument: "branch NUMBER",
        doc: "to a branch that the session left",
    },
    CommandUsage {
        name: "goto",
        argument: "NN%",
        doc: "so far down",
    },
    CommandUsage {
        name: "goto",
        argument: "HH:MM[:SS]",
        doc: "to the first entry from this time of the day on",
    },
    CommandUsage {
        name: "goto",
        argument: "YYYY-MM-DD [HH:MM]",
        doc: "to the first entry from this time on",
    },
    CommandUsage {
        name: "filter",
        argument: "EXPRESSION",
        doc: "show only what fits, as & does",
    },
    CommandUsage {
        name: "from",
        argument: "WORD",
        doc: "where the model first saw a word, and by which route it came",
    },
    CommandUsage {
        name: "pipe",
        argument: "COMMAND",
        doc: "give the record's JSON to a shell command, as | does",
    },
    CommandUsage {
        name: "join",
        argument: "PATH",
        doc: "read this session as one with what is shown, by time",
    },
    CommandUsage {
        name: "export",
        argument: "html|md [turn|rows|marks]",
        doc: "save the session, this turn, the selected rows or what is marked, as a page to share or send, keys and tokens masked",
    },
    CommandUsage {
        name: "diff",
        argument: "SESSION[#KEY]|SUB-AGENT|branch N",
        doc: "where this run and that one parted; a session is a path or an id",
    },
    CommandUsage {
        name: "watch",
        argument: "EXPRESSION [| COMMAND]",
        doc: "ring when this comes about: waiting, err, silent>90s, cost>2 \u{2026}; alone: what is watched",
    },
    CommandUsage {
        name: "unwatch",
        argument: "",
        doc: "watch nothing any more",
    },
    CommandUsage {
        name: "unwatch",
        argument: "NUMBER",
        doc: "end this alarm",
    },
    CommandUsage {
        name: "forget",
        argument: "",
        doc: "delete the marks and all else that is kept of this session",
    },
    CommandUsage {
        name: "context",
        argument: "",
        doc: "list what the model saw at the cursor; y copies the list",
    },
];

impl FromStr for TypedCommand {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        let what = match typed.split_once(' ') {
            Some(("goto", place)) => return place.parse().map(Self::Goto),
            Some(("pipe", command)) if !command.trim().is_empty() => {
                return Ok(Self::Pipe(command.trim().to_owned()));
            }
            Some(("join", path)) if !path.trim().is_empty() => {
                return Ok(Self::Join(path.trim().to_owned()));
            }
            Some(("from", word)) if !word.trim().is_empty() => {
                return Ok(Self::From(word.trim().to_owned()));
            }
            Some(("diff", other)) if !other.trim().is_empty() => {
                return Ok(Self::Diff(other.trim().to_owned()));
            }
            Some(("export", form)) => {
                let mut forms = [PageForm::Html, PageForm::Markdown].into_iter();
                let mut words = form.split_whitespace();
                let word = words.next().unwrap_or_default();
                let known = forms.find(|known| known.name() == word);
                let word = words.next().unwrap_or_default();
                let mut extents = PageExtent::ALL.into_iter();
                let extent = extents.find(|extent| extent.word() == word);
                let extent = extent.filter(|_| words.next().is_none());
                let wrong = || {
                    "export html or export md, and turn, rows (selected) or marks for a part"
                        .to_owned()
                };
                let command = known.zip(extent);
                return command
                    .map(|(form, extent)| Self::Export(form, extent))
                    .ok_or_else(wrong);
            }
            Some(("help", topic)) => {
                let wrong = || {
                    format!(
                        "the manual has nothing on {}, but on {}",
                        topic.trim(),
                        manual::topics()
                    )
                };
                return manual::find(topic.trim()).map(Self::Help).ok_or_else(wrong);
            }
            Some(("set", setting)) => return setting.parse().map(Self::Set),
            Some(("filter", typed)) => {
                let expr = parse::parse(typed.trim());
                return expr
                    .map(Self::Filter)
                    .map_err(|wrong| format!("filter, at {}: {}", wrong.at + 1, wrong.what));
            }
            Some(("watch", typed)) => {
                let wish = typed.trim().parse();
                return wish.map(Self::Watch).map_err(|wrong: Mistake| {
                    format!("watch, at {}: {}", wrong.at + 1, wrong.what)
                });
            }
            Some(("unwatch", name)) => return Ok(Self::Unwatch(name.trim().to_owned())),
            _ if typed == "watch" => return Ok(Self::Watched),
            _ if typed == "unwatch" => return Ok(Self::Unwatch(String::new())),
            _ if typed == "forget" => return Ok(Self::Forget),
            _ if typed == "context" => return Ok(Self::Context),
            _ => typed
                .parse()
                .map(Self::Act)
                .or_else(|_unknown| typed.parse().map(Self::Goto)),
        };
        what.map_err(|_unknown: String| format!("no command is called {typed}"))
    }
}

impl fmt::Display for TypedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Act(action) => write!(f, "{action}"),
            Self::Goto(place) => write!(f, "goto {place}"),
            Self::Set(setting) => write!(f, "set {setting}"),
            Self::Filter(expr) => write!(f, "filter {expr}"),
            Self::Pipe(command) => write!(f, "pipe {command}"),
            Self::Join(path) => write!(f, "join {path}"),
            Self::From(word) => write!(f, "from {word}"),
            Self::Diff(other) => write!(f, "diff {other}"),
            Self::Export(form, PageExtent::Session) => write!(f, "export {}", form.name()),
            Self::Export(form, extent) => write!(f, "export {} {}", form.name(), extent.word()),
            Self::Watch(wish) => write!(f, "watch {wish}"),
            Self::Watched => f.write_str("watch"),
            Self::Unwatch(name) if name.is_empty() => f.write_str("unwatch"),
            Self::Unwatch(name) => write!(f, "unwatch {name}"),
            Self::Forget => f.write_str("forget"),
            Self::Context => f.write_str("context"),
            Self::Help(page) => write!(f, "help {}", page.topic),
        }
    }
}

impl FromStr for GotoTarget {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let typed = typed.trim();
        let entry = typed
            .strip_prefix('#')
            .and_then(|number| number.parse().ok())
            .map(Self::Entry);
        let branch = typed
            .strip_prefix("branch ")
            .and_then(|number| number.trim().parse().ok())
            .map(Self::Branch);
        let percent = typed
            .strip_suffix('%')
            .and_then(|number| number.parse().ok())
            .map(|n: u8| Self::Percent(n.min(100)));
        let line = || typed.parse().ok().map(Self::Line);
        let clock = || Clock::parse(typed).map(Self::Clock);
        let timestamp = || Timestamp::parse_local(typed).map(Self::Timestamp);
        let place = entry
            .or(branch)
            .or(percent)
            .or_else(line)
            .or_else(clock)
            .or_else(timestamp);
        place.ok_or_else(|| {
            format!("{typed} is no place; a line, #entry, 50%, 10:42 or 2026-01-31 are")
        })
    }
}

impl fmt::Display for GotoTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(number) => write!(f, "#{number}"),
            Self::Branch(number) => write!(f, "branch {number}"),
            Self::Line(line) => write!(f, "{line}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Clock(clock) => write!(f, "{clock}"),
            Self::Timestamp(timestamp) => f.write_str(&timestamp.date_and_clock()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GotoTarget, TypedCommand};

    #[test]
    fn commands_print_as_they_are_parsed() {
        for typed in [
            "next-failure",
            "goto #12",
            "goto 4812",
            "goto branch 2",
            "goto 50%",
            "goto 10:42:00",
            "goto 2026-01-31 10:42",
            "set theme=nord",
            "set nohints",
            "set images=sixel",
            "set outline",
            "set nomouse",
            "pipe jq -r .type | less",
            "forget",
            "set noinspector",
            "set nolanes",
            "set rulers",
            "set nowrap",
            "set asof",
            "context",
            "help finding",
            "set gutter=bytes",
            "filter tool:bash -(err or dur>10s)",
            "watch",
            "watch waiting or silent>90s",
            "watch err | printf '\\a' > /dev/tty",
            "join a.jsonl",
            "diff branch 2",
            "from src/watch.rs",
            "export html",
            "export md",
            "export html turn",
            "export md rows",
            "export html marks",
            "unwatch",
            "unwatch 2",
            "set notify=bell",
            "set nomarks",
            "set clean",
            "set noredact",
        ] {
            let command: TypedCommand = typed
                .parse()
                .unwrap_or_else(|error| panic!("{typed}: {error}"));
            assert_eq!(command.to_string(), typed);
        }
    }

    #[test]
    fn switches_are_set_by_word_too() {
        for typed in ["set lanes=off", "set lanes off", "set nolanes"] {
            assert_eq!(
                typed.parse::<TypedCommand>().map(|set| set.to_string()),
                Ok("set nolanes".to_owned()),
                "{typed}"
            );
        }
        assert_eq!(
            "set rulers=on"
                .parse::<TypedCommand>()
                .map(|set| set.to_string()),
            Ok("set rulers".to_owned())
        );
        assert!("set lanes=maybe".parse::<TypedCommand>().is_err());
    }

    #[test]
    fn a_bare_place_is_gone_to() {
        assert_eq!(
            "4812".parse(),
            Ok(TypedCommand::Goto(GotoTarget::Line(4812)))
        );
        assert_eq!(
            " 7% ".parse(),
            Ok(TypedCommand::Goto(GotoTarget::Percent(7)))
        );
        assert!("10:42".parse::<TypedCommand>().is_ok());
        for typed in [
            "",
            "fly",
            "goto",
            "goto nowhere",
            "set",
            "set warp",
            "set images=warp",
            "25:99",
        ] {
            assert!(typed.parse::<TypedCommand>().is_err(), "{typed}");
        }
    }
}
