//! Arguments of `tv blame` and `tv file`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::format_name::FormatName;
use super::grep::{search, time};
use super::strict::StrictArgs;
use super::{PaperArgs, Surroundings, with_entry};
use crate::analysis::expression::When;
use crate::ingest::{OpenError, fs};
use crate::report::file;
use crate::report::sessions::blame::{BlameOptions, Form};

/// The arguments of `tv blame`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The changes that all sessions made to the file are replayed in order of time, between the contents that git has \
committed. What no session is known to have written is marked ?, with its commit; what was moved since, or came from \
another checkout, ~. Of a single line all that is known is written.

Exit code: 0, or 2 if the file or something that was named cannot be read, with --strict if anything cannot be.

    tv blame src/main.rs
    tv blame src/main.rs:120-180 --since 30d
    tv blame src/main.rs:42")]
pub(super) struct BlameArgs {
    /// The file; with a line, or the first and the last one
    #[arg(value_name = "FILE[:LINE|:FROM-TO]")]
    file: OsString,
    /// Files, folders or sessions to search instead of all that agents keep
    #[arg(value_name = "SESSION")]
    sessions: Vec<OsString>,
    /// The file as git has it at a revision
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
    /// Only sessions that were written to from then on: 7d, today, monday, 2026-01, 2026-01-31
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<When>,
    /// Only sessions of one agent
    #[arg(long, value_name = "FORMAT", value_parser = FormatName)]
    agent: Option<String>,
    /// As `git blame --porcelain`, for editors
    #[arg(long)]
    porcelain: bool,
    /// One JSON object for each range of lines (schema tv.blame/1)
    #[arg(long, conflicts_with = "porcelain")]
    json: bool,
    #[command(flatten)]
    strict: StrictArgs,
    #[command(flatten)]
    paper: PaperArgs,
}

impl BlameArgs {
    /// The options of the report.
    pub(super) fn options(self, surroundings: &Surroundings) -> Result<BlameOptions, OpenError> {
        let (file, lines) = file_and_lines(&self.file)?;
        let file = std::path::absolute(&file)
            .map_err(|error| OpenError(format!("{}: {error}", file.display())))?;
        Ok(BlameOptions {
            search: search(&self.sessions, self.agent, surroundings),
            file,
            lines,
            rev: self.rev,
            since: self.since,
            form: match (self.json, self.porcelain) {
                (true, _) => Form::Json,
                (false, true) => Form::Porcelain,
                (false, false) => Form::Text,
            },
            strict: self.strict.strict,
            paper: self.paper.paper(surroundings),
        })
    }
}

/// Splits `FILE:LINE` and `FILE:FROM-TO`, unless a file is called so.
fn file_and_lines(typed: &OsString) -> Result<(PathBuf, Option<(usize, usize)>), OpenError> {
    let whole = PathBuf::from(typed);
    let parts = typed.to_str().and_then(|typed| typed.rsplit_once(':'));
    let (Some((file, lines)), Err(_)) = (parts, fs::symlink_metadata(Path::new(typed))) else {
        return Ok((whole, None));
    };
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if 0 < from && from <= to => Ok((PathBuf::from(file), Some((from, to)))),
        _ if lines.starts_with(|c: char| c.is_ascii_digit()) => Err(OpenError(format!(
            "{lines}: lines are written like 42 or 120-180"
        ))),
        _ => Ok((whole, None)),
    }
}

/// The arguments of `tv file`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file is made of what the session wrote and read of it up to then. Standard error says of what; where lines are not \
known, a line in brackets stands for them.

Exit code: 0 all of it is known, 1 some lines are not, 2 it cannot be made.

    tv file SESSION#KEY src/main.rs > before.rs
    diff <(tv file SESSION src/main.rs) src/main.rs")]
pub(super) struct FileArgs {
    /// The session, with the key of an entry or the id of a call after which the file is wanted; without one its end
    #[arg(value_name = "SESSION[#KEY]")]
    session: OsString,
    /// The path, absolute, from where the session began, or its end
    #[arg(value_name = "PATH")]
    path: String,
}

impl FileArgs {
    /// The options of the report.
    pub(super) fn options(self, surroundings: &Surroundings) -> file::FileOptions {
        file::FileOptions {
            at: with_entry(&self.session, surroundings),
            path: self.path,
            is_terminal: surroundings.columns.is_some(),
        }
    }
}
