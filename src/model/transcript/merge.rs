//! Merges a record into an entry that exists: what is replaced, added or retained.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::model::body::Key;
use crate::model::entry::{Block, BlockKind, Entry, Piece, Stop};
use crate::model::tool::identifies;
use crate::model::tool::{ToolCall, ToolState};
use crate::model::usage::Usage;

/// Relation of a record to the existing pieces of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordExtent {
    /// Whether it covers only a part of the updated entry.
    is_part: bool,
    /// Whether it covers the first piece.
    has_first: bool,
}

impl RecordExtent {
    /// Only further pieces of an entry that has some.
    pub(crate) const FURTHER: Self = Self {
        is_part: true,
        has_first: false,
    };

    /// Relation of new blocks to the existing ones.
    pub(crate) fn of(known: &[Block], new: &[Block]) -> Self {
        let (before, newer) = (pieces_of(known), pieces_of(new));
        let brings_piece = new.iter().any(|block| !contains(&before, block));
        let leaves_piece = known.iter().any(|block| !contains(&newer, block));
        let has_first = match (known.first(), new.first()) {
            (Some(old), Some(new)) => !brings_piece && old.piece == new.piece,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        Self {
            is_part: brings_piece || leaves_piece,
            has_first,
        }
    }
}

/// Merges all fields of an entry except its blocks.
pub(crate) fn merge_head(entry: &mut Entry, new: &Entry, part: RecordExtent) {
    entry.parent = entry.parent.take().or_else(|| new.parent.clone());
    entry.lane = new.lane.clone().or_else(|| entry.lane.take());
    entry.at = entry.at.or(new.at);
    entry.end_at(new.ended);
    entry.role = new.role;
    entry.from.clone_from(&new.from);
    entry.model = new.model.clone().or_else(|| entry.model.take());
    let attributed = new.attribution.clone();
    entry.attribution = attributed.or_else(|| entry.attribution.take());
    // An entry marked as bookkeeping stays so when its beginning is sent again.
    let before = entry.marks;
    entry.marks = new.marks;
    entry.marks.trace |= before.trace;
    // Report marks are derived from work, not from the entry's own record.
    (entry.marks.reports, entry.marks.again) = (before.reports, before.again);
    if new.stop != Stop::Unrecorded {
        entry.stop = new.stop;
    }
    entry.usage = richer(entry.usage.take(), new.usage.clone(), part.is_part);
    if part.has_first {
        entry.origin = new.origin;
    }
    for record in &new.records {
        match entry.records.iter_mut().find(|known| known.is_at(*record)) {
            Some(known) => *known = *record,
            None => entry.records.push(*record),
        }
    }
}

/// The better of two usage records. Several records of one request repeat its usage while it grows:
/// the greatest output wins, then a complete answer, then the one with more counts, else the first,
/// so that repetitions change nothing.
pub(super) fn richer(
    old: Option<Box<Usage>>,
    new: Option<Box<Usage>>,
    is_part: bool,
) -> Option<Box<Usage>> {
    let rank = |usage: &Usage| (usage.output, !usage.is_partial, usage.recorded_counts());
    match (old, new) {
        (Some(old), Some(new)) if is_part && rank(&old) >= rank(&new) => Some(old),
        (old, new) => new.or(old),
    }
}

/// Replaces the blocks of pieces that are sent again, and appends those of new pieces. If all
/// pieces are sent again, they get the new order. A call that another piece has brought is not
/// repeated.
pub(super) fn merge_blocks(entry: &mut Entry, mut new: Vec<Block>) {
    let old = std::mem::take(&mut entry.blocks);
    let brought = pieces_of(&new);
    let (renewed_blocks, kept): (Vec<&Block>, Vec<&Block>) =
        old.iter().partition(|block| contains(&brought, block));
    drop_repeated_calls(&mut new, &kept);
    carry_over(&renewed_blocks, &mut new);
    if kept.is_empty() {
        entry.blocks = new;
        return;
    }
    let again_pieces = sorted(renewed_blocks.iter().map(|block| block.piece));
    let (again, further): (Vec<Block>, Vec<Block>) = new
        .into_iter()
        .partition(|block| contains(&again_pieces, block));
    if renewed_blocks
        .iter()
        .map(|block| block.piece)
        .eq(again.iter().map(|block| block.piece))
    {
        // Pieces may be interleaved: each block is replaced at its own index.
        let mut again = again.into_iter();
        let renewed = old.into_iter().filter_map(|block| {
            if contains(&again_pieces, &block) {
                again.next()
            } else {
                Some(block)
            }
        });
        entry.blocks.extend(renewed);
    } else {
        let mut by_piece: HashMap<Piece, Vec<Block>> = HashMap::new();
        for block in again {
            by_piece.entry(block.piece).or_default().push(block);
        }
        for block in old {
            if !contains(&again_pieces, &block) {
                entry.blocks.push(block);
            } else if let Some(blocks) = by_piece.remove(&block.piece) {
                entry.blocks.extend(blocks);
            }
        }
    }
    entry.blocks.extend(further);
}

fn sorted(pieces: impl Iterator<Item = Piece>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = pieces.collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// The distinct pieces of blocks, sorted.
fn pieces_of(blocks: &[Block]) -> Vec<Piece> {
    sorted(blocks.iter().map(|block| block.piece))
}

/// Whether a block belongs to one of these sorted pieces.
fn contains(pieces: &[Piece], block: &Block) -> bool {
    pieces.binary_search(&block.piece).is_ok()
}

/// Removes calls that another piece of the same message has brought.
fn drop_repeated_calls(new: &mut Vec<Block>, kept: &[&Block]) {
    let known: HashSet<Key> = kept
        .iter()
        .filter_map(|block| block.call())
        .map(|call| call.key.clone())
        .collect();
    new.retain(|block| {
        block
            .call()
            .is_none_or(|call| !identifies(&call.key) || !known.contains(&call.key))
    });
}

/// Carries results, live output and loaded bodies over to the same blocks sent again. Calls with
/// equal ids are matched by their order.
fn carry_over(replaced: &[&Block], new: &mut [Block]) {
    let mut known: HashMap<&Key, VecDeque<&ToolCall>> = HashMap::new();
    for call in replaced.iter().filter_map(|block| block.call()) {
        known.entry(&call.key).or_default().push_back(call);
    }
    for call in new.iter_mut().filter_map(Block::call_mut) {
        let Some(known) = known.get_mut(&call.key).and_then(VecDeque::pop_front) else {
            continue;
        };
        let is_pending = call.state == ToolState::Pending;
        call.state.copy_updates_from(&known.state);
        if call.state.is_open() && (is_pending || !known.state.is_open()) {
            call.state = known.state.clone();
        }
    }
}

/// Updates the positions of bodies.
pub(super) fn move_bodies(kept: &mut BlockKind, newer: BlockKind) {
    let mut newer = newer;
    for (body, new) in kept.bodies_mut().zip(newer.bodies_mut()) {
        body.move_to(new);
    }
}
