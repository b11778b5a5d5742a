//! Rows of the sums: their label and figures.

use std::collections::HashMap;

use ratatui::style::Style;

use super::StatementKey;
use super::foot::model_name;
use crate::analysis::context::window::carried::Carriage;
use crate::analysis::money::cost::Cost;
use crate::analysis::money::cost::usd;
use crate::analysis::money::spending::amount::Amount;
use crate::analysis::money::spending::statement::{Group, Statement, StatementRow};
use crate::analysis::money::spending::{Charge, For, RequestOutcome};
use crate::analysis::phrases;
use crate::analysis::phrases::title_of;
use crate::app::views::page::PageScene;
use crate::listing::call::{carrying_usd, carrying_words};
use crate::listing::sort::Value;
use crate::listing::table::{Cell, CellLook, Column, Listing, cell};
use crate::model::entry::{BlockKind, EntryId};
use crate::model::text::Text;
use crate::model::transcript::Transcript;
use crate::render::theme::Theme;

/// The sums of a level, by time.
#[derive(Debug, Default)]
pub(super) struct StatementSums {
    pub(super) rows: Vec<StatementRow>,
    numbers: HashMap<Group, usize>,
    /// What the results of a turn's calls cost to carry, in it and later, by its prompt.
    pub(super) carried: HashMap<EntryId, Carriage>,
    /// Cost in pico-dollars from which a row is highlighted.
    highlight_from: i128,
    /// Whether the rows span several days.
    is_dated: bool,
}

impl StatementSums {
    pub(super) fn of(rows: Vec<StatementRow>) -> Self {
        let times = || rows.iter().filter_map(|row| row.at);
        let ends = times().min().zip(times().max());
        let groups = rows.iter().map(|row| row.group.clone());
        Self {
            numbers: groups.zip(0..).collect(),
            carried: HashMap::new(),
            highlight_from: expensive_from(&rows),
            is_dated: ends.is_some_and(|(first, last)| !first.is_same_day(last)),
            rows,
        }
    }

    pub(super) fn get(&self, group: &Group) -> Option<&StatementRow> {
        self.rows.get(*self.numbers.get(group)?)
    }
}

pub(super) struct SumList<'a>(pub(super) &'a StatementSums, pub(super) &'a PageScene<'a>);

pub(super) struct SumRow<'a> {
    row: &'a StatementRow,
    carriage: Option<&'a Carriage>,
    /// Whether it is highlighted as expensive.
    is_expensive: bool,
    /// Whether it is on an abandoned branch.
    is_abandoned: bool,
    is_dated: bool,
    scene: &'a PageScene<'a>,
}

type SumColumn<'a> = Column<SumRow<'a>>;

impl<'a> Listing for SumList<'a> {
    type Key = StatementKey;
    type Row = SumRow<'a>;
    const ORDER: &'static str = "when";

    fn columns(&self, _: usize) -> Vec<SumColumn<'a>> {
        // Over several days the column has dates.
        let when = if self.0.is_dated { 11 } else { 8 };
        let session = self.1.transcript.sessions_width();
        vec![
            SumColumn::words("", session, 9).cell(|sum, look| {
                let session =
                    session_of(sum.row, &sum.scene.indexes.spending, sum.scene.transcript);
                vec![look.theme.session_mark(session)]
            }),
            SumColumn::words("", 1, 9).cell(|sum, look| sum.sign(look.theme)),
            SumColumn::words("when", when, 5)
                .sorted_by(Self::ORDER, |sum| Value::time(sum.row.at))
                .cell(|sum, look| {
                    let words = sum.row.at.map(|at| at.clock_or_dated(sum.is_dated));
                    cell(words.unwrap_or_default(), look.theme.dim)
                }),
            SumColumn::rest("what", 19)
                .value(|sum| {
                    let scene = sum.scene;
                    let words = label(&sum.row.group, &scene.indexes.spending, scene.transcript);
                    Value::text(Some(words))
                })
                .style(|sum, look| look.focus_or(plain(sum, look))),
            SumColumn::figures("req", 4, 3)
                .sorted_by("requests", |sum| Value::int(Some(sum.row.amount.requests)))
                .dim(),
            SumColumn::figures("input", 6, 5)
                .sorted_by("input", |sum| Value::tokens(sum.row.amount.input.value()))
                .style(plain),
            SumColumn::figures("c.read", 7, 7)
                .sorted_by("cache_read", |sum| {
                    Value::tokens(sum.row.amount.cache_read.value())
                })
                .style(plain),
            SumColumn::figures("c.write", 7, 6)
                .sorted_by("cache_write", |sum| {
                    Value::tokens(sum.row.amount.cache_write.value())
                })
                .style(plain),
            SumColumn::figures("output", 7, 8)
                .sorted_by("output", |sum| Value::tokens(sum.row.amount.output.value()))
                .style(plain),
            SumColumn::figures("hit", 4, 6)
                .sorted_by("hit_percent", |sum| {
                    Value::percent(sum.row.amount.hit_percent())
                })
                .dim(),
            SumColumn::figures("cost", 9, 9)
                .sorted_by("cost", |sum| {
                    let cost = sum.row.amount.money.picos();
                    Value::text(Some(row_words(sum.row))).ranked(cost)
                })
                .style(|sum, look| {
                    if sum.is_expensive {
                        look.theme.warn
                    } else {
                        plain(sum, look)
                    }
                }),
            SumColumn::figures("carried", if self.0.carried.is_empty() { 0 } else { 8 }, 2)
                .sorted_by("carried_usd", |sum| carrying_usd(sum.carriage))
                .cell(|sum, look| cell(carrying_words(sum.carriage), look.theme.dim)),
            SumColumn::figures("share", 6, 3)
                .value(|sum| {
                    let all = &sum.scene.indexes.spending.total.money;
                    let words = percent_of(sum.row.amount.money.picos(), all.picos());
                    Value::text(Some(words))
                })
                .dim(),
            SumColumn::figures("so far", 9, 2)
                .value(|sum| {
                    Value::text(Some(cumulative_words(sum.row, &sum.scene.indexes.spending)))
                })
                .dim(),
        ]
    }

    fn row(&self, item: &StatementKey) -> Option<SumRow<'a>> {
        let StatementKey::Sum(group) = item else {
            return None;
        };
        let Self(sums, scene) = *self;
        let row = sums.get(group)?;
        let statement = &scene.indexes.spending;
        let is_left = match row.group {
            Group::Charge(number) => statement.branch_of(number).is_some(),
            _ => is_abandoned(row, scene.transcript),
        };
        let carriage = match &row.group {
            Group::Turn(prompt) => sums.carried.get(prompt),
            _ => None,
        };
        Some(SumRow {
            row,
            carriage,
            is_expensive: row.amount.money.picos() >= sums.highlight_from,
            is_abandoned: is_left,
            is_dated: sums.is_dated,
            scene,
        })
    }
}

fn plain(sum: &SumRow<'_>, look: &CellLook<'_>) -> Style {
    if sum.is_abandoned {
        look.theme.dim
    } else {
        look.theme.text
    }
}

impl SumRow<'_> {
    /// The sign of a request's fate or of an expensive row.
    fn sign(&self, theme: &Theme) -> Cell {
        let glyphs = theme.glyphs();
        let charge = match self.row.group {
            Group::Charge(number) => self.scene.indexes.spending.charges.get(number),
            _ => None,
        };
        let (sign, style) = match charge.map(|charge| charge.fate) {
            Some(RequestOutcome::Failed) => (glyphs.outcome.failed, theme.bad),
            Some(RequestOutcome::Aborted) => (glyphs.outcome.refused, theme.warn),
            _ if self.is_expensive => ("$", theme.warn),
            _ => ("", theme.dim),
        };
        cell(sign, style)
    }
}

/// The label of usage that agents record for whole runs.
const BEYOND: &str = "the whole run, beyond its requests";

/// The cost from which rows are highlighted: those with twice the average, and always the most
/// expensive one. With two rows or fewer, none is.
pub(crate) fn expensive_from(rows: &[StatementRow]) -> i128 {
    let costs: Vec<i128> = rows
        .iter()
        .map(|row| row.amount.money.picos())
        .filter(|picos| *picos > 0)
        .collect();
    let Some(most) = costs.iter().max().filter(|_| costs.len() > 2) else {
        return i128::MAX;
    };
    let mean = costs.iter().sum::<i128>() / i128::try_from(costs.len()).unwrap_or(1);
    (mean * 2).min(*most)
}

/// Formats an amount as `$1.84`, `~$0.02` or `$?`; empty without usage.
pub(crate) fn amount_words(amount: &Amount) -> String {
    cost_words(&amount.money.cost(), amount)
}

/// The cost of a row, formatted as [`amount_words`] does.
pub(crate) fn row_words(row: &StatementRow) -> String {
    cost_words(&row.cost(), &row.amount)
}

fn cost_words(cost: &Cost, amount: &Amount) -> String {
    match phrases::cost(cost) {
        Some(words) => words,
        None if amount.money.unpriced > 0 => "$?".to_owned(),
        None => String::new(),
    }
}

/// A share in percent; empty if there is none.
pub(crate) fn percent_of(picos: i128, all: i128) -> String {
    if all <= 0 || picos <= 0 {
        return String::new();
    }
    match picos.saturating_mul(1_000) / all {
        0 => "<.1%".to_owned(),
        tenths @ 1..100 => format!("{}.{}%", tenths / 10, tenths % 10),
        tenths => format!("{}%", tenths / 10),
    }
}

/// The number of a turn, from 1.
pub(crate) fn turn_number(prompt: EntryId, transcript: &Transcript) -> usize {
    transcript.turn_of(prompt).map_or(0, |turn| turn + 1)
}

/// The title of a prompt.
pub(crate) fn prompt_words(prompt: EntryId, transcript: &Transcript) -> String {
    transcript
        .get(prompt)
        .map(|entry| title_of(entry).to_string())
        .unwrap_or_default()
}

/// Whether the row is a turn on an abandoned branch.
pub(crate) fn is_abandoned(row: &StatementRow, transcript: &Transcript) -> bool {
    matches!(row.group, Group::Turn(prompt) if transcript.branches().abandoned.contains(&prompt))
}

pub(crate) fn label(group: &Group, statement: &Statement, transcript: &Transcript) -> String {
    match group {
        Group::Model(name) => model_name(name),
        Group::Lane(None) => "main".to_owned(),
        Group::Lane(Some(name)) => transcript
            .lane(name)
            .map_or_else(|| name.to_string(), |lane| lane.label.to_string()),
        Group::Turn(prompt) => {
            format!(
                "{:>2} {}",
                turn_number(*prompt, transcript),
                prompt_words(*prompt, transcript)
            )
        }
        Group::Outside => "outside the turns".to_owned(),
        Group::Run => BEYOND.to_owned(),
        Group::Charge(number) => statement
            .charges
            .get(*number)
            .map(|charge| request(charge, transcript))
            .unwrap_or_default(),
    }
}

/// The joined session of a group; `None` if it is not of one.
fn session_of(row: &StatementRow, statement: &Statement, transcript: &Transcript) -> Option<usize> {
    let session = match &row.group {
        Group::Lane(lane) => transcript.session_of_lane(lane.as_ref()?),
        Group::Turn(prompt) => transcript.session_of(*prompt),
        Group::Charge(number) => {
            let charge = statement.charges.get(*number)?;
            let of_lane = charge.lane.as_ref();
            let of_lane = of_lane.and_then(|lane| transcript.session_of_lane(lane));
            of_lane.or_else(|| transcript.session_of(charge.entry?))
        }
        Group::Model(_) | Group::Outside | Group::Run => None,
    };
    session.map(|(number, _)| number)
}

/// The label of a request: its first call, else its text.
fn request(charge: &Charge, transcript: &Transcript) -> String {
    let entry = charge
        .entry
        .filter(|_| charge.is_own)
        .and_then(|id| transcript.get(id));
    let lane = charge.lane.as_ref().and_then(|name| transcript.lane(name));
    let mut words = lane
        .map(|lane| format!("{}: ", lane.label))
        .unwrap_or_default();
    // The session's usual model is not repeated.
    if !charge.model.is_empty() && transcript.meta().model.as_ref() != Some(&charge.model) {
        words.push_str(&format!("{} ", charge.model));
    }
    if charge.what == For::Run {
        words.push_str(BEYOND);
        return words;
    }
    let Some(entry) = entry else {
        words.push_str("besides the requests");
        return words;
    };
    let root = charge.entry.and_then(|id| transcript.root_of(id));
    let root = root.map(Text::as_str);
    let call = entry
        .calls()
        .next()
        .map(|call| format!("{} {}", call.shown_name(), call.about(root)));
    let more = entry.calls().count().saturating_sub(1);
    let text = || match entry.blocks.first().map(|block| &block.kind) {
        _ if entry.has(|kind| matches!(kind, BlockKind::Text(_))) => title_of(entry).to_string(),
        Some(BlockKind::Break(what)) => what.words().to_string(),
        Some(BlockKind::Thinking(_)) => "(thinking)".to_owned(),
        _ => "(nothing)".to_owned(),
    };
    words.push_str(&call.unwrap_or_else(text));
    if more > 0 {
        words.push_str(&format!(" +{more}"));
    }
    words
}

/// The cumulative cost up to a row; empty if no price is known.
pub(crate) fn cumulative_words(row: &StatementRow, statement: &Statement) -> String {
    let is_known = statement.total.money.usd().is_some();
    if is_known {
        phrases::usd(usd(row.cumulative))
    } else {
        String::new()
    }
}
