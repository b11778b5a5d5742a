//! The position before a search was typed.

use std::collections::HashSet;

use crate::analysis::calls::lookup::Lookup;
use crate::app::text::folds::Folds;
use crate::app::text::viewport::{Anchor, Focus};
use crate::model::text::Name;

/// A position with its folds; a cancelled search restores it.
#[derive(Clone, Debug, Default)]
pub struct SavedPosition {
    /// The anchor of the window.
    pub(crate) anchor: Anchor,
    pub(crate) focus: Option<Focus>,
    pub(crate) folds: Folds,
    /// Sub-agents whose entries are shown.
    pub(crate) open_lanes: HashSet<Name>,
}

impl SavedPosition {
    /// Maps the position to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.anchor = self.anchor.remap(lookup);
        self.focus = self.focus.and_then(|focus| lookup.block(focus));
        self.folds.remap(lookup);
    }
}
