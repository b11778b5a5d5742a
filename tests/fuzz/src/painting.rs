//! Lays out texts as rows.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use tv::model::change::{self, LineSign};
use tv::model::text::{Text, without_sgr};
use tv::render::code::Colours;
use tv::render::diff;
use tv::render::excerpt::{Detail, ExcerptLimits};
use tv::render::markdown::{self, MarkdownMode};
use tv::render::output::{self, BodyText};
use tv::render::row::{Look, Row};
use tv::render::theme::{TerminalSupport, Theme};
use tv::render::wrap::{LineFrame, Piece, fit, fit_end, head, tail, width, wrap};
use tv::render::{ansi, colour::Depth, json, tree};

use crate::laws::{assert_clean, assert_rows, columns};

fn width_of(knobs: [u8; 2]) -> usize {
    1 + usize::from(u16::from_be_bytes(knobs)) % 400
}

fn within<T>(columns: usize, paint: impl FnOnce(&Look<'_>) -> T) -> T {
    let (theme, colours) = (Theme::dark(), Colours::never());
    paint(&Look::full(
        u16::try_from(columns).expect("at most 400"),
        &theme,
        &colours,
    ))
}

/// Texts are cleaned, and colours in them are parsed.
pub fn text(data: &[u8]) {
    let Some(([a, b, kind], raw)) = crate::knobs(data) else {
        return;
    };
    let clean = Text::clean(raw);
    assert_clean(&clean, false);
    assert_eq!(Text::clean(&clean), clean, "what is clean stays as it is");
    let out = Text::output(raw);
    assert_clean(&out, true);
    assert_eq!(Text::output(&out), out, "what is clean stays as it is");
    let plain = without_sgr(&out);
    assert_clean(&plain, false);
    assert_clean(&Text::stub(raw, usize::from(a)), false);
    assert!(
        Text::stub(raw, usize::from(a)).lines().count() <= 1,
        "a stub is a line"
    );

    let theme = Theme::dark();
    let terminal = TerminalSupport {
        depth: Depth::True,
        ..theme.terminal
    };
    let spans = ansi::lines(&out, Style::new(), &Theme { terminal, ..theme });
    let painted: Vec<String> = spans
        .iter()
        .map(|line| line.iter().map(|span| span.content.as_ref()).collect())
        .collect();
    let wanted: Vec<&str> = plain.lines().collect();
    assert_eq!(painted, wanted, "colours take nothing of the text");

    // Counts of hidden lines are cut by the sheet that gets these rows.
    let columns = width_of([a, b]).max(40);
    let rows = within(columns, |look| {
        let source = BodyText {
            text: &out,
            lines: out.lines().count(),
        };
        let detail = if kind & 1 == 0 {
            Detail::Preview
        } else {
            Detail::Full
        };
        let extent = detail.extent(usize::from(kind >> 5), usize::from(kind >> 6));
        match (kind >> 1) & 3 {
            0 => output::plain(source, extent, columns, look, Style::new()),
            1 => output::numbered(source, "", extent, columns, look),
            2 => output::hits(source, extent, columns, look),
            _ => json::parse(&clean)
                .map(|tree| tree::rows(&tree, columns, 100, look))
                .unwrap_or_default(),
        }
    });
    assert_rows(&rows, columns);
}

/// A wrapped line with prefixes.
pub fn wrapped(data: &[u8]) {
    let Some(([a, b, indent, kind], text)) = crate::knobs(data) else {
        return;
    };
    let room = width_of([a, b]);
    let spans: Vec<Piece> = text
        .split('\n')
        .map(|part| Span::raw(part.to_owned()))
        .collect();
    let frame = LineFrame {
        limit: usize::from(kind & 3),
        cut: if kind & 4 == 0 { "…" } else { "~" },
        sideways: (kind & 8 != 0).then(|| u16::from(kind >> 4)),
        ..LineFrame::hanging(room, usize::from(indent))
    };
    let lines = wrap(&spans, &frame);
    assert!(!lines.is_empty() && (frame.limit == 0 || lines.len() <= frame.limit));
    lines.iter().for_each(|line| assert_line(line, room));
    assert_line(&Line::from(fit(&spans, room, frame.cut)), room);
    let end = fit_end(
        &text.replace(|c: char| c.is_control(), " "),
        room,
        frame.cut,
    );
    assert!(width(&end) <= room, "{} of {room}: {end:?}", width(&end));
    for max in [usize::from(indent), room] {
        assert!(text.starts_with(head(text, max)) && head(text, max).len() <= max);
        assert!(text.ends_with(tail(text, max)) && tail(text, max).len() <= max);
        assert!(text.len() <= max || head(text, max).len() + 4 > max);
    }
    // Ordinary letters all stay, in their order.
    let is_simple = |c: char| matches!(c, ' '..='~' | 'à'..='ÿ' | '一'..='龥' | 'あ'..='ゖ');
    if frame.limit == 0
        && frame.sideways.is_none()
        && room >= 4
        && spans.iter().all(|span| span.content.chars().all(is_simple))
    {
        let ink = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
        let shown: String = lines.iter().map(|line| ink(&line.to_string())).collect();
        assert_eq!(shown, ink(&text.replace('\n', "")));
    }
}

fn assert_line(line: &Line<'_>, room: usize) {
    assert!(
        columns(line) <= room,
        "{} of {room}: {line:?}",
        columns(line)
    );
    assert!(!line.to_string().chars().any(char::is_control), "{line:?}");
}

/// Markdown, as prose and as typed.
pub fn marked(data: &[u8]) {
    let Some(([a, b, limit], raw)) = crate::knobs(data) else {
        return;
    };
    let columns = width_of([a, b]);
    let text = Text::clean(raw);
    let limit = 1 + usize::from(limit);
    for manner in [MarkdownMode::Prose, MarkdownMode::Typed] {
        let rows = within(columns, |look| {
            markdown::rows(&text, manner, columns, limit, look)
        });
        assert_rows(&rows, columns);
        let again = within(columns, |look| {
            markdown::rows(&text, manner, columns, usize::MAX, look)
        });
        assert_rows(&again, columns);
        // No visible character is made up: a row shows only letters of the text.
        let has = |c: char| {
            !c.is_alphabetic()
                || !c.is_ascii()
                || text.contains(c)
                || text.contains('&')
                || text.contains('[')
        };
        let line = |row: &Row| row.line.to_string().chars().all(has);
        assert!(again.iter().all(line), "{again:?}");
    }
}

/// Two texts are compared, and both are parsed as patches.
pub fn diffs(data: &[u8]) {
    let Some(([a, b, split], raw)) = crate::knobs(data) else {
        return;
    };
    let columns = width_of([a, b]).max(40);
    let text = Text::clean(raw);
    let (old, new) = halves(&text, split);
    let lines = change::compare(old, new);
    assert_compared(old, new, &lines);
    let extent = ExcerptLimits {
        head: usize::from(split),
        tail: 2,
        rows_per_line: usize::from(split & 3),
    };
    let rows = within(columns, |look| {
        diff::rows(&lines, "", extent, columns, look)
    });
    assert_rows(&rows, columns);
    let patch = change::of_patch(&text);
    let told: usize = patch
        .iter()
        .map(|line| line.parts.iter().map(|part| part.1.len()).sum::<usize>())
        .sum();
    assert!(
        told <= 2 * text.len() + 16 * patch.len(),
        "a patch tells no more than it holds"
    );
    for line in &patch {
        assert!(
            line.parts.iter().all(|(_, text)| !text.contains('\n')),
            "{line:?}"
        );
    }
    let (added, removed) = change::counts(&patch);
    assert!(added + removed <= text.lines().count());
    let rows = within(columns, |look| {
        diff::rows(&patch, "rust", extent, columns, look)
    });
    assert_rows(&rows, columns);
    assert_clean(&change::text(patch.iter()), false);
}

/// Splits the text: at a line of `===` if there is one, else at an offset chosen by the first
/// bytes.
fn halves(text: &str, split: u8) -> (&str, &str) {
    text.split_once("===\n")
        .unwrap_or_else(|| text.split_at(head(text, text.len() * usize::from(split) / 255).len()))
}

/// Unchanged and removed lines are a subsequence of the old text, unchanged and added ones of the
/// new; and the difference of their numbers of lines is that of the counts.
fn assert_compared(old: &str, new: &str, lines: &[change::DiffLine]) {
    let text = |line: &change::DiffLine| {
        line.parts
            .iter()
            .map(|part| part.1.as_str())
            .collect::<String>()
    };
    for (whole, not) in [(old, LineSign::Added), (new, LineSign::Removed)] {
        let mut rest = whole.lines();
        for line in lines
            .iter()
            .filter(|line| line.sign != not && line.sign != LineSign::Note)
        {
            let text = text(line);
            assert!(rest.any(|of| of == text), "{text:?} is not in {whole:?}");
        }
    }
    let (added, removed) = change::counts(lines);
    assert!(
        old != new || added + removed == 0,
        "a text does not differ from itself"
    );
    let ended = |text: &str| text.trim_end_matches('\n').to_owned();
    if ended(old) != ended(new) {
        let (before, after) = (old.lines().count(), new.lines().count());
        assert_eq!(
            after + removed,
            before + added,
            "{old:?} to {new:?}: {lines:?}"
        );
    }
}
