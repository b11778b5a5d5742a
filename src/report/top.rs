//! `tv top`: the state of the sessions of the last hours, as a table, or as JSON with one object
//! per line (schema `tv.top/1`, only ever added to): once, or for every change until the output is
//! closed.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::RecvTimeoutError;
use itertools::Itertools as _;
use serde::Serialize;

use super::follow::interrupts;
use super::json;
use super::listing::write_text;
use super::outcome::{Missed, ReportError, ReportOutcome};
use super::reading::shown;
use super::rows::Paper;
use super::spent::CostFigures;
use crate::analysis::activity::Wish;
use crate::analysis::phrases;
use crate::analysis::wall::{NEEDS, Need, News, SessionRow};
use crate::fleet::{self, Fleet};
use crate::ingest::find::DiscoveryQuery;
use crate::ingest::{OpenError, WatchMode};
use crate::listing::sessions::{SessionList, SessionRowKey};
use crate::model::figures;
use crate::model::found::Target;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;

/// Interval at which an interrupt is checked.
const PATIENCE: Duration = Duration::from_millis(100);

/// Options of `tv top`.
pub struct TopOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// Only sessions that were written to in the last `recent_ms` ms.
    pub recent_ms: u64,
    /// How changes of files are detected.
    pub watch: WatchMode,
    pub form: TopForm,
    pub paper: Paper,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopForm {
    Table,
    /// An object per session, once.
    Json,
    /// An object per change.
    Stream,
}

/// A session as JSON.
#[derive(Serialize)]
struct TopLine<'a> {
    schema: &'static str,
    path: Text,
    /// The session's name in its database.
    name: Option<&'a str>,
    format: &'static str,
    session: TopFigures<'a>,
    needs: Option<&'static str>,
    since: Option<String>,
    call: Option<CallFigures<'a>>,
    context: Option<ContextFigures>,
    cost: Option<CostFigures>,
    cost_last_hour: Option<CostFigures>,
    flags: Vec<&'static str>,
    errors: u32,
    last: Option<String>,
    problem: Option<&'a str>,
    complete: bool,
}

/// Facts about a session, with the field names of `tv.stats/2`.
#[derive(Serialize)]
struct TopFigures<'a> {
    id: Option<&'a str>,
    title: Option<&'a str>,
    agent: Option<&'a str>,
    cwd: Option<&'a str>,
    models: Vec<&'a str>,
    started: Option<String>,
    ended: Option<String>,
    state: &'static str,
    waiting_for: Option<&'static str>,
    agents_at_work: usize,
    running: usize,
}

#[derive(Serialize)]
struct CallFigures<'a> {
    name: &'a str,
    headline: &'a str,
    since: Option<String>,
}

#[derive(Serialize)]
struct ContextFigures {
    tokens: u64,
    window: Option<u64>,
}

/// A session that is no longer listed.
#[derive(Serialize)]
struct Departure<'a> {
    schema: &'static str,
    path: Text,
    name: Option<&'a str>,
    left: bool,
}

const SCHEMA: &str = "tv.top/1";

/// The sessions as last reported.
#[derive(Default)]
struct ReportedSessions {
    rows: HashMap<Target, SessionRow>,
    missed: Missed,
    /// Number of further sessions.
    more: usize,
}

/// Writes the state of the sessions.
pub fn write(
    options: &TopOptions,
    now: fn() -> Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let stop = interrupts()?;
    let fleet = Fleet::start(fleet::FleetOptions {
        search: options.search.clone(),
        recent_ms: options.recent_ms,
        most: fleet::MOST,
        watch: options.watch,
        alarms: Vec::new(),
        clock: now,
    });
    let mut known = ReportedSessions::default();
    while !stop.load(Ordering::Relaxed) {
        let news = match fleet.news.recv_timeout(PATIENCE) {
            Ok(news) => news,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let is_stream = options.form == TopForm::Stream;
        match news {
            News::Row(row) if is_stream => write_line(&line(&row), out)?,
            News::Removed(place) if is_stream => write_line(&departure(&place), out)?,
            News::Row(row) => drop(known.rows.insert(row.place.clone(), *row)),
            News::Removed(place) => drop(known.rows.remove(&place)),
            News::Refused(all) => {
                known.missed.refused = all.iter().map(|why| OpenError(why.to_string())).collect();
            }
            News::Unreadable(all) => known.missed.unreadable = all,
            News::More(count) => known.more = count,
            News::Complete if is_stream => {}
            News::Complete => return end(options, known, now(), out),
            News::AlarmFired(_) => {}
        }
    }
    let (otherwise, refused) = if stop.load(Ordering::Relaxed) {
        (
            ReportOutcome::Interrupted,
            std::mem::take(&mut known.missed.refused),
        )
    } else {
        (ReportOutcome::Complete, Vec::new())
    };
    let saying = |outcome, OpenError(why)| ReportOutcome::Saying(why, Box::new(outcome));
    let otherwise = refused.into_iter().rev().fold(otherwise, saying);
    let is_strict = options.strict && otherwise == ReportOutcome::Complete;
    Ok(ReportOutcome::of_many(known.missed, is_strict, otherwise))
}

fn write_line(line: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    json::write_line(out, line)?;
    out.flush()
}

fn end(
    options: &TopOptions,
    known: ReportedSessions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let ReportedSessions { rows, missed, more } = known;
    let mut all: Vec<&SessionRow> = rows.values().collect();
    all.sort_by(|one, other| one.cmp_by_need(other));
    if options.form == TopForm::Json {
        for row in all {
            json::write_line(out, &line(row))?;
        }
    } else {
        match rows.is_empty() {
            true if !missed.is_empty() => writeln!(out, "{}", missed.words())?,
            true => {
                let span = figures::span(options.recent_ms);
                writeln!(out, "no session was written to in the last {span}")?;
            }
            false => {
                let list = SessionList { rows: &rows, now };
                let keys = all
                    .iter()
                    .map(|row| SessionRowKey::Session(row.place.clone()));
                let keys: Vec<SessionRowKey> = keys.collect();
                write_text(&list, &keys, None, options.paper, out)?;
                writeln!(out)?;
                if all.iter().any(|row| row.need <= Need::Undelivered) {
                    writeln!(out, "! {NEEDS}")?;
                }
                writeln!(out, "{}", sum(&all, more))?;
            }
        }
    }
    let otherwise = match more {
        0 => ReportOutcome::Complete,
        more => ReportOutcome::Saying(
            format!(
                "{} not shown: a shorter --since, or names, say which are wanted",
                figures::count(more as u64, "older session")
            ),
            Box::new(ReportOutcome::Complete),
        ),
    };
    Ok(ReportOutcome::of_many(missed, options.strict, otherwise))
}

// === JSON ===

fn departure(place: &Target) -> Departure<'_> {
    Departure {
        schema: SCHEMA,
        path: shown(&place.path),
        name: place.session.as_deref(),
        left: true,
    }
}

fn line(row: &SessionRow) -> TopLine<'_> {
    let head = &row.head;
    let flags = [
        (row.flags.is_loop, "loop"),
        (row.flags.is_silent, "silent"),
        (row.flags.errors > 0, "errors"),
    ];
    TopLine {
        schema: SCHEMA,
        path: shown(&row.place.path),
        name: row.place.session.as_deref(),
        format: head.format,
        session: TopFigures {
            id: head.id.as_deref(),
            title: head.title.as_deref(),
            agent: head.agent.as_deref(),
            cwd: head.cwd.as_deref(),
            models: head.models.iter().map(Text::as_str).collect(),
            started: head.started.map(Timestamp::to_rfc3339),
            ended: head.ended.map(Timestamp::to_rfc3339),
            state: row.activity.word(),
            waiting_for: row.activity.wish().map(Wish::word),
            agents_at_work: row.activity.agents(),
            running: row.flags.running,
        },
        needs: row.need.word(),
        since: row.since().map(Timestamp::to_rfc3339),
        call: row.call.as_ref().map(|call| CallFigures {
            name: &call.name,
            headline: &call.headline,
            since: call.since.map(Timestamp::to_rfc3339),
        }),
        context: row.context.map(|context| ContextFigures {
            tokens: context.tokens,
            window: context.window,
        }),
        cost: row.cost.as_ref().map(CostFigures::from),
        cost_last_hour: row.hour.as_ref().map(CostFigures::from),
        flags: flags
            .into_iter()
            .filter(|(is_set, _)| *is_set)
            .map(|(_, flag)| flag)
            .collect(),
        errors: row.flags.errors,
        last: row.last_words(),
        problem: row.problem.as_deref(),
        complete: row.is_complete,
    }
}

/// `12 sessions, 3 need somebody, 4 at work, rows add up to ~$12.40`. The rows may count copies of
/// requests twice, which only the ledger can tell.
fn sum(rows: &[&SessionRow], more: usize) -> String {
    let needing = rows.iter().filter(|row| row.need.needs_user()).count();
    let working = rows.iter().filter(|row| row.activity.is_work()).count();
    let cost = SessionRow::sum(rows.iter().copied())
        .as_ref()
        .and_then(phrases::cost);
    let cost = cost.map(|cost| format!("rows add up to {cost}"));
    let parts = [
        Some(phrases::sessions(rows.len() as u64, more)),
        (needing > 0).then(|| phrases::needing(needing as u64, "somebody")),
        (working > 0).then(|| format!("{working} at work")),
        cost,
    ];
    parts.into_iter().flatten().join(", ")
}
