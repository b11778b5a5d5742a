//! The timing tab: timestamps, the duration compared with other calls of the tool, and the time of
//! the turn by class.

use ratatui::text::Span;

use super::inspected::InspectedItem;
use super::page::{PageBuilder, bar};
use crate::analysis::account::{Class, Sums};
use crate::analysis::calls::{Outcome, Tool};
use crate::model::figures::{self, duration, percent};
use crate::model::timestamp::Timestamp;
use crate::model::tool::{Clocked, ToolCall, ToolState};

const BAR: usize = 24;
/// Maximum number of overlapping calls.
const OVERLAPS: usize = 40;
/// Minimum number of durations for quantiles.
const FEW: u32 = 4;

/// Formats a time and its record: `10:41:14.081  entry 598`.
pub fn time_words(at: Option<Timestamp>, place: &str) -> String {
    format!(
        "{}  {place}",
        at.map_or_else(|| "no time recorded".to_owned(), Timestamp::day_and_precise)
    )
}

/// `41.2s   p50 1.1s  p95 12.4s  max 41.2s of 38 bash calls`
pub fn took(subject: &InspectedItem<'_>, call: &ToolCall) -> Option<String> {
    let took = call.duration(subject.entry.call_time(call))?;
    let took = subject.screen.theme.took(took);
    let among = subject
        .session
        .indexes
        .calls
        .tool(&call.name)
        .and_then(|tool| spread_words(subject, tool));
    let among = among
        .map(|words| format!("   {words} {} calls", call.shown_name()))
        .unwrap_or_default();
    Some(format!("{took}{among}"))
}

fn spread_words(subject: &InspectedItem<'_>, tool: &Tool) -> Option<String> {
    let spread = tool
        .sums
        .durations
        .spread()
        .filter(|spread| spread.count >= FEW)?;
    let theme = &subject.screen.theme;
    let [p50, p95, max] =
        [spread.p50, spread.p95, spread.max].map(|ms| theme.duration(ms, spread.is_bound));
    Some(format!(
        "p50 {p50}  p95 {p95}  max {max} of {}",
        spread.count
    ))
}

/// Lays out the tab.
pub fn lay_out(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    match subject.call() {
        Some(call) => of_call(subject, call, page),
        None => {
            page.fact("written", time_words(subject.entry.at, ""));
        }
    }
    if let Some(turn) = &subject.turn {
        time(&format!("TURN {}", turn.number), &turn.time, page);
    }
    time("SESSION", &subject.session.indexes.account.time(None), page);
    if let Some(lane) = &subject.entry.lane {
        let label = subject
            .session
            .transcript
            .lane(lane)
            .map_or(lane, |facts| &facts.label);
        time(
            &format!("SUB-AGENT {label}"),
            &subject.session.indexes.account.time(Some(lane)),
            page,
        );
    }
    if subject.session.indexes.is_behind {
        page.paragraph("the session is still being added up", page.look.theme.dim);
    }
}

fn of_call(subject: &InspectedItem<'_>, call: &ToolCall, page: &mut PageBuilder<'_>) {
    let theme = page.look.theme;
    page.fact("called", time_words(call.started, ""));
    if call.started.is_none() {
        page.fact("said", time_words(subject.entry.at, "by its message"));
    }
    if let Some(result) = call.state.result() {
        page.fact("result", time_words(result.at, ""));
    }
    let took = call.duration(subject.entry.call_time(call));
    match took {
        Some(took) => {
            let how = match took.by {
                Clocked::Measured => "as the agent measured it",
                Clocked::Times => "from the times of call and result",
                Clocked::Bound => "at most: the call has no time of its own, only its message",
            };
            page.fact("took", format!("{}  {how}", theme.took(took)));
            if Class::of_call(call, subject.entry.at) == Class::Unknown {
                let words = "perhaps it waited for you: no tool of this kind takes so long";
                page.field("why", &[Span::styled(words, theme.warn)]);
            }
        }
        None if subject
            .session
            .runs(subject.focus.entry, call, subject.screen.now) =>
        {
            let since = call.started.or(subject.entry.at);
            let so_far = since
                .map(|since| duration(subject.screen.now.since(since)))
                .unwrap_or_default();
            page.field("running", &[Span::styled(so_far, theme.warn)]);
        }
        None if matches!(call.state, ToolState::Acknowledged(_)) => {
            page.fact("took", "not known: no end is recorded");
        }
        None if call
            .state
            .result()
            .is_some_and(|result| result.at.is_some()) =>
        {
            page.fact("took", "not known: the result is older than the call");
        }
        None if call.state.result().is_some() => {
            page.fact("took", "not known: the result has no time");
        }
        None => page.fact("took", "not known: there is no result"),
    }
    let Some(tool) = subject.session.indexes.calls.tool(&call.name) else {
        return;
    };
    page.heading(
        &format!("ALL {} CALLS", call.shown_name()),
        &figures::count(tool.calls.len() as u64, "call"),
    );
    let failed = tool.sums.ended(Outcome::Failed);
    if failed > 0 {
        let share = percent(failed as u64, tool.calls.len() as u64);
        page.field(
            "failed",
            &[Span::styled(format!("{failed} ({share}%)"), theme.bad)],
        );
    }
    if let Some(spread) = tool.sums.durations.spread() {
        for (name, ms) in [
            ("p50", spread.p50),
            ("p95", spread.p95),
            ("max", spread.max),
        ] {
            let bar = Span::styled(bar(ms, spread.max, BAR, theme.ascii), theme.accent);
            let words = format!("{:>8}  ", theme.duration(ms, spread.is_bound));
            page.field(name, &[Span::styled(words, theme.text), bar]);
        }
        page.fact(
            "together",
            format!(
                "{} in {}",
                theme.duration(spread.sum, spread.is_bound),
                figures::count(u64::from(spread.count), "timed call")
            ),
        );
        if let Some(took) = took.filter(|took| (took.by == Clocked::Bound) == spread.is_bound) {
            let longer = tool.sums.durations.longer_than(took.ms);
            let words = if longer == 0 {
                "none took longer".to_owned()
            } else {
                format!("{longer} took longer than this one")
            };
            page.fact("rank", words);
        }
    }
    overlapping(subject, page);
}

/// The calls that overlap with this one.
fn overlapping(subject: &InspectedItem<'_>, page: &mut PageBuilder<'_>) {
    let overlaps = subject
        .session
        .indexes
        .calls
        .overlaps(subject.focus, OVERLAPS);
    let at_least = if overlaps.is_cut { "at least " } else { "" };
    if !overlaps.calls.is_empty() {
        page.heading(
            "AT THE SAME TIME",
            &format!(
                "{at_least}{}",
                figures::count(overlaps.calls.len() as u64, "call")
            ),
        );
    }
    for place in overlaps.calls {
        subject.other("", place, page);
    }
}

fn time(title: &str, sums: &Sums, page: &mut PageBuilder<'_>) {
    let total = sums.total();
    if total == 0 {
        return;
    }
    page.heading(title, &duration(total));
    let theme = page.look.theme;
    for class in Class::ALL {
        let ms = sums.of(class);
        if ms == 0 {
            continue;
        }
        let words = format!("{:>8} {:>3}%  ", duration(ms), percent(ms, total));
        let bar = Span::styled(bar(ms, total, BAR, theme.ascii), theme.accent);
        page.field(class.word(), &[Span::styled(words, theme.text), bar]);
    }
}
