//! Search for landmarks: the next item of a kind, expensive turn, pause, item with the same id, or
//! other half of a pair. Items hidden by the filter are skipped.

use std::collections::HashSet;

use super::TextPane;
use super::sequence::starter_of;
use super::viewport::Focus;
use crate::analysis::account::Account;
use crate::analysis::context::window::Windows;
use crate::analysis::context::window::carried::Carried;
use crate::analysis::derived::{Generation, Memo};
use crate::analysis::expression::judge::ids_of;
use crate::analysis::phrases::is_headline;
use crate::app::input::action::{LandmarkKind, Way};
use crate::app::scene::Scene;
use crate::model::entry::{Block, BlockKind, Break, Entry, EntryId, Role};
use crate::model::text::Name;
use crate::model::tool::ToolState;
use crate::model::transcript::Transcript;

/// The shortest pause, in ms.
const PAUSE: u64 = 30_000;
/// The least cost of an expensive turn, as a multiple of the average.
const EXPENSIVE: f64 = 2.0;

/// The next landmark of a kind, from the focus, or from the end that a queued motion goes to.
pub fn next(text: &TextPane, scene: &Scene<'_>, kind: LandmarkKind, way: Way) -> Option<Focus> {
    let order = text.sequence.order();
    let end = |id: &EntryId| Focus {
        entry: *id,
        block: scene.session.transcript.blocks_of(*id).max(1) - 1,
    };
    let focus = match text.view.pending_end() {
        Some(Way::Previous) => order.first().map(|id| Focus {
            entry: *id,
            block: 0,
        }),
        Some(Way::Next) => order.last().map(end),
        None => text.view.focus,
    };
    let start = focus
        .and_then(|focus| text.sequence.place_of(focus.entry))
        .unwrap_or(0);
    let from = (start, focus.map(|focus| focus.block));
    let costly = if kind == LandmarkKind::Costly {
        expensive_turns(&scene.session.transcript, &scene.session.indexes.account)
    } else {
        HashSet::new()
    };
    let dear = if kind == LandmarkKind::Carried {
        expensive_results(scene)
    } else {
        HashSet::new()
    };
    let differs = match &text.compared {
        Some(compared) if kind == LandmarkKind::Difference => {
            compared.differences(&scene.session.transcript)
        }
        _ => HashSet::new(),
    };
    nearest(
        &scene.session.transcript,
        order,
        from,
        way,
        |focus, entry| {
            let is_wanted = match kind {
                LandmarkKind::Costly => {
                    costly.contains(&focus.entry) && is_headline(entry, focus.block)
                }
                LandmarkKind::Carried => dear.contains(&focus),
                LandmarkKind::Difference => differs.contains(&focus),
                LandmarkKind::Gap => {
                    is_first_shown(text, focus) && follows_a_pause(text, scene, focus.entry, entry)
                }
                LandmarkKind::News => {
                    let first = text.places.news.as_ref().map(|news| news.first);
                    first == Some(focus.entry) && is_first_shown(text, focus)
                }
                kind => is_kind(&scene.session.transcript, focus, entry, kind),
            };
            is_wanted && text.find.shows(focus)
        },
    )
}

/// The prompts of turns that cost twice the average, and of the most expensive turn.
fn expensive_turns(transcript: &Transcript, account: &Account) -> HashSet<EntryId> {
    let turns = transcript.turns().iter().enumerate();
    let costs = turns.filter_map(|(number, turn)| {
        let usd = account.turn(transcript, number).cost().usd?;
        (usd > 0.0).then_some((turn.prompt, usd))
    });
    let costs: Vec<(EntryId, f64)> = costs.collect();
    let sum: f64 = costs.iter().map(|(_, usd)| usd).sum();
    let highest = costs.iter().map(|(_, usd)| *usd).fold(0.0, f64::max);
    let bound = (sum / costs.len().max(1) as f64 * EXPENSIVE).min(highest);
    costs
        .into_iter()
        .filter(|(_, usd)| *usd >= bound)
        .map(|(prompt, _)| prompt)
        .collect()
}

/// Calls whose results cost much to carry. Views of the session have computed it; without one it is
/// computed for this jump alone.
fn expensive_results(scene: &Scene<'_>) -> HashSet<Focus> {
    let indexes = &scene.session.indexes;
    let transcript = &scene.session.transcript;
    if indexes.carried.is_complete() {
        return indexes.carried.expensive().collect();
    }
    let windows = Memo::<Windows>::of(transcript);
    let carried = Memo::<Carried>::compute(transcript, &windows);
    carried.expensive().collect()
}

fn is_first_shown(text: &TextPane, focus: Focus) -> bool {
    (0..focus.block).all(|block| !text.find.shows(Focus { block, ..focus }))
}

/// Whether there is a pause between an entry and the shown one above.
fn follows_a_pause(text: &TextPane, scene: &Scene<'_>, id: EntryId, entry: &Entry) -> bool {
    let above = text
        .sequence
        .place_of(id)
        .and_then(|place| place.checked_sub(1));
    let above = above.and_then(|place| scene.session.transcript.get(text.sequence.at(place)?));
    let silent = above
        .and_then(Entry::last_time)
        .and_then(|before| Some(entry.at?.since(before)));
    silent.is_some_and(|ms| ms > PAUSE)
}

/// The next item with an id, in the order of the file, including sub-agents.
pub(crate) fn same_id(
    text: &TextPane,
    scene: &Scene<'_>,
    here: Focus,
    wanted: &str,
    way: Way,
) -> Option<Focus> {
    let transcript = &scene.session.transcript;
    let start = transcript.place_of(here.entry)?;
    nearest(
        transcript,
        transcript.order(),
        (start, Some(here.block)),
        way,
        |focus, entry| {
            let has_id = |block| ids_of(transcript, entry, block).contains(&wanted);
            entry.blocks.get(focus.block).is_some_and(has_id) && text.find.shows(focus)
        },
    )
}

/// The id that relates an item to others: that of its call, of the call that started its sub-agent, or of its entry.
pub fn id_of(transcript: &Transcript, focus: Focus) -> Option<String> {
    let entry = transcript.get(focus.entry)?;
    let own = match &entry.blocks.get(focus.block)?.kind {
        BlockKind::Call(call) => Some(&call.key),
        BlockKind::Result(stray) => Some(&stray.call),
        _ => None,
    };
    let lane = || transcript.lane(entry.lane.as_ref()?)?.call.as_ref();
    let id = own
        .filter(|id| !id.is_empty())
        .or_else(lane)
        .unwrap_or(&entry.key);
    Some(id.to_string())
}

/// The nearest block in the given order of entries, after or before a position, that satisfies
/// `holds`.
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
        let Some(entry) = transcript.get(id) else {
            continue;
        };
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

/// Whether a block by itself is a landmark of a kind; expensive turns, pauses and news need the context.
pub(crate) fn is_kind(
    transcript: &Transcript,
    focus: Focus,
    entry: &Entry,
    kind: LandmarkKind,
) -> bool {
    let (id, place) = (focus.entry, focus.block);
    let Some(block) = entry.blocks.get(place) else {
        return false;
    };
    let is_first_text = || {
        let says = |b: &Block| matches!(&b.kind, BlockKind::Text(body) if !body.stub.is_blank());
        entry.blocks.iter().position(says) == Some(place)
    };
    match kind {
        // A request of one agent to another is not a prompt.
        LandmarkKind::Prompt => {
            entry.marks.prompt
                && transcript.is_main_lane(entry.lane.as_ref())
                && is_headline(entry, place)
        }
        LandmarkKind::Error => entry.has_failed(&block.kind),
        LandmarkKind::Tool => matches!(block.kind, BlockKind::Call(_)),
        LandmarkKind::Message => entry.role == Role::Assistant && is_first_text(),
        LandmarkKind::Thinking => matches!(block.kind, BlockKind::Thinking(_)),
        LandmarkKind::Lane => {
            let lane = block
                .call()
                .and_then(|call| transcript.lane_of_call(&call.key));
            lane.is_some_and(|lane| !lane.is_helper)
        }
        LandmarkKind::Compaction => {
            matches!(block.kind, BlockKind::Break(Break::Compaction { .. }))
        }
        LandmarkKind::Branch => {
            let is_head = place == 0 && transcript.branches().beginning_at(id).is_some();
            is_head || matches!(block.kind, BlockKind::Break(Break::Branch(_)))
        }
        LandmarkKind::Image => match &block.kind {
            BlockKind::Image(_) => true,
            BlockKind::Call(call) => call
                .state
                .result()
                .is_some_and(|result| !result.images.is_empty()),
            _ => false,
        },
        LandmarkKind::Open => {
            matches!(&block.kind, BlockKind::Call(call) if call.state.is_open() || call.state == ToolState::Lost)
        }
        LandmarkKind::Costly
        | LandmarkKind::Carried
        | LandmarkKind::Gap
        | LandmarkKind::Difference
        | LandmarkKind::News => false,
    }
}

/// The other half of a pair: for a stray result its call; for a call with a second result that
/// result; for an entry of a sub-agent the call that started it.
pub fn pair(transcript: &Transcript, focus: Focus) -> Option<Focus> {
    let entry = transcript.get(focus.entry)?;
    match &entry.blocks.get(focus.block)?.kind {
        BlockKind::Result(stray) => {
            let id = transcript.entries_with_call(&stray.call).first().copied()?;
            Some(Focus {
                entry: id,
                block: block_of_call(transcript.get(id)?, &stray.call)?,
            })
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

/// A possible origin of a stray result.
pub(crate) enum StrayNeighbour {
    /// A call of the same tool without a result.
    Named(Name),
    /// A call without a result; the stray result names no tool.
    Open,
    /// A compaction, which dropped calls.
    Compaction,
}

/// The likeliest origin of a stray result: the nearest unanswered call of the same lane that fits,
/// or compaction, before it; otherwise an unanswered call after it.
pub(crate) fn nearest_to_stray(
    transcript: &Transcript,
    stray: Focus,
) -> Option<(Focus, StrayNeighbour)> {
    let entry = transcript.get(stray.entry)?;
    let BlockKind::Result(result) = &entry.blocks.get(stray.block)?.kind else {
        return None;
    };
    let tool = result.result.tool.as_ref();
    let fits = |block: &Block| match &block.kind {
        BlockKind::Call(call) => {
            call.state.result().is_none() && tool.is_none_or(|tool| call.name == *tool)
        }
        _ => false,
    };
    let compacts = |block: &Block| matches!(block.kind, BlockKind::Break(Break::Compaction { .. }));
    let seek = |way: Way, holds: &dyn Fn(&Block) -> bool| {
        let here = (transcript.place_of(stray.entry)?, Some(stray.block));
        nearest(transcript, transcript.order(), here, way, |focus, other| {
            other.lane == entry.lane && other.blocks.get(focus.block).is_some_and(holds)
        })
    };
    let before = seek(Way::Previous, &|block| fits(block) || compacts(block));
    let target = before.or_else(|| seek(Way::Next, &fits))?;
    let is_compaction = transcript
        .get(target.entry)?
        .blocks
        .get(target.block)
        .is_some_and(compacts);
    let nearest = match tool {
        _ if is_compaction => StrayNeighbour::Compaction,
        Some(tool) => StrayNeighbour::Named(tool.clone()),
        None => StrayNeighbour::Open,
    };
    Some((target, nearest))
}

/// The call that started the lane of an entry.
pub(crate) fn starter(transcript: &Transcript, entry: &Entry) -> Option<Focus> {
    let lane = entry.lane.as_ref()?;
    let id = starter_of(transcript, lane)?;
    let call = transcript.lane(lane)?.call.clone()?;
    Some(Focus {
        entry: id,
        block: block_of_call(transcript.get(id)?, &call)?,
    })
}

/// Index of the block with the call of this id.
pub(crate) fn block_of_call(entry: &Entry, call: &str) -> Option<usize> {
    entry.blocks.iter().position(
        |block| matches!(&block.kind, BlockKind::Call(known) if known.key.as_str() == call),
    )
}
