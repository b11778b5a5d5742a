//! `:goto`: an entry by number, a line of the file, a percentage, or a time.

use super::TextPane;
use super::jumps::{has_rows, jump, to_branch};
use super::viewport::Focus;
use crate::app::input::command::GotoTarget;
use crate::app::scene::Scene;
use crate::model::entry::{Entry, EntryId};
use crate::model::record::FileId;

/// Goes to a position, or shows a message why it cannot.
pub(crate) fn go_to(text: &mut TextPane, scene: &mut Scene<'_>, place: GotoTarget) {
    if let GotoTarget::Line(line) = place {
        return match at_line(text, scene, line) {
            Some(focus) => jump(text, scene, focus),
            None => scene.set_status(format!("nothing is at {place}")),
        };
    }
    if let GotoTarget::Branch(number) = place {
        return to_branch(text, scene, number);
    }
    let entry = match place {
        GotoTarget::Entry(number) => number.checked_sub(1).and_then(|at| {
            let from = scene.session.transcript.order().get(at..)?;
            from.iter().copied().find(|id| has_rows(text, scene, *id))
        }),
        GotoTarget::Line(_) | GotoTarget::Branch(_) => None,
        GotoTarget::Percent(percent) => entry_at_share(text, scene, u64::from(percent), 100),
        GotoTarget::Clock(clock) => {
            let focused = text
                .view
                .focus
                .and_then(|focus| scene.session.transcript.get(focus.entry)?.at);
            let day = focused.unwrap_or(scene.screen.now);
            let then = day.at(clock);
            first(text, scene, |entry| entry.at.is_some() && entry.at >= then)
        }
        GotoTarget::Timestamp(then) => first(text, scene, |entry| entry.at >= Some(then)),
    };
    match entry {
        Some(entry) => jump(text, scene, Focus { entry, block: 0 }),
        None => scene.set_status(format!("nothing is at {place}")),
    }
}

/// The item decoded from a line of the session's file; for a line without an item, the last item
/// before it.
fn at_line(text: &TextPane, scene: &Scene<'_>, line: u32) -> Option<Focus> {
    let mut passing = scene.session.transcript.cursor();
    let mut best: Option<(u32, Focus)> = None;
    let mut next: Option<(u32, Focus)> = None;
    let mut is_reached = false;
    // Entries need not be in the order of the lines.
    for id in text.sequence.order().iter().copied() {
        let Some(entry) = passing
            .get(id)
            .filter(|entry| entry.origin.file == FileId(0))
        else {
            continue;
        };
        if text.level.hides(entry.marks) {
            continue;
        }
        let begins = entry.origin.line;
        if begins > line && next.is_none_or(|(nearest, _)| begins < nearest) {
            next = Some((
                begins,
                Focus {
                    entry: id,
                    block: 0,
                },
            ));
        }
        for (block, one) in entry.blocks.iter().enumerate() {
            let bodies = one.kind.bodies().map(|body| body.from);
            // A block without a body comes from the record of the entry.
            for from in bodies
                .chain([entry.origin])
                .filter(|from| from.file == FileId(0))
            {
                is_reached |= from.line >= line;
                let is_nearer = best.is_none_or(|(nearest, _)| from.line > nearest);
                if from.line <= line && is_nearer {
                    best = Some((from.line, Focus { entry: id, block }));
                }
            }
        }
    }
    // A line beyond the end of the file finds nothing.
    best.filter(|_| is_reached || next.is_some())
        .or(next)
        .map(|(_, focus)| focus)
}

/// Goes down by a share of all rows.
pub(crate) fn go_down(text: &mut TextPane, scene: &mut Scene<'_>, share: u64, of: u64) {
    if let Some(entry) = entry_at_share(text, scene, share, of) {
        jump(text, scene, Focus { entry, block: 0 });
    }
}

fn entry_at_share(text: &TextPane, scene: &Scene<'_>, share: u64, of: u64) -> Option<EntryId> {
    let row = text.heights.total() * share / of.max(1);
    let from = text
        .sequence
        .order()
        .get(text.heights.place_at(row)..)
        .unwrap_or_default();
    from.iter()
        .copied()
        .find(|id| has_rows(text, scene, *id))
        .or_else(|| from.first().copied())
}

/// The first shown entry that satisfies a condition.
fn first(text: &TextPane, scene: &Scene<'_>, holds: impl Fn(&Entry) -> bool) -> Option<EntryId> {
    let is_meant = |id: &EntryId| {
        has_rows(text, scene, *id) && scene.session.transcript.get(*id).is_some_and(&holds)
    };
    text.sequence.order().iter().copied().find(is_meant)
}
