//! Failures as rows of the checks: the call, the reason, and what became of it.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::analysis::brief::{Failure, Fault};
use crate::analysis::calls::Place;
use crate::analysis::phrases;
use crate::app::text::viewport::Focus;
use crate::app::views::page::PageScene;
use crate::listing::call::PlacedCall;
use crate::model::text::without_sgr;
use crate::model::timestamp::Timestamp;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Page width from which the call that mended a failure is shown.
const WIDE: usize = 90;
/// Maximum width of that call.
const MENDED: usize = 34;
/// Share of a row in percent that the call gets if it needs as much.
const CALL_SHARE: usize = 45;

/// The failures of a kind, in the order of the session.
pub(super) fn of<'a>(
    scene: &PageScene<'a>,
    is_such: fn(Fault) -> bool,
) -> impl Iterator<Item = &'a Failure> {
    let failed = scene.indexes.brief.failed.iter();
    failed.filter(move |failure| is_such(failure.fault))
}

/// The failure at a position.
pub(super) fn at<'a>(scene: &PageScene<'a>, place: Place) -> Option<&'a Failure> {
    let mut failed = scene.indexes.brief.failed.iter();
    failed.find(|failure| failure.place == place)
}

pub(super) fn line(scene: &PageScene<'_>, failure: &Failure, width: usize) -> Line<'static> {
    let theme = scene.theme;
    let cut = theme.glyphs().cut;
    let (sign, style) = sign(failure.fault, theme);
    let is_dated = scene.indexes.calls.are_of_days();
    let time = time_of(scene, failure.place)
        .map(|at| at.minute_or_dated(is_dated))
        .unwrap_or_default();
    let columns = if is_dated { 11 } else { 5 };
    let mut spans = vec![
        Span::styled(format!("{sign} "), style),
        Span::styled(format!("{time:<columns$}  "), theme.dim),
    ];
    if let Some((session, _)) = scene.transcript.session_of(failure.place.entry) {
        spans.insert(0, theme.session_mark(Some(session)));
        spans.insert(1, Span::raw(" "));
    }
    let (state, style) = state(scene, failure, width);
    let state = wrap::fit(&[Span::styled(state, style)], MENDED, cut);
    let beside = match wrap::width_of(&state) {
        0 => 0,
        width => width + 2,
    };
    let room = width.saturating_sub(wrap::width_of(&spans) + beside);
    let why = [Span::styled(reason(scene, failure), theme.dim)];
    let for_why = wrap::width_of(&why).min(room - room * CALL_SHARE / 100);
    let for_what = room.saturating_sub(for_why + 2);
    let what = wrap::fit_action(&first_line(&failure.what), for_what, cut);
    let what = wrap::fit(&[Span::styled(what, theme.text)], for_what, cut);
    let gap = if for_why > 0 { "  " } else { "" };
    let left = room.saturating_sub(wrap::width_of(&what) + gap.len());
    let why = wrap::fit(&why, left, cut);
    let air = left.saturating_sub(wrap::width_of(&why)) + beside.min(2);
    spans.extend(what);
    spans.push(Span::raw(gap));
    spans.extend(why);
    if beside > 0 {
        spans.push(Span::raw(" ".repeat(air)));
        spans.extend(state);
    }
    Line::from(spans)
}

/// The details of a failure.
pub(super) fn foot(scene: &PageScene<'_>, failure: &Failure) -> Vec<Line<'static>> {
    let theme = scene.theme;
    let cut = theme.glyphs().cut;
    let fit = |words: String, style: Style| {
        let words = [Span::styled(first_line(&words), style)];
        Line::from(wrap::fit(&words, scene.columns(), cut))
    };
    let placed = PlacedCall::at(scene.calls, failure.place);
    let took = placed.and_then(|placed| Some(theme.took(placed.duration()?)));
    let (state, _) = state(scene, failure, usize::MAX);
    let facts = [
        Some(failure.fault.word().to_owned()),
        (failure.fault == Fault::Hidden).then(|| "its call ended well".to_owned()),
        took,
        place_words(scene, failure.place),
        Some(state),
    ];
    vec![
        fit(failure.what.clone(), theme.text),
        fit(reason(scene, failure), theme.bad),
        fit(phrases::joined(facts, theme.ascii), theme.dim),
    ]
}

/// The reason of a failure, with the exit code of its command.
fn reason(scene: &PageScene<'_>, failure: &Failure) -> String {
    let dot = scene.theme.glyphs().dot;
    let why = first_line(&failure.explanation()).replace('·', dot);
    let placed = PlacedCall::at(scene.calls, failure.place);
    let facts = placed.and_then(|placed| Some(first_line(&placed.call.state.result()?.facts)));
    // A fact may be the beginning of the reason, cut short.
    let is_new = |facts: &String| !why.contains(facts.trim_end_matches('…'));
    match facts.filter(|facts| !facts.is_empty() && is_new(facts)) {
        Some(facts) if why.is_empty() => facts,
        Some(facts) => format!("{facts} {dot} {why}"),
        None => why,
    }
}

fn sign(fault: Fault, theme: &Theme) -> (&'static str, Style) {
    let outcome = &theme.glyphs().outcome;
    match fault {
        Fault::Failed => (outcome.failed, theme.bad),
        Fault::Hidden => ("!", theme.warn),
        Fault::Refused => (outcome.refused, theme.warn),
        Fault::Stopped => (outcome.lost, theme.warn),
    }
}

/// What became of a failure; on wide pages, also the call that mended it.
fn state(scene: &PageScene<'_>, failure: &Failure, width: usize) -> (String, Style) {
    let theme = scene.theme;
    let Some(by) = failure.mended_by else {
        return match failure.fault {
            Fault::Failed | Fault::Hidden => ("not mended".to_owned(), theme.bad),
            Fault::Refused | Fault::Stopped => (String::new(), theme.dim),
        };
    };
    if failure.is_error {
        return ("went on".to_owned(), theme.dim);
    }
    let at = time_of(scene, by).filter(|_| width >= WIDE);
    let words = at.map_or_else(
        || "mended".to_owned(),
        |at| {
            let by = PlacedCall::at(scene.calls, by).map(|placed| {
                let word = placed.call.shown_name();
                format!(" by {word} {}", placed.argument())
            });
            let is_dated =
                time_of(scene, failure.place).is_some_and(|failed| !failed.is_same_day(at));
            format!(
                "mended {}{}",
                at.minute_or_dated(is_dated),
                by.unwrap_or_default()
            )
        },
    );
    (words, theme.dim)
}

/// The time of the call or entry at a position.
fn time_of(scene: &PageScene<'_>, place: Focus) -> Option<Timestamp> {
    match PlacedCall::at(scene.calls, place) {
        Some(placed) => placed.made_at(),
        None => scene.transcript.get(place.entry)?.at,
    }
}

/// `turn 2 · line 212`, with the name of the sub-agent.
fn place_words(scene: &PageScene<'_>, place: Focus) -> Option<String> {
    let transcript = scene.transcript;
    let entry = transcript.get(place.entry)?;
    let turn = transcript
        .turn_of(place.entry)
        .map(|turn| format!("turn {}", turn + 1));
    let lane = entry.lane.as_ref().and_then(|lane| transcript.lane(lane));
    let parts = [
        turn,
        lane.map(|lane| lane.label.to_string()),
        (entry.origin.line > 0).then(|| format!("line {}", entry.origin.line)),
    ];
    Some(phrases::joined(parts, scene.theme.ascii))
}

fn first_line(words: &str) -> String {
    let words = without_sgr(words);
    words.lines().next().unwrap_or_default().to_owned()
}
