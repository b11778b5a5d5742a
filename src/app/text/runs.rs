//! Runs of equal calls and equal strays. In the outline a call is a row; several calls that do the same to the same thing
//! one after the other are one row with their number, until that is opened. So are results without calls that say the
//! same, with previews too: nothing but their ids tells them apart.
//!
//! Only calls that ended well fold: trouble stays in sight. Runs are looked for when the reader chooses the level, and
//! once the session has been read: what is appended has rows of its own until then.
//!
//! Invariant: a row that stands in its place stays there, whatever arrives.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::viewport::Focus;
use super::{Shows, TextPane};
use crate::analysis::reading::helper_headed_by;
use crate::model::body::Body;
use crate::model::entry::{BlockKind, Entry, EntryId, StrayResult};
use crate::model::tool::{ToolCall, ToolKind, ToolState};
use crate::model::transcript::Transcript;
use crate::render::row::Level;
use crate::render::tool::intent_of;

/// Fewer calls have a row each.
const LEAST: usize = 3;

/// The runs of a session, and which of them are open.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// `None` until they are looked for.
    found: Option<Arc<Found>>,
    /// What was shown then: what is shown besides ends a run.
    found_with: Option<(Shows, Level)>,
    /// The first entries of those that are open.
    open: HashSet<EntryId>,
    /// The one that was opened last by the key that closes it again.
    last: Option<EntryId>,
}

#[derive(Debug, Default)]
struct Found {
    /// All entries of a run, by the first one.
    runs: HashMap<EntryId, Vec<EntryId>>,
    /// The first entry of a run, by each of the others.
    heads: HashMap<EntryId, EntryId>,
}

impl Runs {
    /// Whether they were looked for among what is shown.
    pub(crate) fn are_known(&self, shows: Shows, level: Level) -> bool {
        self.found_with == Some((shows, level))
    }

    /// Forgets what was found, but not which are open.
    pub(crate) fn forget(&mut self) {
        (self.found, self.found_with) = (None, None);
    }

    /// Looks for them among entries as they are shown one below the other.
    pub(crate) fn find(&mut self, transcript: &Transcript, order: &[EntryId], shows: Shows, level: Level) {
        let mut found = Found::default();
        let is_next = |above: &EntryId, below: &EntryId| goes_on(transcript, (*above, *below), shows, level);
        for run in order.chunk_by(is_next).filter(|run| run.len() >= LEAST) {
            let Some((head, others)) = run.split_first() else { continue };
            found.heads.extend(others.iter().map(|id| (*id, *head)));
            found.runs.insert(*head, run.to_vec());
        }
        (self.found, self.found_with) = (Some(Arc::new(found)), Some((shows, level)));
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.as_ref().is_none_or(|found| found.runs.is_empty())
    }

    /// Whether an entry is folded into another one.
    pub(crate) fn hide(&self, id: EntryId) -> bool {
        self.hidden_by(id).is_some()
    }

    /// The entry into which another one is folded.
    pub(crate) fn hidden_by(&self, id: EntryId) -> Option<EntryId> {
        let head = self.found.as_ref()?.heads.get(&id).copied()?;
        (!self.open.contains(&head)).then_some(head)
    }

    /// All entries that an entry stands for.
    pub(crate) fn folded(&self, head: EntryId) -> Option<&[EntryId]> {
        let run = self.found.as_ref()?.runs.get(&head)?;
        (!self.open.contains(&head)).then_some(run)
    }

    /// The first entry of the run that an entry is of.
    fn head_of(&self, id: EntryId) -> Option<EntryId> {
        let found = self.found.as_ref()?;
        found.heads.get(&id).copied().or_else(|| found.runs.contains_key(&id).then_some(id))
    }

    /// The first entries of those that are open.
    pub(crate) fn open(&self) -> &HashSet<EntryId> {
        &self.open
    }

    /// Folds a run again.
    pub(crate) fn fold(&mut self, head: EntryId) {
        self.open.remove(&head);
    }
}

/// Whether two entries that stand one below the other do the same.
fn goes_on(transcript: &Transcript, (above, below): (EntryId, EntryId), shows: Shows, level: Level) -> bool {
    let (Some(first), Some(second)) = (transcript.get(above), transcript.get(below)) else { return false };
    let has_line = transcript.branches().headed_by(below).is_some()
        || helper_headed_by(transcript, below).is_some()
        || transcript.branches().of(above).map(|branch| branch.number)
            != transcript.branches().of(below).map(|branch| branch.number);
    if first.lane != second.lane || has_line {
        return false;
    }
    match (only(first, shows), only(second, shows)) {
        (Some(Only::Call(one)), Some(Only::Call(other))) => {
            let can_fold = |call| level == Level::Outline && is_done(transcript, call);
            can_fold(one) && can_fold(other) && is_same(one, other, shows)
        }
        (Some(Only::Stray(one)), Some(Only::Stray(other))) => is_same_stray(one, other),
        _ => false,
    }
}

/// Whether a call ended well, with nothing below it.
fn is_done(transcript: &Transcript, call: &ToolCall) -> bool {
    let has_lane = call.kind == ToolKind::Delegate || transcript.lane_of_call(&call.key).is_some();
    matches!(call.state, ToolState::Done(_)) && !has_lane
}

/// Whether the rows of two calls say the same.
fn is_same(one: &ToolCall, other: &ToolCall, shows: Shows) -> bool {
    let is_for = |call| intent_of(call).filter(|_| shows.intents);
    one.name == other.name
        && one.headline == other.headline
        && !one.headline.is_blank()
        && is_for(one) == is_for(other)
}

/// Whether two results without calls say the same. Of one that is on disk the rest may differ.
fn is_same_stray(one: &StrayResult, other: &StrayResult) -> bool {
    let is_whole = |body: &Body| !body.is_away() || body.bytes as usize == body.stub.len();
    let (first, second) = (&one.result, &other.result);
    (one.duplicate, &first.tool, first.verdict) == (other.duplicate, &second.tool, second.verdict)
        && (&first.facts, first.body.text_or_stub()) == (&second.facts, second.body.text_or_stub())
        && is_whole(&first.body)
        && is_whole(&second.body)
        && first.images.is_empty()
        && second.images.is_empty()
}

/// What an entry shows, if that is one thing.
enum Only<'a> {
    Call(&'a ToolCall),
    Stray(&'a StrayResult),
}

fn only(entry: &Entry, shows: Shows) -> Option<Only<'_>> {
    let mut only = None;
    for block in &entry.blocks {
        match &block.kind {
            BlockKind::Call(call) if only.is_none() => only = Some(Only::Call(call)),
            BlockKind::Result(stray) if only.is_none() => only = Some(Only::Stray(stray)),
            BlockKind::Thinking(_) if !shows.thinking => {}
            BlockKind::Text(body) if body.bytes == 0 => {}
            _ => return None,
        }
    }
    only
}

/// Whether runs fold at a level.
pub(crate) fn fold_at(level: Level) -> bool {
    matches!(level, Level::Outline | Level::Preview)
}

/// Whether runs fold.
pub(crate) fn are_folded(text: &TextPane) -> bool {
    fold_at(text.level) && text.find.filter.is_none()
}

/// Opens the run that hides an entry, or the one whose row it is. Answers whether it did.
pub(crate) fn unfold(text: &mut TextPane, id: EntryId) -> bool {
    let head = text.folds.runs.head_of(id).filter(|_| are_folded(text));
    let Some(head) = head.filter(|head| text.folds.runs.open.insert(*head)) else { return false };
    changed(text, head);
    true
}

/// Opens what hides an entry.
pub(crate) fn reach(text: &mut TextPane, id: EntryId) {
    if text.folds.runs.hide(id) {
        unfold(text, id);
    }
}

/// Folds the run of the focused call, if that is open. Answers whether it was.
pub(crate) fn fold(text: &mut TextPane, focus: Focus) -> bool {
    let head = text.folds.runs.head_of(focus.entry).filter(|_| are_folded(text));
    let Some(head) = head.filter(|head| text.folds.runs.open.remove(head)) else { return false };
    text.view.focus = Some(Focus { entry: head, block: focus.block });
    changed(text, head);
    true
}

/// Opens the run whose row is focused, or folds the one that this key opened last. Answers whether it did.
pub(crate) fn toggle(text: &mut TextPane, focus: Focus) -> bool {
    let last = text.folds.runs.last.take();
    let is_run = text.folds.runs.head_of(focus.entry) == Some(focus.entry);
    if is_run && last == Some(focus.entry) {
        return fold(text, focus);
    }
    let is_opened = is_run && unfold(text, focus.entry);
    text.folds.runs.last = Some(focus.entry).filter(|_| is_opened);
    is_opened
}

fn changed(text: &mut TextPane, head: EntryId) {
    text.stale.sequence = true;
    text.cache.forget(head);
}
