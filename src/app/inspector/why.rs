//! The why tab: how call and result were paired, what the verdict is based on, and the position of
//! the entry.

use ratatui::text::Span;

use super::inspected::InspectedItem;
use super::page::PageBuilder;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::money::cost;
use crate::analysis::phrases;
use crate::model::entry::{BlockKind, StrayResult};
use crate::model::tool::{
    Clocked, ToolCall, ToolResult, ToolState, Verdict, identifies, is_textual,
};

/// Lays out the tab.
pub fn lay_out(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let stray = match subject
        .entry
        .blocks
        .get(subject.focus.block)
        .map(|block| &block.kind)
    {
        Some(BlockKind::Result(stray)) => Some(stray),
        _ => None,
    };
    match (subject.call(), stray) {
        (Some(call), _) => of_call(subject, call, page),
        (None, Some(stray)) => of_stray(subject, stray, page),
        (None, None) => {}
    }
    of_entry(subject, page);
    of_cost(subject, page);
}

/// Adds a row with a reason, and a sign for whether it is as expected.
fn reason(page: &mut PageBuilder<'_>, name: &str, is_well: bool, words: impl Into<String>) {
    let theme = page.look.theme;
    let glyphs = theme.glyphs();
    let (glyph, style) = if is_well {
        (glyphs.outcome.done, theme.good)
    } else {
        ("!", theme.warn)
    };
    page.field(
        name,
        &[
            Span::styled(format!("{glyph} "), style),
            Span::styled(words.into(), theme.text),
        ],
    );
}

fn of_call(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    page.field("verdict", &subject.verdict(call, subject.focus.entry));
    page.heading("PAIRING", "");
    id(subject, call, page);
    match call.state.result() {
        Some(result) => {
            let place = subject.place_words(None, result.body.from);
            let rule = if is_textual(&call.key) {
                "the call was written into a text; results are given to such calls in their order, which nothing proves"
            } else if result.body.from == call.input.from {
                "the record of the call holds its result"
            } else {
                "a result names this id, and this is the earliest call with it that had none"
            };
            reason(
                page,
                "result",
                !is_textual(&call.key),
                format!("{rule}: {place}"),
            );
            order(subject, call, result, page);
            page.heading("VERDICT", "");
            verdict(result, page);
            if let Some(took) = call.duration(subject.entry.call_time(call)) {
                let how = match took.by {
                    Clocked::Measured => "the agent measured the duration",
                    Clocked::Times => {
                        "the duration is the time of the result less that of the call"
                    }
                    Clocked::Bound => {
                        "the duration is a bound: only the message of the call has a time"
                    }
                };
                reason(page, "duration", took.by != Clocked::Bound, how);
            }
        }
        None => missing(subject, call, page),
    }
}

fn id(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    if is_textual(&call.key) {
        return reason(
            page,
            "id",
            false,
            "none: the model wrote the call into its text",
        );
    }
    if call.key.is_empty() {
        return reason(
            page,
            "id",
            false,
            "empty: only its place tells it from others",
        );
    }
    let key = subject.session.transcript.recorded_key(&call.key);
    if !identifies(key) {
        return reason(page, "id", false, format!("{key} tells nothing apart"));
    }
    let entries = subject.session.transcript.entries_with_call(&call.key);
    let with_id = |id: &crate::model::entry::EntryId| {
        let entry = subject.session.transcript.get(*id);
        entry.map_or(0, |entry| {
            entry.calls().filter(|other| other.key == call.key).count()
        })
    };
    let count: usize = entries.iter().take(1_000).map(with_id).sum();
    if count > 1 {
        reason(
            page,
            "id",
            false,
            format!("{key} is used by {count} calls of this session"),
        );
    } else {
        reason(
            page,
            "id",
            true,
            format!("{key} belongs to this call alone"),
        );
    }
    if key == call.name.as_str() {
        reason(page, "", false, "the id is the name of the tool");
    }
}

fn order(
    subject: &InspectedItem<'_>,
    call: &ToolCall,
    result: &ToolResult,
    page: &mut PageBuilder<'_>,
) {
    let (called, answered) = (call.input.from, result.body.from);
    if called.file == answered.file && called != answered && called.len > 0 && answered.len > 0 {
        let is_after = called.at < answered.at;
        let words = if is_after {
            "the result comes after the call in the file"
        } else {
            "the result comes before the call in the file"
        };
        reason(page, "order", is_after, words);
    }
    if let Some((started, ended)) = call.started.or(subject.entry.at).zip(result.at)
        && ended < started
    {
        reason(page, "time", false, "the result is older than the call");
    }
}

fn verdict(result: &ToolResult, page: &mut PageBuilder<'_>) {
    let words = match result.verdict {
        Verdict::Done => "the agent recorded no error",
        Verdict::Failed => "the agent recorded an error",
        Verdict::Refused => "a user or a policy did not allow the call",
        Verdict::Stopped => "the call was stopped before its end",
    };
    reason(page, "recorded", result.verdict == Verdict::Done, words);
    if !result.facts.is_blank() {
        page.fact("facts", result.facts.to_string());
    }
    if result.body.bytes == 0 && result.images.is_empty() {
        reason(page, "output", false, "empty");
    }
}

fn missing(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    let transcript = &subject.session.transcript;
    let words = match &call.state {
        ToolState::Lost => "the agent says that the call was interrupted; there will be none",
        _ if subject
            .session
            .runs(subject.focus.entry, call, subject.screen.now) =>
        {
            "none yet; the agent is at work on this turn"
        }
        _ if transcript.branches().of(subject.focus.entry).is_some() => {
            "none: the session left this branch before one came"
        }
        _ if transcript.has_ended() => "none: the session ended without one",
        _ if Awaited::of(transcript).has(transcript, subject.focus.entry) => {
            "none so far; nothing was written for long"
        }
        _ if !transcript.is_newest_turn(
            subject
                .session
                .indexes
                .account
                .turn_of(transcript, subject.focus.entry),
        ) =>
        {
            "none: the session went on to another turn without one"
        }
        _ => "none: the model was asked again, or its history shortened, without one",
    };
    reason(page, "result", false, words);
}

fn of_stray(subject: &InspectedItem<'_>, stray: &StrayResult, page: &mut PageBuilder<'_>) {
    page.heading("PAIRING", "");
    let entries = subject.session.transcript.entries_with_call(&stray.call);
    let target = entries.first().map(|id| crate::app::text::viewport::Focus {
        entry: *id,
        block: 0,
    });
    let key = subject.session.transcript.recorded_key(&stray.call);
    let words = match (stray.call.is_empty(), target.is_some()) {
        (true, _) => "the result names no call".to_owned(),
        (false, true) => format!("the call {key} has its result already"),
        (false, false) => format!("no call of this session has the id {key}"),
    };
    let theme = page.look.theme;
    let spans = [
        Span::styled("! ", theme.warn),
        Span::styled(words, theme.text),
    ];
    page.link("call", &spans, target);
    page.heading("VERDICT", "");
    verdict(&stray.result, page);
}

/// Explains the signs at the session's cost.
fn of_cost(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let transcript = &subject.session.transcript;
    let cost = subject.session.indexes.account.cost(transcript);
    let signs = cost::signs_of(&cost, transcript.totals());
    let Some(shown) = phrases::cost(&cost).filter(|_| !signs.is_empty()) else {
        return;
    };
    page.heading("COST OF THE SESSION", &shown);
    for (sign, words) in signs {
        page.fact(sign, words);
    }
}

/// Adds key, parent, branch and marks of the entry.
fn of_entry(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let transcript = &subject.session.transcript;
    let recorded = |key| transcript.recorded_key(key);
    page.heading("PLACE", "");
    page.fact("key", recorded(&subject.entry.key).to_owned());
    match &subject.entry.parent {
        Some(parent) if transcript.parent_of(transcript.print_of(parent)).is_some() => {
            reason(
                page,
                "parent",
                true,
                format!("{} is in the file", recorded(parent)),
            );
        }
        Some(parent) if transcript.is_linked_tree() => {
            reason(
                page,
                "parent",
                false,
                format!("{}: no linked record has that id", recorded(parent)),
            );
        }
        // Not every record of this format is a link, so a missing parent is no problem.
        Some(parent) if transcript.lanes().is_empty() => {
            page.fact(
                "parent",
                format!("{}; no linked record has that id", recorded(parent)),
            );
        }
        Some(parent) => {
            let words = "no linked record has that id; those of sub-agents, which may have it, are not linked";
            page.fact("parent", format!("{}; {words}", recorded(parent)));
        }
        None => page.fact("parent", "none recorded"),
    }
    let standing = subject.state_phrases();
    if standing.is_empty() {
        reason(page, "branch", true, "on the active path");
    }
    for words in standing {
        reason(page, "branch", false, words);
    }
    let marks = [
        (
            subject.entry.marks.prompt,
            "a prompt that starts work: it opens a turn",
        ),
        (
            subject.entry.marks.quiet,
            "context or noise that was added: folded below level 4",
        ),
        (
            subject.entry.marks.trace && !subject.entry.marks.reports,
            "bookkeeping: no row below level 4",
        ),
        (
            subject.entry.marks.again,
            "told before: no row below level 4",
        ),
        (subject.entry.marks.unsent, "not sent to the model"),
    ];
    for (_, words) in marks.into_iter().filter(|(is_so, _)| *is_so) {
        page.fact("shown as", words);
    }
    let records = crate::app::copying::clipboard::origins_of(subject.session, &[subject.focus]);
    page.fact("records", records.len().to_string());
}
