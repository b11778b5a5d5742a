//! `tv tools` without a session: the calls of all sessions by tool or by something else, and their
//! failures by what they have in common, as a table or as JSON (schema `tv.tools/1`, only ever
//! added to).

use std::io::{self, Write};

use ratatui::text::Span;
use serde::Serialize;

use super::each::{ReadProgress, ReadToEnd, WhichFiles, each};
use crate::analysis::by::By;
use crate::analysis::calls::everywhere::{CallSeen, Everywhere, GroupSums, calls_of};
use crate::analysis::calls::{Calls, Outcome};
use crate::analysis::derived::Memo;
use crate::analysis::expression::When;
use crate::ingest::find::{self, DiscoveryQuery};
use crate::ingest::{OpenError, Target};
use crate::model::figures::{duration, percent};
use crate::model::found::FoundSession;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;
use crate::report::json;
use crate::report::outcome::{self, Missed, ReportError};
use crate::report::reading::{self, on_one_line};
use crate::report::rows::Paper;

/// Kinds of failures that the table has.
const SHOWN: usize = 12;

/// Options of the report.
pub struct ToolsOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// What the rows are grouped by.
    pub by: By,
    /// Only sessions that were written to from this time on.
    pub since: Option<When>,
    /// Whether to write JSON.
    pub json: bool,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
    /// Width and signs of the table.
    pub paper: Paper,
}

/// The calls of a session, and the argument that opens it.
struct SessionCalls {
    /// What its files have in common.
    session: Text,
    address: String,
    calls: Vec<CallSeen>,
}

/// Sums up the calls of all sessions and writes the rows.
pub fn write(
    options: &ToolsOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<outcome::ReportOutcome, ReportError> {
    let since = options.since.and_then(|when| when.resolve(Some(now)));
    let mut missed = Missed::default();
    let mut everywhere = Everywhere::default();
    let read = |target: &Target, found: FoundSession, say: &mut dyn FnMut(SessionCalls) -> bool| {
        read(target, &found, options.by, now, say)
    };
    each(
        &options.search,
        (since, WhichFiles::All),
        now,
        read,
        |step| {
            match step {
                ReadProgress::Session(seen) => {
                    everywhere.add((&seen.session, &seen.address), seen.calls);
                }
                ReadProgress::Failure(failure) => missed.push(failure),
                ReadProgress::Found(_) | ReadProgress::Done => {}
            }
            true
        },
    );
    everywhere.sort();
    if options.json {
        write_json(&everywhere, options.by, out)?;
    } else {
        write_table(&everywhere, options, out)?;
    }
    Ok(outcome::ReportOutcome::of_many(
        missed,
        options.strict,
        outcome::ReportOutcome::Complete,
    ))
}

fn read(
    target: &Target,
    found: &FoundSession,
    by: By,
    now: Timestamp,
    say: &mut dyn FnMut(SessionCalls) -> bool,
) -> Result<ReadToEnd, OpenError> {
    let reading = reading::read(target, false)?;
    let transcript = &reading.transcript;
    let of_session = by.group_of_session(found, transcript);
    let is_over = !reading.activity(now).is_ongoing(now);
    let calls = calls_of(
        transcript,
        &Memo::<Calls>::of(transcript),
        by,
        &of_session,
        is_over,
    );
    let address = reading.address();
    let id = transcript.meta().id.clone();
    say(SessionCalls {
        session: id
            .filter(|_| find::may_be_continued(found.format))
            .unwrap_or_else(|| Text::clean(&address)),
        address,
        calls,
    });
    Ok(ReadToEnd {
        files: reading
            .files
            .values()
            .map(|path| path.to_path_buf())
            .collect(),
        failure: reading.failure(),
    })
}

#[derive(Serialize)]
struct GroupLine<'a> {
    schema: &'static str,
    by: &'static str,
    name: Option<&'a str>,
    sessions: usize,
    calls: usize,
    failed: usize,
    refused: usize,
    open: usize,
    p50_ms: Option<u64>,
    p95_ms: Option<u64>,
    max_ms: Option<u64>,
    time_ms: Option<u64>,
    time_is_bound: Option<bool>,
    late_p95_ms: Option<u64>,
    undelivered: usize,
    failures: Vec<FailureLine<'a>>,
}

#[derive(Serialize)]
struct FailureLine<'a> {
    signature: &'a str,
    tools: Vec<&'a str>,
    count: usize,
    example: &'a str,
}

fn write_json(everywhere: &Everywhere, by: By, out: &mut dyn Write) -> io::Result<()> {
    for (name, sums) in sorted(everywhere) {
        let spread = sums.spread();
        let failures = sums.failures().into_iter().map(|same| FailureLine {
            signature: &same.signature,
            tools: same.tools.iter().map(Text::as_str).collect(),
            count: same.count,
            example: &same.example,
        });
        json::write_line(
            out,
            &GroupLine {
                schema: "tv.tools/1",
                by: by.word(),
                name: Some(name.as_str()).filter(|name| !name.is_empty()),
                sessions: sums.sessions.len(),
                calls: sums.calls,
                failed: sums.ended(Outcome::Failed),
                refused: sums.ended(Outcome::Refused),
                open: sums.open(),
                p50_ms: spread.map(|spread| spread.p50),
                p95_ms: spread.map(|spread| spread.p95),
                max_ms: spread.map(|spread| spread.max),
                time_ms: spread.map(|spread| spread.sum),
                time_is_bound: spread.map(|spread| spread.is_bound),
                late_p95_ms: sums.late_p95(),
                undelivered: sums.undelivered,
                failures: failures.collect(),
            },
        )?;
    }
    Ok(())
}

/// The groups, those with the most calls first.
fn sorted(everywhere: &Everywhere) -> Vec<(&Text, &GroupSums)> {
    let mut groups: Vec<_> = everywhere.groups.iter().collect();
    groups.sort_by(|(one, its), (other, others)| {
        others.calls.cmp(&its.calls).then_with(|| one.cmp(other))
    });
    groups
}

fn write_table(
    everywhere: &Everywhere,
    options: &ToolsOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let paper = options.paper;
    let cut = paper.theme().glyphs().cut;
    let width = usize::from(paper.width);
    let mut line = |words: &str, width: usize| {
        let spans = wrap::fit(&[Span::raw(words.to_owned())], width, cut);
        writeln!(out, "{}", paper.bare_line(&spans).trim_end())
    };
    if everywhere.groups.is_empty() {
        return line("no tool was called", width);
    }
    let names = width.saturating_sub(66).clamp(14, 60);
    let row = |name: &str, sums: Option<&GroupSums>| {
        let name = wrap::head(name, names);
        let gap = " ".repeat(names.saturating_sub(wrap::width(name)));
        let Some(sums) = sums else {
            return format!(
                "{name}{gap} sessions   calls    failed  open     p50     p95    late  never"
            );
        };
        let time = |ms: Option<u64>| ms.map(duration).unwrap_or_default();
        let count = |count: usize| {
            if count > 0 {
                count.to_string()
            } else {
                String::new()
            }
        };
        let failed = sums.ended(Outcome::Failed);
        let failed = if failed > 0 {
            format!("{failed} {:>3}%", percent(failed as u64, sums.calls as u64))
        } else {
            String::new()
        };
        let spread = sums.spread();
        format!(
            "{name}{gap} {:>8} {:>7} {failed:>9} {:>5} {:>7} {:>7} {:>7} {:>6}",
            sums.sessions.len(),
            sums.calls,
            count(sums.open()),
            time(spread.map(|spread| spread.p50)),
            time(spread.map(|spread| spread.p95)),
            time(sums.late_p95()),
            count(sums.undelivered),
        )
    };
    line(&row(options.by.word(), None), width)?;
    for (name, sums) in sorted(everywhere) {
        let name = on_one_line(name);
        line(
            &row(
                if name.is_empty() {
                    options.by.none()
                } else {
                    &name
                },
                Some(sums),
            ),
            width,
        )?;
    }
    line(&row("all", Some(&everywhere.all)), width)?;
    let failures = everywhere.all.failures();
    if failures.is_empty() {
        return Ok(());
    }
    line("", width)?;
    line("failures", width)?;
    for same in failures.iter().take(SHOWN) {
        let tools: Vec<&str> = same.tools.iter().map(Text::as_str).take(3).collect();
        line(
            &format!(
                "{:>5}  {}: {}",
                same.count,
                tools.join(", "),
                on_one_line(&same.signature)
            ),
            width,
        )?;
        // What is cut opens nothing.
        line(&format!("       tv '{}'", same.example), usize::MAX)?;
    }
    match failures.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => line(&format!("       and {more} more kinds"), width),
    }
}
