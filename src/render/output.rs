//! Rows of plain bodies: tool output, numbered source code, search hits.

use ratatui::style::Style;
use ratatui::text::Span;

use super::excerpt::{ExcerptLimits, excerpt};
use super::row::{Look, Row};
use super::sheet::{hidden_row, mark_hidden};
use super::source;
use super::wrap::{self, LineFrame, Piece};
use super::{ansi, code};
use crate::model::body::Body;
use crate::model::path;
use crate::model::text::{split_number, without_sgr};

/// A text that may be the beginning of a longer one.
#[derive(Clone, Copy)]
pub struct BodyText<'a> {
    pub text: &'a str,
    /// Lines of the whole text.
    pub lines: usize,
}

impl<'a> BodyText<'a> {
    /// The text of a body, or its stub if it is not in memory.
    pub(crate) fn of(body: &'a Body) -> Self {
        Self {
            text: body.text_or_stub(),
            lines: body.lines as usize,
        }
    }
}

/// Tool output, with its colours; in a preview, paths below the folder of the session are relative
/// to it.
pub fn plain(
    source: BodyText<'_>,
    extent: ExcerptLimits,
    width: usize,
    look: &Look<'_>,
    base: Style,
) -> Vec<Row> {
    let root = look.root.filter(|_| extent.is_preview());
    fold(source, extent, width, look, |part| {
        let lines = part
            .lines()
            .map(|line| path::with_relative_paths(line, root));
        let lines: String = lines.flat_map(|line| [line, "\n".into()]).collect();
        ansi::lines(&lines, base, look.theme)
            .into_iter()
            .map(|spans| (Vec::new(), spans))
            .collect()
    })
}

/// Source code; line numbers written by the agent are moved to a dim column.
pub fn numbered(
    source: BodyText<'_>,
    language: &str,
    extent: ExcerptLimits,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let dim = look.theme.dim;
    fold(source, extent, width, look, |part| {
        let plain = without_sgr(part);
        let lines: Vec<(&str, &str)> = plain.lines().map(split_number).collect();
        let column = lines
            .iter()
            .map(|(number, _)| number.len())
            .max()
            .unwrap_or(0);
        let text: Vec<&str> = lines.iter().map(|(_, text)| *text).collect();
        let mut painted = code::lines(
            &text.join("\n"),
            language,
            look.colours,
            look.theme,
            look.theme.text,
        );
        if extent.is_preview() {
            wrap::dedent(painted.iter_mut());
        }
        let front = |number: &str| match column {
            0 => Vec::new(),
            _ => vec![Span::styled(format!("{number:>column$}  "), dim)],
        };
        let mut painted = painted.into_iter();
        lines
            .iter()
            .map(|(number, _)| (front(number), painted.next().unwrap_or_default()))
            .collect()
    })
}

/// Hits of a search with `path:line:` coloured; several hits in a file are grouped below its name.
pub fn hits(
    source: BodyText<'_>,
    extent: ExcerptLimits,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let theme = look.theme;
    fold(source, extent, width, look, |part| {
        let plain = without_sgr(part);
        let root = look.root.filter(|_| extent.is_preview());
        let lines = plain.lines().map(|line| path::relative_to(line, root));
        let found: Vec<(&str, Option<GrepHit<'_>>)> =
            lines.map(|line| (line, hit_of(line))).collect();
        let path = |place: Option<usize>| Some(found.get(place?)?.1?.0);
        let mut painted = Vec::with_capacity(found.len());
        for (place, (line, hit)) in found.iter().enumerate() {
            let Some((name, number, rest)) = *hit else {
                painted.push((
                    Vec::new(),
                    vec![Span::styled((*line).to_owned(), theme.text)],
                ));
                continue;
            };
            let goes_on = path(place.checked_sub(1)) == Some(name);
            let is_group = goes_on || path(Some(place + 1)) == Some(name);
            let name = Span::styled(name.to_owned(), theme.accent);
            if is_group && !goes_on {
                painted.push((Vec::new(), vec![name.clone()]));
            }
            let number = if is_group {
                number.strip_prefix(':').unwrap_or(number)
            } else {
                number
            };
            let number = Span::styled(number.to_owned(), theme.dim);
            let rest = Span::styled(rest.to_owned(), theme.text);
            painted.push(if is_group {
                (vec![Span::raw("  ")], vec![number, rest])
            } else {
                (Vec::new(), vec![name, number, rest])
            });
        }
        painted
    })
}

/// Source code without line numbers.
pub(crate) fn source_code(
    source: BodyText<'_>,
    language: &str,
    extent: ExcerptLimits,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    fold(source, extent, width, look, |part| {
        let mut painted = code::lines(part, language, look.colours, look.theme, look.theme.text);
        if extent.is_preview() {
            wrap::dedent(painted.iter_mut());
        }
        painted
            .into_iter()
            .map(|spans| (Vec::new(), spans))
            .collect()
    })
}

/// A line: its prefix and its spans.
type StyledLine = (Vec<Piece>, Vec<Piece>);

/// Lays out head, count of hidden lines and tail; `paint` styles the lines of each part.
fn fold(
    source: BodyText<'_>,
    extent: ExcerptLimits,
    width: usize,
    look: &Look<'_>,
    paint: impl Fn(&str) -> Vec<StyledLine>,
) -> Vec<Row> {
    let shown = excerpt(source.text, source.lines, extent, width);
    let mut rows = wrapped(paint(shown.head), 0, extent, width, look);
    if shown.is_cut() {
        if shown.tail.is_empty() {
            mark_hidden(&mut rows, &shown.hidden(), shown.hidden_lines, width, look);
        } else {
            rows.push(hidden_row(&shown.hidden(), shown.hidden_lines, look));
        }
    }
    if !shown.tail.is_empty() {
        // A line that is cut in its middle continues in the tail.
        let before = shown.head.lines().count() + shown.hidden_lines;
        let first = before.min(source.lines.saturating_sub(1));
        rows.extend(wrapped(paint(shown.tail), first, extent, width, look));
    }
    rows
}

/// Wraps lines; `first` is the number of the first line within the text.
fn wrapped(
    lines: Vec<StyledLine>,
    first: usize,
    extent: ExcerptLimits,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let cut = look.theme.glyphs().cut;
    let mut rows = Vec::with_capacity(lines.len());
    for (at, (front, spans)) in lines.into_iter().enumerate() {
        let mark = Span::styled(look.theme.glyphs().goes_on, look.theme.dim);
        let rest = wrap::continuation(wrap::width_of(&front), &spans, width, mark);
        let limit = extent.rows_per_line;
        let frame = LineFrame {
            width,
            first: front,
            rest,
            limit,
            cut,
            sideways: look.sideways,
        };
        let source = source::Source::line(first + at);
        rows.extend(Row::wrapped(&spans, &frame).map(|row| Row {
            source: source.clone(),
            ..row
        }));
    }
    rows
}

/// A text without the line numbers written by an agent.
pub(crate) fn without_numbers(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| split_number(line).1).collect();
    lines.join("\n")
}
/// Path, line number with its colons, and text of a hit.
type GrepHit<'a> = (&'a str, &'a str, &'a str);

/// Bytes of a Windows drive at the start of a path: `C:\\` or `C:/`.
fn drive_of(line: &str) -> usize {
    match line.as_bytes() {
        [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic() => 3,
        _ => 0,
    }
}

/// Splits `path:12:text` and `path-12-text`.
fn hit_of(line: &str) -> Option<GrepHit<'_>> {
    let drive = drive_of(line);
    let colon = line
        .get(drive..)?
        .find(':')
        .map(|at| drive + at)
        .filter(|at| *at > 0 && *at < 200)?;
    let (path, after) = line.split_at_checked(colon)?;
    if path.contains(' ') {
        return None;
    }
    let digits = after
        .get(1..)?
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(after.len() - 1);
    let sign = after.get(1 + digits..)?;
    let end = if digits > 0 && sign.starts_with(':') {
        digits + 2
    } else {
        1
    };
    let (number, rest) = after.split_at_checked(end)?;
    Some((path, number, rest))
}

#[cfg(test)]
mod tests {
    use super::{BodyText, hit_of, hits, numbered, split_number};
    use crate::render::code::Colours;
    use crate::render::excerpt::Detail;
    use crate::render::row::Look;
    use crate::render::theme::Theme;

    #[test]
    fn line_numbers_are_found() {
        assert_eq!(split_number("   12→let x"), ("12", "let x"));
        assert_eq!(split_number("12\t  let x"), ("12", "  let x"));
        assert_eq!(split_number("7: x"), ("7", "x"));
        assert_eq!(split_number("2024 was a year"), ("", "2024 was a year"));
        assert_eq!(split_number(""), ("", ""));
    }

    #[test]
    fn line_numbers_end_in_one_column() {
        let (theme, colours) = (Theme::dark(), Colours::never());
        let look = Look::full(40, &theme, &colours);
        let source = BodyText {
            text: "     9→let x;\n    10→let y;\n",
            lines: 2,
        };
        let rows = numbered(source, "rust", Detail::Full.extent(9, 0), 40, &look);
        let shown: Vec<String> = rows.iter().map(|row| row.line.to_string()).collect();
        assert_eq!(shown, [" 9  let x;", "10  let y;"]);
    }

    #[test]
    fn hits_of_one_file_stand_below_its_name() {
        let (theme, colours) = (Theme::dark(), Colours::never());
        let look = Look::full(40, &theme, &colours);
        let text = "src/a.rs:1:fn x\nsrc/a.rs:20:fn y\nsrc/b.rs:3:fn z\nno hit";
        let rows = hits(
            BodyText { text, lines: 4 },
            Detail::Full.extent(9, 0),
            40,
            &look,
        );
        let shown: Vec<String> = rows.iter().map(|row| row.line.to_string()).collect();
        assert_eq!(
            shown,
            [
                "src/a.rs",
                "  1:fn x",
                "  20:fn y",
                "src/b.rs:3:fn z",
                "no hit"
            ]
        );
    }

    #[test]
    fn hits_are_parted() {
        assert_eq!(hit_of("a/b.rs:44: x"), Some(("a/b.rs", ":44:", " x")));
        assert_eq!(hit_of("a/b.rs:fn x"), Some(("a/b.rs", ":", "fn x")));
        assert_eq!(hit_of("no hits: none"), None);
        assert_eq!(
            hit_of(r"C:\a\b.rs:44: x"),
            Some((r"C:\a\b.rs", ":44:", " x"))
        );
        assert_eq!(
            hit_of(r"C:\a\b.rs"),
            None,
            "the drive is a part of the path"
        );
    }
}
