//! Where a reader stands: kept while a search is typed, so that giving it up leads back.

use std::collections::HashSet;

use super::folds::Folds;
use super::text::TextPane;
use super::viewport::{Anchor, Focus};
use crate::model::entry::EntryId;
use crate::model::text::Name;

/// Where a reader stands and what is unfolded there: what a search that is given up goes back to.
#[derive(Clone, Debug, Default)]
pub struct SavedPosition {
    /// What holds the window.
    pub(crate) anchor: Anchor,
    /// The focused item.
    pub(crate) focus: Option<Focus>,
    /// Folds by hand.
    pub(crate) folds: Folds,
    /// Sub-agents whose entries are shown.
    pub(crate) open_lanes: HashSet<Name>,
}

impl SavedPosition {
    /// Where the reader of a text is now.
    pub(crate) fn of(text: &TextPane) -> Self {
        Self {
            anchor: text.view.anchor,
            focus: text.view.focus,
            folds: text.folds.clone(),
            open_lanes: text.open_lanes.clone(),
        }
    }

    /// Goes back to where the reader was.
    pub(crate) fn restore(&self, text: &mut TextPane) {
        text.view.anchor = self.anchor;
        text.view.focus = self.focus;
        text.stale.sequence |= text.folds.branches() != self.folds.branches();
        text.folds.clone_from(&self.folds);
        text.stale.sequence |= text.open_lanes != self.open_lanes;
        text.open_lanes.clone_from(&self.open_lanes);
        text.cache.clear();
    }

    /// Another transcript of the session is shown, with its entries under other numbers.
    pub(crate) fn carry(&mut self, moved: &impl Fn(EntryId) -> Option<EntryId>) {
        self.anchor = self.anchor.moved(moved);
        self.focus = self.focus.and_then(|focus| focus.moved(moved));
    }
}
