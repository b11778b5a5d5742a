//! The view of tools: every call in a table that can be sorted by any column, and tools against each other.
//!
//! Invariant: calls are sorted only when the session, the filter or the order changed; texts are made for the
//! window alone.

pub mod call;
mod calls;
pub(crate) mod foot;
mod order;
mod summary;

use foot::Examples;
use order::Sort;
use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, Sheet, SheetRow};
use super::table::{Order, Table};
use crate::analysis::calls::{Outcome, Place, Tools as Sums};
use crate::app::input::action::{Action, Way};
use crate::app::text::viewport::Focus;
use crate::model::figures::count;
use crate::model::text::Name;
use crate::session::indexes::Needs;

/// What its keys do.
const HINTS: &[Hint] = &[
    (
        &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
        "sort",
    ),
    (&[Action::Reverse], "reverse"),
    (&[Action::LevelUp], "slowest first"),
    (&[Action::LevelDown], "tool against tool"),
];
/// And while tools are compared.
const SUMMARY_HINTS: &[Hint] = &[
    (
        &[Action::Shift(Way::Previous), Action::Shift(Way::Next)],
        "sort",
    ),
    (&[Action::Reverse], "reverse"),
    (&[Action::LevelUp], "all calls"),
];

/// Lines for the chosen call, on low screens and on others.
const FOOT: (usize, usize) = (4, 6);
/// Pages with so many lines are no low screens.
const HIGH_FROM: usize = 30;
/// Lines for the chosen tool.
const FOOT_OF_TOOL: usize = 4;

/// The view.
#[derive(Debug)]
pub(crate) struct Tools {
    shown: Shown,
    calls: List<Place>,
    by_call: Sort,
    names: List<Name>,
    by_tool: Sort,
    /// Sums of the calls that the filter shows; without a filter those of the index are taken.
    sums: Option<Sums>,
    /// All calls that pass the filter, by number.
    passing: usize,
    made: Option<Made>,
    examples: Option<(Name, Examples)>,
}

/// What the rows are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shown {
    /// Tools.
    Tools,
    /// Calls, of one tool or of all.
    Calls(Option<Name>),
}

/// What the rows were made for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Made {
    indexes: u64,
    findings: u64,
    filter: Option<(u32, u8, usize)>,
    shown: Shown,
    sort: Sort,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            shown: Shown::Calls(None),
            calls: List::default(),
            by_call: Sort::by(0, &calls::FALLING),
            names: List::default(),
            by_tool: Sort::by(summary::TIME, &summary::FALLING),
            sums: None,
            passing: 0,
            made: None,
            examples: None,
        }
    }
}

impl Tools {
    fn refresh(&mut self, scene: &PageScene<'_>) {
        let made = Made {
            indexes: scene.indexes.generation,
            findings: scene.findings.generation(),
            filter: scene
                .filter
                .map(|filter| (filter.generation, filter.percent, filter.hidden())),
            shown: self.shown.clone(),
            sort: self.sort(),
        };
        if self.made.as_ref() == Some(&made) {
            return;
        }
        self.examples = None;
        match &self.shown {
            Shown::Tools => {
                self.sums = scene.filter.map(|_| {
                    let passing = calls::shown(scene, None);
                    self.passing = passing.len();
                    scene.indexes.calls.tools_among(passing.into_iter())
                });
                let sums = self.sums.as_ref().unwrap_or(scene.indexes.calls.tools());
                self.names.set(summary::sorted(sums, self.by_tool), false);
            }
            Shown::Calls(tool) => {
                let passing = calls::shown(scene, tool.as_ref());
                self.passing = passing.len();
                let follows = scene.follows && self.is_in_order();
                self.calls
                    .set(calls::sorted(scene, passing, self.by_call), follows);
            }
        }
        self.made = Some(made);
    }

    /// Whether calls stand in the order of the file: only then the last row is the newest one.
    fn is_in_order(&self) -> bool {
        self.by_call == Sort::by(0, &calls::FALLING)
    }

    fn sort(&self) -> Sort {
        match self.shown {
            Shown::Tools => self.by_tool,
            Shown::Calls(_) => self.by_call,
        }
    }

    fn sums<'a>(&'a self, scene: &PageScene<'a>) -> &'a Sums {
        self.sums
            .as_ref()
            .filter(|_| scene.filter.is_some())
            .unwrap_or(scene.indexes.calls.tools())
    }

    /// Shows something else, with the cursor where it was.
    fn show(&mut self, scene: &PageScene<'_>, shown: Shown) {
        let place = self.place();
        let tool = match (&self.shown, place) {
            (Shown::Tools, _) => self.names.chosen().cloned(),
            (Shown::Calls(_), Some(place)) => {
                call::PlacedCall::at(scene, place).map(|placed| placed.call.name.clone())
            }
            (Shown::Calls(tool), None) => tool.clone(),
        };
        self.shown = shown;
        self.refresh(scene);
        match &self.shown {
            Shown::Tools => {
                if let Some(tool) = tool {
                    self.names.choose_key(&tool);
                }
            }
            Shown::Calls(_) => {
                if let Some(focus) = scene.focus {
                    self.look_at(scene, focus);
                }
            }
        }
    }

    fn place(&self) -> Option<Place> {
        match self.shown {
            Shown::Tools => None,
            Shown::Calls(_) => self.calls.chosen().copied(),
        }
    }

    fn shift(&mut self, scene: &PageScene<'_>, way: Way) -> Answer {
        let has_moved = match self.shown {
            Shown::Tools => {
                let table = Table::fit(summary::COLUMNS, scene.columns());
                self.by_tool
                    .shift(way, summary::COLUMNS.len(), &table, &summary::FALLING)
            }
            Shown::Calls(_) => {
                let columns = calls::columns_of(scene);
                let table = Table::fit(columns, scene.columns());
                self.by_call
                    .shift(way, columns.len(), &table, &calls::FALLING)
            }
        };
        if has_moved {
            Answer::Unfolded
        } else {
            Answer::Say("there is no column beside to sort by".to_owned())
        }
    }

    fn title(&self, scene: &PageScene<'_>) -> Vec<Span<'static>> {
        let theme = scene.theme;
        let sums = self.sums(scene);
        let dot = theme.glyphs().dot;
        let calls: usize = sums.iter().map(|(_, tool)| tool.count()).sum();
        let mut parts = Vec::new();
        match &self.shown {
            Shown::Calls(Some(name)) => {
                parts.push(format!("{} of {name}", count(self.passing as u64, "call")));
            }
            Shown::Calls(None) => parts.push(count(self.passing as u64, "call")),
            Shown::Tools => {
                parts.push(count(sums.iter().count() as u64, "tool"));
                parts.push(count(calls as u64, "call"));
                let (ms, is_bound) = sums.time();
                if ms > 0 {
                    parts.push(format!("{} in tools", call::at_most(ms, is_bound, theme)));
                }
            }
        }
        if matches!(self.shown, Shown::Tools | Shown::Calls(None)) && scene.filter.is_none() {
            let of = |end| sums.iter().map(|(_, tool)| tool.ended(end)).sum::<usize>();
            let ends = [
                (of(Outcome::Failed), "failed"),
                (of(Outcome::Open), "without a result"),
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
        if scene.indexes.is_behind() {
            return vec![Span::styled("adding up", theme.warn)];
        }
        let sort = self.sort();
        let column = match self.shown {
            Shown::Tools => summary::COLUMNS
                .get(sort.column)
                .map_or("", |column| column.title),
            Shown::Calls(_) => calls::title(sort.column),
        };
        let way = match sort.order {
            Order::Rising => theme.glyphs().rising,
            Order::Falling => theme.glyphs().falling,
        };
        vec![Span::styled(format!("by {column}{way}"), theme.dim)]
    }

    fn nothing(&self, scene: &PageScene<'_>) -> Option<&'static str> {
        let is_empty = match self.shown {
            Shown::Tools => self.names.keys().is_empty(),
            Shown::Calls(_) => self.calls.keys().is_empty(),
        };
        let is_filtered = scene.filter.is_some() && scene.indexes.calls.count() > 0;
        is_empty.then_some(if is_filtered {
            "The filter lets no call through; f f shows all again."
        } else if !scene.is_whole || scene.indexes.is_behind() {
            "The session is still being read."
        } else {
            "This session has no tool calls."
        })
    }

    fn foot(&mut self, scene: &PageScene<'_>, lines: usize) -> Vec<Line<'static>> {
        match &self.shown {
            Shown::Calls(_) => self
                .place()
                .map(|place| foot::of_call(scene, place, lines))
                .unwrap_or_default(),
            Shown::Tools => {
                let Some(name) = self.names.chosen().cloned() else {
                    return Vec::new();
                };
                let examples = match self.examples.take().filter(|(of, _)| *of == name) {
                    Some((_, examples)) => examples,
                    None => Examples::of(scene, &calls::shown(scene, Some(&name))),
                };
                let sum = self.sums(scene).get(&name);
                let lines = sum.map(|tool| foot::of_tool(scene, (&name, tool), &examples));
                self.examples = Some((name, examples));
                lines.unwrap_or_default()
            }
        }
    }

    fn rows(&self, scene: &PageScene<'_>, table: &Table) -> Vec<SheetRow> {
        let theme = scene.theme;
        match self.shown {
            Shown::Calls(_) => {
                let rows = self.calls.window().map(|(number, place, is_chosen)| {
                    let line = table.row(calls::cells(scene, table, *place, is_chosen), theme);
                    SheetRow {
                        line,
                        is_chosen,
                        number,
                    }
                });
                rows.collect()
            }
            Shown::Tools => {
                let sums = self.sums(scene);
                let (all, _) = sums.time();
                let rows = self.names.window().filter_map(|(number, name, is_chosen)| {
                    let tool = (name, sums.get(name)?);
                    let line = table.row(summary::cells(scene, tool, all, is_chosen), theme);
                    Some(SheetRow {
                        line,
                        is_chosen,
                        number,
                    })
                });
                rows.collect()
            }
        }
    }
}

impl Page for Tools {
    fn needs(&self) -> Needs {
        Needs {
            calls: true,
            findings: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let title = self.title(scene);
        if let Some(words) = self.nothing(scene) {
            let line = Line::styled(words, scene.theme.dim);
            let rows = vec![SheetRow {
                line,
                ..SheetRow::default()
            }];
            return Sheet {
                title,
                rows,
                ..Sheet::default()
            };
        }
        let foot = match self.shown {
            Shown::Tools => FOOT_OF_TOOL,
            Shown::Calls(_) if scene.height < HIGH_FROM => FOOT.0,
            Shown::Calls(_) => FOOT.1,
        };
        let (height, foot) = scene.divide(1, foot);
        self.calls.fit(height);
        self.names.fit(height);
        let columns = match self.shown {
            Shown::Tools => summary::COLUMNS,
            Shown::Calls(_) => calls::columns_of(scene),
        };
        let table = Table::fit(columns, scene.columns());
        let sort = self.sort();
        Sheet {
            title,
            right: self.right(scene),
            heads: vec![table.heads(Some((sort.column, sort.order)), scene.theme)],
            rows: self.rows(scene, &table),
            foot: if foot > 0 {
                self.foot(scene, foot)
            } else {
                Vec::new()
            },
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        let is_summary = self.shown == Shown::Tools;
        let has_moved = match self.shown {
            Shown::Tools => self.names.act(action, times),
            Shown::Calls(_) => self.calls.act(action, times),
        };
        if has_moved {
            return Answer::Done;
        }
        match action {
            Action::Expand if is_summary => {
                let Some(name) = self.names.chosen().cloned() else {
                    return Answer::Done;
                };
                self.show(scene, Shown::Calls(Some(name)));
            }
            Action::LevelUp if self.shown == Shown::Calls(None) => {
                self.by_call = Sort::by(calls::TOOK, &calls::FALLING);
                self.refresh(scene);
                self.calls.choose(0);
                return Answer::Unfolded;
            }
            Action::Collapse if is_summary => return Answer::Say("these are all tools".to_owned()),
            Action::Collapse => self.show(scene, Shown::Tools),
            Action::Shift(way) => return self.shift(scene, way),
            _ => {
                match action {
                    Action::LevelUp | Action::Level(2..) => self.show(scene, Shown::Calls(None)),
                    Action::LevelDown | Action::Level(_) => self.show(scene, Shown::Tools),
                    Action::Reverse if is_summary => self.by_tool.reverse(),
                    Action::Reverse => self.by_call.reverse(),
                    _ => return Answer::Pass,
                }
                return Answer::Unfolded;
            }
        }
        Answer::Done
    }

    fn look_at(&mut self, scene: &PageScene<'_>, focus: Focus) {
        match &self.shown {
            Shown::Tools => {
                if let Some(placed) = call::PlacedCall::at(scene, focus) {
                    self.names.choose_key(&placed.call.name.clone());
                }
            }
            Shown::Calls(_) => {
                let rank = |place: &Place| place.in_file(scene.transcript);
                let own = rank(&focus);
                let keys = self.calls.keys();
                let exact = keys.iter().position(|key| *key == focus);
                // The nearest one before it; rows in another order have none.
                let near = || {
                    self.is_in_order().then(|| {
                        keys.partition_point(|key| rank(key) <= own)
                            .saturating_sub(1)
                    })
                };
                if let Some(number) = exact.or_else(near) {
                    self.calls.choose(number);
                }
            }
        }
    }

    fn choose(&mut self, number: usize) {
        match self.shown {
            Shown::Tools => self.names.choose(number),
            Shown::Calls(_) => self.calls.choose(number),
        }
    }

    fn forget(&mut self) {
        // A tool of one session may not be there in another.
        let shown = if self.shown == Shown::Tools {
            Shown::Tools
        } else {
            Shown::Calls(None)
        };
        let (by_call, by_tool) = (self.by_call, self.by_tool);
        *self = Self {
            shown,
            by_call,
            by_tool,
            ..Self::default()
        };
    }

    fn ends_with_session(&self) -> bool {
        matches!(self.shown, Shown::Calls(_)) && self.is_in_order()
    }

    fn hints(&self) -> &'static [Hint] {
        if matches!(self.shown, Shown::Tools) {
            SUMMARY_HINTS
        } else {
            HINTS
        }
    }

    fn target(&self, _: &PageScene<'_>) -> Option<Focus> {
        self.place()
    }
}
