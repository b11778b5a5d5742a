//! All about the focused item: its rows under one of six tabs, and what the keys do there.
//!
//! Invariant: rows are made for one item and for as far as the reader has scrolled, and are kept until
//! the item, the session or the look changes. While the reader moves from item to item, nothing is made.

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
mod item;
mod page;
mod raw;
mod subject;
mod timing;
mod why;
mod xray;

pub(crate) use page::Fact;
pub use raw::Records;
pub(crate) use xray::Spot;

/// What the inspector shows.
#[derive(Clone, Debug, Default)]
pub struct Inspector {
    /// The tab.
    pub tab: Tab,
    /// The rows that were made.
    pub rows: Vec<Fact>,
    /// Whether more rows would come.
    pub is_cut: bool,
    /// First row in sight.
    pub top: usize,
    /// The row that the keys are on.
    pub at: usize,
    /// Whether what is shown is a call.
    pub is_call: bool,
    focus: Option<Focus>,
    made: Option<Made>,
    /// Whether the row of the keys is still to go to what the focused item shows of its records.
    seeks_item: bool,
    /// What the cursor moved to, and when it will have rested.
    moved: Option<(Focus, Timestamp)>,
    records: Option<Records>,
    asked: Option<Vec<Origin>>,
}

/// What rows were made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    focus: Focus,
    tab: Tab,
    width: u16,
    limit: usize,
    generation: u64,
    colours: u64,
    look: u32,
    /// The second, while the item is running.
    second: i64,
}

impl Inspector {
    /// The look has changed.
    pub(crate) fn forget_rows(&mut self) {
        self.made = None;
    }

    /// The same item in another transcript of the session.
    pub(crate) fn look_up(&mut self, lookup: &Lookup<'_>) {
        self.moved = self
            .moved
            .and_then(|(focus, due)| Some((lookup.block(focus)?, due)));
        self.focus = self.focus.and_then(|focus| lookup.block(focus));
        self.forget_rows();
        if self.focus.is_none() {
            *self = Self {
                tab: self.tab,
                moved: self.moved,
                ..Self::default()
            };
        }
    }

    /// Takes records that were asked for.
    pub(crate) fn take(&mut self, records: Records) {
        self.records = Some(records);
        self.forget_rows();
    }

    /// The item that is shown.
    pub fn shown(&self) -> Option<Focus> {
        self.focus
    }

    /// Where the transcript shows what the keys are on.
    pub fn spot(&self) -> Option<&Spot> {
        self.rows.get(self.at)?.spot.as_ref()
    }

    /// In how many ms it will follow the cursor, if that rests.
    pub fn rests_for(&self, now: Timestamp) -> Option<u64> {
        self.moved.map(|(_, until)| until.since(now).max(1))
    }
}

/// Goes to the first row of the records that the item shows, once they are there.
fn seek_item(inspector: &mut Inspector, height: usize) {
    if !inspector.seeks_item || inspector.tab != Tab::Raw || inspector.records.is_none() {
        return;
    }
    inspector.seeks_item = false;
    let is_own = |fact: &Fact| {
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
