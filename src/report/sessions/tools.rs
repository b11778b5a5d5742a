//! `tv tools` without a session: the calls of all sessions by tool or by something else, and their
//! failures by what they have in common, as a table, CSV or JSON (schema `tv.tools/1`, only ever
//! added to).

use std::io::{self, Write};

use ratatui::text::Span;

use super::each::{ReadToEnd, SumsOptions, WhichFiles, each_result};
use crate::analysis::by::By;
use crate::analysis::calls::Calls;
use crate::analysis::calls::everywhere::{CallSeen, Everywhere, calls_of};
use crate::analysis::derived::Memo;
use crate::analysis::expression::When;
use crate::ingest::find;
use crate::ingest::{OpenError, Target};
use crate::listing::groups::{CallGroups, MOST_CALLS};
use crate::model::found::FoundSession;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;
use crate::render::wrap;
use crate::report::listing::{ListingForm, write_csv, write_json, write_text};
use crate::report::outcome::{ReportError, ReportOutcome};
use crate::report::reading::{self, on_one_line};
use crate::report::rows::Paper;

/// Kinds of failures that the table has.
const SHOWN: usize = 12;

/// The calls of a session, and the argument that opens it.
struct SessionCalls {
    /// What its files have in common.
    session: Text,
    address: String,
    calls: Vec<CallSeen>,
}

/// Sums up the calls of all sessions and writes the rows.
pub(crate) fn write(
    options: &SumsOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let since = When::option(options.since, now);
    let by = options.by.unwrap_or(By::Tool);
    let mut everywhere = Everywhere::default();
    let read = |target: &Target, found: FoundSession, say: &mut dyn FnMut(SessionCalls) -> bool| {
        read(target, &found, by, now, say)
    };
    let which = (since, WhichFiles::All);
    let missed = each_result(&options.search, which, now, read, |seen| {
        everywhere.add((&seen.session, &seen.address), seen.calls);
        true
    });
    everywhere.sort();
    let groups = CallGroups {
        by,
        everywhere: &everywhere,
    };
    let keys: Vec<Name> = everywhere.groups.keys().cloned().collect();
    let keys = MOST_CALLS.sort(&groups, keys);
    match options.form {
        ListingForm::Json => write_json(&groups, &keys, "tv.tools/1", &[], out)?,
        ListingForm::Csv => write_csv(&groups, &keys, &[], true, out)?,
        ListingForm::Text if keys.is_empty() => writeln!(out, "no tool was called")?,
        ListingForm::Text => {
            write_text(&groups, &keys, None, options.paper, out)?;
            write_failures(&everywhere, options.paper, out)?;
        }
    }
    Ok(ReportOutcome::of_many(
        missed,
        options.strict,
        ReportOutcome::Complete,
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
    Ok(ReadToEnd::of(&reading))
}

fn write_failures(everywhere: &Everywhere, paper: Paper, out: &mut dyn Write) -> io::Result<()> {
    let failures = everywhere.all.failures();
    if failures.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nfailures")?;
    for same in failures.iter().take(SHOWN) {
        let tools: Vec<&str> = same.tools.iter().map(Text::as_str).take(3).collect();
        let words = format!(
            "{:>5}  {}: {}",
            same.count,
            tools.join(", "),
            on_one_line(&same.signature)
        );
        let spans = wrap::fit(
            &[Span::raw(words)],
            usize::from(paper.width),
            paper.glyphs().cut,
        );
        writeln!(out, "{}", paper.bare_line(&spans))?;
        // What is cut opens nothing.
        writeln!(out, "       tv '{}'", same.example)?;
    }
    match failures.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => writeln!(out, "       and {more} more kinds"),
    }
}
