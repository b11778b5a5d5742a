//! Folds set by hand: blocks, nodes of trees, abandoned branches, runs of equal calls; and the
//! opening of everything that hides an item. Folds are stored by the entry's key, so they survive a
//! reload.
//!
//! Invariant: a folded branch shows one row; a jump into it opens it.

use std::collections::{HashMap, HashSet};

use super::TextPane;
use super::runs::{self, FoldedRuns};
use super::sequence::starter_of;
use super::viewport::Focus;
use crate::analysis::calls::lookup::Lookup;
use crate::app::scene::Scene;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, EntryId};
use crate::render::nodes::{NodeFolds, NodeId};
use crate::render::row::{Fold, Level};
use crate::session::Session;

/// Folds by entry and block.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    by_hand: HashMap<Key, Vec<Fold>>,
    nodes: HashMap<Key, NodeFolds>,
    /// Numbers of folded branches, which show one row each.
    pub(crate) branches: HashSet<usize>,
    /// The branch that the fold key unfolded last; the same key folds it again.
    pub(crate) unfolded_branch: Option<usize>,
    /// Runs of equal calls, folded into one row each.
    pub(crate) runs: FoldedRuns,
}

impl Folds {
    /// The folds of an entry's blocks; blocks without one follow the level.
    pub(crate) fn of(&self, entry: &Key) -> &[Fold] {
        self.by_hand.get(entry).map_or(&[], Vec::as_slice)
    }

    pub fn get(&self, entry: &Key, block: usize) -> Fold {
        self.of(entry).get(block).copied().unwrap_or_default()
    }

    /// Folds a block by hand.
    pub(crate) fn set(&mut self, entry: &Key, block: usize, fold: Fold) {
        let folds = self.by_hand.entry(entry.clone()).or_default();
        if folds.len() <= block {
            folds.resize(block + 1, Fold::ByLevel);
        }
        if let Some(place) = folds.get_mut(block) {
            *place = fold;
        }
    }

    /// The nodes of an entry's trees that were folded by hand; `None` if none were.
    pub(crate) fn nodes(&self, entry: &Key) -> Option<&NodeFolds> {
        self.nodes.get(entry)
    }

    /// Opens or closes a node of a tree.
    pub(crate) fn set_node(&mut self, entry: &Key, node: NodeId, is_open: bool) {
        self.nodes
            .entry(entry.clone())
            .or_default()
            .set(node, is_open);
    }

    /// Opens all nodes of a block. Returns `false` if all were open.
    pub(crate) fn open_nodes(&mut self, entry: &Key, block: usize) -> bool {
        let nodes = self.nodes.entry(entry.clone()).or_default();
        let was_whole = nodes.is_fully_open(block);
        nodes.open_all(block);
        !was_whole
    }

    /// Undoes [`Self::open_nodes`]; nodes that were opened one by one stay open.
    pub(crate) fn close_nodes(&mut self, entry: &Key, block: usize) {
        if let Some(nodes) = self.nodes.get_mut(entry) {
            nodes.close_all(block);
        }
    }

    /// Folds or unfolds a branch.
    pub(crate) fn set_branch(&mut self, number: usize, is_folded: bool) {
        if is_folded {
            self.branches.insert(number);
        } else {
            self.branches.remove(&number);
        }
    }

    /// The folds without those that are stored by number, for a reload.
    #[must_use]
    pub(crate) fn without_runs(self) -> Self {
        Self {
            runs: FoldedRuns::default(),
            ..self
        }
    }

    /// Maps the folds to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.branches = self
            .branches
            .iter()
            .filter_map(|number| lookup.branch(*number))
            .collect();
        self.unfolded_branch = self
            .unfolded_branch
            .and_then(|number| lookup.branch(number));
        self.runs.remap(lookup);
    }

    /// The folds under renamed keys of entries; folds of branches are dropped, since their numbers
    /// change.
    #[must_use]
    pub(crate) fn renamed(self, name: impl Fn(&Key) -> Key) -> Self {
        let by_hand = self
            .by_hand
            .into_iter()
            .map(|(key, folds)| (name(&key), folds))
            .collect();
        let nodes = self
            .nodes
            .into_iter()
            .map(|(key, folds)| (name(&key), folds))
            .collect();
        Self {
            by_hand,
            nodes,
            ..Self::default()
        }
    }

    pub(crate) fn clear(&mut self) {
        self.by_hand.clear();
        self.nodes.clear();
        self.branches.clear();
        self.unfolded_branch = None;
        self.runs = FoldedRuns::default();
    }
}

/// Drops cached rows when branches have changed, since rows show the branch of their entry. Returns
/// whether branches have changed.
pub(crate) fn update_branches(text: &mut TextPane, session: &Session) -> bool {
    let changed = session.transcript.branches_changed();
    if std::mem::replace(&mut text.stale.branches_seen, changed) != changed {
        text.cache.clear();
        text.stale.sequence |= !text.folds.branches.is_empty();
        return true;
    }
    false
}

/// Folds or unfolds the branch of the focused item.
pub fn toggle_branch(text: &mut TextPane, scene: &mut Scene<'_>) {
    let Some(focus) = text.view.focus else { return };
    text.view.pin();
    let Some(branch) = scene.session.transcript.branches().of(focus.entry) else {
        return scene.set_status("not on a branch that the session left");
    };
    if text.find.filter.is_some() {
        return scene.set_status("a filter shows what fits of branches, folded or not");
    }
    let number = branch.number;
    let head = scene.session.transcript.branches().head(branch);
    let is_folded = !text.folds.branches.contains(&number);
    let is_prompt = head
        .and_then(|id| scene.session.transcript.get(id))
        .is_some_and(|entry| entry.marks.prompt);
    if is_folded && text.level == Level::Prompts && !is_prompt {
        return scene.set_status("among prompts nothing stands for this branch; + shows more");
    }
    set_branch(text, number, is_folded);
    if let Some(entry) = head.filter(|_| is_folded) {
        text.view.focus = Some(Focus { entry, block: 0 });
    }
}

/// Unfolds the folded branch in focus. Returns `false` if the focus is not on one.
pub(crate) fn unfold_branch(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) -> bool {
    let folded = scene
        .session
        .transcript
        .branches()
        .of(focus.entry)
        .map(|branch| branch.number);
    match folded.filter(|number| text.folds.branches.contains(number)) {
        Some(number) => {
            set_branch(text, number, false);
            true
        }
        None => false,
    }
}

/// Unfolds all branches that hide an entry.
fn unfold_branches_above(text: &mut TextPane, scene: &Scene<'_>, id: EntryId) {
    let list = &scene.session.transcript.branches().list;
    let mut at = scene
        .session
        .transcript
        .branches()
        .of(id)
        .map(|branch| branch.number);
    let mut above = Vec::new();
    while let Some(number) = at.filter(|number| !above.contains(number)) {
        above.push(number);
        at = number
            .checked_sub(1)
            .and_then(|place| list.get(place))
            .and_then(|branch| branch.parent);
    }
    for number in above
        .into_iter()
        .filter(|number| text.folds.branches.contains(number))
        .collect::<Vec<_>>()
    {
        set_branch(text, number, false);
    }
}

fn set_branch(text: &mut TextPane, number: usize, is_folded: bool) {
    text.folds.set_branch(number, is_folded);
    text.stale.sequence = true;
    text.invalidate_rows();
}

/// Opens everything that hides an item, except the filter; shows traces at level 4.
pub fn reveal(text: &mut TextPane, scene: &mut Scene<'_>, focus: Focus) {
    show_kind(text, scene, focus);
    unfold_branches_above(text, scene, focus.entry);
    open_lanes_to(text, scene, focus.entry);
    runs::reveal(text, focus.entry);
}

/// Shows thinking, or leaves level 1, if that hides the item.
fn show_kind(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) {
    let Some(entry) = scene.session.transcript.get(focus.entry) else {
        return;
    };
    let kind = entry.blocks.get(focus.block).map(|block| &block.kind);
    let is_thinking = matches!(kind, Some(BlockKind::Thinking(_)));
    let is_prompt = entry.marks.prompt
        && scene.session.transcript.is_main_lane(entry.lane.as_ref())
        && matches!(kind, Some(BlockKind::Text(_)));
    if is_thinking && !text.shows.thinking {
        text.shows.thinking = true;
        text.invalidate_rows();
    }
    if text.level == Level::Prompts && !is_prompt {
        text.level = Level::Outline;
        text.stale.sequence = true;
        text.invalidate_rows();
    }
}

fn open_lanes_to(text: &mut TextPane, scene: &Scene<'_>, id: EntryId) {
    let mut lane = scene
        .session
        .transcript
        .get(id)
        .and_then(|entry| entry.lane.clone());
    while let Some(name) = lane {
        let starter = starter_of(&scene.session.transcript, &name);
        if !text.open_lanes.insert(name) {
            return;
        }
        text.stale.sequence = true;
        if let Some(starter) = starter {
            text.cache.remove(starter);
        }
        lane = starter
            .and_then(|id| scene.session.transcript.get(id))
            .and_then(|entry| entry.lane.clone());
    }
}
