//! The item tab of everything but calls: prompts, answers, thinking, breaks, stray results.

use itertools::Itertools as _;
use ratatui::text::Span;

use super::inspected::InspectedItem;
use super::page::{PageBuilder, RowCopy};
use super::{call, context, facts, timing};
use crate::model::entry::sender::Sender;
use crate::model::entry::{BlockKind, Entry};
use crate::model::figures;

/// Lays out an entry and its focused block.
pub fn lay_out(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let (theme, entry) = (&subject.screen.theme, subject.entry);
    let dot = theme.glyphs().dot;
    let block = entry
        .blocks
        .get(subject.focus.block)
        .map(|block| &block.kind);
    let mut title = vec![Span::styled(word_of(entry, block), theme.heading)];
    title.push(Span::styled(
        format!(
            " {dot} {}",
            subject.session.transcript.recorded_key(&entry.key)
        ),
        theme.dim,
    ));
    if entry.blocks.len() > 1 {
        let part = format!(
            " {dot} part {} of {}",
            subject.focus.block + 1,
            entry.blocks.len()
        );
        title.push(Span::styled(part, theme.dim));
    }
    page.text(&title);
    let place = subject.place_words(Some(subject.focus.entry), entry.origin);
    page.fact("written", timing::time_words(entry.at, &place));
    subject.parent(page);
    page.fact("role", role_words(entry));
    if let Some(model) = &entry.model {
        page.fact("model", model.to_string());
    }
    for words in subject.state_phrases() {
        page.field("standing", &[Span::styled(words, theme.warn)]);
    }
    call::found(subject, page);
    facts::usage(subject, page);
    if let Some(block) = block {
        content(subject, block, page);
    }
    context::brief(subject, page);
    facts::cost(subject, page);
    facts::source(subject, page);
}

/// The kind of an item, as its heading.
fn word_of(entry: &Entry, block: Option<&BlockKind>) -> String {
    let word = match block {
        Some(BlockKind::Text(_)) if entry.marks.prompt => "prompt",
        Some(BlockKind::Text(_)) if entry.from.is_some() => {
            return entry.from.as_deref().map(Sender::words).unwrap_or_default();
        }
        Some(BlockKind::Text(_)) => match entry.role {
            crate::model::entry::Role::Assistant => "answer",
            crate::model::entry::Role::User => "said by the user",
            crate::model::entry::Role::System => "system prompt",
            crate::model::entry::Role::Harness => "note of the agent",
        },
        Some(BlockKind::Thinking(_)) => "thinking",
        Some(BlockKind::Call(_)) => "call",
        Some(BlockKind::Result(stray)) if stray.duplicate => "further result of a call",
        Some(BlockKind::Result(_)) => "result without a call",
        Some(BlockKind::Image(_)) => "image",
        Some(BlockKind::Break(what)) => {
            return what.words().lines().next().unwrap_or_default().to_owned();
        }
        Some(BlockKind::Raw(raw) | BlockKind::Aside(_, raw)) => return raw.title.to_string(),
        None => "empty entry",
    };
    word.to_owned()
}

fn role_words(entry: &Entry) -> String {
    let marks = [
        (entry.marks.prompt, "opens a turn"),
        (entry.marks.quiet, "folded below level 4"),
        (entry.marks.is_hidden(), "no row below level 4"),
        (entry.marks.open, "still being written"),
        (entry.marks.unsent, "kept from the model"),
    ];
    let set = marks
        .into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, words)| words);
    std::iter::once(entry.role.word()).chain(set).join(", ")
}

fn content(subject: &InspectedItem<'_>, block: &BlockKind, page: &mut PageBuilder<'_>) {
    let dot = page.look.theme.glyphs().dot;
    let (title, body) = match block {
        BlockKind::Text(body) => ("TEXT", body),
        BlockKind::Thinking(body) => ("THINKING", body),
        BlockKind::Raw(raw) | BlockKind::Aside(_, raw) => ("CONTENT", &raw.body),
        BlockKind::Result(stray) => {
            let call = subject.session.transcript.recorded_key(&stray.call);
            page.heading("OUTPUT", &format!("for the call {}", shown(call)));
            return call::full_result(&stray.result, page);
        }
        BlockKind::Image(image) => {
            page.heading(
                "IMAGE",
                &image.bytes.map(figures::bytes).unwrap_or_default(),
            );
            page.fact("type", shown(&image.mime));
            if let Some(source) = &image.source {
                page.fact("source", source.to_string());
            }
            return;
        }
        BlockKind::Break(what) => {
            let words = what.words();
            if words.lines().nth(1).is_some() || words.len() > page.width() {
                page.heading("WORDS", &figures::bytes(words.len() as u64));
                words
                    .lines()
                    .for_each(|line| page.paragraph(line, page.look.theme.text));
            }
            return;
        }
        BlockKind::Call(_) => return,
    };
    let size = format!(
        "{} {dot} {}",
        figures::bytes(u64::from(body.bytes)),
        figures::count(u64::from(body.lines), "line")
    );
    page.heading(title, &size);
    if body.bytes == 0 {
        return page.paragraph(
            "empty, or not readable: redacted or signed only",
            page.look.theme.dim,
        );
    }
    if let Some(tree) = body.tree() {
        let rows = crate::render::tree::rows(tree, page.width(), page.remaining() + 1, &page.look);
        return page.rows(rows, 0, RowCopy::Text);
    }
    call::lines(body, None, RowCopy::Text, page);
}

fn shown(text: &str) -> String {
    if text.is_empty() {
        "(not told)".to_owned()
    } else {
        text.to_owned()
    }
}
