//! An open session: transcript, indexes and state. No screen, no files, no clock.
//!
//! **The end of a large file is shown while the whole is read.** Its last mebibyte is on the screen
//! at once, and continues to grow; a second, hidden session is read from the start, and its
//! transcript replaces the shown one when it is complete. The indexes of the second session are
//! updated batch by batch, while entries are unpacked: unpacking each of them later would cost more
//! than reading them.
//!
//! **A rewritten file is read in the same way**: a document that its agent rewrites with each
//! answer, a line file that was truncated or replaced. Positions in the old transcript are looked
//! up by key in the new one ([`Lookup`](crate::analysis::calls::lookup::Lookup)). Ids are assigned
//! in the order of reading; so if a file only grew, all ids are the same and no lookup is needed:
//! differences are new or changed entries, as in any batch ([`Differences`]).
//!
//! Invariant: one transcript is shown at a time; only [`Session::apply_feed`] replaces it, and reports
//! that.

mod change;
pub mod details;
mod file_state;
pub mod filter;
pub mod indexes;
pub mod news;
pub mod paging;
pub mod search;
mod status;

use std::collections::HashSet;

use crate::analysis::activity::{self, Activity};
use crate::analysis::alarm;
use crate::analysis::calls::Place;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::context;
use crate::analysis::expression::LOOP;
use crate::analysis::lint::Finding;
use crate::analysis::loops::CallRun;
use crate::model::body::Held;
use crate::model::edit::{Batch, Feed, LinkState, Polled, Stage};
use crate::model::entry::EntryId;
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;
use crate::model::tool::ToolCall;
use crate::model::transcript::{Differences, Replaced, Touched, Transcript};

pub(crate) use change::SessionChange;
pub(crate) use file_state::FileState;
pub(crate) use indexes::Indexes;
use indexes::Needs;
use news::LastView;
pub(crate) use status::SessionStatus;

/// Bytes of bodies that stay in memory. Their entries are not packed, which takes as much memory
/// again.
pub const BODY_BUDGET: u64 = 8 << 20;

/// Silence, in ms, that is normal between records.
const SILENT: u64 = 60_000;
const SILENT_TOOL: u64 = 300_000;

#[derive(Debug, Default)]
pub struct Session {
    /// The shown transcript: the whole session, or the end of it while the whole is read.
    pub transcript: Transcript,
    /// Values derived from the transcript.
    pub indexes: Indexes,
    /// The files, and the state of reading them.
    pub file: FileState,
    /// Activity, context and cost.
    pub status: SessionStatus,
    /// The whole session as far as it is read, while its end is shown; or the new content of its
    /// file, while the old one is shown.
    replacement: Option<Box<Self>>,
    /// In a hidden session: differences from the shown transcript, if that is of an earlier version
    /// of the file.
    differences: Option<Differences>,
    /// In a hidden session: number of entries when turns and branches were last derived from
    /// scratch.
    derived_entries: usize,
}

impl Session {
    /// Applies an event of the feed.
    pub(crate) fn apply_feed(&mut self, feed: Feed) -> Vec<SessionChange> {
        match feed {
            Feed::Opened(opened) => self.file.opened = Some(*opened),
            Feed::Batch {
                stage: Stage::Preview,
                batch,
            } => return self.apply_preview(*batch),
            Feed::Batch {
                stage: Stage::Whole,
                batch,
            } => return self.apply_whole(*batch),
            // After the end was reached, further reading is following, however long a burst takes.
            Feed::Progress { done, total } => {
                self.file.progress = Some((done, total)).filter(|_| !self.file.is_caught_up);
            }
            Feed::CaughtUp => return self.finish_first_reading(),
            Feed::File { id, path } => self.file.name(id, path),
            Feed::Link(LinkState::Reread(why)) => {
                self.file.link = LinkState::Live;
                return vec![SessionChange::Message(why.to_string())];
            }
            Feed::Link(link) => self.file.link = link,
            Feed::Polled(why) => {
                let words = match &why {
                    Polled::Refused(what) => Some(format!(
                        "no file events ({what}): looking four times a second instead"
                    )),
                    _ => None,
                };
                self.file.polled = Some(why);
                return words.map(SessionChange::Message).into_iter().collect();
            }
            Feed::Fault(what) => self.file.fault = Some(what),
        }
        Vec::new()
    }

    /// Whether the shown transcript is only the end, or the part read so far.
    pub fn is_part(&self) -> bool {
        self.replacement.is_some() && !self.file.is_caught_up
    }

    /// Whether a hidden transcript is being read that will replace the shown one.
    pub(crate) fn is_replacement_pending(&self) -> bool {
        self.replacement.is_some()
    }

    /// Applies a batch of the last entries.
    fn apply_preview(&mut self, batch: Batch) -> Vec<SessionChange> {
        // From here on the whole is read into a hidden session, however soon its first batch comes.
        self.replacement.get_or_insert_default();
        self.apply(batch)
    }

    fn apply_whole(&mut self, batch: Batch) -> Vec<SessionChange> {
        let mode = batch.mode;
        if mode.begins() {
            let (transcript, differences) =
                (self.transcript.emptied(), Some(Differences::default()));
            self.replacement = Some(Box::new(Self {
                transcript,
                differences,
                ..Self::default()
            }));
        }
        let Some(whole) = &mut self.replacement else {
            return self.apply(batch);
        };
        whole.apply_hidden(batch, self.indexes.needs, &self.transcript);
        if mode.ends() {
            self.swap_in_whole()
        } else {
            Vec::new()
        }
    }

    /// Applies a batch to the shown transcript.
    fn apply(&mut self, batch: Batch) -> Vec<SessionChange> {
        let touched = self.transcript.apply(batch);
        self.indexes.invalidate(&self.transcript, &touched);
        if touched.is_empty() {
            return Vec::new();
        }
        self.status.is_stale = true;
        // The bodies of new entries are in memory now, and may not be later.
        self.indexes.watch(&self.transcript, Needs::default());
        self.transcript.update_derived();
        vec![SessionChange::Touched(touched)]
    }

    /// Applies a batch to a hidden session, updates the indexes that are needed, and compares it
    /// with the shown transcript `before`.
    fn apply_hidden(&mut self, batch: Batch, needs: Needs, before: &Transcript) {
        let touched = self.transcript.apply(batch);
        if let Some(differences) = &mut self.differences {
            differences.compare(before, &self.transcript, &touched);
        }
        self.indexes.invalidate(&self.transcript, &touched);
        let (entries, is_anew) = (
            self.transcript.order().len(),
            self.transcript.needs_full_update(),
        );
        // Deriving from scratch waits until the session is twice as long, so the total cost is at
        // most that of twice the session.
        if !is_anew || entries >= 2 * self.derived_entries {
            self.transcript.update_derived();
            self.derived_entries = if is_anew {
                entries
            } else {
                self.derived_entries
            };
        }
        self.indexes.watch(&self.transcript, needs);
        self.transcript.tidy();
    }

    /// Handles the end of the first reading.
    fn finish_first_reading(&mut self) -> Vec<SessionChange> {
        self.file.progress = None;
        self.file.is_caught_up = true;
        let mut changes = self.swap_in_whole();
        changes.push(SessionChange::CaughtUp);
        changes
    }

    /// Replaces the shown transcript, of the end or of the earlier version of the file, by the
    /// whole.
    fn swap_in_whole(&mut self) -> Vec<SessionChange> {
        let Some(whole) = self.replacement.take() else {
            return Vec::new();
        };
        let Self {
            transcript,
            mut indexes,
            differences,
            ..
        } = *whole;
        indexes.continue_from(&self.indexes);
        self.indexes = indexes;
        self.status.is_stale = true;
        if let Some(differences) = differences {
            let Replaced { touched, before } =
                differences.replace(&mut self.transcript, transcript);
            return vec![match before {
                Some(before) => SessionChange::Replaced { before, touched },
                None => SessionChange::Touched(touched),
            }];
        }
        let before = Box::new(std::mem::replace(&mut self.transcript, transcript));
        self.transcript.update_derived();
        vec![SessionChange::Replaced {
            before,
            touched: Touched::default(),
        }]
    }

    /// Adds bodies that were read from disk. Returns the entries that got them.
    pub(crate) fn fill(
        &mut self,
        entries: &[EntryId],
        contents: &[(Origin, Vec<Held>)],
    ) -> Vec<EntryId> {
        let filled = self.transcript.fill(entries, contents);
        self.indexes.reprocess(&self.transcript, entries);
        filled
    }

    /// Releases bodies above the budget, except those of visible entries.
    pub(crate) fn release(&mut self, in_sight: impl Fn(EntryId) -> bool) {
        self.transcript.release(BODY_BUDGET, in_sight);
    }

    /// The current end of the session; `None` while it is still being read.
    pub fn last_view(&self, now: Timestamp) -> Option<LastView> {
        if !self.is_at_end() {
            return None;
        }
        let mut entries = self
            .transcript
            .order()
            .iter()
            .rev()
            .filter_map(|id| self.transcript.get(*id));
        let last = entries.find(|entry| entry.lane.is_none())?;
        Some(LastView {
            key: last.key.clone(),
            at: now,
        })
    }

    /// Whether further entries are written now, and did not exist before.
    pub(crate) fn is_at_end(&self) -> bool {
        self.file.is_caught_up || self.is_part()
    }

    /// Entries that came after the end that was seen.
    pub(crate) fn entries_since(&self, seen: &LastView) -> &[EntryId] {
        seen.after(&self.transcript, self.file.is_caught_up)
    }

    pub(crate) fn refresh(&mut self, now: Timestamp) {
        self.indexes.compute(&self.transcript);
        self.status.refresh(
            &self.transcript,
            &self.indexes.account,
            self.file.last_write,
            now,
        );
    }

    /// Time since the last write while the agent works, in ms.
    pub(crate) fn silence(&self, now: Timestamp) -> Option<u64> {
        activity::silence(
            &self.transcript,
            &self.status.activity,
            self.file.last_write,
            now,
        )
    }

    /// Like [`Self::silence`], if it is longer than normal: tools often write nothing until they end.
    /// Abandoned work is not silent but stopped.
    pub(crate) fn long_silence(&self, now: Timestamp) -> Option<u64> {
        let activity = &self.status.activity;
        let bearable = if matches!(activity, Activity::Tool { .. }) {
            SILENT_TOOL
        } else {
            SILENT
        };
        self.silence(now)
            .filter(|ms| activity.is_work() && *ms >= bearable)
    }

    /// The loop that the agent is in at the moment.
    pub(crate) fn current_loop(&self) -> Option<&CallRun> {
        let run = self.indexes.loops.current(&self.transcript)?;
        (self.status.activity.is_work() && run.count() as u64 >= LOOP).then_some(run)
    }

    /// Whether the agent works, or waits for a user who may answer.
    pub(crate) fn is_at_work(&self, now: Timestamp) -> bool {
        self.status.activity.is_ongoing(now)
    }

    /// Time since the last sign of the main lane in the current turn, in ms; 0 if no work is in
    /// progress.
    pub(crate) fn busy_ms(&self, now: Timestamp) -> u64 {
        let is_open = self.status.activity.is_work();
        self.indexes
            .account
            .last_sign()
            .filter(|_| is_open)
            .map_or(0, |last| now.since(last))
    }

    /// Whether a call of an entry still runs: the agent is at work, and the result is pending or
    /// its work continues.
    pub fn runs(&self, id: EntryId, call: &ToolCall, now: Timestamp) -> bool {
        self.is_at_work(now) && Awaited::of(&self.transcript).is_running(&self.transcript, id, call)
    }

    /// Calls `look` with the current status of the session, for alarms.
    pub(crate) fn with_status(
        &mut self,
        now: Timestamp,
        orphan: Option<(Place, &str)>,
        look: impl FnOnce(&alarm::AlarmStatus<'_>),
    ) {
        self.transcript.update_derived();
        self.indexes.compute(&self.transcript);
        self.status.activity = activity::judge(&self.transcript, self.file.last_write, now);
        let cost = self.indexes.account.cost(&self.transcript);
        look(&alarm::AlarmStatus {
            transcript: &self.transcript,
            activity: &self.status.activity,
            silence: self.silence(now),
            cost: &cost,
            context: context::of(&self.transcript),
            run: self.indexes.loops.current(&self.transcript),
            orphan,
        });
    }

    /// A call or result that has lost its counterpart since `known` was collected.
    pub(crate) fn new_orphan(
        &mut self,
        known: &mut Option<HashSet<Place>>,
    ) -> Option<(Place, String)> {
        if self.is_part() || !self.indexes.follow_findings(&self.transcript) {
            return None;
        }
        let orphans = self
            .indexes
            .findings
            .iter()
            .filter(|finding| finding.is_orphan());
        let now: Vec<(Place, &Finding)> = orphans
            .map(|finding| (place_of(finding), finding))
            .collect();
        let before = known.take();
        let is_new = |place: &Place| {
            before
                .as_ref()
                .is_some_and(|before| !before.contains(place))
        };
        let news = now.iter().find(|(place, _)| is_new(place));
        let news = news.map(|(place, finding)| (*place, finding.message.clone()));
        *known = Some(now.into_iter().map(|(place, _)| place).collect());
        news
    }
}

fn place_of(finding: &Finding) -> Place {
    Place {
        entry: finding.entry,
        block: finding.block,
    }
}
