//! Where the time went and what it cost, as pictures.

use std::collections::HashMap;
use std::io;

use super::sheet::HtmlWriter;
use crate::analysis::calls::span_of;
use crate::analysis::money::models;
use crate::analysis::money::spending::statement::{Group, Grouping, Statement};
use crate::analysis::phrases;
use crate::model::figures::duration;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolState;
use crate::report::export::Exported;
use crate::report::export::pages::cut;
use crate::report::reading::Reading;

/// Sub-agents with a row of their own.
const LANES: usize = 16;
/// Models with a bar.
const MODELS: usize = 8;
/// The width of names, of the rest, and the height of a row.
const NAMES: f64 = 150.0;
const WIDTH: f64 = 840.0;
const ROW: f64 = 18.0;
/// What is narrower is not drawn beside another one.
const LEAST: f64 = 0.4;
/// Characters of a name.
const NAME: usize = 22;

pub(super) fn write(exported: &Exported<'_>, sheet: &mut HtmlWriter<'_>) -> io::Result<()> {
    timeline(exported, sheet)?;
    bill(exported, sheet)
}

/// The time of all turns, one behind the other without what is between them.
struct TurnAxis(Vec<(i64, i64, i64)>, i64);

impl TurnAxis {
    fn of(turns: &[(Option<Timestamp>, Option<Timestamp>)]) -> Option<Self> {
        let mut spans: Vec<(i64, i64)> = (turns.iter())
            .filter_map(|(from, to)| Some((from.as_ref()?.0, to.as_ref()?.0)))
            .filter(|(from, to)| from <= to)
            .collect();
        spans.sort_unstable();
        let (mut parts, mut length): (Vec<(i64, i64, i64)>, i64) = (Vec::new(), 0);
        for (from, to) in spans {
            let from = parts.last().map_or(from, |(_, end, _)| from.max(*end));
            if from < to {
                parts.push((from, to, length));
                length += to - from;
            }
        }
        (length > 0).then_some(Self(parts, length))
    }

    /// Where a time stands, from 0 to 1.
    fn place(&self, at: i64) -> f64 {
        let behind = self.0.partition_point(|(from, ..)| *from <= at);
        let part = behind.checked_sub(1).and_then(|place| self.0.get(place));
        let before = part.map_or(0, |(from, to, before)| before + at.min(*to) - from);
        before as f64 / self.1 as f64
    }
}

fn timeline(exported: &Exported<'_>, sheet: &mut HtmlWriter<'_>) -> io::Result<()> {
    let Reading {
        transcript,
        account,
        ..
    } = exported.reading;
    let turns = (0..transcript.turns().len()).map(|number| account.turn(transcript, number).facts);
    let turns: Vec<(Option<Timestamp>, Option<Timestamp>)> =
        turns.map(|facts| (facts.started, facts.ended)).collect();
    let Some(axis) = TurnAxis::of(&turns) else {
        return Ok(());
    };
    let lanes = transcript.lanes().iter().take(LANES);
    let rows: HashMap<&Name, usize> = lanes
        .clone()
        .zip(1..)
        .map(|(lane, row)| (&lane.name, row))
        .collect();
    let height = (rows.len() + 1) as f64 * ROW + 16.0;
    sheet.raw("<figure>\n")?;
    begin(height, "Calls of tools over the time of all turns", sheet)?;
    let labels = lanes.map(|lane| lane.label.as_str());
    for (row, label) in ["main"].into_iter().chain(labels).enumerate() {
        let y = row as f64 * ROW;
        text(0.0, y + 12.0, cut(label, NAME).0, sheet)?;
        rectangle("ground", (NAMES, WIDTH), y + 2.0, sheet)?;
    }
    let mut ends: HashMap<usize, f64> = HashMap::new();
    for entry in transcript.entries() {
        let row = match &entry.lane {
            None => 0,
            Some(lane) => match rows.get(lane) {
                Some(row) => *row,
                None => continue,
            },
        };
        for call in entry.calls() {
            let Some((from, to)) = span_of(call, entry.call_time(call)) else {
                continue;
            };
            let (x, end) = (axis.place(from.0) * WIDTH, axis.place(to.0) * WIDTH);
            let failed = matches!(call.state, ToolState::Failed(_));
            let last = ends.entry(row).or_insert(-1.0);
            if end <= *last + LEAST && !failed {
                continue;
            }
            *last = last.max(end);
            let class = if failed { "bad" } else { "work" };
            let width = (end - x).max(LEAST);
            rectangle(class, (NAMES + x, width), row as f64 * ROW + 2.0, sheet)?;
        }
    }
    let prompts = transcript.turns().iter().zip(&turns);
    for (turn, (started, _)) in prompts {
        let entry = transcript.get(turn.prompt);
        let Some((started, entry)) = started.zip(entry) else {
            continue;
        };
        let x = NAMES + axis.place(started.0) * WIDTH;
        sheet.raw("<a href=\"#")?;
        sheet.fragment(&entry.key)?;
        sheet.raw("\"><path class=\"tick\" d=\"M")?;
        sheet.number(x)?;
        sheet.raw(" ")?;
        sheet.number(height - 14.0)?;
        sheet.raw("l4 8h-8z\"><title>")?;
        sheet.text(
            cut(
                phrases::title_of(entry).lines().next().unwrap_or_default(),
                120,
            )
            .0,
        )?;
        sheet.raw("</title></path></a>\n")?;
    }
    sheet.raw("</svg>\n<figcaption>Calls over ")?;
    sheet.text(&duration(u64::try_from(axis.1).unwrap_or(0)))?;
    sheet.raw(" of turns; ▲ a prompt; what is between turns is left out.</figcaption>\n</figure>\n")
}

fn bill(exported: &Exported<'_>, sheet: &mut HtmlWriter<'_>) -> io::Result<()> {
    let reading = &exported.reading;
    let statement = Statement::compute(&reading.transcript, &reading.account);
    let mut rows = statement.rows(Grouping::Models);
    rows.retain(|row| row.amount.money.picos() > 0);
    rows.sort_by_key(|row| std::cmp::Reverse(row.amount.money.picos()));
    rows.truncate(MODELS);
    let Some(most) = rows.first().map(|row| row.amount.money.picos()) else {
        return Ok(());
    };
    sheet.raw("<figure>\n")?;
    begin(rows.len() as f64 * ROW, "Cost by model", sheet)?;
    for (number, row) in rows.iter().enumerate() {
        let y = number as f64 * ROW;
        let name = match &row.group {
            Group::Model(model) if !model.is_empty() => models::canonical(model),
            Group::Model(_) => "no model recorded".to_owned(),
            _ => "beyond the requests".to_owned(),
        };
        let width = row.amount.money.picos() as f64 / most as f64 * (WIDTH - 100.0);
        text(0.0, y + 12.0, cut(&name, NAME).0, sheet)?;
        rectangle("work", (NAMES, width.max(1.0)), y + 2.0, sheet)?;
        let cost = phrases::cost(&row.cost()).unwrap_or_default();
        text(NAMES + width + 6.0, y + 12.0, &cost, sheet)?;
    }
    sheet.raw("</svg>\n<figcaption>Cost by model</figcaption>\n</figure>\n")
}

fn begin(height: f64, what: &'static str, sheet: &mut HtmlWriter<'_>) -> io::Result<()> {
    sheet.raw("<svg viewBox=\"0 0 1000 ")?;
    sheet.number(height)?;
    sheet.raw("\" role=\"img\" aria-label=\"")?;
    sheet.text(what)?;
    sheet.raw("\">\n")
}

fn text(x: f64, y: f64, text: &str, sheet: &mut HtmlWriter<'_>) -> io::Result<()> {
    sheet.raw("<text x=\"")?;
    sheet.number(x)?;
    sheet.raw("\" y=\"")?;
    sheet.number(y)?;
    sheet.raw("\">")?;
    sheet.text(text)?;
    sheet.raw("</text>\n")
}

fn rectangle(
    class: &'static str,
    (x, width): (f64, f64),
    y: f64,
    sheet: &mut HtmlWriter<'_>,
) -> io::Result<()> {
    sheet.raw("<rect class=\"")?;
    sheet.raw(class)?;
    sheet.raw("\" x=\"")?;
    sheet.number(x)?;
    sheet.raw("\" y=\"")?;
    sheet.number(y)?;
    sheet.raw("\" width=\"")?;
    sheet.number(width)?;
    sheet.raw("\" height=\"13\"/>\n")
}
