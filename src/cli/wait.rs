//! Arguments of `tv wait`.

use std::ffi::OsString;
use std::time::Duration;

use super::suggesting::Suggesting;
use crate::analysis::expression::Expr;
use crate::analysis::expression::parse::{duration, parse_alarm};
use crate::ingest::{Target, WatchMode};
use crate::report::wait::WaitOptions;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
States that already hold are an answer at once: waiting, idle, ended, unclean, model, tool, retry, loop, \
silent>90s, cost>2, ctx>80%, same-call>=3, running=0, done:ID. Of errors (err, orphan) and of entries (tool:bash, done:bash, role:user, \
\"text\", /regex/ …) only new ones are. Join them with and, or, not and parentheses.

Exit code: 0 it came about, with a line that says why; 1 the session ended without it, or the time is over; \
2 it cannot be waited for; 130 interrupted.

    tv wait SESSION --until 'waiting or err' && notify-send 'your turn'
    tv wait SESSION --until 'silent>5m or loop or cost>5' --timeout 2h")]
pub(super) struct WaitArgs {
    /// The session
    pub(super) session: OsString,
    /// What must come about, as in `:watch`
    #[arg(long, value_name = "EXPR", value_parser = Suggesting::alarm(expression), hide_possible_values = true, allow_hyphen_values = true)]
    until: Expr,
    /// How long to wait at most: 90s, 10m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// Notice changes by looking often, for file systems without events
    #[arg(long)]
    pub(super) poll: bool,
}

impl WaitArgs {
    /// The options of the command.
    pub(super) fn options(self, target: Target, watch: WatchMode) -> WaitOptions {
        WaitOptions {
            target,
            until: self.until,
            timeout: self.timeout,
            watch,
        }
    }
}

fn expression(typed: &str) -> Result<Expr, String> {
    parse_alarm(typed).map_err(|wrong| {
        format!(
            "at {}: {}; `tv help finding` has all facts",
            wrong.at + 1,
            wrong.what
        )
    })
}

fn time(typed: &str) -> Result<Duration, String> {
    let ms =
        duration(typed).ok_or_else(|| "a time is written like 90s, 10m or 1h30m".to_owned())?;
    Ok(Duration::from_millis(ms))
}
