//! Motions: from item to item, to landmarks and back, and following.

use super::action::{Kind, Way};
use super::apply;
use super::branches;
use super::effect::Effect;
use super::landmarks;
use super::reach::reach;
use super::reader::Reader;
use super::seek;
use super::viewport::{Focus, Motion, focus_of};
use crate::model::body::Key;
use crate::model::entry::BlockKind;
use crate::render::row::Level;

/// Asks for a motion; the next arrangement carries it out.
pub fn scroll(reader: &mut Reader, motion: Motion) {
    reader.text.view.ask(motion);
}

/// To the end, and on with it.
pub fn follow(reader: &mut Reader) -> Vec<Effect> {
    let effects = apply::to_end(reader);
    reader.text.unseen = 0;
    reader.text.view.ask(Motion::Tail);
    effects
}

/// To another item of a kind, or a word why there is none.
pub(crate) fn seek_on(reader: &mut Reader, kind: Kind, way: Way) {
    let is_hidden = kind == Kind::Thinking && !reader.text.shows_thinking;
    let found = landmarks::next(reader, kind, way);
    if let Some(focus) = found.filter(|_| !is_hidden) {
        return jump(reader, focus);
    }
    let side = if way == Way::Next { "after" } else { "before" };
    let what = word(kind);
    let words = match kind {
        Kind::Thinking if !reader.text.shows_thinking => "thinking is hidden; t shows it".to_owned(),
        Kind::News if reader.places.seen.is_none() => "nothing was new when this was opened".to_owned(),
        _ if kind != Kind::Prompt && reader.text.level == Level::Prompts => {
            format!("no {what} {side} this among prompts; + shows more")
        }
        _ if reader.session.ends.is_part() => format!("no {what} {side} this in what is read so far"),
        _ => format!("no {what} {side} this"),
    };
    reader.screen.say(words);
}

/// Jumps to an item and remembers where from.
pub fn jump(reader: &mut Reader, focus: Focus) {
    reader.remember_place();
    go(reader, focus);
}

/// Goes to an item. The focus is set at once, so that several jumps before a frame add up.
pub fn go(reader: &mut Reader, focus: Focus) {
    let Some(focus) = shown(reader, focus) else {
        return reader.screen.say("the filter hides it; & and enter show all");
    };
    reach(reader, focus);
    reader.text.view.ask(Motion::Pause);
    reader.text.view.ask(Motion::Show(focus));
    reader.text.view.focus = Some(focus);
}

/// The item, or the one nearest to it that the filter shows of its entry.
fn shown(reader: &Reader, focus: Focus) -> Option<Focus> {
    let Some(filter) = reader.find.filter.as_ref().filter(|filter| !filter.shows(focus)) else {
        return Some(focus);
    };
    let blocks = filter.blocks(focus.entry).iter().copied();
    blocks.min_by_key(|block| block.abs_diff(focus.block)).map(|block| Focus { block, ..focus })
}

/// To the next item with the same id, in sub-agents too.
pub(crate) fn same_id(reader: &mut Reader, way: Way) {
    let Some(here) = reader.text.view.focus else { return };
    let gone_along = reader.find.same_id.take().filter(|(focus, _)| *focus == here).map(|(_, id)| id);
    let Some(id) = gone_along.or_else(|| landmarks::id_of(&reader.session.transcript, here)) else { return };
    let found = landmarks::same_id(reader, here, &id, way);
    if let Some(focus) = found {
        jump(reader, focus);
    } else {
        reader.screen.say("nothing else has this id there");
    }
    reader.find.same_id = Some((found.unwrap_or(here), id));
}

/// To the branch with a number, or a word why not.
pub(crate) fn to_branch(reader: &mut Reader, number: usize) {
    match branches::head_of(&reader.session.transcript, number) {
        Some(focus) => jump(reader, focus),
        None => reader.screen.say(format!("the session left no branch {number}, or went back to it")),
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
pub fn pair(reader: &mut Reader) {
    let Some(focus) = reader.text.view.focus else { return };
    if let Some(other) = seek::pair(&reader.session.transcript, focus) {
        return jump(reader, other);
    }
    let lines: Vec<_> = reader.text.view.lines.iter().filter(|line| focus_of(line) == Some(focus)).collect();
    let Some(line) = lines.first() else { return };
    let rows = line.rows.iter().filter(|row| row.block == focus.block).count();
    let shows_head = line.rows.iter().position(|row| row.block == focus.block) == Some(line.row);
    let block = reader.session.transcript.get(focus.entry).and_then(|entry| entry.blocks.get(focus.block));
    let call = match block.map(|block| &block.kind) {
        Some(BlockKind::Call(call)) => call,
        Some(BlockKind::Result(stray)) if stray.call.is_blank() => {
            return reader.screen.say("a result that names no call");
        }
        Some(BlockKind::Result(stray)) => {
            let words = format!("a result without a call: none in this session has the id {}", stray.call);
            return reader.screen.say(words);
        }
        _ => return reader.screen.say("neither a call nor a result"),
    };
    if call.state.result().is_none() {
        return reader.screen.say("the call has no result");
    }
    let is_all_in_sight = rows == lines.len();
    match (is_all_in_sight, shows_head) {
        (true, _) => reader.screen.say("the result is part of this item"),
        (false, true) => reader.text.view.ask(Motion::ShowRow(focus, rows.saturating_sub(1))),
        (false, false) => reader.text.view.ask(Motion::ShowRow(focus, 0)),
    }
}

/// Goes to the entry that the reader asked for by its key, or by the id of a call, as soon as it is there.
pub(crate) fn go_to_wanted(reader: &mut Reader) {
    let Some(wanted) = &reader.places.wanted else { return };
    let by_call = || reader.session.transcript.entries_with_call(&Key::clean(wanted)).first().copied();
    if let Some(entry) = reader.session.transcript.find(wanted).or_else(by_call) {
        reader.places.wanted = None;
        go(reader, Focus { entry, block: 0 });
    } else if reader.session.file.is_caught_up {
        let words = format!("no entry is called {}", Key::clean(wanted));
        reader.places.wanted = None;
        reader.screen.say(words);
    }
}
