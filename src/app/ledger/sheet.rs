//! The page of the ledger: bars by day, usage of limits, and the table.

use itertools::Itertools as _;
use ratatui::text::{Line, Span};

use super::{DayUsage, LedgerView, SINCE};
use crate::analysis::ledger::cells::limit;
use crate::analysis::ledger::{UsageSum, Within};
use crate::analysis::phrases;
use crate::app::list_page::Room;
use crate::app::screen::Screen;
use crate::app::views::list::ListLines;
use crate::app::views::money::chart::{self, Bar};
use crate::app::views::page::Sheet;
use crate::listing::usage::UsageList;
use crate::model::figures::{self, exact};
use crate::render::wrap;

/// Width of the label before the bars, in columns.
const LABEL: usize = 10;
/// Greatest width of a bar, in columns.
const WIDEST: usize = 3;
/// Height of the bars, in lines, for a page of at least this height: `(height of page, height of
/// bars)`.
const BARS: [(usize, usize); 4] = [(37, 8), (21, 5), (13, 3), (0, 0)];

/// Writes the visible rows.
pub(crate) fn arrange(ledger: &mut LedgerView, screen: &Screen) {
    let room = Room::of(screen);
    let columns = room.columns(0);
    let mut heads = charts(ledger, screen, room);
    let mut list = std::mem::take(&mut ledger.list);
    let has_rows = !list.keys().is_empty();
    let is_summed = has_rows && room.has_heads();
    // The line of headings, the sum, and the rule above it.
    let beside = heads.len() + if is_summed { 3 } else { 0 };
    list.fit(room.lines().saturating_sub(beside).max(1));
    let ListLines { head, rows, total } = list.lines(&ledger.listing(), columns, &screen.theme);
    ledger.list = list;
    heads.extend(is_summed.then_some(head));
    let mut sheet = Sheet {
        title: title(ledger, screen),
        right: vec![Span::styled(sums(ledger, screen), screen.theme.dim)],
        heads,
        rows,
        foot: total.into_iter().filter(|_| is_summed).collect(),
        status: status(ledger, screen),
        ..Sheet::default()
    };
    if !has_rows {
        sheet.show_message(&why_empty(ledger, screen), &screen.theme, columns);
    }
    ledger.sheet = sheet;
}

impl LedgerView {
    /// The rows of the table.
    pub(super) fn listing(&self) -> UsageList<'_> {
        UsageList {
            by: std::slice::from_ref(&self.counted.question.by),
            rows: &self.rows,
            total: &self.counted.total,
            short: &self.short,
        }
    }
}

/// The title: grouping and span of time.
fn title(ledger: &LedgerView, screen: &Screen) -> Vec<Span<'static>> {
    let theme = &screen.theme;
    let of = |(by, group): &Within| {
        let title = group.title();
        let name = if title.is_empty() {
            group.name(*by)
        } else {
            title
        };
        Span::styled(format!("  {} {name}", by.word()), theme.accent)
    };
    let since = match ledger.since.as_str() {
        "" => "all time".to_owned(),
        since => match since.strip_suffix('d').map(str::parse::<u32>) {
            Some(Ok(days)) => format!("the last {days} days"),
            _ => format!("since {since}"),
        },
    };
    let mut title = vec![Span::raw("tv")];
    title.push(Span::styled("  usage", theme.heading));
    title.push(Span::styled(format!("  {since}"), theme.text));
    title.extend(ledger.question.within.iter().map(of));
    let by = format!("  by {}", ledger.question.by.word());
    title.push(Span::styled(by, theme.dim));
    title
}

fn sums(ledger: &LedgerView, screen: &Screen) -> String {
    let progress = &ledger.counted.progress;
    let files = |count: usize| exact(count as u64);
    let counted = if progress.is_complete {
        figures::count(ledger.counted.total.sessions() as u64, "session")
    } else {
        format!("{} of {} files", files(progress.done), files(progress.all))
    };
    let requests = figures::count(ledger.counted.total.amount.requests, "request");
    let cost = phrases::cost(&ledger.counted.total.cost());
    phrases::joined([Some(counted), Some(requests), cost], screen.theme.ascii)
}

/// Bars by day, and limits, as far as there is room.
fn charts(ledger: &LedgerView, screen: &Screen, room: Room) -> Vec<Line<'static>> {
    let lines = room.lines();
    let height = BARS
        .iter()
        .find(|(least, _)| lines >= *least)
        .map_or(0, |(_, bars)| *bars);
    if height == 0 || ledger.days.is_empty() {
        return Vec::new();
    }
    let mut charts = bars(ledger, screen, (usize::from(room.width), height));
    charts.push(Line::default());
    let theme = &screen.theme;
    let limits = ledger.counted.limits.iter().take(height);
    let limits: Vec<Line<'static>> = limits
        .map(|(agent, known)| {
            let is_calm = known.is_over(screen.now) || known.used < 80.0;
            let style = if is_calm { theme.dim } else { theme.warn };
            let words = Span::styled(limit(agent, *known, screen.now), style);
            Line::from(wrap::fit(&[words], room.columns(0), theme.glyphs().cut))
        })
        .collect();
    if !limits.is_empty() {
        charts.extend(limits);
        charts.push(Line::default());
    }
    charts
}

/// The bars of the last days: cost, or tokens if no cost is known.
fn bars(
    ledger: &LedgerView,
    screen: &Screen,
    (width, height): (usize, usize),
) -> Vec<Line<'static>> {
    let theme = &screen.theme;
    let room = width.saturating_sub(LABEL + 4);
    let all = ledger.days.len().max(1);
    let width = (room / all).clamp(1, WIDEST);
    let count = (room / width).min(ledger.days.len());
    let days = ledger
        .days
        .get(ledger.days.len() - count..)
        .unwrap_or_default();
    let of_days = || days.iter().filter_map(|day| day.row.as_ref());
    let is_of_money = of_days().any(|row| row.amount.money.picos() > 0);
    let value = |row: &UsageSum| {
        let amount = &row.amount;
        if is_of_money {
            amount.money.picos()
        } else {
            i128::from(amount.prompt() + amount.output.total)
        }
    };
    let highest = of_days().max_by_key(|row| value(row));
    let most = highest.map_or(0, value).max(1);
    let by = ledger.counted.question.by;
    let chosen = ledger.chosen().filter(|_| by.is_period());
    let chosen = chosen.and_then(|(row, _)| row.group.period.as_deref());
    let bar = |day: &DayUsage| Bar {
        height: day
            .row
            .as_ref()
            .map_or(0.0, |row| value(row) as f64 / most as f64),
        is_chosen: chosen.is_some_and(|period| by.period(day.at) == period),
    };
    let bars: Vec<Bar> = days
        .iter()
        .flat_map(|day| std::iter::repeat_n(bar(day), width))
        .collect();
    let label = highest.map(|row| {
        let tokens = || figures::tokens(u64::try_from(value(row)).unwrap_or(0));
        phrases::cost(&row.cost())
            .filter(|_| is_of_money)
            .unwrap_or_else(tokens)
    });
    let drawn = chart::lines(&bars, height, theme.glyphs(), (theme.focus, theme.accent));
    let mut label = label.unwrap_or_default();
    let mut lines = Vec::new();
    for line in drawn {
        let front = format!("{:>width$} ", std::mem::take(&mut label), width = LABEL - 1);
        let mut spans = vec![Span::styled(front, theme.dim)];
        spans.extend(line.spans);
        lines.push(Line::from(spans));
    }
    if let (Some(first), Some(last)) = (days.first(), days.last()) {
        let rest = (count * width).saturating_sub(first.name.len());
        let last = if rest > last.name.len() {
            format!("{:>rest$}", last.name)
        } else {
            String::new()
        };
        let days = format!("{:LABEL$}{}{last}", "", first.name);
        lines.push(Line::styled(days, theme.dim));
    }
    lines
}

/// The message that explains an empty table.
fn why_empty(ledger: &LedgerView, screen: &Screen) -> String {
    let progress = &ledger.counted.progress;
    match (phrases::unread(&progress.failures), progress.is_complete) {
        (_, true) if progress.all > 0 && !ledger.since.is_empty() => {
            format!("Nothing was spent since {}; press - for a longer time.", ledger.since)
        }
        (Some(why), true) => why,
        (None, true) if progress.all == 0 => {
            "No session is there yet that could have spent anything. To see what they look like, try: tv demo"
                .to_owned()
        }
        (None, true) => "Nothing was spent, as far as the sessions tell.".to_owned(),
        (_, false) => format!("Counting{}", screen.theme.glyphs().ellipsis),
    }
}

/// The status: sort order, copies, and errors of reading.
fn status(ledger: &LedgerView, screen: &Screen) -> String {
    let counted = &ledger.counted;
    let is_usual = ledger.list.sort() == Some(counted.question.by.order());
    let copies = (counted.copies > 0).then(|| {
        format!(
            "{} in several sessions, counted once",
            figures::count(counted.copies, "request")
        )
    });
    let ellipsis = screen.theme.glyphs().ellipsis;
    let parts = [
        (!is_usual).then(|| ledger.list.sorted_by(&screen.theme)),
        (!ledger.is_answered()).then(|| format!("adding up{ellipsis}")),
        copies,
        phrases::unread(&counted.progress.failures),
    ];
    parts.into_iter().flatten().join("  ")
}

/// The next shorter or longer span of time.
pub(super) fn neighbour_span(since: &str, is_longer: bool) -> &'static str {
    let at = SINCE.iter().position(|known| *known == since).unwrap_or(2);
    let at = if is_longer {
        (at + 1).min(SINCE.len() - 1)
    } else {
        at.saturating_sub(1)
    };
    SINCE.get(at).copied().unwrap_or_default()
}
