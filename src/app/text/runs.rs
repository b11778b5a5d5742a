//! Runs of equal calls and equal strays. In the outline a call is a row; several calls that do the same to the same thing
//! one after the other are one row with their number, until that is opened. So are results without calls that say the
//! same, with previews too: nothing but their ids tells them apart. Traces of one kind are one row where they are shown.
//!
//! Only calls that ended well fold: trouble stays in sight. Runs are looked for when the reader chooses the level, and
//! once the session has been read: what is appended has rows of its own until then. In a large session that takes several
//! frames.
//!
//! Invariant: a row that stands in its place stays there, whatever arrives.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::viewport::Focus;
use super::{Shows, TextPane};
use crate::analysis::calls::lookup::Lookup;
use crate::analysis::reading::{LEAST_TRACES, has_line_between, trace_of};
use crate::model::entry::{BlockKind, Entry, EntryId, StrayResult};
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolCall, ToolKind, ToolState, Verdict};
use crate::model::transcript::Transcript;
use crate::render::row::Level;

/// Fewer calls have a row each.
const LEAST: usize = 3;
/// So many entries are looked at with a frame: some milliseconds if all are packed.
const PORTION: usize = 8_192;

/// The runs of a session, and which of them are open.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// `None` until they are found.
    found: Option<Arc<Found>>,
    /// What was shown when they were last looked for: what is shown besides ends a run.
    sought_with: Option<(Shows, Level)>,
    /// What is still to be looked at.
    search: Option<Search>,
    /// The first entries of those that are open.
    open: HashSet<EntryId>,
    /// The one that was opened last by the key that closes it again.
    last: Option<EntryId>,
}

/// A search for runs, as far as it has come.
#[derive(Clone, Debug)]
struct Search {
    shows: Shows,
    level: Level,
    /// The entries as they are shown one below the other, and how many of them were looked at.
    order: Vec<EntryId>,
    at: usize,
    found: Found,
    /// The entries that do the same, down to the last one looked at.
    run: Vec<EntryId>,
    above: Option<Deed>,
}

#[derive(Clone, Debug, Default)]
struct Found {
    /// All entries of a run, by the first one.
    runs: HashMap<EntryId, Vec<EntryId>>,
    /// The first entry of a run, by each of the others.
    heads: HashMap<EntryId, EntryId>,
}

impl Runs {
    /// Whether they are looked for, or were, among what is shown.
    pub(crate) fn are_sought(&self, shows: Shows, level: Level) -> bool {
        self.sought_with == Some((shows, level))
    }

    /// Forgets what was found, but not which are open.
    pub(crate) fn forget(&mut self) {
        (self.found, self.sought_with, self.search) = (None, None, None);
    }

    /// Which are open in another transcript of the session.
    pub(crate) fn look_up(&mut self, lookup: &Lookup<'_>) {
        self.forget();
        self.open = lookup.entries(&self.open);
        self.last = self.last.and_then(|id| lookup.entry(id));
    }

    /// Begins to look for them among entries as they are shown one below the other.
    pub(crate) fn seek(&mut self, order: Vec<EntryId>, shows: Shows, level: Level) {
        let (found, run, above) = (Found::default(), Vec::new(), None);
        self.sought_with = Some((shows, level));
        self.search = Some(Search {
            shows,
            level,
            order,
            at: 0,
            found,
            run,
            above,
        });
    }

    /// Looks on for a while. Answers whether some were found, when all has been looked at.
    pub(crate) fn look_on(&mut self, transcript: &Transcript) -> bool {
        let Some(search) = &mut self.search else {
            return false;
        };
        if !search.look_on(transcript) {
            return false;
        }
        self.found = self.search.take().map(|search| Arc::new(search.found));
        !self.is_empty()
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.found
            .as_ref()
            .is_none_or(|found| found.runs.is_empty())
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
        found
            .heads
            .get(&id)
            .copied()
            .or_else(|| found.runs.contains_key(&id).then_some(id))
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

impl Search {
    /// Answers whether all has been looked at. What is packed stays so: this comes by all of a session.
    fn look_on(&mut self, transcript: &Transcript) -> bool {
        let mut passing = transcript.passing();
        let mut left = PORTION;
        while let Some(&id) = self.order.get(self.at).filter(|_| left > 0) {
            self.at += 1;
            let entry = if may_fold(transcript, id, self.level) {
                passing.get(id)
            } else {
                None
            };
            left -= usize::from(entry.is_some());
            let deed = entry.and_then(|entry| Deed::of(transcript, entry, self.shows, self.level));
            let goes_on = deed.is_some()
                && deed == self.above
                && self
                    .run
                    .last()
                    .is_some_and(|above| !has_line_between(transcript, *above, id));
            if !goes_on {
                self.found.add(std::mem::take(&mut self.run), self.level);
            }
            self.run.push(id);
            self.above = deed;
        }
        let is_done = self.at == self.order.len();
        if is_done {
            self.found.add(std::mem::take(&mut self.run), self.level);
        }
        is_done
    }
}

impl Found {
    /// Takes entries that do the same, if they are enough for a run.
    fn add(&mut self, run: Vec<EntryId>, level: Level) {
        let least = if level == Level::Full {
            LEAST_TRACES
        } else {
            LEAST
        };
        let Some((head, others)) = run.split_first().filter(|_| run.len() >= least) else {
            return;
        };
        self.heads.extend(others.iter().map(|id| (*id, *head)));
        self.runs.insert(*head, run);
    }
}

/// Whether an entry may be of a run, at a glance.
fn may_fold(transcript: &Transcript, id: EntryId, level: Level) -> bool {
    transcript.glance(id).is_some_and(|glance| match level {
        Level::Outline => true,
        Level::Full => glance.marks.trace,
        Level::Prompts | Level::Preview | Level::Raw => glance.is_stray,
    })
}

/// What an entry does, as its row tells it: those of a run are equal.
#[derive(Clone, Debug, PartialEq)]
struct Deed {
    lane: Option<Name>,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Call {
        name: Name,
        headline: Text,
        intent: Option<Text>,
    },
    Stray {
        is_duplicate: bool,
        tool: Option<Name>,
        verdict: Verdict,
        facts: Text,
        said: Text,
    },
    Trace(Text),
}

impl Deed {
    /// Nothing for what cannot fold.
    fn of(transcript: &Transcript, entry: &Entry, shows: Shows, level: Level) -> Option<Self> {
        if level == Level::Full {
            return Some(Self {
                lane: entry.lane.clone(),
                what: What::Trace(trace_of(entry)?.clone()),
            });
        }
        let what = match only(entry, shows)? {
            Only::Call(call) => {
                let can_fold = level == Level::Outline
                    && is_done(transcript, call)
                    && !call.headline.is_blank();
                can_fold.then(|| What::Call {
                    name: call.name.clone(),
                    headline: call.headline.clone(),
                    intent: call.intent().filter(|_| shows.intents).cloned(),
                })?
            }
            Only::Stray(StrayResult {
                result, duplicate, ..
            }) => {
                // Of one that is on disk the rest may differ.
                let is_whole =
                    !result.body.is_away() || result.body.bytes as usize == result.body.stub.len();
                (is_whole && result.images.is_empty()).then(|| What::Stray {
                    is_duplicate: *duplicate,
                    tool: result.tool.clone(),
                    verdict: result.verdict,
                    facts: result.facts.clone(),
                    said: result.body.text_or_stub().clone(),
                })?
            }
        };
        Some(Self {
            lane: entry.lane.clone(),
            what,
        })
    }
}

/// Whether a call ended well, with nothing below it.
fn is_done(transcript: &Transcript, call: &ToolCall) -> bool {
    let has_lane = call.kind == ToolKind::Delegate || transcript.lane_of_call(&call.key).is_some();
    matches!(call.state, ToolState::Done(_)) && !has_lane
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
    matches!(level, Level::Outline | Level::Preview | Level::Full)
}

/// Whether runs fold.
pub(crate) fn are_folded(text: &TextPane) -> bool {
    fold_at(text.level) && text.find.filter.is_none()
}

/// Whether runs fold, and a search for them has not come to its end.
pub(crate) fn are_sought(text: &TextPane) -> bool {
    are_folded(text) && text.folds.runs.search.is_some()
}

/// Opens the run that hides an entry, or the one whose row it is. Answers whether it did.
pub(crate) fn unfold(text: &mut TextPane, id: EntryId) -> bool {
    let head = text.folds.runs.head_of(id).filter(|_| are_folded(text));
    let Some(head) = head.filter(|head| text.folds.runs.open.insert(*head)) else {
        return false;
    };
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
    let head = text
        .folds
        .runs
        .head_of(focus.entry)
        .filter(|_| are_folded(text));
    let Some(head) = head.filter(|head| text.folds.runs.open.remove(head)) else {
        return false;
    };
    text.view.focus = Some(Focus {
        entry: head,
        block: focus.block,
    });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::edit::Batch;
    use crate::model::entry::{Piece, Role};
    use crate::model::tool::ToolResult;

    #[test]
    fn looking_for_runs_leaves_packed_what_is_packed() {
        let mut out = Batch::default();
        out.stubs_only = true;
        for number in 0..2_000 {
            let mut entry = out.new_entry(
                Text::from(format!("a{number}").as_str()),
                Role::Assistant,
                None,
            );
            let body = out.prose(&format!("answer {number}"));
            entry
                .blocks
                .push(Batch::block(Piece::of("text"), BlockKind::Text(body)));
            out.entry(entry);
        }
        let mut transcript = Transcript::new();
        transcript.apply(out);
        transcript.settle();
        transcript.pack();
        let (order, open) = (transcript.order().to_vec(), transcript.open_pages());
        for level in [Level::Outline, Level::Preview] {
            let mut runs = Runs::default();
            runs.seek(
                order.clone(),
                Shows {
                    thinking: true,
                    intents: true,
                },
                level,
            );
            runs.look_on(&transcript);
            assert_eq!(transcript.open_pages(), open, "{level:?}");
        }
    }

    #[test]
    fn a_frame_looks_at_a_portion_and_runs_cross_its_end() {
        let mut out = Batch::default();
        for number in 0..PORTION + 2 {
            let mut entry =
                out.new_entry(Text::from(format!("e{number}").as_str()), Role::User, None);
            let says = if number < PORTION - 2 {
                format!("{number}")
            } else {
                "the same".to_owned()
            };
            let result = ToolResult {
                key: Text::default(),
                tool: None,
                verdict: Verdict::Done,
                body: out.output(&says),
                patch: None,
                images: Vec::new(),
                facts: Text::default(),
                at: None,
                duration_ms: None,
                work: None,
            };
            let stray = StrayResult {
                call: Text::default(),
                result,
                duplicate: false,
            };
            entry.blocks.push(Batch::block(
                Piece::of("result"),
                BlockKind::Result(Box::new(stray)),
            ));
            out.entry(entry);
        }
        let mut transcript = Transcript::new();
        transcript.apply(out);
        transcript.settle();
        let order = transcript.order().to_vec();
        let mut runs = Runs::default();
        runs.seek(
            order.clone(),
            Shows {
                thinking: true,
                intents: true,
            },
            Level::Preview,
        );
        assert!(!runs.look_on(&transcript) && runs.search.is_some());
        assert!(runs.look_on(&transcript) && runs.search.is_none());
        assert_eq!(runs.folded(order[PORTION - 2]), Some(&order[PORTION - 2..]));
    }
}
