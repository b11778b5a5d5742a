//! Stands in for databases in a program built without them.

use std::path::Path;
use std::time::Duration;

use super::{Cell, Failure};

const ADVICE: &str = "a SQLite database, which this tv was built without. \
     `opencode export ID > session.json` writes a file that can be opened, and OpenClaw keeps JSONL \
     archives beside its database";

/// A database that cannot be opened.
pub(crate) struct Database;

impl Database {
    /// Fails, and says which feature is missing.
    pub(crate) fn open(_: &Path) -> Result<Self, Failure> {
        Err(Failure::Unreadable(ADVICE.to_owned()))
    }

    /// Fails, and says which feature is missing.
    pub(crate) fn open_patiently(path: &Path, _: Duration) -> Result<Self, Failure> {
        Self::open(path)
    }

    pub(crate) fn anomaly(&self) -> Option<&'static str> {
        None
    }

    pub(crate) fn tables(&self) -> Result<Vec<(String, Vec<String>)>, Failure> {
        Ok(Vec::new())
    }

    pub(crate) fn schema(&self) -> Result<i64, Failure> {
        Ok(0)
    }

    pub(crate) fn each(
        &self,
        _: &str,
        _: &[Cell],
        _: &mut dyn FnMut(Vec<Cell>),
    ) -> Result<(), Failure> {
        Ok(())
    }

    pub(crate) fn value(&self, _: &str, _: &[Cell]) -> Result<Option<Cell>, Failure> {
        Ok(None)
    }

    pub(crate) fn values(
        &self,
        _: &mut dyn Iterator<Item = (&str, Vec<Cell>)>,
    ) -> Result<Vec<Result<Option<Cell>, Failure>>, Failure> {
        Ok(Vec::new())
    }

    pub(crate) fn is_current(&self) -> bool {
        false
    }
}
