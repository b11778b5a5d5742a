//! Folding and unfolding of branches that the session left.
//!
//! Invariant: a folded branch shows one row; whatever leads into it opens it.

use super::reader::Reader;
use super::viewport::Focus;
use crate::model::entry::EntryId;
use crate::render::row::Level;

/// Rows show which branch their entry lies on; they are made anew when that changes.
pub fn notice(reader: &mut Reader) {
    let changed = reader.session.transcript.branches_changed();
    if std::mem::replace(&mut reader.text.branches_seen, changed) != changed {
        reader.text.cache.clear();
        reader.outline.clear();
        reader.checks.look_again();
        reader.text.stale.sequence |= !reader.text.folds.branches().is_empty();
    }
}

/// Folds the branch of the focused item, or unfolds it.
pub fn toggle(reader: &mut Reader) {
    let Some(focus) = reader.text.view.focus else { return };
    reader.text.view.hold();
    let Some(branch) = reader.session.transcript.branches().of(focus.entry) else {
        return reader.screen.say("not on a branch that the session left");
    };
    if reader.find.filter.is_some() {
        return reader.screen.say("a filter shows what fits of branches, folded or not");
    }
    let number = branch.number;
    let head = reader.session.transcript.branches().head(branch);
    let is_folded = !reader.text.folds.branches().contains(&number);
    let is_prompt =
        head.and_then(|id| reader.session.transcript.get(id)).is_some_and(|entry| entry.marks.prompt);
    if is_folded && reader.text.level == Level::Prompts && !is_prompt {
        return reader.screen.say("among prompts nothing stands for this branch; + shows more");
    }
    set(reader, number, is_folded);
    if let Some(entry) = head.filter(|_| is_folded) {
        reader.text.view.focus = Some(Focus { entry, block: 0 });
    }
}

/// Unfolds the branch whose one row is focused. Answers whether it did.
pub(crate) fn unfold(reader: &mut Reader, focus: Focus) -> bool {
    let folded = reader.session.transcript.branches().of(focus.entry).map(|branch| branch.number);
    match folded.filter(|number| reader.text.folds.branches().contains(number)) {
        Some(number) => {
            set(reader, number, false);
            true
        }
        None => false,
    }
}

/// Unfolds all that hides an entry.
pub(crate) fn uncover(reader: &mut Reader, id: EntryId) {
    let list = &reader.session.transcript.branches().list;
    let mut at = reader.session.transcript.branches().of(id).map(|branch| branch.number);
    let mut above = Vec::new();
    while let Some(number) = at.filter(|number| !above.contains(number)) {
        above.push(number);
        at = number.checked_sub(1).and_then(|place| list.get(place)).and_then(|branch| branch.parent);
    }
    for number in
        above.into_iter().filter(|number| reader.text.folds.branches().contains(number)).collect::<Vec<_>>()
    {
        set(reader, number, false);
    }
}

fn set(reader: &mut Reader, number: usize, is_folded: bool) {
    reader.text.folds.set_branch(number, is_folded);
    reader.text.stale.sequence = true;
    reader.look_changed();
}
