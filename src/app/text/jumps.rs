//! Jumps: to items and landmarks, to the other half of a pair, to saved positions.

use super::find::search;
use super::landmarks::StrayNeighbour;
use super::viewport::{Focus, Motion, focus_of};
use super::{branches, landmarks};
use crate::analysis::calls::lifecycle;
use crate::app::effect::Effect;
use crate::app::input::action::{LandmarkKind, Way};
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::app::text::folds::reveal;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, EntryId, StrayResult};
use crate::render::row::Level;

/// Queues a motion for the next layout.
pub(crate) fn scroll(text: &mut TextPane, motion: Motion) {
    text.view.push_motion(motion);
}

/// Jumps to the next landmark of a kind, or shows a message that there is none.
pub(crate) fn seek(text: &mut TextPane, scene: &mut Scene<'_>, kind: LandmarkKind, way: Way) {
    let is_hidden = kind == LandmarkKind::Thinking && !text.shows.thinking;
    let found = landmarks::next(text, scene, kind, way);
    if let Some(focus) = found.filter(|_| !is_hidden) {
        return jump(text, scene, focus);
    }
    let side = if way == Way::Next { "after" } else { "before" };
    let what = word(kind);
    let words = match kind {
        LandmarkKind::Thinking if !text.shows.thinking => {
            "thinking is hidden; t shows it".to_owned()
        }
        LandmarkKind::Difference if text.compared.is_none() => {
            "nothing is compared; :diff compares this run with another one".to_owned()
        }
        LandmarkKind::News if text.places.last_visit.is_none() && text.unseen > 0 => {
            format!(
                "{} new below came since this was opened; G goes there",
                text.unseen
            )
        }
        LandmarkKind::News if text.places.is_first_visit => {
            "this session was not looked at before".to_owned()
        }
        LandmarkKind::News if text.places.last_visit.is_none() => {
            "nothing was new when this was opened".to_owned()
        }
        _ if kind != LandmarkKind::Prompt && text.level == Level::Prompts => {
            format!("no {what} {side} this among prompts; + shows more")
        }
        _ if scene.session.is_part() => format!("no {what} {side} this in what is read so far"),
        _ => format!("no {what} {side} this"),
    };
    scene.set_status(words);
}

/// Goes to an item, and pushes the previous position onto the jump list.
pub fn jump(text: &mut TextPane, scene: &mut Scene<'_>, focus: Focus) {
    text.remember_place(scene.session);
    go_to_item(text, scene, focus);
}

/// Whether an entry has rows at the current level.
pub(super) fn has_rows(text: &TextPane, scene: &Scene<'_>, id: EntryId) -> bool {
    let marks = scene.session.transcript.marks(id);
    text.sequence.place_of(id).is_some() && marks.is_some_and(|marks| !text.level.hides(marks))
}

/// Goes to an item. The focus is set immediately, so that jumps before the next frame start from
/// it.
pub fn go_to_item(text: &mut TextPane, scene: &mut Scene<'_>, focus: Focus) {
    let Some(focus) = shown(text, focus) else {
        return scene.set_status("the filter hides it; & and enter show all");
    };
    reveal(text, scene, focus);
    text.view.push_motion(Motion::Pause);
    text.view.push_motion(Motion::Show(focus));
    text.view.focus = Some(focus);
}

/// The item, or the nearest one of its entry that the filter shows.
fn shown(text: &TextPane, focus: Focus) -> Option<Focus> {
    let Some(filter) = text
        .find
        .filter
        .as_ref()
        .filter(|filter| !filter.shows(focus))
    else {
        return Some(focus);
    };
    let blocks = filter.blocks(focus.entry).iter().copied();
    blocks
        .min_by_key(|block| block.abs_diff(focus.block))
        .map(|block| Focus { block, ..focus })
}

/// Jumps to the next item with the same id, in sub-agents too.
pub(crate) fn same_id(text: &mut TextPane, scene: &mut Scene<'_>, way: Way) {
    let Some(here) = text.view.focus else { return };
    let gone_along = text
        .find
        .same_id
        .take()
        .filter(|(focus, _)| *focus == here)
        .map(|(_, id)| id);
    let Some(id) = gone_along.or_else(|| landmarks::id_of(&scene.session.transcript, here)) else {
        return;
    };
    let found = landmarks::same_id(text, scene, here, &id, way);
    if let Some(focus) = found {
        jump(text, scene, focus);
    } else {
        scene.set_status("nothing else has this id there");
    }
    text.find.same_id = Some((found.unwrap_or(here), id));
}

/// Jumps to a branch by its number, or shows a message why it cannot.
pub(crate) fn to_branch(text: &mut TextPane, scene: &mut Scene<'_>, number: usize) {
    match branches::head_of(&scene.session.transcript, number) {
        Some(focus) => jump(text, scene, focus),
        None => scene.set_status(format!(
            "the session left no branch {number}, or went back to it"
        )),
    }
}

fn word(kind: LandmarkKind) -> &'static str {
    match kind {
        LandmarkKind::Prompt => "prompt",
        LandmarkKind::Error => "failure",
        LandmarkKind::Tool => "tool call",
        LandmarkKind::Message => "answer",
        LandmarkKind::Thinking => "thinking",
        LandmarkKind::Lane => "sub-agent",
        LandmarkKind::Compaction => "compaction",
        LandmarkKind::Branch => "branch",
        LandmarkKind::Image => "image",
        LandmarkKind::Open => "open call",
        LandmarkKind::Costly => "expensive turn",
        LandmarkKind::Carried => "result that cost much to carry",
        LandmarkKind::Gap => "pause",
        LandmarkKind::Difference => "difference",
        LandmarkKind::News => "new entry",
    }
}

/// The next shown entry that belongs to a call with background work, and the call; after the last
/// entry the call again. From an entry that belongs to several calls, the steps continue with the
/// call that led to it.
fn next_of_call(text: &TextPane, scene: &Scene<'_>, focus: Focus) -> Option<(Focus, Focus)> {
    let transcript = &scene.session.transcript;
    let before = text.find.call_step.filter(|(place, _)| *place == focus);
    let before = before.map(|(_, call)| call);
    before
        .into_iter()
        .chain(lifecycle::subjects(transcript, focus))
        .find_map(|call| {
            let stations = lifecycle::positions(transcript, call).into_iter();
            let shown: Vec<Focus> = stations
                .filter(|focus| has_rows(text, scene, focus.entry))
                .collect();
            let is_here = |other: &Focus| other.block == 0 && other.entry == focus.entry;
            let at = shown
                .iter()
                .position(|other| *other == focus)
                .or_else(|| shown.iter().rposition(is_here));
            let next = shown.get(at.map_or(0, |at| (at + 1) % shown.len()))?;
            (*next != focus).then_some((call, *next))
        })
}

/// Goes to the other half of a pair. A result is shown under its call, so that is the end of the
/// same item, unless the result is a stray.
pub fn pair(text: &mut TextPane, scene: &mut Scene<'_>) {
    let Some(focus) = text.view.focus else { return };
    if let Some((call, other)) = next_of_call(text, scene, focus) {
        jump(text, scene, other);
        text.find.call_step = Some((other, call));
        return;
    }
    if let Some(other) = landmarks::pair(&scene.session.transcript, focus) {
        return jump(text, scene, other);
    }
    let block = scene
        .session
        .transcript
        .get(focus.entry)
        .and_then(|entry| entry.blocks.get(focus.block));
    let call = match block.map(|block| &block.kind) {
        Some(BlockKind::Call(call)) => call,
        Some(BlockKind::Result(stray)) => return to_nearest(text, scene, focus, stray),
        _ => return scene.set_status("neither a call nor a result"),
    };
    let lines: Vec<_> = text
        .view
        .lines
        .iter()
        .filter(|line| focus_of(line) == Some(focus))
        .collect();
    let Some(line) = lines.first() else { return };
    let rows = line
        .rows
        .iter()
        .filter(|row| row.block == focus.block)
        .count();
    let shows_head = line.rows.iter().position(|row| row.block == focus.block) == Some(line.row);
    if call.state.result().is_none() {
        return scene.set_status("the call has no result");
    }
    let is_all_in_sight = rows == lines.len();
    match (is_all_in_sight, shows_head) {
        (true, _) => scene.set_status("the result is part of this item"),
        (false, true) => text
            .view
            .push_motion(Motion::ShowRow(focus, rows.saturating_sub(1))),
        (false, false) => text.view.push_motion(Motion::ShowRow(focus, 0)),
    }
}

/// Jumps from a stray result to its likeliest origin, with a message.
fn to_nearest(text: &mut TextPane, scene: &mut Scene<'_>, focus: Focus, stray: &StrayResult) {
    let missing = if stray.call.is_blank() {
        "the result names no call".to_owned()
    } else {
        format!("no call has the id {}", stray.call)
    };
    let Some((target, nearest)) = landmarks::nearest_to_stray(&scene.session.transcript, focus)
    else {
        return scene.set_status(format!("{missing}; nothing near it fits"));
    };
    jump(text, scene, target);
    scene.set_status(match nearest {
        StrayNeighbour::Named(tool) => {
            format!("{missing}; nearest is this {tool} call without a result")
        }
        StrayNeighbour::Open => format!("{missing}; nearest is this call without a result"),
        StrayNeighbour::Compaction => {
            format!("{missing}; the history was compacted here, before it")
        }
    });
}

/// Restores the position from before a reload as soon as its entry has been read.
pub(crate) fn restore_position(text: &mut TextPane, scene: &Scene<'_>) {
    let Some(position) = &text.places.return_to else {
        return;
    };
    let found = position.resolve(&scene.session.transcript);
    if let Some((anchor, focus)) = found {
        (text.view.anchor, text.view.focus) = (anchor, focus);
    }
    if found.is_some() || scene.session.file.is_caught_up {
        text.places.return_to = None;
    }
}

/// Goes to the entry requested on the command line, by its key or the id of a call, as soon as it
/// has been read.
pub(crate) fn go_to_requested(text: &mut TextPane, scene: &mut Scene<'_>) -> Vec<Effect> {
    let Some(wanted) = &text.places.requested_entry else {
        return Vec::new();
    };
    let transcript = &scene.session.transcript;
    let by_call = || {
        let entry = *transcript.entries_with_call(&Key::clean(wanted)).first()?;
        let block = landmarks::block_of_call(transcript.get(entry)?, wanted).unwrap_or(0);
        Some(Focus { entry, block })
    };
    let by_key = transcript
        .find(wanted)
        .map(|entry| Focus { entry, block: 0 });
    if let Some(focus) = by_key.or_else(by_call) {
        text.places.requested_entry = None;
        go_to_item(text, scene, focus);
    } else if scene.session.file.is_caught_up {
        let words = format!("no entry is called {}", Key::clean(wanted));
        text.places.requested_entry = None;
        scene.set_status(words);
    } else {
        return Vec::new();
    }
    let sought = text.places.sought.take();
    sought.map_or_else(Vec::new, |sought| search::begin(text, scene, &sought))
}
