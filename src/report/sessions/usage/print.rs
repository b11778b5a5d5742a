//! The sums as a table, as CSV, or as JSON.
//!
//! Invariant: all three have the same rows in the same order; the table has the sum of all besides.

use std::io::{self, Write};

use serde::Serialize;

use super::options::{Form, Options};
use crate::analysis::ledger::cells::{self, Manner};
use crate::analysis::ledger::{By, Group, Ledger, Row};
use crate::model::figures::exact;
use crate::model::timestamp::Timestamp;
use crate::render::wrap;
use crate::report::json;
use crate::report::outcome::Missed;
use crate::report::spent::{CostFigures, UsageFigures};

/// Columns of the id of a session.
const ID: usize = 13;

/// A row as JSON.
#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    period: Option<&'a str>,
    agent: Option<&'a str>,
    project: Option<&'a str>,
    model: Option<&'a str>,
    session: Option<&'a str>,
    title: Option<&'a str>,
    sessions: usize,
    requests: u64,
    usage: UsageFigures<i64>,
    cost: CostFigures,
}

/// Writes all rows.
pub(super) fn write(
    ledger: &Ledger,
    options: &Options,
    missed: &Missed,
    now: Timestamp,
    out: &mut dyn Write,
) -> io::Result<()> {
    if options.limits {
        return write_limits(ledger, options, missed, now, out);
    }
    let (rows, total) = ledger.rows(&options.by, &[]);
    match options.form {
        Form::Json => rows
            .iter()
            .try_for_each(|row| json::write_line(out, &line(row))),
        Form::Csv => write_csv(&rows, out),
        Form::Table => {
            if rows.is_empty() && !missed.is_empty() {
                return writeln!(out, "{}", missed.words());
            }
            write_table(&rows, &total, options, out)?;
            if ledger.copies() > 0 {
                let copies = exact(ledger.copies());
                writeln!(
                    out,
                    "\nrequests that stand in another session, too, and are counted there: {copies}"
                )?;
            }
            let mut limits = ledger.limits().peekable();
            if limits.peek().is_some() {
                writeln!(out)?;
            }
            limits
                .try_for_each(|(agent, limit)| writeln!(out, "{}", cells::limit(agent, limit, now)))
        }
    }
}

/// What is used up of a limit, as JSON.
#[derive(Serialize)]
struct LimitLine {
    schema: &'static str,
    agent: &'static str,
    minutes: u64,
    used_percent: f64,
    resets: Option<String>,
    recorded: Option<String>,
}

fn write_limits(
    ledger: &Ledger,
    options: &Options,
    missed: &Missed,
    now: Timestamp,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut is_recorded = false;
    for (agent, limit) in ledger.limits() {
        is_recorded = true;
        if options.form == Form::Table {
            writeln!(out, "{}", cells::limit(agent, limit, now))?;
            continue;
        }
        let line = LimitLine {
            schema: "tv.limits/1",
            agent,
            minutes: limit.minutes,
            used_percent: limit.used,
            resets: limit.resets.map(Timestamp::to_rfc3339),
            recorded: limit.recorded.map(Timestamp::to_rfc3339),
        };
        json::write_line(out, &line)?;
    }
    if !is_recorded && options.form == Form::Table {
        let words = if missed.is_empty() {
            "no session tells of limits".to_owned()
        } else {
            missed.words()
        };
        writeln!(out, "{words}")?;
    }
    Ok(())
}

fn line(row: &Row) -> Line<'_> {
    let Group {
        period,
        agent,
        project,
        model,
        session,
    } = &row.group;
    let is_known = |name: &&str| !name.is_empty();
    Line {
        schema: "tv.usage/1",
        period: period.as_deref(),
        agent: *agent,
        project: project.as_deref().filter(is_known),
        model: model.as_deref().filter(is_known),
        session: session.as_ref().map(|(id, _)| id.as_str()),
        title: session.as_ref().and_then(|(_, title)| title.as_deref()),
        sessions: row.sessions(),
        requests: row.amount.requests,
        usage: (&row.amount).into(),
        cost: (&row.cost()).into(),
    }
}

/// Names are cut to one line: a title may have several.
fn write_csv(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "period",
        "agent",
        "project",
        "model",
        "session",
        "title",
        "sessions",
        "requests",
        "input",
        "output",
        "cache_read",
        "cache_write",
        "reasoning",
        "usd",
        "cost_source",
    ])?;
    for row in rows {
        let line = line(row);
        let names = [
            line.period,
            line.agent,
            line.project,
            line.model,
            line.session,
            line.title,
        ];
        let names = names.map(|name| {
            name.unwrap_or_default()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        });
        let UsageFigures {
            input,
            output,
            cache_read,
            cache_write,
            reasoning,
            ..
        } = line.usage;
        let tokens = [input, output, cache_read, cache_write, reasoning];
        let tokens = tokens.map(|count| count.map(|count| count.to_string()).unwrap_or_default());
        let counts = [line.sessions.to_string(), line.requests.to_string()]
            .into_iter()
            .chain(tokens);
        let usd = line.cost.usd.map(|usd| usd.to_string()).unwrap_or_default();
        csv.write_record(
            names
                .into_iter()
                .chain(counts)
                .chain([usd, line.cost.source.to_owned()]),
        )?;
    }
    csv.flush()
}

/// Each name has so many columns before figures are rounded.
const NARROW: usize = 14;
/// What stands between columns.
const GAP: usize = 2;

fn write_table(
    rows: &[Row],
    total: &Row,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "nothing was spent");
    }
    let room = usize::from(options.width);
    let wanted: usize = names_of(rows, options)
        .iter()
        .map(|(width, _)| width + GAP)
        .sum();
    let fits = |figures: &Vec<Vec<String>>| {
        let taken: usize = widths(figures).iter().map(|width| width + GAP).sum();
        room.saturating_sub(taken.saturating_sub(GAP))
            >= wanted.min((NARROW + GAP) * options.by.len())
    };
    // Rather than that nobody can read whose they are, figures are rounded, and counts left out.
    let figures = |manner: Manner| {
        let cells = rows.iter().chain([total]).map(|row| row.figures(manner));
        std::iter::once(manner.heads())
            .chain(cells)
            .collect::<Vec<_>>()
    };
    let [.., fewest] = Manner::all(&options.by);
    let tried = Manner::all(&options.by).into_iter().map(figures).find(fits);
    let figures = tried.unwrap_or_else(|| figures(fewest));
    let of_figures = widths(&figures);
    let taken: usize = of_figures.iter().map(|width| width + GAP).sum();
    let names = fitted(
        names_of(rows, options),
        room.saturating_sub(taken.saturating_sub(GAP)),
        options,
    );
    let of_names = widths(&names);
    let last = figures.len() - 1;
    for (number, (names, figures)) in names.iter().zip(&figures).enumerate() {
        if number == last {
            let line = if options.ascii { "-" } else { "─" };
            let all: usize = of_names
                .iter()
                .chain(&of_figures)
                .map(|width| width + GAP)
                .sum();
            writeln!(out, "{}", line.repeat(all - GAP))?;
        }
        let gap = |cell: &str, width: usize| " ".repeat(width.saturating_sub(wrap::width(cell)));
        let names = names
            .iter()
            .zip(&of_names)
            .map(|(cell, width)| format!("{cell}{}", gap(cell, *width)));
        let figures = figures
            .iter()
            .zip(&of_figures)
            .map(|(cell, width)| format!("{}{cell}", gap(cell, *width)));
        let line: Vec<String> = names.chain(figures).collect();
        writeln!(out, "{}", line.join(&" ".repeat(GAP)).trim_end())?;
    }
    Ok(())
}

/// The width of each column.
fn widths(table: &[Vec<String>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for cells in table {
        widths.resize(cells.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = wrap::width(cell).max(*width);
        }
    }
    widths
}

/// The names by column, each with its width: that of the head, those of all rows, and what stands before the sum.
fn names_of(rows: &[Row], options: &Options) -> Vec<(usize, Vec<String>)> {
    let column = |(place, by): (usize, &By)| {
        let sum = if place == 0 { "total" } else { "" };
        let names = rows.iter().map(|row| name(*by, &row.group, options));
        let cells: Vec<String> = std::iter::once(by.word().to_owned())
            .chain(names)
            .chain([sum.to_owned()])
            .collect();
        (
            cells
                .iter()
                .map(|cell| wrap::width(cell))
                .max()
                .unwrap_or(0),
            cells,
        )
    };
    options.by.iter().enumerate().map(column).collect()
}

/// The names by row, cut so that they fit: the widest column gives first.
fn fitted(
    mut columns: Vec<(usize, Vec<String>)>,
    room: usize,
    options: &Options,
) -> Vec<Vec<String>> {
    /// No column is narrower, whatever the terminal.
    const LEAST: usize = 4;
    while columns.iter().map(|(width, _)| width + GAP).sum::<usize>() > room {
        match columns.iter_mut().max_by_key(|(width, _)| *width) {
            Some((width, _)) if *width > LEAST => *width -= 1,
            _ => break,
        }
    }
    let cut = if options.ascii { "~" } else { "…" };
    let count = columns.first().map_or(0, |(_, cells)| cells.len());
    let cell = |(by, (width, cells)): (&By, &(usize, Vec<String>)), row: usize| {
        let cell = cells.get(row).map(String::as_str).unwrap_or_default();
        if *by == By::Project {
            wrap::fit_path(cell, *width, cut)
        } else {
            fit(cell, *width, cut)
        }
    };
    (0..count)
        .map(|row| {
            options
                .by
                .iter()
                .zip(&columns)
                .map(|column| cell(column, row))
                .collect()
        })
        .collect()
}

fn fit(text: &str, width: usize, cut: &'static str) -> String {
    let spans = wrap::fit(&[text.to_owned().into()], width, cut);
    spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect::<String>()
        .trim_end()
        .to_owned()
}

fn name(by: By, group: &Group, options: &Options) -> String {
    match by {
        By::Project => options
            .search
            .environment
            .shortened(group.name(by).as_ref()),
        By::Session => {
            let id = fit(&group.name(by), ID, if options.ascii { "~" } else { "…" });
            format!("{id:<ID$}  {}", group.title())
                .trim_end()
                .to_owned()
        }
        _ => group.name(by),
    }
}
