//! Arguments of `tv usage`.

use std::ffi::OsString;

use clap::builder::PossibleValuesParser;

use super::format_name::FormatName;
use super::grep::{search, time};
use super::strict::StrictArgs;
use super::suggesting::Suggesting;
use super::surroundings::Surroundings;
use super::{ColorChoice, MIN_WIDTH, paper};
use crate::analysis::by::By;
use crate::analysis::expression::When;
use crate::report::listing::ListingForm;
use crate::report::sessions::usage::UsageOptions;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every request counts once over all sessions, also if it stands in several: in forks, in sessions that were gone on \
with, in archives. Cost is what the agent recorded, else ~ an estimate from list prices; $? where no price is known \
(`tv help cost`).

    tv usage --since 30d
    tv usage --by month,model
    tv usage ~/.claude/projects --by session --csv")]
pub(super) struct UsageArgs {
    /// Files, folders or sessions to sum up instead of all that agents keep
    #[arg(value_name = "SESSION")]
    sessions: Vec<OsString>,
    /// What has a row of its own; several together with a comma between. Skill, sub-agent and branch are those that
    /// records name; of tool and mcp (the server) it is those which a request calls
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "day",
        value_parser = PossibleValuesParser::new(By::ALL.map(|(_, word)| word)))]
    by: Vec<String>,
    /// Only what was spent from then on: 7d, today, monday, 2026-01, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = Suggesting::time(time), hide_possible_values = true)]
    since: Option<When>,
    /// Only what was spent before
    #[arg(long, value_name = "TIME", value_parser = Suggesting::time(time), hide_possible_values = true)]
    until: Option<When>,
    /// Only sessions of one agent
    #[arg(long, value_name = "FORMAT", value_parser = FormatName)]
    agent: Option<String>,
    /// One JSON object a row (schema tv.usage/1)
    #[arg(long)]
    json: bool,
    /// Comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// What is used up of the limits for five hours and a week, as far as sessions tell (JSON: schema tv.limits/1)
    #[arg(long, conflicts_with = "csv")]
    limits: bool,
    /// Failed calls, too, in a column of their own; this reads the results of calls, which takes longer
    #[arg(long)]
    failures: bool,
    #[command(flatten)]
    strict: StrictArgs,
    /// Columns of the table; by default those of the terminal, else 100
    #[arg(long, value_parser = clap::value_parser!(u16).range(i64::from(MIN_WIDTH)..))]
    width: Option<u16>,
}

impl UsageArgs {
    /// The options of the report.
    pub(super) fn options(self, surroundings: &Surroundings) -> UsageOptions {
        let search = search(&self.sessions, self.agent, surroundings);
        let mut by: Vec<By> = Vec::new();
        for (known, word) in By::ALL {
            // There is one column for time, with the shortest period.
            let is_second = known.is_period() && by.iter().any(|by| by.is_period());
            if self.by.iter().any(|typed| typed == word) && !is_second {
                by.push(known);
            }
        }
        UsageOptions {
            search,
            by,
            since: self.since,
            until: self.until,
            form: ListingForm::of(self.json, self.csv),
            limits: self.limits,
            failures: self.failures,
            strict: self.strict.strict,
            paper: paper(self.width, ColorChoice::Never, surroundings),
        }
    }
}
