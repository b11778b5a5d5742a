//! The wall: sessions one a row, and the live end of the chosen one.
//!
//! ```text
//! tv  all sessions of 3 h       12 sessions · 3 need you · 4 at work · $12.40
//!   state        project   title                  call          ctx    cost
//! ▌!◔ waiting 42s  mill   Grind the corn         May I …       53%   ~$1.84 │ preview
//! status
//! hints
//! ```

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::chrome;
use crate::analysis::money::cost::Cost;
use crate::analysis::phrases;
use crate::analysis::wall::{Need, Said, SessionRow, Voice};
use crate::app::mode::Mode;
use crate::app::screen::Screen;
use crate::app::state::App;
use crate::app::wall::layout::{Division, Pane, divide};
use crate::app::wall::{Line as Listed, Sort, Wall};
use crate::listing::sessions::{SessionAt, table};
use crate::listing::sort::{Order, Sort as Sorted};
use crate::listing::table::Table;
use crate::model::figures;
use crate::render::markdown::{self, MarkdownMode};
use crate::render::row::Look;
use crate::render::wrap::{self, Frame as Measure};

/// Columns before the cells: the mark of the chosen one, and that of one who needs somebody.
const MARKS: usize = 2;
/// Lines of each thing that was said, at most.
const MOST: usize = 80;

/// Paints the whole screen.
pub fn paint(app: &App, frame: &mut Frame<'_>) {
    let area = frame.area();
    let (wall, screen) = (&app.wall, &app.reader.screen);
    let parts = divide(wall, screen);
    let buffer = frame.buffer_mut();
    let mut y = area.y;
    if parts.header {
        paint_header(
            wall,
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
    let table = table(usize::from(parts.columns).saturating_sub(MARKS + 1));
    if parts.heads {
        let mut line = table.heads(Some(sorted(wall)), &screen.theme);
        line.spans.insert(0, Span::raw(" ".repeat(MARKS)));
        buffer.set_line(area.x, y, &line, parts.columns);
        y += 1;
    }
    let list = Rect {
        y,
        height: parts.lines,
        width: parts.columns,
        ..area
    };
    for ((line, row, is_chosen), y) in wall
        .in_sight(usize::from(list.height))
        .zip(list.y..list.bottom())
    {
        let line = match (line, row) {
            (
                Listed::Head {
                    name,
                    count,
                    needing,
                    cost,
                },
                _,
            ) => head_of_group(screen, name, *count, *needing, cost.as_ref()),
            (Listed::Row(_), Some(row)) => row_of(screen, &table, row, is_chosen),
            (Listed::Row(_), None) => continue,
        };
        buffer.set_line(list.x, y, &line, list.width);
    }
    if wall.counts().0 == 0 {
        paint_nothing(app, list, buffer);
    }
    match parts.pane {
        Pane::Hidden => {}
        Pane::Beside(width) => {
            let pane = Rect {
                x: list.right(),
                width,
                y: area.y + 1,
                height: list.bottom() - area.y - 1,
            };
            for y in pane.y..pane.bottom() {
                buffer.set_stringn(
                    pane.x,
                    y,
                    screen.theme.glyphs().line.bar,
                    1,
                    screen.theme.dim,
                );
            }
            let inner = Rect {
                x: pane.x + 2,
                width: pane.width.saturating_sub(3),
                ..pane
            };
            paint_preview(wall, screen, inner, buffer);
        }
        Pane::Below(height) => {
            let rule = screen
                .theme
                .glyphs()
                .line
                .rule
                .repeat(usize::from(area.width));
            buffer.set_stringn(
                area.x,
                list.bottom(),
                rule,
                usize::from(area.width),
                screen.theme.dim,
            );
            let inner = Rect {
                x: area.x + 2,
                y: list.bottom() + 1,
                width: area.width.saturating_sub(3),
                height: height.saturating_sub(1),
            };
            paint_preview(wall, screen, inner, buffer);
        }
    }
    paint_foot(app, parts, frame);
}

/// The status line and the hints.
fn paint_foot(app: &App, parts: Division, frame: &mut Frame<'_>) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    let below = area.bottom().saturating_sub(u16::from(parts.hints));
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
    if parts.status {
        let line = Rect {
            y: below.saturating_sub(1),
            height: 1,
            ..area
        };
        if matches!(app.mode, Mode::OnWall { .. }) {
            chrome::paint_status(app, line, buffer);
            if let Some((x, y)) = chrome::cursor(app, line) {
                frame.set_cursor_position((x, y));
            }
        } else {
            paint_state_of_list(&app.wall, &app.reader.screen, line, buffer);
        }
    }
}

/// The column by which sessions are sorted.
fn sorted(wall: &Wall) -> Sorted {
    let (by, order) = match wall.sort {
        Sort::Need | Sort::Newest => ("", Order::Falling),
        Sort::Cost => ("cost", Order::Falling),
        Sort::Hour => ("hour", Order::Falling),
        Sort::Context => ("context", Order::Falling),
        Sort::Title => ("title", Order::Rising),
    };
    let sorted = Sorted { by, order };
    if wall.is_reversed {
        sorted.reversed()
    } else {
        sorted
    }
}

fn paint_header(wall: &Wall, screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let theme = &screen.theme;
    let room = usize::from(area.width);
    let left = format!(" tv  all sessions of {}", span(wall.recent_ms));
    buffer.set_stringn(area.x, area.y, &left, room, theme.heading);
    let (mut all, mut needing, mut working) = (0_u64, 0_u64, 0_u64);
    for row in wall.rows() {
        all += 1;
        needing += u64::from(row.need.is_for_somebody());
        working += u64::from(row.activity.is_work());
    }
    let cost = SessionRow::sum(wall.rows())
        .as_ref()
        .and_then(phrases::cost);
    let hour = Cost::sum(wall.rows().filter_map(|row| row.hour.as_ref()));
    let mut parts: Vec<Span<'static>> =
        vec![Span::styled(phrases::sessions(all, wall.more), theme.dim)];
    if needing > 0 {
        parts.push(Span::styled(phrases::needing(needing, "you"), theme.warn));
    }
    if working > 0 {
        parts.push(Span::styled(format!("{working} at work"), theme.good));
    }
    parts.extend(cost.map(|cost| Span::styled(cost, theme.dim)));
    if let Some(hour) = hour
        .as_ref()
        .and_then(phrases::cost)
        .filter(|_| room >= 100)
    {
        parts.push(Span::styled(format!("{hour} per hour"), theme.dim));
    }
    if !wall.is_complete {
        parts.push(Span::styled(
            format!("reading{}", theme.glyphs().ellipsis),
            theme.dim,
        ));
    }
    let dot = format!(" {} ", theme.glyphs().dot);
    let mut spans = Vec::new();
    for part in parts {
        if !spans.is_empty() {
            spans.push(Span::styled(dot.clone(), theme.dim));
        }
        spans.push(part);
    }
    spans.push(Span::raw(" "));
    let fitted = wrap::fit(
        &spans,
        room.saturating_sub(wrap::width(&left) + 2),
        theme.glyphs().cut,
    );
    let width = u16::try_from(wrap::width_of(&fitted))
        .unwrap_or(0)
        .min(area.width);
    buffer.set_line(area.right() - width, area.y, &Line::from(fitted), width);
}

/// `3 h`, `90 m`, `2 d`.
fn span(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0..=119 => format!("{minutes} m"),
        120..=2_879 if minutes.is_multiple_of(60) => format!("{} h", minutes / 60),
        _ if minutes.is_multiple_of(24 * 60) => format!("{} d", minutes / (24 * 60)),
        _ => figures::spoken(ms),
    }
}

/// A message, or what is watched and filtered.
fn paint_state_of_list(wall: &Wall, screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let theme = &screen.theme;
    let (shown, all) = wall.counts();
    let mut parts = Vec::new();
    if let Some(message) = &screen.message {
        parts.push(message.text.clone());
    } else {
        if let Some(filter) = &wall.filter {
            parts.push(format!("&{} {shown} of {all}", filter.typed));
        }
        if wall.sort != Sort::Need || wall.is_reversed {
            let way = if wall.is_reversed {
                ", the other way round"
            } else {
                ""
            };
            parts.push(format!("by {}{way}", wall.sort.word()));
        }
        parts.extend(wall.wishes.iter().map(|wish| format!("watching {wish}")));
        parts.extend(wall.unread());
    }
    let style = if screen.message.is_some() {
        theme.text
    } else {
        theme.dim
    };
    let words = wrap::fit(
        &[Span::styled(format!(" {}", parts.join("  ")), style)],
        usize::from(area.width),
        theme.glyphs().cut,
    );
    buffer.set_line(area.x, area.y, &Line::from(words), area.width);
}

/// Why the list is empty.
fn paint_nothing(app: &App, area: Rect, buffer: &mut Buffer) {
    let (wall, screen) = (&app.wall, &app.reader.screen);
    let words = match (wall.unread(), wall.counts().1, &wall.filter) {
        (Some(why), 0, _) => why,
        (None, 0, _) if !wall.is_complete => {
            format!("Looking for sessions{}", screen.theme.glyphs().ellipsis)
        }
        (None, 0, _) => {
            format!(
                "Nothing was written to any session in the last {}.",
                span(wall.recent_ms)
            )
        }
        (_, _, Some(filter)) => format!("No session fits {}.", filter.typed),
        (_, _, None) => String::new(),
    };
    let inner = Rect {
        x: area.x + 2.min(area.width),
        width: area.width.saturating_sub(4),
        ..area
    };
    let y = inner.y + u16::from(area.height > 3);
    paint_text(&words, screen.theme.text, y, inner, buffer);
}

fn head_of_group(
    screen: &Screen,
    name: &str,
    count: usize,
    needing: usize,
    cost: Option<&Cost>,
) -> Line<'static> {
    let theme = &screen.theme;
    let dot = format!(" {} ", theme.glyphs().dot);
    let needing = (needing > 0).then(|| phrases::needing(needing as u64, "you"));
    let cost = cost.and_then(phrases::cost);
    let facts = [Some(figures::count(count as u64, "session")), needing, cost];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    Line::from(vec![
        Span::styled(format!(" {name}  "), theme.heading),
        Span::styled(facts.join(&dot), theme.dim),
    ])
}

fn row_of<'a>(
    screen: &Screen,
    table: &Table<SessionAt<'a>>,
    row: &'a SessionRow,
    is_chosen: bool,
) -> Line<'static> {
    let theme = &screen.theme;
    let mark = if theme.ascii { ">" } else { "▌" };
    let needs = if row.need <= Need::Undelivered {
        "!"
    } else {
        " "
    };
    let mut spans = vec![
        Span::styled(if is_chosen { mark } else { " " }, theme.focus),
        Span::styled(needs, theme.warn),
    ];
    spans.extend(table.row(&(row, screen.now), theme, is_chosen).spans);
    Line::from(spans)
}

/// What the chosen session is, and its live end.
fn paint_preview(wall: &Wall, screen: &Screen, area: Rect, buffer: &mut Buffer) {
    let Some(row) = wall.chosen() else { return };
    let theme = &screen.theme;
    let title = Rect {
        height: area.height.min(1),
        ..area
    };
    let mut y = paint_text(&row.name(), theme.heading, area.y, title, buffer);
    for line in facts(screen, row) {
        if y < area.bottom() {
            let line = wrap::fit(
                &[Span::styled(line, theme.dim)],
                usize::from(area.width),
                theme.glyphs().cut,
            );
            buffer.set_line(area.x, y, &Line::from(line), area.width);
            y += 1;
        }
    }
    if let Some(problem) = &row.problem {
        // What is cut above stands here whole.
        let rest = Rect {
            y,
            height: area.bottom().saturating_sub(y),
            ..area
        };
        y = paint_text(problem, theme.bad, y, rest, buffer);
    }
    let below = Rect {
        y: (y + 1).min(area.bottom()),
        height: area.bottom().saturating_sub(y + 1),
        ..area
    };
    let lines = end_of(screen, row, usize::from(below.width));
    let most = usize::from(below.height);
    for (line, y) in lines
        .iter()
        .skip(lines.len().saturating_sub(most))
        .zip(below.y..below.bottom())
    {
        buffer.set_line(below.x, y, line, below.width);
    }
}

fn facts(screen: &Screen, row: &SessionRow) -> Vec<String> {
    let ascii = screen.theme.ascii;
    let dot = format!(" {} ", screen.theme.glyphs().dot);
    let context = (!row.context_words().is_empty()).then(|| format!("ctx {}", row.context_words()));
    let hour = row
        .hour
        .as_ref()
        .and_then(phrases::cost)
        .map(|cost| format!("{cost} per hour"));
    let what = [
        Some(row.state(screen.now, ascii)),
        Some(row.agent()),
        row.head.model.as_deref().map(phrases::model),
        context,
        Some(row.cost_words(ascii)),
        hour,
        Some(row.flag_words(screen.now, ascii)),
    ];
    let what: Vec<String> = what
        .into_iter()
        .flatten()
        .filter(|words| !words.is_empty())
        .collect();
    let place = [row.head.cwd.as_ref(), row.head.id.as_ref()];
    let place: Vec<String> = place
        .into_iter()
        .flatten()
        .map(ToString::to_string)
        .collect();
    vec![what.join(&dot), place.join(&dot)]
}

/// The last things that were said and done, as lines.
fn end_of(screen: &Screen, row: &SessionRow, width: usize) -> Vec<Line<'static>> {
    let theme = &screen.theme;
    let mut lines: Vec<Line<'static>> = Vec::new();
    let measure = Measure::hanging(width.max(4), 2);
    for Said { voice, text } in &row.last {
        let (sign, sign_style, style) = match voice {
            Voice::User => (
                if theme.ascii { ">" } else { "❯" },
                theme.voice.user,
                theme.text,
            ),
            Voice::Agent => (
                if theme.ascii { "*" } else { "●" },
                theme.voice.assistant,
                theme.text,
            ),
            Voice::Done => (if theme.ascii { "+" } else { "✓" }, theme.good, theme.tool),
            Voice::Unrecorded => (theme.glyphs().outcome.lost, theme.dim, theme.tool),
            Voice::Failed => (if theme.ascii { "x" } else { "✗" }, theme.bad, theme.tool),
            Voice::Refused => (theme.glyphs().outcome.refused, theme.warn, theme.tool),
            Voice::Stopped => (theme.glyphs().outcome.lost, theme.warn, theme.tool),
            Voice::Open => (if theme.ascii { "~" } else { "◌" }, theme.warn, theme.tool),
            Voice::Note => ("!", theme.warn, theme.dim),
        };
        let mut sign = Some(Span::styled(format!("{sign} "), sign_style));
        let manner = match voice {
            Voice::Agent => Some(MarkdownMode::Prose),
            Voice::User => Some(MarkdownMode::Typed),
            Voice::Done
            | Voice::Unrecorded
            | Voice::Failed
            | Voice::Refused
            | Voice::Stopped
            | Voice::Open
            | Voice::Note => None,
        };
        if let Some(manner) = manner {
            let look = Look::full(
                u16::try_from(width).unwrap_or(u16::MAX),
                theme,
                &screen.colours,
            );
            for row in markdown::rows(text, manner, width.saturating_sub(2).max(1), MOST, &look) {
                let front = sign.take().unwrap_or_else(|| Span::raw("  "));
                let own = row.line.spans.into_iter();
                let own =
                    own.map(|span| Span::styled(span.content, row.line.style.patch(span.style)));
                lines.push(Line::from(
                    std::iter::once(front).chain(own).collect::<Vec<_>>(),
                ));
            }
            continue;
        }
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line = line.replace('\t', "    ");
            let front = sign.take().unwrap_or_else(|| Span::raw("  "));
            lines.extend(wrap::wrap(&[front, Span::styled(line, style)], &measure));
        }
    }
    lines
}

/// Paints wrapped text from line `y` on within an area. Answers which line comes next.
fn paint_text(text: &str, style: Style, mut y: u16, area: Rect, buffer: &mut Buffer) -> u16 {
    let measure = Measure::of(usize::from(area.width.max(1)));
    for line in text.lines() {
        for row in wrap::wrap(&[Span::styled(line.to_owned(), style)], &measure) {
            if y >= area.bottom() {
                return y;
            }
            buffer.set_line(area.x, y, &row, area.width);
            y += 1;
        }
    }
    y
}
