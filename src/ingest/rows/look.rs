//! A scan of the rows of a session: its parameters, its result, and the work that it queues.

use crate::formats::tables::Queries;
use crate::source::rows::{Database, SqlValue};

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
