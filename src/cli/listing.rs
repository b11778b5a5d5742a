//! Arguments of `tv tools`, `tv files` and `tv waste`.

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;

use super::grep::{search, time};
use super::strict::StrictArgs;
use super::suggesting::Suggesting;
use super::surroundings::Surroundings;
use super::{Config, PaperArgs, text_or_json};
use crate::analysis::by::By;
use crate::analysis::expression::When;
use crate::report::listing::{self, ListKind, ListingForm, ListingOptions};
use crate::report::sessions::each::SumsOptions;

/// What was typed after any.
#[derive(Debug, clap::Args)]
pub(super) struct ListingArgs {
    /// The sessions
    #[arg(value_name = "SESSION")]
    pub(super) sessions: Vec<OsString>,
    /// One JSON object a row (schemas tv.tool/1, tv.tool.sums/1, tv.file/1, tv.waste/1; tv.tools/1 and tv.waste.sums/1 for sums over sessions)
    #[arg(long)]
    pub(super) json: bool,
    /// Comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten)]
    pub(super) strict: StrictArgs,
    #[command(flatten)]
    pub(super) paper: PaperArgs,
}

/// What was typed after `tv tools` to sum up the calls of all sessions.
#[derive(Debug, clap::Args)]
pub(super) struct EverywhereArgs {
    /// Sum up the calls of all sessions, or of those named, by what `tv usage --by` knows
    #[arg(long, value_name = "WHAT", conflicts_with = "sums",
        value_parser = PossibleValuesParser::new(By::ALL.map(|(_, word)| word)))]
    pub(super) by: Option<String>,
    /// Without a session: only those that were written to from then on: 2h, 7d, today, monday, 2026-01, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = Suggesting::time(time), hide_possible_values = true)]
    pub(super) since: Option<When>,
}

impl EverywhereArgs {
    /// Whether sums over sessions are asked for.
    pub(super) fn has_sums(&self) -> bool {
        self.by.is_some() || self.since.is_some()
    }
}

impl ListingArgs {
    pub(super) fn report(self, kind: ListKind, surroundings: &Surroundings) -> Config {
        let options = ListingOptions {
            sessions: self.strict.named(&self.sessions, surroundings),
            kind,
            form: ListingForm::of(self.json, self.csv),
            paper: self.paper.paper(surroundings),
        };
        text_or_json(self.json, move |to| {
            listing::write(&options, (to.now)(), to.out)
        })
    }

    /// The options of a report over all sessions.
    pub(super) fn sums(
        self,
        by: Option<&str>,
        since: Option<When>,
        surroundings: &Surroundings,
    ) -> SumsOptions {
        SumsOptions {
            search: search(&self.sessions, None, surroundings),
            by: by.and_then(By::named),
            since,
            form: ListingForm::of(self.json, self.csv),
            strict: self.strict.strict,
            paper: self.paper.paper(surroundings),
        }
    }
}

/// What was typed after `tv waste`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Kinds overlap, so that they have no sum: a request that only repeats a call may also pay for a cache again. All costs \
are estimates (`tv help cost`).

    tv waste --since 7d
    tv waste --by project
    tv waste SESSION --json")]
pub(super) struct WasteArgs {
    #[command(flatten)]
    pub(super) listing: ListingArgs,
    /// Sums by what `tv usage --by` knows instead
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(By::ALL.map(|(_, word)| word)))]
    pub(super) by: Option<String>,
    /// Only sessions that were written to from then on: 2h, 7d, today, monday, 2026-01, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) since: Option<When>,
}
