//! Paints the outline.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use unicode_width::UnicodeWidthStr;

use crate::app::checks::StatusSign;
use crate::app::outline::OutlineSection;
use crate::app::outline::row::{OutlineRow, SectionKind};
use crate::app::panes::Pane;
use crate::app::reader::Reader;
use crate::render::wrap;

/// Least width of mark, number, sign and title; figures are dropped to keep it.
const TITLE: usize = 28;
/// Least width where titles are paths, whose ends tell them apart.
const PATH: usize = 24;

/// Paints the pane: sections below each other, with a blank line between.
pub fn paint(reader: &Reader, area: Rect, buffer: &mut Buffer) {
    let inner = Rect {
        width: area.width.saturating_sub(1),
        ..area
    };
    let mut y = inner.y;
    for section in &reader.outline.sections {
        let Some(heading) = line_at(inner, y) else {
            return;
        };
        let columns = columns(section, usize::from(inner.width));
        paint_heading(reader, section, &columns, heading, buffer);
        y += 1;
        for (place, row) in section.rows.iter().enumerate() {
            let Some(line) = line_at(inner, y) else {
                return;
            };
            let is_chosen = section.cursor == Some(place);
            // The row of the cursor shows its whole title instead of figures.
            let columns = if is_chosen { &[][..] } else { &columns };
            paint_row(reader, row, columns, line, buffer);
            if is_chosen {
                buffer.set_style(line, reader.screen.theme.bar);
            }
            y += 1;
        }
        y += 1;
    }
}

fn line_at(area: Rect, y: u16) -> Option<Rect> {
    (y < area.bottom()).then_some(Rect {
        y,
        height: 1,
        ..area
    })
}

fn paint_heading(
    reader: &Reader,
    section: &OutlineSection,
    columns: &[usize],
    line: Rect,
    buffer: &mut Buffer,
) {
    let style = if reader.focused() == Pane::Outline {
        reader.screen.theme.focus
    } else {
        reader.screen.theme.dim
    };
    let (title, names) = section.part.heading();
    let (in_sight, all) = section.counts;
    let cut = if in_sight < all {
        format!(" {in_sight} of {all}")
    } else {
        String::new()
    };
    buffer.set_stringn(
        line.x,
        line.y,
        format!(" {title}{cut}"),
        usize::from(line.width),
        style,
    );
    let figures = figures(columns, names.iter().copied());
    paint_figures(reader, &figures, line, buffer);
}

/// Width of each figure column of a section, with a blank before it. If titles need the space,
/// empty columns are dropped first, then the leftmost ones.
fn columns(section: &OutlineSection, width: usize) -> Vec<usize> {
    let (_, names) = section.part.heading();
    let widest = |place: usize, name: &str| {
        let figures = section.rows.iter().filter_map(|row| row.figures.get(place));
        figures
            .map(|figure| figure.width())
            .max()
            .unwrap_or(0)
            .max(name.width())
            + 1
    };
    let mut columns: Vec<usize> = names
        .iter()
        .enumerate()
        .map(|(place, name)| widest(place, name))
        .collect();
    let says_something = |place: &usize| {
        let mut figures = section
            .rows
            .iter()
            .filter_map(|row| row.figures.get(*place));
        figures.any(|figure| !matches!(figure.as_str(), "" | "-" | "0"))
    };
    let least = match section.part {
        SectionKind::Files => PATH,
        _ => TITLE,
    };
    let mut places: Vec<usize> = (0..columns.len()).collect();
    places.sort_by_key(says_something);
    for place in places {
        if columns.iter().sum::<usize>() + least > width
            && let Some(column) = columns.get_mut(place)
        {
            *column = 0;
        }
    }
    columns
}

/// The figures, aligned in their columns.
fn figures<'a>(columns: &[usize], figures: impl Iterator<Item = &'a str>) -> String {
    let shown = columns.iter().zip(figures).filter(|(width, _)| **width > 0);
    let padded = |(width, figure): (&usize, &str)| format!("{figure:>width$}", width = *width);
    shown.map(padded).collect::<Vec<_>>().concat()
}

fn paint_figures(reader: &Reader, figures: &str, line: Rect, buffer: &mut Buffer) {
    let width = u16::try_from(figures.width())
        .unwrap_or(u16::MAX)
        .min(line.width);
    buffer.set_stringn(
        line.right() - width,
        line.y,
        figures,
        usize::from(width),
        reader.screen.theme.dim,
    );
}

fn paint_row(
    reader: &Reader,
    row: &OutlineRow,
    columns: &[usize],
    line: Rect,
    buffer: &mut Buffer,
) {
    let theme = &reader.screen.theme;
    let figures = figures(columns, row.figures.iter().map(String::as_str));
    let mark = match (row.is_current, theme.ascii) {
        (false, _) => " ",
        (true, true) => ">",
        (true, false) => "▌",
    };
    let title = match (row.is_current, row.is_dim) {
        (true, _) => theme.focus,
        (false, true) => theme.dim,
        (false, false) => theme.text,
    };
    let tree = row.tree.map(|is_last| match (theme.ascii, is_last) {
        (true, _) => "| ",
        (false, true) => "└ ",
        (false, false) => "├ ",
    });
    let gap = if row.number.is_empty() { "" } else { " " };
    let before = format!(
        "{}{}{gap}{}",
        " ".repeat(row.indent),
        row.number,
        tree.unwrap_or_default()
    );
    let (sign, sign_style) = sign(reader, row.sign);
    let before_style = row
        .session
        .map_or(theme.dim, |session| theme.of_session(session));
    let spans = [
        Span::styled(mark, theme.focus),
        Span::styled(before, before_style),
        Span::styled(sign, sign_style),
    ];
    let taken = wrap::width_of(&spans);
    let room = usize::from(line.width).saturating_sub(taken + figures.width() + 1);
    let cut = theme.glyphs().cut;
    let words = if row.is_path {
        vec![Span::raw(wrap::fit_path(&row.title, room, cut))]
    } else {
        wrap::fit(&[Span::raw(row.title.clone())], room, cut)
    };
    let words = words.into_iter().map(|span| Span {
        style: title,
        ..span
    });
    let mut x = line.x;
    for span in spans.into_iter().chain(words) {
        let left = usize::from(line.right().saturating_sub(x));
        if left == 0 {
            break;
        }
        x = buffer
            .set_stringn(x, line.y, &span.content, left, span.style)
            .0;
    }
    paint_figures(reader, &figures, line, buffer);
}

fn sign(reader: &Reader, sign: StatusSign) -> (String, Style) {
    let (theme, glyphs) = (&reader.screen.theme, reader.screen.theme.glyphs());
    let (glyph, style) = match sign {
        StatusSign::None => return (String::new(), theme.text),
        StatusSign::Good => (glyphs.outcome.done, theme.good),
        StatusSign::Warn => ("!", theme.warn),
        StatusSign::Bad => (glyphs.outcome.failed, theme.bad),
        StatusSign::Failures(n) => {
            return (format!("{n}{} ", glyphs.outcome.failed), theme.dim);
        }
        StatusSign::Refused => (glyphs.outcome.refused, theme.warn),
        StatusSign::Open(place) if reader.is_running(place) => (glyphs.outcome.running, theme.warn),
        StatusSign::Open(_) => (glyphs.outcome.lost, theme.dim),
    };
    (format!("{glyph} "), style)
}
