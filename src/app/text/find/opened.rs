//! What searches open to show their hits; it is closed again when they end.
//!
//! Invariant: what the reader has folded or unfolded by hand since stays as it is.

use std::collections::HashSet;

use crate::analysis::calls::lookup::Lookup;
use crate::app::text::folds::Folds;
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::render::row::{Fold, Level};

/// What hides items: folds, sub-agents, and what the level leaves out.
#[derive(Debug)]
pub(crate) struct Hiding<'a> {
    /// Folds by hand.
    pub(crate) folds: &'a mut Folds,
    /// Sub-agents whose entries are shown.
    pub(crate) lanes: &'a mut HashSet<Name>,
    /// Whether thinking is shown.
    pub(crate) thinking: &'a mut bool,
    /// How much is shown.
    pub(crate) level: &'a mut Level,
}

/// Some of it, as it was before a search came by.
#[derive(Debug)]
pub(crate) struct Before {
    lanes: HashSet<Name>,
    branches: HashSet<usize>,
    runs: HashSet<EntryId>,
    thinking: bool,
    level: Level,
}

/// What searches opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opened {
    folds: Vec<(Key, usize, Fold)>,
    nodes: Vec<(Key, usize)>,
    lanes: Vec<Name>,
    branches: Vec<usize>,
    runs: Vec<EntryId>,
    has_shown_thinking: bool,
    level: Option<(Level, Level)>,
}

impl Hiding<'_> {
    /// As it is now.
    pub(crate) fn before(&self) -> Before {
        Before {
            lanes: self.lanes.clone(),
            branches: self.folds.branches().clone(),
            runs: self.folds.runs.open().clone(),
            thinking: *self.thinking,
            level: *self.level,
        }
    }
}

impl Opened {
    /// Notes what had to be opened for an item to be shown at all.
    pub(crate) fn note_way(&mut self, before: &Before, now: &Hiding<'_>) {
        self.lanes
            .extend(now.lanes.difference(&before.lanes).cloned());
        self.branches
            .extend(before.branches.difference(now.folds.branches()));
        self.runs
            .extend(now.folds.runs.open().difference(&before.runs));
        self.has_shown_thinking |= *now.thinking && !before.thinking;
        if *now.level != before.level {
            let first = self.level.map_or(before.level, |(first, _)| first);
            self.level = Some((first, *now.level));
        }
    }

    /// Notes that a fold was opened, and how it was before.
    pub(crate) fn note_fold(&mut self, entry: &Key, block: usize, before: Fold) {
        self.folds.push((entry.clone(), block, before));
    }

    /// Notes that all nodes of a block's trees were opened.
    pub(crate) fn note_nodes(&mut self, entry: &Key, block: usize) {
        self.nodes.push((entry.clone(), block));
    }

    /// Whether nothing was opened.
    pub(crate) fn is_empty(&self) -> bool {
        let Self {
            folds,
            nodes,
            lanes,
            branches,
            runs,
            has_shown_thinking,
            level,
        } = self;
        let has_folds = !folds.is_empty() || !nodes.is_empty();
        let has_rows = !lanes.is_empty() || !branches.is_empty() || !runs.is_empty();
        !has_folds && !has_rows && !has_shown_thinking && level.is_none()
    }

    /// Whether less or other things are shown since another state of this.
    pub(crate) fn has_other_look_than(&self, other: &Self) -> bool {
        (self.has_shown_thinking, self.level) != (other.has_shown_thinking, other.level)
    }

    /// The same in another transcript of the session.
    pub(crate) fn look_up(&mut self, lookup: &Lookup<'_>) {
        self.branches = self
            .branches
            .iter()
            .filter_map(|number| lookup.branch(*number))
            .collect();
        self.runs = lookup.entries(&self.runs);
    }

    /// Closes what is still open of it.
    pub(crate) fn close(self, hiding: Hiding<'_>) {
        let Hiding {
            folds,
            lanes,
            thinking,
            level,
        } = hiding;
        for (entry, block, before) in self.folds {
            if folds.get(&entry, block) == Fold::Open {
                folds.set(&entry, block, before);
            }
        }
        for (entry, block) in self.nodes {
            folds.close_nodes(&entry, block);
        }
        for lane in &self.lanes {
            lanes.remove(lane);
        }
        for number in self.branches {
            folds.set_branch(number, true);
        }
        for head in self.runs {
            folds.runs.fold(head);
        }
        *thinking &= !self.has_shown_thinking;
        if let Some((before, after)) = self.level
            && *level == after
        {
            *level = before;
        }
    }
}
