//! Spans as cells of a row. If several share a column, a failed one is shown first, then one on the
//! critical path, then the longest.

use std::ops::{Range, RangeInclusive};

use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::axis::Axis;
use crate::analysis::account::Class;
use crate::analysis::calls::Outcome;
use crate::analysis::timeline::{
    CriticalPaths, Lane, RowContent, Span as TimeSpan, SpanId, Timeline, TimelineRow,
};
use crate::app::text::viewport::Focus;
use crate::app::views::page::PageScene;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::Transcript;
use crate::render::theme::Theme;
use crate::render::wrap;

/// Number of spans per column of the window above which they are summed up by column.
const EACH: usize = 3;
/// Minimum width of a bar with a label.
const LABELLED: usize = 10;

/// How a bar ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    #[default]
    None,
    /// The end of work in the background was delivered to the model here.
    Delivery,
    /// There is no result.
    Lost,
    Running,
    Failed,
}

/// A column of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TimelineCell {
    id: SpanId,
    class: Class,
    is_on_path: bool,
    is_short: bool,
    is_caller: bool,
    is_passed: bool,
    mark: Mark,
    ms: u64,
}

impl TimelineCell {
    fn rank(&self) -> (bool, bool, bool, Mark, bool, u64) {
        (
            !self.is_caller,
            !self.is_passed,
            self.mark == Mark::Failed,
            self.mark,
            self.is_on_path,
            self.ms,
        )
    }
}

/// The inputs for painting bars.
pub(crate) struct Painter<'a> {
    pub(crate) scene: &'a PageScene<'a>,
    pub(crate) axis: &'a Axis,
    /// The critical paths of turns.
    pub(crate) paths: &'a CriticalPaths,
    /// The span of the cursor.
    pub(crate) chosen: Option<SpanId>,
    /// The current time, if the agent is at work.
    pub(crate) now: Option<Timestamp>,
}

/// The cells of a row.
pub(crate) struct Cells(Vec<Option<TimelineCell>>);

impl Painter<'_> {
    fn timeline(&self) -> &Timeline {
        &self.scene.indexes.timeline
    }

    /// The end of a span as it is shown.
    pub(crate) fn end(&self, span: &TimeSpan) -> Timestamp {
        span.end(self.now)
    }

    /// Whether a span is on the critical path of its turn, if that is computed.
    pub(crate) fn is_on_path(&self, id: SpanId) -> bool {
        self.paths.contains(self.timeline().turn_at(id.from).0, id)
    }

    /// Whether a span is painted as on the critical path. If no path is computed, the main agent's
    /// answers are the best guess.
    fn seems_on_path(&self, span: &TimeSpan) -> bool {
        let turn = self.timeline().turn_at(span.id.from).0;
        let is_known = self.paths.has_turn(turn);
        if is_known {
            self.paths.contains(turn, span.id)
        } else {
            let lane = self.timeline().lanes().get(span.lane);
            let name = lane.and_then(|lane| lane.name.as_ref());
            span.class == Class::Model && self.scene.transcript.is_main_lane(name)
        }
    }

    pub(crate) fn cells(&self) -> Cells {
        Cells(vec![None; self.axis.columns()])
    }

    /// Puts a row's spans into cells.
    pub(crate) fn paint_row(&self, row: &TimelineRow, cells: &mut Cells) {
        let columns = self.axis.columns();
        let (from, to) = (
            self.axis.span(0).0,
            self.axis.span(columns.saturating_sub(1)).1,
        );
        let inside = row.within(from, Timestamp(to.0.saturating_add(1)), self.now);
        self.paint_spans(row, inside, 0..=columns.saturating_sub(1), cells);
    }

    /// Puts those of a row's spans that began in a range of time into the cells of that range.
    pub(crate) fn paint_between(
        &self,
        row: &TimelineRow,
        (from, to): (Timestamp, Timestamp),
        cells: &mut Cells,
    ) {
        let begun = |time| row.spans.partition_point(|span| span.id.from < time);
        let columns = self.axis.column(from)..=self.axis.last_column(to);
        self.paint_spans(row, begun(from)..begun(to), columns, cells);
    }

    fn paint_spans(
        &self,
        row: &TimelineRow,
        spans: Range<usize>,
        columns: RangeInclusive<usize>,
        cells: &mut Cells,
    ) {
        if spans.len() <= columns.clone().count() * EACH {
            for span in row.spans.get(spans).unwrap_or_default() {
                self.paint_span(span, row, cells);
            }
        } else {
            columns.for_each(|column| self.paint_sum(column, row, &spans, cells));
        }
    }

    fn cell(&self, span: &TimeSpan, row: &TimelineRow) -> TimelineCell {
        let focus = focus_of(self.scene.transcript, span.id);
        TimelineCell {
            id: span.id,
            class: span.class,
            is_on_path: self.seems_on_path(span),
            is_short: false,
            is_caller: row.what == RowContent::Caller,
            is_passed: self.scene.filter.is_some_and(|filter| !filter.shows(focus)),
            mark: Mark::None,
            ms: self.end(span).since(span.id.from),
        }
    }

    fn paint_span(&self, span: &TimeSpan, row: &TimelineRow, cells: &mut Cells) {
        let end = self.end(span);
        let first = self.axis.column(span.id.from);
        let last = self.axis.last_column(end).max(first);
        let cell = self.cell(span, row);
        let (start, stop) = self.axis.span(first);
        let is_short = first == last && end.since(span.id.from) * 2 < stop.since(start);
        for column in first..=last {
            let mark = if column == last {
                self.mark(span)
            } else {
                Mark::None
            };
            cells.set_if_higher(
                column,
                TimelineCell {
                    is_short,
                    mark,
                    ..cell
                },
            );
        }
        if let Some(column) = span
            .reported
            .map(|at| self.axis.column(at))
            .filter(|column| *column > last)
        {
            cells.set_if_higher(
                column,
                TimelineCell {
                    is_short: true,
                    mark: Mark::Delivery,
                    ms: 0,
                    ..cell
                },
            );
        }
    }

    /// Sums up the spans of a column; the middle one represents all.
    fn paint_sum(&self, column: usize, row: &TimelineRow, spans: &Range<usize>, cells: &mut Cells) {
        let (from, to) = self.axis.span(column);
        let inside = row.within(from, to, self.now);
        let inside = inside.start.max(spans.start)..inside.end.min(spans.end);
        let (ms, failed) = row.sum(&inside);
        let Some(span) = row
            .spans
            .get(inside.start + inside.len() / 2)
            .filter(|_| !inside.is_empty())
        else {
            return;
        };
        let mark = if failed > 0 { Mark::Failed } else { Mark::None };
        let is_short = ms * 2 < to.since(from) && inside.len() > 1;
        cells.set_if_higher(
            column,
            TimelineCell {
                is_short,
                mark,
                ms,
                ..self.cell(span, row)
            },
        );
    }

    fn mark(&self, span: &TimeSpan) -> Mark {
        match span.outcome {
            Outcome::Failed => Mark::Failed,
            Outcome::Open if self.now.is_some() => Mark::Running,
            Outcome::Open | Outcome::Lost => Mark::Lost,
            Outcome::Done | Outcome::Unrecorded | Outcome::Refused => Mark::None,
        }
    }

    /// Puts the current activity, which no entry has recorded yet, into cells.
    pub(crate) fn paint_running(
        &self,
        class: Class,
        from: Timestamp,
        to: Timestamp,
        cells: &mut Cells,
    ) {
        let (first, last) = (self.axis.column(from), self.axis.last_column(to));
        for column in first..=last {
            let mark = if column == last {
                Mark::Running
            } else {
                Mark::None
            };
            let cell = TimelineCell {
                id: SpanId::first_at(from),
                class,
                is_on_path: true,
                is_short: false,
                is_caller: false,
                is_passed: false,
                mark,
                ms: to.since(from),
            };
            cells.set_if_higher(column, cell);
        }
    }

    /// The cells as text; bars that are long enough have labels.
    pub(crate) fn write(
        &self,
        cells: &Cells,
        label: impl Fn(SpanId) -> Option<String>,
    ) -> Vec<Span<'static>> {
        let mut out: Vec<Span<'static>> = Vec::new();
        let mut column = 0;
        while column < cells.0.len() {
            let Some(cell) = cells.0.get(column).copied().flatten() else {
                self.push_blank(column, &mut out);
                column += 1;
                continue;
            };
            let run = cells.0.iter().skip(column);
            let is_delivery = |one: &TimelineCell| one.mark == Mark::Delivery;
            let is_same =
                |one: &TimelineCell| one.id == cell.id && is_delivery(one) == is_delivery(&cell);
            let length = run
                .take_while(|one| one.as_ref().is_some_and(is_same))
                .count()
                .max(1);
            let follows = column
                .checked_sub(1)
                .and_then(|before| cells.0.get(before))
                .copied()
                .flatten();
            let is_joint = cell.id.call().is_some()
                && follows.is_some_and(|before| self.glyph(&before) == self.glyph(&cell));
            let style = self.style(&cell);
            let last = cells
                .0
                .get(column + length - 1)
                .copied()
                .flatten()
                .unwrap_or(cell);
            let mark = self.mark_glyph(last.mark);
            let room = length - usize::from(mark.is_some());
            let words = if length >= LABELLED {
                label(cell.id)
            } else {
                None
            };
            let words = words.map(|words| {
                wrap::fit(
                    &[Span::raw(words)],
                    room.saturating_sub(3),
                    self.scene.theme.glyphs().cut,
                )
            });
            let mut left = room;
            let mut fill = |text: &str, times: usize, out: &mut Vec<Span<'static>>| {
                let times = times.min(left);
                left -= times;
                if times > 0 {
                    out.push(Span::styled(text.repeat(times), style));
                }
            };
            if is_joint && room > 1 {
                fill(self.scene.theme.glyphs().time.joint, 1, &mut out);
            } else {
                fill(self.glyph(&cell), 1, &mut out);
            }
            if let Some(words) = words.filter(|words| wrap::width_of(words) > 0) {
                let width = wrap::width_of(&words);
                let styled = words
                    .into_iter()
                    .map(|one| Span::styled(one.content, self.label_style(&cell)));
                let blank = Span::styled(" ", style);
                out.push(blank.clone());
                out.extend(styled);
                out.push(blank);
                left = left.saturating_sub(width + 2);
                if left > 0 {
                    out.push(Span::styled(self.glyph(&cell).repeat(left), style));
                }
            } else {
                fill(self.glyph(&cell), room, &mut out);
            }
            if let Some((mark, style)) = mark {
                out.push(Span::styled(mark, self.chosen_style(&last, style)));
            }
            column += length;
        }
        out
    }

    fn push_blank(&self, column: usize, out: &mut Vec<Span<'static>>) {
        let is_gap = self.axis.gaps.iter().any(|(first, ..)| *first == column);
        if is_gap {
            out.push(Span::styled(
                self.scene.theme.glyphs().time.gap,
                self.scene.theme.dim,
            ));
        } else {
            out.push(Span::raw(" "));
        }
    }

    fn mark_glyph(&self, mark: Mark) -> Option<(&'static str, Style)> {
        let (glyphs, theme) = (self.scene.theme.glyphs(), self.scene.theme);
        match mark {
            Mark::None => None,
            Mark::Delivery => Some((glyphs.time.delivery, theme.accent)),
            Mark::Lost => Some((glyphs.outcome.lost, theme.warn)),
            Mark::Running => Some((glyphs.time.goes_on, theme.warn)),
            Mark::Failed => Some((glyphs.outcome.failed, theme.bad)),
        }
    }

    fn glyph(&self, cell: &TimelineCell) -> &'static str {
        let glyphs = self.scene.theme.glyphs();
        let time = glyphs.time;
        match cell.class {
            _ if cell.is_caller && cell.is_on_path => time.path,
            _ if cell.is_caller => time.caller,
            Class::Human => time.human,
            Class::Idle => time.idle,
            Class::Retry => time.retry,
            Class::Background | Class::Unknown => time.unknown,
            Class::Tool if cell.is_short && cell.is_on_path => time.short_path,
            Class::Model | Class::Tool if cell.is_short => time.short,
            Class::Model if cell.is_on_path => glyphs.chart.full,
            Class::Model => time.model_beside,
            Class::Tool if cell.is_on_path => time.path,
            Class::Tool => time.beside,
        }
    }

    fn style(&self, cell: &TimelineCell) -> Style {
        self.chosen_style(
            cell,
            class_style(self.scene, cell.class, cell.is_on_path, cell.is_passed),
        )
    }

    fn label_style(&self, cell: &TimelineCell) -> Style {
        let style = if cell.is_passed {
            self.scene.theme.dim
        } else {
            self.scene.theme.text
        };
        self.chosen_style(cell, style)
    }

    fn chosen_style(&self, cell: &TimelineCell, style: Style) -> Style {
        if self.chosen == Some(cell.id) {
            style.patch(self.scene.theme.selected())
        } else {
            style
        }
    }
}

impl Cells {
    fn set_if_higher(&mut self, column: usize, cell: TimelineCell) {
        if let Some(place) = self.0.get_mut(column)
            && place.is_none_or(|there| there.rank() < cell.rank())
        {
            *place = Some(cell);
        }
    }

    /// The cells of some columns; the others are empty.
    pub(crate) fn within(&self, columns: RangeInclusive<usize>) -> Self {
        let own = |(column, cell): (usize, &Option<TimelineCell>)| {
            cell.filter(|_| columns.contains(&column))
        };
        Self(self.0.iter().enumerate().map(own).collect())
    }

    pub(crate) fn at(&self, column: usize) -> Option<SpanId> {
        self.0.get(column).copied().flatten().map(|cell| cell.id)
    }
}

/// The style of bars.
pub(crate) fn class_style(
    scene: &PageScene<'_>,
    class: Class,
    is_on_path: bool,
    is_passed: bool,
) -> Style {
    let theme = scene.theme;
    match class {
        _ if is_passed => theme.dim,
        Class::Model => theme.voice.assistant,
        Class::Tool if is_on_path => theme.tool.add_modifier(Modifier::BOLD),
        Class::Tool => theme.tool,
        Class::Retry => theme.warn,
        Class::Human | Class::Background | Class::Idle | Class::Unknown => theme.dim,
    }
}

/// The item of a span: its call, else the first other block of its entry.
pub fn focus_of(transcript: &Transcript, id: SpanId) -> Focus {
    let block = id.call().map(|place| place.block).or_else(|| {
        let entry = transcript.get(id.entry)?;
        let is_call = |block: &crate::model::entry::Block| {
            matches!(block.kind, crate::model::entry::BlockKind::Call(_))
        };
        entry.blocks.iter().position(|block| !is_call(block))
    });
    Focus {
        entry: id.entry,
        block: block.unwrap_or_default(),
    }
}

/// Whether a lane overlaps a range of time.
pub(crate) fn is_within(lane: &Lane, (from, to): (Timestamp, Timestamp)) -> bool {
    lane.reach
        .is_some_and(|(start, end)| start < to && end >= from)
}

/// Fits a text into `width` columns.
pub(super) fn fitted(words: &str, width: usize, style: Style, theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = wrap::fit(
        &[Span::styled(words.to_owned(), style)],
        width,
        theme.glyphs().cut,
    );
    let left = width.saturating_sub(wrap::width_of(&spans));
    spans.push(Span::raw(" ".repeat(left)));
    spans
}
