//! Arguments of `tv status`.

use std::ffi::OsString;
use std::io::Write;

use super::format_name::FormatName;
use super::grep::search;
use super::opening::read_settings;
use super::suggesting::Suggesting;
use super::surroundings::Surroundings;
use super::top::time;
use crate::model::entry::Piece;
use crate::model::timestamp::Timestamp;
use crate::report::outcome::{ReportError, ReportOutcome};
use crate::report::status::{self, StatusOptions, StatusTemplate};
use crate::runtime::state_store::StateStore;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Counted as on the wall (`tv top`): sessions that need you, those that work, and calls and sub-agents in the background. \
The cost is that of today; a + behind it says that it is at least that much, until a later call has read the rest.

Names in --line: {needs} {working} {running} {cost}, and with --stdin {model} {context} {session}, the cost of the session.

    set -g status-right '#(tv status)'                     # ~/.tmux.conf
    PS1='$(tv status --line \"{needs}!\") $ '                # a prompt
    \"statusLine\": {\"type\": \"command\", \"command\": \"tv status --stdin\"}   # ~/.claude/settings.json")]
pub(super) struct StatusArgs {
    /// Files, databases, folders or sessions to look at instead of all that agents keep
    #[arg(value_name = "SESSION")]
    sessions: Vec<OsString>,
    /// The line, with names in braces
    #[arg(long, value_name = "TEXT", value_parser = StatusTemplate::parse)]
    line: Option<StatusTemplate>,
    /// Read what Claude Code gives its status line from standard input
    #[arg(long)]
    stdin: bool,
    /// Sessions that were written to in this time, or since then: 90m, 3h, 2d, today, monday, 10:42
    #[arg(long, value_name = "TIME", default_value = "3h", value_parser = Suggesting::time(time), hide_possible_values = true)]
    since: u64,
    /// Only sessions of one agent
    #[arg(long, value_name = "FORMAT", value_parser = FormatName)]
    agent: Option<String>,
}

impl StatusArgs {
    /// Writes the line, and stores what was counted.
    pub(super) fn write(
        self,
        surroundings: &Surroundings,
        now: Timestamp,
        out: &mut dyn Write,
    ) -> Result<ReportOutcome, ReportError> {
        let search = search(&self.sessions, self.agent, surroundings);
        let is_on = read_settings(surroundings).0.is_on("state");
        let texts = [&surroundings.settings, &surroundings.price_table];
        let texts: Vec<&str> = (texts.into_iter().flatten())
            .map(|(_, text)| text.as_str())
            .collect();
        let options = StatusOptions {
            search,
            recent_ms: self.since,
            line: self.line,
            has_input: self.stdin,
            prices: Piece::of(&texts.concat()).0,
        };
        // Of some sessions alone the costs of the others would be forgotten.
        let folder = surroundings
            .state_folder
            .clone()
            .filter(|_| is_on && self.sessions.is_empty());
        let mut state = StateStore::new(folder, surroundings.environment.home.as_deref());
        let before = state.today().unwrap_or_default();
        let mut today = before.clone();
        let outcome = status::write(&options, &mut today, now, out)?;
        let saved = if today == before {
            Ok(())
        } else {
            state.save_today(&today)
        };
        Ok(match saved {
            Ok(()) => outcome,
            Err(why) => ReportOutcome::Saying(why, Box::new(outcome)),
        })
    }
}
