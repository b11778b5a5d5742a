//! How much of what is shown: levels of detail, folds, and the sub-agents under their calls.

use super::action::{Kind, Way};
use super::branch_folds;
use super::effect::Effect;
use super::moving::{jump, seek_on};
use super::reader::Reader;
use super::seek;
use super::viewport::{Focus, Motion};
use crate::analysis::reading::helper_headed_by;
use crate::model::body::Image;
use crate::model::entry::BlockKind;
use crate::model::text::Name;
use crate::render::nodes::Node;
use crate::render::row::{Fold, Level};

/// Another level of detail; folds by hand are forgotten.
pub(crate) fn set_level(reader: &mut Reader, number: u8) {
    let level = Level::of(number.clamp(1, 5));
    if level != reader.text.level {
        reader.text.level = level;
        reader.text.folds.clear();
        reader.text.stale.sequence = true;
        reader.look_changed();
    }
}

/// Another level for everything.
pub(crate) fn fold_all(reader: &mut Reader, level: Level) {
    reader.text.folds.clear();
    reader.text.stale.sequence = true;
    set_level(reader, level.number());
    reader.look_changed();
}

fn set_fold(reader: &mut Reader, focus: Focus, fold: Fold) {
    let Some(key) = reader.session.transcript.get(focus.entry).map(|entry| entry.key.clone()) else { return };
    reader.text.folds.set(&key, focus.block, fold);
    reader.text.cache.forget(focus.entry);
}

fn fold_of(reader: &Reader, focus: Focus) -> Fold {
    reader
        .session
        .transcript
        .get(focus.entry)
        .map_or(Fold::ByLevel, |entry| reader.text.folds.get(&entry.key, focus.block))
}

/// Opens the fold of an item.
pub fn open(reader: &mut Reader, focus: Focus) {
    set_fold(reader, focus, Fold::Open);
}

fn set_node(reader: &mut Reader, focus: Focus, node: Node, is_open: bool) {
    let Some(key) = reader.session.transcript.get(focus.entry).map(|entry| entry.key.clone()) else { return };
    reader.text.folds.set_node(&key, node.id, is_open);
    reader.text.view.ask(Motion::Pause);
    reader.text.cache.forget(focus.entry);
}

/// Opens or closes the node of a tree at which the reader is. Answers whether there is one.
fn toggle_node(reader: &mut Reader, focus: Focus) -> bool {
    let Some(node) = reader.text.view.node() else { return false };
    match (node.is_open, node.parent) {
        (Some(is_open), _) => set_node(reader, focus, node, !is_open),
        // What cannot fold folds what holds it.
        (None, Some(parent)) => {
            reader.text.view.ask(Motion::ToNode(parent));
            let held_by = Node { id: parent, parent: None, is_open: Some(true) };
            set_node(reader, focus, held_by, false);
        }
        (None, None) => return false,
    }
    true
}

/// Closes the node at which the reader is, or goes to what holds it. Answers whether there is one.
fn collapse_node(reader: &mut Reader, focus: Focus) -> bool {
    let Some(node) = reader.text.view.node() else { return false };
    match (node.is_open, node.parent) {
        (Some(true), _) => set_node(reader, focus, node, false),
        (_, Some(parent)) => reader.text.view.ask(Motion::ToNode(parent)),
        (_, None) => {
            reader.text.view.forget_node();
            reader.text.view.ask(Motion::Show(focus));
        }
    }
    true
}

/// Opens the node at which the reader is; goes into one that is open. Answers whether there is one.
fn expand_node(reader: &mut Reader, focus: Focus) -> bool {
    let Some(node) = reader.text.view.node() else { return false };
    match node.is_open {
        Some(false) => set_node(reader, focus, node, true),
        Some(true) => reader.text.view.ask(Motion::Items(1)),
        None => reader.screen.say("nothing is folded here; h goes to what holds it"),
    }
    true
}

/// The next state of the focused item's fold.
pub(crate) fn toggle_fold(reader: &mut Reader) {
    let Some(focus) = reader.text.view.focus else { return };
    if toggle_node(reader, focus) {
        return;
    }
    reader.text.view.hold();
    if branch_folds::unfold(reader, focus) || unfold_helper(reader, focus) {
        return;
    }
    let next = match fold_of(reader, focus) {
        Fold::Open => Fold::Closed,
        Fold::Closed => Fold::ByLevel,
        Fold::ByLevel if reader.text.level >= Level::Full => Fold::Closed,
        Fold::ByLevel => Fold::Open,
    };
    set_fold(reader, focus, next);
}

/// First the sub-agent of a call, then its fold, then to what holds the item.
pub fn collapse(reader: &mut Reader) {
    let Some(focus) = reader.text.view.focus else { return };
    if collapse_node(reader, focus) {
        return;
    }
    reader.text.view.hold();
    if let Some(lane) = lane_under(reader, focus).filter(|lane| reader.text.open_lanes.contains(lane)) {
        reader.text.open_lanes.remove(&lane);
        reader.text.stale.sequence = true;
        reader.text.cache.forget(focus.entry);
        return;
    }
    let fold = fold_of(reader, focus);
    let holder = reader
        .session
        .transcript
        .get(focus.entry)
        .and_then(|entry| seek::starter(&reader.session.transcript, entry));
    match (fold, holder) {
        (Fold::Open, _) => set_fold(reader, focus, Fold::ByLevel),
        (Fold::Closed, Some(starter)) => jump(reader, starter),
        (Fold::ByLevel, Some(starter)) if reader.text.level <= Level::Outline => jump(reader, starter),
        (Fold::Closed, None) => seek_on(reader, Kind::Prompt, Way::Previous),
        (Fold::ByLevel, _) => set_fold(reader, focus, Fold::Closed),
    }
}

/// Opens the fold of the focused item, or the sub-agent under it.
pub fn expand(reader: &mut Reader) -> Vec<Effect> {
    let Some(focus) = reader.text.view.focus else { return Vec::new() };
    if expand_node(reader, focus) {
        return Vec::new();
    }
    reader.text.view.hold();
    if branch_folds::unfold(reader, focus) {
        return Vec::new();
    }
    let fold = fold_of(reader, focus);
    let lane = lane_under(reader, focus);
    if let Some(lane) = lane.filter(|lane| fold != Fold::Closed && !reader.text.open_lanes.contains(lane)) {
        reader.text.open_lanes.insert(lane);
        reader.text.stale.sequence = true;
        reader.text.cache.forget(focus.entry);
        return Vec::new();
    }
    let (image, is_alone) = image_of(reader, focus);
    match fold {
        Fold::ByLevel | Fold::Closed if is_alone => return image.map(Effect::View).into_iter().collect(),
        Fold::Open if image.is_some() => return image.map(Effect::View).into_iter().collect(),
        Fold::Closed => set_fold(reader, focus, Fold::ByLevel),
        Fold::ByLevel => set_fold(reader, focus, Fold::Open),
        Fold::Open => reader.screen.say("all of it is shown; r shows the raw record"),
    }
    Vec::new()
}

/// The first image of an item, and whether there is nothing else to open.
fn image_of(reader: &Reader, focus: Focus) -> (Option<Image>, bool) {
    let block = reader.session.transcript.get(focus.entry).and_then(|entry| entry.blocks.get(focus.block));
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
fn unfold_helper(reader: &mut Reader, focus: Focus) -> bool {
    let helper = helper_headed_by(&reader.session.transcript, focus.entry).map(|lane| lane.name.clone());
    let is_unfolded = helper
        .filter(|_| reader.find.filter.is_none())
        .is_some_and(|name| reader.text.open_lanes.insert(name));
    reader.text.stale.sequence |= is_unfolded;
    is_unfolded
}

/// The sub-agent that the focused item started, or the helper that it is the head of.
fn lane_under(reader: &Reader, focus: Focus) -> Option<Name> {
    if let Some(helper) = helper_headed_by(&reader.session.transcript, focus.entry) {
        return Some(helper.name.clone());
    }
    let block = reader.session.transcript.get(focus.entry)?.blocks.get(focus.block)?;
    match &block.kind {
        BlockKind::Call(call) => {
            reader.session.transcript.lane_of_call(&call.key).map(|lane| lane.name.clone())
        }
        _ => None,
    }
}
