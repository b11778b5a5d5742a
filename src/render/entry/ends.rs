//! The end of background work: a row at the position where the model was notified of it, in place
//! of the notice.

use ratatui::text::Span;

use crate::model::body::{Body, Held};
use crate::model::entry::{Block, BlockKind};
use crate::model::text::{Text, tags};
use crate::model::tool::Verdict;
use crate::model::tool::work::EndLine;
use crate::render::body;
use crate::render::excerpt::Detail;
use crate::render::row::RowKind;
use crate::render::sheet::{EntryRows, HeadRow};
use crate::render::wrap::{self, Piece};

/// Columns of time, word and glyph of a row.
const AROUND: usize = 20;
/// Least width of the subject of the call, in columns.
const ABOUT: usize = 16;

/// Lays out a notice as a row that opens to its text.
pub(super) fn lay_out(sheet: &mut EntryRows<'_>, block: &Block, ends: &[EndLine], detail: Detail) {
    let body = match &block.kind {
        BlockKind::Text(body) => body,
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => &raw.body,
        BlockKind::Thinking(_)
        | BlockKind::Call(_)
        | BlockKind::Result(_)
        | BlockKind::Image(_)
        | BlockKind::Break(_) => return,
    };
    let theme = sheet.look.theme;
    let outcome = &sheet.glyphs().outcome;
    for (number, end) in ends.iter().enumerate() {
        let (glyph, style) = match end.verdict {
            Verdict::Done => (outcome.done, theme.good),
            Verdict::Failed => (outcome.failed, theme.bad),
            Verdict::Refused => (outcome.refused, theme.warn),
            Verdict::Stopped => (outcome.lost, theme.warn),
        };
        let (text, suffix) = words(sheet, end);
        if number > 0 {
            let line = wrap::fit(
                &[text, suffix].concat(),
                sheet.body_width(),
                sheet.glyphs().cut,
            )
            .into();
            sheet.lines(vec![line]);
            continue;
        }
        sheet.head(HeadRow {
            kind: RowKind::Head,
            at: sheet.item.entry.at,
            word: Span::styled("note", theme.dim),
            text,
            suffix,
            right: vec![Span::styled(glyph, style)],
            is_away: body.is_on_disk(),
            hides: if detail.is_whole() {
                0
            } else {
                body.lines.max(1)
            },
            ..HeadRow::default()
        });
    }
    if detail.is_whole() {
        let readable = body.text().and_then(|text| tags::readable(text));
        let readable = readable.map(|text| Body {
            held: Held::Text(Text::clean(&text)),
            ..body.clone()
        });
        let body = readable.as_ref().unwrap_or(body);
        let rows = body::untitled(sheet, body, detail);
        sheet.body(rows);
    }
}

/// The parts of `bash "cargo test" ended  exit 1 · ran 5m01s · told 10m19s later`: the command,
/// which is truncated if it is too long, and the rest, of which exit code and delay are kept.
fn words(sheet: &EntryRows<'_>, end: &EndLine) -> (Vec<Piece>, Vec<Piece>) {
    let theme = sheet.look.theme;
    let quote = if end.about.is_empty() { "" } else { "\"" };
    let gap = if end.about.is_empty() { "" } else { " " };
    let text = vec![
        Span::styled(format!("{}{gap}", end.tool), theme.tool),
        Span::styled(format!("{quote}{}", end.about), theme.text),
    ];
    let mut suffix = vec![Span::styled(format!("{quote} {}", end.verb), theme.text)];
    let dot = format!(" {} ", sheet.glyphs().dot);
    let last = end.facts.len().saturating_sub(1);
    let mut facts: Vec<Piece> = end
        .exit
        .iter()
        .map(|exit| Span::styled(exit.clone(), theme.bad))
        .collect();
    facts.extend(end.facts.iter().enumerate().map(|(number, fact)| {
        let style = if number == last && end.is_missed {
            theme.warn
        } else {
            theme.dim
        };
        Span::styled(fact.clone(), style)
    }));
    let about = wrap::width(&end.about).min(ABOUT);
    let room = sheet
        .body_width()
        .saturating_sub(AROUND + wrap::width(&end.tool) + about + end.verb.len());
    while wrap::width_of(&facts) + (facts.len() - 1) * wrap::width(&dot) > room && facts.len() > 1 {
        facts.remove(usize::from(end.exit.is_some() && facts.len() > 2));
    }
    for (number, fact) in facts.into_iter().enumerate() {
        let between = if number == 0 { "  " } else { dot.as_str() };
        suffix.push(Span::styled(between.to_owned(), theme.dim));
        suffix.push(fact);
    }
    (text, suffix)
}
