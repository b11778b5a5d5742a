//! The sums as a table, as CSV, or as JSON.
//!
//! Invariant: all three have the same rows in the same order; the table has the sum of all besides.

use std::io::{self, Write};

use serde::Serialize;

use super::ledger::{Group, Ledger, Row};
use super::options::{By, Form, Options};
use crate::analysis::phrases;
use crate::model::figures::exact;
use crate::render::wrap;
use crate::report::json;
use crate::report::spent::{CostFigures, UsageFigures};

/// Columns of a project and of a title at most.
const WIDEST: usize = 44;

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
pub(super) fn write(ledger: &Ledger, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let (rows, total) = ledger.rows();
    match options.form {
        Form::Json => rows.iter().try_for_each(|row| json::write_line(out, &line(row))),
        Form::Csv => write_csv(&rows, out),
        Form::Table => {
            write_table(&rows, &total, options, out)?;
            if ledger.copies() > 0 {
                let copies = exact(ledger.copies());
                writeln!(
                    out,
                    "\nrequests that stand in another session, too, and are counted there: {copies}"
                )?;
            }
            Ok(())
        }
    }
}

fn line(row: &Row) -> Line<'_> {
    let Group { period, agent, project, model, session } = &row.group;
    let is_known = |name: &&str| !name.is_empty();
    Line {
        schema: "tv.usage/1",
        period: period.as_deref(),
        agent: agent.as_deref(),
        project: project.as_deref().filter(is_known),
        model: model.as_deref().filter(is_known),
        session: session.as_ref().map(|(id, _)| id.as_str()),
        title: session.as_ref().and_then(|(_, title)| title.as_deref()),
        sessions: row.sessions,
        requests: row.amount.requests,
        usage: (&row.amount).into(),
        cost: (&row.cost()).into(),
    }
}

fn write_csv(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "period,agent,project,model,session,title,sessions,requests,input,output,cache_read,cache_write,reasoning,usd,cost_source"
    )?;
    for row in rows {
        let line = line(row);
        let names = [line.period, line.agent, line.project, line.model, line.session, line.title];
        let names = names.map(|name| quoted(name.unwrap_or_default()));
        let UsageFigures { input, output, cache_read, cache_write, reasoning, .. } = line.usage;
        let tokens = [input, output, cache_read, cache_write, reasoning];
        let tokens = tokens.map(|tokens| tokens.map(|n| n.to_string()).unwrap_or_default());
        let usd = line.cost.usd.map(|usd| usd.to_string()).unwrap_or_default();
        let counts = [line.sessions.to_string(), line.requests.to_string()];
        let cells = names.iter().chain(&counts).chain(&tokens);
        let cells: Vec<&str> = cells.map(String::as_str).chain([usd.as_str(), line.cost.source]).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    Ok(())
}

/// A cell as RFC 4180 has it, on one line.
fn quoted(cell: &str) -> String {
    let cell = cell.split_whitespace().collect::<Vec<_>>().join(" ");
    if cell.contains(['"', ',']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

fn write_table(rows: &[Row], total: &Row, options: &Options, out: &mut dyn Write) -> io::Result<()> {
    const FIGURES: [&str; 7] =
        ["sessions", "requests", "input", "output", "cache read", "cache write", "cost"];
    if rows.is_empty() {
        return writeln!(out, "nothing was spent");
    }
    let names = options.by.len();
    let mut table: Vec<Vec<String>> = Vec::new();
    table.push(options.by.iter().map(|by| by.word().to_owned()).chain(FIGURES.map(str::to_owned)).collect());
    for row in rows {
        let names = options.by.iter().map(|by| name(*by, &row.group, options));
        table.push(names.chain(figures(row)).collect());
    }
    let blank = std::iter::repeat_n(String::new(), names.saturating_sub(1));
    table.push(std::iter::once("total".to_owned()).chain(blank).chain(figures(total)).collect());
    let mut widths = vec![0; names + FIGURES.len()];
    for cells in &table {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = wrap::width(cell).max(*width);
        }
    }
    let last = table.len() - 1;
    for (number, cells) in table.iter().enumerate() {
        if number == last {
            let line = if options.ascii { "-" } else { "─" };
            writeln!(out, "{}", line.repeat(widths.iter().sum::<usize>() + 2 * (widths.len() - 1)))?;
        }
        let cells = cells.iter().zip(&widths).enumerate().map(|(place, (cell, width))| {
            let gap = " ".repeat(width.saturating_sub(wrap::width(cell)));
            if place < names { format!("{cell}{gap}") } else { format!("{gap}{cell}") }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn name(by: By, group: &Group, options: &Options) -> String {
    let cut = if options.ascii { "~" } else { "…" };
    let unknown = |text: Option<&String>| {
        text.filter(|text| !text.is_empty()).cloned().unwrap_or_else(|| "?".to_owned())
    };
    match by {
        _ if by.is_period() => unknown(group.period.as_ref()),
        By::Agent => unknown(group.agent.as_ref()),
        By::Model => unknown(group.model.as_ref()),
        By::Project => {
            let project = unknown(group.project.as_ref());
            wrap::fit_path(&options.search.environment.shortened(project.as_ref()), WIDEST, cut)
        }
        _ => {
            let (id, title) =
                group.session.as_ref().map_or(("?", None), |(id, title)| (id.as_str(), title.as_ref()));
            let title = title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
            let short: String = id.chars().take(13).collect();
            let name = format!("{short}  {}", title.unwrap_or_default());
            let spans = wrap::fit(&[name.into()], WIDEST, cut);
            spans.iter().map(|span| span.content.as_ref()).collect::<String>().trim_end().to_owned()
        }
    }
}

fn figures(row: &Row) -> [String; 7] {
    let usage = UsageFigures::<i64>::from(&row.amount);
    let tokens =
        |tokens: Option<i64>| tokens.map_or_else(|| "?".to_owned(), |n| exact(n.max(0).unsigned_abs()));
    let more = if usage.output_is_partial { "+" } else { "" };
    [
        exact(row.sessions as u64),
        exact(row.amount.requests),
        tokens(usage.input),
        format!("{}{more}", tokens(usage.output)),
        tokens(usage.cache_read),
        tokens(usage.cache_write),
        phrases::cost(&row.cost()).unwrap_or_else(|| "$?".to_owned()),
    ]
}
