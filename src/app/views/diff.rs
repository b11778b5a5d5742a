//! The view of a comparison with another run: where they part, what each came to, and their steps
//! side by side, or below each other where the page is narrow.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet, SheetRow};
use crate::analysis::align::StepKind;
use crate::analysis::run_diff::{RunDiff, RunSums, StepFacts, StepPair, Stretch};
use crate::app::comparison::{Compared, Comparison, ComparisonState, place_of};
use crate::app::input::action::{Action, LandmarkKind, Way};
use crate::app::text::viewport::Focus;
use crate::model::found::Target;
use crate::render::theme::Theme;
use crate::render::wrap::{self, LineFrame};
use crate::session::indexes::Needs;

/// Width of a page, in columns, from which both runs stand side by side.
const BESIDE: usize = 96;
/// Height of a page from which it has a line for what each run came to.
const TALL: usize = 14;
/// Maximum number of lines of the sentence.
const SENTENCE: usize = 3;
/// Lines about each side of the chosen row.
const SIDE: usize = 2;
/// Width of the number of a turn.
const TURN: usize = 5;
const NAMES: [&str; 2] = ["A", "B"];

const HINTS: &[Hint] = &[
    (
        &[
            Action::Seek(LandmarkKind::Difference, Way::Previous),
            Action::Seek(LandmarkKind::Difference, Way::Next),
        ],
        "difference",
    ),
    (&[Action::Pair], "the other run there"),
    (&[Action::LevelUp, Action::LevelDown], "all steps, some"),
];

/// The view of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Diff {
    list: List<RowKey>,
    /// What the rows were built from, and whether both runs stand side by side.
    made: Option<(Arc<RunDiff>, bool)>,
    /// First steps of the stretches that are the same and shown in full.
    opened: BTreeSet<usize>,
    /// Whether the rows were built after the last key: the cursor is where the runs part.
    is_new: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum RowKey {
    Same(Range<usize>),
    /// A pair of steps, and which of them if they stand below each other.
    Step(usize, Option<usize>),
}

impl RowKey {
    /// The first step of the row.
    fn at(&self) -> usize {
        match self {
            Self::Same(same) => same.start,
            Self::Step(at, _) => *at,
        }
    }
}

impl Diff {
    fn refresh(&mut self, compared: &Compared, scene: &PageScene<'_>) {
        let is_beside = scene.columns() >= BESIDE;
        let is_known = |(made, _): &(Arc<RunDiff>, bool)| Arc::ptr_eq(made, &compared.diff);
        let is_same = self.made.as_ref().is_some_and(is_known);
        if !is_same {
            (self.opened, self.is_new) = (BTreeSet::new(), true);
        }
        let made = Some((Arc::clone(&compared.diff), is_beside));
        if !is_same || self.made.as_ref().is_some_and(|made| made.1 != is_beside) {
            self.made = made;
            self.list_rows();
        }
        if !is_same {
            let first = compared.diff.parting.unwrap_or(0);
            self.list.choose_where(|key| key.at() >= first);
        }
    }

    /// Lists the rows; the cursor stays on its step.
    fn list_rows(&mut self) {
        let Some((diff, is_beside)) = &self.made else {
            return;
        };
        let chosen = self.list.chosen().map(RowKey::at);
        let mut keys = Vec::new();
        for row in diff.rows(0, |at| self.opened.contains(&at)) {
            match row {
                Stretch::Same(same) => keys.push(RowKey::Same(same)),
                Stretch::Pair(at) if *is_beside => keys.push(RowKey::Step(at, None)),
                Stretch::Pair(at) => {
                    let pair = diff.steps.get(at);
                    let sides = pair.map_or(0..0, |pair| if pair.is_same { 0..1 } else { 0..2 });
                    let has =
                        |side: &usize| pair.is_some_and(|pair| side_of(pair, *side).is_some());
                    let rows = sides.filter(has).map(|side| RowKey::Step(at, Some(side)));
                    keys.extend(rows);
                }
            }
        }
        self.list.set(keys, false);
        if let Some(chosen) = chosen {
            let at = |key: &RowKey| match key {
                RowKey::Same(same) => same.end > chosen,
                RowKey::Step(at, _) => *at >= chosen,
            };
            self.list.choose_where(at);
        }
    }

    fn pair(&self, at: usize) -> Option<&StepPair> {
        self.made.as_ref()?.0.steps.get(at)
    }

    /// The chosen step, and the one beside it.
    fn chosen(&self) -> Option<[(usize, Option<&StepFacts>); 2]> {
        let RowKey::Step(at, side) = self.list.chosen()? else {
            return None;
        };
        let pair = self.pair(*at)?;
        let has_first = side_of(pair, 0).is_some();
        let side = side.unwrap_or(usize::from(!has_first));
        Some([side, 1 - side].map(|side| (side, side_of(pair, side))))
    }

    /// Goes to a step, or opens the other session at it.
    fn lead_to(scene: &PageScene<'_>, (side, step): (usize, Option<&StepFacts>)) -> Answer {
        let Some(step) = step else {
            return Answer::Message("the other run has nothing there".to_owned());
        };
        match other_of(scene).filter(|_| side == 1) {
            Some(place) => {
                let name = step.id.as_ref().unwrap_or(&step.key);
                Answer::Open(place.clone(), name.to_string())
            }
            None => match place_of(scene.transcript, step) {
                Some(focus) => Answer::Go(focus),
                None => Answer::Message("the session no longer has this".to_owned()),
            },
        }
    }

    fn seek(&mut self, way: Way) -> Answer {
        let here = self.list.chosen().map_or(0, RowKey::at);
        let Some((diff, _)) = &self.made else {
            return Answer::Pass;
        };
        let found = match way {
            Way::Next => diff.differences().find(|at| *at > here),
            Way::Previous => diff.differences().take_while(|at| *at < here).last(),
        };
        match found {
            Some(at) => {
                self.list.choose_where(|key| key.at() >= at);
                Answer::Done
            }
            None => Answer::Message("no further difference".to_owned()),
        }
    }

    /// Shows a stretch in full, or folds the one around the cursor again.
    fn fold(&mut self, opens: bool) -> Answer {
        match self.list.chosen() {
            Some(RowKey::Same(same)) if opens => {
                self.opened.insert(same.start);
            }
            Some(RowKey::Step(at, _))
                if !opens && self.pair(*at).is_some_and(|pair| !pair.parts) =>
            {
                let around = self.opened.range(..=at).next_back().copied();
                let Some(start) = around else {
                    return Answer::Pass;
                };
                self.opened.remove(&start);
            }
            _ => return Answer::Pass,
        }
        self.list_rows();
        Answer::Unfolded
    }

    fn line(&self, scene: &PageScene<'_>, key: &RowKey) -> Line<'static> {
        let theme = scene.theme;
        let cut = theme.glyphs().cut;
        let (at, only) = match key {
            RowKey::Same(same) => {
                let words = self.made.as_ref().map(|(diff, _)| diff.folded(same));
                let words = format!("{:TURN$}+ {}", "", words.unwrap_or_default());
                return Line::styled(words, theme.dim);
            }
            RowKey::Step(at, only) => (*at, *only),
        };
        let Some(pair) = self.pair(at) else {
            return Line::default();
        };
        let room = scene.columns().saturating_sub(TURN);
        let mut spans = vec![Span::styled(turn_of(pair, only.unwrap_or(0)), theme.dim)];
        if let Some(side) = only {
            let name = if pair.is_same {
                " "
            } else {
                NAMES.get(side).copied().unwrap_or_default()
            };
            let step = step_span(side_of(pair, side), pair, theme);
            let step = [Span::styled(format!("{name}  "), theme.dim), step];
            spans.extend(wrap::fit(&step, room, cut));
            return Line::from(spans);
        }
        let half = room.saturating_sub(3) / 2;
        let ours = wrap::fit(&[step_span(side_of(pair, 0), pair, theme)], half, cut);
        let gap = half.saturating_sub(wrap::width_of(&ours));
        spans.extend(ours);
        let sign = format!("{} {} ", " ".repeat(gap), RunDiff::sign(pair));
        spans.push(Span::styled(sign, theme.warn));
        spans.extend(wrap::fit(
            &[step_span(side_of(pair, 1), pair, theme)],
            half,
            cut,
        ));
        Line::from(spans)
    }

    /// Both sides of the chosen row in full.
    fn foot_lines(&self, scene: &PageScene<'_>) -> Vec<Line<'static>> {
        let Some(RowKey::Step(at, _)) = self.list.chosen() else {
            return Vec::new();
        };
        let Some(pair) = self.pair(*at) else {
            return Vec::new();
        };
        let frame = LineFrame {
            rest: vec![Span::raw("   ")],
            ..scene.frame(SIDE)
        };
        let side = |(side, name): (usize, &str)| {
            let Some(step) = side_of(pair, side) else {
                return Vec::new();
            };
            let words = format!("turn {}: {}", step.turn, step.line());
            let spans = [
                Span::styled(format!("{name}  "), scene.theme.dim),
                Span::styled(words, scene.theme.text),
            ];
            wrap::wrap(&spans, &frame)
        };
        NAMES.into_iter().enumerate().flat_map(side).collect()
    }
}

fn side_of(pair: &StepPair, side: usize) -> Option<&StepFacts> {
    pair.sides.get(side)?.as_ref()
}

/// The session of the other run, if it is not the shown one.
fn other_of<'a>(scene: &PageScene<'a>) -> Option<&'a Target> {
    scene.compared?.done()?.other.as_ref()
}

fn turn_of(pair: &StepPair, side: usize) -> String {
    let step = side_of(pair, side).or(side_of(pair, 1 - side));
    let turn = step.map_or(0, |step| step.turn);
    format!("{:<TURN$}", format!("t{turn}"))
}

fn step_span(step: Option<&StepFacts>, pair: &StepPair, theme: &Theme) -> Span<'static> {
    let Some(step) = step else {
        return Span::raw("");
    };
    let style: Style = match step.kind {
        _ if !pair.parts => theme.dim,
        _ if step.has_failed() => theme.bad,
        StepKind::Prompt => theme.voice.user,
        _ => theme.text,
    };
    Span::styled(step.line(), style)
}

/// What each run came to, a run a line below the names of the figures.
fn sums(comparison: &Comparison, diff: &RunDiff, scene: &PageScene<'_>) -> Vec<Line<'static>> {
    let figures = diff.sums.each_ref().map(RunSums::figures);
    let [ours, theirs] = &figures;
    let widths = ours.iter().zip(theirs);
    let widths: Vec<usize> = widths
        .map(|((label, one), (_, other))| label.len().max(one.len()).max(other.len()))
        .collect();
    let line = |name: &str, cells: Vec<&str>, last: &str| {
        let cells = cells.into_iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("  {cell:>width$}"))
            .collect();
        let cells = cells.concat();
        let spans = [Span::raw(format!("{name:1}{cells}  {last}"))];
        let cut = scene.theme.glyphs().cut;
        Line::from(wrap::fit(&spans, scene.columns(), cut))
    };
    let labels = ours.iter().map(|(label, _)| *label).collect();
    let mut lines = vec![line("", labels, "").style(scene.theme.dim)];
    for ((name, of), figures) in NAMES.iter().zip(&comparison.names).zip(&figures) {
        let cells = figures.iter().map(|(_, value)| value.as_str()).collect();
        lines.push(line(name, cells, of));
    }
    lines
}

impl Page for Diff {
    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        let mut title = vec![Span::raw("DIFF")];
        let Some(comparison) = scene.compared else {
            return Sheet::empty(
                title,
                "Nothing is compared; :diff names another run.",
                scene,
            );
        };
        let [one, other] = &comparison.names;
        title.push(Span::styled(
            format!("  A {one}, B {other}"),
            scene.theme.dim,
        ));
        let compared = match &comparison.state {
            ComparisonState::Reading => {
                return Sheet::empty(title, "Both runs are being read.", scene);
            }
            ComparisonState::Failed(why) => {
                let mut sheet = Sheet::empty(title, "", scene);
                let lines = wrap::wrap(&[Span::raw(why.clone())], &LineFrame::of(scene.columns()));
                sheet.heads = lines;
                return sheet;
            }
            ComparisonState::Done(compared) => compared,
        };
        self.refresh(compared, scene);
        let diff = &compared.diff;
        let same = "The runs are the same.";
        let sentence = [Span::raw(
            diff.sentence.clone().unwrap_or_else(|| same.to_owned()),
        )];
        let mut heads = wrap::wrap(&sentence, &scene.frame(SENTENCE));
        if scene.height >= TALL {
            heads.extend(sums(comparison, diff, scene));
            heads.push(Line::default());
        }
        let (height, foot) = scene.divide(heads.len(), 2 * SIDE);
        self.list.fit(height);
        let rows = self.list.window().map(|(number, key, is_chosen)| SheetRow {
            line: self.line(scene, key),
            is_chosen,
            number,
        });
        let rows = rows.collect();
        let foot = if foot > 0 {
            self.foot_lines(scene)
        } else {
            Vec::new()
        };
        Sheet {
            title,
            heads,
            rows,
            foot,
            ..Sheet::default()
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        self.is_new = false;
        match action {
            Action::Expand | Action::ToggleFold if self.fold(true) == Answer::Unfolded => {
                Answer::Unfolded
            }
            Action::Collapse | Action::ToggleFold => self.fold(false),
            Action::Expand | Action::Pair => match self.chosen() {
                Some([chosen, _]) if action == Action::Expand => Self::lead_to(scene, chosen),
                Some([_, beside]) => Self::lead_to(scene, beside),
                None => Answer::Pass,
            },
            Action::LevelUp | Action::LevelDown => {
                self.opened.clear();
                if let Some((diff, _)) = self.made.as_ref().filter(|_| action == Action::LevelUp) {
                    let rows = diff.rows(0, |_| false).into_iter();
                    self.opened.extend(rows.filter_map(|row| match row {
                        Stretch::Same(same) => Some(same.start),
                        Stretch::Pair(_) => None,
                    }));
                }
                self.list_rows();
                Answer::Unfolded
            }
            Action::Seek(LandmarkKind::Difference, way) => self.seek(way),
            action => self.list.act(action, times).unwrap_or(Answer::Pass),
        }
    }

    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus) {
        let Some(entry) = scene.transcript.get(focus.entry).filter(|_| !self.is_new) else {
            return;
        };
        let Some((diff, _)) = &self.made else { return };
        let is_it = |step: &StepFacts| step.key == entry.key && step.block == focus.block;
        let mut pairs = diff.steps.iter();
        let at = pairs.position(|pair| side_of(pair, 0).is_some_and(is_it));
        if let Some(at) = at {
            self.list.choose_where(|key| match key {
                RowKey::Same(same) => same.contains(&at),
                RowKey::Step(step, _) => *step == at,
            });
        }
    }

    fn choose(&mut self, number: usize) {
        self.is_new = false;
        self.list.choose(number);
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn hints(&self) -> &'static [Hint] {
        HINTS
    }

    fn ends_with_session(&self) -> bool {
        false
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        let [(side, step), _] = self.chosen()?;
        let is_elsewhere = side == 1 && other_of(scene).is_some();
        place_of(scene.transcript, step.filter(|_| !is_elsewhere)?)
    }
}
