//! Items that the reader marked with a letter.
//!
//! Invariant: kept by the entry's key, so that marks survive a new telling of the session.

use std::collections::HashMap;

use super::action::Action;
use super::effect::Effect;
use super::ends;
use super::moving::{go, jump};
use super::outline::row::title_of;
use super::state::State;
use super::viewport::Focus;
use crate::model::body::Key;
use crate::model::entry::{BlockKind, EntryId};

/// Marked items: the entry and the place of the block, by letter.
pub type Marks = HashMap<char, (Key, usize)>;

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
    let Some(letter) = state.letter.filter(|letter| letter.is_alphanumeric()) else {
        state.say("a letter or a digit names the mark");
        return Vec::new();
    };
    let marked = state
        .view
        .focus
        .and_then(|focus| Some((state.transcript.get(focus.entry)?.key.clone(), focus.block)));
    let Some(marked) = marked else {
        state.say("nothing is focused");
        return Vec::new();
    };
    state.marks.insert(letter, marked);
    state.stale.spine = true;
    state.say(format!("marked {letter}"));
    vec![Effect::Remember]
}

/// To the item with the letter that was pressed.
fn go_to(state: &mut State) {
    let Some(letter) = state.letter.filter(|letter| letter.is_alphanumeric()) else {
        return state.say("a letter or a digit names the mark");
    };
    let Some((key, block)) = state.marks.get(&letter) else {
        return state.say(format!("nothing is marked {letter}"));
    };
    match state.transcript.find(key) {
        Some(entry) => jump(state, Focus { entry, block: *block }),
        None if state.whole.is_some() => state.say(format!("what was marked {letter} is not read yet")),
        None => state.say(format!("what was marked {letter} is not in the session any more")),
    }
}

/// The marks in the order of their letters, each with what it stands at.
pub fn listed(state: &State) -> Vec<(char, String)> {
    let at = |(key, block): &(Key, usize)| {
        let entry = state.transcript.find(key).and_then(|id| state.transcript.get(id));
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
        state.marks.iter().map(|(letter, mark)| (*letter, at(mark))).collect();
    marks.sort_unstable();
    marks
}

/// Entries with marks.
pub fn entries(state: &State) -> impl Iterator<Item = EntryId> {
    state.marks.values().filter_map(|(key, _)| state.transcript.find(key))
}

/// Takes the last jump back, or goes forward again.
fn travel(state: &mut State, is_back: bool) -> Vec<Effect> {
    // From the beginning of a session that is being read to where the reader was among its last entries.
    let effects = if is_back && state.jumps.is_empty() { ends::to_end(state) } else { Vec::new() };
    let (from, onto) =
        if is_back { (&mut state.jumps, &mut state.ahead) } else { (&mut state.ahead, &mut state.jumps) };
    match from.pop() {
        Some(focus) => {
            onto.extend(state.view.focus);
            go(state, focus);
        }
        None if is_back => state.say("no jump to take back"),
        None => state.say("no jump was taken back"),
    }
    effects
}
