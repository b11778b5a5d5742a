//! Arguments of `tv top`.

use std::ffi::OsString;

use super::format_name::FormatName;
use super::grep::{self, search};
use super::opening::view;
use super::strict::StrictArgs;
use super::suggesting::Suggesting;
use super::{Config, LookArgs, PaperArgs, Surroundings, refuse, text_or_json, watch};
use crate::analysis::expression::parse::duration;
use crate::report::top::{self, TopForm, TopOptions};
use crate::runtime::clock::now;
use crate::runtime::config::{Start, ViewConfig, WallChoice};

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Those that need somebody come first: they asked for a permission or an answer, stopped in the middle of their \
work, repeat themselves or are silent for too long, or have answered and wait for the next prompt; an hour later nobody \
is expected any more. Then come those that work, then the rest.

    tv top                 the wall: enter opens a session, q comes back
    tv top --once          the same as a table
    tv top --json          a line for every change, for status bars
    tv top --once --json   a line for every session, once")]
pub(super) struct TopArgs {
    /// Files, databases, folders or sessions to look at instead of all that agents keep
    #[arg(value_name = "SESSION")]
    sessions: Vec<OsString>,
    /// Write a table, or with --json a line for each session, and end
    #[arg(long)]
    once: bool,
    /// JSON objects, a line for every change until the reader has enough (schema tv.top/1)
    #[arg(long)]
    json: bool,
    /// Sessions that were written to in this time, or since then: 90m, 3h, 2d, today, monday, 10:42
    #[arg(long, value_name = "TIME", default_value = "3h", value_parser = Suggesting::time(time), hide_possible_values = true)]
    since: u64,
    /// Only sessions of one agent
    #[arg(long, value_name = "FORMAT", value_parser = FormatName)]
    agent: Option<String>,
    #[command(flatten)]
    strict: StrictArgs,
    #[command(flatten)]
    paper: PaperArgs,
    #[command(flatten)]
    look: LookArgs,
}

/// Parses a span of time or a point in time, as ms before now.
pub(super) fn time(typed: &str) -> Result<u64, String> {
    if let Some(ms) = duration(typed) {
        return Ok(ms);
    }
    let now = now();
    let then = grep::time(typed)?.resolve(Some(now));
    Ok(then.map_or(0, |then| now.since(then)))
}

impl Config {
    /// The wall, or its table if the output is no terminal.
    pub(super) fn top(args: TopArgs, surroundings: Surroundings) -> Self {
        let search = search(&args.sessions, args.agent.clone(), &surroundings);
        if let ([], Some(refusal)) = (&*search.targets, search.refused.first()) {
            return refuse(refusal.clone());
        }
        if surroundings.can_view() && !args.once && !args.json {
            let wall = WallChoice {
                format: args.agent,
                recent_ms: args.since,
            };
            let config = view(Start::Wall, &args.look, surroundings);
            return Self::View(Box::new(ViewConfig {
                listed: search.targets,
                wall,
                ..config
            }));
        }
        let form = match (args.json, args.once) {
            (false, _) => TopForm::Table,
            (true, true) => TopForm::Json,
            (true, false) => TopForm::Stream,
        };
        let options = TopOptions {
            recent_ms: args.since,
            watch: watch(args.look.poll),
            form,
            strict: args.strict.strict,
            paper: args.paper.paper(&surroundings),
            search,
        };
        text_or_json(args.json, move |to| top::write(&options, to.now, to.out))
    }
}
