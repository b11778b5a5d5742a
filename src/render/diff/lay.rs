//! Lays out the lines of a change: one below the other, or old and new side by side on wide
//! screens.
//!
//! Invariant: the work depends on the visible lines, except for counting the hidden ones.

use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use crate::model::change::{self, DiffLine, LineSign};
use crate::model::edit::saturating_u32;
use crate::model::figures;
use crate::render::code;
use crate::render::excerpt::ExcerptLimits;
use crate::render::row::{Look, Row, set_source};
use crate::render::sheet::mark_hidden;
use crate::render::source::{Source, SourceText};
use crate::render::wrap::{self, LineFrame, Piece};

/// From this width on old and new are side by side.
const SIDE_BY_SIDE: usize = 140;

pub fn rows(
    lines: &[DiffLine],
    language: &str,
    extent: ExcerptLimits,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let most = extent.head + extent.tail;
    // A preview begins one line before the first change instead of with all of its context.
    let is_change = |line: &DiffLine| {
        matches!(
            line.sign,
            LineSign::Added | LineSign::Removed | LineSign::File
        )
    };
    let first = lines.iter().position(is_change).unwrap_or(0);
    let skipped = if lines.len() > most && extent.rows_per_line > 0 {
        first.saturating_sub(1)
    } else {
        0
    };
    let shown = if lines.len().saturating_sub(skipped) <= most + 1 {
        lines.len()
    } else {
        most
    };
    let hidden = lines.len().saturating_sub(skipped + shown);
    let lines: Vec<&DiffLine> = lines.iter().skip(skipped).take(shown).collect();
    let source = SourceText::Own(change::text(lines.iter().copied()));
    let mut at = 0;
    let sheet = DiffLayout {
        width,
        limit: extent.rows_per_line,
        column: column(&lines),
        look,
    };
    let has = |sign| lines.iter().any(|line| line.sign == sign);
    let is_wide = width >= SIDE_BY_SIDE && has(LineSign::Added) && has(LineSign::Removed);
    let mut rows = Vec::new();
    let mut language = language.to_owned();
    for part in lines.chunk_by(|_, next| !matches!(next.sign, LineSign::File | LineSign::Note)) {
        if let Some(file) = part.first().filter(|line| line.sign == LineSign::File) {
            let name = DiffLine::text(file);
            let name = name
                .strip_suffix(" (new)")
                .or(name.strip_suffix(" (deleted)"))
                .unwrap_or(&name);
            code::language_of_path(name).clone_into(&mut language);
        }
        let mut painted = paint(part, at, &language, look);
        if extent.is_preview() {
            let code = painted
                .iter_mut()
                .filter(|one| !matches!(one.line.sign, LineSign::File | LineSign::Note));
            wrap::dedent(code.map(|one| &mut one.spans));
        }
        at += part.len();
        if is_wide {
            sheet.side_by_side(&painted, &mut rows);
        } else {
            sheet.unified(&painted, &mut rows);
        }
    }
    set_source(&mut rows, &source);
    if hidden > 0 {
        let what = format!("+{}", figures::count(hidden as u64, "line"));
        mark_hidden(&mut rows, &what, hidden, width, look);
    }
    rows
}

/// Columns of the widest line number.
fn column(lines: &[&DiffLine]) -> usize {
    let widest = lines.iter().filter_map(|line| line.old.max(line.new)).max();
    widest.map_or(0, |number| number.to_string().len())
}

/// A line with styled text.
struct PaintedLine<'a> {
    line: &'a DiffLine,
    /// Index among the shown lines.
    at: usize,
    spans: Vec<Piece>,
}

/// Styles the lines of a hunk; each side is highlighted as one text.
fn paint<'a>(
    part: &[&'a DiffLine],
    first: usize,
    language: &str,
    look: &Look<'_>,
) -> Vec<PaintedLine<'a>> {
    let theme = look.theme;
    let side = |gone: LineSign| {
        let lines = part.iter().filter(|line| {
            line.sign != gone && line.sign != LineSign::File && line.sign != LineSign::Note
        });
        let text: Vec<String> = lines.map(|line| DiffLine::text(line)).collect();
        code::lines(&text.join("\n"), language, look.colours, theme, theme.text).into_iter()
    };
    let (mut old, mut new) = (side(LineSign::Added), side(LineSign::Removed));
    part.iter()
        .enumerate()
        .map(|(index, line)| {
            let code = match line.sign {
                LineSign::Same => new.next().and(old.next()),
                LineSign::Added => new.next(),
                LineSign::Removed => old.next(),
                LineSign::File | LineSign::Note => None,
            };
            PaintedLine {
                line,
                at: first + index,
                spans: spans(line, code.unwrap_or_default(), look),
            }
        })
        .collect()
}

/// The spans of a line: syntax colours on a tinted background if the terminal can show it,
/// otherwise in the colour of the change.
fn spans(line: &DiffLine, code: Vec<Piece>, look: &Look<'_>) -> Vec<Piece> {
    let theme = look.theme;
    let (style, tint) = match line.sign {
        LineSign::Same => {
            return if code.is_empty() {
                plain(line, theme.text)
            } else {
                code
            };
        }
        LineSign::File => return plain(line, theme.accent.add_modifier(Modifier::BOLD)),
        LineSign::Note => return plain(line, theme.dim),
        LineSign::Added => (theme.diff.added, theme.tints().map(|tints| tints.added)),
        LineSign::Removed => (theme.diff.removed, theme.tints().map(|tints| tints.removed)),
    };
    let Some((ground, strong)) = tint else {
        let marked = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        let part = |(differs, text): &(bool, String)| {
            Span::styled(text.clone(), if *differs { marked } else { style })
        };
        return line.parts.iter().map(part).collect();
    };
    let code = if code.is_empty() {
        plain(line, theme.text)
    } else {
        code
    };
    let mut cuts = Vec::new();
    let mut at = 0;
    for (differs, text) in &line.parts {
        at += text.len();
        cuts.push((at, if *differs { strong } else { ground }));
    }
    let mut spans = with_backgrounds(&code, &cuts);
    for span in &mut spans {
        span.style.fg = span.style.fg.or(theme.tints().map(|tints| tints.text));
    }
    spans
}

/// Sets the background of spans; `cuts` are the ends of the parts and their backgrounds.
fn with_backgrounds(code: &[Piece], cuts: &[(usize, ratatui::style::Color)]) -> Vec<Piece> {
    let mut out = Vec::with_capacity(code.len() + cuts.len());
    let mut start = 0;
    for span in code {
        let end = start + span.content.len();
        let mut from = start;
        let first = cuts.partition_point(|(cut, _)| *cut <= start);
        for (cut, ground) in cuts.get(first..).unwrap_or_default() {
            let to = (*cut).min(end);
            if let Some(text) = span
                .content
                .get(from - start..to - start)
                .filter(|text| !text.is_empty())
            {
                out.push(Span::styled(text.to_owned(), span.style.bg(*ground)));
            }
            from = to;
            if to == end {
                break;
            }
        }
        start = end;
    }
    out
}

fn plain(line: &DiffLine, style: Style) -> Vec<Piece> {
    vec![Span::styled(DiffLine::text(line), style)]
}

struct DiffLayout<'a> {
    width: usize,
    limit: usize,
    /// Columns of the line numbers.
    column: usize,
    look: &'a Look<'a>,
}

impl DiffLayout<'_> {
    fn unified(&self, lines: &[PaintedLine<'_>], rows: &mut Vec<Row>) {
        for painted in lines {
            let line = painted.line;
            let number = if line.sign == LineSign::Removed {
                line.old
            } else {
                line.new
            };
            let wrapped = self.wrap(painted, number, self.width);
            let source = Source::line(painted.at);
            let row = |(number, spans): (usize, Vec<Piece>)| Row {
                line: spans.into(),
                source: source.clone(),
                continues: number > 0,
                ..Row::default()
            };
            rows.extend(wrapped.into_iter().enumerate().map(row));
        }
    }

    /// Shows removed lines beside the added lines that replaced them.
    fn side_by_side(&self, lines: &[PaintedLine<'_>], rows: &mut Vec<Row>) {
        let half = (self.width - 3) / 2;
        let is_change =
            |line: &PaintedLine<'_>| matches!(line.line.sign, LineSign::Added | LineSign::Removed);
        for group in lines.chunk_by(|line, next| is_change(line) && is_change(next)) {
            let of = |sign| {
                group
                    .iter()
                    .filter(move |painted| painted.line.sign == sign)
                    .collect::<Vec<_>>()
            };
            let (old, new) = (of(LineSign::Removed), of(LineSign::Added));
            match group {
                [one] if matches!(one.line.sign, LineSign::File | LineSign::Note) => {
                    self.unified(group, rows);
                }
                [one] if one.line.sign == LineSign::Same => {
                    self.pair(Some(one), Some(one), half, rows);
                }
                _ => {
                    for index in 0..old.len().max(new.len()) {
                        self.pair(old.get(index).copied(), new.get(index).copied(), half, rows);
                    }
                }
            }
        }
    }

    fn pair(
        &self,
        left: Option<&PaintedLine<'_>>,
        right: Option<&PaintedLine<'_>>,
        half: usize,
        rows: &mut Vec<Row>,
    ) {
        let bar = Span::styled(
            format!(" {} ", self.look.theme.glyphs().line.bar),
            self.look.theme.dim,
        );
        let shown = left.or(right).map_or(0, |one| one.at);
        let beside = right.map(|one| saturating_u32(one.at));
        let source = Source {
            extra_line: beside,
            ..Source::line(shown)
        };
        let left = left
            .map(|one| self.wrap(one, one.line.old, half))
            .unwrap_or_default();
        let right = right
            .map(|one| self.wrap(one, one.line.new, half))
            .unwrap_or_default();
        for index in 0..left.len().max(right.len()) {
            let mut spans = left.get(index).cloned().unwrap_or_default();
            let free = half.saturating_sub(wrap::width_of(&spans));
            if free > 0 {
                spans.push(Span::raw(" ".repeat(free)));
            }
            spans.push(bar.clone());
            spans.extend(right.get(index).cloned().unwrap_or_default());
            let (line, source) = (spans.into(), source.clone());
            rows.push(Row {
                line,
                source,
                continues: index > 0,
                ..Row::default()
            });
        }
    }

    fn wrap(
        &self,
        painted: &PaintedLine<'_>,
        number: Option<u32>,
        width: usize,
    ) -> Vec<Vec<Piece>> {
        let theme = self.look.theme;
        let glyphs = theme.glyphs();
        let (sign, style) = match painted.line.sign {
            LineSign::Same => (" ", theme.dim),
            LineSign::Added => ("+", theme.diff.added),
            LineSign::Removed => ("-", theme.diff.removed),
            LineSign::File => return vec![wrap::fit(&painted.spans, width, glyphs.cut)],
            LineSign::Note => {
                let gap = Span::styled(format!("{} ", glyphs.ellipsis), theme.dim);
                let spans: Vec<Piece> = std::iter::once(gap)
                    .chain(painted.spans.iter().cloned())
                    .collect();
                return vec![wrap::fit(&spans, width, glyphs.cut)];
            }
        };
        let column = self.column;
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let number = if column == 0 {
            String::new()
        } else {
            format!("{number:>column$} ")
        };
        let first = vec![
            Span::styled(number, theme.dim),
            Span::styled(format!("{sign} "), style),
        ];
        let mark = Span::styled(glyphs.goes_on, theme.dim);
        let rest = wrap::continuation(wrap::width_of(&first), &painted.spans, width, mark);
        let sideways = self.look.sideways;
        let frame = LineFrame {
            width,
            first,
            rest,
            limit: self.limit,
            cut: glyphs.cut,
            sideways,
        };
        wrap::wrapped(&painted.spans, &frame)
    }
}

#[cfg(test)]
mod tests {
    use super::rows;
    use crate::model::change::{compare, of_patch};
    use crate::render::code::Colours;
    use crate::render::colour::Depth;
    use crate::render::excerpt::Detail;
    use crate::render::row::{Look, Row};
    use crate::render::theme::Theme;

    fn laid_out(patch: &str, width: usize, theme: &Theme) -> Vec<Row> {
        let colours = Colours::immediate();
        let look = Look::full(200, theme, &colours);
        rows(
            &of_patch(patch),
            "",
            Detail::Full.extent(0, 0),
            width,
            &look,
        )
    }

    const PATCH: &str =
        "--- a/x.rs\n+++ b/x.rs\n@@ -9,3 +9,4 @@ fn f\n let a;\n-let b;\n+let c;\n+let d;\n end\n";

    #[test]
    fn wide_sheets_have_both_sides() {
        let shown: Vec<String> = laid_out(PATCH, 140, &Theme::dark())
            .iter()
            .map(|row| row.line.to_string())
            .collect();
        let right = |line: &str| {
            line.split_once(" \u{2502} ")
                .map(|(_, right)| right.to_owned())
        };
        assert_eq!(shown[0], "x.rs");
        assert!(shown[2].starts_with(" 9   let a;"), "{shown:?}");
        assert!(shown[3].starts_with("10 - let b;"), "{shown:?}");
        assert_eq!(right(&shown[3]).as_deref(), Some("10 + let c;"));
        assert_eq!(right(&shown[4]).as_deref(), Some("11 + let d;"));
        assert!(shown.iter().all(|line| line.chars().count() <= 140));
    }

    #[test]
    fn syntax_lies_on_the_tint_of_the_change() {
        let theme = Theme::dark().with_depth(Depth::True);
        let rows = laid_out(PATCH, 80, &theme);
        let added = &rows[4].line.spans;
        let word = added.iter().find(|span| span.content == "let").unwrap();
        assert_eq!(word.style.fg, theme.syntax.keyword.fg);
        assert_eq!(word.style.bg, Some(theme.tints().unwrap().added.0));
        let plain = laid_out(PATCH, 80, &Theme::dark());
        assert!(
            plain
                .iter()
                .flat_map(|row| &row.line.spans)
                .all(|span| span.style.bg.is_none())
        );
    }

    #[test]
    fn what_differs_within_a_line_stands_out() {
        let theme = Theme::dark().with_depth(Depth::True);
        let colours = Colours::never();
        let look = Look::full(80, &theme, &colours);
        let lines = compare("the old word here\n", "the new word here\n");
        let rows = rows(&lines, "", Detail::Full.extent(0, 0), 80, &look);
        let strong = theme.tints().unwrap().added.1;
        let marked: String = rows
            .iter()
            .flat_map(|row| &row.line.spans)
            .filter(|span| span.style.bg == Some(strong))
            .map(|span| span.content.as_ref())
            .collect();
        assert_eq!(marked, "new");
    }
}
