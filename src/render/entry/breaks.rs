//! Rules across the transcript: compaction, change of the model, interruption, errors.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::model::entry::Break;
use crate::model::figures;
use crate::model::text::Text;
use crate::render::body;
use crate::render::excerpt::Detail;
use crate::render::markdown::MarkdownMode;
use crate::render::row::{Row, RowKind, restyle};
use crate::render::sheet::{EntryRows, HeadRow};
use crate::render::theme::Theme;
use crate::render::tool::first_line;
use crate::render::wrap;

/// Rows of text of a previewed break.
const PREVIEW: usize = 4;

pub fn lay_out(sheet: &mut EntryRows<'_>, what: &Break, detail: Detail) {
    let theme = sheet.look.theme;
    let glyphs = sheet.glyphs();
    match what {
        Break::Compaction {
            before,
            after,
            trigger,
            partial,
            took,
        } => {
            let mut words = compaction(*before, *after, *partial, glyphs.arrow);
            let notes = [
                first_line(trigger),
                took.map(figures::duration).unwrap_or_default(),
            ];
            let notes: Vec<String> = notes
                .into_iter()
                .filter(|note| !note.trim().is_empty())
                .collect();
            if !notes.is_empty() {
                words.push_str(&format!(" ({})", notes.join(", ")));
            }
            rule(
                sheet,
                &format!("{} {words}", glyphs.compacted),
                theme.warn,
                4,
            );
        }
        Break::Branch(text) => separator(sheet, "branch left", text, detail),
        Break::Interrupted(text) => {
            let words = titled("interrupted", text);
            rule(
                sheet,
                &format!("{} {words}", glyphs.outcome.failed),
                theme.warn,
                2,
            );
        }
        Break::Resumed(text) => separator(sheet, "resumed", text, detail),
        Break::Error(text) => error(sheet, text, detail),
        Break::ModelChange(model) => rule(sheet, &titled("model", model), theme.dim, 2),
        Break::Setting(text) => rule(sheet, &first_line(text), theme.dim, 2),
        Break::Took(_) => rule(sheet, &what.words(), theme.dim, 2),
        Break::Ended(text) => separator(sheet, "ended", text, detail),
        Break::Continued(id) => separator(sheet, "continued in", id, detail),
        Break::Waiting(text) => {
            let words = titled("waiting for you", text);
            rule(
                sheet,
                &format!("{} {words}", glyphs.list.doing),
                theme.accent,
                2,
            );
        }
    }
}

/// `compacted 148k → 22k tokens`
fn compaction(before: Option<u64>, after: Option<u64>, partial: bool, arrow: &str) -> String {
    let mut words = if partial {
        "old outputs dropped"
    } else {
        "compacted"
    }
    .to_owned();
    match (before, after) {
        (Some(before), Some(after)) => {
            words.push_str(&format!(
                " {} {arrow} {} tokens",
                figures::tokens(before),
                figures::tokens(after)
            ));
        }
        (Some(before), None) => {
            words.push_str(&format!(" from {} tokens", figures::tokens(before)));
        }
        (None, Some(after)) => words.push_str(&format!(" to {} tokens", figures::tokens(after))),
        (None, None) => {}
    }
    words
}

/// A rule with a title, and further lines of the text below it.
fn separator(sheet: &mut EntryRows<'_>, title: &str, text: &Text, detail: Detail) {
    let dim = sheet.look.theme.dim;
    let is_long =
        text.trim().contains('\n') || wrap::width(wrap::head(text, 400)) + 20 > sheet.body_width();
    if !is_long || detail == Detail::Closed {
        rule(sheet, &titled(title, text), dim, 2);
        return;
    }
    rule(sheet, title, dim, 2);
    let limit = detail.rows_or(PREVIEW);
    let mut rows = body::prose(
        text,
        MarkdownMode::Prose,
        limit,
        sheet.body_width(),
        sheet.look,
    );
    restyle(&mut rows, dim);
    sheet.body(rows);
}

/// `── words ─────────`
pub(crate) fn rule_line(
    words: &str,
    style: Style,
    lead: usize,
    width: usize,
    theme: &Theme,
) -> Line<'static> {
    let glyphs = theme.glyphs();
    let front = if width > 24 {
        format!("{} ", glyphs.line.rule.repeat(lead))
    } else {
        String::new()
    };
    let spans = [
        Span::styled(front, theme.dim),
        Span::styled(words.to_owned(), style),
    ];
    let mut line = wrap::fit(&spans, width, glyphs.cut);
    let left = width.saturating_sub(wrap::width_of(&line) + 1);
    if left > 0 {
        line.push(Span::styled(
            format!(" {}", glyphs.line.rule.repeat(left)),
            theme.dim,
        ));
    }
    Line::from(line)
}

fn rule(sheet: &mut EntryRows<'_>, words: &str, style: Style, lead: usize) {
    let line = rule_line(words, style, lead, sheet.width(), sheet.look.theme);
    sheet.push(
        Row {
            line,
            kind: RowKind::Rule,
            ..Row::default()
        },
        0,
    );
}

fn error(sheet: &mut EntryRows<'_>, text: &Text, detail: Detail) {
    let theme = sheet.look.theme;
    let first = first_line(text);
    let fits =
        wrap::width(&first) + 20 <= usize::from(sheet.look.width) && !text.trim().contains('\n');
    sheet.head(HeadRow {
        kind: RowKind::Error,
        at: sheet.item.entry.at,
        word: Span::styled("error", theme.bad),
        text: if fits || detail == Detail::Closed {
            vec![Span::styled(first, theme.text)]
        } else {
            Vec::new()
        },
        right: vec![Span::styled(sheet.glyphs().outcome.failed, theme.bad)],
        ..HeadRow::default()
    });
    if !fits && detail != Detail::Closed {
        let limit = detail.rows_or(PREVIEW);
        let rows = body::prose(
            text,
            MarkdownMode::Typed,
            limit,
            sheet.body_width(),
            sheet.look,
        );
        sheet.body(rows);
    }
}

fn titled(title: &str, text: &Text) -> String {
    let first = first_line(text);
    if first.is_empty() {
        title.to_owned()
    } else {
        format!("{title} {first}")
    }
}
