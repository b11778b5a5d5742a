//! Arguments of `tv export`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;

use super::format_name::FormatName;
use super::grep::{search, time};
use super::strict::StrictArgs;
use super::suggesting::Suggesting;
use super::surroundings::Surroundings;
use crate::analysis::expression::When;
use crate::report::export::{ExportForm, ExportOptions};

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
One session goes to standard output without -o, several need a folder, but for jsonl and otlp, where they follow each other. What \
a folder holds and has not changed since is not written again.

    tv export --to html SESSION -o page.html
    tv export --to jsonl --since 30d -o rows/")]
pub(super) struct ExportArgs {
    /// Files, folders or sessions to export instead of all that agents keep
    #[arg(value_name = "SESSION")]
    sessions: Vec<OsString>,
    /// The form
    #[arg(long, value_name = "FORM", value_parser = PossibleValuesParser::new(ExportForm::ALL.map(|(_, name)| name)))]
    to: String,
    /// Only sessions that were written to from then on: 7d, today, monday, 2026-01, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = Suggesting::time(time), hide_possible_values = true)]
    since: Option<When>,
    /// Only sessions of one agent
    #[arg(long, value_name = "FORMAT", value_parser = FormatName)]
    agent: Option<String>,
    /// A file, `-` for standard output, or a folder for several sessions
    #[arg(short, long, value_name = "FILE|FOLDER")]
    output: Option<PathBuf>,
    /// Only this turn, by its number or the key of an entry in it (html and md)
    #[arg(long, value_name = "N|KEY")]
    turn: Option<String>,
    /// Only this entry, by its key; given again, each of them (html and md)
    #[arg(long = "entry", value_name = "KEY", conflicts_with = "turn")]
    entries: Vec<String>,
    /// Leave keys, tokens and passwords as they are, where they are masked without being asked
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
    #[command(flatten)]
    strict: StrictArgs,
}

impl ExportArgs {
    /// The options of the export.
    pub(super) fn options(self, surroundings: &Surroundings) -> ExportOptions {
        let known = ExportForm::ALL
            .into_iter()
            .find(|(_, name)| *name == self.to);
        let form = known.map_or(ExportForm::Jsonl, |(form, _)| form);
        let is_asked = surroundings.typed.redact;
        ExportOptions {
            search: search(&self.sessions, self.agent, surroundings),
            since: self.since,
            form,
            to: self.output.filter(|path| path != Path::new("-")),
            is_redacted: is_asked || (form.is_for_people() && !self.no_redact),
            turn: self.turn,
            entries: self.entries,
            host: surroundings.host.clone(),
            strict: self.strict.strict,
        }
    }
}
