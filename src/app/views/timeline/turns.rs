//! The whole session with a row per turn: its time, the classes of its time, and its duration.

use ratatui::text::{Line, Span};

use super::bars::{Cells, Painter, fitted};
use super::window::TimelineWindow;
use super::{Growing, session_of_lane};
use crate::analysis::account::{Class, Figures};
use crate::analysis::phrases::{self, title_of};
use crate::analysis::timeline::{RowContent, SpanId};
use crate::app::views::page::PageScene;
use crate::model::figures::{count, duration};
use crate::model::timestamp::Timestamp;
use crate::model::turn::Turn;
use crate::render::wrap;

/// Minimum and maximum width of titles; in between a third of the page.
const TITLE: (usize, usize) = (12, 40);
/// Page width from which the total length of a turn is shown beside its work.
const WIDE: usize = 100;
/// Width of the figures, without and with the total length.
const FIGURES: (usize, usize) = (7, 17);

/// Widths of the columns beside the bars.
#[derive(Clone, Copy)]
pub(super) struct ColumnWidths {
    /// Width of the titles before the bars.
    pub(super) title: usize,
    /// Width of the figures after the bars.
    pub(super) figures: usize,
}

impl ColumnWidths {
    pub(super) fn of(columns: usize) -> Self {
        Self {
            title: (columns / 3).clamp(TITLE.0, TITLE.1),
            figures: if columns < WIDE { FIGURES.0 } else { FIGURES.1 },
        }
    }
}

/// Whether there are several turns, so that each can have a row.
pub(super) fn has_several(scene: &PageScene<'_>) -> bool {
    scene.transcript.turns().len() > 1
}

/// The joined session of a turn; 0 if there is only one session.
pub(super) fn session_of(scene: &PageScene<'_>, turn: usize) -> usize {
    let turn = scene.transcript.turns().get(turn);
    turn.map_or(0, |turn| turn.session as usize)
}

/// The range from a turn's prompt to the next one of its session, or to the end.
pub(super) fn turn_extent(
    scene: &PageScene<'_>,
    view: &TimelineWindow<'_>,
    turn: usize,
) -> Option<(Timestamp, Timestamp)> {
    let transcript = scene.transcript;
    let start = |turn: &Turn| transcript.get(turn.prompt)?.at;
    let from = start(transcript.turns().get(turn)?)?;
    let end = || {
        // The time after it is that of other joined sessions.
        let ended = || figures(scene, turn).facts.ended;
        let own = transcript.is_joined().then(ended).flatten();
        own.unwrap_or(view.reach.1)
    };
    let next = transcript.turn_after(turn).and_then(start);
    Some((from, next.unwrap_or_else(end).max(from)))
}

/// The first span of a turn.
pub(super) fn first_span(
    scene: &PageScene<'_>,
    view: &TimelineWindow<'_>,
    turn: usize,
) -> Option<SpanId> {
    let (from, to) = turn_extent(scene, view, turn)?;
    let behind = scene.indexes.timeline.after(SpanId::first_at(from));
    let session = session_of(scene, turn);
    let is_own = |id: &SpanId| {
        let own = scene.transcript.session_of(id.entry);
        own.is_none_or(|(number, _)| number == session)
    };
    behind.take_while(|id| id.from < to).find(is_own)
}

/// The turn with the most work.
pub(super) fn longest(scene: &PageScene<'_>) -> usize {
    let turns = 0..scene.transcript.turns().len();
    let took = |turn: &usize| figures(scene, *turn).duration_ms();
    turns.rev().max_by_key(took).unwrap_or(0)
}

fn figures(scene: &PageScene<'_>, turn: usize) -> Figures {
    scene.indexes.account.turn(scene.transcript, turn)
}

/// The spans of a turn's main agent, and of the sub-agents that it waited for, that began in a range
/// of time, in one row.
fn cells(painter: &Painter<'_>, turn: usize, range: (Timestamp, Timestamp)) -> Cells {
    let (scene, timeline) = (painter.scene, &painter.scene.indexes.timeline);
    let session = session_of(scene, turn);
    let mut cells = painter.cells();
    for (number, lane) in timeline.lanes().iter().enumerate() {
        if session_of_lane(scene, number).unwrap_or(session) != session {
            continue;
        }
        let is_main = scene.transcript.is_main_lane(lane.name.as_ref());
        let rows = lane.rows.iter().filter_map(|row| timeline.row(*row));
        for row in rows.filter(|row| is_main || row.what == RowContent::Caller) {
            painter.paint_between(row, range, &mut cells);
        }
    }
    cells
}

/// The lines of a turn: title, its part of the bar, and its duration. The bar is `height` lines
/// high.
pub(super) fn lines(
    painter: &Painter<'_>,
    view: &TimelineWindow<'_>,
    turn: usize,
    growing: Growing,
    (beside, height): (ColumnWidths, usize),
) -> Vec<Line<'static>> {
    let (scene, theme) = (painter.scene, painter.scene.theme);
    let mut spans = mark(scene, turn);
    let room = beside.title.saturating_sub(wrap::width_of(&spans));
    spans.extend(fitted(&title(scene, turn), room, theme.text, theme));
    spans.push(Span::raw(" "));
    let is_last = scene.transcript.is_newest_turn(Some(turn));
    let growing = growing.filter(|(.., lane)| {
        let session = session_of_lane(scene, *lane).unwrap_or(0);
        is_last && session == session_of(scene, turn)
    });
    let reach = turn_extent(scene, view, turn).map(|(from, to)| match growing {
        Some(_) => (from, view.reach.1.max(to)),
        None => (from, to),
    });
    let bar = match reach {
        Some((from, to)) => {
            // What began at the very end belongs to the last turn.
            let end = Timestamp(to.0.saturating_add(i64::from(is_last)));
            let mut cells = cells(painter, turn, (from, end));
            if let Some((class, since, _)) = growing {
                painter.paint_running(class, since, scene.now, &mut cells);
            }
            let columns = painter.axis.column(from)..=painter.axis.last_column(to);
            painter.write(&cells.within(columns), |_| None)
        }
        None => vec![Span::raw(" ".repeat(painter.axis.columns()))],
    };
    spans.extend(bar.clone());
    let all_ms = reach.map(|(from, to)| to.since(from));
    let work = match figures(scene, turn).duration_ms() {
        // The file does not tell what the time of the turn went to.
        Some(0) if all_ms.is_some_and(|ms| ms > 0) => "?".to_owned(),
        work => work.map(duration).unwrap_or_default(),
    };
    let all = all_ms
        .filter(|_| beside.figures == FIGURES.1)
        .map(|ms| format!(" of {}", duration(ms)))
        .unwrap_or_default();
    let width = beside.figures;
    spans.push(Span::styled(format!(" {:>width$}", work + &all), theme.dim));
    let first = Line::from(wrap::fit(&spans, scene.columns(), theme.glyphs().cut));
    let indent = Span::raw(" ".repeat(beside.title + 1));
    let below: Line<'static> = std::iter::once(indent).chain(bar).collect();
    let mut lines = vec![first];
    lines.resize(height, below);
    lines
}

/// The number of the joined session of a turn; empty if there is only one session.
pub(super) fn mark(scene: &PageScene<'_>, turn: usize) -> Vec<Span<'static>> {
    if !scene.transcript.is_joined() {
        return Vec::new();
    }
    let mark = scene.theme.session_mark(Some(session_of(scene, turn)));
    vec![mark, Span::raw(" ")]
}

/// The number of a turn and its prompt.
pub(super) fn title(scene: &PageScene<'_>, turn: usize) -> String {
    let turns = scene.transcript.turns();
    let prompt = turns
        .get(turn)
        .and_then(|turn| scene.transcript.get(turn.prompt));
    let title = prompt.map(title_of).unwrap_or_default();
    format!("{:>2} {title}", turn + 1)
}

/// The sums of a turn: `model 3m04s · tools 41s · you 12m · 12 calls · 2 failed`.
pub(super) fn sums(scene: &PageScene<'_>, turn: usize) -> String {
    let figures = figures(scene, turn);
    let of_class = |class: Class| {
        let ms = figures.time.of(class);
        (ms > 0).then(|| format!("{} {}", class.word(), duration(ms)))
    };
    let calls = u64::from(figures.facts.calls);
    let of_calls = [
        (calls > 0).then(|| count(calls, "call")),
        (figures.facts.failed > 0).then(|| format!("{} failed", figures.facts.failed)),
    ];
    let parts = Class::ALL.into_iter().map(of_class).chain(of_calls);
    phrases::joined(parts, scene.theme.ascii)
}
