//! The inspector: everything about the focused item, in six tabs.
//!
//! Invariant: rows are built for one item, as far as the user has scrolled, and cached until the
//! item, the session or the theme changes. While the cursor moves from item to item, no rows are
//! built.

use ratatui::text::Line;

use super::input::action::Tab;
use super::text::viewport::Focus;
use crate::analysis::calls::lookup::Lookup;
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;

pub mod actions;
mod call;
mod context;
mod facts;
mod inspected;
mod item;
mod locate;
mod page;
mod raw;
mod timing;
mod why;

pub(crate) use locate::ValueLocation;
pub(crate) use page::InspectorRow;
pub use raw::InspectedRecords;

/// State of the inspector.
#[derive(Clone, Debug, Default)]
pub struct Inspector {
    pub tab: Tab,
    /// The rows built so far.
    pub rows: Vec<InspectorRow>,
    /// Whether the item has more rows than were built.
    pub is_cut: bool,
    /// Index of the first visible row.
    pub top: usize,
    /// Index of the cursor's row.
    pub at: usize,
    /// Whether the item is a call.
    pub is_call: bool,
    /// The item that is shown.
    pub(crate) focus: Option<Focus>,
    rows_key: Option<RowsKey>,
    /// Whether the cursor has yet to move to the first value that the item shows, once its record
    /// is read.
    seeks_item: bool,
    /// The item that the text's cursor moved to, and when the inspector will follow.
    moved: Option<(Focus, Timestamp)>,
    records: Option<InspectedRecords>,
    requested: Option<Vec<Origin>>,
}

/// The key of the cached rows: everything that they depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowsKey {
    focus: Focus,
    tab: Tab,
    width: u16,
    limit: usize,
    generation: u64,
    colours: u64,
    look: u32,
    /// The current second while the item runs, else 0.
    second: i64,
}

impl Inspector {
    /// Drops the cached rows.
    pub(crate) fn invalidate_rows(&mut self) {
        self.rows_key = None;
    }

    /// Maps the item to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.moved = self
            .moved
            .and_then(|(focus, due)| Some((lookup.block(focus)?, due)));
        self.focus = self.focus.and_then(|focus| lookup.block(focus));
        self.invalidate_rows();
        if self.focus.is_none() {
            *self = Self {
                tab: self.tab,
                moved: self.moved,
                ..Self::default()
            };
        }
    }

    /// Sets the records that were read.
    pub(crate) fn set_records(&mut self, records: InspectedRecords) {
        self.records = Some(records);
        self.invalidate_rows();
    }

    /// The location in the transcript of the value in the cursor's row.
    pub fn location(&self) -> Option<&ValueLocation> {
        self.rows.get(self.at)?.spot.as_ref()
    }

    /// Time in ms until it follows the text's cursor.
    pub fn ms_until_follow(&self, now: Timestamp) -> Option<u64> {
        self.moved.map(|(_, until)| until.since(now).max(1))
    }
}

/// Moves the cursor to the first value of the records that the item shows, once they are read.
fn seek_item(inspector: &mut Inspector, height: usize) {
    if !inspector.seeks_item || inspector.tab != Tab::Raw || inspector.records.is_none() {
        return;
    }
    inspector.seeks_item = false;
    let is_own = |fact: &InspectorRow| {
        fact.spot
            .as_ref()
            .is_some_and(|spot| Some(spot.focus) == inspector.focus)
    };
    if let Some(first) = inspector.rows.iter().position(is_own) {
        inspector.at = first;
        inspector.top = if first < height {
            0
        } else {
            first - height / 4
        };
    }
}

fn words(line: &Line<'_>) -> String {
    line.to_string().trim().to_owned()
}
