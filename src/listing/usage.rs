//! The listing of usage: a row per group, and the total.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use itertools::Itertools as _;

use super::sort::{Order, Sort, Value};
use super::table::{Cell, CellLook, Column, Listing, cell};
use crate::analysis::by::By;
use crate::analysis::ledger::{UsageGroup, UsageSum};
use crate::analysis::phrases;
use crate::model::figures::{self, exact};
use crate::model::found::FoundSession;
use crate::model::timestamp;
use crate::render::wrap;

/// Rows by group. A group that is a single session has the session that the row leads to.
pub(crate) type UsageRows = BTreeMap<UsageGroup, (UsageSum, Option<FoundSession>)>;

/// Maximum width of names.
const LONGEST: usize = 80;

pub(crate) struct UsageList<'a> {
    pub(crate) by: &'a [By],
    pub(crate) rows: &'a UsageRows,
    pub(crate) total: &'a UsageSum,
    /// The short names of folders and models, by the whole ones.
    pub(crate) short: &'a HashMap<String, String>,
}

pub(crate) struct UsageRow<'a> {
    row: &'a UsageSum,
    /// The first grouping if this is the total, else `None`.
    total: Option<By>,
    short: &'a HashMap<String, String>,
}

type UsageColumn<'a> = Column<UsageRow<'a>>;

impl By {
    /// The initial order: periods with the latest first, other groups by cost.
    pub(crate) fn order(self) -> Sort {
        Sort {
            by: if self.is_period() { "period" } else { "cost" },
            order: Order::Falling,
        }
    }
}

impl<'a> Listing for UsageList<'a> {
    type Key = UsageGroup;
    type Row = UsageRow<'a>;
    const GAP: usize = 2;
    const SHRINKS: bool = true;

    fn columns(&self, _: usize) -> Vec<UsageColumn<'a>> {
        let mut columns: Vec<UsageColumn<'a>> = self.by.iter().flat_map(|by| names(*by)).collect();
        columns.push(
            UsageColumn::figures("cost", 12, 20)
                .sorted_by("cost", |sum| Value::int(Some(sum.row.amount.money.picos())))
                .cell(|sum, look| {
                    let cost = phrases::cost(&sum.row.cost()).unwrap_or_else(|| "$?".to_owned());
                    cell(cost, look.focus_or(look.theme.text))
                }),
        );
        // A row per session always has one session.
        if !self.by.contains(&By::Session) {
            columns.push(
                UsageColumn::figures("sessions", 9, 4)
                    .sorted_by("sessions", |sum| Value::int(Some(sum.row.sessions())))
                    .cell(|sum, look| cell(exact(sum.row.sessions() as u64), look.theme.dim)),
            );
        }
        columns.extend([
            UsageColumn::figures("requests", 11, 6)
                .sorted_by("requests", |sum| Value::int(Some(sum.row.amount.requests)))
                .cell(|sum, look| cell(exact(sum.row.amount.requests), look.theme.dim)),
            UsageColumn::figures("failed", 9, 7)
                .sorted_by("failed", |sum| Value::int(Some(sum.row.failed)))
                .cell(|sum, look| match sum.row.failed {
                    0 => Cell::new(),
                    failed => cell(exact(failed), look.theme.bad),
                }),
            tokens("output", 8, |sum| {
                Value::int(Some(sum.row.amount.output.total))
            })
            .cell(|sum, look| {
                let more = if sum.row.amount.partial > 0 { "+" } else { "" };
                let output = sum.row.amount.output.value();
                cell(format!("{}{more}", count(output)), look.theme.dim)
            }),
            tokens("input", 5, |sum| {
                Value::int(Some(sum.row.amount.input.total))
            })
            .cell(|sum, look| cell(count(sum.row.amount.input.value()), look.theme.dim)),
            tokens("cache read", 3, |sum| {
                Value::int(Some(sum.row.amount.cache_read.total))
            })
            .cell(|sum, look| cell(count(sum.row.amount.cache_read.value()), look.theme.dim)),
            tokens("cache write", 2, |sum| {
                Value::int(Some(sum.row.amount.cache_write.total))
            })
            .cell(|sum, look| cell(count(sum.row.amount.cache_write.value()), look.theme.dim)),
        ]);
        columns
    }

    fn row(&self, group: &UsageGroup) -> Option<UsageRow<'a>> {
        let (row, _) = self.rows.get(group)?;
        Some(UsageRow {
            row,
            total: None,
            short: self.short,
        })
    }

    fn total(&self) -> Option<UsageRow<'a>> {
        Some(UsageRow {
            row: self.total,
            total: self.by.first().copied(),
            short: self.short,
        })
    }
}

fn tokens<'a>(
    title: &'static str,
    keep: u8,
    of: impl Fn(&UsageRow<'a>) -> Value + 'static,
) -> UsageColumn<'a> {
    UsageColumn::figures(title, 11, keep).sorted_by(title, of)
}

/// The columns that name a row's group.
fn names<'a>(by: By) -> Vec<UsageColumn<'a>> {
    let column = match by {
        By::Day | By::Week | By::Month => {
            let width = if by == By::Week { 27 } else { 10 };
            UsageColumn::words(by.word(), width, 19)
                .sorted_by("period", |sum| Value::text(sum.row.group.period.as_deref()))
                .turned()
        }
        By::Agent => UsageColumn::words("agent", 18, 18)
            .sorted_by("agent", |sum| Value::text(sum.row.group.agent)),
        By::Model => UsageColumn::words("model", 26, 17)
            .sorted_by("model", |sum| Value::text(sum.row.group.model.as_deref())),
        By::Project => UsageColumn::between("project", 16, LONGEST, 18)
            .sorted_by("project", |sum| {
                Value::text(sum.row.group.project.as_deref())
            }),
        By::SubAgent | By::Skill | By::Branch | By::Mcp | By::Tool => {
            UsageColumn::between(by.word(), 10, LONGEST, 17).sorted_by(by.word(), move |sum| {
                Value::text(sum.row.group.attributed(by))
            })
        }
        By::Session => UsageColumn::between("title", 16, LONGEST, 18).sorted_by("title", |sum| {
            Value::text(Some(sum.row.group.title().to_lowercase()))
        }),
    };
    let id = (by == By::Session).then(|| {
        UsageColumn::words("session", 13, 18).cell(|sum, look| {
            let id = sum.row.group.session.as_ref().map(|(id, _)| id.to_string());
            let total = (sum.total == Some(By::Session)).then(|| "total".to_owned());
            cell(id.or(total).unwrap_or_default(), look.theme.dim)
        })
    });
    let column = column.cell(move |sum, look| name(sum, by, look));
    id.into_iter().chain([column]).collect()
}

/// The name of a row's group. A folder that does not fit is shown as its distinguishing end.
fn name(sum: &UsageRow<'_>, by: By, look: &CellLook<'_>) -> Cell {
    let group = &sum.row.group;
    let words = match (sum.total, by) {
        (Some(first), _) if first == by && by != By::Session => "total".to_owned(),
        (Some(_), _) => String::new(),
        (None, By::Session) => group.title(),
        (None, By::Week) => match &group.period {
            Some(week) => timestamp::week_and_days(week),
            None => group.name(by),
        },
        (None, By::Project) => {
            let name = group.name(by);
            let cut = look.theme.glyphs().cut;
            match sum.short.get(&name) {
                _ if wrap::width(&name) <= look.width => name,
                Some(end) => wrap::fit_end(&format!("{cut}/{end}"), look.width, cut),
                None => wrap::fit_path(&name, look.width, cut),
            }
        }
        (None, By::Model) => {
            let name = group.name(by);
            sum.short.get(&name).cloned().unwrap_or(name)
        }
        (None, _) => group.name(by),
    };
    cell(words, look.focus_or(look.theme.text))
}

/// A number of tokens. It may be negative, because a run may count less than its requests; with the
/// sign, rows add up.
fn count(tokens: Option<i64>) -> String {
    let Some(tokens) = tokens else {
        return "?".to_owned();
    };
    let sign = if tokens < 0 { "-" } else { "" };
    format!("{sign}{}", figures::tokens(tokens.unsigned_abs()))
}

/// The names of models as other lists show them, without those that several models would have.
pub(crate) fn models<'m>(all: impl Iterator<Item = &'m str>) -> HashMap<String, String> {
    let all: BTreeSet<&str> = all.collect();
    let mut counts: HashMap<String, usize> = HashMap::new();
    for name in &all {
        *counts.entry(phrases::model(name)).or_default() += 1;
    }
    let short = all
        .into_iter()
        .map(|name| (name.to_owned(), phrases::model(name)));
    short
        .filter(|(_, short)| counts.get(short) == Some(&1))
        .collect()
}

/// The shortest distinguishing end of each folder's path, without those that have none.
pub(crate) fn distinguishing_ends<'p>(
    paths: impl Iterator<Item = &'p str>,
) -> HashMap<String, String> {
    let paths: Vec<Vec<&str>> = paths.map(|path| path.rsplit('/').collect()).collect();
    let mut counts: HashMap<&[&str], usize> = HashMap::new();
    for path in &paths {
        for length in 1..path.len() {
            *counts
                .entry(path.get(..length).unwrap_or_default())
                .or_default() += 1;
        }
    }
    let whole = |parts: &[&str]| parts.iter().rev().copied().join("/");
    let mut ends = HashMap::new();
    for path in &paths {
        let mut heads = (1..path.len()).filter_map(|length| path.get(..length));
        if let Some(end) = heads.find(|end| counts.get(end) == Some(&1)) {
            ends.insert(whole(path), whole(end));
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::{distinguishing_ends, models};

    #[test]
    fn models_have_short_names_that_tell_them_apart() {
        let names = ["claude-opus-4-5-20251101", "glm-5-20260101", "z/glm-5"];
        let short = models(names.into_iter());
        let short = names.map(|name| short.get(name).map(String::as_str));
        assert_eq!(short, [Some("opus-4-5"), None, None]);
    }

    #[test]
    fn folders_of_one_name_are_told_apart_by_what_differs() {
        let ends = distinguishing_ends(
            ["/home/me/devenv/cli", "/home/me/entireio/cli", "~/tv"].into_iter(),
        );
        let end = |path: &str| ends.get(path).map(String::as_str);
        assert_eq!(end("/home/me/devenv/cli"), Some("devenv/cli"));
        assert_eq!(end("/home/me/entireio/cli"), Some("entireio/cli"));
        assert_eq!(end("~/tv"), Some("tv"));
    }
}
