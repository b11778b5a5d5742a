//! The view of tools: a table of all calls that can be sorted by any column, and a comparison of
//! tools.
//!
//! Invariant: calls are sorted only when the session, the filter or the order changed; texts are
//! formatted for the window alone.

pub(crate) mod foot;

use foot::Examples;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, REVERSE, SORT, Sheet};
use crate::analysis::calls::{Outcome, Place, Tools as Sums};
use crate::app::input::action::Action;
use crate::app::text::viewport::Focus;
use crate::listing::call::PlacedCall;
use crate::listing::calls::{CallList, IN_ORDER, SLOWEST};
use crate::listing::sort::Sort;
use crate::listing::tools::{LONGEST, ToolList};
use crate::model::figures::count;
use crate::model::text::Name;
use crate::render::theme::Theme;
use crate::session::indexes::Needs;

/// Hints for the list of calls.
const HINTS: &[Hint] = &[
    SORT,
    REVERSE,
    (&[Action::LevelUp], "slowest first, in order"),
    (&[Action::LevelDown], "tool against tool"),
];
/// Hints for the comparison of tools.
const SUMMARY_HINTS: &[Hint] = &[SORT, REVERSE, (&[Action::LevelUp], "all calls")];

/// Height of the foot for a call, on low and on high screens.
const FOOT: (usize, usize) = (4, 6);
/// Page height from which a screen is high.
const HIGH_FROM: usize = 30;
/// Height of the foot for a tool.
const FOOT_OF_TOOL: usize = 4;

#[derive(Debug)]
pub(crate) struct ToolsView {
    shown: ToolRows,
    calls: List<Place>,
    names: List<Name>,
    /// Sums of the calls that pass the filter; `None` without a filter, where those of the index
    /// are used.
    sums: Option<Sums>,
    /// Number of calls that pass the filter.
    passing: usize,
    built_from: Option<ToolsSource>,
    examples: Option<(Name, Examples)>,
}

/// What the rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ToolRows {
    Tools,
    /// Calls of one tool, or of all if `None`.
    Calls(Option<Name>),
}

/// The state that the rows were built from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ToolsSource {
    indexes: u64,
    findings: u64,
    filter: Option<(u32, u8, usize)>,
    shown: ToolRows,
    sort: Option<Sort>,
}

impl Default for ToolsView {
    fn default() -> Self {
        Self {
            shown: ToolRows::Calls(None),
            calls: List::default().sorted(SLOWEST),
            names: List::default().sorted(LONGEST),
            sums: None,
            passing: 0,
            built_from: None,
            examples: None,
        }
    }
}

impl ToolsView {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let made = ToolsSource {
            indexes: scene.indexes.generation,
            findings: scene.findings.generation,
            filter: scene
                .filter
                .map(|filter| (filter.generation, filter.percent, filter.hidden)),
            shown: self.shown.clone(),
            sort: self.sort(),
        };
        if self.built_from.as_ref() == Some(&made) {
            return;
        }
        self.examples = None;
        match &self.shown {
            ToolRows::Tools => {
                self.sums = scene.filter.map(|_| {
                    let passing = shown(scene, None);
                    self.passing = passing.len();
                    scene.indexes.calls.tools_among(passing.into_iter())
                });
                let sums = self.sums.as_ref().unwrap_or(&scene.indexes.calls.tools);
                let names = sums.iter().map(|(name, _)| name.clone()).collect();
                self.names
                    .fill(&ToolList::of(sums, &scene.indexes.carried), names, false);
            }
            ToolRows::Calls(tool) => {
                let passing = shown(scene, tool.as_ref());
                self.passing = passing.len();
                self.calls
                    .fill(&CallList(scene.calls), passing, scene.follows);
            }
        }
        self.built_from = Some(made);
    }

    fn sort(&self) -> Option<Sort> {
        match self.shown {
            ToolRows::Tools => self.names.sort(),
            ToolRows::Calls(_) => self.calls.sort(),
        }
    }

    fn sums<'a>(&'a self, scene: &PageScene<'a>) -> &'a Sums {
        self.sums
            .as_ref()
            .filter(|_| scene.filter.is_some())
            .unwrap_or(&scene.indexes.calls.tools)
    }

    /// Changes what is shown, and keeps the cursor on the same call or tool.
    fn show(&mut self, scene: &PageScene<'_>, shown: ToolRows) {
        let place = self.place();
        let tool = match (&self.shown, place) {
            (ToolRows::Tools, _) => self.names.chosen().cloned(),
            (ToolRows::Calls(_), Some(place)) => {
                PlacedCall::at(scene.calls, place).map(|placed| placed.call.name.clone())
            }
            (ToolRows::Calls(tool), None) => tool.clone(),
        };
        self.shown = shown;
        self.refresh(scene);
        match &self.shown {
            ToolRows::Tools => {
                if let Some(tool) = tool {
                    self.names.choose_key(&tool);
                }
            }
            ToolRows::Calls(_) => {
                if let Some(focus) = scene.focus {
                    self.choose_focus(scene, focus);
                }
            }
        }
    }

    fn place(&self) -> Option<Place> {
        match self.shown {
            ToolRows::Tools => None,
            ToolRows::Calls(_) => self.calls.chosen().copied(),
        }
    }

    fn title(&self, scene: &PageScene<'_>) -> Vec<Span<'static>> {
        let theme = scene.theme;
        let sums = self.sums(scene);
        let dot = theme.glyphs().dot;
        let calls: usize = sums.iter().map(|(_, tool)| tool.calls.len()).sum();
        let mut parts = Vec::new();
        match &self.shown {
            ToolRows::Calls(Some(name)) => {
                parts.push(format!("{} of {name}", count(self.passing as u64, "call")));
            }
            ToolRows::Calls(None) => parts.push(count(self.passing as u64, "call")),
            ToolRows::Tools => {
                parts.push(count(sums.iter().count() as u64, "tool"));
                parts.push(count(calls as u64, "call"));
                let (ms, is_bound) = sums.time();
                if ms > 0 {
                    parts.push(format!("{} in tools", theme.duration(ms, is_bound)));
                }
            }
        }
        if matches!(self.shown, ToolRows::Tools | ToolRows::Calls(None)) && scene.filter.is_none() {
            let of = |end| {
                sums.iter()
                    .map(|(_, tool)| tool.sums.ended(end))
                    .sum::<usize>()
            };
            let ends = [
                (of(Outcome::Failed), "failed"),
                (
                    of(Outcome::Open),
                    if scene.is_at_work {
                        "without an end yet"
                    } else {
                        "without an end"
                    },
                ),
            ];
            parts.extend(
                ends.iter()
                    .filter(|(n, _)| *n > 0)
                    .map(|(n, word)| format!("{n} {word}")),
            );
        }
        if scene.filter.is_some() {
            parts.push(format!(
                "of {} that the filter lets through",
                scene.indexes.calls.count()
            ));
        }
        let words = format!("  {}", parts.join(&format!(" {dot} ")));
        vec![Span::raw("TOOLS"), Span::styled(words, theme.dim)]
    }

    fn right(&self, scene: &PageScene<'_>) -> Vec<Span<'static>> {
        let theme = scene.theme;
        if scene.indexes.is_behind {
            return vec![Span::styled("adding up", theme.warn)];
        }
        let words = match self.shown {
            ToolRows::Tools => self.names.sorted_by(theme),
            ToolRows::Calls(_) => self.calls.sorted_by(theme),
        };
        vec![Span::styled(words, theme.dim)]
    }

    fn nothing(&self, scene: &PageScene<'_>) -> Option<&'static str> {
        let is_empty = match self.shown {
            ToolRows::Tools => self.names.keys().is_empty(),
            ToolRows::Calls(_) => self.calls.keys().is_empty(),
        };
        let is_filtered = scene.filter.is_some() && scene.indexes.calls.count() > 0;
        is_empty.then_some(if is_filtered {
            "The filter lets no call through; f f shows all again."
        } else if scene.is_complete() {
            "This session has no tool calls."
        } else {
            "The session is still being read."
        })
    }

    fn foot(&mut self, scene: &PageScene<'_>, lines: usize) -> Vec<Line<'static>> {
        match &self.shown {
            ToolRows::Calls(_) => self
                .place()
                .map(|place| foot::of_call(scene, place, lines))
                .unwrap_or_default(),
            ToolRows::Tools => {
                let Some(name) = self.names.chosen().cloned() else {
                    return Vec::new();
                };
                let examples = match self.examples.take().filter(|(of, _)| *of == name) {
                    Some((_, examples)) => examples,
                    None => Examples::of(scene, &shown(scene, Some(&name))),
                };
                let sum = self.sums(scene).by_name.get(&name);
                let lines = sum.map(|tool| foot::of_tool(scene, (&name, tool), &examples));
                self.examples = Some((name, examples));
                lines.unwrap_or_default()
            }
        }
    }
}

impl Page for ToolsView {
    fn needs(&self) -> Needs {
        Needs {
            calls: true,
            windows: true,
            carried: true,
            findings: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let title = self.title(scene);
        if let Some(why) = self.nothing(scene) {
            return Sheet::empty(title, why, scene);
        }
        let foot = match self.shown {
            ToolRows::Tools => FOOT_OF_TOOL,
            ToolRows::Calls(_) if scene.height < HIGH_FROM => FOOT.0,
            ToolRows::Calls(_) => FOOT.1,
        };
        let (height, foot) = scene.divide(1, foot);
        self.calls.fit(height);
        self.names.fit(height);
        let (heads, rows) = match self.shown {
            ToolRows::Tools => {
                let sums = self.sums.as_ref().unwrap_or(&scene.indexes.calls.tools);
                self.names
                    .write(&ToolList::of(sums, &scene.indexes.carried), scene)
            }
            ToolRows::Calls(_) => self.calls.write(&CallList(scene.calls), scene),
        };
        Sheet {
            title,
            right: self.right(scene),
            heads: vec![heads],
            rows,
            foot: if foot > 0 {
                self.foot(scene, foot)
            } else {
                Vec::new()
            },
            ..Sheet::default()
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        let is_summary = self.shown == ToolRows::Tools;
        let answer = match self.shown {
            ToolRows::Tools => self.names.act(action, times),
            ToolRows::Calls(_) => self.calls.act(action, times),
        };
        if let Some(answer) = answer {
            return answer;
        }
        match action {
            Action::Expand if is_summary => {
                if let Some(name) = self.names.chosen().cloned() {
                    self.show(scene, ToolRows::Calls(Some(name)));
                }
            }
            Action::LevelUp if self.shown == ToolRows::Calls(None) => {
                let is_slowest = self.calls.sort() == Some(SLOWEST);
                self.calls
                    .sort_by(if is_slowest { IN_ORDER } else { SLOWEST });
                self.refresh(scene);
                match scene.focus.filter(|_| is_slowest) {
                    Some(focus) => self.choose_focus(scene, focus),
                    None => self.calls.choose(0),
                }
                return Answer::Unfolded;
            }
            Action::Collapse if is_summary => {
                return Answer::Message("these are all tools".to_owned());
            }
            Action::Collapse => self.show(scene, ToolRows::Tools),
            Action::LevelUp | Action::Level(2..) => {
                self.show(scene, ToolRows::Calls(None));
                return Answer::Unfolded;
            }
            Action::LevelDown | Action::Level(_) => {
                self.show(scene, ToolRows::Tools);
                return Answer::Unfolded;
            }
            _ => return Answer::Pass,
        }
        Answer::Done
    }

    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus) {
        match &self.shown {
            ToolRows::Tools => {
                if let Some(placed) = PlacedCall::at(scene.calls, focus) {
                    self.names.choose_key(&placed.call.name.clone());
                }
            }
            ToolRows::Calls(_) => {
                let keys = self.calls.keys();
                if self.calls.is_in_order::<CallList<'_>>() {
                    let rank = |place: &Place| place.file_order(scene.transcript);
                    let own = rank(&focus);
                    let before = keys.partition_point(|key| rank(key) <= own);
                    self.calls.choose(before.saturating_sub(1));
                }
            }
        }
    }

    fn choose(&mut self, number: usize) {
        match self.shown {
            ToolRows::Tools => self.names.choose(number),
            ToolRows::Calls(_) => self.calls.choose(number),
        }
    }

    fn reset(&mut self) {
        // A tool of one session may not exist in another.
        let shown = if self.shown == ToolRows::Tools {
            ToolRows::Tools
        } else {
            ToolRows::Calls(None)
        };
        *self = Self {
            shown,
            calls: self.calls.emptied(),
            names: self.names.emptied(),
            ..Self::default()
        };
    }

    fn ends_with_session(&self) -> bool {
        matches!(self.shown, ToolRows::Calls(_)) && self.calls.is_in_order::<CallList<'_>>()
    }

    fn legend(&self, theme: &Theme) -> Vec<(&'static str, &'static str)> {
        let outcome = &theme.glyphs().outcome;
        vec![
            (outcome.done, "ended well"),
            (outcome.failed, "failed"),
            (outcome.refused, "refused"),
            (outcome.lost, "lost"),
            (outcome.running, "runs"),
            ("told", "delay to model"),
            ("p95", "95% took less"),
            ("carried", "its later cost"),
        ]
    }

    fn hints(&self) -> &'static [Hint] {
        if matches!(self.shown, ToolRows::Tools) {
            SUMMARY_HINTS
        } else {
            HINTS
        }
    }

    fn target(&self, _: &PageScene<'_>) -> Option<Focus> {
        self.place()
    }
}

/// Calls of the session, or of one tool, that pass the filter, in file order.
fn shown(scene: &PageScene<'_>, tool: Option<&Name>) -> Vec<Place> {
    let calls = &scene.indexes.calls;
    let passes = |place: &Place| scene.filter.is_none_or(|filter| filter.shows(*place));
    match tool {
        Some(name) => calls.of_tool(name).filter(passes).collect(),
        None => calls.all().filter(passes).collect(),
    }
}
