//! Measures, wraps and cuts styled text.
//!
//! Invariant: no row is wider than requested, no grapheme is split, and no control character gets
//! through; this is the last check before the screen, after [`crate::model::text::Text::clean`].

use std::ops::Range;

use ratatui::buffer::CellWidth;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns between tab stops; indentation by tabs is narrower, because only its depth matters.
const TAB: usize = 8;
const INDENT_TAB: usize = 4;
/// Bytes of a match, and of the line on each side of it, that are considered.
const LONGEST_MATCH: usize = 4_000;
/// Combining marks per cell; more are dropped.
const MARKS_PER_CELL: usize = 8;

/// A span that owns its text.
pub type Piece = Span<'static>;

/// Width and prefixes of the rows of a line.
#[derive(Clone, Debug, Default)]
pub struct LineFrame {
    /// Width in columns, prefixes included.
    pub width: usize,
    /// Prefix of the first row.
    pub first: Vec<Piece>,
    /// Prefix of further rows.
    pub rest: Vec<Piece>,
    /// Row limit; 0 is none. If text is missing, the last row ends with `cut`.
    pub limit: usize,
    /// The sign where text is left out.
    pub cut: &'static str,
    /// First visible column; the line is cut to one row instead of wrapped.
    pub sideways: Option<u16>,
}

impl LineFrame {
    pub(crate) fn of(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    /// Further rows are indented.
    pub fn hanging(width: usize, indent: usize) -> Self {
        Self {
            width,
            rest: vec![Span::raw(" ".repeat(indent))],
            ..Self::default()
        }
    }
}

/// Width of a text in columns.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.graphemes(true).map(columns).sum()
    }
}

/// Width of a grapheme, as ratatui counts it.
fn columns(grapheme: &str) -> usize {
    if grapheme.len() == 1 {
        1
    } else {
        usize::from(grapheme.cell_width())
    }
}

/// Width of spans in columns.
pub fn width_of(spans: &[Piece]) -> usize {
    spans.iter().map(|span| width(&span.content)).sum()
}

/// The longest prefix of at most `max` bytes that does not split a character.
pub fn head(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// The longest suffix of at most `max` bytes that does not split a character.
pub fn tail(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// Estimated rows of a text of this size.
pub(crate) fn estimate(bytes: usize, lines: usize, width: usize) -> usize {
    bytes.div_ceil(width.max(1)).max(lines).max(1)
}

/// Wraps one line; returns at least one row.
pub fn wrap(spans: &[Piece], frame: &LineFrame) -> Vec<Line<'static>> {
    let first = fitting(&frame.first, frame.width);
    let rest = fitting(&frame.rest, frame.width);
    let room_first = frame.width.saturating_sub(width_of(&first)).max(1);
    let room_rest = frame.width.saturating_sub(width_of(&rest)).max(1);
    if let Some(from) = frame.sideways {
        let mut line = first;
        line.extend(part(spans, usize::from(from), room_first, frame.cut));
        return vec![line.into()];
    }
    let flat = Flat::of(spans, room_first.min(room_rest));
    let limit = if frame.limit == 0 {
        usize::MAX
    } else {
        frame.limit
    };
    let rows = flat.rows(room_first, room_rest, limit.saturating_add(1));
    let wanted = limit.min(rows.len());
    let is_cut = wanted < rows.len();
    let mut out = Vec::with_capacity(wanted);
    for (index, range) in rows.into_iter().take(wanted).enumerate() {
        let (front, room) = if index == 0 {
            (&first, room_first)
        } else {
            (&rest, room_rest)
        };
        let mut line = front.clone();
        let is_last = index + 1 == wanted;
        if is_last && is_cut {
            let from = flat.slice(range.start..flat.text.len());
            line.extend(fit(&from, room, frame.cut));
        } else {
            line.extend(flat.row(range, room));
        }
        out.push(Line::from(line));
    }
    out
}

/// As [`wrap`], as rows of pieces.
pub(crate) fn wrapped(spans: &[Piece], frame: &LineFrame) -> Vec<Vec<Piece>> {
    let lines = wrap(spans, frame).into_iter();
    lines.map(|line| line.spans).collect()
}

/// A prefix wider than half of the width is omitted.
fn fitting(front: &[Piece], width: usize) -> Vec<Piece> {
    if width_of(front) * 2 > width {
        return Vec::new();
    }
    front
        .iter()
        .filter(|span| !span.content.is_empty())
        .cloned()
        .collect()
}

/// The part of a line in `width` columns from a column on; `cut` marks missing text.
fn part(spans: &[Piece], from: usize, width: usize, cut: &'static str) -> Vec<Piece> {
    if from == 0 {
        return fit(spans, width, cut);
    }
    let flat = Flat::of(
        &beginning(spans, from.saturating_add(width).saturating_add(1)),
        width,
    );
    let mark = self::width(cut);
    let mut column = 0;
    let start = flat.text.grapheme_indices(true).find(|(_, grapheme)| {
        let is_shown = column >= from + mark;
        column += columns(grapheme);
        is_shown
    });
    let style = flat
        .styles
        .first()
        .map(|(_, style)| *style)
        .unwrap_or_default();
    let mut out = Vec::new();
    if !flat.text.is_empty() && width > mark {
        out.push(Span::styled(cut, style));
    }
    if let Some((start, _)) = start {
        out.extend(fit(
            &flat.slice(start..flat.text.len()),
            width.saturating_sub(mark),
            cut,
        ));
    }
    out
}

/// Cuts to `width` columns; `cut` marks missing text at the end.
pub fn fit(spans: &[Piece], width: usize, cut: &'static str) -> Vec<Piece> {
    if width == 0 {
        return Vec::new();
    }
    let flat = Flat::of(&beginning(spans, width), width);
    if flat.width() <= width {
        return flat.slice(0..flat.text.len());
    }
    let room = width.saturating_sub(self::width(cut));
    let mut used = 0;
    let mut end = 0;
    for (at, grapheme) in flat.text.grapheme_indices(true) {
        used += columns(grapheme);
        if used > room {
            break;
        }
        end = at + grapheme.len();
    }
    let mut out = flat.slice(0..end);
    let style = out.last().map(|span| span.style).unwrap_or_default();
    out.push(Span::styled(cut, style));
    out
}

/// Cuts a path to `width` columns. The file name is kept, then its nearest folders and the first
/// one; `cut` marks the omitted part.
pub fn fit_path(path: &str, width: usize, cut: &'static str) -> String {
    if self::width(path) <= width {
        return path.to_owned();
    }
    let from = usize::from(path.starts_with('/'));
    let (first, rest) = path.split_at(
        path.get(from..)
            .and_then(|rest| rest.find('/'))
            .map_or(0, |at| at + from),
    );
    let tails = || {
        rest.match_indices('/')
            .skip(1)
            .map(|(at, _)| rest.get(at..).unwrap_or_default())
    };
    let both = tails()
        .map(|tail| format!("{first}/{cut}{tail}"))
        .find(|path| self::width(path) <= width);
    let tail = || {
        tails()
            .map(|tail| format!("{cut}{tail}"))
            .find(|path| self::width(path) <= width)
    };
    both.or_else(tail)
        .unwrap_or_else(|| fit_end(path.rsplit('/').next().unwrap_or(path), width, cut))
}

/// Cuts what was done, such as `read src/app/views.rs`, to `width` columns: if it is a word and a
/// path, the path as [`fit_path`] does; otherwise it is left as it is.
pub fn fit_action(words: &str, width: usize, cut: &'static str) -> String {
    match words.split_once(' ') {
        Some((verb, path)) if path.contains('/') && !path.contains(' ') => {
            let room = width.saturating_sub(self::width(verb) + 1);
            format!("{verb} {}", fit_path(path, room, cut))
        }
        _ => words.to_owned(),
    }
}

/// Cuts a name to its end in `width` columns; `cut` marks missing text.
pub fn fit_end(text: &str, width: usize, cut: &'static str) -> String {
    if self::width(text) <= width {
        return text.to_owned();
    }
    if width == 0 {
        return String::new();
    }
    let room = width.saturating_sub(self::width(cut));
    let mut used = 0;
    let mut start = text.len();
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += grapheme.width();
        if used > room {
            break;
        }
        start = at;
    }
    format!("{cut}{}", text.get(start..).unwrap_or_default())
}

/// Enough of the spans to fill `width` columns, so that cutting a very long line is cheap.
fn beginning(spans: &[Piece], width: usize) -> Vec<Piece> {
    let mut bytes = width
        .saturating_mul(4 + 4 * MARKS_PER_CELL)
        .saturating_add(64);
    let mut out = Vec::new();
    for span in spans {
        if bytes == 0 {
            break;
        }
        let part = head(&span.content, bytes);
        bytes -= part.len();
        out.push(Span::styled(part.to_owned(), span.style));
    }
    out
}

/// Cuts a line to `width` columns around a match.
pub fn fit_match(
    line: &str,
    found: Range<usize>,
    width: usize,
    [plain, matched]: [Style; 2],
    cut: &'static str,
) -> Vec<Piece> {
    let part = |range: Range<usize>| {
        line.get(range)
            .unwrap_or_default()
            .replace(['\t', '\n'], " ")
    };
    let behind = line
        .get(found.end..)
        .map_or("", |behind| head(behind, LONGEST_MATCH));
    let start = found.start
        - line
            .get(..found.start)
            .map_or(0, |before| tail(before, LONGEST_MATCH).len());
    let (before, behind) = (part(start..found.start), behind.replace(['\t', '\n'], " "));
    let found = head(&part(found), LONGEST_MATCH).to_owned();
    let fits = self::width(&before) + self::width(&found) + self::width(&behind) <= width;
    // In a line that is too long, the shown text before the match is shorter than the text after
    // it.
    let before = if fits {
        before
    } else {
        fit_end(&before, width / 4, cut)
    };
    let spans = [
        Span::styled(before, plain),
        Span::styled(found, matched),
        Span::styled(behind, plain),
    ];
    fit(&spans, width, cut)
}

/// A line as one string, with styles by byte range.
struct Flat {
    text: String,
    styles: Vec<(usize, Style)>,
    is_ascii: bool,
}

impl Flat {
    /// Joins spans; tabs become blanks, control characters become visible, no grapheme is wider
    /// than `widest`.
    fn of(spans: &[Piece], widest: usize) -> Self {
        let mut text = String::with_capacity(spans.iter().map(|span| span.content.len()).sum());
        let mut styles = Vec::with_capacity(spans.len());
        let mut is_ascii = true;
        let mut column = 0;
        let mut has_ink = false;
        for span in spans {
            let is_plain = span.content.bytes().all(|byte| matches!(byte, b' '..=b'~'));
            if is_plain {
                text.push_str(&span.content);
                column += span.content.len();
                has_ink |= span.content.bytes().any(|byte| byte != b' ');
            } else {
                is_ascii &= span.content.is_ascii();
                push_safely(
                    &mut text,
                    &span.content,
                    (&mut column, &mut has_ink),
                    widest,
                );
            }
            styles.push((text.len(), span.style));
        }
        let is_ascii = is_ascii && text.is_ascii();
        if !is_ascii {
            // A grapheme across two spans gets the style of the first: its parts alone would be
            // wider.
            for (end, _) in &mut styles {
                let mut cursor = GraphemeCursor::new(*end, text.len(), true);
                if cursor.is_boundary(&text, 0) == Ok(false) {
                    *end = cursor
                        .next_boundary(&text, 0)
                        .ok()
                        .flatten()
                        .unwrap_or(text.len());
                }
            }
        }
        Self {
            text,
            styles,
            is_ascii,
        }
    }

    fn width(&self) -> usize {
        if self.is_ascii {
            self.text.len()
        } else {
            width(&self.text)
        }
    }

    /// Byte ranges of the rows, at most `limit`.
    fn rows(&self, first: usize, rest: usize, limit: usize) -> Vec<Range<usize>> {
        let mut rows = Vec::new();
        let mut start = 0;
        let mut room = first;
        while rows.len() < limit {
            let text = self.text.get(start..).unwrap_or_default();
            let (end, next) = if self.is_ascii && text.len() <= room {
                (text.len(), text.len())
            } else if self.is_ascii {
                row_end(
                    text,
                    (0..text.len()).map(|at| (at, text.get(at..=at).unwrap_or_default())),
                    room,
                )
            } else {
                row_end(text, text.grapheme_indices(true), room)
            };
            rows.push(start..start + end);
            start += next;
            room = rest;
            if start >= self.text.len() {
                break;
            }
        }
        rows
    }

    /// The styled spans of a row. Graphemes that were joined across spans, or made visible, may be
    /// wider than the row.
    fn row(&self, range: Range<usize>, room: usize) -> Vec<Piece> {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let mut pieces = self.slice(range);
        if !self.is_ascii
            && text
                .graphemes(true)
                .next()
                .is_some_and(|first| columns(first) > room)
        {
            pieces.truncate(1);
            for piece in &mut pieces {
                piece.content = "\u{fffd}".into();
            }
        }
        pieces
    }

    /// The styled spans of a byte range.
    fn slice(&self, range: Range<usize>) -> Vec<Piece> {
        let mut out = Vec::new();
        let mut from = range.start;
        let first = self.styles.partition_point(|(end, _)| *end <= range.start);
        for (end, style) in self.styles.get(first..).unwrap_or_default() {
            if from >= range.end {
                break;
            }
            let to = (*end).min(range.end);
            if to > from {
                let part = self.text.get(from..to).unwrap_or_default();
                out.push(Span::styled(part.to_owned(), *style));
                from = to;
            }
        }
        out
    }
}

/// Copies text; see [`Flat::of`].
fn push_safely(
    out: &mut String,
    text: &str,
    (column, has_ink): (&mut usize, &mut bool),
    widest: usize,
) {
    for grapheme in text.graphemes(true) {
        *has_ink |= !matches!(grapheme, "\t" | " ");
        if grapheme == "\t" {
            let tab = if *has_ink { TAB } else { INDENT_TAB };
            let blanks = tab - *column % tab;
            out.extend(std::iter::repeat_n(' ', blanks));
            *column += blanks;
            continue;
        }
        let from = out.len();
        push_cell(out, grapheme);
        let taken = out.get(from..).map_or(0, width);
        if taken > widest {
            out.truncate(from);
            out.push('\u{fffd}');
        }
        *column += taken;
    }
}

/// Copies a grapheme: control characters become visible, combining marks are limited, and
/// characters without a width are dropped, since a terminal would join them to another one.
fn push_cell(out: &mut String, grapheme: &str) {
    if grapheme.width() == 0 {
        return;
    }
    let mut marks = 0;
    for c in grapheme.chars() {
        if c.is_control() {
            out.push('\u{fffd}');
            continue;
        }
        if c.width().unwrap_or(0) == 0 {
            marks += 1;
        }
        if marks > MARKS_PER_CELL {
            return;
        }
        out.push(c);
    }
}

/// The end of the first row of a text, and the start of the next one. Rows break at blanks (which
/// are dropped), beside wide characters, or after a joint in a long word if that fills half of the
/// row; otherwise anywhere.
fn row_end<'a>(
    text: &str,
    cells: impl Iterator<Item = (usize, &'a str)>,
    room: usize,
) -> (usize, usize) {
    let mut used = 0;
    let mut has_ink = false;
    let mut stop: Option<(usize, usize)> = None;
    let mut stop_column = 0;
    let mut joint: Option<usize> = None;
    for (at, cell) in cells {
        let columns = columns(cell);
        let is_blank = cell == " ";
        let end_of_word = stop
            .filter(|(_, next)| *next == at)
            .map_or(at, |(end, _)| end);
        if used + columns > room && at > 0 {
            if !is_blank {
                let joint = joint.filter(|_| stop_column * 2 < room).map(|at| (at, at));
                return joint.or(stop).unwrap_or((at, at));
            }
            let blanks = text
                .bytes()
                .skip(at)
                .take_while(|byte| *byte == b' ')
                .count();
            return (end_of_word, at + blanks);
        }
        let after = at + cell.len();
        used += columns;
        if is_blank && has_ink {
            stop = Some((end_of_word, after));
            stop_column = used;
        } else if columns > 1 {
            stop = Some((after, after));
            stop_column = used;
        } else if used * 2 >= room && is_joint(cell) {
            joint = Some(after);
        }
        has_ink |= !is_blank;
    }
    (text.len(), text.len())
}

/// Whether a long word may be broken after this character.
fn is_joint(cell: &str) -> bool {
    matches!(
        cell,
        "/" | "\\" | "," | ";" | "&" | "|" | "=" | ")" | "]" | "}" | "?"
    )
}

/// Prefix of further rows of a line of code: its indentation and a mark.
pub(crate) fn continuation(front: usize, line: &[Piece], width: usize, mark: Piece) -> Vec<Piece> {
    let text = line.iter().flat_map(|span| span.content.chars());
    let indent = text.take_while(|c| matches!(c, ' ' | '\t'));
    let indent: usize = indent.map(|c| if c == '\t' { INDENT_TAB } else { 1 }).sum();
    vec![
        Span::raw(" ".repeat(front + indent.min(width / 3))),
        mark,
        Span::raw(" "),
    ]
}

/// Removes the indentation that all lines share.
pub(crate) fn dedent<'a>(lines: impl Iterator<Item = &'a mut Vec<Piece>>) {
    let lines: Vec<&mut Vec<Piece>> = lines.collect();
    let margin_of = |line: &[Piece]| -> Option<String> {
        let text = || line.iter().flat_map(|span| span.content.chars());
        let is_blank = |c: &char| matches!(c, ' ' | '\t');
        (!text().all(|c| is_blank(&c))).then(|| text().take_while(is_blank).collect())
    };
    let common = |a: String, b: String| {
        a.chars()
            .zip(b.chars())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a)
            .collect()
    };
    let margin = lines
        .iter()
        .filter_map(|line| margin_of(line))
        .reduce(common);
    let Some(bytes) = margin.map(|margin| margin.len()).filter(|bytes| *bytes > 0) else {
        return;
    };
    for line in lines {
        let mut left = bytes;
        for span in line.iter_mut() {
            let taken = left.min(span.content.len());
            left -= taken;
            // Blanks and tabs have one byte.
            span.content = span
                .content
                .get(taken..)
                .unwrap_or_default()
                .to_owned()
                .into();
        }
    }
}

#[cfg(test)]
mod tests;
