//! Motions: from item to item, to landmarks and back, and following.

use super::action::{Kind, Way};
use super::apply;
use super::branches;
use super::effect::Effect;
use super::landmarks;
use super::reach::reach;
use super::seek;
use super::state::State;
use super::viewport::{Focus, Motion, focus_of};
use crate::model::entry::BlockKind;
use crate::render::row::Level;

/// Asks for a motion; the next arrangement carries it out.
pub fn scroll(state: &mut State, motion: Motion) {
    state.text.view.ask(motion);
}

/// To the end, and on with it.
pub fn follow(state: &mut State) -> Vec<Effect> {
    let effects = apply::to_end(state);
    state.text.unseen = 0;
    state.text.view.ask(Motion::Tail);
    effects
}

/// To another item of a kind, or a word why there is none.
pub fn seek_on(state: &mut State, kind: Kind, way: Way) {
    let is_hidden = kind == Kind::Thinking && !state.text.shows_thinking;
    let found = landmarks::next(state, kind, way);
    if let Some(focus) = found.filter(|_| !is_hidden) {
        return jump(state, focus);
    }
    let side = if way == Way::Next { "after" } else { "before" };
    let what = word(kind);
    let words = match kind {
        Kind::Thinking if !state.text.shows_thinking => "thinking is hidden; t shows it".to_owned(),
        Kind::News if state.places.seen.is_none() => "nothing was new when this was opened".to_owned(),
        _ if kind != Kind::Prompt && state.text.level == Level::Prompts => {
            format!("no {what} {side} this among prompts; + shows more")
        }
        _ if state.session.ends.is_part() => format!("no {what} {side} this in what is read so far"),
        _ => format!("no {what} {side} this"),
    };
    state.screen.say(words);
}

/// Jumps to an item and remembers where from.
pub fn jump(state: &mut State, focus: Focus) {
    state.remember_place();
    go(state, focus);
}

/// Goes to an item. The focus is set at once, so that several jumps before a frame add up.
pub fn go(state: &mut State, focus: Focus) {
    let Some(focus) = shown(state, focus) else {
        return state.screen.say("the filter hides it; & and enter show all");
    };
    reach(state, focus);
    state.text.view.ask(Motion::Pause);
    state.text.view.ask(Motion::Show(focus));
    state.text.view.focus = Some(focus);
}

/// The item, or the one nearest to it that the filter shows of its entry.
fn shown(state: &State, focus: Focus) -> Option<Focus> {
    let Some(filter) = state.find.filter.as_ref().filter(|filter| !filter.shows(focus)) else {
        return Some(focus);
    };
    let blocks = filter.blocks(focus.entry).iter().copied();
    blocks.min_by_key(|block| block.abs_diff(focus.block)).map(|block| Focus { block, ..focus })
}

/// To the next item with the same id, in sub-agents too.
pub fn same_id(state: &mut State, way: Way) {
    let Some(here) = state.text.view.focus else { return };
    let gone_along = state.find.same_id.take().filter(|(focus, _)| *focus == here).map(|(_, id)| id);
    let Some(id) = gone_along.or_else(|| landmarks::id_of(&state.session.transcript, here)) else { return };
    let found = landmarks::same_id(state, here, &id, way);
    if let Some(focus) = found {
        jump(state, focus);
    } else {
        state.screen.say("nothing else has this id there");
    }
    state.find.same_id = Some((found.unwrap_or(here), id));
}

/// To the branch with a number, or a word why not.
pub fn to_branch(state: &mut State, number: usize) {
    match branches::head_of(&state.session.transcript, number) {
        Some(focus) => jump(state, focus),
        None => state.screen.say(format!("the session left no branch {number}, or went back to it")),
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Prompt => "prompt",
        Kind::Error => "error",
        Kind::Tool => "tool call",
        Kind::Message => "answer",
        Kind::Thinking => "thinking",
        Kind::Lane => "sub-agent",
        Kind::Compaction => "compaction",
        Kind::Branch => "branch",
        Kind::Image => "image",
        Kind::Open => "open call",
        Kind::Costly => "expensive turn",
        Kind::Gap => "pause",
        Kind::News => "new entry",
    }
}

/// A result stands under its call, so the pair's other half is the end of the same item, unless the
/// result is a stray.
pub fn pair(state: &mut State) {
    let Some(focus) = state.text.view.focus else { return };
    if let Some(other) = seek::pair(&state.session.transcript, focus) {
        return jump(state, other);
    }
    let lines: Vec<_> = state.text.view.lines.iter().filter(|line| focus_of(line) == Some(focus)).collect();
    let Some(line) = lines.first() else { return };
    let rows = line.rows.iter().filter(|row| row.block == focus.block).count();
    let shows_head = line.rows.iter().position(|row| row.block == focus.block) == Some(line.row);
    let block = state.session.transcript.get(focus.entry).and_then(|entry| entry.blocks.get(focus.block));
    let call = match block.map(|block| &block.kind) {
        Some(BlockKind::Call(call)) => call,
        Some(BlockKind::Result(stray)) if stray.call.is_blank() => {
            return state.screen.say("a result that names no call");
        }
        Some(BlockKind::Result(stray)) => {
            let words = format!("a result without a call: none in this session has the id {}", stray.call);
            return state.screen.say(words);
        }
        _ => return state.screen.say("neither a call nor a result"),
    };
    if call.state.result().is_none() {
        return state.screen.say("the call has no result");
    }
    let is_all_in_sight = rows == lines.len();
    match (is_all_in_sight, shows_head) {
        (true, _) => state.screen.say("the result is part of this item"),
        (false, true) => state.text.view.ask(Motion::ShowRow(focus, rows.saturating_sub(1))),
        (false, false) => state.text.view.ask(Motion::ShowRow(focus, 0)),
    }
}
