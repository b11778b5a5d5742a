//! An entry told again: what replaces, what is added, what stays.

use std::collections::{HashMap, HashSet};

use super::entry::{Block, BlockKind, Entry, Piece, Stop};
use super::pairing::{call_in, identifies};
use super::tool::ToolState;
use super::usage::Usage;

/// Takes over what another telling says of an entry, but for its blocks. `known` are its pieces so far.
pub fn merge_head(entry: &mut Entry, new: &Entry, known: &[Piece]) {
    let brings_piece = new.blocks.iter().any(|block| !known.contains(&block.piece));
    let leaves_piece = known.iter().any(|piece| !new.blocks.iter().any(|block| block.piece == *piece));
    entry.parent = entry.parent.take().or_else(|| new.parent.clone());
    entry.lane = new.lane.clone().or_else(|| entry.lane.take());
    entry.at = entry.at.or(new.at);
    entry.role = new.role;
    entry.model = new.model.clone().or_else(|| entry.model.take());
    // What has become bookkeeping stays so when its beginning is told again.
    let was_trace = entry.marks.trace;
    entry.marks = new.marks;
    entry.marks.trace |= was_trace;
    if new.stop != Stop::Untold {
        entry.stop = new.stop;
    }
    entry.usage = richer(entry.usage.take(), new.usage.clone(), brings_piece || leaves_piece);
    let tells_first = match (known.first(), new.blocks.first()) {
        (Some(old), Some(new)) => !brings_piece && *old == new.piece,
        (None, Some(_)) => true,
        (_, None) => false,
    };
    if tells_first {
        entry.origin = new.origin;
    }
}

/// Several records of one request repeat its usage while it grows: the greatest output counts, and of
/// equal ones the first, so that telling them again changes nothing.
fn richer(old: Option<Box<Usage>>, new: Option<Box<Usage>>, is_part: bool) -> Option<Box<Usage>> {
    match (old, new) {
        (Some(old), Some(new)) if is_part && old.output >= new.output => Some(old),
        (old, new) => new.or(old),
    }
}

/// Blocks of a piece told again take the place of the old ones; blocks of new pieces come last. If all pieces are
/// told again, their order is the new one. A call that one of the pieces `told` so far has brought is not repeated.
pub(super) fn merge_blocks(entry: &mut Entry, mut new: Vec<Block>, told: &[Piece]) {
    let old = std::mem::take(&mut entry.blocks);
    let is_retold = |block: &Block| new.iter().any(|told| told.piece == block.piece);
    let (retold, kept): (Vec<Block>, Vec<Block>) = old.iter().cloned().partition(is_retold);
    let mut carried = HashSet::new();
    new.retain(|block| !repeats_call(&kept, told, block));
    for block in &mut new {
        carry_over(&retold, &mut carried, block);
    }
    if kept.is_empty() {
        entry.blocks = new;
        return;
    }
    let (again, further): (Vec<Block>, Vec<Block>) =
        new.into_iter().partition(|block| is_among(&retold, block));
    let pieces = |blocks: &[Block]| blocks.iter().map(|block| block.piece).collect::<Vec<Piece>>();
    if pieces(&retold) == pieces(&again) {
        // Pieces may be interleaved: each block has its own place.
        let mut again = again.into_iter();
        let renewed = old
            .into_iter()
            .filter_map(|block| if is_among(&retold, &block) { again.next() } else { Some(block) });
        entry.blocks.extend(renewed);
    } else {
        let mut by_piece: HashMap<Piece, Vec<Block>> = HashMap::new();
        for block in again {
            by_piece.entry(block.piece).or_default().push(block);
        }
        for block in old {
            if !is_among(&retold, &block) {
                entry.blocks.push(block);
            } else if let Some(blocks) = by_piece.remove(&block.piece) {
                entry.blocks.extend(blocks);
            }
        }
    }
    entry.blocks.extend(further);
}

fn is_among(blocks: &[Block], block: &Block) -> bool {
    blocks.iter().any(|other| other.piece == block.piece)
}

/// The same call told by another piece of the same message.
fn repeats_call(kept: &[Block], told: &[Piece], block: &Block) -> bool {
    let Some(call) = call_in(block).filter(|call| identifies(&call.key)) else { return false };
    let mut others = kept.iter().filter(|other| told.contains(&other.piece)).filter_map(call_in);
    others.any(|other| other.key == call.key)
}

/// A call told again does not lose its result or what it has put out so far, and equal bodies stay in memory.
/// Of calls with one id the n-th is the n-th that was told; `carried` are those that were found.
fn carry_over(replaced: &[Block], carried: &mut HashSet<usize>, block: &mut Block) {
    let BlockKind::Call(call) = &mut block.kind else { return };
    let mut known = replaced.iter().enumerate().filter_map(|(place, old)| Some((place, call_in(old)?)));
    let found = known.find(|(place, known)| known.key == call.key && !carried.contains(place));
    let Some((place, known)) = found else { return };
    carried.insert(place);
    let is_pending = call.state == ToolState::Pending;
    if call.state.is_open() && (is_pending || !known.state.is_open()) {
        call.state = known.state.clone();
    }
}

/// Takes over where bodies lie now.
pub(super) fn move_bodies(kept: &mut BlockKind, told: BlockKind) {
    let mut told = told;
    for (body, new) in kept.bodies_mut().into_iter().zip(told.bodies_mut()) {
        body.move_to(new);
    }
}
