//! `tv list`: the sessions that are there, newest first, as a table for people or as JSON an object a
//! line. Schema `tv.list/1`, only ever added to.
//!
//! Invariant: a row is written as soon as it is known, so columns have their widths from the paper, not
//! from the rows.

use std::io::{self, Write};

use ratatui::style::{Color, Style};
use ratatui::text::Span;
use serde::Serialize;

use super::json;
use super::outcome::{Outcome, ReportError};
use super::reading::shown;
use super::rows::Paper;
use crate::ingest;
use crate::ingest::find::{self, Environment, Search};
use crate::model::figures;
use crate::model::found::Found;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;

/// After so many rows what was written is handed on: readers see the newest at once.
const FLUSHED: usize = 16;
/// What stands between columns.
const GAP: usize = 2;

/// What to list, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Where to look.
    pub search: Search,
    /// Whether to say how one of them is opened.
    pub hint: bool,
    /// At most so many.
    pub limit: Option<usize>,
    /// One JSON object a line instead of a table.
    pub json: bool,
    /// Whether it is a failure that something cannot be read.
    pub strict: bool,
    /// Columns and colours.
    pub paper: Paper,
}

/// A session as JSON.
#[derive(Serialize)]
struct Line<'a> {
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
    options: &Options,
    now: Timestamp,
    out: &mut dyn Write,
) -> Result<Outcome, ReportError> {
    let mut failures = Vec::new();
    let mut has_unread = false;
    let table = Table::new(options, now);
    let mut listed = 0;
    let mut sessions = find::sessions(&options.search, now);
    while options.limit.is_none_or(|limit| listed < limit) {
        match sessions.next() {
            None => break,
            Some(Err(failure)) => failures.push(failure),
            Some(Ok(found)) => {
                has_unread |= found.unreadable.is_some();
                if options.json {
                    write_json(&found, out)?;
                } else {
                    writeln!(out, "{}", table.line(&found))?;
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
            .paths
            .first()
            .map(|path| shown(path))
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
        // Its row says what is wrong.
        return Ok(Outcome::Failed(Vec::new()));
    }
    Ok(Outcome::of(failures))
}

fn write_json(found: &Found, out: &mut dyn Write) -> Result<(), ReportError> {
    let is_session = found.unreadable.is_none();
    let agent = found.agent.as_deref().filter(|_| is_session);
    let of_place =
        Some(found.format).filter(|format| !is_session && ingest::names_an_agent(format));
    let modified = found.modified.filter(|_| is_session);
    let line = Line {
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

/// Columns of the table, in the order of the page. The title has what the others leave.
struct Table<'a> {
    environment: &'a Environment,
    paper: Paper,
    now: Timestamp,
    title: usize,
    format: usize,
    id: usize,
    cwd: usize,
    model: usize,
}

const AGE: usize = 10;
const SIZE: usize = 7;

impl<'a> Table<'a> {
    /// Narrow pages have fewer columns; what opens a session, its id, stays longest.
    fn new(options: &'a Options, now: Timestamp) -> Self {
        let width = usize::from(options.paper.width);
        let [format, id, cwd, model] = match width {
            0..60 => [0, 8, 0, 0],
            60..90 => [11, 13, 0, 0],
            90..130 => [11, 13, 20, 0],
            _ => [11, 18, 28, 20],
        };
        let columns = [AGE, SIZE, format, id, cwd, model];
        let taken: usize = columns
            .iter()
            .filter(|column| **column > 0)
            .map(|column| column + GAP)
            .sum();
        // The dot in front and the gap behind it.
        let title = width.saturating_sub(taken + 2).max(8);
        Self {
            environment: &options.search.environment,
            paper: options.paper,
            now,
            title,
            format,
            id,
            cwd,
            model,
        }
    }

    fn line(&self, found: &Found) -> String {
        if let Some(fault) = found.fault() {
            return self.line_of_fault(found, &fault);
        }
        let dot = if found.live == Some(true) {
            if self.paper.ascii { "*" } else { "●" }
        } else {
            " "
        };
        let size = found.size.map(figures::bytes).unwrap_or_default();
        let dim = Style::new().fg(Color::DarkGray);
        let project = found.project.as_ref().or(found.cwd.as_ref());
        let cwd = project.map(|folder| self.environment.shortened(folder.as_str().as_ref()));
        let title = found.title.as_deref().unwrap_or("(no title)");
        let age = |at: Timestamp| match found.live {
            Some(true) => figures::age(self.now.since(at)),
            Some(false) | None => at.day_or_minute(self.now),
        };
        let age = found.modified.map(age).unwrap_or_default();
        let cells = [
            (format!("{age:>AGE$}"), dim),
            (
                self.fit(found.format, self.format),
                Style::new().fg(Color::Cyan),
            ),
            (self.fit(title, self.title), Style::new()),
            (self.fit_path(&cwd.unwrap_or_default(), self.cwd), dim),
            (
                self.fit(found.model.as_deref().unwrap_or_default(), self.model),
                dim,
            ),
            (format!("{size:>SIZE$}"), dim),
            (self.fit(&found.id, self.id), Style::new()),
        ];
        self.line_of(dot, cells)
    }

    /// Of what cannot be read it is said why and where it lies, in all columns but those of its age, format and name.
    fn line_of_fault(&self, found: &Found, fault: &str) -> String {
        let others = [self.cwd, self.model, SIZE]
            .into_iter()
            .filter(|column| *column > 0);
        let width = self.title + others.map(|column| column + GAP).sum::<usize>();
        let words = format!("{fault} ({})", self.environment.shortened(&found.path));
        let age = found
            .modified
            .map(|at| at.day_or_minute(self.now))
            .unwrap_or_default();
        let dim = Style::new().fg(Color::DarkGray);
        let cells = [
            (format!("{age:>AGE$}"), dim),
            (
                self.fit(found.format, self.format),
                Style::new().fg(Color::Cyan),
            ),
            (self.fit(&words, width), Style::new().fg(Color::Red)),
            (self.fit(&found.id, self.id), Style::new()),
        ];
        self.line_of(" ", cells)
    }

    fn line_of(
        &self,
        dot: &'static str,
        cells: impl IntoIterator<Item = (String, Style)>,
    ) -> String {
        let mut spans = vec![Span::styled(dot, Style::new().fg(Color::Green))];
        for (at, (cell, style)) in cells
            .into_iter()
            .filter(|(cell, _)| !cell.is_empty())
            .enumerate()
        {
            spans.push(Span::raw(if at == 0 { " " } else { "  " }));
            spans.push(Span::styled(cell, style));
        }
        self.paper.bare_line(&spans)
    }

    /// A text in a column of this width: its beginning, and blanks.
    fn fit(&self, text: &str, width: usize) -> String {
        let spans = wrap::fit(&[Span::raw(one_line(text))], width, self.cut());
        let mut cell: String = spans.iter().map(|span| span.content.as_ref()).collect();
        cell.push_str(&" ".repeat(width.saturating_sub(wrap::width(&cell))));
        cell
    }

    /// A path in a column: its end says most.
    fn fit_path(&self, path: &str, width: usize) -> String {
        self.fit(&wrap::fit_path(path, width, self.cut()), width)
    }

    fn cut(&self) -> &'static str {
        if self.paper.ascii { "~" } else { "…" }
    }
}

/// Titles of several lines stand on one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
