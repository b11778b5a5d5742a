//! Folding and unfolding of branches that the session left.
//!
//! Invariant: a folded branch shows one row; whatever leads into it opens it.

use super::viewport::Focus;
use crate::app::scene::Scene;
use crate::app::text::TextPane;
use crate::model::entry::EntryId;
use crate::render::row::Level;
use crate::session::Session;

/// Rows show which branch their entry lies on; they are made anew when that changes. Answers whether it did.
pub(crate) fn notice(text: &mut TextPane, session: &Session) -> bool {
    let changed = session.transcript.branches_changed();
    if std::mem::replace(&mut text.stale.branches_seen, changed) != changed {
        text.cache.clear();
        text.stale.sequence |= !text.folds.branches().is_empty();
        return true;
    }
    false
}

/// Folds the branch of the focused item, or unfolds it.
pub fn toggle(text: &mut TextPane, scene: &mut Scene<'_>) {
    let Some(focus) = text.view.focus else { return };
    text.view.hold();
    let Some(branch) = scene.session.transcript.branches().of(focus.entry) else {
        return scene.say("not on a branch that the session left");
    };
    if text.find.filter.is_some() {
        return scene.say("a filter shows what fits of branches, folded or not");
    }
    let number = branch.number;
    let head = scene.session.transcript.branches().head(branch);
    let is_folded = !text.folds.branches().contains(&number);
    let is_prompt =
        head.and_then(|id| scene.session.transcript.get(id)).is_some_and(|entry| entry.marks.prompt);
    if is_folded && text.level == Level::Prompts && !is_prompt {
        return scene.say("among prompts nothing stands for this branch; + shows more");
    }
    set(text, number, is_folded);
    if let Some(entry) = head.filter(|_| is_folded) {
        text.view.focus = Some(Focus { entry, block: 0 });
    }
}

/// Unfolds the branch whose one row is focused. Answers whether it did.
pub(crate) fn unfold(text: &mut TextPane, scene: &Scene<'_>, focus: Focus) -> bool {
    let folded = scene.session.transcript.branches().of(focus.entry).map(|branch| branch.number);
    match folded.filter(|number| text.folds.branches().contains(number)) {
        Some(number) => {
            set(text, number, false);
            true
        }
        None => false,
    }
}

/// Unfolds all branches that hide an entry.
pub(crate) fn unfold_above(text: &mut TextPane, scene: &Scene<'_>, id: EntryId) {
    let list = &scene.session.transcript.branches().list;
    let mut at = scene.session.transcript.branches().of(id).map(|branch| branch.number);
    let mut above = Vec::new();
    while let Some(number) = at.filter(|number| !above.contains(number)) {
        above.push(number);
        at = number.checked_sub(1).and_then(|place| list.get(place)).and_then(|branch| branch.parent);
    }
    for number in
        above.into_iter().filter(|number| text.folds.branches().contains(number)).collect::<Vec<_>>()
    {
        set(text, number, false);
    }
}

fn set(text: &mut TextPane, number: usize, is_folded: bool) {
    text.folds.set_branch(number, is_folded);
    text.stale.sequence = true;
    text.look_changed();
}
