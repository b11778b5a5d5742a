//! The listing of tools, for comparison: number of calls, failures, and time.

use ratatui::text::Span;

use super::call::{carrying_usd, carrying_width, carrying_words};
use super::sort::{Order, Sort, Value};
use super::table::{Cell, CellLook, Column, Listing, cell, gauge};
use crate::analysis::calls::durations::Spread;
use crate::analysis::calls::{CallSums, Outcome, Tool, Tools};
use crate::analysis::context::window::carried::{Carriage, Carried};
use crate::model::figures::percent;
use crate::model::text::Name;

/// Width of the bar.
const BAR: usize = 10;

/// By total duration of calls, the longest first.
pub(crate) const LONGEST: Sort = Sort {
    by: "time_ms",
    order: Order::Falling,
};

/// The tools of a session, by name.
pub(crate) struct ToolList<'a> {
    tools: &'a Tools,
    carried: &'a Carried,
    /// Time of all tools in ms.
    all_ms: u64,
}

impl<'a> ToolList<'a> {
    pub(crate) fn of(tools: &'a Tools, carried: &'a Carried) -> Self {
        let (all_ms, _) = tools.time();
        Self {
            tools,
            carried,
            all_ms,
        }
    }
}

pub(crate) struct ToolRow<'a> {
    name: &'a Name,
    tool: &'a Tool,
    spread: Option<Spread>,
    carriage: Option<Carriage>,
    /// Time of all tools in ms.
    all_ms: u64,
}

type ToolColumn<'a> = Column<ToolRow<'a>>;

impl<'a> Listing for ToolList<'a> {
    type Key = Name;
    type Row = ToolRow<'a>;
    const ORDER: &'static str = "tool";

    fn columns(&self, _: usize) -> Vec<ToolColumn<'a>> {
        vec![
            ToolColumn::rest("tool", 14)
                .sorted_by(Self::ORDER, |row| Value::text(Some(row.name.as_str())))
                .style(|_, look| look.focus_or(look.theme.tool)),
            ToolColumn::figures("calls", 6, 10)
                .sorted_by("calls", |row| Value::int(Some(row.tool.calls.len()))),
            ToolColumn::figures("failed", 10, 9)
                .sorted_by("failed", |row| {
                    Value::int(Some(row.tool.sums.ended(Outcome::Failed)))
                })
                .cell(|row, look| failed(&row.tool.sums, look)),
            ToolColumn::figures("open", 5, 2)
                .sorted_by("open", |row| Value::int(Some(row.tool.sums.open())))
                .style(|_, look| look.theme.warn),
            ToolColumn::figures("p50", 7, 5)
                .sorted_by("p50_ms", |row| row.ms(|spread| spread.p50))
                .cell(|row, look| cell(row.words(|spread| spread.p50, look), look.theme.dim)),
            ToolColumn::figures("p95", 7, 6)
                .sorted_by("p95_ms", |row| row.ms(|spread| spread.p95))
                .cell(|row, look| cell(row.words(|spread| spread.p95, look), look.theme.text)),
            ToolColumn::figures("max", 7, 7)
                .sorted_by("max_ms", |row| row.ms(|spread| spread.max))
                .cell(|row, look| cell(row.words(|spread| spread.max, look), look.theme.text)),
            ToolColumn::figures("time", 8, 8)
                .sorted_by(LONGEST.by, |row| row.ms(|spread| spread.sum))
                .cell(|row, look| cell(row.words(|spread| spread.sum, look), look.theme.text)),
            // Durations that were not measured are upper bounds.
            ToolColumn::data("time_is_bound", |row| match row.spread {
                Some(spread) => Value::Bool(spread.is_bound),
                None => Value::None,
            }),
            ToolColumn::words("share", BAR + 5, 4)
                .sorted_by("share_percent", |row| {
                    let sum = row.spread.map(|spread| spread.sum);
                    let share = sum.map(|sum| percent(sum, row.all_ms));
                    match sum {
                        Some(sum) => Value::percent(share).ranked(sum),
                        None => Value::None,
                    }
                })
                .turned()
                .cell(share),
            ToolColumn::figures("carried", carrying_width(self.carried), 3)
                .sorted_by("carried_usd", |row| carrying_usd(row.carriage.as_ref()))
                .cell(|row, look| cell(carrying_words(row.carriage.as_ref()), look.theme.text)),
            ToolColumn::data("carried_tokens", |row| {
                Value::tokens(row.carriage.map(|one| one.carried))
            }),
            ToolColumn::figures("results", 8, 1)
                .sorted_by("bytes", |row| Value::bytes(Some(row.tool.bytes)))
                .dim(),
        ]
    }

    fn row(&self, name: &Name) -> Option<ToolRow<'a>> {
        let (name, tool) = self.tools.by_name.get_key_value(name)?;
        Some(ToolRow {
            name,
            tool,
            spread: tool.sums.durations.spread(),
            carriage: self.carried.sum(tool.calls.iter().copied()),
            all_ms: self.all_ms,
        })
    }
}

impl ToolRow<'_> {
    fn ms(&self, of: fn(Spread) -> u64) -> Value {
        Value::ms(self.spread.map(of))
    }

    fn words(&self, of: fn(Spread) -> u64, look: &CellLook<'_>) -> String {
        let words = |spread: Spread| look.theme.duration(of(spread), spread.is_bound);
        self.spread.map(words).unwrap_or_default()
    }
}

/// The number of failed calls, and their share.
pub(super) fn failed(sums: &CallSums, look: &CellLook<'_>) -> Cell {
    let failed = sums.ended(Outcome::Failed);
    if failed == 0 {
        return Cell::new();
    }
    let share = percent(failed as u64, sums.count() as u64);
    cell(format!("{failed} {share:>3}%"), look.theme.bad)
}

fn share(row: &ToolRow<'_>, look: &CellLook<'_>) -> Cell {
    let sum = row.spread.map_or(0, |spread| spread.sum);
    if row.all_ms == 0 {
        return Cell::new();
    }
    let theme = look.theme;
    let share = sum as f64 / row.all_ms as f64;
    let mut cell = gauge(share, BAR, (theme.accent, theme.accent), theme);
    let percent = format!(" {:>3}%", percent(sum, row.all_ms));
    cell.push(Span::styled(percent, theme.accent));
    cell
}
