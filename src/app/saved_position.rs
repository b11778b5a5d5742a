//! Where a reader stands: kept while a search is typed, so that giving it up leads back.

use std::collections::HashSet;

use super::folds::Folds;
use super::state::State;
use super::viewport::{Anchor, Focus};
use crate::model::text::Name;

/// Where a reader stands and what is unfolded there: what a search that is given up goes back to.
#[derive(Clone, Debug, Default)]
pub struct SavedPosition {
    /// What holds the window.
    pub anchor: Anchor,
    /// The focused item.
    pub focus: Option<Focus>,
    /// Folds by hand.
    pub folds: Folds,
    /// Sub-agents whose entries are shown.
    pub open_lanes: HashSet<Name>,
}

impl State {
    /// Where the reader stands now.
    pub fn stand(&self) -> SavedPosition {
        SavedPosition {
            anchor: self.view.anchor,
            focus: self.view.focus,
            folds: self.folds.clone(),
            open_lanes: self.open_lanes.clone(),
        }
    }

    /// Goes back to where the reader stood.
    pub fn go_back_to(&mut self, stand: &SavedPosition) {
        self.view.anchor = stand.anchor;
        self.view.focus = stand.focus;
        self.stale.sequence |= self.folds.branches() != stand.folds.branches();
        self.folds.clone_from(&stand.folds);
        self.stale.sequence |= self.open_lanes != stand.open_lanes;
        self.open_lanes.clone_from(&stand.open_lanes);
        self.sought = None;
        self.cache.clear();
    }
}
