//! `tv doctor` without a session: how the sessions of all agents on this machine were understood,
//! by agent and version. The output is meant for bug reports, so it has no content, no paths and no
//! ids. Schema `tv.health/1`, only ever added to.
//!
//! Invariant: only the tally of a session is kept, so thousands of sessions need no more memory
//! than one.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::ingest::find::DiscoveryQuery;
use crate::ingest::{self, OpenError, Target};
use crate::model::edit::{Edit, Feed, MetaEdit};
use crate::model::figures::{count, exact};
use crate::model::found::FoundSession;
use crate::model::tally::Tally;
use crate::model::tally::unknown::Judged;
use crate::model::text::{Text, prefix};
use crate::model::timestamp::Timestamp;

use crate::report::json;
use crate::report::outcome::ReadFailure;
use crate::report::outcome::{Missed, ReportError, ReportOutcome};
use crate::report::reading::shown;
use crate::report::sessions::each::{ReadProgress, ReadToEnd, WhichFiles, each};

/// Maximum length of a kind or a version in the output; longer ones are data rather than names.
const LONGEST: usize = 80;

/// Options of `tv doctor` without a session.
pub struct HealthOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// One JSON object per row.
    pub json: bool,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
}

/// A version of an agent, as JSON.
#[derive(Serialize)]
struct VersionJson<'a> {
    schema: &'static str,
    agent: Option<&'static str>,
    version: Option<&'a str>,
    sessions: u64,
    records: u64,
    unknown: Vec<UnknownKindJson<'a>>,
    unreadable: Vec<UnreadableLine<'a>>,
    oldest: Option<String>,
    newest: Option<String>,
}

#[derive(Serialize)]
struct UnknownKindJson<'a> {
    kind: &'a str,
    judged: &'static str,
    count: u64,
}

#[derive(Serialize)]
struct UnreadableLine<'a> {
    what: &'a str,
    count: u64,
}

/// The sums over all sessions of one agent version. A session that several versions wrote counts
/// for the last one.
#[derive(Debug, Default, PartialEq)]
struct VersionSums {
    sessions: u64,
    records: u64,
    unknown: BTreeMap<Text, (Judged, u64)>,
    unreadable: BTreeMap<String, u64>,
    reach: Option<(Timestamp, Timestamp)>,
}

/// A version of an agent: its format, and the version if its sessions record one.
type Key = (&'static str, Option<Text>);

/// What is read from one session.
struct Examined {
    key: Key,
    tally: Tally,
    reach: Option<(Timestamp, Timestamp)>,
}

/// Writes how all sessions were understood. Meanwhile calls `progress` with the number of sessions
/// read and their total.
pub fn write(
    options: &HealthOptions,
    now: Timestamp,
    progress: &mut dyn FnMut(usize, usize),
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let mut rows: BTreeMap<Key, VersionSums> = BTreeMap::new();
    let mut missed = Missed::default();
    let (mut done, mut all) = (0, 0);
    each(
        &options.search,
        (None, WhichFiles::All),
        now,
        examine,
        |step| {
            match step {
                ReadProgress::Found(found) => all = found,
                ReadProgress::Session(session) => {
                    rows.entry(session.key.clone()).or_default().add(&session);
                }
                ReadProgress::Done => done += 1,
                ReadProgress::Failure(failure) => {
                    if let ReadFailure::CameBy(found) = &failure {
                        let why = without_paths(found.unreadable.as_deref().unwrap_or_default());
                        *rows
                            .entry((found.format, None))
                            .or_default()
                            .unreadable
                            .entry(why)
                            .or_default() += 1;
                    }
                    missed.push(failure);
                }
            }
            progress(done, all);
            true
        },
    );
    let mut rows: Vec<(Key, VersionSums)> = rows.into_iter().collect();
    rows.sort_by_cached_key(|((format, version), _)| (*format, version.as_deref().map(numbers_of)));
    if options.json {
        rows.iter()
            .try_for_each(|(key, row)| json::write_line(out, &line(key, row)))?;
    } else {
        write_page(&rows, out)?;
    }
    // The output already includes the unreadable sessions, without their paths.
    let unreadable = std::mem::take(&mut missed.unreadable);
    let is_missed = options.strict && !unreadable.is_empty();
    if is_missed || !missed.is_empty() {
        Ok(ReportOutcome::Failed(missed.refused))
    } else {
        Ok(ReportOutcome::Complete)
    }
}

/// Reads a session and keeps only its tally, version and time range.
fn examine(
    target: &Target,
    found: FoundSession,
    say: &mut dyn FnMut(Examined) -> bool,
) -> Result<ReadToEnd, OpenError> {
    let session = ingest::open_listed(target, found.format)?;
    let (mut tally, mut files, mut version, mut fault) = (Tally::default(), Vec::new(), None, None);
    let mut reach: Option<(Timestamp, Timestamp)> = None;
    let format = session.opened.format;
    session.read_whole(true, &mut |feed| match feed {
        Feed::Batch { batch, .. } => {
            for edit in &batch.edits {
                match edit {
                    Edit::Entry(entry) => entry
                        .times()
                        .for_each(|at| reach = Some(widened(reach, (at, at)))),
                    Edit::Meta(MetaEdit::Version(new)) => version = Some(new.clone()),
                    _ => {}
                }
            }
            // The tally of each batch includes the batches before it.
            tally = batch.tally;
        }
        Feed::File { path, .. } => files.push(path.to_path_buf()),
        Feed::Fault(what) => fault = Some(what),
        _ => {}
    });
    let failure =
        fault.map(|what| OpenError(format!("{}: reading stopped: {what}", shown(&target.path))));
    if let (0, Some(failure)) = (tally.records(), &failure) {
        return Err(failure.clone());
    }
    say(Examined {
        key: (format, version),
        tally,
        reach,
    });
    Ok(ReadToEnd { files, failure })
}

fn widened(
    known: Option<(Timestamp, Timestamp)>,
    (from, to): (Timestamp, Timestamp),
) -> (Timestamp, Timestamp) {
    known.map_or((from, to), |(first, last)| (first.min(from), last.max(to)))
}

impl VersionSums {
    fn add(&mut self, session: &Examined) {
        self.sessions += 1;
        self.records += session.tally.records();
        for (kind, unknown) in &session.tally.unknown {
            let (judged, count) = self
                .unknown
                .entry(kind.clone())
                .or_insert((Judged::Trace, 0));
            *judged = unknown.judged().max(*judged);
            *count += unknown.count();
        }
        if let Some(reach) = session.reach {
            self.reach = Some(widened(self.reach, reach));
        }
    }
}

/// The reason why a session cannot be read, with file names removed.
fn without_paths(why: &str) -> String {
    let mut shown = String::new();
    let mut rest = why;
    // A path may contain any character, so it is taken to extend to the next `: ` or ` (`.
    while let Some((before, path)) = at_path(rest) {
        shown.push_str(before);
        shown.push('…');
        let end = [": ", " ("].iter().filter_map(|end| path.find(end)).min();
        rest = end.and_then(|end| path.get(end..)).unwrap_or_default();
    }
    shown + rest
}

/// Splits a text where a path begins. `None` if it has no path.
fn at_path(text: &str) -> Option<(&str, &str)> {
    let begins = |at: usize| {
        text.get(..at)
            .is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    };
    let names_one = |at: usize| {
        text.get(at + 1..)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    };
    let is_home = |at: usize| {
        text.get(..at)
            .is_some_and(|before| before.ends_with(['~', '.', '*', '>']))
    };
    let mut slashes = text.match_indices('/').map(|(at, _)| at);
    let at = slashes.find(|at| begins(*at) && names_one(*at) && !is_home(*at))?;
    text.split_at_checked(at)
}

/// Sort key that orders versions by their numbers: 2.1.9 before 2.1.10.
fn numbers_of(version: &str) -> (Vec<u64>, String) {
    let numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok());
    (numbers.collect(), version.to_owned())
}

fn line<'a>((format, version): &'a Key, row: &'a VersionSums) -> VersionJson<'a> {
    let unknown = |(kind, (judged, count)): (&'a Text, &(Judged, u64))| UnknownKindJson {
        kind: prefix(kind, LONGEST),
        judged: judged.word(),
        count: *count,
    };
    let unreadable = |(what, count): (&'a String, &u64)| UnreadableLine {
        what,
        count: *count,
    };
    VersionJson {
        schema: "tv.health/1",
        agent: Some(*format).filter(|format| ingest::names_an_agent(format)),
        version: version.as_deref(),
        sessions: row.sessions,
        records: row.records,
        unknown: row.unknown.iter().map(unknown).collect(),
        unreadable: row.unreadable.iter().map(unreadable).collect(),
        oldest: row.reach.map(|(oldest, _)| oldest.to_rfc3339()),
        newest: row.reach.map(|(_, newest)| newest.to_rfc3339()),
    }
}

/// Widths of the columns of figures.
const SESSIONS: usize = 8;
const RECORDS: usize = 11;

fn write_page(rows: &[(Key, VersionSums)], out: &mut dyn Write) -> io::Result<()> {
    let sessions: u64 = rows.iter().map(|(_, row)| row.sessions).sum();
    let system = std::env::consts::OS;
    writeln!(
        out,
        "tv {} on {system}: {}",
        env!("CARGO_PKG_VERSION"),
        count(sessions, "session")
    )?;
    if rows.is_empty() {
        return Ok(());
    }
    let name = |(format, version): &Key| {
        let version = version
            .as_deref()
            .map(|version| format!(" {}", prefix(version, LONGEST)));
        format!("{format}{}", version.unwrap_or_default())
    };
    let width = rows
        .iter()
        .map(|(key, _)| name(key).chars().count())
        .max()
        .unwrap_or_default();
    let width = width.max("agent and version".len()) + 2;
    writeln!(
        out,
        "\n{:<width$}{:>SESSIONS$}{:>RECORDS$}  oldest      newest",
        "agent and version", "sessions", "records"
    )?;
    for (key, row) in rows {
        let reach = row.reach.map(|(oldest, newest)| {
            format!("  {}  {}", oldest.calendar_day(), newest.calendar_day())
        });
        writeln!(
            out,
            "{:<width$}{:>SESSIONS$}{:>RECORDS$}{}",
            name(key),
            exact(row.sessions),
            exact(row.records),
            reach.unwrap_or_default()
        )?;
        for (kind, (judged, count)) in &row.unknown {
            let judged = judged.word();
            writeln!(
                out,
                "    unknown ({judged}): {} ×{}",
                prefix(kind, LONGEST),
                exact(*count)
            )?;
        }
        for (what, count) in &row.unreadable {
            writeln!(out, "    cannot be read: {what} ×{}", exact(*count))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{numbers_of, without_paths};

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let mut versions = ["2.1.10", "2.1.9", "10.0.0", "2.1.10-beta", "unknown"];
        versions.sort_by_key(|version| numbers_of(version));
        assert_eq!(
            versions,
            ["unknown", "2.1.9", "2.1.10", "2.1.10-beta", "10.0.0"]
        );
    }

    #[test]
    fn no_path_is_shown() {
        for (why, expected) in [
            (
                "/home/me/a.jsonl: cannot be read (Is a directory)",
                "…: cannot be read (Is a directory)",
            ),
            (
                "reading stopped: \"/home/me/a b\" is gone",
                "reading stopped: \"…",
            ),
            (
                "it is in ~/.cursor/projects/*/chats",
                "it is in ~/.cursor/projects/*/chats",
            ),
            ("input/output error", "input/output error"),
        ] {
            assert_eq!(without_paths(why), expected);
        }
    }
}
