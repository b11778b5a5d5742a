//! Paints the transcript: focus mark, lane gutter, rows, right-aligned facts, search hits.

use std::num::NonZeroU16;

use ratatui::buffer::{Buffer, CellDiffOption, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use regex::Regex;

use super::pictures;
use crate::analysis::lint::{Finding, Severity};
use crate::app::panes::Pane;
use crate::app::reader::Reader;
use crate::app::text::gutter::{GutterCell, Stroke};
use crate::app::text::viewport::{WindowLine as Shown, focus_of};
use crate::model::edit::LinkState;
use crate::model::entry::Piece;
use crate::model::figures;
use crate::model::timestamp::Timestamp;
use crate::render::link::LinkTargets;
use crate::render::row::{Row, item_at};
use crate::render::theme::Theme;

/// Paints the window's lines.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    if reader.text.view.lines.is_empty() {
        return paint_empty(reader, area, buffer);
    }
    let frame = reader.frame();
    let (numbers, left) = (frame.numbers, frame.left());
    let has_keys = reader.focused() == Pane::Transcript;
    let searched = reader
        .text
        .find
        .search
        .as_ref()
        .map(|search| &search.pattern);
    let drawings = pictures::in_sight(reader);
    let spot = reader
        .inspector
        .location()
        .filter(|_| reader.focused() == Pane::Inspector);
    for ((at, shown), y) in reader
        .text
        .view
        .lines
        .iter()
        .enumerate()
        .zip(area.y..area.bottom())
    {
        let Some(row) = shown.row() else { continue };
        let line = Rect {
            y,
            height: 1,
            ..area
        };
        paint_number(reader, shown, row, (line, numbers), buffer);
        let taken = numbers.min(line.width);
        let line = Rect {
            x: line.x + taken,
            width: line.width - taken,
            ..line
        };
        paint_margin(reader, shown, row, has_keys, line, buffer);
        if let Some(cells) = reader.text.gutter.lines.get(at) {
            paint_lanes(cells, &reader.screen.theme, line, buffer);
        }
        let text = Rect {
            x: line.x + left.min(line.width),
            width: line.width.saturating_sub(left + 1),
            ..line
        };
        let pattern = searched.filter(|_| !row.kind.is_between());
        let is_worked_on = row.clock().is_some() && reader.session.is_at_work(reader.screen.now);
        // A row of a picture has no text to match.
        let pattern = pattern.filter(|_| row.tile.is_none());
        let theme = &reader.screen.theme;
        let is_at_hit = pattern.is_some() && is_current_hit(reader, shown, row);
        if is_at_hit {
            buffer.set_stringn(
                line.x,
                line.y,
                theme.glyphs().hit,
                usize::from(line.width),
                theme.focus,
            );
        }
        let hit = if is_at_hit {
            theme.hit.current
        } else {
            theme.hit.any
        };
        let is_focused =
            reader.text.view.focus.is_some() && focus_of(shown) == reader.text.view.focus;
        paint_row(
            reader,
            row,
            (is_worked_on, is_focused, has_error(reader, shown, row)),
            text,
            pattern.map(|pattern| (pattern, hit)),
            buffer,
        );
        if reader.text.as_of.is_dimmed(shown.entry) {
            buffer.set_style(text, reader.screen.theme.dim);
            paint_unseen(reader, row, line, buffer);
        }
        if let Some(tile) = &row.tile {
            pictures::mark(tile, &drawings, text, buffer);
        }
        if spot.is_some_and(|spot| spot.focus.entry == shown.entry && spot.is_in(row)) {
            buffer.set_style(text, reader.screen.theme.selected());
        }
        if reader
            .text
            .view
            .selected
            .is_some_and(|(first, last)| (first..=last).contains(&at))
        {
            buffer.set_style(line, reader.screen.theme.selected());
        }
    }
}

fn paint_empty(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    let words = match (&reader.session.file.fault, &reader.session.file.opened) {
        (None, _)
            if reader
                .text
                .find
                .filter
                .as_ref()
                .is_some_and(|filter| filter.hidden > 0) =>
        {
            "nothing here fits the filter; & and enter show all".to_owned()
        }
        (Some(fault), _) => fault.to_string(),
        (None, Some(_)) if reader.session.file.link == LinkState::Deleted => {
            "the file is gone; waiting for it to come back".to_owned()
        }
        (None, Some(_)) if matches!(reader.session.file.link, LinkState::Moved(_)) => {
            "the file was moved away; waiting for another one".to_owned()
        }
        (None, Some(_)) if reader.session.file.is_caught_up => {
            "nothing here yet; new lines appear as they are written".to_owned()
        }
        _ => "reading …".to_owned(),
    };
    let left = reader.frame().left();
    let x = area.x + left.min(area.width);
    buffer.set_stringn(
        x,
        area.y + area.height / 3,
        &words,
        usize::from(area.width.saturating_sub(left)),
        reader.screen.theme.dim,
    );
}

/// The line or offset of an item's record, beside its first row.
fn paint_number(
    reader: &Reader,
    shown: &Shown,
    row: &Row,
    (line, columns): (Rect, u16),
    buffer: &mut Buffer,
) {
    if columns == 0 || item_at(&shown.rows, row.block).map(|(first, _)| first) != Some(shown.row) {
        return;
    }
    let Some(entry) = reader.session.transcript.get(shown.entry) else {
        return;
    };
    let width = usize::from(columns - 1);
    let number = format!(
        "{:>width$}",
        reader.text.wrapping.numbers.of(entry, row.block)
    );
    buffer.set_stringn(
        line.x,
        line.y,
        &number,
        width.min(usize::from(line.width)),
        reader.screen.theme.dim,
    );
}

/// Focus mark in the first column, dim while another pane has the focus.
fn paint_margin(
    reader: &Reader,
    shown: &Shown,
    row: &Row,
    has_keys: bool,
    line: Rect,
    buffer: &mut Buffer,
) {
    let is_focused = reader.text.view.focus.is_some() && focus_of(shown) == reader.text.view.focus;
    let is_head = begins_block(shown, row);
    let is_first_in_sight = reader
        .text
        .view
        .lines
        .first()
        .is_some_and(|first| (first.place, first.row) == (shown.place, shown.row));
    if is_focused {
        // Within a tree the mark is at the current node.
        let is_here = match reader.text.view.node() {
            Some(_) => reader.text.view.is_at_node(shown),
            None => is_head || is_first_in_sight,
        };
        let mark = if is_here { "▶" } else { "▎" };
        let mark = match (reader.screen.theme.ascii, is_here) {
            (true, true) => ">",
            (true, false) => ":",
            (false, _) => mark,
        };
        if is_head || is_first_in_sight || !row.kind.is_between() {
            let style = if has_keys {
                reader.screen.theme.focus
            } else {
                reader.screen.theme.dim
            };
            buffer.set_stringn(line.x, line.y, mark, usize::from(line.width), style);
        }
    }
}

/// Whether a row is the first of its block.
fn begins_block(shown: &Shown, row: &Row) -> bool {
    let above = shown.row.checked_sub(1).and_then(|at| shown.rows.get(at));
    above.is_none_or(|above| above.block != row.block)
}

fn is_current_hit(reader: &Reader, shown: &Shown, row: &Row) -> bool {
    let at = reader
        .text
        .find
        .current_hit
        .filter(|at| Some(at.focus) == focus_of(shown));
    let above = shown
        .rows
        .iter()
        .take(shown.row)
        .filter(|above| above.block == row.block);
    at.is_some_and(|at| at.row == above.count())
}

/// The lane gutter, from the second column on: dim, except for lines of sub-agents and of the
/// focused call.
fn paint_lanes(cells: &[GutterCell], theme: &Theme, line: Rect, buffer: &mut Buffer) {
    let glyphs = theme.glyphs();
    for (cell, x) in cells.iter().zip(line.x + 1..line.right()) {
        let glyph = match cell.part {
            Stroke::None => continue,
            Stroke::Opens => glyphs.lane.opens,
            Stroke::Within => glyphs.lane.within,
            Stroke::Closes => glyphs.lane.closes,
            Stroke::Single => glyphs.lane.single,
            Stroke::Waits => glyphs.lane.waits,
            Stroke::More => glyphs.lane.more,
        };
        let style = match cell {
            GutterCell {
                is_focused: true, ..
            } => theme.focus,
            GutterCell { is_agent: true, .. } => theme.tool,
            GutterCell { .. } => theme.dim,
        };
        buffer.set_stringn(x, line.y, glyph, 1, style);
    }
}

/// The sign of an entry that the model did not see at the cursor, since dimming alone is a colour.
fn paint_unseen(reader: &Reader, row: &Row, line: Rect, buffer: &mut Buffer) {
    if !row.kind.is_between() && line.width > 0 {
        buffer.set_stringn(
            line.x,
            line.y,
            reader.screen.theme.glyphs().outcome.lost,
            1,
            reader.screen.theme.dim,
        );
    }
}

fn paint_row(
    reader: &Reader,
    row: &Row,
    (is_worked_on, is_focused, has_error): (bool, bool, bool),
    area: Rect,
    pattern: Option<(&Regex, Style)>,
    buffer: &mut Buffer,
) {
    if area.width == 0 {
        return;
    }
    let line = pattern.map_or_else(
        || row.line.clone(),
        |(pattern, hit)| with_hits(&row.line, pattern, hit),
    );
    buffer.set_line(area.x, area.y, &line, area.width);
    if let Some(links) = &row.links {
        paint_links(links, reader.screen.theme.terminal.has_links, area, buffer);
    }
    let room = usize::from(area.width).saturating_sub(line.width());
    if row.on_focus && !is_focused {
        return;
    }
    let right = right_of(
        row,
        is_worked_on,
        room,
        reader.screen.now,
        &reader.screen.theme,
    );
    let right = if has_error {
        with_finding(right, &reader.screen.theme)
    } else {
        right
    };
    let width = u16::try_from(right.width()).unwrap_or(u16::MAX);
    if width > 0 && width <= area.width {
        buffer.set_line(area.right() - width, area.y, &right, width);
    }
}

/// Makes cells of links. Each cell opens and closes its link (OSC 8), because any of them may be
/// written alone; the id tells the terminal that they belong together.
fn paint_links(links: &LinkTargets, has_links: bool, area: Rect, buffer: &mut Buffer) {
    for x in area.x..area.right() {
        let Some(cell) = buffer.cell_mut((x, area.y)) else {
            continue;
        };
        let Some(address) = links.address_of(cell.style()) else {
            continue;
        };
        cell.underline_color = Color::Reset;
        if !has_links {
            continue;
        }
        let number = Piece::of(address).0;
        let width = NonZeroU16::new(cell.cell_width()).unwrap_or(NonZeroU16::MIN);
        let symbol = format!(
            "\u{1b}]8;id={number:x};{address}\u{1b}\\{}\u{1b}]8;;\u{1b}\\",
            cell.symbol()
        );
        cell.set_symbol(&symbol)
            .set_diff_option(CellDiffOption::ForcedWidth(width));
    }
}

/// Whether the lint found an error in the block that begins with a row.
fn has_error(reader: &Reader, shown: &Shown, row: &Row) -> bool {
    let is_error =
        |finding: &Finding| finding.block == row.block && finding.severity == Severity::Error;
    let findings = reader.session.indexes.findings.of_entry(shown.entry);
    begins_block(shown, row) && findings.iter().any(is_error)
}

/// Facts at the right edge with the sign of a finding: a call with an error of the lint did not end
/// well, whatever its result says.
fn with_finding(mut right: Line<'static>, theme: &Theme) -> Line<'static> {
    let done = theme.glyphs().outcome.done;
    let sign = Span::styled("!", theme.bad);
    if let Some(span) = right.spans.iter_mut().rfind(|span| span.content == done) {
        *span = sign;
    } else {
        let gap = if right.spans.is_empty() { "" } else { " " };
        right.spans.extend([Span::raw(gap), sign]);
    }
    right
}

/// Facts at the right edge, with a clock for a running call; a call that can no longer get a result
/// has none.
fn right_of(
    row: &Row,
    is_worked_on: bool,
    room: usize,
    now: Timestamp,
    theme: &Theme,
) -> Line<'static> {
    let Some(since) = row
        .clock()
        .filter(|_| is_worked_on || row.running_since.is_some())
    else {
        return Line::from(row.right.clone());
    };
    if !is_worked_on {
        let glyph = format!("no result {}", theme.glyphs().outcome.lost);
        return Line::styled(glyph, theme.dim);
    }
    let elapsed = figures::elapsed(now.since(since));
    let facts: usize = row.right.iter().map(Span::width).sum();
    let long = format!("running {elapsed} ");
    let words = if long.len() + facts < room {
        long
    } else {
        format!("{elapsed} ")
    };
    let mut spans = row.right.clone();
    spans.insert(0, Span::styled(words, theme.warn));
    Line::from(spans)
}

/// Marks the hits in a line. A hit may extend over several spans.
fn with_hits(line: &Line<'static>, pattern: &Regex, hit: Style) -> Line<'static> {
    let text: String = line
        .spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    let ranges: Vec<_> = pattern
        .find_iter(&text)
        .filter(|found| !found.is_empty())
        .map(|found| found.range())
        .collect();
    if ranges.is_empty() {
        return line.clone();
    }
    let mut spans = Vec::new();
    let mut start = 0;
    for span in &line.spans {
        let end = start + span.content.len();
        let mut cuts: Vec<usize> = ranges
            .iter()
            .flat_map(|range| [range.start, range.end])
            .filter(|cut| (start..end).contains(cut))
            .collect();
        cuts.push(end);
        cuts.dedup();
        let mut from = start;
        for cut in cuts {
            let part = span.content.get(from - start..cut - start).unwrap_or("");
            let is_hit = ranges
                .iter()
                .any(|range| range.start <= from && cut <= range.end);
            if !part.is_empty() {
                spans.push(Span::styled(
                    part.to_owned(),
                    if is_hit {
                        span.style.patch(hit)
                    } else {
                        span.style
                    },
                ));
            }
            from = cut;
        }
        start = end;
    }
    Line {
        spans,
        ..line.clone()
    }
}
