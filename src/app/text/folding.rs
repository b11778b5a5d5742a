//! Actions on folds: levels of detail, items, nodes of trees, sub-agents.

use super::folds::{toggle_branch, unfold_branch};
use super::jumps::{jump, seek};
use super::places::item_of;
use super::viewport::{Focus, Motion};
use super::{landmarks, runs};
use crate::analysis::reading::helper_headed_by;
use crate::app::effect::Effect;
use crate::app::input::action::{LandmarkKind, Way};
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::model::body::Image;
use crate::model::entry::{BlockKind, Break};
use crate::model::text::{Name, Text};
use crate::render::nodes::ValueNode;
use crate::render::row::{Fold, Level};

/// Sets the level of detail, and drops folds set by hand.
pub(crate) fn set_level(text: &mut TextPane, number: u8) {
    let level = Level::of(number.clamp(1, 5));
    if level != text.level {
        text.level = level;
        text.folds.clear();
        text.stale.sequence = true;
        text.invalidate_rows();
    }
}

/// Opens or closes all folds, by the level.
pub(crate) fn fold_all(text: &mut TextPane, level: Level) {
    text.folds.clear();
    text.stale.sequence = true;
    set_level(text, level.number());
    text.invalidate_rows();
}

fn set_fold(text: &mut TextPane, scene: &Scene<'_>, focus: Focus, fold: Fold) {
    let Some((key, _)) = item_of(&scene.session.transcript, focus) else {
        return;
    };
    text.folds.set(&key, focus.block, fold);
    text.cache.remove(focus.entry);
}

fn fold_of(text: &TextPane, scene: &Scene<'_>, focus: Focus) -> Fold {
    scene
        .session
        .transcript
        .get(focus.entry)
        .map_or(Fold::ByLevel, |entry| {
            text.folds.get(&entry.key, focus.block)
        })
}

/// Opens the fold of an item.
pub fn open(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) {
    set_fold(text, scene, focus, Fold::Open);
}

fn set_node(text: &mut TextPane, scene: &Scene<'_>, focus: Focus, node: ValueNode, is_open: bool) {
    let Some((key, _)) = item_of(&scene.session.transcript, focus) else {
        return;
    };
    text.folds.set_node(&key, node.id, is_open);
    text.view.push_motion(Motion::Pause);
    text.cache.remove(focus.entry);
}

/// Opens or closes the current node of a tree. Returns `false` if no node is current.
fn toggle_node(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) -> bool {
    let Some(node) = text.view.node() else {
        return false;
    };
    match (node.is_open, node.parent) {
        (Some(is_open), _) => set_node(text, scene, focus, node, !is_open),
        // A leaf closes its parent.
        (None, Some(parent)) => {
            text.view.push_motion(Motion::ToNode(parent));
            let held_by = ValueNode {
                id: parent,
                parent: None,
                is_open: Some(true),
            };
            set_node(text, scene, focus, held_by, false);
        }
        (None, None) => return false,
    }
    true
}

/// Closes the current node, or goes to its parent. Returns `false` if no node is current.
fn collapse_node(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) -> bool {
    let Some(node) = text.view.node() else {
        return false;
    };
    match (node.is_open, node.parent) {
        (Some(true), _) => set_node(text, scene, focus, node, false),
        (_, Some(parent)) => text.view.push_motion(Motion::ToNode(parent)),
        (_, None) => {
            text.view.clear_node();
            text.view.push_motion(Motion::Show(focus));
        }
    }
    true
}

/// Opens the current node, or enters it if it is open. Returns `false` if no node is current.
fn expand_node(text: &mut TextPane, scene: &mut Scene<'_>, focus: Focus) -> bool {
    let Some(node) = text.view.node() else {
        return false;
    };
    match node.is_open {
        Some(false) => set_node(text, scene, focus, node, true),
        Some(true) => text.view.push_motion(Motion::Items(1)),
        None => scene.set_status("nothing is folded here; h goes to what holds it"),
    }
    true
}

/// Toggles the fold of the focused item.
pub(crate) fn toggle_fold(text: &mut TextPane, scene: &Scene<'_>) {
    let Some(focus) = text.view.focus else { return };
    if toggle_node(text, scene, focus) {
        return;
    }
    text.view.pin();
    if unfold_branch(text, scene, focus)
        || unfold_helper(text, scene, focus)
        || runs::unfold(text, focus.entry)
    {
        return;
    }
    let next = match fold_of(text, scene, focus) {
        Fold::Open => Fold::Closed,
        Fold::Closed => Fold::ByLevel,
        Fold::ByLevel if text.level >= Level::Full => Fold::Closed,
        Fold::ByLevel => Fold::Open,
    };
    set_fold(text, scene, focus, next);
}

/// Closes the sub-agent of a call; without one closes the item's fold, or goes to the item's
/// parent.
pub fn collapse(text: &mut TextPane, scene: &mut Scene<'_>) {
    let Some(focus) = text.view.focus else { return };
    if collapse_node(text, scene, focus) {
        return;
    }
    text.view.pin();
    if close_lane(text, scene, focus) {
        return;
    }
    let fold = fold_of(text, scene, focus);
    if fold == Fold::ByLevel && runs::fold(text, focus) {
        return;
    }
    let holder = scene
        .session
        .transcript
        .get(focus.entry)
        .and_then(|entry| landmarks::starter(&scene.session.transcript, entry));
    match (fold, holder) {
        (Fold::Open, _) => set_fold(text, scene, focus, Fold::ByLevel),
        (Fold::Closed, Some(starter)) => jump(text, scene, starter),
        (Fold::ByLevel, Some(starter)) if text.level <= Level::Outline => {
            jump(text, scene, starter);
        }
        (Fold::Closed, None) => seek(text, scene, LandmarkKind::Prompt, Way::Previous),
        (Fold::ByLevel, _) => set_fold(text, scene, focus, Fold::Closed),
    }
}

/// Opens the fold of the focused item, or the sub-agent under it.
pub fn expand(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let Some(focus) = text.view.focus else {
        return Vec::new();
    };
    if expand_node(text, scene, focus) {
        return Vec::new();
    }
    text.view.pin();
    if unfold_branch(text, scene, focus) || runs::unfold(text, focus.entry) {
        return Vec::new();
    }
    let fold = fold_of(text, scene, focus);
    let mut closed = lanes_under(scene, focus);
    closed.retain(|lane| fold != Fold::Closed && !text.open_lanes.contains(lane));
    if !closed.is_empty() {
        text.open_lanes.extend(closed);
        text.stale.sequence = true;
        text.cache.remove(focus.entry);
        return Vec::new();
    }
    let (image, is_alone) = image_of(scene, focus);
    match fold {
        Fold::ByLevel | Fold::Closed if is_alone => {
            return image.map(Effect::View).into_iter().collect();
        }
        Fold::Open if image.is_some() => return image.map(Effect::View).into_iter().collect(),
        Fold::Closed => set_fold(text, scene, focus, Fold::ByLevel),
        Fold::ByLevel => set_fold(text, scene, focus, Fold::Open),
        Fold::Open => scene.set_status("all of it is shown; r shows the raw record"),
    }
    Vec::new()
}

/// Opens the item like [`expand`], or closes it if it is open.
pub(crate) fn unfold(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let Some(focus) = text.view.focus else {
        return Vec::new();
    };
    if let Some(id) = continued_in(scene, focus) {
        return vec![Effect::OpenContinuation(id)];
    }
    if let Some(node) = text.view.node() {
        if node.is_open == Some(true) {
            set_node(text, scene, focus, node, false);
            return Vec::new();
        }
        return expand(text, scene);
    }
    let branch = text.folds.unfolded_branch.take();
    let here = scene
        .session
        .transcript
        .branches()
        .beginning_at(focus.entry)
        .map(|branch| branch.number);
    if branch.is_some() && branch == here {
        toggle_branch(text, scene);
        return Vec::new();
    }
    if here.is_some_and(|number| text.folds.branches.contains(&number)) {
        text.folds.unfolded_branch = here;
        return expand(text, scene);
    }
    text.view.pin();
    if runs::toggle(text, focus) {
        return Vec::new();
    }
    let (image, is_alone) = image_of(scene, focus);
    let closes = match fold_of(text, scene, focus) {
        Fold::Open if image.is_none() => Some(Fold::ByLevel),
        Fold::ByLevel if text.level >= Level::Full && !is_alone => Some(Fold::Closed),
        Fold::Open | Fold::ByLevel | Fold::Closed => None,
    };
    if close_lane(text, scene, focus) {
        return Vec::new();
    }
    match closes.filter(|_| lanes_under(scene, focus).is_empty()) {
        Some(fold) => {
            set_fold(text, scene, focus, fold);
            Vec::new()
        }
        None => expand(text, scene),
    }
}

/// The id of the session that continues this one, if the item names it.
fn continued_in(scene: &Scene<'_>, focus: Focus) -> Option<Text> {
    let block = scene
        .session
        .transcript
        .get(focus.entry)?
        .blocks
        .get(focus.block)?;
    match &block.kind {
        BlockKind::Break(Break::Continued(id)) => Some(id.clone()),
        _ => None,
    }
}

/// Closes the sub-agents under an item. Returns whether one was open.
fn close_lane(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) -> bool {
    let mut open = lanes_under(scene, focus);
    open.retain(|lane| text.open_lanes.remove(lane));
    if !open.is_empty() {
        text.stale.sequence = true;
        text.cache.remove(focus.entry);
    }
    !open.is_empty()
}

/// The first image of an item, and whether the image is all that can be opened.
fn image_of(scene: &Scene<'_>, focus: Focus) -> (Option<Image>, bool) {
    let block = scene
        .session
        .transcript
        .get(focus.entry)
        .and_then(|entry| entry.blocks.get(focus.block));
    match block.map(|block| &block.kind) {
        Some(BlockKind::Image(image)) => (Some(image.clone()), true),
        Some(BlockKind::Call(call)) => {
            let result = call.state.result();
            (
                result.and_then(|result| result.images.first().cloned()),
                false,
            )
        }
        _ => (None, false),
    }
}

/// Unfolds the folded helper in focus. Returns `false` if the focus is not on one.
fn unfold_helper(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) -> bool {
    let helper =
        helper_headed_by(&scene.session.transcript, focus.entry).map(|lane| lane.name.clone());
    let is_unfolded = helper
        .filter(|_| text.find.filter.is_none())
        .is_some_and(|name| text.open_lanes.insert(name));
    text.stale.sequence |= is_unfolded;
    is_unfolded
}

/// The sub-agents that the focused item started, or the helper whose first entry it is.
fn lanes_under(scene: &Scene<'_>, focus: Focus) -> Vec<Name> {
    let transcript = &scene.session.transcript;
    if let Some(helper) = helper_headed_by(transcript, focus.entry) {
        return vec![helper.name.clone()];
    }
    let block = transcript
        .get(focus.entry)
        .and_then(|entry| entry.blocks.get(focus.block));
    match block.map(|block| &block.kind) {
        Some(BlockKind::Call(call)) => transcript
            .lanes_begun(focus.entry, &call.key)
            .map(|lane| lane.name.clone())
            .collect(),
        _ => Vec::new(),
    }
}
