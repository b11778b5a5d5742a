//! From landmark to landmark: which blocks are of a kind, and where the next one is.

use super::sequence::starter_of;
use super::viewport::Focus;
use crate::app::input::action::{Kind, Way};
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId, Role};
use crate::model::tool::ToolState;
use crate::model::transcript::Transcript;

/// The nearest block before or behind a place for which this holds, of the entries in this order.
pub(crate) fn nearest(
    transcript: &Transcript,
    order: &[EntryId],
    (start, here): (usize, Option<usize>),
    way: Way,
    holds: impl Fn(Focus, &Entry) -> bool,
) -> Option<Focus> {
    let places: Box<dyn Iterator<Item = usize>> = match way {
        Way::Next => Box::new(start..order.len()),
        Way::Previous => Box::new((0..=start).rev()),
    };
    for place in places {
        let id = order.get(place).copied()?;
        let Some(entry) = transcript.get(id) else { continue };
        let within = |block: usize| match (place == start, way, here) {
            (true, Way::Next, Some(here)) => block > here,
            (true, Way::Previous, Some(here)) => block < here,
            _ => true,
        };
        let mut found = (0..entry.blocks.len())
            .map(|block| Focus { entry: id, block })
            .filter(|focus| within(focus.block) && holds(*focus, entry));
        let focus = match way {
            Way::Next => found.next(),
            Way::Previous => found.next_back(),
        };
        if focus.is_some() {
            return focus;
        }
    }
    None
}

/// Whether a block is of a kind that it is by itself; turns and pauses are not.
pub(crate) fn is_kind(transcript: &Transcript, focus: Focus, entry: &Entry, kind: Kind) -> bool {
    let (id, place) = (focus.entry, focus.block);
    let Some(block) = entry.blocks.get(place) else { return false };
    let is_first_text = || {
        let says = |b: &Block| matches!(&b.kind, BlockKind::Text(body) if !body.stub.is_blank());
        entry.blocks.iter().position(says) == Some(place)
    };
    match kind {
        // What one agent asks of another is no prompt.
        Kind::Prompt => entry.marks.prompt && entry.lane.is_none() && is_headline(entry, place),
        Kind::Error => block.kind.is_error(),
        Kind::Tool => matches!(block.kind, BlockKind::Call(_)),
        Kind::Message => entry.role == Role::Assistant && is_first_text(),
        Kind::Thinking => matches!(block.kind, BlockKind::Thinking(_)),
        Kind::Lane => {
            matches!(&block.kind, BlockKind::Call(call) if transcript.lane_of_call(&call.key).is_some())
        }
        Kind::Compaction => matches!(block.kind, BlockKind::Break(Break::Compaction { .. })),
        Kind::Branch => {
            let is_head = place == 0 && transcript.branches().headed_by(id).is_some();
            is_head || matches!(block.kind, BlockKind::Break(Break::Branch(_)))
        }
        Kind::Image => match &block.kind {
            BlockKind::Image(_) => true,
            BlockKind::Call(call) => call.state.result().is_some_and(|result| !result.images.is_empty()),
            _ => false,
        },
        Kind::Open => {
            matches!(&block.kind, BlockKind::Call(call) if call.state.is_open() || call.state == ToolState::Lost)
        }
        Kind::Costly | Kind::Gap | Kind::News => false,
    }
}

/// The block that stands for a prompt: its first text, or its first block.
pub(crate) fn is_headline(entry: &Entry, place: usize) -> bool {
    let text = entry.blocks.iter().position(|block| matches!(block.kind, BlockKind::Text(_)));
    text.unwrap_or(0) == place
}

/// The other half of a pair: for a stray result its call, for a call that has a second result that one;
/// for an entry of a sub-agent the call that started it.
pub fn pair(transcript: &Transcript, focus: Focus) -> Option<Focus> {
    let entry = transcript.get(focus.entry)?;
    match &entry.blocks.get(focus.block)?.kind {
        BlockKind::Result(stray) => {
            let id = transcript.entries_with_call(&stray.call).first().copied()?;
            Some(Focus { entry: id, block: block_of_call(transcript.get(id)?, &stray.call)? })
        }
        BlockKind::Call(call) => {
            let is_stray_of = |block: &Block| matches!(&block.kind, BlockKind::Result(stray) if stray.call == call.key && !call.key.is_empty());
            let stray = transcript.order().iter().copied().find_map(|id| {
                let block = transcript.get(id)?.blocks.iter().position(is_stray_of)?;
                Some(Focus { entry: id, block })
            });
            stray.or_else(|| starter(transcript, entry))
        }
        _ => starter(transcript, entry),
    }
}

/// The call that started the lane of an entry.
pub(crate) fn starter(transcript: &Transcript, entry: &Entry) -> Option<Focus> {
    let lane = entry.lane.as_ref()?;
    let id = starter_of(transcript, lane)?;
    let call = transcript.lane(lane)?.call.clone()?;
    Some(Focus { entry: id, block: block_of_call(transcript.get(id)?, &call)? })
}

fn block_of_call(entry: &Entry, call: &str) -> Option<usize> {
    entry
        .blocks
        .iter()
        .position(|block| matches!(&block.kind, BlockKind::Call(known) if known.key.as_str() == call))
}
