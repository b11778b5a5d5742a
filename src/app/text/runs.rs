//! Runs of equal entries, folded into one row with their number: at level 2 calls of the same tool
//! with the same headline, at levels 2 and 3 stray results with the same text, which differ in
//! their ids only, and redacted thinking, and at level 4 traces of one kind.
//!
//! Only successful calls fold, so that failures stay visible. The scan for runs starts when the
//! level changes and when the session has been read to its end; entries appended later have rows of
//! their own. In a large session the scan takes several frames.
//!
//! Invariant: appended entries never change a row that is shown.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::viewport::Focus;
use super::{ShownParts, TextPane};
use crate::analysis::calls::lookup::Lookup;
use crate::analysis::reading::{LEAST_TRACES, has_line_between, trace_of};
use crate::model::entry::{BlockKind, Entry, EntryId, StrayResult};
use crate::model::text::{Name, Text};
use crate::model::tool::{ToolCall, ToolKind, ToolState, Verdict};
use crate::model::transcript::Transcript;
use crate::render::row::Level;

/// The shortest run that folds.
const LEAST: usize = 3;
/// The shortest run of redacted thinking that folds.
const LEAST_REDACTED: usize = 2;
/// Entries scanned per frame: some milliseconds if all are packed.
const PORTION: usize = 8_192;

/// The runs of a session, and which of them are open.
#[derive(Clone, Debug, Default)]
pub struct FoldedRuns {
    /// The runs; `None` until the scan has ended.
    found: Option<Arc<RunIndex>>,
    /// Settings of the last scan: a shown part, such as thinking, ends a run.
    scanned_for: Option<(ShownParts, Level)>,
    /// The scan in progress.
    scan: Option<RunScan>,
    /// First entries of open runs.
    pub(crate) open: HashSet<EntryId>,
    /// The run that enter opened last; the next enter closes it.
    last: Option<EntryId>,
}

/// A scan for runs in progress.
#[derive(Clone, Debug)]
struct RunScan {
    shows: ShownParts,
    level: Level,
    /// The shown entries, and how many of them were scanned.
    order: Vec<EntryId>,
    at: usize,
    found: RunIndex,
    /// The run of the last scanned entry.
    run: Vec<EntryId>,
    above: Option<RunKey>,
}

#[derive(Clone, Debug, Default)]
struct RunIndex {
    /// All entries of a run, by the first one.
    runs: HashMap<EntryId, Vec<EntryId>>,
    /// The first entry of a run, by each of the others.
    heads: HashMap<EntryId, EntryId>,
}

impl FoldedRuns {
    /// Whether the scan for these settings has started or ended.
    pub(crate) fn is_scanned_for(&self, shows: ShownParts, level: Level) -> bool {
        self.scanned_for == Some((shows, level))
    }

    /// Drops the runs, but remembers which are open.
    pub(crate) fn clear_found(&mut self) {
        (self.found, self.scanned_for, self.scan) = (None, None, None);
    }

    /// Maps the open runs to another transcript of the session.
    pub(crate) fn remap(&mut self, lookup: &Lookup<'_>) {
        self.clear_found();
        self.open = lookup.entries(&self.open);
        self.last = self.last.and_then(|id| lookup.entry(id));
    }

    pub(crate) fn start_scan(&mut self, order: Vec<EntryId>, shows: ShownParts, level: Level) {
        let (found, run, above) = (RunIndex::default(), Vec::new(), None);
        self.scanned_for = Some((shows, level));
        self.scan = Some(RunScan {
            shows,
            level,
            order,
            at: 0,
            found,
            run,
            above,
        });
    }

    /// Scans the next entries. Returns whether the scan has just ended and found runs.
    pub(crate) fn scan(&mut self, transcript: &Transcript) -> bool {
        let Some(search) = &mut self.scan else {
            return false;
        };
        if !search.scan(transcript) {
            return false;
        }
        self.found = self.scan.take().map(|search| Arc::new(search.found));
        !self.is_empty()
    }

    /// Whether there are no runs.
    pub(crate) fn is_empty(&self) -> bool {
        self.found
            .as_ref()
            .is_none_or(|found| found.runs.is_empty())
    }

    /// Whether an entry is hidden by a folded run.
    pub(crate) fn hides(&self, id: EntryId) -> bool {
        self.hidden_by(id).is_some()
    }

    /// The head of the folded run that hides an entry.
    pub(crate) fn hidden_by(&self, id: EntryId) -> Option<EntryId> {
        let head = self.found.as_ref()?.heads.get(&id).copied()?;
        (!self.open.contains(&head)).then_some(head)
    }

    /// All entries of the folded run with this head.
    pub(crate) fn folded(&self, head: EntryId) -> Option<&[EntryId]> {
        let run = self.found.as_ref()?.runs.get(&head)?;
        (!self.open.contains(&head)).then_some(run)
    }

    fn head_of(&self, id: EntryId) -> Option<EntryId> {
        let found = self.found.as_ref()?;
        found
            .heads
            .get(&id)
            .copied()
            .or_else(|| found.runs.contains_key(&id).then_some(id))
    }

    /// Folds a run again.
    pub(crate) fn fold(&mut self, head: EntryId) {
        self.open.remove(&head);
    }
}

impl RunScan {
    /// Scans the next entries; their pages stay packed. Returns whether all are scanned.
    fn scan(&mut self, transcript: &Transcript) -> bool {
        let mut passing = transcript.cursor();
        let mut left = PORTION;
        while let Some(&id) = self.order.get(self.at).filter(|_| left > 0) {
            self.at += 1;
            let entry = if may_fold(transcript, id, self.level) {
                passing.get(id)
            } else {
                None
            };
            left -= usize::from(entry.is_some());
            let key = entry.and_then(|entry| RunKey::of(transcript, entry, self.shows, self.level));
            let goes_on = key.is_some()
                && key == self.above
                && self
                    .run
                    .last()
                    .is_some_and(|above| !has_line_between(transcript, *above, id));
            if !goes_on {
                self.end_run();
            }
            self.run.push(id);
            self.above = key;
        }
        let is_done = self.at == self.order.len();
        if is_done {
            self.end_run();
        }
        is_done
    }

    fn end_run(&mut self) {
        let is_redacted = |key: &RunKey| key.what == RunKind::Redacted;
        let least = match self.level {
            Level::Full => LEAST_TRACES,
            _ if self.above.as_ref().is_some_and(is_redacted) => LEAST_REDACTED,
            _ => LEAST,
        };
        self.found.add(std::mem::take(&mut self.run), least);
    }
}

impl RunIndex {
    /// Adds a run if it is long enough.
    fn add(&mut self, run: Vec<EntryId>, least: usize) {
        let Some((head, others)) = run.split_first().filter(|_| run.len() >= least) else {
            return;
        };
        self.heads.extend(others.iter().map(|id| (*id, *head)));
        self.runs.insert(*head, run);
    }
}

/// Whether an entry may be in a run, judged by its glance alone.
fn may_fold(transcript: &Transcript, id: EntryId, level: Level) -> bool {
    transcript.glance(id).is_some_and(|glance| match level {
        Level::Outline => true,
        Level::Full => glance.marks.trace,
        Level::Prompts | Level::Preview | Level::Raw => glance.is_stray || glance.is_redacted,
    })
}

/// The row of an entry; equal for all entries of a run.
#[derive(Clone, Debug, PartialEq)]
struct RunKey {
    lane: Option<Name>,
    what: RunKind,
}

#[derive(Clone, Debug, PartialEq)]
enum RunKind {
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
    Redacted,
}

impl RunKey {
    /// The row of an entry; `None` for entries that do not fold.
    fn of(transcript: &Transcript, entry: &Entry, shows: ShownParts, level: Level) -> Option<Self> {
        if level == Level::Full {
            return Some(Self {
                lane: entry.lane.clone(),
                what: RunKind::Trace(trace_of(entry)?.clone()),
            });
        }
        if entry.is_redacted() {
            return shows.thinking.then(|| Self {
                lane: entry.lane.clone(),
                what: RunKind::Redacted,
            });
        }
        let what = match only(entry, shows)? {
            SingleBlock::Call(call) => {
                let can_fold = level == Level::Outline
                    && is_done(transcript, call)
                    && !call.headline.is_blank();
                can_fold.then(|| RunKind::Call {
                    name: call.name.clone(),
                    headline: call.headline.clone(),
                    intent: call.intent().filter(|_| shows.intents).cloned(),
                })?
            }
            SingleBlock::Stray(StrayResult {
                result, duplicate, ..
            }) => {
                // The part of the text on disk may differ.
                let is_whole = !result.body.is_on_disk()
                    || result.body.bytes as usize == result.body.stub.len();
                (is_whole && result.images.is_empty()).then(|| RunKind::Stray {
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

/// Whether a call succeeded and started no sub-agent.
fn is_done(transcript: &Transcript, call: &ToolCall) -> bool {
    let has_lane = call.kind == ToolKind::Delegate || transcript.lane_of_call(&call.key).is_some();
    matches!(call.state, ToolState::Done(_)) && !has_lane
}

/// The only block that an entry shows.
enum SingleBlock<'a> {
    Call(&'a ToolCall),
    Stray(&'a StrayResult),
}

fn only(entry: &Entry, shows: ShownParts) -> Option<SingleBlock<'_>> {
    let mut only = None;
    for block in &entry.blocks {
        match &block.kind {
            BlockKind::Call(call) if only.is_none() => only = Some(SingleBlock::Call(call)),
            BlockKind::Result(stray) if only.is_none() => only = Some(SingleBlock::Stray(stray)),
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

/// Whether runs fold with the current settings.
pub(crate) fn are_folded(text: &TextPane) -> bool {
    fold_at(text.level) && text.find.filter.is_none()
}

/// Whether runs fold, and the scan for them is in progress.
pub(crate) fn is_scanning(text: &TextPane) -> bool {
    are_folded(text) && text.folds.runs.scan.is_some()
}

/// Opens the run of an entry. Returns whether it was folded.
pub(crate) fn unfold(text: &mut TextPane, id: EntryId) -> bool {
    let head = text.folds.runs.head_of(id).filter(|_| are_folded(text));
    let Some(head) = head.filter(|head| text.folds.runs.open.insert(*head)) else {
        return false;
    };
    changed(text, head);
    true
}

/// Opens the run that hides an entry.
pub(crate) fn reveal(text: &mut TextPane, id: EntryId) {
    if text.folds.runs.hides(id) {
        unfold(text, id);
    }
}

/// Folds the run of the focused entry. Returns whether it was open.
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

/// Opens the folded run in focus, or folds the one that this key opened last. Returns `false` if
/// there is neither.
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
    text.cache.remove(head);
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
            entry.push_piece(Piece::of("text"), BlockKind::Text(body));
            out.entry(entry);
        }
        let mut transcript = Transcript::new();
        transcript.apply(out);
        transcript.update_derived();
        transcript.pack();
        let (order, open) = (transcript.order().to_vec(), transcript.open_pages());
        for level in [Level::Outline, Level::Preview] {
            let mut runs = FoldedRuns::default();
            runs.start_scan(
                order.clone(),
                ShownParts {
                    thinking: true,
                    intents: true,
                },
                level,
            );
            runs.scan(&transcript);
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
            entry.push_piece(Piece::of("result"), BlockKind::Result(Box::new(stray)));
            out.entry(entry);
        }
        let mut transcript = Transcript::new();
        transcript.apply(out);
        transcript.update_derived();
        let order = transcript.order().to_vec();
        let mut runs = FoldedRuns::default();
        runs.start_scan(
            order.clone(),
            ShownParts {
                thinking: true,
                intents: true,
            },
            Level::Preview,
        );
        assert!(!runs.scan(&transcript) && runs.scan.is_some());
        assert!(runs.scan(&transcript) && runs.scan.is_none());
        assert_eq!(runs.folded(order[PORTION - 2]), Some(&order[PORTION - 2..]));
    }
}
