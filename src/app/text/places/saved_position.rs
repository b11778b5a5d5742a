//! Where a reader stands: kept while a search is typed, so that giving it up leads back.

use std::collections::HashSet;

use crate::app::text::folds::Folds;
use crate::app::text::runs::Runs;
use crate::app::text::viewport::{Anchor, Focus};
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
    /// Another transcript of the session is shown, with its entries under other numbers.
    pub(crate) fn carry(&mut self, moved: &impl Fn(EntryId) -> Option<EntryId>) {
        self.anchor = self.anchor.moved(moved);
        self.focus = self.focus.and_then(|focus| focus.moved(moved));
        self.folds.runs = Runs::default();
    }
}
