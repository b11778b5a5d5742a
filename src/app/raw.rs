//! Records as they were written, in a pop-up with a cursor: what is shown can be copied, and where the value
//! under the cursor stands.

pub mod actions;

use std::sync::Arc;

use crate::render::manual::Page;
use crate::render::row::Row;

/// Records in a pop-up.
#[derive(Clone, Debug, Default)]
pub struct RawView {
    /// What they are.
    pub title: String,
    /// Their rows.
    pub rows: Vec<Row>,
    /// First row shown.
    pub top: usize,
    /// The row of the cursor.
    pub at: usize,
    /// Where the value of each row stands in its record, as jq names it; nothing for titles.
    paths: Vec<Option<Arc<str>>>,
    /// The records, as JSON; or the text of a list.
    texts: Vec<String>,
    /// Whether it is a list for reading: one key copies it.
    pub is_list: bool,
    /// The page of the manual that it is.
    pub page: Option<&'static Page>,
}

impl RawView {
    /// A list for reading, which is copied as this text.
    pub(crate) fn of_text(title: String, rows: Vec<Row>, text: String) -> Self {
        let paths = vec![None; rows.len()];
        Self { title, rows, paths, texts: vec![text], is_list: true, ..Self::default() }
    }

    fn push(&mut self, row: Row, path: Option<Arc<str>>) {
        self.rows.push(row);
        self.paths.push(path);
    }

    /// Moves the cursor, and the window of so many rows with it; by pages both move.
    pub fn scroll(&mut self, by: isize, height: usize) {
        let last = self.rows.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
        if by.unsigned_abs() > 1 {
            self.top = self.top.saturating_add_signed(by);
        }
        let most = self.rows.len().saturating_sub(height);
        self.top = self.top.min(self.at).max((self.at + 1).saturating_sub(height)).min(most);
    }
}
