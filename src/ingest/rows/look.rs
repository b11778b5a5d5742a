//! A scan of the rows of a session: its parameters, its result, and the work that it queues.

use std::cmp::Ordering;

use super::known::{KnownRows, hash_of_id};
use crate::formats::tables::Queries;
use crate::source::rows::{Database, DatabaseFailure, SqlValue};

/// Limit of rows that one query reads.
pub(crate) const AT_ONCE: usize = 64;

#[derive(Clone, Copy)]
pub(crate) struct ScanParameters<'a> {
    /// Number of the session.
    pub(crate) number: usize,
    /// Id of the session.
    pub(crate) id: &'a str,
    pub(crate) database: &'a Database,
    /// How the rows are read.
    pub(crate) queries: &'a Queries,
    /// Whether the database was written to since the last scan.
    pub(crate) is_touched: bool,
    /// Whether nothing writes to it, so that contents can be compared.
    pub(crate) is_settling: bool,
}

impl ScanParameters<'_> {
    /// Rows of the session that a query lists.
    pub(crate) fn list<const N: usize>(
        &self,
        sql: &str,
        asked: [SqlValue; N],
    ) -> Result<Vec<ListedRow>, DatabaseFailure> {
        listed(self.database, self.id, sql, asked)
    }

    /// Id of the session as a query parameter.
    pub(crate) fn key(&self) -> SqlValue {
        SqlValue::from(self.id)
    }
}

pub(crate) enum ScanResult {
    More(Vec<ReadStep>),
    /// Everything must be read again, for this reason.
    Restart(&'static str),
}

#[derive(Debug)]
pub(crate) enum ReadStep {
    /// Scan for changes.
    Look,
    /// Read further rows of the session with this number.
    Portion(usize),
    /// Emit a row that was read already, or its error.
    Have {
        session: usize,
        table: usize,
        at: i64,
        content: Result<Vec<u8>, String>,
    },
    /// Read a row that is new or was edited.
    Row {
        session: usize,
        table: usize,
        at: i64,
    },
    /// Read a session stored in one value.
    Archive(usize),
    /// Query which sessions this one started.
    Children(usize),
}

/// A row that a query listed.
pub(crate) struct ListedRow {
    pub(crate) table: usize,
    pub(crate) at: i64,
    /// Time of its last change, and its bytes.
    pub(crate) change: (i64, i64),
    /// Hash of the record's id, to detect another row with the same row id.
    pub(crate) id: u32,
    /// Time and id of its message.
    pub(crate) order: (SqlValue, SqlValue),
    /// The row itself, where the list includes it.
    pub(crate) record: Option<SqlValue>,
}

impl ListedRow {
    fn of(mut cells: Vec<SqlValue>) -> Option<Self> {
        let record = cells
            .get_mut(7)
            .map(|cell| std::mem::replace(cell, SqlValue::Null));
        let int = |place: usize| cells.get(place).and_then(SqlValue::int);
        let cell = |place: usize| cells.get(place).cloned().unwrap_or(SqlValue::Null);
        Some(Self {
            table: usize::try_from(int(0)?).ok()?,
            at: int(1)?,
            change: (int(2).unwrap_or(0), int(3).unwrap_or(0)),
            id: hash_of_id(&cell(6).content()),
            order: (cell(4), cell(5)),
            record,
        })
    }

    pub(crate) fn place(&self) -> (usize, i64) {
        (self.table, self.at)
    }

    /// Marks the row as listed. Returns whether it is unchanged since it was read.
    pub(crate) fn mark_listed(&self, known: &mut KnownRows) -> bool {
        known.mark_listed(self.table, self.at, self.change, self.id)
    }

    /// Compares by message.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        self.order
            .0
            .order(&other.order.0)
            .then_with(|| self.order.1.order(&other.order.1))
    }

    pub(crate) fn into_step(self, session: usize) -> ReadStep {
        let Self {
            table, at, record, ..
        } = self;
        match record {
            Some(cell) => ReadStep::Have {
                session,
                table,
                at,
                content: Ok(cell.content()),
            },
            None => ReadStep::Row { session, table, at },
        }
    }
}

/// Rows of a session that a query lists.
pub(crate) fn listed<const N: usize>(
    database: &Database,
    session: &str,
    sql: &str,
    asked: [SqlValue; N],
) -> Result<Vec<ListedRow>, DatabaseFailure> {
    let mut rows = Vec::new();
    let session = SqlValue::from(session);
    let parameters: Vec<SqlValue> = std::iter::once(session).chain(asked).collect();
    database.each(sql, &parameters, &mut |cells| {
        rows.extend(ListedRow::of(cells));
    })?;
    Ok(rows)
}
