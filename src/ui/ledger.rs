//! The ledger: bars by day, what is used up of limits, and a table of sums.
//!
//! ```text
//! tv  usage  project mill  by day                 412 of 10 004 files · 31 212 requests · ~$120.40
//! ~$12.40 ▂▂▁▁▄▄▇▇▂▂██
//!         2026-01-01           2026-01-31
//!
//!   day          sessions  requests   input    output  …    cost
//! ▌ 2026-01-31         12       321  12 312    31 231     ~$1.84
//! status
//! hints
//! ```

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::chrome;
use crate::analysis::ledger::cells::{self, Manner};
use crate::analysis::ledger::{By, Row, Within};
use crate::analysis::phrases;
use crate::app::ledger::layout::{Division, divide};
use crate::app::ledger::{Day, LedgerView, Sort};
use crate::app::screen::Screen;
use crate::app::state::App;
use crate::app::views::money::chart::{self, Bar};
use crate::model::figures::{self, exact};
use crate::render::wrap::{self, Frame as Measure};

/// Columns before the cells: the mark of the chosen row.
const MARK: usize = 2;
/// What stands between columns.
const GAP: usize = 2;
/// Names have so many columns before figures are rounded.
const NAME: usize = 16;
/// Columns of the id of a session.
const ID: usize = 13;
/// Columns in front of the bars, for what the highest stands for.
const LABEL: usize = 10;
/// Columns of a bar at most.
const WIDEST: usize = 3;

/// Paints the whole screen.
pub fn paint(app: &App, frame: &mut Frame<'_>) {
    let area = frame.area();
    let (ledger, screen) = (&app.ledger, &app.reader.screen);
    let parts = divide(ledger, screen);
    let buffer = frame.buffer_mut();
    let mut y = area.y;
    if parts.header {
        paint_header(
            ledger,
            screen,
            Rect {
                y,
                height: 1,
                ..area
            },
            buffer,
        );
        y += 1;
    }
    if parts.bars > 0 {
        paint_bars(
            ledger,
            screen,
            Rect {
                y,
                height: parts.bars + 1,
                ..area
            },
            buffer,
        );
        y += parts.bars + 2;
    }
    if parts.limits > 0 {
        paint_limits(
            ledger,
            screen,
            Rect {
                y,
                height: parts.limits,
                ..area
            },
            buffer,
        );
        y += parts.limits + 1;
    }
    paint_table(
        ledger,
        screen,
        parts,
        Rect {
            y,
            height: area.bottom().saturating_sub(y),
            ..area
        },
        buffer,
    );
    let below = area.bottom().saturating_sub(u16::from(parts.hints));
    if parts.status {
        paint_status(
            ledger,
            screen,
            Rect {
                y: below.saturating_sub(1),
                height: 1,
                ..area
            },
            buffer,
        );
    }
    if parts.hints {
        chrome::paint_hints(
            app,
            Rect {
                y: below,
                height: 1,
                ..area
            },
            buffer,
        );
    }
}

fn paint_header(ledger: &LedgerView, screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let theme = &screen.theme;
    let room = usize::from(area.width);
    let of = |(by, group): &Within| {
        let title = group.title();
        format!(
            "{} {}",
            by.word(),
            if title.is_empty() {
                group.name(*by)
            } else {
                title
            }
        )
    };
    let within: Vec<String> = ledger.question.within.iter().map(of).collect();
    let dot = format!(" {} ", theme.glyphs().dot);
    let progress = &ledger.counted.progress;
    let files = |count: usize| exact(count as u64);
    let counted = if progress.is_complete {
        format!("{} files", files(progress.done))
    } else {
        format!("{} of {} files", files(progress.done), files(progress.all))
    };
    let requests = figures::count(ledger.counted.total.amount.requests, "request");
    let cost = phrases::cost(&ledger.counted.total.cost());
    let right: Vec<String> = [Some(counted), Some(requests), cost]
        .into_iter()
        .flatten()
        .collect();
    let right = format!("{} ", right.join(&dot));
    let style = if progress.is_complete {
        theme.dim
    } else {
        theme.accent
    };
    let right = wrap::fit(
        &[Span::styled(right, style)],
        room.saturating_sub(14),
        theme.glyphs().cut,
    );
    let width = u16::try_from(wrap::width_of(&right))
        .unwrap_or(0)
        .min(area.width);
    let mut left = vec![Span::styled(" tv  usage", theme.heading)];
    left.extend(
        within
            .into_iter()
            .map(|within| Span::styled(format!("  {within}"), theme.accent)),
    );
    left.push(Span::styled(
        format!("  by {}", ledger.question.by.word()),
        theme.dim,
    ));
    let left = wrap::fit(
        &left,
        room.saturating_sub(usize::from(width) + 2),
        theme.glyphs().cut,
    );
    buffer.set_line(area.x, area.y, &Line::from(left), area.width);
    buffer.set_line(area.right() - width, area.y, &Line::from(right), width);
}

/// What was spent on each of the last days: money, or tokens where no cost is known.
fn paint_bars(ledger: &LedgerView, screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let theme = &screen.theme;
    let room = usize::from(area.width).saturating_sub(LABEL + 2);
    let width = room
        .checked_div(ledger.days.len())
        .unwrap_or(1)
        .clamp(1, WIDEST);
    let count = (room / width).min(ledger.days.len());
    let days = ledger
        .days
        .get(ledger.days.len() - count..)
        .unwrap_or_default();
    let is_of_money = days
        .iter()
        .flat_map(|day| &day.row)
        .any(|row| row.amount.money.picos() > 0);
    let value = |row: &Row| {
        let amount = &row.amount;
        let tokens = amount.input.total
            + amount.output.total
            + amount.cache_read.total
            + amount.cache_write.total;
        if is_of_money {
            amount.money.picos()
        } else {
            i128::from(tokens)
        }
    };
    let highest = days
        .iter()
        .filter_map(|day| day.row.as_ref())
        .max_by_key(|row| value(row));
    let most = highest.map_or(0, value).max(1);
    let chosen = ledger.chosen().filter(|_| ledger.question.by.is_period());
    let chosen = chosen.and_then(|(row, _)| row.group.period.as_deref());
    let is_chosen =
        |day: &Day| chosen.is_some_and(|period| ledger.question.by.period(day.at) == period);
    let bars: Vec<Bar> = days
        .iter()
        .flat_map(|day| {
            let height = day
                .row
                .as_ref()
                .map_or(0.0, |row| value(row) as f64 / most as f64);
            std::iter::repeat_n(
                Bar {
                    height,
                    is_chosen: is_chosen(day),
                },
                width,
            )
        })
        .collect();
    let lines = usize::from(area.height.saturating_sub(1));
    let label = highest.map(|row| {
        let tokens = || figures::tokens(u64::try_from(value(row)).unwrap_or(0));
        phrases::cost(&row.cost())
            .filter(|_| is_of_money)
            .unwrap_or_else(tokens)
    });
    let label = format!("{:>width$}", label.unwrap_or_default(), width = LABEL - 1);
    buffer.set_stringn(area.x, area.y, &label, LABEL - 1, theme.dim);
    let drawn = chart::lines(&bars, lines, theme.glyphs(), (theme.focus, theme.accent));
    let x = area.x + u16::try_from(LABEL).unwrap_or(0);
    for (line, y) in drawn.iter().zip(area.y..area.bottom()) {
        buffer.set_line(x, y, line, area.width.saturating_sub(x));
    }
    let (Some(first), Some(last)) = (days.first(), days.last()) else {
        return;
    };
    let y = area.bottom().saturating_sub(1);
    buffer.set_stringn(x, y, &first.name, room, theme.dim);
    let end = (count * width).saturating_sub(last.name.len());
    if end > first.name.len() {
        buffer.set_stringn(
            x + u16::try_from(end).unwrap_or(0),
            y,
            &last.name,
            room,
            theme.dim,
        );
    }
}

fn paint_limits(ledger: &LedgerView, screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let theme = &screen.theme;
    for ((agent, limit), y) in ledger.counted.limits.iter().zip(area.y..area.bottom()) {
        let style = if limit.is_over(screen.now) || limit.used < 80.0 {
            theme.dim
        } else {
            theme.warn
        };
        let words = Span::styled(
            format!("  {}", cells::limit(agent, *limit, screen.now)),
            style,
        );
        let words = wrap::fit(&[words], usize::from(area.width), theme.glyphs().cut);
        buffer.set_line(area.x, y, &Line::from(words), area.width);
    }
}

fn paint_table(
    ledger: &LedgerView,
    screen: &Screen,
    parts: Division,
    area: Rect,
    buffer: &mut Buffer,
) {
    let theme = &screen.theme;
    let in_sight: Vec<_> = ledger.in_sight(usize::from(parts.lines)).collect();
    if in_sight.is_empty() {
        return paint_nothing(ledger, screen, area, buffer);
    }
    let by = ledger.question.by;
    let room = usize::from(area.width).saturating_sub(MARK + 1);
    let total = &ledger.counted.total;
    let widths = |manner: Manner| {
        let mut widths: Vec<usize> = manner
            .heads()
            .iter()
            .map(|head| wrap::width(head))
            .collect();
        for row in in_sight.iter().map(|(row, ..)| *row).chain([total]) {
            let figures = row.figures(manner);
            widths
                .iter_mut()
                .zip(&figures)
                .for_each(|(width, cell)| *width = wrap::width(cell).max(*width));
        }
        widths
    };
    let wanted = if by == By::Session { NAME + ID } else { NAME };
    let fits = |(_, widths): &(Manner, Vec<usize>)| {
        room.saturating_sub(widths.iter().map(|width| width + GAP).sum()) >= wanted
    };
    let [.., fewest] = Manner::all(&[by]);
    let tried = Manner::all(&[by])
        .into_iter()
        .map(|manner| (manner, widths(manner)));
    let (manner, widths) = tried
        .into_iter()
        .find(fits)
        .unwrap_or_else(|| (fewest, widths(fewest)));
    let taken: usize = widths.iter().map(|width| width + GAP).sum();
    let name_width = room.saturating_sub(taken);
    let mut y = area.y;
    if parts.heads {
        let mark = Span::raw(" ".repeat(MARK));
        let heads = manner.heads().into_iter().map(|head| {
            let style = if sorted_by(&head) == Some(ledger.sort) {
                theme.accent
            } else {
                theme.dim
            };
            (head, style)
        });
        let is_by_name = matches!(ledger.sort, Sort::Name | Sort::Usual);
        let name = Span::styled(by.word(), if is_by_name { theme.accent } else { theme.dim });
        let line = line_of(
            mark,
            vec![name],
            name_width,
            heads.zip(&widths),
            theme.glyphs().cut,
        );
        buffer.set_line(area.x, y, &line, area.width);
        y += 1;
    }
    for ((row, _, is_chosen), y) in in_sight.iter().zip(y..area.bottom()) {
        let sign = if theme.ascii { ">" } else { "▌" };
        let mark = Span::styled(
            if *is_chosen {
                format!("{sign} ")
            } else {
                "  ".to_owned()
            },
            theme.focus,
        );
        let style = if *is_chosen { theme.focus } else { theme.text };
        let last = row.figures(manner).len().saturating_sub(1);
        let figures = row.figures(manner).into_iter().enumerate();
        let figures =
            figures.map(|(at, cell)| (cell, if at == last { theme.text } else { theme.dim }));
        let name = name_of(ledger, row, name_width, screen, style);
        let line = line_of(
            mark,
            name,
            name_width,
            figures.zip(&widths),
            theme.glyphs().cut,
        );
        buffer.set_line(area.x, y, &line, area.width);
    }
}

/// What a row is of; of a session the id and the title.
fn name_of(
    ledger: &LedgerView,
    row: &Row,
    width: usize,
    screen: &Screen,
    style: Style,
) -> Vec<Span<'static>> {
    let cut = screen.theme.glyphs().cut;
    let name = row.group.name(ledger.question.by);
    match ledger.question.by {
        By::Project => vec![Span::styled(wrap::fit_path(&name, width, cut), style)],
        By::Session => {
            let mut spans = wrap::fit(&[Span::styled(name, screen.theme.dim)], ID, cut);
            spans.push(Span::raw(
                " ".repeat(ID.saturating_sub(wrap::width_of(&spans)) + GAP),
            ));
            spans.push(Span::styled(row.group.title(), style));
            spans
        }
        _ => vec![Span::styled(name, style)],
    }
}

/// The figure that a sort goes by.
fn sorted_by(head: &str) -> Option<Sort> {
    match head {
        "requests" => Some(Sort::Requests),
        "output" => Some(Sort::Output),
        "cost" => Some(Sort::Cost),
        _ => None,
    }
}

fn line_of<'w>(
    mark: Span<'static>,
    name: Vec<Span<'static>>,
    width: usize,
    figures: impl Iterator<Item = ((String, Style), &'w usize)>,
    cut: &'static str,
) -> Line<'static> {
    let name = wrap::fit(&name, width, cut);
    let rest = Span::raw(" ".repeat(width.saturating_sub(wrap::width_of(&name))));
    let mut spans = vec![mark];
    spans.extend(name);
    spans.push(rest);
    for ((cell, style), width) in figures {
        let gap = " ".repeat(GAP + width.saturating_sub(wrap::width(&cell)));
        spans.push(Span::raw(gap));
        spans.push(Span::styled(cell, style));
    }
    Line::from(spans)
}

/// Why there is no row.
fn paint_nothing(ledger: &LedgerView, screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let progress = &ledger.counted.progress;
    let words = match (phrases::unread(&progress.failures), progress.is_complete) {
        (Some(why), true) => why,
        (_, true) if progress.all == 0 => {
            "No session is there yet that could have spent anything. To see what they look like, try: tv demo"
                .to_owned()
        }
        (_, true) => "Nothing was spent, as far as the sessions tell.".to_owned(),
        (_, false) => format!("Counting{}", screen.theme.glyphs().ellipsis),
    };
    let inner = Rect {
        x: area.x + 2.min(area.width),
        width: area.width.saturating_sub(4).max(1),
        ..area
    };
    let rows = wrap::wrap(
        &[Span::styled(words, screen.theme.text)],
        &Measure::of(usize::from(inner.width)),
    );
    for (row, y) in rows.iter().zip(inner.y..inner.bottom()) {
        buffer.set_line(inner.x, y, row, inner.width);
    }
}

/// A message; or the order, copies, and what could not be read.
fn paint_status(ledger: &LedgerView, screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let theme = &screen.theme;
    let mut parts = Vec::new();
    if let Some(message) = &screen.message {
        parts.push(message.text.clone());
    } else {
        if ledger.sort != Sort::Usual || ledger.is_reversed {
            let way = if ledger.is_reversed {
                ", the other way round"
            } else {
                ""
            };
            parts.push(format!("by {}{way}", ledger.sort.word()));
        }
        if !ledger.is_answered() {
            parts.push(format!("adding up{}", theme.glyphs().ellipsis));
        }
        if ledger.counted.copies > 0 {
            parts.push(format!(
                "{} in several sessions, counted once",
                figures::count(ledger.counted.copies, "request")
            ));
        }
        parts.extend(phrases::unread(&ledger.counted.progress.failures));
    }
    let style = if screen.message.is_some() {
        theme.text
    } else {
        theme.dim
    };
    let words = Span::styled(format!(" {}", parts.join("  ")), style);
    let words = wrap::fit(&[words], usize::from(area.width), theme.glyphs().cut);
    buffer.set_line(area.x, area.y, &Line::from(words), area.width);
}
