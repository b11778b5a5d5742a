//! `tv blame`: which call of which session wrote each line of a file, as text, in the form of
//! `git blame --porcelain`, or as JSON (schema `tv.blame/1`, only ever added to).
//!
//! **The history of the file is replayed.** What all sessions did to it and what git has committed
//! of it are put in order of time; each commit, each read and at last the file itself is what the
//! file was then. A line that nobody known wrote has no author, also if its text stands in an edit.
//!
//! Invariant: a line that stood in the file before a call is not that call's.

mod collect;
mod git;
mod print;

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use self::collect::{Call, FileCall, WantedPaths, collect};
use self::git::{CommittedFile, Git, GitCommit};
use crate::analysis::expression::When;
use crate::analysis::files::steps::FileStep;
use crate::analysis::files::version::{Author, FileLine, Version, lines_of};
use crate::ingest::OpenError;
use crate::ingest::find::DiscoveryQuery;
use crate::model::text::{Text, text_of};
use crate::model::timestamp::Timestamp;
use crate::report::outcome::{Missed, ReportError, ReportOutcome};
use crate::report::reading::shown;
use crate::report::rows::Paper;

/// Form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    /// As `git blame --porcelain` writes it.
    Porcelain,
    /// JSON, a line for each range.
    Json,
}

/// Options of `tv blame`.
pub struct BlameOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// The absolute path of the file.
    pub file: PathBuf,
    /// The first and last line, from 1; all, if there are none.
    pub lines: Option<(usize, usize)>,
    /// The revision of the file; without one it is taken as it is.
    pub rev: Option<String>,
    /// Only sessions that were written to from this time on.
    pub since: Option<When>,
    /// Form of the output.
    pub form: Form,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
    pub paper: Paper,
}

/// How sure it is that a call wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sureness {
    /// It stands where the call wrote it.
    Exact,
    /// It was moved since, or came from another checkout.
    Moved,
}

/// A line of the file.
struct Blamed {
    text: Text,
    by: Option<(Arc<Call>, Timestamp, Sureness)>,
    /// The id of its commit.
    commit: Option<String>,
}

/// The lines of a file with their authors.
struct Report {
    /// The path as it is shown.
    path: String,
    lines: Vec<Blamed>,
    commits: HashMap<String, GitCommit>,
}

/// Writes who wrote each line.
pub fn write(
    options: &BlameOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let file = &options.file;
    let git = Git::of(file);
    let content = content_of(options, git.as_ref())?;
    let texts: Vec<Arc<str>> = content
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| Arc::from(Text::clean(&text_of(line)).as_str()))
        .collect();
    let count = texts.len();
    let (first, last) = options.lines.unwrap_or((1, count.max(1)));
    if first > last || first == 0 || last > count.max(1) {
        let what = format!("{} has {count} lines", shown(file));
        return Err(OpenError(what).into());
    }
    let others = git.iter().flat_map(|git| {
        let path = git.path();
        git.checkouts
            .iter()
            .map(move |checkout| checkout.join(path))
    });
    let places = WantedPaths::of(file, others);
    let mut missed = Missed::default();
    let events = collect(options, &places, now, &mut missed);
    let rev = options.rev.as_deref();
    let first_event = events.iter().map(|event| event.at).min();
    let history = match (&git, first_event) {
        (Some(git), Some(first)) => git.history(rev.unwrap_or("HEAD"), first),
        _ => Vec::new(),
    };
    let (commit_of, commits) = git.as_ref().map(|git| git.blame(rev)).unwrap_or_default();
    // What happened after a revision is not in it.
    let until = history.last().filter(|_| rev.is_some());
    let until = until.map_or(events.len(), |commit| due(commit, &events, 0));
    let events = events.get(..until).unwrap_or_default();
    let lines = replay(events, 0, &history, &texts);
    let mut authors: Vec<Option<Author>> = lines.iter().map(|line| line.by).collect();
    add_other_checkouts(events, &texts, &mut authors);
    let mut report = Report {
        path: git
            .as_ref()
            .map_or_else(|| shown(file).to_string(), |git| git.path().to_owned()),
        lines: Vec::new(),
        commits,
    };
    for (number, text) in texts.iter().enumerate() {
        let commit = commit_of.get(number).cloned().flatten();
        let known = commit.as_ref().and_then(|id| report.commits.get(id));
        let author = authors.get(number).copied().flatten();
        let by = author
            .and_then(|by| Some((events.get(by.change as usize)?, by)))
            .filter(|(event, by)| known.is_none_or(|commit| may_hold(commit, event, *by)))
            .map(|(event, by)| {
                let sureness = if by.is_moved {
                    Sureness::Moved
                } else {
                    Sureness::Exact
                };
                (Arc::clone(&event.call), event.at, sureness)
            });
        report.lines.push(Blamed {
            text: Text::clean(text.trim_end_matches('\n')),
            by,
            commit,
        });
    }
    match options.form {
        Form::Text => report.write_text((first, last), options, out)?,
        Form::Porcelain => report.write_porcelain((first, last), out)?,
        Form::Json => report.write_json((first, last), out)?,
    }
    Ok(ReportOutcome::of_many(
        missed,
        options.strict,
        ReportOutcome::Complete,
    ))
}

fn content_of(options: &BlameOptions, git: Option<&Git>) -> Result<Vec<u8>, OpenError> {
    let file = &options.file;
    if let Some(rev) = &options.rev {
        let found = git
            .filter(|_| !rev.starts_with('-'))
            .and_then(|git| git.content(rev));
        return found.ok_or_else(|| {
            let rev = Text::clean(rev);
            OpenError(format!("git has no {} at {rev}", shown(file)))
        });
    }
    std::fs::read(file).map_err(|error| OpenError(format!("{}: {error}", shown(file))))
}

/// Whether a commit is late enough to have a line of a call. A commit that was amended may have
/// had it before the call, which matters where nothing is known of what was there.
fn may_hold(commit: &GitCommit, event: &FileCall, by: Author) -> bool {
    let at = if by.is_blind { commit.made } else { commit.at };
    at.0 + 999 >= event.at.0
}

/// The lines of the file with their authors, after all that happened to it in one place.
fn replay(
    events: &[FileCall],
    place: usize,
    history: &[CommittedFile],
    now: &[Arc<str>],
) -> Vec<FileLine> {
    let mut version = Version::default();
    let mut commits = history
        .iter()
        .map(|commit| (due(commit, events, place), commit))
        .peekable();
    for (number, event) in events.iter().enumerate() {
        while let Some((_, commit)) = commits.next_if(|(due, _)| *due <= number) {
            version.observe(clean_lines(&commit.content));
        }
        if event.place == place {
            version.apply(&event.step, u32::try_from(number).unwrap_or(u32::MAX));
        }
    }
    for (_, commit) in commits {
        version.observe(clean_lines(&commit.content));
    }
    version.observe(now.to_vec());
    version.whole.map(|run| run.lines).unwrap_or_default()
}

/// The number of the first event after a commit. A commit has the second in which it was made, and
/// may be amended later: it is after those changes whose text it has.
fn due(commit: &CommittedFile, events: &[FileCall], place: usize) -> usize {
    let start = events.partition_point(|event| event.at < commit.made);
    let end = events.partition_point(|event| event.at.0 <= commit.at.0 + 999);
    let content = Text::clean(&text_of(&commit.content));
    let within = events.get(start..end).unwrap_or_default();
    let last = within
        .iter()
        .rposition(|event| event.place == place && is_in(&event.step, &content));
    last.map_or(start, |last| start + last + 1)
}

/// Whether all that a step wrote stands in a content.
fn is_in(step: &FileStep, content: &str) -> bool {
    let is_there = |text: &str| {
        let text = text.trim();
        text.len() > 20 && content.contains(text)
    };
    match step {
        FileStep::Write {
            content: written, ..
        } => written.trim() == content.trim(),
        FileStep::Replace { pairs, .. } => pairs
            .iter()
            .any(|(old, new)| !old.contains(new.as_str()) && is_there(new)),
        FileStep::Patch(hunks) => hunks.iter().any(|hunk| is_there(&hunk.added())),
        FileStep::Delete => content.is_empty(),
        FileStep::Read { .. } | FileStep::Before(_) | FileStep::Unknown => false,
    }
}

fn clean_lines(content: &[u8]) -> Vec<Arc<str>> {
    lines_of(&Text::clean(&text_of(content)))
}

/// Lines that nobody wrote here may have been written in another checkout of the repository.
fn add_other_checkouts(events: &[FileCall], texts: &[Arc<str>], authors: &mut [Option<Author>]) {
    let places = events.iter().map(|event| event.place).max().unwrap_or(0);
    for place in 1..=places {
        let lines = replay(events, place, &[], texts);
        for (known, line) in authors.iter_mut().zip(lines) {
            if let (None, Some(by)) = (&known, line.by.filter(|by| !by.is_blind)) {
                *known = Some(Author {
                    is_moved: true,
                    ..by
                });
            }
        }
    }
}
