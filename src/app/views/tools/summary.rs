//! Tools against each other: how often they were called, how often that went wrong, and whose time it was.

use ratatui::text::Span;

use super::call::at_most;
use super::order::Sort;
use crate::analysis::calls::{Outcome, Tool, Tools};
use crate::app::views::page::PageScene;
use crate::app::views::table::{Column, gauge};
use crate::model::figures::{self, percent};
use crate::model::text::Name;
use crate::render::wrap;

/// Columns that are sorted with the greatest on top: all but the name.
pub(crate) const FALLING: [usize; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/// The column of the calls' time.
pub(crate) const TIME: usize = 7;
/// Columns of the bar.
const BAR: usize = 10;

/// The columns.
pub(crate) const COLUMNS: &[Column] = &[
    Column::rest("tool", 14),
    Column::figures("calls", 6, 10),
    Column::figures("failed", 10, 9),
    Column::figures("open", 5, 2),
    Column::figures("p50", 7, 5),
    Column::figures("p95", 7, 6),
    Column::figures("max", 7, 7),
    Column::figures("time", 8, 8),
    Column::words("share", BAR + 5, 4),
    Column::figures("results", 8, 1),
];

/// Sorts tools that stand in the order of their names.
pub(crate) fn sorted(tools: &Tools, sort: Sort) -> Vec<Name> {
    let names: Vec<Name> = tools.iter().map(|(name, _)| name.clone()).collect();
    if sort.column == 0 {
        return sort.sort(names, |name| Some(name.clone()));
    }
    let figure = |tool: &Tool| {
        let spread = tool.durations().spread();
        match sort.column {
            1 => Some(tool.count() as u64),
            2 => Some(tool.failed() as u64),
            3 => Some(open(tool) as u64),
            4 => spread.map(|spread| spread.p50),
            5 => spread.map(|spread| spread.p95),
            6 => spread.map(|spread| spread.max),
            7 | 8 => spread.map(|spread| spread.sum),
            _ => Some(tool.bytes()),
        }
    };
    sort.sort(names, |name| tools.get(name).and_then(figure))
}

/// Calls without a result, for whatever reason.
pub fn open(tool: &Tool) -> usize {
    tool.ended(Outcome::Open) + tool.ended(Outcome::Lost)
}

/// The cells of a tool; `all` is the time of all tools in ms.
pub(crate) fn cells(
    scene: &PageScene<'_>,
    (name, tool): (&Name, &Tool),
    all: u64,
    is_chosen: bool,
) -> Vec<Span<'static>> {
    let theme = scene.theme;
    let spread = tool.durations().spread();
    let time = |ms: Option<u64>| {
        let is_bound = spread.is_some_and(|spread| spread.is_bound);
        ms.map(|ms| at_most(ms, is_bound, theme))
            .unwrap_or_default()
    };
    let figure = |n: usize| if n == 0 { String::new() } else { n.to_string() };
    let failed = match tool.failed() {
        0 => String::new(),
        n => format!("{n} {:>3}%", percent(n as u64, tool.count() as u64)),
    };
    let sum = spread.map_or(0, |spread| spread.sum);
    vec![
        Span::styled(
            wrap::head(name, 200).to_owned(),
            if is_chosen { theme.focus } else { theme.tool },
        ),
        Span::styled(tool.count().to_string(), theme.text),
        Span::styled(failed, theme.bad),
        Span::styled(figure(open(tool)), theme.warn),
        Span::styled(time(spread.map(|spread| spread.p50)), theme.dim),
        Span::styled(time(spread.map(|spread| spread.p95)), theme.text),
        Span::styled(time(spread.map(|spread| spread.max)), theme.text),
        Span::styled(time(spread.map(|spread| spread.sum)), theme.text),
        Span::styled(share(sum, all, scene), theme.accent),
        Span::styled(figures::bytes(tool.bytes()), theme.dim),
    ]
}

fn share(sum: u64, all: u64, scene: &PageScene<'_>) -> String {
    if all == 0 {
        return String::new();
    }
    let theme = scene.theme;
    let bar = gauge(
        sum as f64 / all as f64,
        BAR,
        (theme.accent, theme.dim),
        theme,
    );
    let bar: String = bar.iter().map(|span| span.content.as_ref()).collect();
    format!("{bar} {:>3}%", percent(sum, all))
}
