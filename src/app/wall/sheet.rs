//! The page of the wall.

use ratatui::text::{Line, Span};

use super::Wall;
use crate::analysis::money::cost::Cost;
use crate::analysis::phrases;
use crate::analysis::wall::{NEEDS, SessionRow};
use crate::app::list_page::{Room, end_of, lines_of};
use crate::app::screen::Screen;
use crate::app::views::list::ListLines;
use crate::app::views::page::Sheet;
use crate::listing::sessions::{BY_NEED, SessionList};
use crate::model::figures;
use crate::render::wrap;

/// Least width in columns with the preview beside the list.
pub(super) const WIDE: u16 = 190;

/// Sorts the rows, and writes the visible ones.
pub(crate) fn arrange(wall: &mut Wall, screen: &Screen) {
    wall.sort_rows(screen.now);
    let room = Room::of(screen);
    let pane = room.preview(WIDE, wall.hides_preview);
    let (side, below) = pane.size();
    let heads = usize::from(room.has_heads());
    wall.list
        .fit(room.lines().saturating_sub(heads + below).max(1));
    let list = SessionList {
        rows: &wall.rows,
        now: screen.now,
    };
    let columns = room.columns(side);
    let ListLines { head, rows, .. } = wall.list.lines(&list, columns, &screen.theme);
    let mut sheet = Sheet {
        title: title(wall, screen),
        right: sums(wall, screen, usize::from(room.width)),
        heads: std::iter::repeat_n(head, heads).collect(),
        rows,
        status: status(wall, screen),
        ..Sheet::default()
    };
    if sheet.rows.is_empty() {
        sheet.heads.clear();
        sheet.show_message(&why_empty(wall, screen), &screen.theme, columns);
    }
    wall.sheet = sheet.with_preview(pane, room, |width, lines| {
        let row = wall.chosen();
        row.map_or_else(Vec::new, |row| preview_of(row, screen, (width, lines)))
    });
}

fn title(wall: &Wall, screen: &Screen) -> Vec<Span<'static>> {
    let span = format!("  all sessions of {}", figures::span(wall.recent_ms));
    vec![Span::raw("tv"), Span::styled(span, screen.theme.heading)]
}

/// Numbers of sessions, of those that need somebody and of those at work, and their cost.
fn sums(wall: &Wall, screen: &Screen, width: usize) -> Vec<Span<'static>> {
    let theme = &screen.theme;
    let (mut all, mut needing, mut working) = (0_u64, 0_u64, 0_u64);
    for row in wall.rows() {
        all += 1;
        needing += u64::from(row.need.needs_user());
        working += u64::from(row.activity.is_work());
    }
    let cost = SessionRow::sum(wall.rows())
        .as_ref()
        .and_then(phrases::cost);
    let hour = Cost::sum(wall.rows().filter_map(|row| row.hour.as_ref()));
    let hour = hour.as_ref().and_then(phrases::cost);
    let parts = [
        Some(Span::styled(phrases::sessions(all, wall.more), theme.dim)),
        (needing > 0).then(|| Span::styled(phrases::needing(needing, "you"), theme.warn)),
        (working > 0).then(|| Span::styled(format!("{working} at work"), theme.good)),
        cost.map(|cost| Span::styled(cost, theme.dim)),
        hour.filter(|_| width >= 100)
            .map(|hour| Span::styled(format!("{hour} per hour"), theme.dim)),
        (!wall.is_complete)
            .then(|| Span::styled(format!("reading{}", theme.glyphs().ellipsis), theme.dim)),
    ];
    let mut spans = Vec::new();
    for part in parts.into_iter().flatten() {
        if !spans.is_empty() {
            spans.push(Span::styled(format!(" {} ", theme.glyphs().dot), theme.dim));
        }
        spans.push(part);
    }
    spans
}

/// The status: filter, sort order, alarms and errors; without any, the meaning of the sign of rows.
fn status(wall: &Wall, screen: &Screen) -> String {
    let (shown, all) = wall.counts();
    let sort = wall.list.sort().filter(|sort| *sort != BY_NEED);
    let filter = wall.filter.as_ref();
    let mut parts: Vec<String> = filter
        .map(|filter| format!("&{} {shown} of {all}", filter.typed))
        .into_iter()
        .chain(sort.map(|_| wall.list.sorted_by(&screen.theme)))
        .chain(wall.alarms.iter().map(|wish| format!("watching {wish}")))
        .chain(wall.unread())
        .collect();
    if parts.is_empty() && all > 0 {
        parts.push(format!("! {NEEDS}"));
    }
    parts.join("  ")
}

/// The message that explains an empty list.
fn why_empty(wall: &Wall, screen: &Screen) -> String {
    match (wall.unread(), wall.counts().1, &wall.filter) {
        (Some(why), 0, _) => why,
        (None, 0, _) if !wall.is_complete => {
            format!("Looking for sessions{}", screen.theme.glyphs().ellipsis)
        }
        (None, 0, _) => {
            format!(
                "Nothing was written to any session in the last {}. s shows them all; tv top --since 1d looks farther back.",
                figures::span(wall.recent_ms)
            )
        }
        (_, _, Some(filter)) => format!("No session fits {}.", filter.typed),
        (_, _, None) => String::new(),
    }
}

/// Facts and last messages of a session.
fn preview_of(
    row: &SessionRow,
    screen: &Screen,
    (width, most): (usize, usize),
) -> Vec<Line<'static>> {
    let theme = &screen.theme;
    let mut lines = lines_of(&row.name(), theme.heading, theme.glyphs().cut, (width, 2));
    for line in facts(screen, row) {
        let line = wrap::fit(&[Span::styled(line, theme.dim)], width, theme.glyphs().cut);
        lines.push(Line::from(line));
    }
    if let Some(problem) = &row.problem {
        // The row truncates the problem; here it is complete.
        lines.extend(lines_of(
            problem,
            theme.bad,
            theme.glyphs().cut,
            (width, most),
        ));
    }
    lines.push(Line::default());
    let end = end_of(screen, &row.last, width);
    let left = most.saturating_sub(lines.len());
    lines.extend(end.into_iter().rev().take(left).rev());
    lines.truncate(most);
    lines
}

fn facts(screen: &Screen, row: &SessionRow) -> Vec<String> {
    let ascii = screen.theme.ascii;
    let context = row.context.map(|_| row.context_words());
    let hour = row.hour.as_ref().and_then(phrases::cost);
    let what = [
        Some(row.state(screen.now, ascii)),
        Some(row.agent()),
        row.head.model.as_deref().map(phrases::model),
        context.map(|context| format!("ctx {context}")),
        Some(row.cost_words(ascii)),
        hour.map(|cost| format!("{cost} per hour")),
        (row.flags.errors > 0).then(|| format!("{} failed", row.flags.errors)),
    ];
    let place = [row.head.cwd.as_ref(), row.head.id.as_ref()];
    let place = place.map(|text| text.map(ToString::to_string));
    vec![phrases::joined(what, ascii), phrases::joined(place, ascii)]
}
