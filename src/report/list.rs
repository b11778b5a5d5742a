//! `tv list`: the sessions that are found, newest first, as a table or as JSON with one object per
//! line. Schema `tv.list/1`, only ever added to.
//!
//! Invariant: a row is written as soon as its session is found, so widths of columns depend on the
//! paper, not on the rows.

use std::io::{self, Write};

use ratatui::text::Span;
use serde::Serialize;

use super::json;
use super::outcome::{ReportError, ReportOutcome};
use super::reading::shown;
use super::rows::Paper;
use crate::analysis::expression::When;
use crate::analysis::phrases;
use crate::ingest;
use crate::ingest::find::{self, DiscoveryQuery, Environment};
use crate::listing::sort::Value;
use crate::listing::table::{Column, Table, cell};
use crate::model::figures;
use crate::model::found::FoundSession;
use crate::model::timestamp::Timestamp;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Number of rows after which the output is flushed, so that the newest sessions appear at once.
const FLUSHED: usize = 16;
/// Width of the gap between columns.
const GAP: usize = 2;

/// Options of `tv list`.
pub struct ListOptions {
    /// Where to search for sessions.
    pub search: DiscoveryQuery,
    /// Whether to write how a session is opened.
    pub hint: bool,
    /// Only sessions that were last written to at or after this time.
    pub since: Option<When>,
    /// Only sessions that were last written to before this time.
    pub until: Option<When>,
    /// Maximum number of sessions.
    pub limit: Option<usize>,
    /// One JSON object per line instead of a table.
    pub json: bool,
    /// Whether unreadable sessions count as a failure.
    pub strict: bool,
    pub paper: Paper,
}

#[derive(Serialize)]
struct SessionJson<'a> {
    schema: &'static str,
    path: String,
    session: Option<&'a str>,
    format: Option<&'static str>,
    agent: Option<&'a str>,
    id: Option<&'a str>,
    key: Option<&'a str>,
    title: Option<&'a str>,
    cwd: Option<&'a str>,
    project: Option<&'a str>,
    model: Option<&'a str>,
    started: Option<String>,
    modified: Option<String>,
    size_bytes: Option<u64>,
    live: Option<bool>,
    unreadable: Option<&'a str>,
}

/// Writes the sessions that are found.
pub fn write(
    options: &ListOptions,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<ReportOutcome, ReportError> {
    let mut failures = Vec::new();
    let mut has_unread = false;
    let table = FoundTable::new(options, now);
    let mut listed = 0;
    let since = When::option(options.since, now);
    let until = When::option(options.until, now);
    let mut sessions = find::sessions(&options.search, now);
    while options.limit.is_none_or(|limit| listed < limit) {
        match sessions.next() {
            None => break,
            Some(Err(failure)) => failures.push(failure),
            // Sessions come newest first.
            Some(Ok(found)) if is_before(&found, since) => break,
            Some(Ok(found)) if until.is_some() && !is_before(&found, until) => {}
            Some(Ok(found)) => {
                has_unread |= found.unreadable.is_some();
                if options.json {
                    write_json(&found, out)?;
                } else {
                    writeln!(out, "{}", table.line(found))?;
                }
                listed += 1;
                if listed % FLUSHED == 0 {
                    out.flush()?;
                }
            }
        }
    }
    if options.hint && listed > 0 && !options.json {
        let path = options
            .search
            .targets
            .first()
            .map(|target| shown(&target.path))
            .unwrap_or_default();
        writeln!(
            out,
            "\n{}; open one with: tv '{path}#ID'",
            figures::count(listed as u64, "session")
        )?;
    }
    if listed == 0 && failures.is_empty() && !options.json {
        writeln!(out, "no sessions")?;
    }
    if options.strict && has_unread && failures.is_empty() {
        // The row of an unreadable session has the error.
        return Ok(ReportOutcome::Failed(Vec::new()));
    }
    Ok(ReportOutcome::of(failures))
}

/// Whether a session was last written to before a time. False if its time is unknown.
fn is_before(found: &FoundSession, then: Option<Timestamp>) -> bool {
    found.modified.zip(then).is_some_and(|(at, then)| at < then)
}

fn write_json(found: &FoundSession, out: &mut dyn Write) -> Result<(), ReportError> {
    let is_session = found.unreadable.is_none();
    let agent = found.agent.as_deref().filter(|_| is_session);
    let of_place =
        Some(found.format).filter(|format| !is_session && ingest::names_an_agent(format));
    let modified = found.modified.filter(|_| is_session);
    let line = SessionJson {
        schema: "tv.list/1",
        path: found.path.to_string_lossy().into_owned(),
        session: found.session.as_deref(),
        format: is_session.then_some(found.format),
        agent: agent.or(of_place),
        id: is_session.then_some(found.id.as_str()),
        key: found.key.as_deref(),
        title: found.title.as_deref(),
        cwd: found.cwd.as_deref(),
        project: found.project.as_deref(),
        model: found.model.as_deref(),
        started: found.started.map(Timestamp::to_rfc3339),
        modified: modified.map(Timestamp::to_rfc3339),
        size_bytes: found.size,
        live: found.live,
        unreadable: found.unreadable.as_deref(),
    };
    json::write_line(out, &line).map_err(io::Error::into)
}

/// The table of sessions. For an unreadable session all columns but age, format and name are
/// replaced by the reason and the path.
struct FoundTable<'a> {
    environment: &'a Environment,
    paper: Paper,
    now: Timestamp,
    theme: Theme,
    sessions: Table<ListRow>,
    faults: Table<ListRow>,
}

/// A session with its age and its folder as text.
struct ListRow {
    found: FoundSession,
    age: String,
    folder: String,
}

type FoundColumn = Column<ListRow>;

impl<'a> FoundTable<'a> {
    /// Narrow pages have fewer columns. The id stays longest, because it opens the session.
    fn new(options: &'a ListOptions, now: Timestamp) -> Self {
        let width = usize::from(options.paper.width);
        let [format, id, cwd, model] = match width {
            0..60 => [0, 8, 0, 0],
            60..90 => [11, 13, 0, 0],
            90..130 => [11, 13, 20, 0],
            _ => [11, 18, 28, 20],
        };
        let age = || {
            FoundColumn::figures("", 4, 8)
                .value(|row| Value::line(&row.age))
                .dim()
        };
        let format = || {
            FoundColumn::words("", format, 4)
                .value(|row| Value::line(&row.found.agent_name()))
                .style(|_, look| look.theme.accent)
        };
        let id = || FoundColumn::words("", id, 9).value(|row| Value::line(&row.found.id));
        let sessions = vec![
            age(),
            format(),
            FoundColumn::rest("", 8)
                .value(|row| Value::line(row.found.title.as_deref().unwrap_or("(no title)"))),
            FoundColumn::words("", cwd, 3).cell(|row, look| {
                let cut = look.theme.glyphs().cut;
                cell(wrap::fit_path(&row.folder, look.width, cut), look.theme.dim)
            }),
            FoundColumn::words("", model, 2)
                .value(|row| Value::text(row.found.model.as_deref().map(phrases::model)))
                .dim(),
            FoundColumn::figures("", 7, 5)
                .value(|row| Value::bytes(row.found.size))
                .dim(),
            id(),
        ];
        let faults = vec![
            age(),
            format(),
            FoundColumn::rest("", 8)
                .value(|row| {
                    let fault = row.found.fault().unwrap_or_default();
                    Value::line(&format!("{fault} ({})", row.folder))
                })
                .style(|_, look| look.theme.bad),
            id(),
        ];
        // The sign in front of a row and the gap after it.
        let width = width.saturating_sub(2);
        Self {
            environment: &options.search.environment,
            paper: options.paper,
            now,
            theme: options.paper.theme(),
            sessions: Table::new(sessions, width, GAP),
            faults: Table::new(faults, width, GAP),
        }
    }

    fn line(&self, found: FoundSession) -> String {
        let is_fault = found.fault().is_some();
        let is_live = found.live == Some(true) && !is_fault;
        let sign = match (is_live, self.paper.ascii) {
            (true, true) => "*",
            (true, false) => "●",
            (false, _) => " ",
        };
        let project = found.project.as_ref().or(found.cwd.as_ref());
        let folder = if is_fault {
            Some(found.path.as_path())
        } else {
            project.map(|folder| folder.as_str().as_ref())
        };
        let folder = folder.map(|folder| self.environment.shortened(folder));
        let row = ListRow {
            age: found
                .modified
                .map(|at| figures::age(self.now.since(at)))
                .unwrap_or_default(),
            folder: folder.unwrap_or_default(),
            found,
        };
        let table = if is_fault {
            &self.faults
        } else {
            &self.sessions
        };
        let mut spans = vec![Span::styled(sign, self.theme.good), Span::raw(" ")];
        spans.extend(table.row(&row, &self.theme, false).spans);
        self.paper.bare_line(&spans)
    }
}

#[cfg(test)]
mod tests;
