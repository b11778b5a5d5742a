//! A look at the rows of a session: what it is taken with, what it finds, and what is to be read then.

use crate::formats::tables::Queries;
use crate::source::rows::{Cell, Database};

/// Rows that are read at once.
pub(crate) const AT_ONCE: usize = 64;

/// What a look is taken with.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    /// The session's number.
    pub(crate) number: usize,
    /// The session's id.
    pub(crate) id: &'a str,
    /// Where its rows lie.
    pub(crate) database: &'a Database,
    /// How they are read.
    pub(crate) queries: &'a Queries,
    /// The database was written to since the last look.
    pub(crate) is_touched: bool,
    /// Nobody writes to it, so contents can be compared.
    pub(crate) is_settling: bool,
}

impl Look<'_> {
    /// The session's id, as a parameter.
    pub(crate) fn key(&self) -> Cell {
        Cell::from(self.id)
    }
}

/// What a look finds.
pub(crate) enum News {
    /// Rows to be read.
    More(Vec<Todo>),
    /// All must be read again; says why.
    Anew(&'static str),
}

/// What is to be read.
#[derive(Debug)]
pub(crate) enum Todo {
    /// Ask what there is.
    Look,
    /// Further rows of the session with this number.
    Portion(usize),
    /// A row that was read already, or why it cannot be.
    Have {
        session: usize,
        table: usize,
        at: i64,
        content: Result<Vec<u8>, String>,
    },
    /// A row that is new or was edited.
    Row {
        session: usize,
        table: usize,
        at: i64,
    },
    /// A whole session in one value.
    Archive(usize),
    /// Ask which sessions this one started.
    Children(usize),
}
