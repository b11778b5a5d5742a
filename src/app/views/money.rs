//! The view of cost: a summary of the session, or its sums by model, lane, turn or request.
//!
//! Invariant: the rows of a grouping add up to the session's figure; the foot shows how the chosen
//! figure is computed.

use ratatui::text::{Line, Span};

use super::list::List;
use super::page::{Answer, Hint, Page, PageScene, REVERSE, SORT, Sheet};
use crate::analysis::calls::Place;
use crate::analysis::money::spending::Charge;
use crate::analysis::money::spending::statement::{Group, Grouping, StatementRow};
use crate::analysis::phrases;
use crate::app::input::action::Action;
use crate::app::outline::row::{start_of_lane, start_of_turn};
use crate::app::text::viewport::Focus;
use crate::listing::sort::{Order, Sort};
use crate::listing::table::{Listing, Table};
use crate::model::entry::EntryId;
use crate::model::figures;
use crate::render::theme::Theme;
use crate::render::wrap::{self, LineFrame};
use crate::session::indexes::Needs;

pub mod chart;
mod foot;
mod rows;
mod summary;

use rows::{StatementSums, SumList};
use summary::{ChargeFilter, Fact, FactList};

/// The initial order: by time.
const BY_TIME: Sort = Sort {
    by: SumList::ORDER,
    order: Order::Rising,
};
/// Number of turns up to which requests are shown instead of turns, whose sums would say little.
const FEW_TURNS: usize = 2;
/// Width of the chart's legend.
const LEGEND: usize = 8;

/// The view of cost.
#[derive(Debug)]
pub(crate) struct MoneyView {
    /// The grouping: from 1, the summary, to 5, single requests.
    level: u8,
    is_level_chosen: bool,
    rows: List<StatementKey>,
    sums: StatementSums,
    facts: Vec<Fact>,
    made_for: Option<(u64, Option<Sort>)>,
    /// The chart and foot of the chosen row.
    detail: Option<ChosenDetail>,
}

/// Chart and foot of the chosen row. They are cached, because they take a pass over all charges.
#[derive(Debug)]
struct ChosenDetail {
    item: Option<StatementKey>,
    size: (usize, usize),
    chart: Vec<Line<'static>>,
    foot: Vec<Line<'static>>,
}

/// The key of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
enum StatementKey {
    Sum(Group),
    /// A line of the summary, by its index and label.
    Fact(usize, String),
    /// A heading of the summary, by its index.
    Heading(usize),
}

impl Default for MoneyView {
    fn default() -> Self {
        Self {
            level: 4,
            is_level_chosen: false,
            rows: List::with_headings(is_no_heading).sorted(BY_TIME),
            sums: StatementSums::default(),
            facts: Vec::new(),
            made_for: None,
            detail: None,
        }
    }
}

const HINTS: &[Hint] = &[
    (&[Action::LevelUp, Action::LevelDown], "group"),
    SORT,
    REVERSE,
];

/// The names of the levels.
const LEVELS: [&str; 5] = ["session", "models", "lanes", "turns", "requests"];

impl MoneyView {
    fn grouping(&self) -> Grouping {
        match self.level {
            2 => Grouping::Models,
            3 => Grouping::Lanes,
            5 => Grouping::Requests,
            _ => Grouping::Turns,
        }
    }

    fn refresh(&mut self, scene: &PageScene<'_>) {
        let made_for = Some((scene.indexes.generation, self.rows.sort()));
        if self.made_for == made_for {
            return;
        }
        let is_first = self.made_for.is_none() && !self.is_level_chosen;
        self.made_for = made_for;
        if is_first && scene.transcript.turns().len() <= FEW_TURNS {
            self.level = 5;
        }
        self.compute_rows(scene);
    }

    /// Computes the rows of the level, in the chosen order.
    fn compute_rows(&mut self, scene: &PageScene<'_>) {
        self.detail = None;
        let indexes = scene.indexes;
        self.sums = StatementSums::of(indexes.spending.rows(self.grouping()));
        if self.level == 4 {
            let turn_of = |place: Place| {
                let turn = indexes.account.turn_of(scene.transcript, place.entry)?;
                Some(scene.transcript.turns().get(turn)?.prompt)
            };
            self.sums.carried = indexes.carried.sums(turn_of);
        }
        if self.level == 1 {
            self.facts = summary::facts(&self.sums.rows, scene);
            let item = |(at, fact): (usize, &Fact)| {
                if fact.is_heading {
                    StatementKey::Heading(at)
                } else {
                    StatementKey::Fact(at, fact.label.clone())
                }
            };
            let items = self.facts.iter().enumerate().map(item).collect();
            return self.rows.set(items, false);
        }
        let groups = self.sums.rows.iter().map(|row| row.group.clone());
        let items = groups.map(StatementKey::Sum).collect();
        let is_first = self.rows.keys().is_empty();
        self.rows
            .fill(&SumList(&self.sums, scene), items, scene.follows);
        // A reader at the end asks for the whole session: where did the money go?
        let picos = |row: &&StatementRow| row.amount.money.picos();
        if is_first
            && scene.follows
            && let Some(dearest) = self.sums.rows.iter().max_by_key(picos)
        {
            self.rows
                .choose_key(&StatementKey::Sum(dearest.group.clone()));
        }
    }

    fn set_level(&mut self, level: u8, scene: &PageScene<'_>) {
        let level = level.clamp(1, 5);
        if level == self.level {
            return;
        }
        (self.level, self.is_level_chosen) = (level, true);
        self.rows = self.rows.emptied();
        self.compute_rows(scene);
        if let Some(focus) = scene.focus {
            self.choose_focus(scene, focus);
        }
    }

    /// The charges of the chosen row.
    fn charges<'s>(&self, scene: &PageScene<'s>) -> Vec<&'s Charge> {
        let statement = &scene.indexes.spending;
        match self.rows.chosen() {
            Some(StatementKey::Sum(group)) => statement.charges_of(Some(group), self.grouping()),
            Some(StatementKey::Fact(at, _)) => {
                let about = self
                    .facts
                    .get(*at)
                    .map(|fact| fact.about)
                    .unwrap_or_default();
                summary::charges(statement, about)
            }
            Some(StatementKey::Heading(_)) | None => Vec::new(),
        }
    }

    /// Computes chart and foot of the chosen row, unless they are cached.
    fn make_detail(&mut self, scene: &PageScene<'_>, lines: usize) {
        let (item, size) = (self.rows.chosen().cloned(), (scene.columns(), lines));
        if self
            .detail
            .as_ref()
            .is_some_and(|detail| detail.item == item && detail.size == size)
        {
            return;
        }
        let mut foot = self.fact_note(scene);
        foot.extend(foot::lines(
            &self.charges(scene),
            scene.columns(),
            scene.theme,
        ));
        let chart = self.chart(scene, lines);
        self.detail = Some(ChosenDetail {
            item,
            size,
            chart,
            foot,
        });
    }

    /// The note of a summary line, if its row has no room for it.
    fn fact_note(&self, scene: &PageScene<'_>) -> Vec<Line<'static>> {
        let Some(StatementKey::Fact(at, _)) = self.rows.chosen() else {
            return Vec::new();
        };
        let note = self
            .facts
            .get(*at)
            .map(|fact| fact.note.clone())
            .unwrap_or_default();
        let room = Table::of(&FactList(&self.facts), scene.columns())
            .width_of(summary::NOTE)
            .unwrap_or(0);
        if wrap::width(&note) <= room {
            return Vec::new();
        }
        wrap::wrap(
            &[Span::styled(note, scene.theme.text)],
            &LineFrame::hanging(scene.columns(), 2),
        )
    }

    fn chart(&self, scene: &PageScene<'_>, lines: usize) -> Vec<Line<'static>> {
        let statement = &scene.indexes.spending;
        let terms = statement
            .charges
            .iter()
            .enumerate()
            .map(|(number, charge)| {
                let is_chosen = match self.rows.chosen() {
                    Some(StatementKey::Sum(group)) => {
                        statement.group_of(number, self.grouping()).as_ref() == Some(group)
                    }
                    Some(StatementKey::Fact(..) | StatementKey::Heading(_)) | None => false,
                };
                (charge.amount.money.picos(), is_chosen)
            });
        let terms: Vec<(i128, bool)> = terms.collect();
        let bars = chart::bars(&terms, scene.columns().saturating_sub(LEGEND));
        let theme = scene.theme;
        let drawn = chart::lines(&bars, lines, theme.glyphs(), (theme.focus, theme.accent));
        let line = |(at, line): (usize, Line<'static>)| {
            let words = if at + 1 == lines { "spent" } else { "" };
            let mut spans = vec![Span::styled(format!("{words:<LEGEND$}"), theme.dim)];
            spans.extend(line.spans);
            Line::from(spans)
        };
        drawn.into_iter().enumerate().map(line).collect()
    }

    fn tabs(&self, scene: &PageScene<'_>) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        for (number, name) in (1..).zip(LEVELS) {
            let style = if number == self.level {
                scene.theme.focus
            } else {
                scene.theme.dim
            };
            spans.push(Span::styled(
                if number > 1 { "  " } else { "" },
                scene.theme.dim,
            ));
            spans.push(Span::styled(name, style));
        }
        spans
    }
}

fn is_no_heading(item: &StatementKey) -> bool {
    !matches!(item, StatementKey::Heading(_))
}

impl Page for MoneyView {
    fn needs(&self) -> Needs {
        Needs {
            spending: true,
            windows: true,
            carried: true,
            ..Needs::default()
        }
    }

    fn arrange(&mut self, scene: &PageScene<'_>) -> Sheet {
        self.refresh(scene);
        let title = title(scene);
        let statement = &scene.indexes.spending;
        if statement.is_empty() && statement.without_tokens == 0 {
            let why = if scene.is_complete() {
                "Nothing is recorded of what was spent: neither tokens nor cost."
            } else {
                "The session is still being read."
            };
            return Sheet::empty(title, why, scene);
        }
        let (charted, footed) = room(scene.height);
        let charted = if statement.total.money.usd().is_some() {
            charted
        } else {
            0
        };
        let (height, foot) = scene.divide(charted + 1, footed);
        self.rows.fit(height);
        self.make_detail(scene, charted);
        let (head, rows) = if self.level == 1 {
            self.rows.write(&FactList(&self.facts), scene)
        } else {
            self.rows.write(&SumList(&self.sums, scene), scene)
        };
        let mut heads = self
            .detail
            .as_ref()
            .map(|detail| detail.chart.clone())
            .unwrap_or_default();
        heads.push(head);
        let mut foot_lines = self
            .detail
            .as_ref()
            .map(|detail| detail.foot.clone())
            .unwrap_or_default();
        truncate(&mut foot_lines, foot, scene);
        // A constant height, so that the rows do not move.
        foot_lines.resize(foot, Line::default());
        Sheet {
            title,
            right: self.tabs(scene),
            heads,
            rows,
            foot: foot_lines,
            ..Sheet::default()
        }
    }

    fn act(&mut self, scene: &PageScene<'_>, action: Action, times: usize) -> Answer {
        let steps = u8::try_from(times).unwrap_or(u8::MAX);
        match action {
            Action::LevelUp => self.set_level(self.level.saturating_add(steps), scene),
            Action::LevelDown => self.set_level(self.level.saturating_sub(steps), scene),
            Action::Level(level) => self.set_level(level, scene),
            Action::Shift(_) | Action::Reverse if self.level == 1 => {
                return Answer::Message("the summary has its own order".to_owned());
            }
            action => return self.rows.act(action, times).unwrap_or(Answer::Pass),
        }
        Answer::Unfolded
    }

    fn choose_focus(&mut self, scene: &PageScene<'_>, focus: Focus) {
        if self.level == 1 || scene.follows {
            return;
        }
        let transcript = scene.transcript;
        let Some(place) = transcript.place_of(focus.entry) else {
            return;
        };
        let lane = transcript
            .get(focus.entry)
            .and_then(|entry| entry.lane.clone());
        let turn = transcript
            .turn_at(place)
            .and_then(|turn| transcript.turns().get(turn));
        let own = match self.grouping() {
            Grouping::Turns if transcript.is_main_lane(lane.as_ref()) => {
                turn.map(|turn| Group::Turn(turn.prompt))
            }
            Grouping::Lanes => Some(Group::Lane(lane)),
            _ => None,
        };
        let statement = &scene.indexes.spending;
        let before = statement
            .charges
            .partition_point(|charge| charge.place <= place)
            .checked_sub(1);
        let nearest = || statement.group_of(before?, self.grouping());
        if let Some(group) = own
            .filter(|group| self.sums.get(group).is_some())
            .or_else(nearest)
        {
            self.rows.choose_key(&StatementKey::Sum(group));
        }
    }

    fn choose(&mut self, number: usize) {
        self.rows.choose(number);
    }

    fn reset(&mut self) {
        *self = Self {
            level: self.level,
            rows: self.rows.emptied(),
            ..Self::default()
        };
    }

    fn legend(&self, theme: &Theme) -> Vec<(&'static str, &'static str)> {
        vec![
            ("~", "estimated by prices"),
            ("+", "at least"),
            ("hit", "prompt from the cache"),
            ("c.", "cache"),
            ("$", "dear"),
            (theme.glyphs().outcome.failed, "failed"),
            (theme.glyphs().outcome.refused, "aborted"),
        ]
    }

    fn hints(&self) -> &'static [Hint] {
        if self.level == 1 {
            HINTS.get(..1).unwrap_or_default()
        } else {
            HINTS
        }
    }

    fn target(&self, scene: &PageScene<'_>) -> Option<Focus> {
        let transcript = scene.transcript;
        let of_turn = |prompt: EntryId| start_of_turn(transcript, transcript.turn_of(prompt)?);
        match self.rows.chosen()? {
            StatementKey::Sum(Group::Turn(prompt)) => of_turn(*prompt),
            StatementKey::Sum(Group::Lane(Some(name))) => {
                start_of_lane(transcript, transcript.lane(name)?)
            }
            StatementKey::Sum(group) => Some(Focus {
                entry: self.sums.get(group)?.first?,
                block: 0,
            }),
            StatementKey::Heading(_) => None,
            StatementKey::Fact(at, _) => {
                let fact = self.facts.get(*at)?;
                match fact.about {
                    ChargeFilter::Turn(prompt) => of_turn(prompt),
                    _ => Some(Focus {
                        entry: fact.target?,
                        block: 0,
                    }),
                }
            }
        }
    }
}

/// Heights of the chart and of the foot.
fn room(height: usize) -> (usize, usize) {
    match height {
        0..16 => (0, 0),
        16..28 => (1, 3),
        28..46 => (2, 5),
        _ => (3, 7),
    }
}

/// Cuts to `most` lines, and marks the cut.
fn truncate(lines: &mut Vec<Line<'static>>, most: usize, scene: &PageScene<'_>) {
    if lines.len() > most && most > 0 {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.spans.push(Span::styled(
                format!(" {}", scene.theme.glyphs().ellipsis),
                scene.theme.dim,
            ));
        }
    }
}

fn title(scene: &PageScene<'_>) -> Vec<Span<'static>> {
    let statement = &scene.indexes.spending;
    let cost = statement.cost.as_ref();
    let cost = cost.and_then(phrases::cost);
    let hit = statement.total.hit_percent();
    let parts = [
        Some(cost.unwrap_or_else(|| "$?".to_owned())),
        Some(figures::count(statement.total.requests, "request")),
        hit.map(|percent| format!("{percent}% cached")),
    ];
    let parts = parts.into_iter().filter(|_| !statement.is_empty());
    let words = phrases::joined(parts, scene.theme.ascii);
    vec![Span::raw("COST"), Span::raw(format!("  {words}"))]
}
