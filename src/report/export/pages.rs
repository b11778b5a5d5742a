//! What the forms for people share: the order of a page, its title, and what is left out of it.

use std::collections::HashSet;

use super::{Exported, Extent};
use crate::analysis::reading::order;
use crate::model::entry::EntryId;
use crate::model::meta::LaneFacts;
use crate::report::reading::Reading;

/// Bytes of the bodies of tools on a page, roughly: of more calls each is cut shorter.
const BUDGET: usize = 16 << 20;
/// Bytes of one body at least and at most.
const SHORTEST: usize = 1 << 10;
const LONGEST: usize = 24 << 10;

/// A part of a page.
#[derive(Clone, Copy)]
pub(super) enum PageStep<'t> {
    Entry(EntryId),
    /// The entries of a sub-agent follow, until [`PageStep::End`].
    Begin(&'t LaneFacts),
    End,
}

/// The parts of a page: each entry once, those of a sub-agent behind the call that started it.
pub(super) fn steps<'r>(reading: &'r Reading, extent: &Extent) -> Vec<PageStep<'r>> {
    let transcript = &reading.transcript;
    let (mut steps, mut seen) = (Vec::new(), HashSet::new());
    let mut cursor = transcript.cursor();
    let mut order = order(transcript);
    let is_wanted = |id: &EntryId| extent.holds(reading, *id);
    order.retain(is_wanted);
    let has_caller = |id: &EntryId| {
        let lane = transcript
            .lane_at(*id)
            .and_then(|name| transcript.lane(name));
        lane.is_some_and(|lane| transcript.caller(lane).is_some())
    };
    let main = order.iter().filter(|id| !has_caller(id));
    // Most of these are reached from their calls; sub-agents that start each other in a circle are not.
    let called = order.iter().filter(|id| has_caller(id));
    for id in main.chain(called) {
        let mut stack = vec![PageStep::Entry(*id)];
        while let Some(step) = stack.pop() {
            let PageStep::Entry(id) = step else {
                steps.push(step);
                continue;
            };
            if !seen.insert(id) {
                continue;
            }
            steps.push(step);
            let Some(entry) = cursor.get(id) else {
                continue;
            };
            let lanes = entry
                .calls()
                .flat_map(|call| transcript.lanes_begun(id, &call.key));
            let lanes: Vec<&LaneFacts> = lanes.collect();
            for lane in lanes.into_iter().rev() {
                let own = lane.entries.iter();
                let own = own.filter(|id| !seen.contains(id) && is_wanted(id));
                let own: Vec<PageStep<'_>> = own.map(|id| PageStep::Entry(*id)).collect();
                if !own.is_empty() {
                    stack.push(PageStep::End);
                    stack.extend(own.into_iter().rev());
                    stack.push(PageStep::Begin(lane));
                }
            }
        }
    }
    steps
}

/// What the session is called.
pub(super) fn title<'e>(exported: &'e Exported<'_>) -> &'e str {
    let session = &exported.figures.session;
    let title = session.title.as_deref().or(session.id.as_deref());
    let title = title.unwrap_or(&exported.figures.path);
    title.lines().next().unwrap_or_default()
}

/// Which part of the session the page has, unless it is all.
pub(super) fn part(exported: &Exported<'_>) -> Option<String> {
    let transcript = &exported.reading.transcript;
    match &exported.extent {
        Extent::Session => None,
        Extent::Turn(turn) => Some(format!("turn {} of {}", turn + 1, transcript.turns().len())),
        Extent::Entries(entries) => Some(format!(
            "{} of {} entries",
            entries.len(),
            transcript.entries().count()
        )),
    }
}

/// What `tv` opens the session by.
pub(super) fn name<'e>(exported: &'e Exported<'_>) -> &'e str {
    let session = &exported.figures.session;
    session.id.as_deref().unwrap_or(&exported.figures.path)
}

/// How many bytes of a body are shown.
pub(super) fn limit(exported: &Exported<'_>) -> usize {
    let calls = usize::try_from(exported.figures.blocks.calls).unwrap_or(usize::MAX);
    (BUDGET / calls.max(1)).clamp(SHORTEST, LONGEST)
}

/// The beginning of a text, cut between lines if possible, and the number of bytes left out.
pub(super) fn cut(text: &str, limit: usize) -> (&str, usize) {
    if text.len() <= limit {
        return (text, 0);
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    let lines = head.rfind('\n').filter(|at| *at > limit / 2);
    let head = lines.and_then(|at| head.get(..at)).unwrap_or(head);
    (head, text.len() - head.len())
}
