//! Arguments of `tv grep`.

use std::ffi::OsString;
use std::path::Path;

use super::format_name::FormatName;
use super::strict::StrictArgs;
use super::suggesting::Suggesting;
use super::{ColorChoice, MIN_WIDTH, Surroundings, paper, session};
use crate::analysis::expression::parse::{MOMENTS, moment, parse};
use crate::analysis::expression::{Expr, Term, When};
use crate::ingest::find::DiscoveryQuery;
use crate::ingest::fs;
use crate::ingest::{OpenError, Target};
use crate::report::sessions::grep::{Case, GrepForm, GrepOptions, GrepQuery};

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The pattern is searched for as / does in the viewer: a regular expression, without regard to case unless it has \
capitals, in all text, input and output of tools; u: b: k: t: e: s: in front narrow it to what the user said, answers, \
thinking, tools, errors, notes. What is no regular expression is taken literally.

A filter is what & takes in the viewer (`tv help finding`): tool:bash, role:user, err, wrote:*.rs, since:monday, \
-x, or, parentheses. A filter without a pattern shows a line of each call and text that it fits; -F searches for its text. What names a file, a folder or a session is a place to search; with -f anything is a filter.

Exit code: 0 something was found, 1 nothing, 2 something that was named could not be searched, or with --strict \
anything.

    tv grep 'connection refused' tool:bash --since 7d
    tv grep u:deploy ~/work -l
    tv grep TODO -f 'file:src/* -err' --json")]
pub(super) struct GrepArgs {
    /// What to look for
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pattern: String,
    /// Filters, and files, folders or sessions to search instead of all that agents keep
    #[arg(value_name = "FILTER|SESSION")]
    others: Vec<OsString>,
    /// What must hold besides, as in `:filter`
    #[arg(short, long, value_name = "EXPR", value_parser = expression, allow_hyphen_values = true)]
    filter: Vec<Expr>,
    /// The pattern means itself
    #[arg(short = 'F', long)]
    literal: bool,
    /// Ignore case, even if the pattern has capitals
    #[arg(short, long)]
    ignore_case: bool,
    /// Only what was written from then on: 2h, 7d, 10:42, today, monday, 2026-01, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = Suggesting::time(time), hide_possible_values = true)]
    since: Option<When>,
    /// Only sessions of one agent
    #[arg(long, value_name = "FORMAT", value_parser = FormatName)]
    agent: Option<String>,
    /// Write which sessions have hits, and nothing else
    #[arg(short = 'l', long, conflicts_with = "json")]
    list: bool,
    /// One JSON object a hit (schema tv.hit/1)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    strict: StrictArgs,
    /// Columns of hits under their sessions; by default those of the terminal
    #[arg(long, value_parser = clap::value_parser!(u16).range(i64::from(MIN_WIDTH)..))]
    width: Option<u16>,
    /// When to write colours
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
}

impl GrepArgs {
    /// The options of the search.
    pub(super) fn options(self, surroundings: Surroundings) -> GrepOptions {
        let mut filters = self.filter;
        let mut named = Vec::new();
        let mut pattern = self.pattern;
        // A filter alone shows all that it fits.
        let is_filter = !self.literal && pattern.contains(':');
        if let Some(facts) = facts(&pattern.clone().into()).filter(|_| is_filter) {
            filters.push(facts);
            pattern.clear();
        }
        for other in self.others {
            match facts(&other) {
                Some(facts) => filters.push(facts),
                None => named.push(other),
            }
        }
        let mut search = search(&named, self.agent, &surroundings);
        let words: Option<Vec<&str>> = named.iter().map(|argument| word(argument)).collect();
        let words = words.filter(|_| search.targets.is_empty() && !pattern.is_empty());
        if let (Some(words), Some(OpenError(last))) = (words, search.refused.last_mut()) {
            let whole = [&[pattern.as_str()], words.as_slice()].concat().join(" ");
            if let Ok(whole) = shlex::try_quote(&whole) {
                *last += "; several words are one pattern in quotes: tv grep ";
                *last += &whole;
            }
        }
        let form = match (
            self.json,
            self.list,
            self.width.or(surroundings.columns).is_some(),
        ) {
            (true, ..) => GrepForm::Json,
            (_, true, _) => GrepForm::Sessions,
            (_, _, true) => GrepForm::Headed,
            _ => GrepForm::Plain,
        };
        GrepOptions {
            query: GrepQuery {
                pattern,
                is_literal: self.literal,
                case: if self.ignore_case {
                    Case::Ignored
                } else {
                    Case::Smart
                },
                filter: (!filters.is_empty()).then(|| Expr::all(filters)),
                since: self.since,
            },
            search,
            strict: self.strict.strict,
            form,
            paper: paper(self.width, self.color, &surroundings),
        }
    }
}

/// Parses an argument as a filter: it names no file and consists of facts only. A single word is
/// more likely a mistyped path than text to filter by.
fn facts(argument: &OsString) -> Option<Expr> {
    let typed = argument
        .to_str()
        .filter(|typed| fs::symlink_metadata(Path::new(typed)).is_err())?;
    let expr = parse(typed).ok()?;
    let is_fact = |term: &&Term| !matches!(term, Term::Text(_) | Term::Pattern(_));
    expr.terms().iter().all(is_fact).then_some(expr)
}

/// An argument that is a word of a text rather than a path or an id.
fn word(argument: &OsString) -> Option<&str> {
    let word = argument.to_str()?;
    word.chars().all(char::is_alphabetic).then_some(word)
}

/// The sessions to search: those in the arguments, or those of all agents.
pub(super) fn search(
    named: &[OsString],
    agent: Option<String>,
    surroundings: &Surroundings,
) -> DiscoveryQuery {
    let named = named.iter().map(|argument| place(argument, surroundings));
    DiscoveryQuery::among(surroundings.environment.clone(), named, agent)
}

/// Resolves an argument that is a session, folder or database.
fn place(argument: &OsString, surroundings: &Surroundings) -> Result<Target, OpenError> {
    let target = session(argument, surroundings)?;
    if target.is_stdin() {
        let what = "standard input has one session; `tv -` views it";
        return Err(OpenError(what.to_owned()));
    }
    Ok(target)
}

fn expression(typed: &str) -> Result<Expr, String> {
    parse(typed).map_err(|wrong| format!("at {}: {}", wrong.at + 1, wrong.what))
}

/// Parses a point in time.
pub(super) fn time(typed: &str) -> Result<When, String> {
    moment(typed).ok_or_else(|| format!("a time is written like {MOMENTS}"))
}
