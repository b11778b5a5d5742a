//! Arguments of `tv tools` and `tv files`.

use std::ffi::OsString;

use super::strict::StrictArgs;
use super::surroundings::Surroundings;
use super::{Config, PaperArgs};
use crate::report::listing::{Form, ListKind, Options};

/// What was typed after either.
#[derive(Debug, clap::Args)]
pub(super) struct ListingArgs {
    /// The sessions
    #[arg(required = true, value_name = "SESSION")]
    sessions: Vec<OsString>,
    /// One JSON object a row (schemas tv.tool/1, tv.tool.sums/1, tv.file/1)
    #[arg(long)]
    json: bool,
    /// Comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    strict: StrictArgs,
    #[command(flatten)]
    paper: PaperArgs,
}

impl ListingArgs {
    /// The configuration of the report.
    pub(super) fn config(self, kind: ListKind, surroundings: &Surroundings) -> Config {
        let (targets, folders) = self.strict.named(&self.sessions, surroundings);
        Config::Listing(Options {
            targets,
            folders,
            kind,
            form: Form::of(self.json, self.csv),
            paper: self.paper.paper(surroundings),
        })
    }
}
