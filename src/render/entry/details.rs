//! Fields of records that no block shows: a dim row for each, below the last block of its record;
//! at level 5 the whole record as a tree.

use itertools::Itertools as _;
use ratatui::style::Style;
use ratatui::text::Span;

use crate::model::body::Tree;
use crate::model::figures;
use crate::model::text::{Text, tags};
use crate::render::excerpt::Detail;
use crate::render::row::{Fold, Level};
use crate::render::sheet::{EntryRows, hidden_row};
use crate::render::tree;
use crate::render::wrap::{self, Piece};

/// Limit of fields of a record at level 4.
const FIELDS: usize = 24;
/// Limit of items of a list.
const ITEMS: usize = 200;
/// Limit of a value in bytes.
const BYTES: usize = 8_000;

/// Adds the fields below a block.
pub fn lay_out(sheet: &mut EntryRows<'_>, block: usize, detail: Detail) {
    let is_folded = sheet.item.folds.get(block) == Some(&Fold::Closed);
    if sheet.look.level < Level::Full || is_folded {
        return;
    }
    let all = sheet.item.details;
    let own =
        all.partition_point(|(of, _)| *of < block)..all.partition_point(|(of, _)| *of <= block);
    let before = own
        .start
        .checked_sub(1)
        .and_then(|at| all.get(at))
        .map(|(_, details)| details);
    for (_, details) in all.get(own).unwrap_or_default() {
        if let Some((origin, record)) = &details.record {
            if *origin != sheet.item.entry.origin {
                sheet.line(
                    &super::place(*origin, sheet.glyphs().dot),
                    sheet.look.theme.dim,
                );
            }
            let rows = tree::rows(record, sheet.body_width(), Detail::Raw.rows(), sheet.look);
            sheet.body(rows);
            continue;
        }
        // Records of one message repeat the same fields.
        let is_new =
            |field: &&(Text, Tree)| before.is_none_or(|before| !before.fields.contains(field));
        let fields: Vec<&(Text, Tree)> = details.fields.iter().filter(is_new).collect();
        let most = if detail == Detail::Raw {
            usize::MAX
        } else {
            FIELDS
        };
        for (path, value) in fields.iter().take(most) {
            field(sheet, path, value, detail);
        }
        let hidden = fields.len().saturating_sub(most);
        let more = [
            (hidden > 0).then(|| figures::count(hidden as u64, "field")),
            (details.cut > 0).then(|| figures::bytes(details.cut)),
        ];
        let more: Vec<String> = more.into_iter().flatten().collect();
        if !more.is_empty() {
            let what = format!("+{} in the record", more.join(", "));
            let mut row = hidden_row(&what, 1, sheet.look);
            row.hides = 0;
            sheet.body(vec![row]);
        }
    }
}

fn field(sheet: &mut EntryRows<'_>, path: &Text, value: &Tree, detail: Detail) {
    let dim = sheet.look.theme.dim;
    let mut spans = vec![Span::styled(format!("{path}  "), dim)];
    push(value, detail, sheet, &mut spans);
    if detail == Detail::Raw {
        let lines = wrap::wrap(&spans, &wrap::LineFrame::hanging(sheet.body_width(), 2));
        return sheet.lines(lines);
    }
    let line = wrap::fit(&spans, sheet.body_width(), sheet.glyphs().cut);
    sheet.lines(vec![line.into()]);
}

fn push(value: &Tree, detail: Detail, sheet: &EntryRows<'_>, spans: &mut Vec<Piece>) {
    let dim = sheet.look.theme.dim;
    match value {
        Tree::Null => spans.push(Span::styled("null", dim)),
        Tree::Bool(flag) => spans.push(Span::styled(flag.to_string(), dim)),
        Tree::Number(text) => spans.push(Span::styled(text.to_string(), dim)),
        Tree::Text(text) => {
            // The raw view shows the value as written.
            let readable = (detail != Detail::Raw)
                .then(|| tags::readable(text))
                .flatten();
            let words = readable.map_or_else(
                || on_one_line(text),
                |readable| on_one_line(&readable.replace('\n', ", ")),
            );
            spans.push(Span::styled(words, style_of(text, sheet)));
        }
        Tree::List(items) => {
            for (at, item) in items.iter().take(ITEMS).enumerate() {
                if at > 0 {
                    spans.push(Span::styled(", ", dim));
                }
                push(item, detail, sheet, spans);
            }
        }
        Tree::Map(members) => {
            for (at, (key, value)) in members.iter().enumerate() {
                let gap = if at > 0 { "  " } else { "" };
                spans.push(Span::styled(format!("{gap}{key} "), dim));
                push(value, detail, sheet, spans);
            }
        }
    }
}

/// Errors are coloured.
fn style_of(text: &str, sheet: &EntryRows<'_>) -> Style {
    let theme = sheet.look.theme;
    if matches!(text, "failed" | "error" | "needs-auth" | "rejected") {
        theme.bad
    } else {
        theme.dim
    }
}

fn on_one_line(text: &str) -> String {
    wrap::head(text, BYTES).split_whitespace().join(" ")
}
