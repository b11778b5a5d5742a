//! Items that the reader marked with a letter.
//!
//! Invariant: kept by the entry's key, so that marks survive a new telling of the session.

use std::collections::HashMap;

use super::action::Action;
use super::apply;
use super::effect::Effect;
use super::moving::{go, jump};
use super::outline::row::title_of;
use super::places::Item;
use super::state::State;
use super::viewport::Focus;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, EntryId};

/// Marked items: the entry and the place of the block, by letter.
pub type Marks = HashMap<char, Item>;

/// Sets a mark, goes to one, or to where jumps came from.
pub fn act(state: &mut State, action: Action, times: usize) -> Vec<Effect> {
    match action {
        Action::SetMark => return set(state),
        Action::ToMark => go_to(state),
        other => {
            let is_back = other == Action::Back;
            return (0..times.min(1_000)).flat_map(|_| travel(state, is_back)).collect();
        }
    }
    Vec::new()
}

/// Marks the focused item with the letter that was pressed.
fn set(state: &mut State) -> Vec<Effect> {
    let Some(letter) = state.keys.letter.filter(|letter| letter.is_alphanumeric()) else {
        state.screen.say("a letter or a digit names the mark");
        return Vec::new();
    };
    let marked = state
        .text
        .view
        .focus
        .and_then(|focus| Some((state.session.transcript.get(focus.entry)?.key.clone(), focus.block)));
    let Some(marked) = marked else {
        state.screen.say("nothing is focused");
        return Vec::new();
    };
    state.places.marks.insert(letter, marked);
    state.text.stale.spine = true;
    state.screen.say(format!("marked {letter}"));
    vec![Effect::Remember]
}

/// To the item with the letter that was pressed.
fn go_to(state: &mut State) {
    let Some(letter) = state.keys.letter.filter(|letter| letter.is_alphanumeric()) else {
        return state.screen.say("a letter or a digit names the mark");
    };
    let Some((key, block)) = state.places.marks.get(&letter) else {
        return state.screen.say(format!("nothing is marked {letter}"));
    };
    match state.session.transcript.find(key) {
        Some(entry) => jump(state, Focus { entry, block: *block }),
        None if state.session.ends.is_part() => {
            state.screen.say(format!("what was marked {letter} is not read yet"));
        }
        None => state.screen.say(format!("what was marked {letter} is not in the session any more")),
    }
}

/// The marks in the order of their letters, each with what it stands at.
pub fn listed(state: &State) -> Vec<(char, String)> {
    let at = |(key, block): &(Key, usize)| {
        let entry = state.session.transcript.find(key).and_then(|id| state.session.transcript.get(id));
        entry.map_or_else(
            || "gone".to_owned(),
            |entry| match entry.blocks.get(*block).map(|block| &block.kind) {
                Some(BlockKind::Call(call)) => format!("{} {}", call.name, call.headline),
                Some(BlockKind::Thinking(body)) => body.stub.to_string(),
                Some(BlockKind::Break(what)) => what.words().to_string(),
                Some(BlockKind::Raw(raw)) => raw.title.to_string(),
                Some(BlockKind::Text(_) | BlockKind::Result(_) | BlockKind::Image(_)) | None => {
                    title_of(entry).to_string()
                }
            },
        )
    };
    let mut marks: Vec<(char, String)> =
        state.places.marks.iter().map(|(letter, mark)| (*letter, at(mark))).collect();
    marks.sort_unstable();
    marks
}

/// Entries with marks.
pub fn entries(state: &State) -> impl Iterator<Item = EntryId> {
    state.places.marks.values().filter_map(|(key, _)| state.session.transcript.find(key))
}

/// Takes the last jump back, or goes forward again.
fn travel(state: &mut State, is_back: bool) -> Vec<Effect> {
    // From the beginning of a session that is being read to where the reader was among its last entries.
    let effects = if is_back && !state.places.can_go_back() { apply::to_end(state) } else { Vec::new() };
    match state.places.travel(&state.session.transcript, state.text.view.focus, is_back) {
        Some(focus) => go(state, focus),
        None if is_back => state.screen.say("no jump to take back"),
        None => state.screen.say("no jump was taken back"),
    }
    effects
}
