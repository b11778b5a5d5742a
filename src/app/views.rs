//! The views: pages that lie over the transcript and show the session in another order.
//!
//! The reader has one place. A page's cursor is the focused item of the transcript, which stays arranged
//! behind it: moving in either moves the other, so the inspector and whatever else follows the focused item
//! follows a page, too.
//!
//! Invariant: a page is brought up to date only while it is open, and writes out only what its window shows.

pub mod actions;
pub(crate) mod brief;
pub mod checks;
pub mod context;
pub(crate) mod diff;
pub(crate) mod files;
pub(crate) mod hits;
pub(crate) mod list;
pub mod money;
pub mod page;
pub mod timeline;
pub mod tools;
pub mod tree;

use std::collections::{HashMap, HashSet};

use page::{Hint, Page, Sheet};

use super::input::action::View;
use super::text::viewport::Focus;
use crate::model::text::Name;

/// The pages, and which of them is open.
#[derive(Debug)]
pub struct Views {
    pages: HashMap<View, Box<dyn Page>>,
    /// Open pages; the last one is seen.
    stack: Vec<View>,
    /// What the window shows of it.
    pub sheet: Sheet,
    /// The item that page and transcript agreed on.
    synced_focus: Option<Focus>,
    /// Whether the page has moved the reader, and the transcript follows.
    leads: bool,
    /// Sub-agents whose entries were shown when the first page was opened.
    lanes: Option<HashSet<Name>>,
    hints: &'static [Hint],
}

impl Default for Views {
    fn default() -> Self {
        let pages: Vec<(View, Box<dyn Page>)> = vec![
            (View::Brief, Box::<brief::BriefView>::default()),
            (View::Timeline, Box::<timeline::TimelineView>::default()),
            (View::Money, Box::<money::MoneyView>::default()),
            (View::Context, Box::<context::Context>::default()),
            (View::Checks, Box::<checks::ChecksView>::default()),
            (View::Tools, Box::<tools::ToolsView>::default()),
            (View::Tree, Box::<tree::TreeView>::default()),
            (View::Files, Box::<files::FilesView>::default()),
            (View::Hits, Box::<hits::Hits>::default()),
            (View::Diff, Box::<diff::Diff>::default()),
        ];
        Self {
            pages: pages.into_iter().collect(),
            stack: Vec::new(),
            sheet: Sheet::default(),
            synced_focus: None,
            leads: false,
            lanes: None,
            hints: &[],
        }
    }
}

impl Views {
    /// The hints of all pages as they open.
    #[cfg(test)]
    pub(crate) fn of_all_pages(&self) -> impl Iterator<Item = &'static Hint> {
        self.pages.values().flat_map(|page| page.hints())
    }

    /// The page that is seen.
    pub fn open(&self) -> Option<View> {
        self.stack.last().copied()
    }

    /// Whether a view is open and has not been laid out since it was opened.
    pub(crate) fn is_new(&self) -> bool {
        self.open().is_some() && self.synced_focus.is_none()
    }

    /// Forgets the session, but not which pages are open and how the reader wants them.
    pub fn clear(&mut self) {
        self.sheet = Sheet::default();
        self.synced_focus = None;
        self.pages.values_mut().for_each(|page| page.reset());
    }

    /// What the keys of the page that is seen do besides what they do in all.
    pub fn hints(&self) -> &'static [Hint] {
        self.hints
    }
}
