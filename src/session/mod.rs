//! A session that is open: all that is known of it, and all that large ones need. No screen, no files, no clock.
//!
//! Invariant: what is shown is one transcript at a time; [`Session::take`] alone changes which one, and says so.

mod change;
pub mod details;
mod ends;
mod file_state;
pub mod filter;
pub mod indexes;
pub mod news;
pub mod paging;
pub mod search;
mod status;
mod whole;

use std::collections::HashSet;

use crate::analysis::activity::{self, Activity};
use crate::analysis::alarm;
use crate::analysis::calls::Place;
use crate::analysis::calls::awaited::Awaited;
use crate::analysis::context;
use crate::analysis::expression::LOOP;
use crate::analysis::lint::Finding;
use crate::analysis::loops::Run;
use crate::model::body::Held;
use crate::model::edit::{Batch, Feed, LinkState, Mode, Polled, Stage};
use crate::model::entry::EntryId;
use crate::model::record::Origin;
use crate::model::timestamp::Timestamp;
use crate::model::transcript::{ToPack, Transcript, WasPacked};

pub(crate) use change::{Change, Shown};
pub(crate) use ends::Ends;
pub(crate) use file_state::FileState;
pub(crate) use indexes::Indexes;
use news::Seen;
pub(crate) use status::Status;
use whole::Whole;

/// Bytes of bodies that stay in memory. Entries whose bodies do are not packed, and take as much again.
pub const BODY_BUDGET: u64 = 8 << 20;

/// For so long, in ms, nobody wonders why nothing is written.
const SILENT: u64 = 60_000;
const SILENT_TOOL: u64 = 300_000;

/// An open session.
#[derive(Debug, Default)]
pub struct Session {
    /// The transcript that is shown: the whole session, or an end of it while the whole is read.
    pub transcript: Transcript,
    /// What is known of it.
    pub indexes: Indexes,
    /// What there is besides it.
    pub ends: Ends,
    /// The files, and how reading them fares.
    pub file: FileState,
    /// How the session stands.
    pub status: Status,
    /// What was shown before, until the reader's places are carried over.
    before: Option<Transcript>,
}

impl Session {
    /// Takes a message of the feed.
    pub(crate) fn take(&mut self, feed: Feed) -> Vec<Change> {
        match feed {
            Feed::Opened(opened) => self.file.opened = Some(*opened),
            Feed::Batch { stage: Stage::Preview, batch } => return self.take_last(*batch),
            Feed::Batch { stage: Stage::Whole, batch } => return self.take_whole(*batch),
            // Once caught up, reading on is following, however long a burst takes.
            Feed::Progress { done, total } => {
                self.file.progress = Some((done, total)).filter(|_| !self.file.is_caught_up);
            }
            Feed::CaughtUp => return self.caught_up(),
            Feed::Bodies(contents) => return vec![Change::Bodies(contents)],
            Feed::File { id, path } => self.file.name(id, path),
            Feed::Link(LinkState::Reread(why)) => {
                self.file.link = LinkState::Live;
                return vec![Change::Said(why.to_string())];
            }
            Feed::Link(link) => self.file.link = link,
            Feed::Polled(why) => {
                let words = match &why {
                    Polled::Refused(what) => {
                        Some(format!("no file events ({what}): looking four times a second instead"))
                    }
                    _ => None,
                };
                self.file.polled = Some(why);
                return words.map(Change::Said).into_iter().collect();
            }
            Feed::Fault(what) => self.file.fault = Some(what),
        }
        Vec::new()
    }

    /// Takes a batch of the last entries.
    fn take_last(&mut self, batch: Batch) -> Vec<Change> {
        // From here on the whole is read beside what is shown, however soon its first batch comes.
        self.ends.whole.get_or_insert_default();
        if !self.ends.is_beginning {
            return self.apply(batch);
        }
        self.ends.take_other(batch);
        self.status.is_stale = true;
        Vec::new()
    }

    /// Takes a batch of the whole.
    fn take_whole(&mut self, mut batch: Batch) -> Vec<Change> {
        let begins = batch.is_of_other_file && matches!(batch.mode, Mode::ReplaceStart | Mode::Replace);
        if begins && !self.ends.is_part() && self.transcript.order().len() > ends::LARGE {
            self.ends = Ends { is_renewed: true, whole: Some(Whole::default()), ..Ends::default() };
        }
        if !self.ends.is_part() {
            return self.apply(batch);
        }
        let is_renewed = self.ends.is_renewed;
        let mut changes = self.take_first(&batch);
        let is_end = matches!(batch.mode, Mode::ReplaceEnd | Mode::Replace);
        if let Some(whole) = &mut self.ends.whole {
            if begins {
                *whole = Whole::default();
            }
            if batch.is_of_other_file {
                batch.mode = Mode::Append;
            }
            changes.push(Change::Pack(whole.take(batch, &self.indexes)));
        }
        if is_renewed && is_end {
            changes.extend(self.show_whole());
            changes.push(Change::CaughtUp { is_first: false });
        }
        changes
    }

    /// The first batches of the whole are the beginning, too.
    fn take_first(&mut self, batch: &Batch) -> Vec<Change> {
        if !self.ends.belongs_to_beginning(&self.transcript, batch) {
            return Vec::new();
        }
        if self.ends.is_beginning {
            return self.apply(batch.clone());
        }
        self.ends.take_other(batch.clone());
        let is_awaited = self.ends.is_awaited && !self.ends.other.order().is_empty();
        if is_awaited { vec![self.exchange()] } else { Vec::new() }
    }

    /// Applies a batch to the transcript that is shown.
    fn apply(&mut self, batch: Batch) -> Vec<Change> {
        let touched = self.transcript.apply(batch);
        self.indexes.note(&self.transcript, &touched);
        if touched.is_empty() {
            return Vec::new();
        }
        self.status.is_stale = true;
        // What entries hold is in memory now, and may not be later.
        self.indexes.watch(&self.transcript);
        self.transcript.settle();
        vec![Change::Touched(touched)]
    }

    /// All is read.
    fn caught_up(&mut self) -> Vec<Change> {
        self.file.progress = None;
        self.file.is_caught_up = true;
        let mut changes = if self.ends.is_part() { self.show_whole() } else { Vec::new() };
        changes.push(Change::CaughtUp { is_first: true });
        changes
    }

    /// The whole takes the place of what is shown.
    fn show_whole(&mut self) -> Vec<Change> {
        let ends = std::mem::take(&mut self.ends);
        let Some(whole) = ends.whole else { return Vec::new() };
        let whole = whole.replace(&mut self.indexes);
        self.show(whole);
        self.transcript.release(BODY_BUDGET, |_| false);
        let to_pack = Change::Pack(self.hand_out());
        vec![Change::Replaced { shown: Shown::Whole, is_awaited: ends.is_awaited }, to_pack]
    }

    /// Shows the first entries, if others are shown and the whole is not known yet.
    pub(crate) fn show_beginning(&mut self) -> Option<Change> {
        if !self.ends.is_part() || self.ends.is_beginning {
            return None;
        }
        if self.ends.other.order().is_empty() {
            self.ends.is_awaited = true;
            return None;
        }
        Some(self.exchange())
    }

    /// Shows the last entries, if the first ones are shown.
    pub(crate) fn show_end(&mut self) -> Option<Change> {
        self.ends.is_beginning.then(|| self.exchange())
    }

    /// Shows the other end.
    fn exchange(&mut self) -> Change {
        let other = std::mem::take(&mut self.ends.other);
        self.indexes.clear();
        let is_awaited = std::mem::take(&mut self.ends.is_awaited);
        self.ends.is_beginning = !self.ends.is_beginning;
        self.show(other);
        let shown = if self.ends.is_beginning { Shown::Beginning } else { Shown::End };
        Change::Replaced { shown, is_awaited }
    }

    fn show(&mut self, transcript: Transcript) {
        self.before = Some(std::mem::replace(&mut self.transcript, transcript));
        self.status.is_stale = true;
        self.transcript.settle();
    }

    /// What was shown before, after [`Change::Replaced`].
    pub(crate) fn before(&self) -> Option<&Transcript> {
        self.before.as_ref()
    }

    /// Where an entry of what was shown before is now.
    pub(crate) fn moved(&self, id: EntryId) -> Option<EntryId> {
        self.transcript.find(&self.before.as_ref()?.get(id)?.key)
    }

    /// The reader's places are carried over.
    pub(crate) fn forget_before(&mut self) {
        let before = self.before.take();
        if self.ends.is_part() {
            self.ends.other = before.unwrap_or_default();
        }
    }

    /// Takes bodies that were read again. Answers which entries have them.
    pub(crate) fn fill(&mut self, entries: &[EntryId], contents: &[(Origin, Vec<Held>)]) -> Vec<EntryId> {
        let filled = self.transcript.fill(entries, contents);
        self.indexes.learn(&self.transcript, entries);
        filled
    }

    /// Lets go of bodies beyond the budget, but for those of entries in sight.
    pub(crate) fn release(&mut self, in_sight: impl Fn(EntryId) -> bool) {
        self.transcript.release(BODY_BUDGET, in_sight);
    }

    /// Entries that nobody looked at for a while are to be packed: not here, for a frame must not wait for it.
    pub(crate) fn hand_out(&mut self) -> Vec<ToPack> {
        self.transcript.hand_out()
    }

    /// Takes entries that were packed: of the whole, which may be shown by now, or of what is shown before it.
    pub(crate) fn take_back(&mut self, page: WasPacked) {
        let other = match &mut self.ends.whole {
            Some(whole) => whole.transcript.take_back(page),
            None => Some(page),
        };
        other.and_then(|page| self.transcript.take_back(page));
    }

    /// The end of the session as it is now; `None` while it is still being read.
    pub fn end(&self, now: Timestamp) -> Option<Seen> {
        if !self.file.is_caught_up && !self.ends.is_part() {
            return None;
        }
        let transcript = self.last_entries();
        let mut entries = transcript.order().iter().rev().filter_map(|id| transcript.get(*id));
        let last = entries.find(|entry| entry.lane.is_none())?;
        Some(Seen { key: last.key.clone(), at: now })
    }

    /// Whether what comes is written now, and was not there before.
    pub(crate) fn is_at_its_end(&self) -> bool {
        self.file.is_caught_up || (self.ends.is_part() && !self.ends.is_beginning())
    }

    /// Entries that came after what was seen.
    pub(crate) fn after(&self, seen: &Seen) -> &[EntryId] {
        seen.after(&self.transcript, self.file.is_caught_up)
    }

    /// The transcript that ends where the session ends.
    pub(crate) fn last_entries(&self) -> &Transcript {
        if self.ends.is_beginning { &self.ends.other } else { &self.transcript }
    }

    /// Whether a batch of the whole may change what is shown.
    pub(crate) fn shows_whole(&self) -> bool {
        let grows = self.ends.is_beginning && self.transcript.order().len() < ends::FIRST;
        !self.ends.is_part() || self.ends.is_awaited || grows
    }

    /// Finds out how the session stands now.
    pub(crate) fn refresh(&mut self, now: Timestamp) {
        let last = if self.ends.is_beginning { &self.ends.other } else { &self.transcript };
        let shown = (&self.transcript, &*self.indexes.account);
        self.status.refresh(last, self.file.last_write, now, shown);
    }

    /// How long nothing was written at work, in ms.
    pub(crate) fn silence(&self, now: Timestamp) -> Option<u64> {
        activity::silence(self.last_entries(), &self.status.activity, self.file.last_write, now)
    }

    /// The same, once it lasts longer than anybody expects: tools often write nothing until they end. Work that was
    /// given up is not silent, it has stopped.
    pub(crate) fn long_silence(&self, now: Timestamp) -> Option<u64> {
        let activity = &self.status.activity;
        let bearable = if matches!(activity, Activity::Tool { .. }) { SILENT_TOOL } else { SILENT };
        self.silence(now).filter(|ms| activity.is_work() && *ms >= bearable)
    }

    /// The loop that the agent is in right now.
    pub(crate) fn current_loop(&self) -> Option<Run<'_>> {
        let run = self.indexes.loops.current(&self.transcript)?;
        let is_now = !self.ends.is_beginning && self.status.activity.is_work();
        (is_now && run.count() as u64 >= LOOP).then_some(run)
    }

    /// Whether the agent works on what is shown, or waits for somebody who may come.
    pub(crate) fn is_at_work(&self, now: Timestamp) -> bool {
        !self.ends.is_beginning && self.status.is_at_work(now)
    }

    /// How long the newest turn has been going on since the last sign of its main lane, in ms.
    pub(crate) fn goes_on_ms(&self, now: Timestamp) -> u64 {
        let is_open = self.status.activity.is_work() && !self.ends.is_beginning;
        self.indexes.account.last_sign().filter(|_| is_open).map_or(0, |last| now.since(last))
    }

    /// Whether open calls of an entry are still waited for: the agent is at work, and results may come.
    pub fn is_at_work_on(&self, id: EntryId, now: Timestamp) -> bool {
        self.is_at_work(now) && Awaited::of(&self.transcript).has(&self.transcript, id)
    }

    /// Gives the session as it is now.
    pub(crate) fn with_status(
        &mut self,
        now: Timestamp,
        orphan: Option<(Place, &str)>,
        look: impl FnOnce(&alarm::Status<'_>),
    ) {
        self.transcript.settle();
        self.status.activity = activity::judge(self.last_entries(), self.file.last_write, now);
        let cost = self.indexes.account.cost(&self.transcript);
        look(&alarm::Status {
            transcript: &self.transcript,
            activity: &self.status.activity,
            silence: self.silence(now),
            cost: &cost,
            context: context::of(&self.transcript),
            run: self.indexes.loops.current(&self.transcript),
            orphan,
        });
    }

    /// A call or a result that has lost its other half since the last look, by those that were `known` then.
    pub(crate) fn news_of_orphans(&mut self, known: &mut Option<HashSet<Place>>) -> Option<(Place, String)> {
        if self.ends.is_part() || !self.indexes.follow_findings(&self.transcript) {
            return None;
        }
        let orphans = self.indexes.findings.iter().filter(|finding| finding.is_orphan());
        let now: Vec<(Place, &Finding)> = orphans.map(|finding| (place_of(finding), finding)).collect();
        let before = known.take();
        let is_new = |place: &Place| before.as_ref().is_some_and(|before| !before.contains(place));
        let news = now.iter().find(|(place, _)| is_new(place));
        let news = news.map(|(place, finding)| (*place, finding.message.clone()));
        *known = Some(now.into_iter().map(|(place, _)| place).collect());
        news
    }
}

fn place_of(finding: &Finding) -> Place {
    Place { entry: finding.entry, block: finding.block }
}
