//! The item tab of a call: pairing, input, output, earlier equal calls, context, cost, source.

use ratatui::text::{Line, Span};

use super::inspected::InspectedItem;
use super::page::{PageBuilder, RowCopy};
use super::{context, facts, timing};
use crate::analysis::calls::lifecycle::Lifecycle;
use crate::analysis::plans;
use crate::app::copying::excerpt::json;
use crate::app::text::viewport::Focus;
use crate::listing::call::of_severity;
use crate::model::body::{Body, Tree};
use crate::model::text::Text;
use crate::model::tool::{ToolCall, ToolResult};
use crate::model::{change, figures};
use crate::render::excerpt::ExcerptLimits;
use crate::render::wrap::{self, LineFrame, Piece};
use crate::render::{ansi, code, diff, tree};

/// Maximum numbers of overlapping calls, and of earlier equal calls.
const OVERLAPS: usize = 4;
const EARLIER: usize = 6;
/// Width of the gap between a line number and the line.
const AFTER_NUMBER: usize = 2;

/// Lays out the tab.
pub fn lay_out(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    pair(subject, call, page);
    input(subject, call, page);
    output(subject, call, page);
    earlier(subject, page);
    context::brief(subject, page);
    facts::cost(subject, page);
    facts::source(subject, page);
}

/// Background work of the call: when it ended, when the end was reported, and when the model saw that.
fn lifecycle(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    let (transcript, id) = (&subject.session.transcript, subject.focus.entry);
    let is_over = !subject.session.is_at_work(subject.screen.now);
    let life = Lifecycle::of(transcript, (id, &subject.entry.key), call, is_over);
    if !life.is_detached {
        return;
    }
    if !life.polls.is_empty() {
        page.fact("asked", figures::count(life.polls.len() as u64, "time"));
    }
    if let Some(end) = life.completed {
        let exit = end
            .exit
            .map(|code| format!("exit {code}"))
            .unwrap_or_default();
        page.fact("ended", timing::time_words(end.at, &exit));
    }
    if let Some((at, _)) = life.delivered {
        let late = life
            .delay()
            .map(|ms| format!("{} later", figures::duration(ms)));
        page.fact("told", timing::time_words(at, &late.unwrap_or_default()));
    }
    if let Some((_, at)) = life.first_answer(transcript, id) {
        page.fact("seen", timing::time_words(Some(at), ""));
    }
    if life.is_undelivered {
        let theme = &subject.screen.theme;
        page.field(
            "told",
            &[Span::styled(
                "never: the model does not know that it ended",
                theme.warn,
            )],
        );
    }
}

fn pair(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    let theme = &subject.screen.theme;
    let dot = theme.glyphs().dot;
    let calls = &subject.session.indexes.calls;
    let mut title = vec![Span::styled(call.shown_name(), theme.tool)];
    if !call.key.is_empty() {
        let key = subject.session.transcript.recorded_key(&call.key);
        title.push(Span::styled(format!(" {dot} {key}"), theme.dim));
    }
    if let Some(number) = calls.number(subject.focus) {
        title.push(Span::styled(
            format!(" {dot} call {number} of {}", calls.count()),
            theme.dim,
        ));
    }
    page.text(&title);
    let called = subject.place_words(Some(subject.focus.entry), call.input.from);
    page.fact(
        "called",
        timing::time_words(call.started.or(subject.entry.at), &called),
    );
    if let Some(result) = call.state.result() {
        let place = if result.body.from == call.input.from {
            "same record".to_owned()
        } else {
            subject.place_words(None, result.body.from)
        };
        page.fact("result", timing::time_words(result.at, &place));
    }
    lifecycle(subject, call, page);
    if let Some(words) = timing::took(subject, call) {
        page.fact("took", words);
    }
    let overlaps = calls.overlaps(subject.focus, OVERLAPS);
    for (n, place) in overlaps.calls.iter().enumerate() {
        subject.other(if n == 0 { "overlaps" } else { "" }, *place, page);
    }
    if overlaps.is_cut {
        page.field("", &[Span::styled("and more: see 5 timing", theme.dim)]);
    }
    subject.parent(page);
    page.field("verdict", &subject.verdict(call, subject.focus.entry));
    found(subject, page);
    step(subject, call, page);
    if let Some(lane) = subject.session.transcript.lane_of_call(&call.key) {
        let target = lane.entries.first();
        let target = target.map(|id| Focus {
            entry: *id,
            block: 0,
        });
        let words = format!(
            "{} {dot} {}",
            lane.label,
            figures::count(lane.entries.len() as u64, "entry")
        );
        page.link("sub-agent", &[Span::styled(words, theme.text)], target);
    }
    for words in subject.state_phrases() {
        page.field("standing", &[Span::styled(words, theme.warn)]);
    }
}

/// The current step of the agent's plan, unless the call itself records its intent.
fn step(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    let step = plans::step_at(&subject.session.transcript, subject.focus);
    if let Some(step) = step.filter(|_| call.intent().is_none()) {
        let theme = &subject.screen.theme;
        let done = format!("  {} done", step.done);
        let words = [
            Span::styled(step.words.to_owned(), theme.text),
            Span::styled(done, theme.dim),
        ];
        page.link("plan", &words, Some(step.written));
    }
}

fn input(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    page.heading("INPUT", &figures::bytes(u64::from(call.input.bytes)));
    if call.input.is_on_disk() {
        return page.paragraph("being read from the file", subject.screen.theme.dim);
    }
    match call.input.tree() {
        Some(Tree::Map(members)) => {
            for (number, (name, value)) in members.iter().enumerate() {
                member(number, name, value, page);
            }
        }
        Some(value) => {
            let rows = tree::rows(value, page.width(), page.remaining() + 1, &page.look);
            page.rows(rows, 0, RowCopy::Row);
        }
        None => lines(&call.input, None, RowCopy::Text, page),
    }
}

/// A value of the input: scalars as text, other values as a tree.
fn member(number: usize, name: &Text, value: &Tree, page: &mut PageBuilder<'_>) {
    let take = RowCopy::Value(number);
    let style = page.look.theme.text;
    match value {
        Tree::Text(text) if text.contains('\n') || wrap::width(text) > page.width() * 2 => {
            page.named_value(
                name,
                &[Span::styled(
                    figures::bytes(text.len() as u64),
                    page.look.theme.dim,
                )],
                take,
                None,
            );
            let (part, left_out) = page.part(text);
            for line in part.lines().take(page.remaining() + 1) {
                let frame = indented(page, 2);
                for line in wrap::wrap(&[Span::styled(line.to_owned(), style)], &frame) {
                    page.push(line, None, take);
                }
            }
            page.omitted(left_out);
        }
        Tree::Text(text) => {
            page.named_value(name, &[Span::styled(text.to_string(), style)], take, None);
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => {
            page.named_value(
                name,
                &[Span::styled(json(value), page.look.theme.accent)],
                take,
                None,
            );
        }
        Tree::List(items) if items.is_empty() => {
            page.named_value(name, &[Span::styled("[]", style)], take, None);
        }
        Tree::Map(members) if members.is_empty() => {
            page.named_value(name, &[Span::styled("{}", style)], take, None);
        }
        Tree::List(_) | Tree::Map(_) => {
            page.named_value(name, &[], take, None);
            let width = page.width().saturating_sub(2).max(1);
            let rows = tree::rows(value, width, page.remaining() + 1, &page.look);
            page.rows(rows, 2, take);
        }
    }
}

fn indented(page: &PageBuilder<'_>, by: usize) -> LineFrame {
    let blank = vec![Span::raw(" ".repeat(by))];
    LineFrame {
        width: page.width(),
        first: blank.clone(),
        rest: blank,
        limit: page.remaining() + 1,
        cut: page.look.theme.glyphs().cut,
        sideways: None,
    }
}

fn output(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    let theme = &subject.screen.theme;
    let dot = theme.glyphs().dot;
    let size = |body: &Body| {
        let lines = figures::count(u64::from(body.lines), "line");
        format!("{} {dot} {lines}", figures::bytes(u64::from(body.bytes)))
    };
    match (call.state.result(), call.state.live_output()) {
        (Some(result), _) => {
            page.heading("OUTPUT", &size(&result.body));
            full_result(result, page);
        }
        (None, Some(body)) => {
            page.heading("OUTPUT SO FAR", &size(body));
            lines(body, Some(1), RowCopy::Row, page);
        }
        (None, None) => {
            page.heading("OUTPUT", "");
            page.paragraph("no result in the file", theme.warn);
        }
    }
}

/// What the lint found in the item.
pub(super) fn found(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let theme = page.look.theme;
    for finding in subject.findings() {
        let (sign, style) = of_severity(finding.severity, theme);
        page.field(
            "found",
            &[
                Span::styled(format!("{sign} "), style),
                Span::styled(finding.message.clone(), theme.text),
            ],
        );
    }
}

pub fn full_result(result: &ToolResult, page: &mut PageBuilder<'_>) {
    let theme = page.look.theme;
    for image in &result.images {
        let size = image.bytes.map(figures::bytes).unwrap_or_default();
        page.fact("image", format!("{} {size}", image.mime));
    }
    if let Some(patch) = &result.patch {
        let words = format!(
            "recorded, {}: see 3 diff",
            figures::count(u64::from(patch.lines), "line")
        );
        page.fact("change", words);
    }
    if result.body.bytes == 0 {
        return page.paragraph("empty", theme.dim);
    }
    if let Some(value) = result.body.tree() {
        let rows = tree::rows(value, page.width(), page.remaining() + 1, &page.look);
        return page.rows(rows, 0, RowCopy::Output);
    }
    lines(&result.body, Some(1), RowCopy::Output, page);
}

/// The lines of a text, numbered from `first`.
pub fn lines(body: &Body, first: Option<usize>, take: RowCopy, page: &mut PageBuilder<'_>) {
    if body.is_on_disk() {
        return page.paragraph("being read from the file", page.look.theme.dim);
    }
    let (theme, text) = (page.look.theme, body.text_or_stub());
    let column = body.lines.max(1).to_string().len();
    let (part, left_out) = page.part(text);
    for (number, spans) in ansi::lines(part, theme.text, theme).into_iter().enumerate() {
        if page.remaining() == 0 {
            return page.push(Line::default(), None, take);
        }
        let mut frame = indented(page, 0);
        if let Some(first) = first {
            let blank = " ".repeat(column + AFTER_NUMBER);
            let number = format!("{:>column$}{}", number + first, " ".repeat(AFTER_NUMBER));
            frame.first = vec![Span::styled(number, theme.dim)];
            frame.rest = vec![Span::raw(blank)];
        }
        for line in wrap::wrap(&spans, &frame) {
            page.push(line, None, take);
        }
    }
    page.omitted(left_out);
}

fn earlier(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let theme = &subject.screen.theme;
    let earlier = &subject.earlier;
    if earlier.calls.is_empty() && earlier.unread.is_empty() {
        return;
    }
    let count = earlier.calls.len();
    let at_least = if earlier.is_cut || !earlier.unread.is_empty() {
        "at least "
    } else {
        ""
    };
    page.heading(
        "SAME CALL BEFORE",
        &format!("{at_least}{count} with identical arguments"),
    );
    for place in earlier.calls.iter().take(EARLIER) {
        subject.other("", *place, page);
    }
    if count > EARLIER {
        page.field(
            "",
            &[Span::styled(
                format!("and {} more", count - EARLIER),
                theme.dim,
            )],
        );
    }
    if !earlier.unread.is_empty() {
        let words = format!("{} that look the same are being read", earlier.unread.len());
        page.field("", &[Span::styled(words, theme.dim)]);
    }
}

/// Lays out the diff tab: the changes of a call to a file.
pub fn diff(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let theme = page.look.theme;
    let Some(call) = subject.call() else {
        return page.paragraph("not a call, so it changes no file", theme.dim);
    };
    let patch = call.state.result().and_then(|result| result.patch.as_ref());
    if call.input.is_on_disk() || patch.is_some_and(Body::is_on_disk) {
        return page.paragraph("being read from the file", theme.dim);
    }
    let (source, lines) = match (change::recorded(call), change::requested(call)) {
        (Some(lines), _) => ("as the agent recorded it", lines),
        (None, Some(lines)) => ("as the input asks for it", lines),
        (None, None) => return page.paragraph("this call tells of no change to a file", theme.dim),
    };
    let path = call.headline.lines().next().unwrap_or_default();
    page.text(&[Span::styled(call.about(page.look.root), theme.accent)]);
    let mut facts: Vec<Piece> = diff::summary(change::counts(&lines), &page.look);
    facts.push(Span::styled(format!("  {source}"), theme.dim));
    page.text(&facts);
    page.field("verdict", &subject.verdict(call, subject.focus.entry));
    page.gap();
    let extent = ExcerptLimits {
        head: page.remaining() + 1,
        tail: 0,
        rows_per_line: 0,
    };
    let rows = diff::rows(
        &lines,
        code::language_of_path(path),
        extent,
        page.width(),
        &page.look,
    );
    page.rows(rows, 0, RowCopy::Row);
}
