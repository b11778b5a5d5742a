//! How much of what is shown: levels of detail, folds, and the sub-agents under their calls.

use super::action::{Kind, Way};
use super::branch_folds;
use super::effect::Effect;
use super::moving::{jump, seek_on};
use super::seek;
use super::state::State;
use super::viewport::{Focus, Motion};
use crate::analysis::reading::helper_headed_by;
use crate::model::body::Image;
use crate::model::entry::BlockKind;
use crate::model::text::Name;
use crate::render::nodes::Node;
use crate::render::row::{Fold, Level};

/// Another level of detail; folds by hand are forgotten.
pub fn set_level(state: &mut State, number: u8) {
    let level = Level::of(number.clamp(1, 5));
    if level != state.text.level {
        state.text.level = level;
        state.text.folds.clear();
        state.text.stale.sequence = true;
        state.look_changed();
    }
}

/// Another level for everything.
pub fn fold_all(state: &mut State, level: Level) {
    state.text.folds.clear();
    state.text.stale.sequence = true;
    set_level(state, level.number());
    state.look_changed();
}

fn set_fold(state: &mut State, focus: Focus, fold: Fold) {
    let Some(key) = state.session.transcript.get(focus.entry).map(|entry| entry.key.clone()) else { return };
    state.text.folds.set(&key, focus.block, fold);
    state.text.cache.forget(focus.entry);
}

fn fold_of(state: &State, focus: Focus) -> Fold {
    state
        .session
        .transcript
        .get(focus.entry)
        .map_or(Fold::ByLevel, |entry| state.text.folds.get(&entry.key, focus.block))
}

/// Opens the fold of an item.
pub fn open(state: &mut State, focus: Focus) {
    set_fold(state, focus, Fold::Open);
}

fn set_node(state: &mut State, focus: Focus, node: Node, is_open: bool) {
    let Some(key) = state.session.transcript.get(focus.entry).map(|entry| entry.key.clone()) else { return };
    state.text.folds.set_node(&key, node.id, is_open);
    state.text.view.ask(Motion::Pause);
    state.text.cache.forget(focus.entry);
}

/// Opens or closes the node of a tree at which the reader is. Answers whether there is one.
fn toggle_node(state: &mut State, focus: Focus) -> bool {
    let Some(node) = state.text.view.node() else { return false };
    match (node.is_open, node.parent) {
        (Some(is_open), _) => set_node(state, focus, node, !is_open),
        // What cannot fold folds what holds it.
        (None, Some(parent)) => {
            state.text.view.ask(Motion::ToNode(parent));
            let held_by = Node { id: parent, parent: None, is_open: Some(true) };
            set_node(state, focus, held_by, false);
        }
        (None, None) => return false,
    }
    true
}

/// Closes the node at which the reader is, or goes to what holds it. Answers whether there is one.
fn collapse_node(state: &mut State, focus: Focus) -> bool {
    let Some(node) = state.text.view.node() else { return false };
    match (node.is_open, node.parent) {
        (Some(true), _) => set_node(state, focus, node, false),
        (_, Some(parent)) => state.text.view.ask(Motion::ToNode(parent)),
        (_, None) => {
            state.text.view.forget_node();
            state.text.view.ask(Motion::Show(focus));
        }
    }
    true
}

/// Opens the node at which the reader is; goes into one that is open. Answers whether there is one.
fn expand_node(state: &mut State, focus: Focus) -> bool {
    let Some(node) = state.text.view.node() else { return false };
    match node.is_open {
        Some(false) => set_node(state, focus, node, true),
        Some(true) => state.text.view.ask(Motion::Items(1)),
        None => state.screen.say("nothing is folded here; h goes to what holds it"),
    }
    true
}

/// The next state of the focused item's fold.
pub fn toggle_fold(state: &mut State) {
    let Some(focus) = state.text.view.focus else { return };
    if toggle_node(state, focus) {
        return;
    }
    state.text.view.hold();
    if branch_folds::unfold(state, focus) || unfold_helper(state, focus) {
        return;
    }
    let next = match fold_of(state, focus) {
        Fold::Open => Fold::Closed,
        Fold::Closed => Fold::ByLevel,
        Fold::ByLevel if state.text.level >= Level::Full => Fold::Closed,
        Fold::ByLevel => Fold::Open,
    };
    set_fold(state, focus, next);
}

/// First the sub-agent of a call, then its fold, then to what holds the item.
pub fn collapse(state: &mut State) {
    let Some(focus) = state.text.view.focus else { return };
    if collapse_node(state, focus) {
        return;
    }
    state.text.view.hold();
    if let Some(lane) = lane_under(state, focus).filter(|lane| state.text.open_lanes.contains(lane)) {
        state.text.open_lanes.remove(&lane);
        state.text.stale.sequence = true;
        state.text.cache.forget(focus.entry);
        return;
    }
    let fold = fold_of(state, focus);
    let holder = state
        .session
        .transcript
        .get(focus.entry)
        .and_then(|entry| seek::starter(&state.session.transcript, entry));
    match (fold, holder) {
        (Fold::Open, _) => set_fold(state, focus, Fold::ByLevel),
        (Fold::Closed, Some(starter)) => jump(state, starter),
        (Fold::ByLevel, Some(starter)) if state.text.level <= Level::Outline => jump(state, starter),
        (Fold::Closed, None) => seek_on(state, Kind::Prompt, Way::Previous),
        (Fold::ByLevel, _) => set_fold(state, focus, Fold::Closed),
    }
}

/// Opens the fold of the focused item, or the sub-agent under it.
pub fn expand(state: &mut State) -> Vec<Effect> {
    let Some(focus) = state.text.view.focus else { return Vec::new() };
    if expand_node(state, focus) {
        return Vec::new();
    }
    state.text.view.hold();
    if branch_folds::unfold(state, focus) {
        return Vec::new();
    }
    let fold = fold_of(state, focus);
    let lane = lane_under(state, focus);
    if let Some(lane) = lane.filter(|lane| fold != Fold::Closed && !state.text.open_lanes.contains(lane)) {
        state.text.open_lanes.insert(lane);
        state.text.stale.sequence = true;
        state.text.cache.forget(focus.entry);
        return Vec::new();
    }
    let (image, is_alone) = image_of(state, focus);
    match fold {
        Fold::ByLevel | Fold::Closed if is_alone => return image.map(Effect::View).into_iter().collect(),
        Fold::Open if image.is_some() => return image.map(Effect::View).into_iter().collect(),
        Fold::Closed => set_fold(state, focus, Fold::ByLevel),
        Fold::ByLevel => set_fold(state, focus, Fold::Open),
        Fold::Open => state.screen.say("all of it is shown; r shows the raw record"),
    }
    Vec::new()
}

/// The first image of an item, and whether there is nothing else to open.
fn image_of(state: &State, focus: Focus) -> (Option<Image>, bool) {
    let block = state.session.transcript.get(focus.entry).and_then(|entry| entry.blocks.get(focus.block));
    match block.map(|block| &block.kind) {
        Some(BlockKind::Image(image)) => (Some(image.clone()), true),
        Some(BlockKind::Call(call)) => {
            let result = call.state.result();
            (result.and_then(|result| result.images.first().cloned()), false)
        }
        _ => (None, false),
    }
}

/// Unfolds the helper whose one row is focused. Answers whether it did.
fn unfold_helper(state: &mut State, focus: Focus) -> bool {
    let helper = helper_headed_by(&state.session.transcript, focus.entry).map(|lane| lane.name.clone());
    let is_unfolded =
        helper.filter(|_| state.find.filter.is_none()).is_some_and(|name| state.text.open_lanes.insert(name));
    state.text.stale.sequence |= is_unfolded;
    is_unfolded
}

/// The sub-agent that the focused item started, or the helper that it is the head of.
fn lane_under(state: &State, focus: Focus) -> Option<Name> {
    if let Some(helper) = helper_headed_by(&state.session.transcript, focus.entry) {
        return Some(helper.name.clone());
    }
    let block = state.session.transcript.get(focus.entry)?.blocks.get(focus.block)?;
    match &block.kind {
        BlockKind::Call(call) => {
            state.session.transcript.lane_of_call(&call.key).map(|lane| lane.name.clone())
        }
        _ => None,
    }
}
