//! Where a reader stands: kept while a search is typed, so that giving it up leads back.

use std::collections::HashSet;

use crate::analysis::calls::lookup::Lookup;
use crate::app::text::folds::Folds;
use crate::app::text::viewport::{Anchor, Focus};
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
    /// The same place in another transcript of the session.
    pub(crate) fn look_up(&mut self, lookup: &Lookup<'_>) {
        self.anchor = self.anchor.look_up(lookup);
        self.focus = self.focus.and_then(|focus| lookup.block(focus));
        self.folds.look_up(lookup);
    }
}
