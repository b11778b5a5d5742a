//! Rows of a body outside of a tool card: limited prose, raw records, and text of unknown kind.

use super::excerpt::Detail;
use super::markdown::{self, MarkdownMode};
use super::nodes::ValueNodes;
use super::output::{self, BodyText};
use super::row::{Look, Row, with_source};
use super::sheet::{EntryRows, mark_hidden};
use super::source::SourceText;
use super::tree::{self, TreeValue};
use super::{diff, json, results, wrap};
use crate::model::body::{Body, Tree};
use crate::model::change;
use crate::model::figures;
use crate::model::text::Text;

/// Head and tail lines of a previewed record.
const RECORD: (usize, usize) = (8, 0);

/// Limits of a body: the detail of its block, the lines of a preview, the folds of its tree.
#[derive(Clone, Copy)]
pub struct BodyLimits<'a> {
    /// Detail of its block.
    pub(crate) detail: Detail,
    /// First and last lines of a preview.
    pub(crate) preview: (usize, usize),
    /// Folds of its tree, if it is one.
    pub(crate) nodes: ValueNodes<'a>,
}

impl BodyLimits<'_> {
    fn limit(&self) -> usize {
        self.detail.rows_or(self.preview.0 + self.preview.1)
    }

    fn tree(&self, value: TreeValue<'_>, width: usize, look: &Look<'_>) -> Vec<Row> {
        tree::folded(value, self.detail, self.nodes, (width, self.limit()), look)
    }
}

/// A body outside of a call.
pub(crate) fn untitled(sheet: &EntryRows<'_>, body: &Body, detail: Detail) -> Vec<Row> {
    let limits = BodyLimits {
        detail,
        preview: RECORD,
        nodes: sheet.nodes(0),
    };
    body_rows(body, limits, sheet.body_width(), sheet.look)
}

/// A body exactly as recorded.
pub(crate) fn raw_rows(body: &Body, width: usize, look: &Look<'_>) -> Vec<Row> {
    match body.tree() {
        Some(input) => tree::rows(input, width, Detail::Raw.rows(), look),
        None => output::plain(
            BodyText::of(body),
            Detail::Raw.extent(0, 0),
            width,
            look,
            look.theme.text,
        )
        .into_iter()
        .map(|row| Row {
            is_away: body.is_on_disk(),
            ..row
        })
        .collect(),
    }
}

/// Prose cut at a limit; the last row says how much is hidden.
pub(crate) fn prose(
    text: &str,
    manner: MarkdownMode,
    limit: usize,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let most = limit.saturating_mul(width.max(80)).max(4_096);
    let part = wrap::head(text, most);
    let part = if part.len() < text.len() {
        part.rsplit_once('\n').map_or(part, |(whole, _)| whole)
    } else {
        part
    };
    let mut rows = markdown::rows(part, manner, width, limit.saturating_add(2), look);
    let rest = text.len() - part.len();
    let too_many = rows.len().saturating_sub(limit);
    if too_many > 1 || rest > 0 {
        rows.truncate(limit);
        let shown_all = part.len() == text.len();
        let left = wrap::estimate(text.len(), 0, width)
            .saturating_sub(limit)
            .max(too_many);
        let what = if shown_all {
            let lines = text.lines().count().saturating_sub(limit).max(1);
            format!("+{}", figures::count(lines as u64, "line"))
        } else {
            format!("+{}", figures::bytes(rest as u64))
        };
        mark_hidden(&mut rows, &what, left, width, look);
    }
    rows
}

/// A body by its content: a tree, a patch, or lines.
pub(crate) fn body_rows(
    body: &Body,
    shown: BodyLimits<'_>,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let BodyLimits {
        detail,
        preview: (head, tail),
        ..
    } = shown;
    if let Some(value) = body.tree() {
        return shown.tree(TreeValue::Tree(value), width, look);
    }
    let text = body.text_or_stub();
    if let Some(value) = json::parse(text) {
        return parsed(&value, shown, width, look);
    }
    if let Some(value) = TreeValue::of_large(text) {
        return shown.tree(value, width, look);
    }
    if change::is_patch(text) && text.contains("\n@@") {
        return diff::rows(
            &change::of_patch(text),
            "",
            detail.extent(head + tail, 0),
            width,
            look,
        );
    }
    let mut rows = output::plain(
        BodyText::of(body),
        detail.extent(head, tail),
        width,
        look,
        look.theme.text,
    );
    if body.is_on_disk() {
        rows.iter_mut().for_each(mark_not_loaded);
    }
    rows
}

/// A value that was recorded as JSON text: a list of messages, a table, or a tree.
fn parsed(value: &Tree, shown: BodyLimits<'_>, width: usize, look: &Look<'_>) -> Vec<Row> {
    if let Some(text) = results::contents(value) {
        return if let Some(inner) = json::parse(&text) {
            shown.tree(TreeValue::Tree(&inner), width, look)
        } else {
            let text = Text::output(&text);
            with_source(
                prose(&text, MarkdownMode::Typed, shown.limit(), width, look),
                &SourceText::Own(text),
            )
        };
    }
    results::table(value, width, shown.limit(), look)
        .unwrap_or_else(|| shown.tree(TreeValue::Tree(value), width, look))
}

/// The result of a web tool: a list of pages, a Markdown page, or a body of another kind.
pub(crate) fn fetched(
    body: &Body,
    shown: BodyLimits<'_>,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let text = body.text_or_stub();
    let limit = shown.limit();
    if let Some(found) = results::pages(text) {
        let mut rows = found.rows(width, limit, look);
        if shown.detail.is_whole() {
            let around = |text, manner| {
                with_source(
                    prose(text, manner, limit, width, look),
                    &SourceText::Own(Text::output(text)),
                )
            };
            rows.splice(0..0, around(found.before, MarkdownMode::Typed));
            rows.extend(around(found.after, MarkdownMode::Prose));
        }
        return rows;
    }
    if body.tree().is_none() && is_markdown(text) {
        return prose(text, MarkdownMode::Prose, limit, width, look);
    }
    body_rows(body, shown, width, look)
}

/// The result of an MCP tool: rendered as Markdown, with its line breaks, if it looks like
/// Markdown.
pub(crate) fn of_server(
    body: &Body,
    shown: BodyLimits<'_>,
    width: usize,
    look: &Look<'_>,
) -> Vec<Row> {
    let text = body.text_or_stub();
    if body.tree().is_none()
        && !text.contains('\u{1b}')
        && is_markdown(text)
        && !text.starts_with(['{', '['])
    {
        return prose(text, MarkdownMode::Typed, shown.limit(), width, look);
    }
    body_rows(body, shown, width, look)
}

/// Whether the first lines look like Markdown. Plain text rendered as Markdown would lose its line
/// breaks.
fn is_markdown(text: &str) -> bool {
    let flags = ["# ", "## ", "### ", "- **", "* **", "```", "|--", "| --"];
    wrap::head(text, 8_192)
        .lines()
        .take(60)
        .any(|line| flags.iter().any(|sign| line.starts_with(sign)))
}

/// Marks a row as the stub of a body that must be fetched.
pub(crate) fn mark_not_loaded(row: &mut Row) {
    row.is_away = true;
}
