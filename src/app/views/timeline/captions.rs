//! The text around the rows: title, ticks, the chosen span, and the size of the context.

use ratatui::text::{Line, Span};

use super::bars::{Painter, class_style, fitted};
use super::window::{TimelineWindow, WindowScope};
use super::{Growing, turns};
use crate::analysis::account::Class;
use crate::analysis::calls::{Outcome, Place};
use crate::analysis::context;
use crate::analysis::timeline::{Span as TimeSpan, SpanId};
use crate::app::views::page::{self, PageScene};
use crate::model::figures::{self, duration};
use crate::model::text::Text;
use crate::model::timestamp::Timestamp;
use crate::model::tool::Clocked;
use crate::model::transcript::Transcript;
use crate::render::wrap;

/// Maximum number of concurrent calls that are named.
const MEANWHILE: usize = 3;

/// The text around the rows.
pub(crate) struct Captions<'a> {
    /// The session and the columns.
    pub(crate) painter: &'a Painter<'a>,
    pub(crate) view: &'a TimelineWindow<'a>,
    pub(crate) scope: WindowScope,
    /// The range of time in the window.
    pub(crate) range: (Timestamp, Timestamp),
    /// Width of the labels in front of the bars.
    pub(crate) label: usize,
}

impl Captions<'_> {
    fn scene(&self) -> &PageScene<'_> {
        self.painter.scene
    }

    /// The scope, its range, and the time by class. Parts without room are left out: the range first, the time of the
    /// human last.
    pub(crate) fn title(&self, growing: Growing) -> Vec<Span<'static>> {
        let theme = self.scene().theme;
        let shown = format!("  {}", self.shown());
        let (from, to) = self.range;
        let clock = |at: Timestamp| {
            if from.day() == to.day() {
                at.clock()
            } else {
                at.day_and_minute()
            }
        };
        let times = format!(
            "  {}{}{}",
            clock(from),
            if theme.ascii { "-" } else { "–" },
            clock(to)
        );
        let mut parts = vec![
            (0, Span::raw("TIME")),
            (1, Span::raw(shown)),
            (usize::MAX, Span::styled(times, theme.dim)),
            (2, Span::raw(format!("  {}", duration(to.since(from))))),
        ];
        let mut sums: Vec<(Class, u64)> = self.sums(growing);
        sums.sort_by_key(|(_, ms)| std::cmp::Reverse(*ms));
        for (place, (class, ms)) in sums.into_iter().enumerate() {
            let words = class.word();
            let style = class_style(self.scene(), class, false, false);
            let front = if place == 0 {
                "  ".to_owned()
            } else {
                format!(" {} ", theme.glyphs().dot)
            };
            let rank = if class == Class::Human { 3 } else { 3 + place };
            parts.push((
                rank,
                Span::styled(format!("{front}{words} {}", duration(ms)), style),
            ));
        }
        let untimed = self.scene().indexes.timeline.untimed as u64;
        if untimed > 0 {
            let words = format!("  {} without times", figures::count(untimed, "call"));
            parts.push((3, Span::styled(words, theme.warn)));
        }
        while parts.len() > 1
            && parts
                .iter()
                .map(|(_, part)| wrap::width(&part.content))
                .sum::<usize>()
                > self.scene().columns()
        {
            let last = parts.iter().map(|(rank, _)| *rank).max();
            parts.retain(|(rank, _)| Some(*rank) != last);
        }
        parts.into_iter().map(|(_, part)| part).collect()
    }

    fn shown(&self) -> String {
        let transcript = self.scene().transcript;
        let turns = transcript.turns().len();
        let account = &self.scene().indexes.account;
        // The time that ends with a prompt belongs to the turn before.
        let is_before = |id: SpanId| {
            id.block.is_none() && transcript.marks(id.entry).is_some_and(|marks| marks.prompt)
        };
        let turn = self.painter.chosen.and_then(|id| {
            let turn = account.turn_of(transcript, id.entry)?;
            if is_before(id) {
                transcript.turn_before(turn)
            } else {
                Some(turn)
            }
        });
        match (turn, self.scope == WindowScope::Turn) {
            (Some(turn), true) => format!("turn {} of {turns}", turn + 1),
            (None, true) => "before the first turn".to_owned(),
            (_, false) if matches!(self.scope, WindowScope::Part { .. }) => "part".to_owned(),
            (_, false) => "session".to_owned(),
        }
    }

    fn sums(&self, growing: Growing) -> Vec<(Class, u64)> {
        let (from, to) = self.range;
        let account = &self.scene().indexes.account;
        let sessions = self.scene().transcript.sessions();
        // Joined sessions add up, as they would alone.
        let lanes = sessions.map(|session| Some(&session.name));
        let mut sums = account.time_within(None, from, to);
        for lane in lanes {
            sums.merge(&account.time_within(lane, from, to));
        }
        // Waiting counts when it is over, as in all other sums; how long it has lasted is said by the
        // session's state.
        let growing = growing.filter(|(grows, ..)| *grows != Class::Human);
        let sum = |class: Class| {
            let more = growing.filter(|(grows, ..)| *grows == class);
            let more = more.map_or(0, |(_, since, _)| {
                self.scene().now.min(to).since(since.max(from))
            });
            (class, sums.of(class) + more)
        };
        Class::ALL
            .into_iter()
            .map(sum)
            .filter(|(_, ms)| *ms > 0)
            .collect()
    }

    /// The legend of the signs.
    fn legend(&self) -> Line<'static> {
        let (scene, glyphs) = (self.scene(), self.scene().theme.glyphs());
        let one = |sign: &'static str, words: &'static str, class: Class, is_on_path: bool| {
            let style = class_style(scene, class, is_on_path, false);
            vec![
                Span::styled(sign, style),
                Span::styled(format!(" {words}"), scene.theme.dim),
            ]
        };
        let tool_beside = class_style(scene, Class::Tool, false, false);
        let mut beside = one(glyphs.time.model_beside, "beside it", Class::Model, false);
        beside.insert(0, Span::styled(glyphs.time.beside, tool_beside));
        let late_end = || {
            vec![
                Span::styled(glyphs.time.delivery, scene.theme.accent),
                Span::styled(" told its end", scene.theme.dim),
            ]
        };
        let has_ends = !scene.indexes.calls.detached.is_empty();
        let signs = [
            Some(one(glyphs.time.path, "decided the end", Class::Tool, true)),
            Some(beside),
            Some(one(glyphs.chart.full, "model", Class::Model, true)),
            Some(one(glyphs.time.human, "you", Class::Human, false)),
            has_ends.then(late_end),
            Some(one(glyphs.time.unknown, "unknown", Class::Unknown, false)),
            Some(one(
                glyphs.time.short,
                "under half a column",
                Class::Tool,
                false,
            )),
            Some(one(glyphs.time.gap, "time left out", Class::Unknown, false)),
        ];
        page::whole_signs(signs.into_iter().flatten(), scene.columns())
    }

    /// The line with the scale and the ticks.
    pub(crate) fn axis(&self) -> Line<'static> {
        let theme = self.scene().theme;
        let scale = duration(self.painter.axis.scale());
        let full = format!("{scale}/col");
        let scale = if wrap::width(&full) <= self.label {
            full
        } else {
            scale
        };
        let mut spans = fitted(&scale, self.label, theme.dim, theme);
        spans.push(Span::raw(" "));
        let mut at = 0;
        for (column, words) in self.painter.axis.ticks() {
            spans.push(Span::raw(" ".repeat(column.saturating_sub(at))));
            at = column + wrap::width(&words);
            spans.push(Span::styled(words, theme.dim));
        }
        Line::from(wrap::fit(&spans, self.scene().columns(), ""))
    }

    /// The chosen span in two lines. With more lines, also the size of the context above, and the
    /// legend at the end.
    pub(crate) fn foot(
        &self,
        lines: usize,
        (above, below): (usize, usize),
        turn: Option<usize>,
    ) -> Vec<Line<'static>> {
        let theme = self.scene().theme;
        let legend = (lines > super::FOOT + 1).then(|| self.legend());
        let mut lines: Vec<Line<'static>> = self
            .context()
            .filter(|_| lines > super::FOOT)
            .into_iter()
            .collect();
        let cut = |spans: Vec<Span<'static>>| {
            Line::from(wrap::fit(
                &spans,
                self.scene().columns(),
                theme.glyphs().cut,
            ))
        };
        if let Some(turn) = turn {
            let (title, sums) = (
                turns::title(self.scene(), turn),
                turns::sums(self.scene(), turn),
            );
            let mut own = turns::mark(self.scene(), turn);
            own.push(Span::styled(title, theme.text));
            lines.push(cut(own));
            lines.push(cut(vec![Span::styled(sums, theme.dim)]));
            lines.extend(legend);
            return lines;
        }
        let Some((span, _)) = self
            .painter
            .chosen
            .and_then(|id| self.view.timeline.get(id))
        else {
            return lines;
        };
        let beyond = if above + below > 0 {
            format!("rows: {above} above, {below} below")
        } else {
            String::new()
        };
        let room = self
            .scene()
            .columns()
            .saturating_sub(wrap::width(&beyond) + 2);
        let mut name = wrap::fit(&self.name(span), room, theme.glyphs().cut);
        name.push(Span::raw(
            " ".repeat(room.saturating_sub(wrap::width_of(&name)) + 2),
        ));
        name.push(Span::styled(beyond, theme.dim));
        lines.push(cut(name));
        let dot = Span::styled(format!(" {} ", theme.glyphs().dot), theme.dim);
        lines.push(cut(self.facts(span).join(&dot)));
        lines.extend(legend);
        lines
    }

    fn name(&self, span: &TimeSpan) -> Vec<Span<'static>> {
        let theme = self.scene().theme;
        let style = class_style(self.scene(), span.class, true, false);
        let Some(call) = span
            .id
            .call()
            .and_then(|place| place.call(self.scene().transcript))
        else {
            let words = match span.class {
                Class::Model => "the model answers",
                Class::Human => "waiting for you",
                Class::Retry => "the request is made again",
                Class::Background => "only work in the background goes on",
                Class::Idle => "idle: nobody came back for long",
                Class::Tool | Class::Unknown => "the file does not tell whose time this is",
            };
            return vec![Span::styled(words, style)];
        };
        let root = self.scene().transcript.root_of(span.id.entry);
        let headline = call.about(root.map(Text::as_str));
        vec![
            Span::styled(call.shown_name(), style),
            Span::raw("  "),
            Span::styled(headline, theme.text),
        ]
    }

    fn facts(&self, span: &TimeSpan) -> Vec<Vec<Span<'static>>> {
        let (scene, theme) = (self.scene(), self.scene().theme);
        let text = |words: String| vec![Span::styled(words, theme.text)];
        let dim = |words: String| vec![Span::styled(words, theme.dim)];
        let mut facts = vec![text(span.id.from.clock()), self.duration_words(span)];
        let lane = self.view.timeline.lanes().get(span.lane);
        let name = lane.and_then(|lane| lane.name.as_ref());
        let label = name
            .and_then(|name| scene.transcript.lane(name))
            .map(|facts| facts.label.to_string());
        facts.push(dim(label.unwrap_or_else(|| "main".to_owned())));
        match span.outcome {
            Outcome::Failed => facts.push(vec![Span::styled("failed", theme.bad)]),
            Outcome::Refused => facts.push(vec![Span::styled("refused", theme.warn)]),
            Outcome::Done | Outcome::Unrecorded if span.id.block.is_some() => {
                facts.push(vec![Span::styled("done", theme.good)]);
            }
            Outcome::Done | Outcome::Unrecorded | Outcome::Lost | Outcome::Open => {}
        }
        let is_decisive = matches!(span.class, Class::Model | Class::Tool | Class::Retry)
            || span.id.block.is_some();
        if self.painter.is_on_path(span.id) {
            facts.push(vec![Span::styled("on the critical path", theme.accent)]);
        } else if is_decisive {
            facts.push(dim("not on the critical path".to_owned()));
        }
        if let Some(words) = span.id.call().and_then(|place| self.meanwhile(place)) {
            facts.push(dim(words));
        }
        facts
    }

    /// The duration of a span, as far as it is known.
    fn duration_words(&self, span: &TimeSpan) -> Vec<Span<'static>> {
        let theme = self.scene().theme;
        let length = self.painter.end(span).since(span.id.from);
        if span.to.is_none() {
            let is_running = self.view.now.is_some() && span.outcome == Outcome::Open;
            return if is_running {
                vec![Span::styled(
                    format!("running {}", figures::elapsed(length)),
                    theme.warn,
                )]
            } else {
                let is_begun = (span.id.call())
                    .and_then(|place| place.call(self.scene().transcript))
                    .is_some_and(|call| call.state.work().is_some());
                let words = if is_begun {
                    "no end recorded"
                } else {
                    "no result"
                };
                vec![Span::styled(words, theme.warn)]
            };
        }
        let transcript = self.scene().transcript;
        let took = transcript
            .get(span.id.entry)
            .zip(span.id.call())
            .and_then(|(entry, place)| {
                let call = place.call(transcript)?;
                call.duration(entry.call_time(call))
            });
        let is_bound = match took {
            Some(took) if took.by == Clocked::Measured => false,
            _ => span.from_is_bound || span.to_is_bound,
        };
        let ms = took.map_or(length, |took| took.ms);
        vec![Span::styled(theme.duration(ms, is_bound), theme.text)]
    }

    fn meanwhile(&self, place: Place) -> Option<String> {
        let overlaps = self.scene().indexes.calls.overlaps(place, MEANWHILE);
        let names: Vec<String> = overlaps
            .calls
            .iter()
            .filter_map(|place| Some(place.call(self.scene().transcript)?.shown_name()))
            .collect();
        let more = if overlaps.is_cut { " and more" } else { "" };
        (!names.is_empty()).then(|| format!("meanwhile {}{more}", names.join(", ")))
    }

    /// The size of the context, column by column.
    fn context(&self) -> Option<Line<'static>> {
        let (scene, theme) = (self.scene(), self.scene().theme);
        let timeline = self.view.timeline;
        let axis = self.painter.axis;
        let last = timeline.request_at(self.range.1)?;
        let columns: Vec<Option<u64>> = (0..axis.columns())
            .map(|column| {
                timeline
                    .request_at(Timestamp(axis.span(column).1.0 - 1))
                    .map(|one| one.tokens)
            })
            .collect();
        let most = columns
            .iter()
            .flatten()
            .copied()
            .max()
            .unwrap_or(0)
            .max(last.tokens)
            .max(1);
        let request = scene.transcript.get(last.entry)?;
        let window = context::window_at(scene.transcript, request, last.tokens)
            .filter(|window| *window >= most);
        let whole = window.unwrap_or(most);
        let levels = theme.glyphs().chart.ramp;
        let bar = columns.into_iter().map(|tokens| {
            let level = tokens.map(|tokens| tokens.saturating_mul(levels.len() as u64) / whole);
            let level = level.and_then(|level| usize::try_from(level).ok());
            level
                .and_then(|level| levels.get(level.min(levels.len() - 1)))
                .copied()
                .unwrap_or(" ")
        });
        let words = match window {
            Some(window) => {
                format!(
                    "ctx {} {}%",
                    figures::tokens(last.tokens),
                    last.tokens * 100 / window.max(1)
                )
            }
            None => format!("ctx {}", figures::tokens(last.tokens)),
        };
        let words = if wrap::width(&words) <= self.label {
            words
        } else {
            format!("ctx {}", figures::tokens(last.tokens))
        };
        let mut spans = fitted(&words, self.label, theme.dim, theme);
        spans.push(Span::raw(" "));
        spans.push(Span::styled(bar.collect::<String>(), theme.accent));
        Some(Line::from(spans))
    }
}

/// What a call is about.
pub(crate) fn headline(transcript: &Transcript, id: SpanId) -> Option<String> {
    let call = id.call()?.call(transcript)?;
    let root = transcript.root_of(id.entry);
    Some(call.about(root.map(Text::as_str))).filter(|line| !line.trim().is_empty())
}

/// The label of a sub-agent's span: its tool, or the model.
pub(crate) fn class_words(painter: &Painter<'_>, id: SpanId) -> Option<String> {
    let timeline = &painter.scene.indexes.timeline;
    let (span, row) = timeline.get(id)?;
    let is_caller = timeline.row(row)?.what == crate::analysis::timeline::RowContent::Caller;
    match (&span.tool, span.class) {
        _ if is_caller => None,
        (Some(tool), _) => Some(tool.to_string()),
        (None, Class::Model) => Some("model".to_owned()),
        _ => None,
    }
}
