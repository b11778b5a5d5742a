//! The views: pages that lie over the transcript and show the session in another order.
//!
//! The reader has one place. A page's cursor is the focused item of the transcript, which stays arranged
//! behind it: moving in either moves the other, so the inspector and whatever else follows the focused item
//! follows a page, too.
//!
//! Invariant: a page is brought up to date only while it is open, and writes out only what its window shows.

pub mod actions;
pub mod checks;
pub mod context;
pub(crate) mod files;
pub(crate) mod list;
pub mod money;
pub mod page;
pub mod table;
pub mod timeline;
pub mod tools;
pub mod tree;

use crate::app::action::View;
use std::collections::HashSet;

use super::viewport::Focus;
use crate::model::text::Name;
use page::{Hint, Page, Sheet};

/// The pages, and which of them is open.
#[derive(Debug, Default)]
pub struct Views {
    /// Open pages; the last one is seen.
    stack: Vec<View>,
    /// What the window shows of it.
    pub sheet: Sheet,
    /// The item that page and transcript agreed on.
    told: Option<Focus>,
    /// Whether the page has moved the reader, and the transcript follows.
    leads: bool,
    /// Sub-agents whose entries were shown when the first page was opened.
    lanes: Option<HashSet<Name>>,
    hints: &'static [Hint],
    timeline: timeline::Lanes,
    money: money::Money,
    context: context::Context,
    checks: checks::Checks,
    tools: tools::Tools,
    tree: tree::Tree,
    files: files::Files,
}

impl Views {
    /// The page that is seen.
    pub fn open(&self) -> Option<View> {
        self.stack.last().copied()
    }

    /// Forgets the session, but not which pages are open and how the reader wants them.
    pub fn clear(&mut self) {
        self.sheet = Sheet::default();
        self.told = None;
        for view in View::ALL {
            if let Some(page) = self.page(view) {
                page.forget();
            }
        }
    }

    /// What the keys of the page that is seen do besides what they do in all.
    pub fn hints(&self) -> &'static [Hint] {
        self.hints
    }

    fn page(&mut self, view: View) -> Option<&mut dyn Page> {
        match view {
            View::Transcript => None,
            View::Timeline => Some(&mut self.timeline),
            View::Money => Some(&mut self.money),
            View::Tools => Some(&mut self.tools),
            View::Tree => Some(&mut self.tree),
            View::Context => Some(&mut self.context),
            View::Files => Some(&mut self.files),
            View::Checks => Some(&mut self.checks),
        }
    }
}
