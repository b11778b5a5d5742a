//! The whole session with a row per turn: its time, the classes of its time, and its duration.

use ratatui::text::{Line, Span};

use super::Growing;
use super::bars::{Cells, Painter, fitted};
use super::window::View;
use crate::analysis::account::{Class, Figures};
use crate::analysis::phrases::title_of;
use crate::analysis::timeline::{SpanId, What};
use crate::app::views::page::PageScene;
use crate::model::figures::{count, duration};
use crate::model::timestamp::Timestamp;
use crate::render::wrap;

/// Minimum and maximum width of titles; in between a third of the page.
const TITLE: (usize, usize) = (12, 40);
/// Page width from which the total length of a turn is shown beside its work.
const WIDE: usize = 100;
/// Width of the figures, without and with the total length.
const FIGURES: (usize, usize) = (7, 17);

/// Widths of the columns beside the bars.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    /// Width of the titles before the bars.
    pub(super) title: usize,
    /// Width of the figures after the bars.
    pub(super) figures: usize,
}

impl Beside {
    pub(super) fn of(columns: usize) -> Self {
        Self {
            title: (columns / 3).clamp(TITLE.0, TITLE.1),
            figures: if columns < WIDE { FIGURES.0 } else { FIGURES.1 },
        }
    }
}

/// Whether the session has several consecutive turns, so that each can have a row.
pub(super) fn has_several(scene: &PageScene<'_>) -> bool {
    !scene.transcript.is_joined() && scene.transcript.turns().len() > 1
}

/// The range from a turn's prompt to the next one, or to the end.
pub(super) fn reach(
    scene: &PageScene<'_>,
    view: &View<'_>,
    turn: usize,
) -> Option<(Timestamp, Timestamp)> {
    let start = |turn: usize| {
        let prompt = scene.transcript.turns().get(turn)?.prompt;
        scene.transcript.get(prompt)?.at
    };
    let from = start(turn)?;
    Some((from, start(turn + 1).unwrap_or(view.reach.1).max(from)))
}

/// The first span of a turn.
pub(super) fn first_span(scene: &PageScene<'_>, view: &View<'_>, turn: usize) -> Option<SpanId> {
    let (from, to) = reach(scene, view, turn)?;
    let mut behind = scene.indexes.timeline.after(SpanId::first_at(from));
    behind.next().filter(|id| id.from < to)
}

/// The turn with the most work.
pub(super) fn longest(scene: &PageScene<'_>) -> usize {
    let turns = 0..scene.transcript.turns().len();
    let took = |turn: &usize| figures(scene, *turn).took_ms();
    turns.rev().max_by_key(took).unwrap_or(0)
}

fn figures(scene: &PageScene<'_>, turn: usize) -> Figures {
    scene.indexes.account.turn(scene.transcript, turn)
}

/// The spans of the main agent, and of the sub-agents that it waited for, that began in a range of
/// time, in one row.
fn cells(painter: &Painter<'_>, range: (Timestamp, Timestamp)) -> Cells {
    let timeline = &painter.scene.indexes.timeline;
    let mut cells = painter.cells();
    for (number, lane) in timeline.lanes().iter().enumerate() {
        let rows = lane.rows.iter().filter_map(|row| timeline.row(*row));
        for row in rows.filter(|row| number == 0 || row.what == What::Caller) {
            painter.put_between(row, range, &mut cells);
        }
    }
    cells
}

/// The lines of a turn: title, its part of the bar, and its duration. The bar is `height` lines
/// high.
pub(super) fn lines(
    painter: &Painter<'_>,
    view: &View<'_>,
    turn: usize,
    growing: Growing,
    (beside, height): (Beside, usize),
) -> Vec<Line<'static>> {
    let (scene, theme) = (painter.scene, painter.scene.theme);
    let mut spans = fitted(&title(scene, turn), beside.title, theme.text, theme);
    spans.push(Span::raw(" "));
    let reach = reach(scene, view, turn);
    let bar = match reach {
        Some((from, to)) => {
            let is_last = turn + 1 == scene.transcript.turns().len();
            // What began at the very end belongs to the last turn.
            let end = Timestamp(to.0.saturating_add(i64::from(is_last)));
            let mut cells = cells(painter, (from, end));
            if let Some((class, since, 0)) = growing.filter(|_| is_last) {
                painter.put_growing(class, since, scene.now, &mut cells);
            }
            let columns = painter.axis.column(from)..=painter.axis.last_column(to);
            painter.write(&cells.within(columns), |_| None)
        }
        None => vec![Span::raw(" ".repeat(painter.axis.columns()))],
    };
    spans.extend(bar.clone());
    let work = figures(scene, turn)
        .took_ms()
        .map(duration)
        .unwrap_or_default();
    let all = reach
        .filter(|_| beside.figures == FIGURES.1)
        .map(|(from, to)| format!(" of {}", duration(to.since(from))))
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
    let parts = Class::ALL.into_iter().filter_map(of_class).chain(
        [
            (calls > 0).then(|| count(calls, "call")),
            (figures.facts.failed > 0).then(|| format!("{} failed", figures.facts.failed)),
        ]
        .into_iter()
        .flatten(),
    );
    let dot = format!(" {} ", scene.theme.glyphs().dot);
    parts.collect::<Vec<_>>().join(&dot)
}
