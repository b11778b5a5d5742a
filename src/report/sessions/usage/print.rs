//! Writes the sums as a table, as CSV, or as JSON.
//!
//! Invariant: all three have the same rows in the same order; the table also has the total.

use std::io::{self, Write};

use itertools::Itertools as _;
use ratatui::text::Line;
use serde::Serialize;

use super::options::UsageOptions;
use crate::analysis::by::By;
use crate::analysis::ledger::{Ledger, UsageGroup, UsageSum, cells};
use crate::listing::table::{Listing, Table};
use crate::listing::usage::{UsageList, UsageRows, distinguishing_ends, models};
use crate::model::figures::exact;
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::report::json;
use crate::report::listing::ListingForm;
use crate::report::outcome::Missed;
use crate::report::spent::{CostFigures, UsageFigures};

/// A row as JSON.
#[derive(Serialize)]
struct UsageJson<'a> {
    schema: &'static str,
    period: Option<&'a str>,
    agent: Option<&'a str>,
    project: Option<&'a str>,
    model: Option<&'a str>,
    session: Option<&'a str>,
    title: Option<&'a str>,
    sub_agent: Option<&'a str>,
    skill: Option<&'a str>,
    branch: Option<&'a str>,
    mcp: Option<&'a str>,
    tool: Option<&'a str>,
    sessions: usize,
    requests: u64,
    failed: Option<u64>,
    usage: UsageFigures<i64>,
    cost: CostFigures,
}

/// Writes all rows, or the limits.
pub(super) fn write(
    ledger: &Ledger,
    options: &UsageOptions,
    missed: &Missed,
    now: Timestamp,
    out: &mut dyn Write,
) -> io::Result<()> {
    if options.limits {
        return write_limits(ledger, options, missed, now, out);
    }
    let (rows, total) = ledger.rows(&options.by, &[]);
    match options.form {
        ListingForm::Json => rows
            .iter()
            .try_for_each(|row| json::write_line(out, &line(row, options))),
        ListingForm::Csv => write_csv(&rows, options, out),
        ListingForm::Text => {
            if rows.is_empty() && !missed.is_empty() {
                return writeln!(out, "{}", missed.words());
            }
            write_table(rows, &total, options, out)?;
            if ledger.copies > 0 {
                let copies = exact(ledger.copies);
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

/// The used share of a limit, as JSON.
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
    options: &UsageOptions,
    missed: &Missed,
    now: Timestamp,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut is_recorded = false;
    for (agent, limit) in ledger.limits() {
        is_recorded = true;
        if options.form == ListingForm::Text {
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
    if !is_recorded && options.form == ListingForm::Text {
        let words = if missed.is_empty() {
            "no session tells of limits".to_owned()
        } else {
            missed.words()
        };
        writeln!(out, "{words}")?;
    }
    Ok(())
}

fn line<'a>(row: &'a UsageSum, options: &UsageOptions) -> UsageJson<'a> {
    let UsageGroup {
        period,
        agent,
        project,
        model,
        session,
        attributed: _,
    } = &row.group;
    let is_known = |name: &&str| !name.is_empty();
    UsageJson {
        schema: "tv.usage/1",
        period: period.as_deref(),
        agent: *agent,
        project: project.as_deref().filter(is_known),
        model: model.as_deref().filter(is_known),
        session: session.as_ref().map(|(id, _)| id.as_str()),
        title: session.as_ref().and_then(|(_, title)| title.as_deref()),
        sub_agent: row.group.attributed(By::SubAgent),
        skill: row.group.attributed(By::Skill),
        branch: row.group.attributed(By::Branch),
        mcp: row.group.attributed(By::Mcp),
        tool: row.group.attributed(By::Tool),
        sessions: row.sessions(),
        requests: row.amount.requests,
        failed: options.has_calls().then_some(row.failed),
        usage: (&row.amount).into(),
        cost: (&row.cost()).into(),
    }
}

/// Names are cut to one line, because a title may have several.
fn write_csv(rows: &[UsageSum], options: &UsageOptions, out: &mut dyn Write) -> io::Result<()> {
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
        "sub_agent",
        "skill",
        "branch",
        "mcp",
        "tool",
        "failed",
    ])?;
    for row in rows {
        let line = line(row, options);
        let names = [
            line.period,
            line.agent,
            line.project,
            line.model,
            line.session,
            line.title,
        ];
        let attributed = [line.sub_agent, line.skill, line.branch, line.mcp, line.tool];
        let on_one_line = |name: Option<&str>| {
            let mut words = name.unwrap_or_default().split_whitespace();
            words.join(" ")
        };
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
        let failed = line.failed.map(|count| count.to_string());
        csv.write_record(
            names
                .map(on_one_line)
                .into_iter()
                .chain(counts)
                .chain([usd, line.cost.source.to_owned()])
                .chain(attributed.map(on_one_line))
                .chain([failed.unwrap_or_default()]),
        )?;
    }
    csv.flush()
}

fn write_table(
    rows: Vec<UsageSum>,
    total: &UsageSum,
    options: &UsageOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "nothing was spent");
    }
    let environment = &options.search.environment;
    let shortened = |mut row: UsageSum| {
        let project = row.group.project.take();
        row.group.project =
            project.map(|folder| Text::clean(&environment.shortened(folder.as_str().as_ref())));
        row
    };
    let rows: Vec<UsageSum> = rows.into_iter().map(shortened).collect();
    let folders = rows.iter().filter_map(|row| row.group.project.as_deref());
    let named = rows.iter().filter_map(|row| row.group.model.as_deref());
    let mut short = distinguishing_ends(folders);
    short.extend(models(named));
    let keys: Vec<UsageGroup> = rows.iter().map(|row| row.group.clone()).collect();
    let rows: UsageRows = rows
        .into_iter()
        .map(|row| (row.group.clone(), (row, None)))
        .collect();
    let list = UsageList {
        by: &options.by,
        rows: &rows,
        total,
        short: &short,
    };
    let theme = options.paper.theme();
    let sum = list.total();
    let shown: Vec<_> = keys.iter().filter_map(|key| list.row(key)).collect();
    let width = usize::from(options.paper.width);
    let table = Table::for_rows(&list, shown.iter().chain(&sum), width, &theme);
    let heads = table.heads(None, &theme);
    let rule = theme.glyphs().line.rule.repeat(heads.width());
    let lines = shown.iter().map(|row| table.row(row, &theme, false));
    let lines = std::iter::once(heads)
        .chain(lines)
        .chain([Line::from(rule)])
        .chain(sum.iter().map(|sum| table.row(sum, &theme, false)));
    lines
        .map(|line| line.to_string())
        .try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}
