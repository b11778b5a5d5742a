//! The listing of what was paid for and came to nothing.

use super::sort::{Order, Sort, Value};
use super::table::{Column, Listing, cell};
use crate::analysis::money::cost::usd;
use crate::analysis::phrases;
use crate::analysis::waste::WasteKind;
use crate::model::text::{Name, Text};
use crate::model::timestamp::Timestamp;

/// By cost, the highest first.
pub(crate) const DEAREST: Sort = Sort {
    by: "usd",
    order: Order::Falling,
};

/// Waste with its place.
#[derive(Clone, Debug)]
pub(crate) struct WasteRow {
    pub(crate) kind: WasteKind,
    pub(crate) picos: Option<i128>,
    pub(crate) what: String,
    pub(crate) at: Option<Timestamp>,
    pub(crate) model: Option<Name>,
    pub(crate) tool: Option<Name>,
    /// The path of the session, its id, and the key of the entry.
    pub(crate) path: String,
    pub(crate) session: Option<String>,
    pub(crate) key: Text,
    /// The argument that opens it.
    pub(crate) address: String,
}

/// All of it, by number.
pub(crate) struct WasteList<'a>(pub(crate) &'a [WasteRow]);

type WasteColumn<'a> = Column<&'a WasteRow>;

impl<'a> Listing for WasteList<'a> {
    type Key = usize;
    type Row = &'a WasteRow;
    const GAP: usize = 2;

    fn columns(&self, _: usize) -> Vec<WasteColumn<'a>> {
        vec![
            WasteColumn::data("path", |row| Value::text(Some(row.path.as_str()))),
            WasteColumn::data("session", |row| Value::text(row.session.as_deref())),
            WasteColumn::data("key", |row| Value::text(Some(row.key.as_str()))),
            WasteColumn::figures("cost", 9, 20)
                .sorted_by(DEAREST.by, |row| Value::usd(row.picos))
                .cell(|row, look| cell(estimated(row.picos), look.theme.text)),
            WasteColumn::words("kind", 9, 19)
                .sorted_by("kind", |row| Value::text(Some(row.kind.word()))),
            WasteColumn::data("tool", |row| Value::text(row.tool.as_deref())),
            WasteColumn::data("model", |row| Value::text(row.model.as_deref())),
            WasteColumn::data("at", |row| Value::time(row.at)),
            WasteColumn::rest("what", 20).sorted_by("what", |row| Value::line(&row.what)),
        ]
    }

    fn row(&self, number: &usize) -> Option<&'a WasteRow> {
        self.0.get(*number)
    }
}

/// `~$0.34`: sizes are only estimates of tokens, and extra cost is by list prices.
pub(crate) fn estimated(picos: Option<i128>) -> String {
    picos.map_or_else(
        || "$?".to_owned(),
        |picos| format!("~{}", phrases::usd(usd(picos))),
    )
}
