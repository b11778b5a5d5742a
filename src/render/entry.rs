//! Lays out an entry: head rows with the speaker, prose, cards of tools, rules.

pub(crate) mod breaks;
mod details;
mod ends;
mod records;

use std::borrow::Cow;

use itertools::Itertools as _;
use ratatui::style::Style;
use ratatui::text::Span;

use super::excerpt::Detail;
use super::markdown::{self, MarkdownMode};
use super::row::{Fold, Item, Level, Look, Row, RowKind, restyle};
use super::sheet::{EntryRows, HeadRow, hidden_row};
use super::source::SourceText;
use super::wrap::{self, Piece};
use super::{body, tool};
use crate::model::body::Body;
use crate::model::entry::{Block, BlockKind, Entry, Raw, Role};
use crate::model::figures;
use crate::model::record::Origin;
use crate::model::tally::unknown::Judged;
use crate::model::text::{tags, without_sgr};
use crate::model::tool::ToolKind;
use crate::model::transcript::recorded_key;
use records::RecordHashes;

/// Rows of a prompt where only prompts are shown.
const PROMPT_ROWS: usize = 6;
/// Rows of text that the harness injected.
const NOTE_ROWS: usize = 3;
/// Rows of thinking on wide screens.
const THINKING_ROWS: usize = 2;
/// Titles of the output of commands that the user ran, and the lines of its preview.
const OUTPUTS: [&str; 3] = ["command output", "command errors", "output"];
const OUTPUT: (usize, usize) = (3, 5);
/// Limit in bytes of a sentence that is joined to the call after it.
const LEAD: u32 = 160;
/// Estimated bytes per token.
const BYTES_PER_TOKEN: u32 = 4;

/// Lays out one entry.
pub fn lay_out(item: &Item<'_>, look: &Look<'_>) -> Vec<Row> {
    lay_out_as(item, look, &|block| Cow::Borrowed(block))
}

/// Like [`lay_out`], with each block passed through `reworded` first.
pub(crate) fn lay_out_as(
    item: &Item<'_>,
    look: &Look<'_>,
    reworded: &dyn Fn(&Block) -> Cow<'_, Block>,
) -> Vec<Row> {
    if look.width == 0 {
        return Vec::new();
    }
    let mut sheet = EntryRows::new(item, look);
    let is_prompt = item.entry.marks.prompt || item.entry.role == Role::User;
    let is_hidden = match look.level {
        Level::Prompts => !is_prompt,
        Level::Outline | Level::Preview => item.entry.marks.is_hidden(),
        Level::Full | Level::Raw => false,
    };
    if is_hidden {
        return Vec::new();
    }
    let (first, end) = item.blocks;
    let is_filtered = |index: &usize| {
        item.only
            .is_some_and(|only| only.binary_search(index).is_err())
    };
    sheet.begin(
        item.only
            .and_then(<[usize]>::first)
            .map_or(first, |shown| first.max(*shown)),
    );
    if look.level == Level::Raw && first == 0 {
        let identity = identity(item, look.theme.glyphs().dot);
        sheet.line(&identity, look.theme.dim);
    }
    let records = RecordHashes::of(item, look);
    let is_text = |block: &Block| matches!(block.kind, BlockKind::Text(_));
    let blocks = || item.entry.blocks.iter().enumerate();
    let mut speaks_first = !blocks()
        .take(first)
        .any(|(index, block)| is_text(block) && !is_filtered(&index));
    for (index, block) in blocks().skip(first).take(end - first) {
        if (look.level == Level::Prompts && !is_text(block)) || is_filtered(&index) {
            continue;
        }
        // Consecutive thoughts that are redacted share a row.
        let above = index
            .checked_sub(1)
            .and_then(|above| item.entry.blocks.get(above));
        let is_again = |above: &Block| above.kind.is_redacted() && block.kind.is_redacted();
        if index > first && look.level < Level::Full && above.is_some_and(is_again) {
            continue;
        }
        sheet.begin(index);
        let block = reworded(block);
        if let Some(words) = introduction(&sheet, (index, &block), end.min(item.entry.blocks.len()))
        {
            sheet.introduction = Some(words);
            speaks_first = false;
            continue;
        }
        let is_opened = item.folds.get(index) == Some(&Fold::Open);
        let is_repeated = !is_opened
            && records
                .as_ref()
                .is_some_and(|records| records.contain(&block));
        let detail = if is_repeated {
            Detail::Closed
        } else {
            sheet.detail(index)
        };
        let ends = sheet.item.entry.work_ends_at(sheet.item.ends, index);
        if !ends.is_empty() && detail != Detail::Raw {
            ends::lay_out(&mut sheet, &block, ends, detail);
            details::lay_out(&mut sheet, index, detail);
            continue;
        }
        self::block(&mut sheet, &block, detail, &mut speaks_first);
        details::lay_out(&mut sheet, index, detail);
    }
    if end >= item.entry.blocks.len() {
        add_usage(&mut sheet);
        air(&mut sheet);
    }
    sheet.finish()
}

/// Adds the usage of an answer without text, which has no head row for it.
fn add_usage(sheet: &mut EntryRows<'_>) {
    let item = sheet.item;
    let says = |block: &Block| matches!(&block.kind, BlockKind::Text(body) if !is_blank(body));
    let is_folded = sheet.detail(item.entry.blocks.len().saturating_sub(1)) == Detail::Closed;
    let is_shown = sheet.look.level >= Level::Full && item.only.is_none() && !is_folded;
    if let Some(spent) = item
        .usage
        .filter(|spent| is_shown && !spent.is_empty() && !item.entry.blocks.iter().any(says))
    {
        sheet.line(spent, sheet.look.theme.dim);
    }
}

/// A sentence that introduces the call after it: in the outline the two share a row. A block that
/// the user opened, or that a filter shows alone, has its own row.
fn introduction(
    sheet: &EntryRows<'_>,
    (index, block): (usize, &Block),
    end: usize,
) -> Option<String> {
    let item = sheet.item;
    let is_listed = sheet.look.level == Level::Outline && sheet.look.intents && item.only.is_none();
    let BlockKind::Text(body) = &block.kind else {
        return None;
    };
    let next = item
        .entry
        .blocks
        .get(index + 1)
        .filter(|_| is_listed && index + 1 < end)?;
    let BlockKind::Call(call) = &next.kind else {
        return None;
    };
    // Calls on a file are described by its name.
    let has_name = !matches!(call.kind, ToolKind::Run | ToolKind::Fetch | ToolKind::Other);
    let is_sentence = !has_name
        && item.entry.role == Role::Assistant
        && !item.entry.marks.open
        && body.lines == 1
        && body.bytes <= LEAD
        && !is_blank(body);
    if !is_sentence || sheet.detail(index) != Detail::Closed || call.intent().is_some() {
        return None;
    }
    let words: String = first_row(sheet, body)
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    Some(words.trim_end_matches([':', ' ']).to_owned())
}

/// `key … · parent … · line 12 · byte 345 +678`
fn identity(item: &Item<'_>, dot: &str) -> String {
    let entry = item.entry;
    let key = |key| without_sgr(recorded_key(key, item.is_joined));
    let parts = [
        Some(format!("{} {}", entry.role.word(), key(&entry.key))),
        entry
            .parent
            .as_ref()
            .map(|parent| format!("parent {}", key(parent))),
        entry
            .model
            .as_ref()
            .map(|model| without_sgr(model).into_owned()),
        Some(place(entry.origin, dot)),
    ];
    parts.into_iter().flatten().join(&format!(" {dot} "))
}

/// `line 12 · byte 345 +678`
fn place(Origin { at, len, line, .. }: Origin, dot: &str) -> String {
    format!("line {line} {dot} byte {at} +{len}")
}

/// Adds an empty row below prose, and on wide screens below everything with more than one row.
fn air(sheet: &mut EntryRows<'_>) {
    let entry = sheet.item.entry;
    let is_prose = |block: &Block| matches!(&block.kind, BlockKind::Text(body) if !is_blank(body));
    let speaks = !is_quiet(sheet) && entry.blocks.iter().any(is_prose);
    let is_list = sheet.look.level == Level::Outline;
    let is_talk = speaks && !is_aside(entry);
    let has_several = sheet.at() > 1 || sheet.item.blocks.0 > 0;
    if !is_list && sheet.at() > 0 && (is_talk || (sheet.is_wide() && has_several)) {
        sheet.gap();
    }
}

fn block(sheet: &mut EntryRows<'_>, block: &Block, detail: Detail, speaks_first: &mut bool) {
    let first = sheet.at();
    match &block.kind {
        BlockKind::Text(body) => {
            text(sheet, body, detail, *speaks_first);
            *speaks_first = false;
        }
        BlockKind::Thinking(body) => thinking(sheet, body, detail),
        BlockKind::Call(call) => tool::lay_out(sheet, call, detail),
        BlockKind::Result(stray) => tool::lay_out_stray(sheet, stray, detail),
        BlockKind::Image(image) => {
            let mut rows = tool::image_rows(sheet, image, detail);
            if sheet.is_at_top() && !rows.is_empty() {
                let head = head_of(sheet, rows.remove(0).line.spans);
                sheet.head(head);
            }
            sheet.body(rows);
        }
        BlockKind::Break(what) => breaks::lay_out(sheet, what, detail),
        BlockKind::Raw(raw) => self::raw(sheet, raw, detail),
        BlockKind::Aside(judged, raw) => aside(sheet, *judged, raw, detail),
    }
    let of = match &block.kind {
        BlockKind::Break(what) => SourceText::Own(what.words()),
        BlockKind::Text(_)
        | BlockKind::Thinking(_)
        | BlockKind::Call(_)
        | BlockKind::Result(_)
        | BlockKind::Image(_)
        | BlockKind::Raw(_)
        | BlockKind::Aside(..) => SourceText::Body(0),
    };
    sheet.set_source(first, &of);
}

/// A head row with the name of the speaker.
fn head_of(sheet: &EntryRows<'_>, text: Vec<Piece>) -> HeadRow {
    let entry = sheet.item.entry;
    HeadRow {
        kind: if entry.marks.prompt {
            RowKind::Prompt
        } else {
            RowKind::Head
        },
        at: entry.at,
        word: word(sheet),
        text,
        ..HeadRow::default()
    }
}

fn word(sheet: &EntryRows<'_>) -> Piece {
    let theme = sheet.look.theme;
    let role = sheet.item.entry.role;
    match role {
        // In a sub-agent's lane the speaker of prompts is the calling agent.
        Role::User if sheet.item.entry.lane.is_some() && !sheet.item.is_main_lane => {
            Span::styled("task", theme.voice.user)
        }
        Role::User => Span::styled(role.speaker(), theme.voice.user),
        Role::Assistant => Span::styled(role.speaker(), theme.voice.assistant),
        Role::System | Role::Harness => Span::styled(role.speaker(), theme.dim),
    }
}

fn is_quiet(sheet: &EntryRows<'_>) -> bool {
    sheet.item.entry.marks.quiet
}

fn text(sheet: &mut EntryRows<'_>, body: &Body, detail: Detail, speaks_first: bool) {
    if is_blank(body) && detail != Detail::Raw {
        return;
    }
    let is_aside = is_aside(sheet.item.entry);
    let in_row = detail == Detail::Closed
        || (detail == Detail::Preview && (is_quiet(sheet) || (is_aside && is_brief(sheet, body))));
    let right = (right_of(sheet, speaks_first), is_for_focus(sheet));
    if in_row {
        let mut text = sender(sheet, speaks_first);
        if is_aside || is_quiet(sheet) {
            text.push(Span::styled(on_one_line(body), sheet.look.theme.dim));
        } else {
            text.extend(first_row(sheet, body));
        }
        let mut head = head_of(sheet, text);
        (head.right, head.on_focus) = right;
        head.is_away = body.is_on_disk();
        head.hides = body.lines.max(1);
        sheet.head(head);
        return;
    }
    if speaks_first || sheet.is_at_top() {
        let mut head = head_of(sheet, sender(sheet, speaks_first));
        (head.right, head.on_focus) = right;
        sheet.head(head);
    }
    let rows = prose_rows(sheet, body, detail, is_aside);
    sheet.body(rows);
}

/// Whether an entry is not part of the conversation: notes of the harness, but not messages passed
/// on by it.
fn is_aside(entry: &Entry) -> bool {
    let is_message = entry
        .from
        .as_deref()
        .is_some_and(|from| from.kind.is_message());
    matches!(entry.role, Role::System | Role::Harness) && !is_message
}

/// The sender of a message that no human wrote, in front of its first words.
fn sender(sheet: &EntryRows<'_>, speaks_first: bool) -> Vec<Piece> {
    let from = sheet.item.entry.from.as_deref().filter(|_| speaks_first);
    let words = from.map(|from| format!("{}  ", without_sgr(&from.words())));
    words
        .map(|words| Span::styled(words, sheet.look.theme.dim))
        .into_iter()
        .collect()
}

/// Whether an aside takes one row: system prompts always, notes if they fit.
fn is_brief(sheet: &EntryRows<'_>, body: &Body) -> bool {
    sheet.item.entry.role == Role::System
        || (body.bytes as usize) + 20 < usize::from(sheet.look.width)
}

/// The first row of prose, without Markdown markers.
fn first_row(sheet: &EntryRows<'_>, body: &Body) -> Vec<Piece> {
    let text = wrap::head(body.text_or_stub(), 2_000).trim_start();
    let rows = markdown::rows(text, manner_of(sheet), 1_000, 1, sheet.look);
    rows.into_iter()
        .next()
        .map(|row| row.line.spans)
        .unwrap_or_default()
}

fn manner_of(sheet: &EntryRows<'_>) -> MarkdownMode {
    if sheet.item.entry.role == Role::Assistant {
        MarkdownMode::Prose
    } else {
        MarkdownMode::Typed
    }
}

/// The beginning of a text on one line.
fn on_one_line(body: &Body) -> String {
    let plain = without_sgr(wrap::head(body.text_or_stub(), 2_000));
    let readable = tags::readable(&plain);
    let plain = readable.as_deref().unwrap_or(&plain);
    plain.split_whitespace().join(" ")
}

fn prose_rows(sheet: &EntryRows<'_>, body: &Body, detail: Detail, is_aside: bool) -> Vec<Row> {
    let limit = match detail {
        Detail::Closed => 1,
        Detail::Preview if sheet.look.level == Level::Prompts => PROMPT_ROWS,
        Detail::Preview if is_aside => NOTE_ROWS,
        Detail::Preview | Detail::Full | Detail::Open | Detail::Raw => detail.rows(),
    };
    let mut rows = if detail == Detail::Raw || body.tree().is_some() {
        body::raw_rows(body, sheet.body_width(), sheet.look)
    } else {
        body::prose(
            body.text_or_stub(),
            manner_of(sheet),
            limit,
            sheet.body_width(),
            sheet.look,
        )
    };
    if is_aside {
        restyle(&mut rows, sheet.look.theme.dim);
    }
    if body.is_on_disk() {
        for row in &mut rows {
            row.is_away = true;
        }
        let what = format!("+{}", figures::bytes(u64::from(body.bytes)));
        let mut more = hidden_row(&what, body.lines as usize, sheet.look);
        more.is_away = true;
        rows.push(more);
    }
    rows
}

/// Facts at the right of the first words of a message.
fn right_of(sheet: &EntryRows<'_>, speaks_first: bool) -> Vec<Piece> {
    let theme = sheet.look.theme;
    let mut right = Vec::new();
    if !speaks_first {
        return right;
    }
    let facts = [sheet.item.turn, sheet.item.usage];
    // Where there is no room for both, the cost stays without the tokens.
    for fact in facts
        .into_iter()
        .flatten()
        .flat_map(|fact| fact.split("  "))
    {
        right.push(Span::styled(fact.to_owned(), theme.dim));
    }
    if sheet.item.entry.marks.open {
        let is_at_work = sheet.item.is_at_work;
        let (words, style) = if is_at_work {
            ("writing", theme.accent)
        } else {
            ("broken off", theme.warn)
        };
        right.push(Span::styled(words, style));
    }
    right
}

/// Whether usage is shown only at the focused entry: below level 4.
fn is_for_focus(sheet: &EntryRows<'_>) -> bool {
    let entry = sheet.item.entry;
    entry.role == Role::Assistant && !entry.marks.open && sheet.look.level < Level::Full
}

fn thinking(sheet: &mut EntryRows<'_>, body: &Body, detail: Detail) {
    if !sheet.look.thinking {
        return;
    }
    let theme = sheet.look.theme;
    let mut head = HeadRow {
        kind: RowKind::Head,
        at: sheet.item.entry.at,
        word: Span::styled("think", theme.voice.thinking),
        is_away: body.is_on_disk(),
        ..HeadRow::default()
    };
    if is_blank(body) {
        head.text = vec![Span::styled("(redacted)", theme.voice.thinking)];
        sheet.head(head);
        return;
    }
    let tokens = format!(
        "~{} tok",
        figures::tokens(u64::from((body.bytes / BYTES_PER_TOKEN).max(1)))
    );
    (head.right, head.on_focus) = (vec![Span::styled(tokens, theme.dim)], is_for_focus(sheet));
    // Some models give each thought a title in bold.
    let line: String = first_row(sheet, body)
        .iter()
        .map(|span| span.content.as_ref())
        .collect();
    let is_one_line = body.lines <= 1 && wrap::width(&line) + 32 < usize::from(sheet.look.width);
    let in_row = detail == Detail::Closed
        || (detail == Detail::Preview && (is_one_line || !sheet.is_wide()));
    if in_row {
        head.text = vec![Span::styled(line, theme.voice.thinking)];
        head.hides = if is_one_line { 0 } else { body.lines.max(1) };
        sheet.head(head);
        return;
    }
    sheet.head(head);
    let limit = detail.rows_or(THINKING_ROWS);
    let mut rows = if detail == Detail::Raw {
        body::raw_rows(body, sheet.body_width(), sheet.look)
    } else {
        body::prose(
            body.text_or_stub(),
            MarkdownMode::Prose,
            limit,
            sheet.body_width(),
            sheet.look,
        )
    };
    restyle(&mut rows, theme.voice.thinking);
    for row in &mut rows {
        row.is_away |= body.is_on_disk();
    }
    sheet.body(rows);
}

/// The facts in the title of a command's output; `None` for another title.
fn facts_of_output(title: &str) -> Option<&str> {
    let rest = OUTPUTS.iter().find_map(|known| title.strip_prefix(known))?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix(" · ")
    }
}

/// The output of a command that the user ran, shown as output because the user saw it so.
fn output(sheet: &mut EntryRows<'_>, raw: &Raw, facts: &str, detail: Detail) {
    let theme = sheet.look.theme;
    let is_one_line = raw.body.lines <= 1;
    let is_closed = detail == Detail::Closed;
    let words = if is_closed || is_one_line {
        tool::first_line(raw.body.text_or_stub())
    } else {
        String::new()
    };
    let lines = figures::count(u64::from(raw.body.lines), "line");
    let mut text = vec![Span::styled(words, theme.text)];
    if !facts.is_empty() {
        let gap = if text.iter().all(|span| span.content.is_empty()) {
            ""
        } else {
            "  "
        };
        text.push(Span::styled(
            format!("{gap}{}", without_sgr(facts)),
            theme.dim,
        ));
    }
    sheet.head(HeadRow {
        kind: RowKind::Head,
        at: sheet.item.entry.at,
        word: Span::styled("out", theme.tool),
        text,
        right: if is_one_line {
            Vec::new()
        } else {
            vec![Span::styled(lines, theme.dim)]
        },
        is_away: raw.body.is_on_disk(),
        hides: if is_closed { raw.body.lines.max(1) } else { 0 },
        ..HeadRow::default()
    });
    if !is_closed && !is_one_line {
        let shown = body::BodyLimits {
            detail,
            preview: sheet.look.share(OUTPUT),
            nodes: sheet.nodes(0),
        };
        let rows = body::body_rows(&raw.body, shown, sheet.body_width(), sheet.look);
        sheet.body(rows);
    }
}

fn raw(sheet: &mut EntryRows<'_>, raw: &Raw, detail: Detail) {
    let facts = facts_of_output(&raw.title);
    if let Some(facts) = facts.filter(|_| detail != Detail::Raw) {
        return output(sheet, raw, facts, detail);
    }
    // Text that the harness adds to a prompt is an aside.
    let is_aside = is_quiet(sheet) || sheet.item.entry.marks.prompt;
    let is_closed = detail == Detail::Closed || (detail == Detail::Preview && is_aside);
    let word = if is_aside || sheet.item.entry.from.is_some() {
        "note"
    } else {
        "raw"
    };
    titled(sheet, raw, (word, sheet.look.theme.dim), is_closed, detail);
}

/// An unknown or minor record: one row until it is opened.
fn aside(sheet: &mut EntryRows<'_>, judged: Judged, raw: &Raw, detail: Detail) {
    let theme = sheet.look.theme;
    if judged == Judged::Trace && sheet.look.level < Level::Full {
        return;
    }
    let is_closed = match detail {
        Detail::Closed | Detail::Preview => true,
        Detail::Full => judged != Judged::Text,
        Detail::Open | Detail::Raw => false,
    };
    let (word, style) = if judged == Judged::Loud {
        ("new", theme.bad)
    } else {
        ("note", theme.dim)
    };
    titled(sheet, raw, (word, style), is_closed, detail);
}

/// A head row with a title, with the body below it or, if closed, at its right.
fn titled(
    sheet: &mut EntryRows<'_>,
    raw: &Raw,
    (word, style): (&'static str, Style),
    is_closed: bool,
    detail: Detail,
) {
    let mut text = vec![Span::styled(without_sgr(&raw.title).into_owned(), style)];
    if is_closed && !raw.body.stub.is_blank() {
        text.push(Span::styled(format!("  {}", on_one_line(&raw.body)), style));
    }
    sheet.head(HeadRow {
        kind: RowKind::Head,
        at: sheet.item.entry.at,
        word: Span::styled(word, style),
        text,
        suffix: tool::number_of(sheet).into_iter().collect(),
        is_away: raw.body.is_on_disk(),
        hides: if is_closed { raw.body.lines.max(1) } else { 0 },
        ..HeadRow::default()
    });
    if is_closed {
        return;
    }
    let rows = body::untitled(sheet, &raw.body, detail);
    sheet.body(rows);
}

fn is_blank(body: &Body) -> bool {
    body.bytes == 0
        || (!body.is_on_disk() && body.tree().is_none() && body.text_or_stub().is_blank())
}
