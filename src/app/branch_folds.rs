//! Folding and unfolding of branches that the session left.
//!
//! Invariant: a folded branch shows one row; whatever leads into it opens it.

use super::state::State;
use super::viewport::Focus;
use crate::model::entry::EntryId;
use crate::render::row::Level;

/// Rows show which branch their entry lies on; they are made anew when that changes.
pub fn notice(state: &mut State) {
    let changed = state.session.transcript.branches_changed();
    if std::mem::replace(&mut state.text.branches_seen, changed) != changed {
        state.text.cache.clear();
        state.outline.clear();
        state.checks.look_again();
        state.text.stale.sequence |= !state.text.folds.branches().is_empty();
    }
}

/// Folds the branch of the focused item, or unfolds it.
pub fn toggle(state: &mut State) {
    let Some(focus) = state.text.view.focus else { return };
    state.text.view.hold();
    let Some(branch) = state.session.transcript.branches().of(focus.entry) else {
        return state.screen.say("not on a branch that the session left");
    };
    if state.find.filter.is_some() {
        return state.screen.say("a filter shows what fits of branches, folded or not");
    }
    let number = branch.number;
    let head = state.session.transcript.branches().head(branch);
    let is_folded = !state.text.folds.branches().contains(&number);
    let is_prompt =
        head.and_then(|id| state.session.transcript.get(id)).is_some_and(|entry| entry.marks.prompt);
    if is_folded && state.text.level == Level::Prompts && !is_prompt {
        return state.screen.say("among prompts nothing stands for this branch; + shows more");
    }
    set(state, number, is_folded);
    if let Some(entry) = head.filter(|_| is_folded) {
        state.text.view.focus = Some(Focus { entry, block: 0 });
    }
}

/// Unfolds the branch whose one row is focused. Answers whether it did.
pub fn unfold(state: &mut State, focus: Focus) -> bool {
    let folded = state.session.transcript.branches().of(focus.entry).map(|branch| branch.number);
    match folded.filter(|number| state.text.folds.branches().contains(number)) {
        Some(number) => {
            set(state, number, false);
            true
        }
        None => false,
    }
}

/// Unfolds all that hides an entry.
pub fn uncover(state: &mut State, id: EntryId) {
    let list = &state.session.transcript.branches().list;
    let mut at = state.session.transcript.branches().of(id).map(|branch| branch.number);
    let mut above = Vec::new();
    while let Some(number) = at.filter(|number| !above.contains(number)) {
        above.push(number);
        at = number.checked_sub(1).and_then(|place| list.get(place)).and_then(|branch| branch.parent);
    }
    for number in
        above.into_iter().filter(|number| state.text.folds.branches().contains(number)).collect::<Vec<_>>()
    {
        set(state, number, false);
    }
}

fn set(state: &mut State, number: usize, is_folded: bool) {
    state.text.folds.set_branch(number, is_folded);
    state.text.stale.sequence = true;
    state.look_changed();
}
