//! Folds that searches open to show their hits, and close again when they end.
//!
//! Invariant: folds that the user has changed in between stay unchanged.

use std::collections::HashSet;

use crate::analysis::calls::lookup::Lookup;
use crate::app::text::folds::Folds;
use crate::model::body::Key;
use crate::model::entry::EntryId;
use crate::model::text::Name;
use crate::render::row::{Fold, Level};

/// All state that hides items: folds, closed sub-agents, hidden thinking, the level.
#[derive(Debug)]
pub(crate) struct FoldState<'a> {
    pub(crate) folds: &'a mut Folds,
    /// Sub-agents whose entries are shown.
    pub(crate) lanes: &'a mut HashSet<Name>,
    /// Whether thinking is shown.
    pub(crate) thinking: &'a mut bool,
    /// The level of detail.
    pub(crate) level: &'a mut Level,
}

/// A copy of the [`FoldState`] from before a search opened something.
#[derive(Debug)]
pub(crate) struct FoldSnapshot {
    lanes: HashSet<Name>,
    branches: HashSet<usize>,
    runs: HashSet<EntryId>,
    thinking: bool,
    level: Level,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct OpenedFolds {
    folds: Vec<(Key, usize, Fold)>,
    nodes: Vec<(Key, usize)>,
    lanes: Vec<Name>,
    branches: Vec<usize>,
    runs: Vec<EntryId>,
    has_shown_thinking: bool,
    level: Option<(Level, Level)>,
}

impl FoldState<'_> {
    /// A copy of the current state.
    pub(crate) fn snapshot(&self) -> FoldSnapshot {
        FoldSnapshot {
            lanes: self.lanes.clone(),
            branches: self.folds.branches.clone(),
            runs: self.folds.runs.open.clone(),
            thinking: *self.thinking,
            level: *self.level,
        }
    }
}

impl OpenedFolds {
    /// Adds everything that was opened since a snapshot.
    pub(crate) fn add_since(&mut self, before: &FoldSnapshot, now: &FoldState<'_>) {
        self.lanes
            .extend(now.lanes.difference(&before.lanes).cloned());
        self.branches
            .extend(before.branches.difference(&now.folds.branches));
        self.runs
            .extend(now.folds.runs.open.difference(&before.runs));
        self.has_shown_thinking |= *now.thinking && !before.thinking;
        if *now.level != before.level {
            let first = self.level.map_or(before.level, |(first, _)| first);
            self.level = Some((first, *now.level));
        }
    }

    /// Adds an opened fold with its previous state.
    pub(crate) fn add_fold(&mut self, entry: &Key, block: usize, before: Fold) {
        self.folds.push((entry.clone(), block, before));
    }

    /// Adds a block whose tree nodes were all opened.
    pub(crate) fn add_nodes(&mut self, entry: &Key, block: usize) {
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

    /// Whether it changed thinking or the level differently from `other`.
    pub(crate) fn differs_in_look(&self, other: &Self) -> bool {
        (self.has_shown_thinking, self.level) != (other.has_shown_thinking, other.level)
    }

    /// Maps its entries to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.branches = self
            .branches
            .iter()
            .filter_map(|number| lookup.branch(*number))
            .collect();
        self.runs = lookup.entries(&self.runs);
    }

    /// Closes everything that is unchanged since the search opened it.
    pub(crate) fn close(self, state: FoldState<'_>) {
        let FoldState {
            folds,
            lanes,
            thinking,
            level,
        } = state;
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
