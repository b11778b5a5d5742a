//! The listings of what all sessions did, by group: their calls, and what they wasted.

use std::collections::BTreeMap;

use super::sort::{Order, Sort, Value};
use super::table::{Cell, Column, Listing, cell};
use super::tools::failed;
use super::waste::{WasteRow, estimated};
use crate::analysis::by::By;
use crate::analysis::calls::Outcome;
use crate::analysis::calls::everywhere::{Everywhere, GroupSums, SameFailures};
use crate::analysis::waste::WasteKind;
use crate::model::text::{Name, Text};

/// By number of calls, the most first.
pub(crate) const MOST_CALLS: Sort = Sort {
    by: "calls",
    order: Order::Falling,
};

/// A group with its sums; the total of all groups has no name.
type GroupRow<'a, S> = (Option<&'a Name>, &'a S);

/// The columns of a group's name, beside columns of this width.
fn names<'a, S: 'a>(by: By, width: usize, beside: usize) -> [Column<GroupRow<'a, S>>; 2] {
    let name = move |(name, _): &GroupRow<'a, S>| match name {
        None => "all".to_owned(),
        Some(name) if name.is_empty() => by.none().to_owned(),
        Some(name) => Value::line(name).words(),
    };
    let width = width.saturating_sub(beside).clamp(14, 60);
    [
        Column::data("by", move |_| Value::text(Some(by.word()))),
        Column::words(by.word(), width, u8::MAX)
            .sorted_by("name", |(name, _): &GroupRow<'a, S>| {
                Value::text(name.filter(|name| !name.is_empty()).map(Text::as_str))
            })
            .cell(move |row, look| cell(name(row), look.theme.text)),
    ]
}

/// The calls of all sessions, by group.
pub(crate) struct CallGroups<'a> {
    pub(crate) by: By,
    pub(crate) everywhere: &'a Everywhere,
}

type CallsColumn<'a> = Column<GroupRow<'a, GroupSums>>;

impl<'a> Listing for CallGroups<'a> {
    type Key = Name;
    type Row = GroupRow<'a, GroupSums>;

    fn columns(&self, width: usize) -> Vec<CallsColumn<'a>> {
        let own = [
            CallsColumn::figures("sessions", 8, 6).sorted_by("sessions", |(_, sums)| {
                Value::int(Some(sums.sessions.len()))
            }),
            CallsColumn::figures("calls", 7, 9).sorted_by(MOST_CALLS.by, |(_, sums)| {
                Value::int(Some(sums.sums.count()))
            }),
            CallsColumn::figures("failed", 9, 8)
                .sorted_by("failed", |(_, sums)| {
                    Value::int(Some(sums.sums.ended(Outcome::Failed)))
                })
                .cell(|(_, sums), look| failed(&sums.sums, look)),
            CallsColumn::data("refused", |(_, sums)| {
                Value::int(Some(sums.sums.ended(Outcome::Refused)))
            }),
            CallsColumn::figures("open", 5, 2)
                .sorted_by("open", |(_, sums)| Value::int(Some(sums.sums.open()))),
            CallsColumn::figures("p50", 7, 5).sorted_by("p50_ms", |(_, sums)| {
                Value::ms(sums.sums.durations.spread().map(|spread| spread.p50))
            }),
            CallsColumn::figures("p95", 7, 7).sorted_by("p95_ms", |(_, sums)| {
                Value::ms(sums.sums.durations.spread().map(|spread| spread.p95))
            }),
            CallsColumn::data("max_ms", |(_, sums)| {
                Value::ms(sums.sums.durations.spread().map(|spread| spread.max))
            }),
            CallsColumn::data("time_ms", |(_, sums)| {
                Value::ms(sums.sums.durations.spread().map(|spread| spread.sum))
            }),
            CallsColumn::data("time_is_bound", |(_, sums)| {
                match sums.sums.durations.spread() {
                    Some(spread) => Value::Bool(spread.is_bound),
                    None => Value::None,
                }
            }),
            CallsColumn::figures("late", 7, 3)
                .sorted_by("late_p95_ms", |(_, sums)| Value::ms(sums.late_p95())),
            CallsColumn::figures("never", 6, 4).sorted_by("undelivered", |(_, sums)| {
                Value::int(Some(sums.undelivered))
            }),
            CallsColumn::data("failures", |(_, sums)| {
                Value::Rows(sums.failures().into_iter().map(failures).collect())
            }),
        ];
        names(self.by, width, 66).into_iter().chain(own).collect()
    }

    fn row(&self, group: &Name) -> Option<Self::Row> {
        let (name, sums) = self.everywhere.groups.get_key_value(group)?;
        Some((Some(name), sums))
    }

    fn total(&self) -> Option<Self::Row> {
        Some((None, &self.everywhere.all))
    }
}

fn failures(same: &SameFailures) -> Vec<(&'static str, Value)> {
    let tools = same.tools.iter().map(ToString::to_string);
    vec![
        ("signature", Value::text(Some(same.signature.as_str()))),
        ("tools", Value::Texts(tools.collect())),
        ("count", Value::int(Some(same.count))),
        ("example", Value::text(Some(same.example.as_str()))),
    ]
}

/// A sum of waste.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WasteSum {
    pub(crate) count: usize,
    pub(crate) picos: i128,
    unpriced: usize,
}

/// The sums of a group, by kind.
pub(crate) type KindSums = BTreeMap<WasteKind, WasteSum>;

impl WasteSum {
    pub(crate) fn add(&mut self, row: &WasteRow) {
        self.count += 1;
        self.picos += row.picos.unwrap_or(0);
        self.unpriced += usize::from(row.picos.is_none());
    }

    /// The cost; `None` if nothing of it has a price.
    pub(crate) fn priced(self) -> Option<i128> {
        (self.unpriced < self.count).then_some(self.picos)
    }
}

/// What all sessions wasted, by group.
pub(crate) struct WasteGroups<'a> {
    pub(crate) by: By,
    pub(crate) groups: &'a BTreeMap<Name, KindSums>,
    pub(crate) all: &'a KindSums,
}

type WasteColumn<'a> = Column<GroupRow<'a, KindSums>>;

impl<'a> Listing for WasteGroups<'a> {
    type Key = Name;
    type Row = GroupRow<'a, KindSums>;

    fn columns(&self, width: usize) -> Vec<WasteColumn<'a>> {
        const KIND: usize = 9;
        let of_kind = |(kind, count, usd): (WasteKind, &'static str, &'static str)| {
            let sum = move |kinds: &KindSums| kinds.get(&kind).copied().unwrap_or_default();
            [
                WasteColumn::data(count, move |(_, kinds)| Value::int(Some(sum(kinds).count))),
                WasteColumn::figures(count, KIND, 0)
                    .sorted_by(usd, move |(_, kinds)| Value::usd(sum(kinds).priced()))
                    .cell(move |(_, kinds), look| match kinds.get(&kind) {
                        Some(sum) => cell(estimated(sum.priced()), look.theme.text),
                        None => Cell::new(),
                    }),
            ]
        };
        let kinds = WasteKind::ALL;
        let names = names(self.by, width, kinds.len() * (KIND + Self::GAP));
        names
            .into_iter()
            .chain(kinds.into_iter().flat_map(of_kind))
            .collect()
    }

    fn row(&self, group: &Name) -> Option<Self::Row> {
        let (name, kinds) = self.groups.get_key_value(group)?;
        Some((Some(name), kinds))
    }

    fn total(&self) -> Option<Self::Row> {
        Some((None, self.all))
    }
}
