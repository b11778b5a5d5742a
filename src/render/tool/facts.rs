//! Facts at the right edge of a call: size or verdict, duration, state.

use super::styled;
use crate::model::entry::Entry;
use crate::model::figures;
use crate::model::text::{Text, without_sgr};
use crate::model::tool::{Clocked, Took, ToolCall, ToolKind, ToolResult, ToolState, Verdict};
use crate::render::sheet::EntryRows;
use crate::render::wrap::{self, Piece};

/// Columns of a duration, so that durations are aligned.
const DURATION: usize = 6;
/// Limit of a fact in bytes.
const FACT: usize = 80;

/// The facts, the most important one last.
pub(crate) fn right(sheet: &EntryRows<'_>, call: &ToolCall) -> Vec<Piece> {
    let theme = sheet.look.theme;
    let glyphs = sheet.glyphs();
    let is_given_up = call.state.is_open() && !sheet.item.is_awaited;
    let (glyph, style) = match &call.state {
        _ if is_given_up => (glyphs.outcome.lost, theme.warn),
        ToolState::Pending | ToolState::Running | ToolState::Streaming(_) => {
            (glyphs.outcome.running, theme.accent)
        }
        ToolState::Acknowledged(_) if sheet.item.is_running => {
            (glyphs.outcome.running, theme.accent)
        }
        ToolState::Done(_) if call.state.is_unrecorded() => (glyphs.outcome.lost, theme.dim),
        ToolState::Done(_) => (glyphs.outcome.done, theme.good),
        ToolState::Failed(_) => (glyphs.outcome.failed, theme.bad),
        ToolState::Refused(_) => (glyphs.outcome.refused, theme.warn),
        ToolState::Acknowledged(_) | ToolState::Stopped(_) | ToolState::Lost => {
            (glyphs.outcome.lost, theme.warn)
        }
    };
    let words = match &call.state {
        _ if is_given_up => "no result".to_owned(),
        ToolState::Pending | ToolState::Running | ToolState::Streaming(_) => String::new(),
        ToolState::Lost => "no result".to_owned(),
        ToolState::Acknowledged(result) if sheet.item.is_running => of_result(call, result),
        ToolState::Acknowledged(_) => "no end recorded".to_owned(),
        ToolState::Done(result) | ToolState::Failed(result) => of_result(call, result),
        ToolState::Refused(result) | ToolState::Stopped(result) if result.facts.is_blank() => {
            call.state.word().to_owned()
        }
        ToolState::Refused(result) | ToolState::Stopped(result) => short(&result.facts),
    };
    let words_style = if matches!(call.state, ToolState::Failed(_)) {
        theme.bad
    } else {
        theme.dim
    };
    let took = duration(sheet, call).unwrap_or_default();
    let took = if super::is_running(sheet, call) {
        took
    } else {
        format!("{took:>DURATION$}")
    };
    // Decoders join facts with `·`.
    let words = if theme.ascii {
        words.replace('·', glyphs.dot)
    } else {
        words
    };
    vec![
        styled(words, words_style),
        styled(took, theme.dim),
        styled(glyph, style),
    ]
}

/// The facts of a run of successful calls: their total duration, if each one is recorded.
pub(crate) fn of_run(sheet: &EntryRows<'_>, run: &[(&Entry, &ToolCall)]) -> Vec<Piece> {
    let theme = sheet.look.theme;
    let took: Option<Vec<Took>> = run
        .iter()
        .map(|(entry, call)| call.duration(entry.call_time(call)))
        .collect();
    let took = took.map(|all| {
        let is_bound = all.iter().any(|took| took.by == Clocked::Bound);
        theme.duration(all.iter().map(|took| took.ms).sum(), is_bound)
    });
    let took = format!("{:>DURATION$}", took.unwrap_or_default());
    let outcome = &sheet.glyphs().outcome;
    let is_unrecorded = run.iter().any(|(_, call)| call.state.is_unrecorded());
    let (glyph, style) = if is_unrecorded {
        (outcome.lost, theme.dim)
    } else {
        (outcome.done, theme.good)
    };
    vec![styled(took, theme.dim), styled(glyph, style)]
}

/// Facts on one line.
pub(crate) fn short(facts: &Text) -> String {
    without_sgr(wrap::head(facts, FACT))
        .lines()
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn of_result(call: &ToolCall, result: &ToolResult) -> String {
    if !result.facts.is_blank() {
        return short(&result.facts);
    }
    let body = &result.body;
    match call.kind {
        // The lines are those of an error, not of the file.
        ToolKind::Read | ToolKind::Search if result.verdict != Verdict::Done => String::new(),
        ToolKind::Read | ToolKind::Search if body.bytes > 0 => {
            figures::count(u64::from(body.lines), "line")
        }
        ToolKind::Run | ToolKind::Fetch | ToolKind::Other if body.bytes >= 1_000 => {
            figures::bytes(u64::from(body.bytes))
        }
        ToolKind::Run
        | ToolKind::Read
        | ToolKind::Search
        | ToolKind::Fetch
        | ToolKind::Other
        | ToolKind::Edit
        | ToolKind::Write
        | ToolKind::Delegate
        | ToolKind::Plan => String::new(),
    }
}

/// The duration measured by the agent, or by timestamps; `≤` if one message covers several calls,
/// so that there is only an upper bound.
fn duration(sheet: &EntryRows<'_>, call: &ToolCall) -> Option<String> {
    let took = call.duration(sheet.item.entry.call_time(call))?;
    Some(sheet.look.theme.took(took))
}
