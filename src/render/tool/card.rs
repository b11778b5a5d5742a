//! The rows below the head row of a call, by the kind of its tool.

use std::borrow::Cow;

use ratatui::text::Span;

use super::{image_rows, plan};
use crate::model::body::{Body, Held, Tree};
use crate::model::change::{self, DiffLine};
use crate::model::figures;
use crate::model::text::{Text, tags};
use crate::model::tool::{ToolCall, ToolKind, ToolResult, ToolState};
use crate::model::transcript::recorded_key;
use crate::render::body::{
    BodyLimits, body_rows, fetched, mark_not_loaded, of_server, prose, raw_rows,
};
use crate::render::excerpt::{Detail, ExcerptLimits};
use crate::render::markdown::MarkdownMode;
use crate::render::output::{self, BodyText};
use crate::render::row::{Look, Row, with_source};
use crate::render::sheet::{EntryRows, hidden_row};
use crate::render::source::SourceText;
use crate::render::tree::{self, TreeValue};
use crate::render::wrap::{self, Piece};
use crate::render::{code, diff};

/// First and last lines of a preview.
const OUTPUT: (usize, usize) = (3, 5);
/// The reason of a failure is usually at its end.
const FAILURE: (usize, usize) = (3, 12);
/// The last lines of a running call show its progress.
const LIVE: (usize, usize) = (0, 5);
/// Only the beginning of files, hits and pages is shown.
const FILE: (usize, usize) = (3, 0);
/// Columns of a head row besides its text.
const HEAD_TAKES: usize = 56;
/// Numbers of the trees of a block.
const INPUT: u8 = 0;
const RESULT_TREE: u8 = 1;
/// Changes get more rows.
const CHANGE: (usize, usize) = (12, 0);

/// The source of the result, or of the output of a running call: the body after the input.
const RESULT: SourceText = SourceText::Body(1);

/// A call that is laid out.
pub(crate) struct Card<'a> {
    sheet: &'a EntryRows<'a>,
    look: &'a Look<'a>,
    call: &'a ToolCall,
    detail: Detail,
    width: usize,
    change: Option<Vec<DiffLine>>,
}

/// The change that a call makes to files. For a tool of unknown kind it is the change recorded by
/// its agent; output of searches and commands may look like a patch, but is none.
fn change_of(call: &ToolCall) -> Option<Vec<DiffLine>> {
    match call.kind {
        ToolKind::Edit | ToolKind::Write => change::of_call(call),
        ToolKind::Other | ToolKind::Delegate | ToolKind::Plan => change::recorded(call),
        ToolKind::Run | ToolKind::Read | ToolKind::Search | ToolKind::Fetch => None,
    }
}

/// Added and removed lines of a call.
pub(super) fn changed_by(call: &ToolCall) -> Option<(usize, usize)> {
    counts(change_of(call).as_deref(), call)
}

fn counts(change: Option<&[DiffLine]>, call: &ToolCall) -> Option<(usize, usize)> {
    change
        .map(change::counts)
        .or_else(|| Some((change::written(call)?.lines().count(), 0)))
}

impl<'a> Card<'a> {
    /// Prepares the card; determines the change made by the call.
    pub(crate) fn new(sheet: &'a EntryRows<'a>, call: &'a ToolCall, detail: Detail) -> Self {
        Self {
            sheet,
            look: sheet.look,
            call,
            detail,
            width: sheet.body_width(),
            change: change_of(call),
        }
    }

    pub(crate) fn change(&self) -> Option<(usize, usize)> {
        counts(self.change.as_deref(), self.call)
    }

    /// The rows below the head.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows = match self.detail {
            Detail::Closed => return Vec::new(),
            Detail::Raw => return self.raw(),
            Detail::Preview | Detail::Full | Detail::Open => self.input(),
        };
        let item = self.sheet.item;
        match &self.call.state {
            // The row of a lane shows its progress.
            ToolState::Pending | ToolState::Running
                if item.lanes.iter().any(|lane| lane.call == self.call.key) => {}
            ToolState::Pending | ToolState::Running if !item.is_awaited => {
                rows.push(self.note("no result: the session went on or ended without one"));
            }
            // Its head says that it goes on, and a row would be gone at its end.
            ToolState::Pending | ToolState::Running if item.is_running => {}
            ToolState::Pending | ToolState::Running => {
                rows.push(self.note("no result in the file yet"));
            }
            ToolState::Streaming(body) => {
                rows.extend(with_source(self.running_output(body), &RESULT));
            }
            ToolState::Lost => rows.push(self.note("interrupted: there will be no result")),
            ToolState::Failed(result) | ToolState::Refused(result) | ToolState::Stopped(result) => {
                let (result, source) = readable(result);
                rows.extend(with_source(self.output(&result, FAILURE), &source));
                rows.extend(images(self.sheet, &result, self.detail));
            }
            ToolState::Done(result) | ToolState::Acknowledged(result) => {
                let (result, source) = readable(result);
                rows.extend(with_source(self.result(&result), &source));
                rows.extend(images(self.sheet, &result, self.detail));
            }
        }
        rows
    }

    /// The arguments that the head row does not show.
    fn input(&self) -> Vec<Row> {
        let whole = self.detail.is_whole();
        if self.call.input.is_on_disk() {
            return if whole {
                vec![self.not_loaded("input", self.call.input.bytes)]
            } else {
                Vec::new()
            };
        }
        let Some(input) = self.call.input.tree() else {
            return self.text_input();
        };
        let mut rows = self.argument_rows(input, whole);
        if self.change.is_some() && !matches!(self.call.kind, ToolKind::Edit | ToolKind::Write) {
            rows.extend(self.written_rows());
        }
        rows
    }

    /// Named arguments, laid out by the kind of the tool.
    fn argument_rows(&self, input: &Tree, whole: bool) -> Vec<Row> {
        match self.call.kind {
            ToolKind::Edit | ToolKind::Write => self.written_rows(),
            ToolKind::Plan => {
                let tasks = plan::rows(
                    input,
                    self.sheet.plan_before(),
                    whole,
                    self.width,
                    self.look,
                );
                tasks
                    .or_else(|| self.plan(input))
                    .unwrap_or_else(|| self.arguments(input))
            }
            ToolKind::Delegate => self.prompt(input),
            ToolKind::Run if whole => self.command(input),
            ToolKind::Other => self.arguments(input),
            ToolKind::Read | ToolKind::Search | ToolKind::Fetch if whole => self.arguments(input),
            ToolKind::Run | ToolKind::Read | ToolKind::Search | ToolKind::Fetch => Vec::new(),
        }
    }

    /// Input that is a text instead of named arguments.
    fn text_input(&self) -> Vec<Row> {
        if self.change.is_some() {
            return self.written_rows();
        }
        let is_in_headline = self.call.input.text_or_stub().as_str() == self.call.headline.as_str();
        if is_in_headline || self.call.input.bytes == 0 {
            return Vec::new();
        }
        output::plain(
            BodyText::of(&self.call.input),
            self.extent(FILE),
            self.width,
            self.look,
            self.look.theme.text,
        )
    }

    /// The change, or the file that was written.
    fn written_rows(&self) -> Vec<Row> {
        let extent = self.extent(CHANGE);
        if let Some(change) = &self.change {
            let language = code::language_of_path(&self.call.headline);
            return diff::rows(change, language, extent, self.width, self.look);
        }
        match change::written(self.call) {
            Some(text) => {
                let language = code::language_of_path(&self.call.headline);
                let source = BodyText {
                    text,
                    lines: text.lines().count(),
                };
                let extent = self.extent((FILE.0 * 2, FILE.1));
                let rows = output::source_code(source, language, extent, self.width, self.look);
                with_source(rows, &SourceText::Own(text.clone()))
            }
            None => self.cell().unwrap_or_else(|| {
                self.call
                    .input
                    .tree()
                    .map(|input| self.arguments(input))
                    .unwrap_or_default()
            }),
        }
    }

    /// The new source of a notebook cell.
    fn cell(&self) -> Option<Vec<Row>> {
        let input = self.call.input.tree()?;
        let text = input
            .text_in(&["new_source"])
            .filter(|text| !text.is_blank())?;
        let is_prose = input
            .text_in(&["cell_type"])
            .is_some_and(|kind| kind.as_str() == "markdown");
        let source = BodyText {
            text,
            lines: text.lines().count(),
        };
        let extent = self.extent(CHANGE);
        let language = if is_prose { "markdown" } else { "python" };
        Some(output::source_code(
            source, language, extent, self.width, self.look,
        ))
    }

    /// A command that does not fit into the head row.
    fn command(&self, input: &Tree) -> Vec<Row> {
        let intent = self.call.intent().filter(|_| self.look.intents);
        let before = intent.map_or(0, |intent| wrap::width(intent));
        let command = input
            .text_in(&["command", "cmd", "script", "code", "input"])
            .filter(|text| {
                text.trim().contains('\n') || before + wrap::width(text) > self.width / 2
            });
        let mut rows = Vec::new();
        if let Some(text) = command {
            let source = BodyText {
                text,
                lines: text.lines().count(),
            };
            let extent = self.extent(FILE);
            rows = with_source(
                output::source_code(source, "bash", extent, self.width, self.look),
                &SourceText::Own(text.clone()),
            );
            rows.push(Row {
                line: vec![self.rule()].into(),
                ..Row::default()
            });
        }
        rows
    }

    /// The prompt of a sub-agent.
    fn prompt(&self, input: &Tree) -> Vec<Row> {
        let names = [
            "prompt",
            "task",
            "message",
            "instructions",
            "description",
            "input",
        ];
        let Some(text) = input.text_in(&names) else {
            return self.arguments(input);
        };
        let rows = prose(
            text,
            MarkdownMode::Typed,
            self.preview_rows(2),
            self.width,
            self.look,
        );
        with_source(rows, &SourceText::Own(text.clone()))
    }

    /// A plan written as prose.
    fn plan(&self, input: &Tree) -> Option<Vec<Row>> {
        let text = input.text_in(&["plan"])?;
        let rows = prose(
            text,
            MarkdownMode::Prose,
            self.preview_rows(12),
            self.width,
            self.look,
        );
        Some(with_source(rows, &SourceText::Own(text.clone())))
    }

    fn arguments(&self, input: &Tree) -> Vec<Row> {
        if matches!(input, Tree::Null) || matches!(input, Tree::Map(members) if members.is_empty())
        {
            return Vec::new();
        }
        if self.detail.is_whole() {
            let limit = self.detail.rows();
            return tree::folded(
                TreeValue::Tree(input),
                self.detail,
                self.sheet.nodes(INPUT),
                (self.width, limit),
                self.look,
            );
        }
        let text = tree::arguments(input, self.width * 2);
        // The head row shows all arguments.
        if self.call.headline.starts_with('{') && wrap::width(&text) + HEAD_TAKES < self.width {
            return Vec::new();
        }
        // The head row shows the only argument.
        let is_only = |value: &Tree| {
            value
                .as_text()
                .is_some_and(|only| only.trim() == self.call.headline.trim())
                || text
                    .split_once('=')
                    .is_some_and(|(_, only)| only == self.call.headline.as_str())
        };
        if matches!(input, Tree::Map(members) if matches!(members.as_slice(), [(_, only)] if is_only(only)))
        {
            return Vec::new();
        }
        vec![self.note(&text)]
    }

    /// The result of a successful call.
    fn result(&self, result: &ToolResult) -> Vec<Row> {
        let whole = self.detail.is_whole();
        let extent = |lines| self.extent(lines);
        let source = BodyText::of(&result.body);
        match self.call.kind {
            ToolKind::Edit | ToolKind::Write | ToolKind::Plan if !whole => Vec::new(),
            _ if result.body.is_on_disk() => self.stub(&result.body),
            ToolKind::Read => {
                let language = code::language_of_path(&self.call.headline);
                output::numbered(source, language, extent(FILE), self.width, self.look)
            }
            ToolKind::Search if result.body.text_or_stub().starts_with(['{', '[']) => {
                self.output(result, FILE)
            }
            ToolKind::Search => output::hits(source, extent(FILE), self.width, self.look),
            ToolKind::Delegate => {
                let text = result.body.text_or_stub();
                // An acknowledgement says what the head says, and more to the model alone.
                let preview = if result.work.is_some() { 1 } else { 4 };
                prose(
                    text,
                    MarkdownMode::Prose,
                    self.preview_rows(preview),
                    self.width,
                    self.look,
                )
            }
            ToolKind::Fetch => fetched(&result.body, self.shown(FILE), self.width, self.look),
            ToolKind::Other => of_server(&result.body, self.shown(OUTPUT), self.width, self.look),
            ToolKind::Run | ToolKind::Edit | ToolKind::Write | ToolKind::Plan => {
                self.output(result, OUTPUT)
            }
        }
    }

    /// The last lines of the output of a running call.
    fn running_output(&self, body: &Body) -> Vec<Row> {
        if body.is_on_disk() {
            return self.stub(body);
        }
        body_rows(body, self.shown(LIVE), self.width, self.look)
    }

    fn shown(&self, preview: (usize, usize)) -> BodyLimits<'a> {
        let nodes = self.sheet.nodes(RESULT_TREE);
        BodyLimits {
            detail: self.detail,
            preview: self.look.share(preview),
            nodes,
        }
    }

    fn output(&self, result: &ToolResult, preview: (usize, usize)) -> Vec<Row> {
        if result.body.is_on_disk() {
            return self.stub(&result.body);
        }
        body_rows(&result.body, self.shown(preview), self.width, self.look)
    }

    /// The stub of a body that is not in memory.
    fn stub(&self, body: &Body) -> Vec<Row> {
        let base = self.look.theme.text;
        let extent = Detail::Preview.extent(1, 0);
        let mut rows = output::plain(
            BodyText {
                text: &body.stub,
                lines: 1,
            },
            extent,
            self.width,
            self.look,
            base,
        );
        rows.iter_mut().for_each(mark_not_loaded);
        if body.lines > 1 || body.bytes as usize > body.stub.len() {
            let mut more = hidden_row(
                &hidden_size(body),
                body.lines.saturating_sub(1) as usize,
                self.look,
            );
            mark_not_loaded(&mut more);
            rows.push(more);
        }
        rows
    }

    fn not_loaded(&self, what: &str, bytes: u32) -> Row {
        let text = format!("{what} not loaded, {}", figures::bytes(u64::from(bytes)));
        Row {
            is_away: true,
            ..self.note(&text)
        }
    }

    fn raw(&self) -> Vec<Row> {
        let call = self.call;
        let id = recorded_key(&call.key, self.sheet.item.is_joined);
        let mut rows = vec![self.note(&format!("{} {id}", call.name.as_str()))];
        let bodies = std::iter::once(&call.input).chain(
            call.state
                .result()
                .into_iter()
                .flat_map(|result| std::iter::once(&result.body).chain(&result.patch)),
        );
        for (index, body) in bodies.enumerate() {
            if index > 0 {
                rows.push(Row {
                    line: vec![self.rule()].into(),
                    ..Row::default()
                });
            }
            rows.extend(with_source(
                raw_rows(body, self.width, self.look),
                &SourceText::Body(index),
            ));
        }
        rows
    }

    fn preview_rows(&self, preview: usize) -> usize {
        self.detail.rows_or(self.look.share((preview, 0)).0)
    }

    /// The extent of a preview, which grows with the screen.
    fn extent(&self, lines: (usize, usize)) -> ExcerptLimits {
        let (head, tail) = self.look.share(lines);
        self.detail.extent(head, tail)
    }

    fn note(&self, text: &str) -> Row {
        let glyphs = self.look.theme.glyphs();
        let line = wrap::fit(
            &[Span::styled(text.to_owned(), self.look.theme.dim)],
            self.width,
            glyphs.cut,
        );
        Row {
            line: line.into(),
            ..Row::default()
        }
    }

    fn rule(&self) -> Piece {
        Span::styled(
            self.look
                .theme
                .glyphs()
                .line
                .rule
                .repeat(self.width.min(16)),
            self.look.theme.dim,
        )
    }
}

/// A result without the tags of its program, and what copying its rows gives.
fn readable(result: &ToolResult) -> (Cow<'_, ToolResult>, SourceText) {
    let text = match tags::readable_result(result.body.text_or_stub()) {
        Cow::Owned(text) if result.body.tree().is_none() => Text::output(&text),
        _ => return (Cow::Borrowed(result), RESULT),
    };
    let mut result = result.clone();
    if result.body.is_on_disk() {
        result.body.stub = text.clone();
    } else {
        result.body.lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        result.body.held = Held::Text(text.clone());
    }
    (Cow::Owned(result), SourceText::Own(text))
}

/// Number of lines hidden by a closed head row.
pub(crate) fn hidden_by_head(detail: Detail, lines: u32) -> u32 {
    if detail == Detail::Closed { lines } else { 0 }
}

/// A result without its call.
pub(crate) fn of_result(sheet: &EntryRows<'_>, result: &ToolResult, detail: Detail) -> Vec<Row> {
    let shown = BodyLimits {
        detail,
        preview: sheet.look.share(OUTPUT),
        nodes: sheet.nodes(RESULT_TREE),
    };
    let mut rows = body_rows(&result.body, shown, sheet.body_width(), sheet.look);
    rows.extend(images(sheet, result, detail));
    rows
}

fn hidden_size(body: &Body) -> String {
    match body.lines {
        0 | 1 => format!("+{}", figures::bytes(u64::from(body.bytes))),
        lines => format!("+{}", figures::count(u64::from(lines - 1), "line")),
    }
}

/// The change of a call as a patch, or the file that it writes.
pub(crate) fn change_text(call: &ToolCall) -> Option<Text> {
    let change = change_of(call).map(|lines| change::text(lines.iter()));
    change.or_else(|| change::written(call).cloned())
}

fn images(sheet: &EntryRows<'_>, result: &ToolResult, detail: Detail) -> Vec<Row> {
    result
        .images
        .iter()
        .flat_map(|image| image_rows(sheet, image, detail))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{change_text, changed_by};
    use crate::model::edit::Batch;
    use crate::model::samples;
    use crate::model::tool::{ToolKind, ended};

    #[test]
    fn what_an_agent_records_is_a_change_of_any_tool_but_of_those_that_look() {
        let out = &mut Batch::default();
        let mut call = samples::call(out, "c");
        let mut result = samples::result(out, "r", None);
        result.patch = Some(out.output("--- a.rs\n+++ a.rs\n@@ -1 +1,2 @@\n-x\n+y\n+z\n"));
        call.state = ended(result);
        for (kind, expected) in [
            (ToolKind::Edit, Some((2, 1))),
            (ToolKind::Other, Some((2, 1))),
            (ToolKind::Read, None),
            (ToolKind::Run, None),
        ] {
            call.kind = kind;
            assert_eq!(
                (changed_by(&call), change_text(&call).is_some()),
                (expected, expected.is_some())
            );
        }
    }
}
